//! Tests: a page is safe, complete and reproducible.

use super::*;
use crate::fixtures;

fn provenance() -> Provenance {
    Provenance {
        command: "lastmile run gzip-filter --seed 1".to_owned(),
        machine: "2 cores, Linux 6.1".to_owned(),
        finished: None,
        study: Some("name = \"gzip-filter\"\nrepeats = 5\n".to_owned()),
    }
}

#[test]
fn one_record_gives_the_same_page_twice() {
    assert_eq!(
        render(&fixtures::run(), &provenance()),
        render(&fixtures::run(), &provenance())
    );
    assert_eq!(
        render(&fixtures::advice(), &provenance()),
        render(&fixtures::advice(), &provenance())
    );
    assert_eq!(
        render(&fixtures::inspection(), &provenance()),
        render(&fixtures::inspection(), &provenance())
    );
    assert_eq!(
        render(&fixtures::tuning(), &provenance()),
        render(&fixtures::tuning(), &provenance())
    );
}

#[test]
fn nothing_is_fetched_and_the_script_is_short() {
    for page in [
        render(&fixtures::run(), &provenance()),
        render(&fixtures::advice(), &provenance()),
        render(&fixtures::inspection(), &provenance()),
        render(&fixtures::tuning(), &provenance()),
    ] {
        for word in ["src=", "url(", "@import", "<link", "fetch("] {
            assert!(!page.contains(word), "{word}");
        }
        let mut elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        // The record, which the page contains, names the hosts of the traffic.
        for host in &fixtures::advice().options.hosts {
            elsewhere = elsewhere.replace(&host.host, "");
        }
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"));
    }
    assert!(include_str!("page.js").len() <= 512);
}

#[test]
fn no_text_of_a_record_becomes_markup() {
    let hostile = || fixtures::HOSTILE.to_owned();
    let provenance = Provenance {
        command: hostile(),
        machine: hostile(),
        finished: Some(hostile()),
        study: Some(hostile()),
    };
    let (run, advice) = (
        fixtures::hostile(&fixtures::run()),
        fixtures::hostile(&fixtures::advice()),
    );
    let inspection = fixtures::hostile(&fixtures::inspection());
    for page in [
        render(&run, &provenance),
        render(&advice, &provenance),
        render(&inspection, &provenance),
        render(&fixtures::hostile(&fixtures::tuning()), &provenance),
    ] {
        assert_eq!(
            (page.matches("<script").count(), page.matches("</script").count()),
            (2, 2)
        );
        for markup in ["<img", "<!--", "\"'>", "]]>", "&amp;lt;", "\u{1b}"] {
            assert!(!page.contains(markup), "{markup}");
        }
        assert_eq!(page.matches("<title").count(), page.matches("</title").count());
        assert_eq!(page.matches("<text").count(), page.matches("</text").count());
    }
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
    let run = fixtures::hostile(&fixtures::run());
    let page = render(&run, &provenance());
    let data = page
        .split("id=\"data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next())
        .expect("there is data");
    assert_eq!(serde_json::from_str::<Run>(data).expect("it is JSON"), run);
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

/// Pages to look at: set `LASTMILE_PAGES` to a folder that exists.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes what a person asked to see")]
fn pages_can_be_looked_at() {
    let pages = [
        ("run", render(&fixtures::run(), &provenance())),
        ("advice", render(&fixtures::advice(), &provenance())),
        ("inspection", render(&fixtures::inspection(), &provenance())),
        ("tuning", render(&fixtures::tuning(), &provenance())),
    ];
    for (name, page) in pages {
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        if let Ok(folder) = std::env::var("LASTMILE_PAGES") {
            std::fs::write(format!("{folder}/{name}.html"), page).expect("the folder can be written to");
        }
    }
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
fn a_grid_is_drawn_with_every_value_in_a_tool_tip_and_the_setting_to_use_framed() {
    let page = render(&fixtures::tuning(), &provenance());
    let tool_tip = "<title>deflate:6/w13/m6 (to use, frontier): ratio 0.369000, 32,437 B, context 71,504 B, 6.70 µs CPU per message</title>";
    assert!(page.contains(tool_tip), "{page}");
    assert!(page.contains("class=\"frame\""));
    for title in [
        "Ratio by window and mem level, level 6, with takeover",
        "Ratio by window and level, mem level 6, with takeover",
        "Memory by window and mem level",
    ] {
        assert!(page.contains(&format!("<b>{title}</b>")), "{title}");
    }
}

#[test]
fn a_tuning_of_one_point_or_none_is_still_a_page() {
    let mut tuning = fixtures::tuning();
    tuning.points.truncate(1);
    let page = render(&tuning, &provenance());
    assert!(!page.contains("NaN") && !page.contains("inf "));
    tuning.points.clear();
    tuning.codecs.clear();
    tuning.directions.clear();
    tuning.answer.choices.clear();
    assert!(render(&tuning, &provenance()).ends_with("</html>\n"));
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
