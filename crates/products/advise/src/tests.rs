//! Tests of whole advices.

pub(crate) mod fixtures;

use super::*;
use crate::record::{KindAdvice, PageOutcome, Protocol, Server, Snippet, SnippetUse, TrafficKind};
use lastmile_page::testing::{response, text, traffic};
use lastmile_report::model_error::ModelError;
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_report::saving::Saving;
use lastmile_testbed::cpu_cost_model::Choice;
use lastmile_testbed::http::Version;
use lastmile_traffic::responses::{Body, HttpVersion, Origin, Response};
use lastmile_units::ByteCount;
use std::time::Duration;

/// A document, a script and data, one after the other, as a browser recorded them over a fast link; sent with gzip.
pub(super) fn small_page() -> Traffic {
    let gzip = "gzip:6".parse().unwrap();
    let timed = |mut response: Response, started: u64, total: u64| {
        response.started = Duration::from_millis(started);
        response.total = Some(Duration::from_millis(total));
        response.wait = Some(Duration::from_millis(20));
        if let Body::Present(bytes) = &response.body {
            response.content_encoding = Some("gzip".to_owned());
            response.transferred = Some(lastmile_codec::content::encoded_size(gzip, [&bytes[..]]));
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

/// The same from a source that does not say how it was sent.
fn small_page_without_encodings() -> Traffic {
    let mut page = small_page();
    for response in &mut page.responses {
        (response.content_encoding, response.transferred) = (None, None);
    }
    page
}

pub(super) fn options(links: &[&str]) -> Options {
    let levels = ["gzip:1", "gzip:6", "br:4", "br:5", "br:11", "zstd:3"];
    Options {
        links: links
            .iter()
            .map(|link| ((*link).to_owned(), lastmile_link::resolve(link).unwrap()))
            .collect(),
        levels: levels.iter().map(|level| level.parse().unwrap()).collect(),
        repeats: NonZeroU64::new(5).unwrap(),
        repeats_max: NonZeroU64::new(5).unwrap(),
        threads: NonZeroUsize::new(2).unwrap(),
        ..Options::default()
    }
}

pub(super) fn advised(traffic: &Traffic, options: &Options) -> Advice {
    let costs = CostTable::load(&Choice::Reference).unwrap();
    advise(traffic, options, &costs, &mut |_| {}).unwrap()
}

pub(super) fn kind<'a>(advice: &'a Advice, link: usize, kind: &str) -> &'a KindAdvice {
    advice.links[link]
        .kinds
        .iter()
        .find(|advice| advice.kind == kind)
        .unwrap()
}

#[test]
fn a_har_without_an_extension_and_without_times_is_reported_as_a_har() {
    let mut recording = Traffic {
        source: "recording".to_owned(),
        ..small_page_without_encodings()
    };
    for response in &mut recording.responses {
        (response.total, response.wait, response.http_version) = (None, None, None);
    }
    assert_eq!(
        advised(&recording, &options(&["wpt/cable"])).traffic.kind,
        TrafficKind::Har
    );
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
    let mut options = options(&["wpt/3g", "published/dialup-56k", "wpt/cable"]);
    for protocol in [Version::Http11, Version::H2] {
        options.load.protocol = Some(protocol);
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
                if let Some(saves) = &kind.recommended.page_saves {
                    let is_doubted = kind.doubts.iter().any(|doubt| doubt.kind == DoubtKind::UncertainSaving);
                    assert!(
                        saves.mean_s > 0.0 || is_doubted,
                        "{} over {}: {saves:?}",
                        kind.kind,
                        link.name
                    );
                }
            }
        }
    }
}

/// The small page from two hosts: the document over HTTP/1.1, the script and the data over another version.
fn page_of_two_versions(second: HttpVersion) -> Traffic {
    let mut page = small_page();
    page.responses[0].http_version = Some(HttpVersion::Http11);
    for response in &mut page.responses[1..] {
        response.http_version = Some(second);
        response.host = "b.example".to_owned();
        response.url = response.url.replace("a.example", "b.example");
    }
    page
}

