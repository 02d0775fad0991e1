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

#[test]
fn each_drawing_has_its_figures_as_csv_a_lower_chart_and_a_map_too() {
    let mut chart = fixtures::run().charts[0].clone();
    let mut below = chart.clone();
    below.y.label = "Failed".to_owned();
    chart.below = Some(Box::new(below));
    let cell = |value: f64| lastmile_chart::heatmap::HeatCell {
        value,
        texts: Vec::new(),
        detail: String::new(),
        marked: false,
    };
    let parameter = |label: &str| lastmile_chart::heatmap::Parameter {
        label: label.to_owned(),
        names: vec!["8".to_owned(), "9".to_owned()],
    };
    let map = lastmile_chart::heatmap::HeatMap {
        title: "A map".to_owned(),
        note: String::new(),
        x: parameter("level"),
        y: parameter("window bits"),
        value: "ratio".to_owned(),
        framed: String::new(),
        scale: lastmile_chart::heatmap::ColourScale {
            low: 0.0,
            high: 1.0,
            log: false,
            ends: [String::new(), String::new()],
        },
        rows: vec![vec![Some(cell(0.5)), None], vec![None, Some(cell(0.25))]],
    };
    let mut out = String::new();
    let drawings = [Block::Chart(chart), Block::Heat(map)];
    let mut blocks = block::Blocks::default();
    blocks
        .write_section(&mut out, "Charts", &drawings)
        .expect("a String takes all that is written to it");
    assert_eq!(out.matches("<template>").count(), 2);
    assert!(out.contains("\n\nseries,"), "the lower chart follows the upper one");
    assert!(out.contains("Failed"));
    assert!(
        out.contains("<template>level,window bits,ratio\n8,8,0.5\n9,9,0.25\n</template>"),
        "{out}"
    );
}

#[test]
fn the_first_picture_comes_before_prose() {
    let run = fixtures::run();
    let page = render(&run, &provenance());
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    let is_lead = run.screen().is_some_and(|screen| screen.bars.is_empty());
    let picture = if is_lead {
        "<figure class=\"drawing\""
    } else {
        "<figure class=\"bars\""
    };
    assert!(at(picture) < at("class=\"answer\"").min(at("<section")));
    for chart in &run.charts {
        let title = format!("<b>{}</b>", lastmile_chart::escape::Text(&chart.title));
        assert_eq!(page.matches(&title).count(), 1, "{title}");
    }
}
