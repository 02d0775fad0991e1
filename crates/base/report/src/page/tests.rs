//! Tests: a page is safe, complete and reproducible.

use super::*;
use crate::Detail;
use crate::compare::compare;
use crate::testing::{check_page, check_record, check_schema};
use crate::tests::fixtures;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use std::io::Read as _;

fn provenance() -> Provenance {
    Provenance {
        command: "lastmile run gzip-filter --seed 1".to_owned(),
        machine: "2 cores, Linux 6.1".to_owned(),
        finished: None,
        study: Some("name = \"gzip-filter\"\nrepeats = 5\n".to_owned()),
    }
}

#[test]
fn a_run_keeps_what_every_record_must() {
    let run = fixtures::run();
    check_schema("run", &run);
    check_record(&run, &[]);
    check_page(&run, &[], &[]);
    let rule = "p95(extract_time)>+5%".parse().expect("a rule");
    let comparison = compare(&run, &run, &[rule], false);
    check_schema("compare", &comparison);
    check_schema("link", &crate::link_summary::sample());
    check_schema("segment", &crate::segment_line::sample());
    assert!(include_str!("page.js").len() <= 10_000, "the script is short");
}

#[test]
fn a_run_of_nothing_is_still_a_page_and_a_table() {
    let mut nothing = fixtures::run();
    nothing.cells.clear();
    nothing.ratios.clear();
    nothing.exhibits[0].columns.clear();
    nothing.charts[0].series.clear();
    assert!(!render(&nothing, &provenance()).contains("<h2>Figures</h2>"));
    let look = crate::terminal::TerminalStyle {
        width: 80,
        colour: false,
    };
    assert!(crate::terminal::render(&nothing, Detail::Short, look).starts_with("gzip-filter\n"));
    assert!(crate::markdown::render(&nothing, Detail::Long).starts_with("## gzip-filter\n"));
}

#[test]
fn the_data_in_the_page_is_the_record() {
    let run = crate::testing::hostile(&fixtures::run(), &[]);
    let page = render(&run, &provenance());
    let (before, rest) = page.split_once("id=\"data\">").expect("there is data");
    let text = rest.split("</script>").next().expect("it ends");
    let mut data = text.to_owned();
    if before.ends_with("data-coding=\"gzip\" ") {
        let bytes = BASE64_STANDARD.decode(text).expect("it is base64");
        data.clear();
        GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut data)
            .expect("it is gzip");
    }
    assert_eq!(serde_json::from_str::<Run>(&data).expect("it is JSON"), run);
}

#[test]
fn every_doubt_is_beside_its_figures_and_explained() {
    let page = render(&fixtures::run(), &provenance());
    for doubt in fixtures::run().cells.iter().flat_map(|cell| &cell.doubts) {
        let link = format!("{}\u{a0}<sup>", doubt.kind);
        assert!(page.contains(&link) && page.contains(&format!("<b>{}</b>: {}", doubt.kind, doubt.text)));
    }
    assert!(
        page.contains("invalid (538.0 ms ± 6.5)"),
        "an invalid figure is shown as invalid"
    );
}

#[test]
fn a_threshold_tells_its_part_where_there_are_parts() {
    let mut run = fixtures::run();
    run.thresholds[0].part = Some("far-away".to_owned());
    let look = crate::terminal::TerminalStyle {
        width: 120,
        colour: false,
    };
    for shown in [
        render(&run, &provenance()),
        crate::terminal::render(&run, Detail::Short, look),
        crate::markdown::render(&run, Detail::Long),
    ] {
        assert!(shown.contains("far-away"), "{shown}");
    }
}

#[test]
fn the_pictures_come_before_the_tables_and_the_contents_lead_to_both() {
    let page = render(&fixtures::run(), &provenance());
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(at("<nav class=\"contents\"") < at("<h2>Charts</h2>"));
    assert!(at("<h2>Charts</h2>") < at("<h2>Findings</h2>") && at("<h2>Charts</h2>") < at("<table>"));
    let targets: Vec<&str> = page
        .split("<a href=\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(targets.len() > 6, "{targets:?}");
    for target in targets {
        assert_eq!(page.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
    }
}
