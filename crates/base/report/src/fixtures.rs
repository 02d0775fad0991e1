//! Sample records of a run and an advice for tests: small, with one of everything; the figures are made up.

mod capture;
mod encode;
mod load;
mod machine;
mod perturb;
mod tuning;

pub(crate) use capture::inspection;
pub(crate) use encode::encoding;
pub(crate) use load::load;
pub(crate) use machine::{conformance, examination};
pub(crate) use perturb::perturbation;
pub(crate) use tuning::tuning;

use crate::advise::*;
use crate::record::*;
use std::collections::BTreeMap;

pub(crate) fn figure(unit: &str, per: &str, mean: f64, population_sd: f64) -> Figure {
    Figure {
        unit: unit.to_owned(),
        per: per.to_owned(),
        n: 5,
        mean,
        population_sd,
        sd: Some(population_sd * (5.0f64 / 4.0).sqrt()),
        population_sd_ratio: Some(population_sd / mean),
        quantiles: [
            ("0.5", mean),
            ("0.95", mean + 1.5 * population_sd),
            ("0.99", mean + 1.6 * population_sd),
        ]
        .map(|(p, value)| (p.to_owned(), value))
        .into(),
        ci95: (population_sd > 0.0).then_some([mean - population_sd, mean + population_sd]),
        varied: if population_sd > 0.0 {
            vec!["calibration".to_owned()]
        } else {
            Vec::new()
        },
        run_means: Vec::new(),
        first_against_rest: Some([mean * 1.04, mean * 0.99]),
        published: None,
    }
}

pub(crate) fn levels(pairs: &[(&str, &str)]) -> Levels {
    pairs
        .iter()
        .map(|(name, level)| ((*name).to_owned(), (*level).to_owned()))
        .collect()
}

fn cell(case: &str, codec: &str, bytes: f64, seconds: f64, objects: f64) -> Cell {
    Cell {
        part: None,
        levels: levels(&[("case", case), ("codec", codec), ("link", "published/adsl-512k")]),
        repeats: 5,
        failed: 0,
        figures: BTreeMap::from([
            ("response_bytes".to_owned(), figure("B", "run", bytes, 0.0)),
            ("extract_time".to_owned(), figure("s", "run", seconds, seconds * 0.012)),
            (
                "transfer_rate".to_owned(),
                figure("1/s", "run", objects / seconds, objects / seconds * 0.012),
            ),
        ]),
        valid: true,
        doubts: Vec::new(),
    }
}

fn ratio(name: &str, case: &str, mean: f64, population_sd: f64, published: Option<Published>) -> Ratio {
    Ratio {
        name: name.to_owned(),
        levels: levels(&[("case", case)]),
        n: 5,
        mean,
        population_sd,
        population_sd_ratio: Some(population_sd / mean.abs()),
        ci95: (population_sd > 0.0).then_some([mean - population_sd, mean + population_sd]),
        varied: if population_sd > 0.0 {
            vec!["calibration".to_owned()]
        } else {
            Vec::new()
        },
        published,
    }
}

fn point(x: f64, y: f64, spread: f64) -> Point {
    Point {
        x,
        y,
        spread: (spread > 0.0).then_some([y - spread, y + spread]),
        label: None,
    }
}

fn series(name: &str, source: Source, joined: bool, points: &[Point]) -> Series {
    Series {
        name: name.to_owned(),
        source,
        joined,
        points: points.to_vec(),
    }
}

fn saved_by_case() -> Chart {
    let cases = ["A", "B", "C", "D", "E", "F", "G", "H"];
    let published = [0.84, 0.83, 0.78, 0.83, 0.82, 0.004, 0.31, 0.38];
    let measured = [0.81, 0.842, 0.79, 0.818, 0.803, 0.012, 0.352, 0.41];
    let points = |values: [f64; 8], spread| -> Vec<Point> {
        values
            .iter()
            .enumerate()
            .map(|(x, y)| point(x as f64, *y, spread))
            .collect()
    };
    Chart {
        title: "Extracting time saved, by case".to_owned(),
        note: "Bars are 95 % intervals; higher is better.".to_owned(),
        x: Axis {
            label: "Case".to_owned(),
            unit: String::new(),
            scale: Scale::Named(cases.map(str::to_owned).to_vec()),
        },
        y: Axis {
            label: "Time saved".to_owned(),
            unit: "1".to_owned(),
            scale: Scale::Linear,
        },
        series: vec![
            series("ETDR", Source::Measured, false, &points(measured, 0.02)),
            series("ETDR", Source::Published, false, &points(published, 0.0)),
        ],
        marks: Vec::new(),
    }
}

