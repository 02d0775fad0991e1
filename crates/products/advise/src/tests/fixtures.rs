//! A sample record for tests: small, with one of everything; the figures are made up.

use crate::record::waterfall::{Priority, RecordedLoad, SimulatedLoad, Waterfall};
use crate::record::*;
use lastmile_report::connections::Connections;
use lastmile_report::link_description::LinkDescription;
use lastmile_report::model_error::ModelError;
use lastmile_report::record::*;
use lastmile_report::testing::{figure, link_description, saving, time_by_bandwidth};

fn candidate(
    setting: &str,
    bytes: u64,
    identity: u64,
    server: f64,
    client: f64,
    time: f64,
    dominated: bool,
) -> Candidate {
    Candidate {
        setting: setting.to_owned(),
        compressed_bytes: bytes,
        ratio: bytes as f64 / identity as f64,
        server_cpu_s: server,
        client_cpu_s: client,
        isolated_time_s: time,
        dominated,
    }
}

fn kind(kind: &str, origin: Origin, identity: u64, slower: f64) -> KindAdvice {
    let frontier = [
        ("br:11", 0.205, 0.9, 0.004, 0.41, false),
        ("br:5", 0.231, 0.021, 0.004, 0.37, false),
        ("zstd:3", 0.262, 0.0025, 0.0012, 0.372, false),
        ("gzip:6", 0.259, 0.012, 0.0021, 0.379, true),
        ("gzip:1", 0.31, 0.0041, 0.0022, 0.41, true),
        ("identity", 1.0, 0.0, 0.0, 1.21, false),
    ]
    .map(|(setting, ratio, server, client, time, dominated)| {
        candidate(
            setting,
            (identity as f64 * ratio) as u64,
            identity,
            server,
            client,
            time * slower,
            dominated,
        )
    });
    KindAdvice {
        kind: kind.to_owned(),
        origin,
        responses: 14,
        identity_bytes: identity,
        today: Some("gzip".to_owned()),
        today_bytes: Some((identity as f64 * 0.259) as u64),
        frontier: frontier.to_vec(),
        recommended: Recommendation {
            setting: if origin == Origin::Static { "br:11" } else { "br:5" }.to_owned(),
            why: "It is the smallest, and compressing is done before anyone waits for it.".to_owned(),
            compressed_bytes: (identity as f64 * if origin == Origin::Static { 0.205 } else { 0.231 }) as u64,
            page_saves: Some(saving(0.06 * slower, 0.09)),
        },
        break_even: Some(BreakEven {
            by_formula_bit_per_second: (origin == Origin::Dynamic).then_some(412e6),
            formula: "B* = 8 S (1 - r) / (C + D)".to_owned(),
            by_simulation: Some(BreakEvenSearch {
                searched_bit_per_second: [56e3, 1e9],
                between_bit_per_second: (origin == Origin::Dynamic).then_some([320e6, 480e6]),
            }),
        }),
        doubts: Vec::new(),
    }
}