#[test]
fn each_host_is_replayed_over_its_recorded_protocol_unless_one_is_asked_for() {
    let protocols = |traffic: &Traffic, asked| {
        let mut options = options(&["wpt/3g"]);
        options.levels = vec!["gzip:6".parse().unwrap()];
        options.load.protocol = asked;
        let advice = advised(traffic, &options);
        let hosts = advice.options.hosts.iter();
        let replayed: Vec<(String, Protocol, u64)> = hosts
            .map(|host| (host.host.clone(), host.protocol, host.connections))
            .collect();
        (replayed, advice)
    };
    let [first, second] = ["https://a.example", "https://b.example"].map(str::to_owned);
    let mixed = page_of_two_versions(HttpVersion::Http2);
    let (replayed, as_recorded) = protocols(&mixed, None);
    let expected = [(first.clone(), Protocol::Http11, 6), (second.clone(), Protocol::H2, 1)];
    assert_eq!((&replayed[..], as_recorded.options.protocol), (&expected[..], None));
    assert_eq!(as_recorded.exhibits[0].title, "The protocol of each host");
    let (replayed, over_2) = protocols(&mixed, Some(Version::H2));
    assert_eq!(
        replayed,
        [(first.clone(), Protocol::H2, 1), (second.clone(), Protocol::H2, 1)]
    );
    assert_eq!(over_2.options.protocol, Some(Protocol::H2));
    assert!(over_2.doubts.iter().all(|doubt| doubt.kind != DoubtKind::OtherProtocol));
    // The recorded protocols are replayed, and not only named: asking for those of the recording changes nothing else.
    let times = |advice: &Advice| -> Vec<f64> { advice.links[0].page.iter().map(|row| row.page_time.mean).collect() };
    let (_, over_1) = protocols(&mixed, Some(Version::Http11));
    assert!(times(&as_recorded) != times(&over_1) && times(&as_recorded) != times(&over_2));
    let uniform = page_of_two_versions(HttpVersion::Http11);
    assert_eq!(times(&protocols(&uniform, None).1), times(&over_1));
    let (_, over_3) = protocols(&page_of_two_versions(HttpVersion::Http3), None);
    assert_eq!(times(&over_3), times(&as_recorded));
    let doubt = over_3
        .doubts
        .iter()
        .find(|doubt| doubt.kind == DoubtKind::OtherProtocol);
    let text = &doubt.unwrap().text;
    assert!(
        text.starts_with("1 of 2 hosts were recorded over HTTP/3 and are replayed over HTTP/2"),
        "{text}"
    );
    assert_eq!(over_3.options.hosts[1].recorded.as_deref(), Some("HTTP/3"));
}

#[test]
fn savings_are_of_pairs() {
    let advice = advised(&small_page(), &options(&["wpt/3g"]));
    let page = &advice.links[0].page;
    let row = |name: &str| page.iter().find(|row| row.setting == name).unwrap();
    let (recommended, identity, today) = (row("recommended"), row("identity"), row("today"));
    // The mean of differences is the difference of means only where every pair is whole; rounding apart.
    let same = |saving: &Saving, slow: &PageOutcome, fast: &PageOutcome| {
        assert_eq!(saving.pairs, 5, "five repeats");
        assert!((saving.mean_s - (slow.page_time.mean - fast.page_time.mean)).abs() < 1e-9);
    };
    same(
        recommended.saving_against_identity.as_ref().unwrap(),
        identity,
        recommended,
    );
    same(recommended.saving_against_today.as_ref().unwrap(), today, recommended);
    same(identity.recommended_saves.as_ref().unwrap(), identity, recommended);
    assert_eq!(recommended.recommended_saves, None);
    let json = kind(&advice, 0, "json");
    assert_eq!(json.today.as_deref(), Some("gzip"));
}

#[test]
fn files_take_a_slow_level_where_answers_take_a_cheap_one() {
    // The document waits for its compression on a busy server, and names two large files.
    let page = traffic(vec![
        response("/", "text/html", Origin::Dynamic, Body::Present(text(300_000))),
        response("/a.js", "text/javascript", Origin::Static, Body::Present(text(300_000))),
    ]);
    let advice = advised(&page, &options(&["wpt/cable"]));
    assert_eq!(
        kind(&advice, 0, "javascript").recommended.setting,
        "br:11",
        "compressed once, before the first request"
    );
    assert_ne!(kind(&advice, 0, "html").recommended.setting, "br:11");
}

/// Lines of a program: a few forms, with names that are drawn from many words, the first ones most often.
fn program(bytes: usize, seed: u64) -> bytes::Bytes {
    use rand_core::Rng as _;
    const SYLLABLES: [&str; 16] = [
        "ba", "con", "der", "ti", "ra", "men", "lo", "vis", "ent", "pro", "ing", "sta", "re", "ma", "fu", "nec",
    ];
    let mut rng = Seed::new(seed).rng();
    let mut below = |n: u64| rng.next_u64() % n;
    let words: Vec<String> = (0..1500)
        .map(|_| (0..=below(4)).map(|_| SYLLABLES[below(16) as usize]).collect())
        .collect();
    let mut out = String::new();
    while out.len() < bytes {
        let form = below(4);
        let number = below(10_000);
        let mut word = || {
            let most = below(1500) + 1;
            words[below(most) as usize].as_str()
        };
        out += &match form {
            0 => format!(
                "export const {} = ({}, {}) => {}.{}({number});\n",
                word(),
                word(),
                word(),
                word(),
                word()
            ),
            1 => format!(
                "  if ({}.{} === \"{}\") {{ return {}({number}); }}\n",
                word(),
                word(),
                word(),
                word()
            ),
            2 => format!(
                "// {} {} {} {}, {} {}.\n",
                word(),
                word(),
                word(),
                word(),
                word(),
                word()
            ),
            _ => format!(
                "  \"{}_{}\": {{ \"id\": {number}, \"{}\": \"{}\" }},\n",
                word(),
                word(),
                word(),
                word()
            ),
        };
    }
    out.truncate(bytes);
    out.into()
}

