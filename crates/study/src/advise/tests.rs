//! Claims about whole advices.

use super::*;
use crate::cost::Choice;
use bytes::Bytes as Octets;
use lastmile_payload::traffic::{Body, Origin, Response};
use lastmile_report::advise::KindAdvice;
use lastmile_units::Bytes;
use std::time::Duration;

/// Text that compresses about as documents do: words drawn from a few hundred.
pub(super) fn text(octets: usize) -> Octets {
    use rand_core::Rng as _;
    let mut rng = Seed::new(7).rng();
    let words: Vec<String> = (0..300)
        .map(|_| format!("{:x} ", rng.next_u64() >> (20 + rng.next_u64() % 30)))
        .collect();
    let mut out = String::new();
    while out.len() < octets {
        out += &words[(rng.next_u64() % 300) as usize];
    }
    out.truncate(octets);
    out.into()
}

pub(super) fn response(path: &str, media_type: &str, origin: Origin, body: Body) -> Response {
    Response {
        index: 0,
        url: format!("https://a.example{path}"),
        scheme: "https".to_owned(),
        host: "a.example".to_owned(),
        method: "GET".to_owned(),
        status: 200,
        media_type: Some(media_type.to_owned()),
        request_header_bytes: Some(Bytes::new(400)),
        response_header_bytes: Some(Bytes::new(300)),
        body,
        http_version: None,
        started: Duration::ZERO,
        wait: None,
        total: None,
        connection: None,
        initiator: None,
        from_cache: false,
        origin,
        origin_because: "the test says so",
        content_encoding: None,
        transferred: None,
    }
}

pub(super) fn traffic(responses: Vec<Response>) -> Traffic {
    Traffic {
        source: "test.har".to_owned(),
        responses,
        notes: Vec::new(),
        skipped: Vec::new(),
    }
}

/// A document, a script and data, one after the other, as a browser recorded them over a fast link; sent with gzip.
fn small_page() -> Traffic {
    let gzip = "gzip:6".parse().unwrap();
    let timed = |mut response: Response, started: u64, total: u64| {
        response.started = Duration::from_millis(started);
        response.total = Some(Duration::from_millis(total));
        response.wait = Some(Duration::from_millis(20));
        if let Body::Present(octets) = &response.body {
            response.content_encoding = Some("gzip".to_owned());
            response.transferred = Some(lastmile_payload::codec::encoded_size(gzip, [&octets[..]]));
        }
        response
    };
    traffic(vec![
        timed(
            response("/", "text/html", Origin::Dynamic, Body::Present(text(20_000))),
            0,
            30,
        ),
        timed(
            response(
                "/app.js",
                "text/javascript",
                Origin::Static,
                Body::Present(text(120_000)),
            ),
            35,
            40,
        ),
        timed(
            response(
                "/data",
                "application/json",
                Origin::Dynamic,
                Body::Present(text(60_000)),
            ),
            80,
            50,
        ),
    ])
}

fn options(links: &[&str]) -> Options {
    let levels = ["gzip:1", "gzip:6", "br:4", "br:5", "br:11", "zstd:3"];
    Options {
        links: links
            .iter()
            .map(|link| ((*link).to_owned(), lastmile_link::resolve(link).unwrap()))
            .collect(),
        levels: levels.iter().map(|level| level.parse().unwrap()).collect(),
        repeats: NonZeroU64::new(5).unwrap(),
        threads: NonZeroUsize::new(2).unwrap(),
        ..Options::default()
    }
}

fn advised(traffic: &Traffic, options: &Options) -> Advice {
    let costs = CostTable::load(&Choice::Reference).unwrap();
    advise(traffic, options, &costs, &mut |_| {}).unwrap()
}

fn kind<'a>(advice: &'a Advice, link: usize, kind: &str) -> &'a KindAdvice {
    advice.links[link]
        .kinds
        .iter()
        .find(|advice| advice.kind == kind)
        .unwrap()
}

#[test]
fn an_advice_does_not_depend_on_threads() {
    let alone = Options {
        threads: NonZeroUsize::MIN,
        ..options(&["wpt/3g+loss=1%"])
    };
    let together = Options {
        threads: NonZeroUsize::new(4).unwrap(),
        ..alone.clone()
    };
    assert_eq!(advised(&small_page(), &alone), advised(&small_page(), &together));
}

