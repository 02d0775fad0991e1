use super::curves::{curve, knee, mean, peak};
use super::{capacity, environments, exhibits, fairness, periodicity, printed_figures};
use crate::tests::CATALOGUE;
use lastmile_report::record::{Cell, Finding, Run};
use lastmile_study::cell::expand;
use lastmile_study::file::Study;
use lastmile_study::settings::{Factors, Settings};
use lastmile_testbed::cpu_cost_model::CostTable;
use lastmile_testbed::settings::World;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::OnceLock;

fn findings(run: &Run) -> Vec<Finding> {
    CATALOGUE.find("wireless-web").unwrap().findings(run)
}

/// The parts that the tests look at, with the levels that they need of each.
const PARTS: [(&str, &str); 16] = [
    ("request-rate", "rate = [10, 80, 90, 100, 110, 120, 160]"),
    ("clients", "rate = [80, 100, 110, 120, 130]\nclients = [4]"),
    ("persistent", "rate = [300, 350, 360, 370]"),
    ("bulk", "rate = [8]"),
    ("transmit-power", ""),
    ("channel", "distance = ['100 m']"),
    ("fairness-as-it-is", "rate = [160]"),
    ("fairness-far-client-fallback", "rate = [160]"),
    ("fairness-stagger", "rate = [120]"),
    ("periodicity", "rate = [10]"),
    ("periodicity-timers", "syn_timeout = ['3 s']"),
    ("periodicity-arrivals", "radio = ['802.11b', '802.11b+beacons=102.4ms']"),
    ("server-unstated", "rate = [10, 80, 90, 100, 110]"),
    ("classroom", "rate = [1]\nclients = [1, 50]"),
    ("page", "rate = [1, 4]"),
    ("802-11a", "rate = [300]\nclients = [1]"),
];

/// The study with those parts, the charts of its knee, and mostly one repeat.
fn shrunken() -> Study {
    let mut study = CATALOGUE.find("wireless-web").unwrap().study();
    study.repeats = 1.try_into().unwrap();
    study.charts.retain(|chart| chart.mark.is_some());
    study
        .parts
        .retain(|part| PARTS.iter().any(|(name, _)| part.name == *name));
    assert_eq!(study.parts.len(), PARTS.len(), "the study has them all");
    for part in &mut study.parts {
        let (_, levels) = PARTS.iter().find(|(name, _)| part.name == *name).unwrap();
        let levels: Factors = toml::from_str(levels).unwrap();
        part.factors = part.factors.overlaid(&Settings::default(), &levels);
        // The tails of connection durations that it is about differ much between repeats.
        if part.name == "transmit-power" {
            part.repeats = Some(5.try_into().unwrap());
        }
    }
    study
}

/// Run once for all tests.
fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| crate::tests::run(&shrunken(), &CostTable::free()))
}

fn one_client() -> Vec<(f64, &'static Cell)> {
    curve(run(), "request-rate", &[])
}

fn within(range: Range<f64>, value: f64) {
    assert!(range.contains(&value), "{value} is not in {range:?}");
}

#[test]
fn one_client_has_its_knee_about_a_hundred_requests_per_second() {
    within(75.0..125.1, knee(&one_client()).unwrap());
    let (_, most) = peak(&one_client(), "transaction_rate").unwrap();
    within(85.0..125.0, most);
}

#[test]
fn the_knee_of_the_text_of_the_table_and_of_the_charts_is_one() {
    let knee = knee(&one_client()).unwrap();
    let text = capacity::knee(run()).unwrap();
    assert!(text.contains(&format!("is at {knee} per second")), "{text}");
    let table = printed_figures::table(run()).unwrap();
    let row = table.rows.iter().find(|row| row[1] == "Knee").unwrap();
    assert_eq!(row[3], format!("{knee}/s"));
    let marks: Vec<f64> = run()
        .charts
        .iter()
        .flat_map(|chart| chart.marks.iter().map(|mark| mark.x))
        .collect();
    assert_eq!(marks, [knee, knee]);
}

#[test]
fn responses_take_milliseconds_at_low_load_and_seconds_in_overload() {
    let (low, high) = (one_client()[0].1, one_client().last().unwrap().1);
    within(0.005..0.012, mean(low, "response_time"));
    within(2.0..5.0, mean(high, "response_time"));
    assert_eq!(mean(low, "error_rate"), 0.0);
    within(0.1..0.9, mean(high, "error_rate"));
}