/// A program whose first megabyte says something new, and whose rest repeats pieces of it.
fn repeated_late(bytes: usize) -> bytes::Bytes {
    const FIRST: usize = 1_000_000;
    let mut all = program(FIRST, 1).to_vec();
    while all.len() < bytes {
        let from = (all.len() * 7) % (FIRST - 5_000);
        all.extend_from_within(from..from + 5_000);
    }
    all.truncate(bytes);
    all.into()
}

#[test]
fn the_smaller_setting_is_recommended_where_a_beginning_compresses_unlike_the_rest() {
    let bodies = [repeated_late(1_700_000), program(270_000, 2)];
    let scripts = bodies
        .clone()
        .map(|body| response("/a.js", "text/javascript", Origin::Static, Body::Present(body)));
    let levels: Vec<CodecSpec> = ["br:11", "zstd:16"]
        .iter()
        .map(|level| level.parse().unwrap())
        .collect();
    let sizes: Vec<u64> = levels
        .iter()
        .map(|codec| {
            let sizes = bodies
                .iter()
                .map(|body| lastmile_codec::content::encoded_size(*codec, [&body[..]]).get());
            sizes.sum()
        })
        .collect();
    assert!(sizes[0] < sizes[1], "br:11 is the smaller: {sizes:?}");
    let asked = Options {
        levels,
        ..options(&["wpt/3g"])
    };
    let advice = advised(&traffic(scripts.to_vec()), &asked);
    let scripts = kind(&advice, 0, "javascript");
    let replayed = |name: &str| {
        scripts
            .frontier
            .iter()
            .find(|row| row.setting == name)
            .unwrap()
            .compressed_bytes
    };
    assert_eq!(
        [replayed("br:11"), replayed("zstd:16")],
        [sizes[0], sizes[1]],
        "exactly"
    );
    assert_eq!(scripts.recommended.setting, "br:11");
    assert_eq!(advice.sizes.estimated, Vec::<String>::new());
}

/// Settings of which some are not worth replaying on a text.
const SLOW_LEVELS: [&str; 6] = ["gzip:1", "gzip:6", "zstd:1", "br:9", "br:10", "br:11"];

#[test]
fn a_setting_whose_size_is_only_estimated_is_not_replayed_and_not_recommended() {
    let scripts = response(
        "/a.js",
        "text/javascript",
        Origin::Static,
        Body::Present(text(1_000_000)),
    );
    let asked = Options {
        levels: SLOW_LEVELS.iter().map(|level| level.parse().unwrap()).collect(),
        exact_within: Duration::from_millis(50),
        ..options(&["wpt/3g"])
    };
    let advice = advised(&traffic(vec![scripts]), &asked);
    let sizes = &advice.sizes;
    assert!(
        !sizes.estimated.is_empty() && sizes.exact.contains(&"br:11".to_owned()),
        "{sizes:?}"
    );
    let link = &advice.links[0];
    let shown = link.page.iter().map(|row| &row.setting);
    let shown = shown.chain(link.screened.iter().map(|row| &row.setting));
    let shown = shown.chain(link.kinds[0].frontier.iter().map(|row| &row.setting));
    for setting in shown {
        assert!(!sizes.estimated.contains(setting), "{setting}");
    }
}

/// Images beside a document, data and scripts: on a slow link its queue overflows, and page times depend on coincidences.
fn crowded_page() -> Traffic {
    let mut responses = small_page().responses;
    for at in 0..8_u64 {
        let mut image = response(
            "/image.webp",
            "image/webp",
            Origin::Static,
            Body::Present(noise(12_000, at)),
        );
        (image.started, image.total) = (Duration::from_millis(34 + at), Some(Duration::from_millis(20)));
        responses.push(image);
    }
    for (at, bytes) in [(40, 90_000), (45, 30_000), (50, 4_000)] {
        let mut script = response("/b.js", "text/javascript", Origin::Static, Body::Present(text(bytes)));
        (script.started, script.total) = (Duration::from_millis(at), Some(Duration::from_millis(20)));
        responses.push(script);
    }
    traffic(responses)
}

/// Bytes that do not compress.
pub(super) fn noise(bytes: usize, seed: u64) -> bytes::Bytes {
    use rand_core::Rng as _;
    let mut rng = Seed::new(seed).rng();
    (0..bytes).map(|_| rng.next_u64() as u8).collect::<Vec<u8>>().into()
}

