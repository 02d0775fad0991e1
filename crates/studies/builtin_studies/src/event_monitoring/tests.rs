use super::exhibits;
use crate::record_lookup::{cell, mean};
use crate::tests::CATALOGUE;
use lastmile_report::record::{Finding, Published, Run};
use lastmile_study::cell::expand;
use lastmile_study::file::Study;
use lastmile_study::settings::{Factors, Settings};
use lastmile_testbed::cpu_cost_model::CostTable;
use std::sync::OnceLock;

fn findings(run: &Run) -> Vec<Finding> {
    CATALOGUE.find("event-monitoring").unwrap().findings(run)
}

/// The levels of the parts that would take long.
const LEVELS: [(&str, &str); 8] = [
    ("work-ratio", "event_ratio = ['1 %', '10 %']"),
    (
        "subscribers",
        "clients = [1, 100]\nlink = [{ name = 'none', rate = 'unlimited', one_way_delay = '0 s' }]",
    ),
    ("queriers", "clients = [1, 100]"),
    ("sensors", "sensors = [1, 100]\ncall = ['two-way']"),
    ("applications", "applications = [1, 100]\ncall = ['two-way']"),
    ("result-size", "events = [10, 1000]"),
    ("losses", "event_buffer = [100]"),
    ("amount", "event_size = ['16 B']"),
];

/// The study with those levels, and two repeats.
fn shrunken() -> Study {
    let mut study = CATALOGUE.find("event-monitoring").unwrap().study();
    study.charts.clear();
    for part in &mut study.parts {
        if part.repeats.is_some() {
            part.repeats = Some(2.try_into().unwrap());
        }
        if let Some((_, levels)) = LEVELS.iter().find(|(name, _)| part.name == *name) {
            let levels: Factors = toml::from_str(levels).unwrap();
            part.factors = part.factors.overlaid(&Settings::default(), &levels);
        }
    }
    study
}

/// Run once for all tests.
fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| crate::tests::run(&shrunken(), &CostTable::free()))
}

#[test]
fn no_cell_fails_loses_what_it_should_not_or_cannot_explain_a_loss() {
    for cell in &run().cells {
        assert_eq!(cell.failed, 0, "{:?} {:?}", cell.part, cell.doubts);
        assert_eq!(cell.figures["losses_unexplained"].mean, 0.0, "{:?}", cell.part);
        let may_lose = cell.levels.get("full_buffer").is_some_and(|policy| policy == "drop");
        assert_eq!(cell.figures["events_lost"].mean > 0.0, may_lose, "{:?}", cell.levels);
    }
}

#[test]
fn printed_means_stand_beside_ours_and_the_printed_rows_in_tables() {
    let run = run();
    let published = |part, figure: &str| cell(run, part, &[]).unwrap().figures[figure].published;
    assert_eq!(published("sustained", "send_time"), Some(Published::Value(21.657)));
    assert_eq!(published("delayed", "control_time"), Some(Published::Value(75.151)));
    assert_eq!(
        published("subscription", "subscription_time"),
        Some(Published::Value(25.857))
    );
    assert_eq!(published("query", "query_time"), Some(Published::Value(0.647)));
    let tables = exhibits(run);
    let rows: Vec<usize> = tables.iter().map(|table| table.rows.len()).collect();
    assert_eq!(rows, [12, 7, 12, 12]);
    // The statistics of the printed runs are those that the slides print.
    let text = |table: usize, row: usize, column: usize| tables[table].rows[row][column].as_str();
    assert_eq!([text(0, 10, 1), text(0, 11, 1)], ["21.7 s", "1.24 s"]);
    assert_eq!([text(2, 10, 1), text(2, 11, 1)], ["25.9 s", "3.61 s"]);
    assert_eq!([text(3, 10, 1), text(3, 11, 1)], ["647 ms", "1.37 s"]);
    // The part delayed has two repeats here, the others all of theirs.
    let full = [0, 2, 3].map(|table| &tables[table].rows);
    assert!(full.into_iter().flatten().flatten().all(|value| !value.is_empty()));
}

