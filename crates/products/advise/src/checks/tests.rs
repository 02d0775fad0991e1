//! Claims about traffic and options that can have no answer.

use crate::record::Server;
use crate::tests::{advised, kind, noise, options, small_page};
use crate::{Options, advise};
use lastmile_page::testing::response;
use lastmile_report::record::DoubtKind;
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_traffic::responses::{Body, Origin, Response, Traffic};
use lastmile_units::ByteCount;

/// Why there is no advice.
fn refusal(traffic: &Traffic, options: &Options) -> String {
    let costs = CostTable::free();
    advise(traffic, options, &costs, &mut |_| {}).unwrap_err().to_string()
}

#[test]
fn where_most_of_what_could_be_compressed_is_missing_there_is_no_answer_unless_asked_for() {
    let mut options = options(&["wpt/cable"]);
    let image = response(
        "/a.webp",
        "image/webp",
        Origin::Static,
        Body::Present(noise(400_000, 3)),
    );
    let mut without_script = small_page();
    without_script.responses[1].body = Body::SizeOnly(ByteCount::new(120_000));
    without_script.responses.push(image.clone());
    assert_eq!(
        refusal(&without_script, &options),
        "test.har: 120 kB of the 200 kB that could be compressed are not in it: 1 of 3 such responses have no body, or one that is cut off; \
         record it with content: \"Save all as HAR with content\" in a browser's network panel, with caches disabled, or recordHar with \
         content: 'embed' in Playwright; for an answer about the rest, use --partial"
    );
    // Bodies whose sizes are missing, too, are counted.
    let mut uncounted = small_page();
    for response in &mut uncounted.responses[..2] {
        response.body = Body::Missing;
    }
    uncounted.responses.push(image.clone());
    assert!(refusal(&uncounted, &options).starts_with("test.har: 2 bodies of the 3 that could be compressed"));
    options.partial = true;
    assert_eq!(
        advised(&without_script, &options).doubts[0].kind,
        DoubtKind::MostBodiesMissing
    );
    options.partial = false;
    // A picture is as it is, whether its body is there or not.
    let mut without_picture = small_page();
    without_picture.responses.push(Response {
        body: Body::SizeOnly(ByteCount::new(400_000)),
        ..image
    });
    advised(&without_picture, &options);
}

#[test]
fn what_the_server_cannot_do_is_refused_with_what_it_can_do() {
    let asked = |server, level: &str| Options {
        server: Some(server),
        levels: vec![level.parse().unwrap()],
        ..options(&["wpt/cable"])
    };
    let remedy = "name one of these with --encodings, or leave out --server";
    for (server, name) in [(Server::Nginx, "nginx"), (Server::Apache, "Apache")] {
        assert_eq!(
            refusal(&small_page(), &asked(server, "zstd:3")),
            format!("{name} cannot do zstd: nothing is left to try for anything; {name} can do gzip and br: {remedy}")
        );
    }
    assert_eq!(
        refusal(&small_page(), &asked(Server::Caddy, "br:5")),
        format!(
            "Caddy cannot do br: nothing is left to try for responses made on request; Caddy can do gzip and zstd: {remedy}"
        )
    );
    let mut files = small_page();
    files
        .responses
        .iter_mut()
        .for_each(|response| response.origin = Origin::Static);
    let advice = advised(&files, &asked(Server::Caddy, "br:5"));
    assert_eq!(kind(&advice, 0, "javascript").recommended.setting, "br:5");
}
