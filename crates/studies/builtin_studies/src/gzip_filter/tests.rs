use super::exhibits;
use super::reference_values::CASES;
use crate::tests::CATALOGUE;
use lastmile_report::record::{Finding, Published, Run};
use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
use lastmile_units::ByteCount;
use lastmile_workload::faulty_meter;
use std::sync::OnceLock;

fn findings(run: &Run) -> Vec<Finding> {
    CATALOGUE.find("gzip-filter").unwrap().findings(run)
}

/// The whole study with two repeats, run once for all tests.
fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| {
        let mut study = CATALOGUE.find("gzip-filter").unwrap().study();
        study.repeats = 2.try_into().unwrap();
        let costs = CostTable::load(&Choice::Reference).unwrap();
        let mut run = crate::tests::run(&study, &costs);
        CATALOGUE.annotate(&study, &mut run);
        run
    })
}

#[test]
fn no_cell_fails_and_every_finding_and_table_is_there() {
    assert!(run().cells.iter().all(|cell| cell.failed == 0 && cell.valid));
    assert_eq!(findings(run()).len(), 9);
    assert_eq!(exhibits(run()).len(), 6);
    assert_eq!(
        (run().findings.len(), run().exhibits.len()),
        (9, 6),
        "the record has them"
    );
}

#[test]
fn the_saved_bytes_of_cases_b_to_h_are_within_three_points_of_the_printed_ones() {
    for case in &CASES[1..] {
        let named = |ratio: &&lastmile_report::record::Ratio| {
            ratio.name == "rssdr" && ratio.levels.len() == 1 && ratio.levels["case"] == case.name
        };
        let ratio = run().ratios.iter().find(named).unwrap();
        let Some(Published::Value(printed)) = ratio.published else {
            panic!("case {} is published", case.name)
        };
        assert!(
            (ratio.mean - printed).abs() <= 0.03,
            "case {}: {} against {printed}",
            case.name,
            ratio.mean
        );
    }
}

#[test]
fn every_link_of_case_i_has_both_ratios_with_what_was_published() {
    for name in ["rssdr", "etdr"] {
        let of_links = run()
            .ratios
            .iter()
            .filter(|ratio| ratio.name == name && ratio.levels.contains_key("link"));
        assert_eq!(of_links.filter(|ratio| ratio.published.is_some()).count(), 5, "{name}");
    }
}

#[test]
fn the_meter_makes_the_printed_sizes_of_the_true_ones() {
    for case in &CASES {
        let levels = [("case", case.name), ("codec", "identity")];
        let size = super::figures::mean(run(), "cases", &levels, "response_bytes").unwrap();
        assert_eq!(
            faulty_meter(ByteCount::new(size as u64)).get(),
            case.plain_bytes,
            "case {}",
            case.name
        );
    }
}

#[test]
fn the_smaller_the_receive_window_the_longer_an_uncompressed_response_takes() {
    let time = |window| {
        let levels = [
            ("case", "A"),
            ("codec", "identity"),
            ("receive_window", window),
            ("object_time", "0 s"),
        ];
        super::figures::time(run(), "reproductions", &levels).unwrap()
    };
    assert!(time("2.92 kB") > time("4.38 kB") && time("4.38 kB") > time("64.24 kB"));
}

#[test]
fn a_run_without_cells_says_only_what_needs_none() {
    let empty = Run {
        cells: Vec::new(),
        ratios: Vec::new(),
        ..run().clone()
    };
    assert_eq!(findings(&empty).len(), 1);
    assert!(exhibits(&empty).is_empty());
}