fn link(name: &str, rate: f64, round_trip: f64, slower: f64) -> LinkAdvice {
    let page = |setting: &str, time: f64, bytes: f64, identity: Option<f64>, today: Option<f64>| PageOutcome {
        setting: setting.to_owned(),
        page_time: figure("s", "page", time * slower, time * slower * 0.03),
        bytes_down: figure("B", "page", bytes, 120.0),
        saving_against_identity: identity.map(|share| saving(share * 9.0 * slower, share)),
        saving_against_today: today.map(|share| saving(share * 4.0 * slower, share)),
        recommended_saves: (setting != "recommended").then(|| saving((time - 3.4) * slower, (time - 3.4) / time)),
    };
    let rung = |setting: &str, time: f64| Rung {
        setting: setting.to_owned(),
        page_time: figure("s", "page", time * slower, time * slower * 0.03),
        saved_share: 1.0 - time / 9.0,
        saved_share_ci95: Some([0.96 - time / 9.0, 1.04 - time / 9.0]),
        share_of_saving: Some((9.0 - time) / 5.6),
    };
    LinkAdvice {
        name: name.to_owned(),
        description: LinkDescription {
            rate_down_bit_per_second: Some(rate),
            rate_up_bit_per_second: Some(rate / 2.0),
            round_trip_s: round_trip,
            ..link_description()
        },
        summary: format!("On {name}, brotli at 11 for files and at 5 for what is made on request."),
        page: vec![
            page("recommended", 3.4, 402_000.0, Some(0.62), Some(0.15)),
            page("today", 4.0, 511_000.0, Some(0.55), None),
            page("gzip:6", 4.1, 515_000.0, Some(0.54), Some(-0.02)),
            page("identity", 9.0, 1_900_000.0, None, Some(-1.25)),
        ],
        browser: (slower == 1.0).then(|| BrowserComparison {
            browser: "Chromium 140.0".to_owned(),
            outcomes: vec![BrowserOutcome {
                setting: "recommended".to_owned(),
                simulated: figure("s", "page", 3.3, 0.1),
                emulated: figure("s", "page", 3.2, 0.05),
                ratio: 1.03,
                ratio_ci95: Some([1.01, 1.05]),
                requests_within_10_percent: Some(0.925),
            }],
            doubts: vec![Doubt {
                kind: DoubtKind::OtherRequests,
                text: "Chromium loads another page than the simulation".to_owned(),
            }],
        }),
        waterfall: Some(waterfall(slower)),
        ladder: vec![rung("identity", 9.0), rung("gzip:6", 4.1), rung("recommended", 3.4)],
        as_good_as: vec!["br:10".to_owned()],
        repeats: 20,
        clear: true,
        screened: vec![ScreenedSetting {
            setting: "zstd:1".to_owned(),
            page_time: figure("s", "page", 4.3 * slower, 0.13 * slower),
            recommended_saves: saving(0.9 * slower, 0.21),
        }],
        kinds: vec![
            kind("javascript", Origin::Static, 1_100_000, slower),
            kind("json", Origin::Dynamic, 340_086, slower * 0.3),
        ],
        doubts: vec![Doubt {
            kind: DoubtKind::FewRuns,
            text: "20 pages a setting; 59 are needed for a 95th percentile's interval".to_owned(),
        }],
    }
}

/// A document, a script that it leads to, and an image that comes no sooner.
fn waterfall(slower: f64) -> Waterfall {
    let load = |setting: &str, coding: &str, receive: [u64; 3]| {
        let [document, script, image] = receive.map(|time| (time as f64 * slower) as u64);
        let script_start = 1_000_000 + document;
        SimulatedLoad {
            setting: setting.to_owned(),
            page_time_us: script_start + 350_000 + script,
            dom_content_loaded_us: Some(script_start),
            load_event_us: Some(script_start + 320_000 + image),
            critical_path: vec![0, 1],
            start_us: vec![0, script_start, script_start],
            blocked_us: vec![0, 0, 20_000],
            connect_us: vec![300_000, 0, 0],
            tls_us: vec![300_000, 0, 0],
            send_us: vec![10_000, 10_000, 10_000],
            wait_us: vec![390_000, 330_000, 300_000],
            receive_us: vec![document, script, image],
            decode_us: vec![0, 10_000, 0],
            connection: vec![0, 0, 0],
            opens_connection: vec![true, false, false],
            waited_for: vec![None, Some(0), Some(0)],
            coding: vec![coding.to_owned(), coding.to_owned(), "identity".to_owned()],
            body_bytes: receive.map(|time| time / 5).to_vec(),
        }
    };
    Waterfall {
        repeat: 11,
        entry: vec![0, 1, 2],
        host: vec![1, 1, 2],
        path: ["/", "/static/js/app.js", "/img/logo.png?"].map(str::to_owned).to_vec(),
        priority: vec![Priority::VeryHigh, Priority::High, Priority::Low],
        identity_bytes: vec![120_000, 1_100_000, 40_000],
        today: load("today", "gzip", [250_000, 2_300_000, 400_000]),
        recommended: load("recommended", "br", [200_000, 1_700_000, 400_000]),
    }
}