#[test]
fn what_is_recommended_is_not_slower_than_any_other_row_on_any_link() {
    let asked = Options {
        repeats_max: NonZeroU64::new(10).unwrap(),
        ..options(&[
            "published/dialup-56k",
            "wpt/3g",
            "wpt/4g",
            "wpt/cable",
            "wpt/3g+loss=1%",
        ])
    };
    for link in &advised(&crowded_page(), &asked).links {
        let rows = link.page[1..]
            .iter()
            .map(|row| (&row.setting, row.recommended_saves.as_ref().unwrap()));
        let screened = link.screened.iter().map(|row| (&row.setting, &row.recommended_saves));
        for (setting, saves) in rows.chain(screened) {
            let [_, high] = saves.mean_ci95_s.unwrap_or([saves.mean_s; 2]);
            let is_within_model_error = -saves.share < ModelError::OF_RATIOS;
            assert!(
                high >= 0.0 || is_within_model_error,
                "{} on {}: {saves:?}",
                setting,
                link.name
            );
        }
        let names: Vec<&str> = link.page.iter().map(|row| row.setting.as_str()).collect();
        for known in ["today", "identity", "gzip:6", "br:5", "br:11"] {
            assert!(names.contains(&known), "{known} on {}", link.name);
        }
        assert!(
            link.as_good_as.iter().all(|name| names.contains(&name.as_str())),
            "{:?}",
            link.as_good_as
        );
    }
}

#[test]
fn repeats_grow_until_the_choice_is_clear_or_the_bound_is_reached() {
    let grown = |links: &[&str], levels: &[&str]| {
        let asked = Options {
            levels: levels.iter().map(|level| level.parse().unwrap()).collect(),
            repeats: NonZeroU64::new(3).unwrap(),
            repeats_max: NonZeroU64::new(10).unwrap(),
            ..options(links)
        };
        let advice = advised(&crowded_page(), &asked);
        let link = &advice.links[0];
        assert!(
            link.page.iter().all(|row| row.page_time.n == link.repeats),
            "rows are paired"
        );
        (link.repeats, link.clear)
    };
    let (repeats, clear) = grown(&["published/dialup-56k"], &["gzip:5", "gzip:6"]);
    assert!(
        [3, 6, 10].contains(&repeats) && (clear || repeats == 10),
        "{repeats}, {clear}"
    );
    let one_response = traffic(vec![response(
        "/",
        "text/html",
        Origin::Static,
        Body::Present(text(500_000)),
    )]);
    let asked = Options {
        levels: vec!["br:11".parse().unwrap()],
        repeats: NonZeroU64::new(3).unwrap(),
        repeats_max: NonZeroU64::new(10).unwrap(),
        ..options(&["wpt/3g"])
    };
    let link = &advised(&one_response, &asked).links[0];
    assert_eq!((link.repeats, link.clear), (3, true), "a third of the size");
}

#[test]
fn the_ladder_has_the_page_as_it_is_an_ordinary_setting_and_the_best() {
    let advice = advised(&small_page(), &options(&["wpt/3g"]));
    let link = &advice.links[0];
    let rungs: Vec<&str> = link.ladder.iter().map(|rung| rung.setting.as_str()).collect();
    assert_eq!((rungs[0], rungs[rungs.len() - 1]), ("today", "recommended"));
    let best = &link.ladder[rungs.len() - 1];
    let saved = 1.0 - best.page_time.mean / link.ladder[0].page_time.mean;
    assert!((best.saved_share - saved).abs() < 1e-9);
    let [low, high] = best.saved_share_ci95.unwrap();
    assert!(low < saved && saved < high);
    assert_eq!(best.share_of_saving, Some(1.0));
    let advice = advised(&small_page_without_encodings(), &options(&["wpt/3g"]));
    let link = &advice.links[0];
    let rungs: Vec<&str> = link.ladder.iter().map(|rung| rung.setting.as_str()).collect();
    assert_eq!(rungs, ["identity", "gzip:6", "recommended"]);
    let gzip = link.ladder[1].share_of_saving.unwrap();
    assert!((0.5..1.0).contains(&gzip), "{gzip}");
    for words in ["without compression", "with gzip:6", "of what can be saved", "at best"] {
        assert!(link.summary.contains(words), "{words}: {}", link.summary);
    }
}

#[test]
fn what_is_recorded_is_left_alone_where_nothing_tried_is_faster() {
    let mut asked = options(&["wpt/3g"]);
    asked.levels = vec!["gzip:6".parse().unwrap()];
    let advice = advised(&small_page(), &asked);
    assert_eq!(kind(&advice, 0, "json").recommended.setting, "today");
    assert!(
        advice.links[0]
            .summary
            .contains("as recorded, and nothing tried is faster"),
        "{}",
        advice.links[0].summary
    );
}

