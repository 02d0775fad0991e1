//! Tests of `lastmile run`: the record, its formats, the folder, thresholds, and reproducibility.

use crate::sandbox::{Sandbox, parsed, without_run};

/// A study with everything that varies: loss, jitter and CPU times; it takes two parts of a second.
pub(crate) const LOSSY: &str = r#"
name = "lossy"
question = "Is it the same every time?"
repeats = 4
seed = 3

[fixed]
workload = { kind = "bulk", bytes = "50 kB" }
delivery = "tcp"

[factors]
link = ["wpt/3g+loss=2%+jitter=20ms", "wpt/cable+loss=0.5%", "published/dialup-56k+loss=1%"]
"#;

#[test]
fn two_runs_are_the_same_to_the_byte_but_for_their_folder_whatever_the_threads() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    let run = |threads| sandbox.data(&["run", study, "--format", "json", "--threads", threads]);
    let (one, four) = (run("1"), run("4"));
    assert_eq!(without_run(&one), without_run(&four));
    assert_ne!(one, four, "two runs do not share a folder");
    let other_seed = sandbox.data(&["run", study, "--format", "json", "--seed", "4"]);
    assert_ne!(parsed(&one)["cells"], parsed(&other_seed)["cells"], "the seed decides");
}

#[test]
fn the_gzip_filter_study_has_the_shape_of_its_schema() {
    let sandbox = Sandbox::new();
    let run = sandbox.json(&[
        "run",
        "gzip-filter",
        "--repeats",
        "1",
        "--format",
        "json",
        "--no-report",
    ]);
    assert_eq!(run["study"], "gzip-filter");
    let names: Vec<_> = run["ratios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ratio| ratio["name"].clone())
        .collect();
    assert!(
        names.contains(&"rssdr".into()) && names.contains(&"etdr".into()),
        "{names:?}"
    );
}

#[test]
fn a_run_is_kept_in_a_folder_of_its_own_and_says_where_its_report_is() {
    let sandbox = Sandbox::new();
    let ended = sandbox.run(&["run", "bulk"]);
    assert_eq!(ended.code, Some(0));
    let runs = sandbox.runs();
    let [folder] = runs.as_slice() else { panic!("{runs:?}") };
    for file in ["study.toml", "costs.toml", "meta.json", "journal.jsonl", "report.html"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let name = folder.file_name().unwrap().to_str().unwrap();
    let digits: String = name.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    assert_eq!(digits, "bulk-99999999-999999");
    let page = folder.strip_prefix(sandbox.path()).unwrap().join("report.html");
    assert_eq!(
        ended.stderr,
        format!("report: {}\n", page.display()),
        "no terminal, no bar"
    );
    let page = sandbox.read(page);
    assert!(
        page.contains("lastmile run bulk --repeats 1 --seed 1 --cpu reference"),
        "how to make it again"
    );
}

#[test]
fn a_study_as_kept_runs_again_to_the_same_record() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    let first = sandbox.data(&["run", study, "--out", "first", "--format", "json", "--seed", "9"]);
    let again = sandbox.data(&["run", "first/study.toml", "--cpu", "reference", "--format", "json"]);
    assert_eq!(without_run(&first), without_run(&again));
    assert!(
        sandbox
            .read("first/report.html")
            .contains("lastmile run study.toml --cpu reference")
    );
}

#[test]
fn every_format_is_printed_and_the_report_can_be_left_out() {
    let sandbox = Sandbox::new();
    let table = sandbox.data(&["run", "bulk", "--out", "a", "--no-report"]);
    assert!(table.contains("512k-50ms-q64") && table.contains("16.4 s"), "{table}");
    assert!(!table.contains('\u{1b}'), "no terminal, no colour");
    assert!(!sandbox.path().join("a/report.html").exists());
    let csv = sandbox.data(&["run", "bulk", "--format", "csv"]);
    assert!(csv.starts_with("part,link,workload,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 8 * 4, "a head, and a row a cell and figure");
    let markdown = sandbox.data(&["run", "bulk", "--format", "md"]);
    assert!(markdown.lines().any(|line| line.starts_with("| ")), "{markdown}");
}

#[test]
fn a_dry_run_prints_the_cells_and_runs_none() {
    let sandbox = Sandbox::new();
    let text = sandbox.data(&["run", "bulk", "--dry-run", "--repeats", "3"]);
    assert!(
        text.contains("queue-length: link 512k-50ms-q64, workload 1 MB\n"),
        "{text}"
    );
    assert!(text.contains("8 cells, 24 repeats in all"), "{text}");
    assert!(sandbox.runs().is_empty());
}

#[test]
fn a_setting_of_the_command_line_takes_the_place_of_the_studys_and_is_kept_with_the_run() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    let set = ["--set", "workload={ kind = \"bulk\", bytes = \"20 kB\" }"];
    let run = sandbox.data(&["run", study, "--out", "a", "--format", "json", set[0], set[1]]);
    let written = sandbox.file("other.toml", LOSSY.replace("50 kB", "20 kB"));
    let other = sandbox.data(&["run", written, "--format", "json"]);
    assert_eq!(parsed(&run)["cells"], parsed(&other)["cells"]);
    let again = sandbox.data(&["run", "a/study.toml", "--format", "json"]);
    assert_eq!(without_run(&run), without_run(&again));
    let resumed = sandbox.data(&["run", study, "--resume", "a", "--format", "json", set[0], set[1]]);
    assert_eq!(run, resumed);
}

#[test]
fn a_built_in_study_runs_on_a_transcript_of_ones_own_and_says_what_it_found_there() {
    let sandbox = Sandbox::new();
    let lines: String = (0..40)
        .map(|index| format!("{{\"say\":\"message {index}\"}}\n"))
        .collect();
    sandbox.file("my chat.txt", &lines);
    let study = ["run", "permessage-deflate", "--set", "workload=my chat.txt"];
    let shown = sandbox.data(&[&study[..], &["--dry-run", "--details"]].concat());
    assert!(
        shown.contains("context-takeover: ") && shown.contains("workload my chat.txt"),
        "{shown}"
    );
    let ended = sandbox.run(&[&study[..], &["--repeats", "1", "--format", "json"]].concat());
    ended.succeeded();
    assert!(
        ended
            .stderr
            .starts_with("--set workload=my chat.txt: these parts keep their own: message-sizes, "),
        "{}",
        ended.stderr
    );
    let record = parsed(&ended.stdout);
    let findings = record["findings"].as_array().unwrap();
    let texts: Vec<&str> = findings.iter().filter_map(|finding| finding["text"].as_str()).collect();
    assert!(
        texts.iter().any(|text| text.contains("of my chat.txt: 40 messages, ")),
        "{texts:?}"
    );
}

#[test]
fn a_rule_that_is_broken_exits_99_and_one_that_holds_does_not() {
    let sandbox = Sandbox::new();
    let run = |rule| sandbox.run(&["run", "bulk", "--format", "json", "--fail-on", rule]);
    let broken = run("p95(transfer_time)>16s");
    assert_eq!(broken.code, Some(99), "{}", broken.stderr);
    assert!(
        broken.stderr.contains("broken: p95(transfer_time) <= 16s: 16."),
        "{}",
        broken.stderr
    );
    let record = parsed(&broken.stdout);
    let parts: Vec<_> = record["thresholds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| &held["part"])
        .collect();
    assert_eq!(
        parts,
        [
            "queue-length",
            "queue-length",
            "queue-length",
            "queue-length",
            "dial-up",
            "long",
            "satellite",
            "fast"
        ],
        "a broken run is printed all the same, with the rule held against each cell of each part"
    );
    assert!(
        broken.stderr.contains(" in queue-length: link 512k-50ms-q64"),
        "{}",
        broken.stderr
    );
    run("p95(transfer_time)>60s").succeeded();
    let unchecked = run("mean(compress_time)>1s");
    assert_eq!(unchecked.code, Some(99), "a gate that checks nothing passes nothing");
    assert!(
        unchecked.stderr.contains("no cell has the figure compress_time"),
        "{}",
        unchecked.stderr
    );
}

#[test]
fn a_threshold_of_the_study_exits_99_too() {
    let sandbox = Sandbox::new();
    let study = sandbox.file(
        "strict.toml",
        format!("{LOSSY}\n[thresholds]\n'max(transfer_time)' = '< 1 ms'\n"),
    );
    let ended = sandbox.run(&["run", study]);
    assert_eq!(ended.code, Some(99), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("broken: max(transfer_time) < 1 ms").count(),
        3,
        "{}",
        ended.stderr
    );
}

#[test]
fn captures_are_kept_where_they_are_asked_for_and_change_nothing() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("lossy.toml", LOSSY);
    let plain = sandbox.data(&["run", study, "--out", "plain", "--format", "json"]);
    let watched = sandbox.data(&["run", study, "--out", "watched", "--format", "json", "--capture"]);
    assert_eq!(without_run(&watched), without_run(&plain));
    assert!(!sandbox.path().join("plain/captures").exists());
    let captures = std::fs::read_dir(sandbox.path().join("watched/captures")).unwrap();
    assert_eq!(
        captures.count(),
        9,
        "both ends of three cells, and what their links dropped"
    );
}

#[test]
fn cells_that_fail_exit_4_and_the_others_are_kept() {
    let sandbox = Sandbox::new();
    let study = sandbox.file("dead.toml", LOSSY.replace("wpt/cable+loss=0.5%", "wpt/cable+loss=100%"));
    let ended = sandbox.run(&["run", study, "--format", "json"]);
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("4 repeats in 1 of 3 cells failed"),
        "{}",
        ended.stderr
    );
    let run = parsed(&ended.stdout);
    let failed: Vec<_> = run["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["failed"].as_u64().unwrap())
        .collect();
    assert_eq!(failed.iter().filter(|failed| **failed == 0).count(), 2, "{failed:?}");
}

#[test]
fn a_cost_table_of_a_file_and_free_computing_are_named_in_the_record() {
    let sandbox = Sandbox::new();
    sandbox.data(&["run", "bulk", "--out", "first"]);
    let run = sandbox.json(&["run", "bulk", "--cpu", "first/costs.toml", "--format", "json"]);
    assert_eq!(run["cpu"], "first/costs.toml");
    assert_eq!(
        sandbox.json(&["run", "bulk", "--cpu", "free", "--format", "json"])["cpu"],
        "free"
    );
}
