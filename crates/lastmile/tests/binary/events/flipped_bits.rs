//! One flipped bit anywhere in a monitor's database: each query has every event, or says that it has not, and what a refused folder holds is salvaged.
//! The truth is the list of lines that were emitted.

use super::Running;
use crate::sandbox::{Ended, Sandbox};
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
fn monitor(sandbox: &Sandbox, folder: &str) -> Option<Running> {
    let running = Running::start(sandbox, &["monitor", folder, "--listen", "127.0.0.1:0"], 1);
    running.notes[0].contains("http://").then_some(running)
}

/// Whether every query of a monitor is right or says that it is not whole; false where one says so.
fn is_whole(sandbox: &Sandbox, monitor: &Running, truth: &BTreeSet<(String, u64)>, case: &str) -> bool {
    let url = monitor.url();
    let mut is_whole = true;
    for subject in SUBJECTS.into_iter().chain([">"]) {
        let asked = |event: &&(String, u64)| subject == ">" || event.0 == subject;
        let expected: BTreeSet<_> = truth.iter().filter(asked).cloned().collect();
        let (events, says_whole) = read(&sandbox.run(&["query", subject, "--monitor", &url]));
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
    let sandbox = Sandbox::new();
    let mut truth = BTreeSet::new();
    {
        let running = monitor(&sandbox, "whole").unwrap();
        for source in 0..4 {
            let mut lines = String::new();
            for number in 40 * source..40 * (source + 1) {
                let subject = SUBJECTS[number as usize % SUBJECTS.len()];
                lines += &format!("{subject} n={number}\n");
                truth.insert((subject.to_owned(), number));
            }
            let stdin = File::open(sandbox.path().join(sandbox.file("lines", lines))).unwrap();
            let words = ["emit", "--durability", "power", "--monitor", &running.url()];
            assert!(sandbox.command(&words).stdin(stdin).status().unwrap().success());
        }
        running.terminate();
    }
    let database = fs::read(sandbox.path().join("whole/events.sqlite")).unwrap();
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
        fs::create_dir(sandbox.path().join(&folder)).unwrap();
        for file in ["acknowledged", "lock"] {
            fs::copy(
                sandbox.path().join("whole").join(file),
                sandbox.path().join(&folder).join(file),
            )
            .unwrap();
        }
        let mut flipped = database.clone();
        flipped[at] ^= 1 << bit;
        fs::write(sandbox.path().join(&folder).join("events.sqlite"), flipped).unwrap();
        if let Some(running) = monitor(&sandbox, &folder) {
            if !is_whole(&sandbox, &running, &truth, &case) {
                assert_eq!(
                    sandbox.run(&["audit", "--monitor", &running.url()]).code,
                    Some(99),
                    "{case}"
                );
            }
            continue;
        }
        let new = format!("salvaged-{number}");
        let salvaged = sandbox.run(&["salvage", &folder, &new]);
        let running = monitor(&sandbox, &new).unwrap_or_else(|| panic!("{case}: {}", salvaged.stderr));
        let (events, _) = read(&sandbox.run(&["query", "--monitor", &running.url()]));
        assert!(events.is_subset(&truth), "{case}");
        let is_told = salvaged.code == Some(99) && salvaged.stderr.contains("could not be read");
        assert!(
            is_told || (salvaged.code == Some(0) && events == truth),
            "{case}: {}",
            salvaged.stderr
        );
    }
}