#[test]
fn the_models_error_is_told_where_it_is_known() {
    let error = ModelError {
        study: "fidelity-pages".to_owned(),
        pages: 96,
        median: 0.031,
        worst: 0.12,
    };
    let asked = Options {
        model_error: Some(error.clone()),
        ..options(&["wpt/3g"])
    };
    let advice = advised(&small_page(), &asked);
    assert!(
        advice
            .answer
            .contains("by 3.1 % in the median and by 12 % in the worst"),
        "{}",
        advice.answer
    );
    assert_eq!(advice.model_error, Some(error));
}

#[test]
fn the_faster_the_link_the_cheaper_the_level() {
    let mut options = options(&["published/dialup-56k", "fast+rate=1Gbit/s+one_way_delay=1ms"]);
    options.levels.retain(|codec| codec.coding() == Coding::Gzip);
    let advice = advised(&small_page_without_encodings(), &options);
    assert_eq!(kind(&advice, 0, "json").recommended.setting, "gzip:6");
    let fast = &kind(&advice, 1, "json").recommended.setting;
    assert!(["identity", "gzip:1"].contains(&&**fast), "{fast}");
}

#[test]
fn break_even_by_simulation_is_near_the_formula_where_round_trips_are_short() {
    // With a round trip of 20 us the bandwidth-delay product is small at any bandwidth near the break-even, so slow start does not
    // matter. What remains are heads, acknowledgements, and the first and last piece, which are not pipelined: a factor of two.
    let mut options = options(&["near+rate=10Mbit/s+one_way_delay=10us"]);
    options.levels = vec!["gzip:6".parse().unwrap()];
    options.load.tls = false;
    let advice = advised(&small_page_without_encodings(), &options);
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
        Body::SizeOnly(ByteCount::new(50_000)),
    );
    unseen.transferred = Some(ByteCount::new(9_000));
    let missing = response("/missing.css", "text/css", Origin::Static, Body::Missing);
    let mut cached = response("/cached.css", "text/css", Origin::Static, Body::Present(text(10)));
    cached.from_cache = true;
    responses.extend([unseen, missing, cached]);
    let advice = advised(&traffic(responses), &options(&["wpt/cable"]));
    assert_eq!(advice.traffic.responses, 4);
    assert_eq!(advice.traffic.identity_bytes, 250_000);
    assert!(
        !advice.links[0].kinds.iter().any(|advice| advice.kind == "css"),
        "how well css compresses is unknown"
    );
    let doubts: Vec<&str> = advice.doubts.iter().map(|doubt| doubt.kind.name()).collect();
    let expected = [
        "missing-bodies",
        "missing-responses",
        "cached-responses",
        "unknown-level",
    ];
    assert_eq!(doubts, expected);
    assert_eq!(advice.traffic.notes.len(), 2, "{:?}", advice.traffic.notes);
    let few = &kind(&advice, 0, "json").doubts;
    assert_eq!(few[0].kind, DoubtKind::FewResponses);
}

#[test]
fn what_the_browser_answered_itself_changes_no_figure_and_a_second_use_is_no_doubt() {
    let options = options(&["wpt/cable"]);
    let once = advised(&small_page(), &options);
    let mut used_again = small_page();
    let mut again = used_again.responses[1].clone();
    (again.from_cache, again.started) = (true, Duration::from_secs(2));
    used_again.responses.push(again);
    let mut advice = advised(&used_again, &options);
    let note = "1 not replayed: the browser answered from a cache";
    assert!(advice.traffic.notes.pop().unwrap().starts_with(note));
    assert_eq!(advice, once);
}

#[test]
fn an_answer_of_304_is_a_request_without_a_body() {
    let options = options(&["wpt/cable"]);
    let time = |page: &Traffic| advised(page, &options).links[0].page[0].page_time.mean;
    let of_two = || {
        let mut page = small_page();
        page.responses.truncate(2);
        page
    };
    let (mut without, mut validated) = (of_two(), of_two());
    without.responses.truncate(1);
    (validated.responses[1].status, validated.responses[1].transferred) = (304, Some(ByteCount::ZERO));
    validated.responses[1].body = Body::Present(bytes::Bytes::new());
    let (without, validated, whole) = (time(&without), time(&validated), time(&of_two()));
    assert!(
        without < validated && validated < whole,
        "{without} {validated} {whole}"
    );
}

