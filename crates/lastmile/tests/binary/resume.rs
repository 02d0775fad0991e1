//! Tests that an interrupted run resumes: after a journal that ends anywhere, and after Ctrl-C.

use crate::run::LOSSY;
use crate::sandbox::{Sandbox, parsed, without_run};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Cuts the journal of a run off after this many bytes.
fn cut(sandbox: &Sandbox, folder: &str, bytes: usize) {
    let path = sandbox.path().join(folder).join("journal.jsonl");
    let journal = std::fs::read(&path).unwrap();
    assert!(bytes < journal.len());
    std::fs::write(path, &journal[..bytes]).unwrap();
}

#[test]
fn a_run_cut_off_anywhere_is_resumed_to_the_same_record() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    let whole = sandbox.data(&["run", study, "--out", "run", "--format", "json"]);
    let journal = sandbox.read("run/journal.jsonl");
    let second_line = journal.find('\n').unwrap() + 1;
    // Nothing yet; a whole line; in the middle of a line.
    for bytes in [0, second_line, journal.len() / 2, journal.len() - 1] {
        sandbox.file("run/journal.jsonl", &journal[..bytes]);
        let ended = sandbox.run(&["run", "--resume", "run", "--format", "json"]);
        ended.succeeded();
        assert_eq!(ended.stdout, whole, "cut after {bytes}");
        let kept = journal[..bytes].rfind('\n').map_or(0, |at| at + 1);
        assert!(
            sandbox.read("run/journal.jsonl").starts_with(&journal[..kept]),
            "what was there is not run again"
        );
    }
}

#[test]
fn the_latest_run_of_a_study_is_resumed_where_none_is_named() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    let first = sandbox.data(&["run", study, "--format", "json"]);
    let second = sandbox.data(&["run", study, "--format", "json"]);
    let latest = parsed(&second)["run"].as_str().unwrap().to_owned();
    cut(&sandbox, &latest, 100);
    let resumed = sandbox.data(&["run", study, "--format", "json", "--resume"]);
    assert_eq!(resumed, second);
    assert_eq!(without_run(&resumed), without_run(&first));
}

#[test]
fn a_run_that_differs_is_not_resumed_and_nothing_is_run() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    sandbox.data(&["run", study, "--out", "run"]);
    let line = sandbox.read("run/journal.jsonl").find('\n').unwrap() + 1;
    cut(&sandbox, "run", line);
    sandbox
        .run(&["run", study, "--resume", "run", "--seed", "8"])
        .refused(2, &["run cannot be resumed", "seed"]);
    sandbox
        .run(&["run", study, "--resume", "run", "--repeats", "8"])
        .refused(2, &["run cannot be resumed", "repeats = 8"]);
    sandbox
        .run(&["run", study, "--out", "run"])
        .refused(2, &["run already contains a run"]);
    assert_eq!(sandbox.read("run/journal.jsonl").len(), line);
}

#[test]
fn where_there_is_nothing_to_resume_that_is_said() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["run", "bulk", "--resume"])
        .refused(2, &["no run of bulk", "--resume RUN"]);
    sandbox
        .run(&["run", "--resume"])
        .refused(2, &["name the run to resume"]);
    sandbox
        .run(&["run", "--resume", "nowhere"])
        .refused(2, &["nowhere does not exist"]);
    assert!(!sandbox.path().join("nowhere").exists(), "it is not made either");
}

#[test]
fn a_run_that_was_cut_off_is_reported_as_far_as_it_came() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    sandbox.data(&["run", study, "--out", "run"]);
    let journal = sandbox.read("run/journal.jsonl");
    let lines: Vec<_> = journal.match_indices('\n').collect();
    cut(&sandbox, "run", lines[4].0 + 1);
    let ended = sandbox.run(&["report", "run", "--format", "json"]);
    ended.succeeded();
    assert!(
        ended
            .stderr
            .contains("5 of 12 repeats are done; continue with: lastmile run --resume run"),
        "{}",
        ended.stderr
    );
    parsed(&ended.stdout);
}

#[test]
fn a_finished_run_whose_parts_have_repeats_of_their_own_is_not_called_unfinished() {
    let sandbox = Sandbox::new();
    let more = "\n[[part]]\nname = 'once'\nrepeats = 1\n[[part]]\nname = 'twice'\nrepeats = 2\n[part.fixed]\nround_trip = '50 ms'\n";
    let study = sandbox.file("parts.toml", LOSSY.to_owned() + more);
    sandbox.data(&["run", study, "--out", "run"]);
    let ended = sandbox.run(&["report", "run", "--format", "csv"]);
    assert_eq!(
        (ended.code, ended.stderr.contains("repeats are done")),
        (Some(0), false),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_report_or_a_comparison_leaves_the_journal_of_a_run_that_is_going_on_as_it_is() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    sandbox.data(&["run", study, "--out", "run"]);
    let half = sandbox.read("run/journal.jsonl").len() / 2;
    cut(&sandbox, "run", half);
    let journal = sandbox.read("run/journal.jsonl");
    assert!(!journal.ends_with('\n'), "the line is being written");
    sandbox.data(&["report", "run"]);
    sandbox.data(&["compare", "run", "run"]);
    assert_eq!(sandbox.read("run/journal.jsonl"), journal);
}

/// Needs `kill`, and a run that does not end by itself while it is being stopped: a million repeats.
#[cfg(unix)]
#[test]
fn ctrl_c_stops_in_good_order_and_says_how_to_go_on() {
    let sandbox = Sandbox::new();
    let study = sandbox.file(
        "long.toml",
        LOSSY.replace("repeats = 4", "repeats = 1000000\nfresh = 'repeat'"),
    );
    let mut command = sandbox.command(&["run", study, "--out", "long", "--threads", "1"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while lines_in(&sandbox.path().join("long/journal.jsonl")) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was stopped");
        std::thread::yield_now();
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(ended.stdout.is_empty(), "no record of a part");
    assert!(
        said.contains("Ctrl-C again") && said.contains("continue with: lastmile run --resume long"),
        "{said}"
    );
    let journal = sandbox.read("long/journal.jsonl");
    assert!(journal.ends_with('\n'), "its last line is whole");
}

#[cfg(unix)]
fn lines_in(path: &Path) -> usize {
    std::fs::read_to_string(path).unwrap_or_default().lines().count()
}