#[test]
fn what_is_recommended_is_not_worse_than_no_compression() {
    let mut options = options(&["wpt/3g", "seeds/dialup-56k", "wpt/cable"]);
    for protocol in [Version::Http11, Version::H2] {
        options.protocol = protocol;
        for link in &advised(&small_page(), &options).links {
            let page = &link.page[0];
            assert_eq!(page.setting, "recommended");
            let saved = page.saving_against_identity.as_ref().unwrap();
            assert!(
                saved.mean_s > 0.0 && saved.mean_ci95_s.is_none_or(|[low, _]| low > 0.0),
                "{}: {saved:?}",
                link.name
            );
            for kind in &link.kinds {
                assert!(kind.recommended.buys.mean_s > 0.0, "{} over {}", kind.kind, link.name);
            }
        }
    }
}

#[test]
fn savings_are_of_pairs() {
    let advice = advised(&small_page(), &options(&["wpt/3g"]));
    let json = kind(&advice, 0, "json");
    let identity = json
        .frontier
        .iter()
        .find(|candidate| candidate.setting == "identity")
        .unwrap();
    let used = json
        .frontier
        .iter()
        .find(|candidate| candidate.setting == json.recommended.setting)
        .unwrap();
    assert_eq!(json.recommended.buys.pairs, 5, "one response, five repeats");
    // The mean of differences is the difference of means only where every pair is whole; rounding apart.
    let difference = identity.transfer_time.mean - used.transfer_time.mean;
    assert!((json.recommended.buys.mean_s - difference).abs() < 1e-9);
    assert_eq!(json.today.as_deref(), Some("gzip"));
    let against_today = json.recommended.buys_against_today.as_ref().unwrap();
    assert!(
        against_today.mean_s.abs() < json.recommended.buys.mean_s,
        "gzip buys most of it already"
    );
}

#[test]
fn files_take_a_slow_level_where_answers_take_a_cheap_one() {
    let advice = advised(&small_page(), &options(&["wpt/cable"]));
    assert_eq!(
        kind(&advice, 0, "javascript").recommended.setting,
        "br:11",
        "compressed once, before anyone asks"
    );
    assert_eq!(kind(&advice, 0, "json").recommended.setting, "zstd:3");
}

#[test]
fn the_faster_the_link_the_cheaper_the_level() {
    let mut options = options(&["seeds/dialup-56k", "fast+rate=1Gbit/s+one_way_delay=1ms"]);
    options.levels.retain(|codec| codec.coding() == Coding::Gzip);
    let advice = advised(&small_page(), &options);
    assert_eq!(kind(&advice, 0, "json").recommended.setting, "gzip:6");
    let fast = &kind(&advice, 1, "json").recommended.setting;
    assert!(["identity", "gzip:1"].contains(&&**fast), "{fast}");
}

#[test]
fn break_even_by_simulation_is_near_the_formula_where_round_trips_are_short() {
    // A round trip of 20 us holds little at any bandwidth near the break-even, so that slow start decides nothing there; what remains
    // are heads, acknowledgements, and that a body of several pieces is pipelined but for its first and last: a factor of two.
    let mut options = options(&["near+rate=10Mbit/s+one_way_delay=10us"]);
    options.levels = vec!["gzip:6".parse().unwrap()];
    options.tls = false;
    let advice = advised(&small_page(), &options);
    let json = kind(&advice, 0, "json");
    assert_eq!(json.recommended.setting, "gzip:6");
    let found = json.break_even.as_ref().unwrap();
    let formula = found.by_formula_bit_per_second.unwrap();
    let [pays, no_longer] = found.by_simulation.as_ref().unwrap().between_bit_per_second.unwrap();
    assert!(no_longer / pays <= 1.25 && pays < no_longer);
    assert!(
        pays > formula / 2.0 && no_longer < formula * 2.0,
        "{formula} by formula, {pays} to {no_longer} by simulation"
    );
}