#[test]
fn what_is_compressed_inside_is_left_as_it_is_with_the_evidence() {
    let image = response("/a.webp", "image/webp", Origin::Static, Body::Present(noise(40_000, 3)));
    // Named an image, and none: text.
    let named = response("/b.png", "image/png", Origin::Dynamic, Body::Present(text(30_000)));
    let advice = advised(&traffic(vec![image, named]), &options(&["wpt/3g"]));
    let of = |origin| advice.links[0].kinds.iter().find(|kind| kind.origin == origin).unwrap();
    let left = of(crate::record::Origin::Static);
    assert_eq!(
        (left.recommended.setting.as_str(), left.frontier.len(), &left.break_even),
        ("identity", 1, &None)
    );
    assert_eq!(advice.findings.len(), 2, "{:?}", advice.findings);
    assert!(
        advice.findings[0].text.contains("compresses its 40 kB only to 100 %"),
        "{}",
        advice.findings[0].text
    );
    assert_ne!(of(crate::record::Origin::Dynamic).recommended.setting, "identity");
}

#[test]
fn files_have_one_setting_whatever_the_seed_and_the_server() {
    for seed in 1..=5 {
        for server in [None, Some(Server::Nginx)] {
            let mut asked = options(&["wpt/3g"]);
            (asked.seed, asked.server) = (seed, server);
            asked
                .levels
                .extend(["br:10".parse::<CodecSpec>().unwrap(), "zstd:19".parse().unwrap()]);
            for link in advised(&crowded_page(), &asked).links {
                let files = link
                    .kinds
                    .iter()
                    .filter(|kind| kind.origin == crate::record::Origin::Static);
                let settings: BTreeSet<&str> = files.map(|kind| &*kind.recommended.setting).collect();
                // Images are compressed inside.
                assert_eq!(
                    settings,
                    BTreeSet::from(["br:11", "identity"]),
                    "seed {seed}, {server:?}, {}: {:#?}",
                    link.name,
                    link.page
                        .iter()
                        .map(|row| (&row.setting, row.page_time.mean))
                        .collect::<Vec<_>>()
                );
            }
        }
    }
}

#[test]
fn a_setting_saves_what_the_page_loses_without_it_and_a_kind_that_stays_as_it_is_has_no_figure() {
    let asked = options(&["wpt/3g"]);
    let mut page = crowded_page();
    for response in &mut page.responses {
        (response.content_encoding, response.transferred) = (None, None);
    }
    let advice = advised(&page, &asked);
    assert_eq!(kind(&advice, 0, "image").recommended.page_saves, None);
    let scripts = kind(&advice, 0, "javascript");
    let saves = scripts.recommended.page_saves.as_ref().unwrap();
    // The same page with scripts whose bodies are not known: they are replayed uncompressed.
    for response in &mut page.responses {
        if let (Some("text/javascript"), Body::Present(bytes)) = (response.media_type.as_deref(), &response.body) {
            response.body = Body::SizeOnly(ByteCount::from(bytes.len()));
        }
    }
    let without = advised(&page, &Options { partial: true, ..asked });
    let settings = |advice: &Advice| -> Vec<(String, String)> {
        let kinds = advice.links[0].kinds.iter().filter(|kind| kind.kind != "javascript");
        kinds
            .map(|kind| (kind.kind.clone(), kind.recommended.setting.clone()))
            .collect()
    };
    assert_eq!(settings(&advice), settings(&without), "all else is alike");
    let [with, without] = [&advice, &without].map(|advice| advice.links[0].page[0].page_time.mean);
    assert!(
        (saves.mean_s - (without - with)).abs() < 1e-9,
        "{saves:?}, {without} - {with}"
    );
    assert!(saves.mean_s > 0.0);
}

/// The snippet of a server.
fn snippet(advice: &Advice, server: Server) -> &Snippet {
    advice.snippets.iter().find(|snippet| snippet.server == server).unwrap()
}

#[test]
fn a_server_that_cannot_do_what_is_recommended_is_given_the_nearest_and_that_is_said() {
    let mut options = options(&["wpt/3g"]);
    options.levels = vec!["zstd:3".parse().unwrap(), "gzip:1".parse().unwrap()];
    let advice = advised(&small_page(), &options);
    assert_eq!(kind(&advice, 0, "json").recommended.setting, "zstd:3");
    let nginx = snippet(&advice, Server::Nginx);
    assert!(
        nginx.text.contains("gzip_comp_level 1;") && nginx.note.contains("gzip:1 is the nearest that nginx can do"),
        "{nginx:?}"
    );
    let apache = snippet(&advice, Server::Apache);
    assert!(
        apache.text.contains("DeflateCompressionLevel 1\n") && !apache.text.contains("BROTLI"),
        "{apache:?}"
    );
    let caddy = snippet(&advice, Server::Caddy);
    assert!(
        caddy.text.contains("zstd default") && !caddy.note.contains("nearest"),
        "{caddy:?}"
    );
}