#[test]
fn every_finding_is_made_from_the_cells() {
    let found = findings(run());
    let titles: Vec<&str> = found.iter().map(|finding| finding.title.as_str()).collect();
    let expected = [
        "What the subscription test measures",
        "Why sustained submission takes longer per event",
        "The first query",
        "What durability costs",
        "Events mixed with work",
        "Many clients, sensors and applications",
        "Slow links to a client",
        "Losses add up",
    ];
    for finding in &found {
        println!("{}: {}\n", finding.title, finding.text);
    }
    assert_eq!(titles, expected);
    assert!(found[7].text.contains("together 0 lost events"));
    let nothing = Run {
        cells: Vec::new(),
        ..run().clone()
    };
    assert!(exhibits(&nothing).is_empty());
    let left: Vec<String> = findings(&nothing).into_iter().map(|finding| finding.title).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_first_query_is_held_against_the_median_of_the_later_ones() {
    let mut run = run().clone();
    for cell in &mut run.cells {
        let is_slow = cell.levels.get("link").is_some_and(|link| link == "wpt/3g");
        if cell.part.as_deref() == Some("first-query") {
            let time = cell.figures.get_mut("query_time").unwrap();
            time.run_means = if is_slow {
                vec![2.02, 4.3, 1.32, 1.32, 1.32]
            } else {
                vec![0.2, 0.1]
            };
            time.first_against_rest = Some([2.02, 2.065]);
        }
    }
    let text = super::open_questions::first_query(&run).unwrap();
    assert!(text.contains("2.02 s and a later one 1.32 s (wpt/3g)"), "{text}");
    assert!(text.contains("cost most over wpt/3g: 700 ms, of the 4.35 s"), "{text}");
}

#[test]
fn what_the_findings_say_holds() {
    let run = run();
    let of = |part, levels: &[(&str, &str)], figure| mean(run, part, levels, figure).unwrap();
    let channel = ("channel", "sensor-client");
    // The sender decides how long a subscriber waits for 1,000 events, unless its link is slower.
    let times = |link| {
        let levels = [channel, ("link", link)];
        of("push-channel", &levels, "subscription_time") / of("push-channel", &levels, "application_time")
    };
    assert!((times("none") - 1.0).abs() < 0.05 && (times("10ms") - 1.0).abs() < 0.05);
    assert!(times("56k") > 5.0);
    // Work that is put off delays the next event where a CPU is shared.
    let cost = |part, hosts| of(part, &[("hosts", hosts)], "submission_time");
    assert!(cost("put-off-sustained", "one") > 1.2 * cost("put-off-delayed", "one"));
    assert!((cost("put-off-sustained", "two") / cost("put-off-delayed", "two") - 1.0).abs() < 0.05);
    // Compression shortens delays behind slow links.
    let delay = |codec| of("links", &[channel, ("link", "9.6k"), ("codec", codec)], "delivery_time");
    assert!(delay("zstd:1") < 0.5 * delay("identity"));
}

#[test]
fn the_study_has_the_planned_experiments_up_to_a_hundred() {
    let study = CATALOGUE.find("event-monitoring").unwrap().study();
    let cells = expand(&study).unwrap().cells;
    for (part, factor) in [
        ("subscribers", "clients"),
        ("queriers", "clients"),
        ("sensors", "sensors"),
        ("applications", "applications"),
    ] {
        let levels = cells
            .iter()
            .filter(|cell| cell.part.as_deref() == Some(part))
            .map(|cell| cell.levels[factor].as_str());
        let levels: Vec<&str> = levels.collect();
        assert!(levels.contains(&"1") && levels.contains(&"100"), "{part}");
    }
}

/// The run with cells of other systems: those of ours, under their names.
fn with_systems() -> Run {
    let mut run = run().clone();
    let mut add = |part: &str, from: (&str, &[(&str, &str)]), test: &str, server: &str| {
        let mut cell = cell(&run, from.0, from.1).unwrap().clone();
        cell.part = Some(part.to_owned());
        cell.levels.insert("test".to_owned(), test.to_owned());
        cell.levels.insert("server".to_owned(), server.to_owned());
        run.cells.push(cell);
    };
    for server in ["lastmile", "java-events", "ice-events"] {
        add("systems", ("sustained", &[]), "sustained", server);
        add("systems", ("subscription", &[]), "subscription", server);
        add("systems-slow-submission", ("sustained", &[]), "sustained", server);
        add(
            "systems-slow-delivery",
            ("push-channel", &[("channel", "sensor-client"), ("link", "56k")]),
            "subscription",
            server,
        );
    }
    run
}

#[test]
fn other_systems_stand_beside_ours_and_the_original_channels_beside_the_printed_runs() {
    let run = with_systems();
    let found = findings(&run);
    let text = |title: &str| {
        let found = found.iter().find(|finding| finding.title == title);
        found.unwrap_or_else(|| panic!("{title}")).text.as_str()
    };
    let submission = text("Other systems: submission");
    assert!(submission.contains(", Java RMI ") && submission.contains(", Ice ") && !submission.contains("Redis"));
    assert!(!submission.contains("the end of the server"), "{submission}");
    let delivery = text("Other systems: delivery");
    assert!(
        delivery.contains("behind a link") && delivery.contains("uncompressed: ours"),
        "{delivery}"
    );
    assert!(!submission.contains("invalid") && !delivery.contains("invalid"));
    let trend = text("Other systems: the trend within a test");
    assert!(trend.starts_with("The first printed run took 2.0 times"), "{trend}");
    let tables = exhibits(&run);
    assert_eq!(
        tables[0].columns[1..4],
        ["send, printed", "send, ours", "send, Java RMI"]
    );
    assert_eq!(tables[0].rows[0][2], tables[0].rows[0][3]);
    assert_eq!(tables[2].columns[3], "time, Ice");
    assert!(
        tables
            .iter()
            .all(|table| table.rows.iter().all(|row| row.len() == table.columns.len()))
    );
}

#[test]
fn a_system_whose_figures_are_invalid_is_named_and_not_compared() {
    let mut run = with_systems();
    for cell in &mut run.cells {
        let is_ours = cell.levels.get("server").is_some_and(|server| server == "lastmile");
        cell.valid &= cell.part.as_deref() != Some("systems") || !is_ours;
    }
    let found = findings(&run);
    let submission = found
        .iter()
        .find(|finding| finding.title == "Other systems: submission")
        .unwrap();
    let begins = "Creating an event, sending it and waiting for its acknowledgement. Over no link: Java RMI ";
    assert!(submission.text.starts_with(begins), "{}", submission.text);
    assert!(
        submission.text.contains("(not ours, whose figures were invalid)"),
        "{}",
        submission.text
    );
}
