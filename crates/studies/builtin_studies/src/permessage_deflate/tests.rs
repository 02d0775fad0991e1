use super::exhibits;
use super::reference_values::rows;
use crate::record_lookup::{cell, mean};
use crate::tests::CATALOGUE;
use lastmile_report::record::{DoubtKind, Finding, Run};
use lastmile_study::file::Study;
use lastmile_testbed::cpu_cost_model::{Choice, CostTable};
use std::sync::OnceLock;

fn findings(run: &Run) -> Vec<Finding> {
    CATALOGUE.find("permessage-deflate").unwrap().findings(run)
}

/// The whole study with one repeat, run once for all tests.
fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| {
        let mut study = CATALOGUE.find("permessage-deflate").unwrap().study();
        study.repeats = 1.try_into().unwrap();
        run_of(&study)
    })
}

fn run_of(study: &Study) -> Run {
    let costs = CostTable::load(&Choice::Reference).unwrap();
    let mut run = crate::tests::run(study, &costs);
    CATALOGUE.annotate(study, &mut run);
    run
}

#[test]
fn no_cell_fails_or_is_doubted_and_every_claim_and_question_is_met() {
    for cell in &run().cells {
        // One repeat is too few for an interval, which is all that there is to doubt.
        let doubted = cell.doubts.iter().any(|doubt| doubt.kind != DoubtKind::FewRuns);
        assert!(cell.failed == 0 && cell.valid && !doubted, "{cell:?}");
    }
    assert_eq!((findings(run()).len(), exhibits(run()).len()), (12 + 7, 1));
    assert_eq!(run().findings, findings(run()), "the record has them");
    let claims = run()
        .findings
        .iter()
        .filter(|finding| finding.title.starts_with("Claim: "));
    let verdicts = ["Held. ", "Held in part. ", "Did not hold. "];
    assert!(
        claims
            .clone()
            .all(|claim| verdicts.iter().any(|verdict| claim.text.starts_with(verdict)))
    );
    assert_eq!(claims.count(), 11);
}

#[test]
fn every_printed_row_has_its_cell_with_what_was_printed_beside_what_is_measured() {
    let rows = rows(run());
    assert_eq!((rows.len(), exhibits(run())[0].rows.len()), (22, 22));
    let printed = |key: &str, level: &str| {
        let row = rows.iter().find(|row| (row.key, row.level) == (key, level)).unwrap();
        (
            row.printed("compression_ratio"),
            row.printed_kib(),
            row.printed("pass_time"),
        )
    };
    assert_eq!(printed("context_takeover", "off"), (Some(0.84), None, None));
    assert_eq!(printed("window_bits", "11"), (Some(0.384), Some(136.0), None));
    assert_eq!(printed("mem_level", "1"), (Some(0.307), Some(129.0), Some(0.013_05)));
    assert_eq!(printed("mem_level", "9"), (Some(0.304), Some(386.0), Some(0.007_84)));
    assert_eq!(
        printed("message_codec", "deflate:6/w11/m1"),
        (Some(0.385), Some(5.0), None)
    );
    let counts = ["compression_ratio", "memory_bytes", "pass_time"]
        .map(|figure| rows.iter().filter(|row| row.printed(figure).is_some()).count());
    assert_eq!(counts, [15, 20, 9]);
}

#[test]
fn memory_is_the_printed_formula_and_the_state_of_zlib() {
    let rows = rows(run());
    for row in &rows {
        let memory = row.measured("memory_bytes").unwrap();
        assert_eq!(memory, 1024.0 * row.formula_kib_as_run() + 5968.0, "{row:?}");
    }
    let is_misprint =
        |row: &&super::reference_values::Row<'_>| row.printed_kib().is_some_and(|kib| kib != row.formula_kib());
    let misprinted: Vec<_> = rows
        .iter()
        .filter(is_misprint)
        .map(|row| (row.printed_kib().unwrap(), row.formula_kib()))
        .collect();
    assert_eq!(misprinted, [(386.0, 384.0), (5.0, 9.0)]);
}

#[test]
fn eight_window_bits_give_the_figures_of_nine() {
    let of = |bits| cell(run(), "window-bits", &[("window_bits", bits)]).unwrap();
    for name in ["compressed_bytes", "memory_bytes", "pass_time"] {
        assert_eq!(of("8").figures[name].mean, of("9").figures[name].mean, "{name}");
    }
}