#[test]
fn what_has_no_body_is_replayed_as_it_was_seen_or_left_out_and_said() {
    let mut responses = small_page().responses;
    let mut unseen = response(
        "/unseen.css",
        "text/css",
        Origin::Static,
        Body::SizeOnly(Bytes::new(50_000)),
    );
    unseen.transferred = Some(Bytes::new(9_000));
    let missing = response("/missing.css", "text/css", Origin::Static, Body::Missing);
    let mut cached = response("/cached.css", "text/css", Origin::Static, Body::Present(text(10)));
    cached.from_cache = true;
    responses.extend([unseen, missing, cached]);
    let advice = advised(&traffic(responses), &options(&["wpt/cable"]));
    assert_eq!(advice.traffic.responses, 4);
    assert_eq!(advice.traffic.identity_bytes, 250_000);
    assert!(
        !advice.links[0].kinds.iter().any(|advice| advice.kind == "css"),
        "nothing is known of how css is coded"
    );
    let doubts: Vec<&str> = advice.doubts.iter().map(|doubt| &*doubt.kind).collect();
    assert_eq!(doubts, ["missing-bodies", "missing-responses", "unknown-level"]);
    assert_eq!(advice.traffic.notes.len(), 2, "{:?}", advice.traffic.notes);
    let few = &kind(&advice, 0, "json").doubts;
    assert_eq!(few[0].kind, "few-responses");
}

#[test]
fn what_is_compressed_inside_is_left_as_it_is_with_the_evidence() {
    use rand_core::Rng as _;
    let mut rng = Seed::new(3).rng();
    let noise: Vec<u8> = (0..40_000).map(|_| rng.next_u64() as u8).collect();
    let image = response("/a.webp", "image/webp", Origin::Static, Body::Present(noise.into()));
    // Named an image, and none: text.
    let named = response("/b.png", "image/png", Origin::Dynamic, Body::Present(text(30_000)));
    let advice = advised(&traffic(vec![image, named]), &options(&["wpt/3g"]));
    let of = |origin| advice.links[0].kinds.iter().find(|kind| kind.origin == origin).unwrap();
    let left = of(lastmile_report::advise::Origin::Static);
    assert_eq!(
        (left.recommended.setting.as_str(), left.frontier.len(), &left.break_even),
        ("identity", 1, &None)
    );
    assert_eq!(advice.findings.len(), 2, "{:?}", advice.findings);
    assert!(
        advice.findings[0].text.contains("leaves 100 % of its 40 kB"),
        "{}",
        advice.findings[0].text
    );
    assert_ne!(
        of(lastmile_report::advise::Origin::Dynamic).recommended.setting,
        "identity"
    );
}

#[test]
fn a_server_that_cannot_do_what_is_recommended_is_given_the_next_best_and_that_is_said() {
    let mut options = options(&["wpt/3g"]);
    options.levels = vec!["zstd:3".parse().unwrap(), "gzip:6".parse().unwrap()];
    let advice = advised(&small_page(), &options);
    assert_eq!(kind(&advice, 0, "json").recommended.setting, "zstd:3");
    let [nginx, apache, caddy] = &advice.snippets[..] else {
        panic!("one a server")
    };
    assert!(
        nginx.text.contains("gzip_comp_level 6;") && nginx.note.contains("zstd:3 would be best"),
        "{nginx:?}"
    );
    assert!(
        apache.text.contains("DEFLATE application/json text/html") && !apache.text.contains("BROTLI"),
        "{apache:?}"
    );
    assert!(
        caddy.text.contains("zstd default") && !caddy.note.contains("would be best"),
        "{caddy:?}"
    );
}

#[test]
fn refusals_name_the_option_or_the_file() {
    let costs = CostTable::free();
    let refusal = |traffic: &Traffic, options: &Options| advise(traffic, options, &costs, &mut |_| {}).unwrap_err();
    let refused = |options: Options| refusal(&small_page(), &options).to_string();
    assert!(refused(Options::default()).contains("name at least one"));
    assert!(
        refused(Options {
            slow_client: 0.0,
            ..options(&["wpt/3g"])
        })
        .starts_with("the client's slow-down is 0")
    );
    let overloaded = ServerSpec {
        cores: 1,
        slow_down: 1.0,
        load: 1.0,
    };
    assert!(
        refused(Options {
            server: overloaded,
            ..options(&["wpt/3g"])
        })
        .contains("a share from 0 to below 1")
    );
    let nothing = traffic(vec![response("/", "text/html", Origin::Static, Body::Missing)]);
    assert!(
        refusal(&nothing, &options(&["wpt/3g"]))
            .to_string()
            .starts_with("test.har: nothing to replay")
    );
    let never = Options {
        repeats: NonZeroU64::MIN,
        ..options(&["wpt/3g+loss=100%"])
    };
    assert!(matches!(refusal(&small_page(), &never), AdviseError::Link { .. }));
    let interrupted = options(&["wpt/3g"]);
    interrupted.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(refusal(&small_page(), &interrupted), AdviseError::Interrupted);
}