/// Apache compresses with gzip:6 by itself.
#[test]
fn clients_that_accept_gzip_alone_get_no_more_bytes_than_before() {
    let mut options = options(&["wpt/cable"]);
    options.levels = ["gzip:1", "gzip:6", "br:5"]
        .map(|level| level.parse().unwrap())
        .to_vec();
    let advice = advised(&small_page(), &options);
    let settings = &snippet(&advice, Server::Apache).settings;
    let fallback = settings
        .iter()
        .find(|setting| setting.usage == SnippetUse::Fallback)
        .unwrap();
    assert_eq!(fallback.setting, "gzip:6");
}

#[test]
fn every_setting_of_a_snippet_is_the_tables_or_is_named_in_its_note_and_the_page_is_replayed_with_it() {
    let links = ["wpt/3g", "published/dialup-56k"];
    for page in [small_page(), crowded_page()] {
        let advice = advised(&page, &options(&links));
        assert_eq!(advice.snippets.len(), 3);
        for snippet in &advice.snippets {
            for setting in &snippet.settings {
                let in_table = setting.recommended_on.iter().any(|link| {
                    let link = advice.links.iter().find(|advice| advice.name == *link).unwrap();
                    let mut kinds = link.kinds.iter().filter(|kind| kind.origin == setting.origin);
                    kinds.any(|kind| kind.recommended.setting == setting.setting)
                });
                assert!(in_table || snippet.note.contains(&setting.setting), "{snippet:?}");
            }
            let replayed: Vec<&str> = snippet.replays.iter().map(|replay| replay.link.as_str()).collect();
            assert_eq!(replayed, links);
            for replay in &snippet.replays {
                let saves = replay.page.recommended_saves.as_ref().unwrap();
                assert!(saves.mean_ci95_s.is_none_or(|[_, high]| high >= 0.0), "{snippet:?}");
            }
        }
    }
}

#[test]
fn a_snippet_never_switches_compression_off() {
    let file = response(
        "/app.js",
        "text/javascript",
        Origin::Static,
        Body::Present(text(100_000)),
    );
    let image = response(
        "/a.webp",
        "image/webp",
        Origin::Dynamic,
        Body::Present(noise(40_000, 3)),
    );
    let short = response("/a", "application/json", Origin::Dynamic, Body::Present(text(120)));
    let advice = advised(&traffic(vec![file, image, short]), &options(&["wpt/3g"]));
    assert_eq!(advice.snippets.len(), 3);
    for snippet in &advice.snippets {
        assert!(!snippet.text.contains("off"), "{}", snippet.text);
        assert!(
            !snippet.text.contains("on request"),
            "there are no lines about them: {}",
            snippet.text
        );
        assert!(
            snippet
                .note
                .contains("No dynamic response of this page was worth compressing"),
            "{}",
            snippet.note
        );
    }
}

#[test]
fn only_what_the_server_supports_is_tried_and_only_its_snippet_is_written() {
    for (server, static_only) in [(Server::Nginx, None), (Server::Caddy, Some("br:11"))] {
        let asked = Options {
            server: Some(server),
            ..options(&["wpt/3g"])
        };
        let advice = advised(&small_page(), &asked);
        let servers: Vec<Server> = advice.snippets.iter().map(|snippet| snippet.server).collect();
        assert_eq!((servers, advice.options.server), (vec![server], Some(server)));
        for kind in &advice.links[0].kinds {
            for candidate in &kind.frontier {
                let codec = candidate.setting.parse().unwrap();
                let origin = match kind.origin {
                    crate::record::Origin::Static => Origin::Static,
                    crate::record::Origin::Dynamic => Origin::Dynamic,
                };
                assert!(snippets::supports(server, origin, codec), "{codec} for {origin:?}");
            }
        }
        if let Some(setting) = static_only {
            let tried = |kind: &KindAdvice| kind.frontier.iter().any(|candidate| candidate.setting == setting);
            assert!(tried(kind(&advice, 0, "javascript")) && !tried(kind(&advice, 0, "json")));
        }
    }
}