/// The lowest rate at which a queue drops packets, with the drops at clients and at the server.
fn first_drop(curve: &[(f64, &Cell)]) -> Option<(f64, [f64; 2])> {
    let drops = |cell: &Cell| [mean(cell, "client_queue_drops"), mean(cell, "server_queue_drops")];
    let mut all = curve.iter().map(|(rate, cell)| (*rate, drops(cell)));
    all.find(|(_, drops)| drops.iter().sum::<f64>() > 0.0)
}

#[test]
fn packets_are_dropped_first_by_the_client_where_there_is_one_and_by_the_server_where_there_are_four() {
    let (rate, [client, server]) = first_drop(&one_client()).unwrap();
    assert!(rate > 75.0 && client > 0.0 && server == 0.0, "{rate} {client} {server}");
    let four = curve(run(), "clients", &[("clients", "4")]);
    let (rate, [client, server]) = first_drop(&four).unwrap();
    assert!(rate > 75.0 && client == 0.0 && server > 0.0, "{rate} {client} {server}");
}

#[test]
fn small_transfers_without_persistence_reach_almost_a_megabit() {
    let (_, most) = peak(&one_client(), "goodput").unwrap();
    within(0.8e6..1.05e6, most);
}

#[test]
fn persistent_connections_carry_over_three_times_as_much_with_one_client_and_with_two() {
    let (_, single) = peak(&one_client(), "goodput").unwrap();
    for clients in ["1", "2"] {
        let (_, most) = peak(&curve(run(), "persistent", &[("clients", clients)]), "goodput").unwrap();
        within(2.9e6..3.6e6, most);
        within(3.0..4.0, most / single);
    }
    let text = capacity::persistence(run()).unwrap();
    assert!(text.contains("lost in collisions"), "{text}");
}

#[test]
fn four_clients_share_equally_what_the_slides_print() {
    let four = curve(run(), "clients", &[("clients", "4")]);
    let (_, most) = peak(&four, "transaction_rate").unwrap();
    within(95.0..125.0, most);
    for (rate, cell) in four {
        assert!(mean(cell, "fairness") > 0.95, "at {rate}");
    }
}

#[test]
fn large_transfers_carry_four_to_six_megabits() {
    let (_, most) = peak(&curve(run(), "bulk", &[]), "goodput").unwrap();
    within(4e6..6e6, most);
}

/// Free space behind a wall, without a strong path, has both; an office has experiment 6.
#[test]
fn there_are_places_in_which_what_the_slides_say_of_power_and_of_distance_holds() {
    let environments = environments::environments(run());
    let named = |name: &str| {
        environments
            .iter()
            .find(|environment| environment.name == name)
            .unwrap()
    };
    let behind_a_wall = named("behind a wall, no strong path");
    assert!(
        behind_a_wall.holds_power() && behind_a_wall.holds_distance(),
        "{environments:#?}"
    );
    assert!(named("office, no strong path").holds_distance(), "{environments:#?}");
    let free = named("free space");
    assert!(!free.holds_power() && !free.holds_distance(), "{free:?}");
    let nothing = named("much obstructed");
    assert!(
        nothing.by_power[0].ratio.is_none() && !nothing.holds_power(),
        "{nothing:?}"
    );
}

#[test]
fn a_client_in_a_bad_place_is_what_makes_two_clients_unequal_and_four_equal() {
    let least = fairness::least(run());
    let explains = |mechanism: &str| {
        least
            .iter()
            .find(|least| least.mechanism.contains(mechanism))
            .unwrap()
            .explains()
    };
    assert!(explains("with rate fallback"), "{least:?}");
    assert!(
        !explains("all clients alike") && !explains("one after the other"),
        "{least:?}"
    );
}

#[test]
fn an_undisturbed_channel_has_no_period() {
    let all = periodicity::all(run());
    assert_eq!(
        all.len(),
        10 + 4 + 2,
        "five mechanisms in two places, two delays of ACKs in them, two at random times"
    );
    let nothing = all.iter().find(|of| of.mechanism() == "nothing").unwrap();
    assert_eq!(nothing.known, None);
    let beacons = all.iter().find(|of| of.mechanism() == "beacons").unwrap();
    assert!(
        beacons.known.is_some_and(|known| (known - 0.1024).abs() < 1e-9),
        "{beacons:?}"
    );
    assert!(
        !all.iter()
            .find(|of| of.mechanism() == "nothing")
            .unwrap()
            .is_significant()
    );
}