fn time_by_bandwidth() -> Chart {
    let rates = [56e3, 512e3, 10e6, 100e6];
    let at = |values: [f64; 4], spread: f64| -> Vec<Point> {
        rates
            .iter()
            .zip(values)
            .map(|(x, y)| point(*x, y, y * spread))
            .collect()
    };
    let mut plain = at([9.9, 6.4, 5.0, 0.47], 0.04);
    for (point, name) in plain.iter_mut().zip(["dial-up", "ADSL", "broadband", "intranet"]) {
        point.label = Some(name.to_owned());
    }
    Chart {
        title: "Extracting time over the bandwidth".to_owned(),
        note: "100 telemetry packets. The dotted line is 8 S / B and the round trips of slow start.".to_owned(),
        x: Axis {
            label: "Bandwidth".to_owned(),
            unit: "bit/s".to_owned(),
            scale: Scale::Log,
        },
        y: Axis {
            label: "Extracting time".to_owned(),
            unit: "s".to_owned(),
            scale: Scale::Log,
        },
        series: vec![
            series("without", Source::Measured, true, &plain),
            series("with", Source::Measured, true, &at([5.2, 3.9, 3.4, 0.48], 0.04)),
            series("without", Source::Published, true, &at([9.53, 6.66, 5.135, 0.473], 0.0)),
            series("with", Source::Published, true, &at([5.475, 4.136, 3.589, 0.479], 0.0)),
            series(
                "rate alone",
                Source::Predicted,
                true,
                &at([5.68, 0.87, 0.29, 0.26], 0.0),
            ),
        ],
        marks: Vec::new(),
    }
}

/// A run of the gzip-filter study, with invented figures.
pub(crate) fn run() -> Run {
    let cases = [
        ("A", 675_490.0, 49_352.0, 55.1, 9.4, 372.0),
        ("B", 55_538.0, 1_026.0, 10.6, 1.81, 100.0),
        ("C", 81_416.0, 1_626.0, 6.7, 1.44, 53.0),
        ("F", 1_088.0, 674.0, 0.541, 0.538, 1.0),
        ("H", 39_748.0, 6_520.0, 6.52, 4.02, 100.0),
    ];
    let mut cells: Vec<Cell> = cases
        .iter()
        .flat_map(|(case, plain, gzip, plain_s, gzip_s, objects)| {
            [
                cell(case, "identity", *plain, *plain_s, *objects),
                cell(case, "gzip:6", *gzip, *gzip_s, *objects),
            ]
        })
        .collect();
    cells[0].doubts.push(Doubt {
        kind: DoubtKind::SlowFirstRun,
        text: "the first of 5 runs took 66.7 s, the others 54.2 s on average".to_owned(),
    });
    cells[7].valid = false;
    cells[7].failed = 2;
    cells[7].doubts.push(Doubt {
        kind: DoubtKind::FailedRuns,
        text: "2 of 5 runs failed: connection reset".to_owned(),
    });
    let mut part = cell("F", "gzip:6", 674.0, 0.512, 1.0);
    part.part = Some("sensitivity".to_owned());
    cells.push(part);
    Run {
        schema: Run::SCHEMA.to_owned(),
        study: "gzip-filter".to_owned(),
        question: "What does compressing HTTP responses buy, by object size, count and bandwidth?".to_owned(),
        world: "sim".to_owned(),
        cpu: "reference".to_owned(),
        cpu_machine: "2 cores of a Xeon at 2.5 GHz, Linux 6.1".to_owned(),
        seed: 1,
        fresh: "repeat".to_owned(),
        version: "0.1.0".to_owned(),
        run: "runs/gzip-filter-1".to_owned(),
        cells,
        ratios: vec![
            ratio("etdr", "A", 0.829, 0.014, Some(Published::Value(0.84))),
            ratio("etdr", "F", 0.0055, 0.016, Some(Published::Range([0.004, 0.022]))),
            ratio("etdr", "H", 0.383, 0.012, Some(Published::Value(0.38))),
            ratio("rssdr", "A", 0.927, 0.0, Some(Published::Value(0.93))),
            ratio("rssdr", "F", 0.381, 0.0, Some(Published::Value(0.38))),
            ratio("rssdr", "H", 0.836, 0.0, None),
        ],
        findings: vec![
            Finding {
                title: "Compression saves most of the bytes, and buffering most of the time".to_owned(),
                text: "Of the 0.83 of its time that case B saves, 0.11 is compression; the rest is one write instead of 100 \
                       under Nagle's algorithm. Case F, a single small object, saves nothing that can be told from 0."
                    .to_owned(),
                inferred: false,
            },
            Finding {
                title: "The round trip was about 250 ms".to_owned(),
                text: "No page of the report prints it; the times of cases B, C and F agree on 240 to 260 ms.".to_owned(),
                inferred: true,
            },
        ],
        exhibits: vec![Table {
            title: "The faulty size meter".to_owned(),
            note: "The report's appendix A throws away every second byte it reads, so N bytes are printed as N / 2.".to_owned(),
            columns: ["Case", "Printed (B)", "True (B)"].map(str::to_owned).to_vec(),
            rows: [["B", "27769", "55538"], ["F", "544", "1088"]].map(|row| row.map(str::to_owned).to_vec()).to_vec(),
        }],
        charts: vec![saved_by_case(), time_by_bandwidth()],
        thresholds: vec![Threshold {
            rule: "p95(extract_time) < 20 s".to_owned(),
            part: None,
            levels: levels(&[("case", "A"), ("codec", "identity")]),
            found: 56.1,
            held: false,
        }],
    }
}