#[test]
fn refusals_name_the_option_or_the_file() {
    let costs = CostTable::free();
    let refusal = |traffic: &Traffic, options: &Options| advise(traffic, options, &costs, &mut |_| {}).unwrap_err();
    let refused = |options: Options| refusal(&small_page(), &options).to_string();
    assert!(refused(Options::default()).contains("name at least one"));
    assert!(
        refused(Options {
            load: LoadOptions {
                slow_client: 0.0,
                ..LoadOptions::default()
            },
            ..options(&["wpt/3g"])
        })
        .starts_with("the client's slow-down is 0")
    );
    let overloaded = lastmile_page::ServerSpec {
        cores: 1,
        slow_down: 1.0,
        load: 1.0,
    };
    assert!(
        refused(Options {
            load: LoadOptions {
                server: overloaded,
                ..LoadOptions::default()
            },
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
    let mut without = small_page();
    for response in &mut without.responses {
        response.body = Body::SizeOnly(ByteCount::new(50_000));
    }
    let nobody = refusal(&without, &options(&["wpt/3g"])).to_string();
    assert!(
        nobody.starts_with("test.har: none of 3 responses has its body")
            && nobody.contains("Save all as HAR with content"),
        "{nobody}"
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

/// The doubts of an advice that raises one of this kind.
fn doubtful(kind: DoubtKind) -> Vec<Doubt> {
    let mut asked = Options {
        repeats: NonZeroU64::MIN,
        repeats_max: NonZeroU64::MIN,
        levels: vec!["gzip:6".parse().unwrap()],
        ..options(&["wpt/cable"])
    };
    let mut responses = small_page().responses;
    match kind {
        // These two are raised by the page as it is.
        DoubtKind::UnknownLevel | DoubtKind::FewResponses => {}
        DoubtKind::MissingBodies => responses[2].body = Body::SizeOnly(ByteCount::new(60_000)),
        DoubtKind::MostBodiesMissing => {
            responses[1].body = Body::SizeOnly(ByteCount::new(120_000));
            asked.partial = true;
        }
        DoubtKind::UncertainSaving => return losses_hide_a_saving(),
        DoubtKind::MissingResponses => {
            responses.push(response("/missing.css", "text/css", Origin::Static, Body::Missing));
        }
        DoubtKind::CachedResponses => responses[1].from_cache = true,
        DoubtKind::OtherProtocol => responses[0].http_version = Some(HttpVersion::Http3),
        DoubtKind::UnknownHeads => responses[1].response_header_bytes = None,
        DoubtKind::FewRuns => {
            asked.repeats = NonZeroU64::new(2).unwrap();
            asked.repeats_max = asked.repeats;
        }
        DoubtKind::FailedRuns => return some_pages_fail(),
        DoubtKind::EstimatedSizes => {
            responses = vec![response(
                "/a.js",
                "text/javascript",
                Origin::Static,
                Body::Present(text(1_000_000)),
            )];
            asked.levels = SLOW_LEVELS.iter().map(|level| level.parse().unwrap()).collect();
            asked.exact_within = Duration::from_millis(50);
        }
        #[cfg(target_os = "linux")]
        DoubtKind::OtherRequests => return crate::browser_loads::tests::doubts_of_another_page(),
        other => panic!("{other} has no row"),
    }
    doubts(&advised(&traffic(responses), &asked))
}

/// The doubts of the first advice in which the page loads in some repeats only, on a link with more and more loss.
fn some_pages_fail() -> Vec<Doubt> {
    let page = traffic(vec![response(
        "/",
        "text/html",
        Origin::Static,
        Body::Present(text(1000)),
    )]);
    let costs = CostTable::load(&Choice::Reference).unwrap();
    let advices = (60..100).step_by(4).filter_map(|loss| {
        let asked = Options {
            repeats: NonZeroU64::new(10).unwrap(),
            repeats_max: NonZeroU64::new(10).unwrap(),
            levels: vec!["gzip:6".parse().unwrap()],
            load: LoadOptions {
                tls: false,
                ..LoadOptions::default()
            },
            ..options(&[&format!("wpt/cable+loss={loss}%")])
        };
        advise(&page, &asked, &costs, &mut |_| {}).ok()
    });
    let mut failing = advices
        .map(|advice| doubts(&advice))
        .filter(|doubts| doubts.iter().any(|doubt| doubt.kind == DoubtKind::FailedRuns));
    failing.next().expect("at some loss, some repeats fail and some do not")
}

/// The doubts of the first advice in which random losses are worth more than a saving, on a link with more and more loss.
fn losses_hide_a_saving() -> Vec<Doubt> {
    let mut advices = (2..14).step_by(2).map(|loss| {
        let asked = Options {
            levels: vec!["gzip:6".parse().unwrap()],
            ..options(&[&format!("wpt/cable+loss={loss}%")])
        };
        doubts(&advised(&small_page_without_encodings(), &asked))
    });
    let uncertain = |doubts: &Vec<Doubt>| doubts.iter().any(|doubt| doubt.kind == DoubtKind::UncertainSaving);
    advices
        .find(uncertain)
        .expect("at some loss, a saving is less than the noise")
}

/// All doubts of an advice.
fn doubts(advice: &Advice) -> Vec<Doubt> {
    let of_links = advice.links.iter().flat_map(|link| {
        let of_kinds = link.kinds.iter().flat_map(|kind| &kind.doubts);
        link.doubts.iter().chain(of_kinds)
    });
    advice.doubts.iter().chain(of_links).cloned().collect()
}

#[test]
fn every_kind_of_doubt_is_raised() {
    for kind in DOUBTS {
        let doubts = doubtful(*kind);
        assert!(doubts.iter().any(|doubt| doubt.kind == *kind), "{kind}: {doubts:?}");
    }
}