#[test]
fn what_was_tried_for_periods_has_names_of_its_own() {
    let table = periodicity::table(run()).unwrap();
    let names: BTreeSet<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names.len(), table.rows.len(), "{names:?}");
    assert!(names.contains("beacons, requests at random times"), "{names:?}");
    let text = periodicity::finding(run()).unwrap();
    assert!(
        text.contains("; with requests at random times: nothing and beacons"),
        "{text}"
    );
    assert!(
        text.contains("; with delayed ACK 1 ms and SYN timeout 3 s: nothing and fading;"),
        "{text}"
    );
}

/// Fading is no answer to where periods come from: it has none, whatever its coherence time.
#[test]
fn no_period_follows_the_coherence_time_of_fading() {
    let study = Study::parse(
        "periods.toml",
        "name = 'periods'\nquestion = ''\nrepeats = 5\nfresh = 'repeat'\n\
         [fixed]\ndelivery = 'load'\ndistance = '100 m'\nrate = 50\ntransfer_size = '1 KiB'\nload_time = '60 s'\ntimeout = '5 s'\n\
         [[part]]\nname = 'periodicity'\n[part.factors]\n\
         radio = ['802.11b+fading=rayleigh', '802.11b+fading=rayleigh+coherence_time=30ms', '802.11b+fading=rayleigh+coherence_time=81ms']",
    );
    let run = crate::tests::run(&study.unwrap(), &CostTable::free());
    let all = periodicity::all(&run);
    assert_eq!(all.len(), 3);
    for of in &all {
        assert!(!of.is_significant() && of.known.is_none(), "{of:?}");
    }
}

#[test]
fn a_server_of_ten_milliseconds_limits_the_rate_and_one_of_five_does_not() {
    let most = |time: &str| {
        let curve = curve(run(), "server-unstated", &[("service_time", time)]);
        peak(&curve, "transaction_rate").unwrap().1
    };
    assert!(most("5 ms") > 0.95 * most("0 s"));
    within(75.0..86.0, most("12 ms"));
}

#[test]
fn every_cell_is_valid_and_what_was_run_has_its_findings_and_tables() {
    for cell in &run().cells {
        assert!(cell.failed == 0 && cell.valid, "{:?}", cell.levels);
        assert!(cell.figures.contains_key("airtime_share"), "{:?}", cell.levels);
    }
    let titles: Vec<String> = findings(run()).into_iter().map(|finding| finding.title).collect();
    assert_eq!(
        titles,
        [
            "The knee",
            "What drops first",
            "Persistent connections",
            "What the place was like",
            "Why one of two or three clients gains",
            "Where periodicity comes from",
            "Airtime, or the server of 2003",
            "The future work of the slides",
        ]
    );
    for finding in findings(run()) {
        assert!(
            !finding.text.contains("NaN") && !finding.text.contains("inf"),
            "{}",
            finding.text
        );
    }
    assert_eq!(exhibits(run()).len(), 4);
}

#[test]
fn a_run_without_these_parts_has_no_findings() {
    let mut none = run().clone();
    none.cells.clear();
    assert_eq!((findings(&none), exhibits(&none)), (vec![], vec![]));
}

#[test]
fn the_six_experiments_have_the_levels_of_the_slides() {
    let study = CATALOGUE.find("wireless-web").unwrap().study();
    let cells = expand(&study).unwrap().cells;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in &cells {
        let experiment = &cell.levels["experiment"];
        assert_eq!(cell.part.as_ref(), Some(experiment));
        *counts.entry(experiment).or_default() += 1;
        for key in ["rate", "clients", "persistent", "transmit_power", "distance"] {
            assert!(cell.levels.contains_key(key), "{key}: {}", cell.describe());
        }
    }
    const PLACES: usize = 14;
    let expected = [
        ("request-rate", 16),
        ("transfer-size", 9),
        ("clients", 48),
        ("persistent", 22),
        ("bulk", 4),
        ("transmit-power", 4 * PLACES),
        ("channel", 6 * PLACES),
    ];
    for (experiment, count) in expected {
        assert_eq!(counts[experiment], count, "{experiment}");
    }
    let emulated = expand(&study.in_world(World::Emulated, false)).unwrap().cells;
    assert_eq!(
        emulated.len(),
        8 + 6 + 6,
        "four rates in both worlds, and three with two servers and with two generators"
    );
}
