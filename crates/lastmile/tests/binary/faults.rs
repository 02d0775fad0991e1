//! A few of the cases of `make faults`: kills, full disks and flipped bits, and a checker that shares no code with what it checks.

use crate::sandbox::{LASTMILE, Sandbox};
use lastmile_faults::{Kind, Outcome, Plan, has_namespaces, run};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn run_case(binary: &Path, plan: &Plan) -> Outcome {
    run(binary, plan, Sandbox::new().path())
}

#[test]
fn what_was_acknowledged_before_a_kill_a_full_disk_or_a_flipped_bit_is_stored_or_told() {
    let can_mount = has_namespaces();
    for seed in SEEDS {
        let plan = Plan::of_seed(seed);
        if plan.kind == Kind::FullDisk && !can_mount {
            eprintln!("skipped: seed {seed} fills a disk, and none can be mounted in a namespace of this user's own");
            continue;
        }
        let outcome = run_case(Path::new(LASTMILE), &plan);
        assert!(
            outcome.faults.is_empty(),
            "seed {seed}\n{plan}{}\n{:#?}",
            outcome.history.join("\n"),
            outcome.faults
        );
    }
}

#[test]
fn an_answer_that_hides_an_event_or_tells_it_twice_is_found_out() {
    // An event that is submitted when all is up again.
    let event = r#"/"n":4294967297,/"#;
    for (lie, found) in [("d", "lacks 1 acknowledged events"), ("p", "twice")] {
        let (lie, sandbox) = (format!("{event}{lie}"), Sandbox::new());
        let script =
            format!("#!/bin/sh\n[ \"$1\" = query ] || exec {LASTMILE} \"$@\"\n{LASTMILE} \"$@\" | sed '{lie}'\n");
        let binary = sandbox.path().join(sandbox.file("lastmile", script));
        std::fs::set_permissions(&binary, Permissions::from_mode(0o755)).unwrap();
        let faults = run_case(&binary, &Plan::of_seed(KILLS)).faults;
        assert!(faults.iter().any(|fault| fault.contains(found)), "{lie}: {faults:?}");
    }
}

/// Cases of all kinds that take about a second each.
const SEEDS: [u64; 12] = [2, 3, 4, 6, 8, 10, 12, 19, 26, 29, 31, 45];
/// A case that kills programs, and no more.
const KILLS: u64 = 10;