/// Advice on two links, with invented figures.
pub(crate) fn advice() -> Advice {
    Advice {
        schema: Advice::SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        seed: 1,
        cpu: "reference".to_owned(),
        cpu_machine: "2 cores of a Xeon at 2.5 GHz, Linux 6.1".to_owned(),
        traffic: Traffic {
            source: "examples/shop.har".to_owned(),
            kind: TrafficKind::Har,
            responses: 64,
            identity_bytes: 1_900_000,
            today_bytes: Some(511_000),
            hosts: 3,
            notes: vec!["2 responses have no body in the archive; they are replayed at the size it gives".to_owned()],
        recorded: Some(RecordedLoad {
            page_time_us: 900_000,
            dom_content_loaded_us: Some(400_000),
            load_event_us: Some(850_000),
            start_us: vec![Some(0), Some(350_000), None],
            phases_us: vec![[1_000, 20_000, 30_000, 30_000, 1_000, 150_000, 50_000], [0, 0, 0, 0, 1_000, 200_000, 349_000], [0; 7]],
            connection: vec![Some(0), Some(0), None],
        }),
        },
        options: Options {
            protocol: None,
            hosts: vec![
                ReplayedHost {
                    host: "http://www.shop.example".to_owned(),
                    responses: 1,
                    recorded: Some("HTTP/1.1".to_owned()),
                    protocol: Protocol::Http11,
                    connections: 6,
                },
                ReplayedHost {
                    host: "https://www.shop.example".to_owned(),
                    responses: 48,
                    recorded: Some("HTTP/3".to_owned()),
                    protocol: Protocol::H2,
                    connections: 1,
                },
                ReplayedHost {
                    host: "https://api.shop.example".to_owned(),
                    responses: 15,
                    recorded: None,
                    protocol: Protocol::Http11,
                    connections: 6,
                },
            ],
            tls: true,
            connections: Connections::Cold,
            repeats: 20,
            repeats_max: 20,
            encodings: vec!["gzip".to_owned(), "br".to_owned()],
            server: None,
            slow_client: 4.0,
        },
        sizes: CompressedSizes {
            exact: vec!["gzip:6".to_owned(), "br:5".to_owned()],
            estimated: vec!["br:9".to_owned()],
        },
        model_error: Some(ModelError { study: "fidelity-pages".to_owned(), pages: 288, median: 0.031, worst: 0.12 }),
        answer: "Brotli at 11 for files and at 5 for JSON: pages come 62 % sooner than without compression and 15 % sooner than \
                 today, on both links."
            .to_owned(),
        links: vec![link("wpt/3g", 1.6e6, 0.3, 1.0), link("published/dialup-56k", 56e3, 0.12, 24.0)],
        snippets: vec![
            Snippet {
                server: Server::Nginx,
                text: "gzip on;\ngzip_comp_level 6;\ngzip_types text/css application/javascript;\n".to_owned(),
                note: "In the http block. Brotli needs the ngx_brotli module.".to_owned(),
                settings: vec![SnippetSetting {
                    origin: Origin::Dynamic,
                    setting: "gzip:6".to_owned(),
                    usage: SnippetUse::First,
                    recommended_on: vec!["wpt/3g".to_owned()],
                }],
                replays: vec![SnippetReplay {
                    link: "wpt/3g".to_owned(),
                    page: PageOutcome { setting: "nginx".to_owned(), ..link("wpt/3g", 1.6e6, 0.3, 1.0).page[2].clone() },
                }],
            },
            Snippet {
                server: Server::Apache,
                text: "<IfModule mod_brotli.c>\n  BrotliCompressionQuality 5\n</IfModule>\n".to_owned(),
                note: "In the virtual host.".to_owned(),
                settings: Vec::new(),
                replays: Vec::new(),
            },
        ],
        findings: vec![Finding {
            title: "Fonts stay as they are".to_owned(),
            text: "WOFF2 is brotli inside; compressing it again saves 0.1 % and costs computing.".to_owned(),
            inferred: false,
        }],
        charts: vec![time_by_bandwidth()],
        exhibits: Vec::new(),
        doubts: vec![Doubt { kind: DoubtKind::MissingBodies, text: "2 of 64 bodies were made up from their sizes".to_owned() }],
    }
}