#[test]
fn what_repeats_between_messages_is_found_the_farther_back_the_wider_the_window() {
    let ratio = |bits: &str| mean(run(), "window-bits", &[("window_bits", bits)], "compression_ratio").unwrap();
    let ratios: Vec<f64> = (9..=15).map(|bits: u8| ratio(&bits.to_string())).collect();
    assert!(ratios.is_sorted_by(|narrow, wide| narrow > wide), "{ratios:?}");
}

#[test]
fn text_shrinks_as_if_it_were_alone_where_media_are_sent_as_they_are() {
    let ratio = |uncompressed, figure| {
        let levels = [
            ("workload", "chat and media of 4 kB"),
            ("message_codec", "deflate:6/w12/m8"),
            ("uncompressed", uncompressed),
        ];
        mean(run(), "mixed-kinds", &levels, figure).unwrap()
    };
    let (mixed, apart) = (
        ratio("none", "text_compression_ratio"),
        ratio("binary", "text_compression_ratio"),
    );
    assert!(apart < 0.8 * mixed, "{apart} and {mixed}");
}

#[test]
fn a_flush_a_fragment_costs_bytes_the_more_the_smaller_fragments_are() {
    let ratio = |fragment| {
        let levels = [("workload", "documents of 100 kB"), ("fragment", fragment)];
        mean(run(), "fragments", &levels, "compression_ratio").unwrap()
    };
    let ratios = ["256 B", "1 kB", "4 kB", "16 kB", "none"].map(ratio);
    assert!(ratios.is_sorted_by(|small, large| small > large), "{ratios:?}");
}

#[test]
fn a_transcript_of_ones_own_takes_the_place_of_the_chat_and_is_told_of_in_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.txt");
    let lines: String = (0..50).map(|index| format!("{{\"a message\":{index}}}\n")).collect();
    std::fs::write(&path, lines).unwrap();
    let builtin = CATALOGUE.find("permessage-deflate").unwrap();
    let own = format!("workload = {{ kind = \"transcript\", path = {path:?} }}");
    let chat = "workload = { name = \"chat\", kind = \"chat\", messages = 666 }";
    assert!(builtin.toml.contains(chat));
    let mut study = Study::parse("mine.toml", &builtin.toml.replacen(chat, &own, 1)).unwrap();
    assert_eq!(
        CATALOGUE.find_for_study(&study).map(|found| found.name),
        Some("permessage-deflate")
    );
    study.repeats = 1.try_into().unwrap();
    study
        .parts
        .retain(|part| ["context-takeover", "kinds"].contains(&part.name.as_str()));
    let ran = run_of(&study);
    assert!(ran.findings.is_empty(), "with fewer parts it is another study");
    let found = on_traffic(&ran).text;
    assert!(found.contains("50 messages") && found.contains("mine.txt"), "{found}");
}

/// The finding that describes the traffic.
fn on_traffic(run: &Run) -> Finding {
    let mut findings = findings(run).into_iter();
    findings
        .find(|finding| finding.title.starts_with("What was compressed"))
        .unwrap()
}

#[test]
fn a_transcript_with_the_numbers_of_2013_is_not_called_another() {
    let mut run = run().clone();
    let note = |run: &Run| exhibits(run).remove(0).note;
    assert!(
        note(&run).contains("and of ours, which is a different one"),
        "{}",
        note(&run)
    );
    for cell in &mut run.cells {
        for (figure, of_2013) in [("messages", 666.0), ("message_bytes", 87_904.0)] {
            cell.figures
                .entry(figure.to_owned())
                .and_modify(|figure| figure.mean = of_2013);
        }
    }
    assert!(note(&run).contains("with as many messages and bytes"), "{}", note(&run));
    let found = on_traffic(&run).text;
    assert!(
        found.contains("figures compare digit by digit") && !found.contains("can only be similar"),
        "{found}"
    );
}

#[test]
fn a_run_without_cells_says_nothing() {
    let empty = Run {
        cells: Vec::new(),
        ratios: Vec::new(),
        ..run().clone()
    };
    assert!(findings(&empty).is_empty() && exhibits(&empty).is_empty());
}
