//! One flipped bit anywhere in a monitor's database: each query has every event, or says that it has not, and what a refused folder holds is salvaged.
//! The truth is the list of lines that were emitted.

use super::Running;
use crate::place::{Ended, Place};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::fs::File;

const SUBJECTS: [&str; 3] = ["alarm.fire", "door.open", "run.cell.done"];
const CASES: u64 = 24;

/// The events of an answer, by subject and number, and whether it says that it is whole.
fn read(answer: &Ended) -> (BTreeSet<(String, u64)>, bool) {
    let mut events = BTreeSet::new();
    for line in answer.stdout.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if let Some(number) = line["fields"]["n"].as_u64() {
            let event = (line["subject"].as_str().unwrap().to_owned(), number);
            assert!(events.insert(event), "twice: {line}");
        }
    }
    (events, answer.code == Some(0))
}

/// The monitor of a folder, where it does not refuse it.
fn monitor(place: &Place, folder: &str) -> Option<Running> {
    let running = Running::start(place, &["monitor", folder, "--listen", "127.0.0.1:0"], 1);
    running.notes[0].contains("http://").then_some(running)
}

/// Whether every query of a monitor is right or says that it is not whole; false where one says so.
fn is_whole(place: &Place, monitor: &Running, truth: &BTreeSet<(String, u64)>, case: &str) -> bool {
    let url = monitor.url();
    let mut is_whole = true;
    for subject in SUBJECTS.into_iter().chain([">"]) {
        let asked = |event: &&(String, u64)| subject == ">" || event.0 == subject;
        let expected: BTreeSet<_> = truth.iter().filter(asked).cloned().collect();
        let (events, says_whole) = read(&place.run(&["query", subject, "--monitor", &url]));
        assert!(events.is_subset(&expected), "{case}: wrong events of {subject}");
        assert!(
            !says_whole || events == expected,
            "{case}: {subject} lacks events, and exits with 0"
        );
        is_whole &= says_whole;
    }
    is_whole
}

#[test]
fn one_flipped_bit_is_told_wherever_it_costs_an_event() {
    let place = Place::new();
    let mut truth = BTreeSet::new();
    {
        let running = monitor(&place, "whole").unwrap();
        for source in 0..4 {
            let mut lines = String::new();
            for number in 40 * source..40 * (source + 1) {
                let subject = SUBJECTS[number as usize % SUBJECTS.len()];
                lines += &format!("{subject} n={number}\n");
                truth.insert((subject.to_owned(), number));
            }
            let stdin = File::open(place.path().join(place.file("lines", lines))).unwrap();
            let words = ["emit", "--durability", "power", "--monitor", &running.url()];
            assert!(place.command(&words).stdin(stdin).status().unwrap().success());
        }
        running.terminate();
    }
    let database = fs::read(place.path().join("whole/events.sqlite")).unwrap();
    let bytes: Vec<usize> = (0..database.len()).filter(|at| database[*at] != 0).collect();
    // A linear congruential generator (Knuth, MMIX); its upper bits are used.
    let mut random = 22_u64;
    let mut below = |limit: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % limit
    };
    for number in 0..CASES {
        let (at, bit) = (bytes[below(bytes.len())], below(8));
        let case = format!("bit {bit} of byte {at}");
        let folder = format!("flipped-{number}");
        fs::create_dir(place.path().join(&folder)).unwrap();
        for file in ["acknowledged", "lock"] {
            fs::copy(
                place.path().join("whole").join(file),
                place.path().join(&folder).join(file),
            )
            .unwrap();
        }
        let mut flipped = database.clone();
        flipped[at] ^= 1 << bit;
        fs::write(place.path().join(&folder).join("events.sqlite"), flipped).unwrap();
        if let Some(running) = monitor(&place, &folder) {
            if !is_whole(&place, &running, &truth, &case) {
                assert_eq!(
                    place.run(&["audit", "--monitor", &running.url()]).code,
                    Some(99),
                    "{case}"
                );
            }
            continue;
        }
        let new = format!("salvaged-{number}");
        let salvaged = place.run(&["salvage", &folder, &new]);
        let running = monitor(&place, &new).unwrap_or_else(|| panic!("{case}: {}", salvaged.stderr));
        let (events, _) = read(&place.run(&["query", "--monitor", &running.url()]));
        assert!(events.is_subset(&truth), "{case}");
        let is_told = salvaged.code == Some(99) && salvaged.stderr.contains("could not be read");
        assert!(
            is_told || (salvaged.code == Some(0) && events == truth),
            "{case}: {}",
            salvaged.stderr
        );
    }
}
