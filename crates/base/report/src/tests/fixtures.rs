//! A sample record of a run for tests: small, with one of everything; the figures are made up.

use crate::record::*;
pub(crate) use crate::testing::figure;
use crate::testing::{point, series, time_by_bandwidth};
use std::collections::BTreeMap;

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
        ..Chart::default()
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