fn saving(mean: f64, share: f64) -> Saving {
    Saving {
        pairs: 20,
        mean_s: mean,
        mean_ci95_s: Some([mean * 0.93, mean * 1.07]),
        median_s: mean * 0.97,
        median_ci95_s: Some([mean * 0.9, mean * 1.03]),
        p95_s: mean * 1.6,
        p95_ci95_s: Some([mean * 1.2, mean * 1.9]),
        share,
        varied: vec!["calibration".to_owned(), "start phase".to_owned()],
    }
}

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
            loss: 0.0,
            queue: "drop-tail, 100 packets".to_owned(),
            source: "WebPageTest, connectivity.ini, 3G".to_owned(),
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
            }],
            doubts: vec![Doubt {
                kind: DoubtKind::OtherRequests,
                text: "Chromium loads another page than the simulation".to_owned(),
            }],
        }),
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

/// Text that HTML, SVG, a script, Markdown and a terminal must show and not obey.
pub(crate) const HOSTILE: &str =
    "</script></text></title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>]]>&amp;<!--|`\u{1b}[2J";

/// A record with [`HOSTILE`] in every text and every name, except those that an enumeration fixes.
pub(crate) fn hostile<T: serde::Serialize + serde::de::DeserializeOwned>(record: &T) -> T {
    const FIXED: [&str; 29] = [
        "measured",
        "published",
        "predicted",
        "linear",
        "log",
        "har",
        "static",
        "dynamic",
        "http/1.1",
        "h2",
        "cold",
        "nginx",
        "apache",
        "handshake",
        "before-capture",
        "ready",
        "limited",
        "missing",
        "jsonl",
        "auto",
        "sent",
        "received",
        "default",
        "permessage-deflate",
        "any-codec",
        "python-websockets",
        "exact",
        "first",
        "fallback",
    ];
    fn poison(value: &mut serde_json::Value) {
        let is_fixed = |text: &str| FIXED.contains(&text) || DoubtKind::ALL.iter().any(|kind| kind.to_string() == text);
        match value {
            serde_json::Value::String(text) if !is_fixed(text) => text.push_str(HOSTILE),
            serde_json::Value::Array(all) => all.iter_mut().for_each(poison),
            serde_json::Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    poison(field);
                    if let (true, Some(named)) = (
                        ["levels", "figures", "set_aside", "libraries"].contains(&name.as_str()),
                        field.as_object_mut(),
                    ) {
                        *named = std::mem::take(named)
                            .into_iter()
                            .map(|(name, value)| (name + HOSTILE, value))
                            .collect();
                    }
                }
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(record).expect("a record is JSON");
    poison(&mut value);
    serde_json::from_value(value).expect("its shape is as it was")
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
