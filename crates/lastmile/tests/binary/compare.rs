//! Tests of `lastmile compare`: runs in folders and in files, and the rules of a CI gate.

use crate::sandbox::Sandbox;

/// A run, and one over a link with half the rate.
fn two_runs(sandbox: &Sandbox) {
    let study = |rate| {
        format!(
            "name = 'mine'\nquestion = ''\nrepeats = 1\n[fixed]\nworkload = {{ kind = 'bulk', bytes = '50 kB' }}\ndelivery = 'tcp'\n\
             [factors]\nlink = [{{ name = 'own', rate = '{rate} kbit/s', one_way_delay = '20 ms' }}]"
        )
    };
    for (name, rate) in [("before", 800), ("after", 400)] {
        let file = sandbox.file("mine.toml", study(rate));
        let record = sandbox.data(&["run", file, "--out", name, "--format", "json"]);
        sandbox.file(&format!("{name}.json"), record);
    }
}

#[test]
fn a_regression_exits_99_and_an_improvement_does_not() {
    let sandbox = Sandbox::new();
    two_runs(&sandbox);
    let rule = "mean(transfer_time)>+5%";
    let worse = sandbox.run(&["compare", "before", "after", "--fail-on", rule, "--format", "json"]);
    assert_eq!(worse.code, Some(99), "{}", worse.stderr);
    let screen = sandbox
        .run(&["compare", "before.json", "after.json", "--fail-on", "mean>+5%"])
        .stdout;
    assert!(
        screen.contains("transfer time, ") && screen.contains("1 of 1 rule BROKEN"),
        "{screen}"
    );
    let comparison = crate::sandbox::parsed(&worse.stdout);
    let change = comparison["cells"][0]["changes"]["transfer_time"]["change"]
        .as_f64()
        .unwrap();
    assert!(
        (0.5..1.0).contains(&change),
        "half the rate takes up to twice as long: {change}"
    );
    sandbox.data(&["compare", "after", "before", "--fail-on", rule]);
    sandbox.data(&["compare", "before", "after"]);
}

/// The built-in study `bulk` with a hundredth of all frames lost, ten repeats, a quarter of its sizes, and links slower by this factor.
fn lossy_bulk(sandbox: &Sandbox, factor: f64) -> String {
    let shown = sandbox.data(&["studies", "show", "bulk"]);
    let mut study = String::new();
    for line in shown.lines() {
        let mut line = line.replace("one_way_delay", "loss = \"1 %\", one_way_delay");
        if line.starts_with("repeats = ") {
            "repeats = 10\nfresh = \"repeat\"".clone_into(&mut line);
        }
        for (key, by) in [("rate = \"", 1.0 / factor), ("bytes = \"", 0.25)] {
            if let Some((before, after)) = line.split_once(key) {
                let (number, unit) = after.split_once(' ').unwrap();
                line = format!("{before}{key}{} {unit}", number.parse::<f64>().unwrap() * by);
            }
        }
        study += &line;
        study.push('\n');
    }
    study
}

/// Twenty comparisons with and without a true change, as `docs/studies.md` promises. `cargo test -p lastmile --test binary -- gate --nocapture` prints the
/// counts.
#[test]
fn a_gate_is_broken_by_one_of_twenty_equal_comparisons_at_most_and_by_nineteen_of_slower_ones() {
    let sandbox = Sandbox::new();
    sandbox.file("same.toml", lossy_bulk(&sandbox, 1.0));
    sandbox.file("slower.toml", lossy_bulk(&sandbox, 1.08));
    let run = |study: &str, seed: usize| {
        let folder = format!("{study}-{seed}");
        let (file, seed) = (format!("{study}.toml"), seed.to_string());
        sandbox.data(&["run", &file, "--seed", &seed, "--out", &folder, "--no-report"]);
        folder
    };
    let breaks = |before: &str, after: &str, more: &[&str]| {
        let rule = ["compare", before, after, "--fail-on", "mean(transfer_time)>+5%"];
        let ended = sandbox.run(&[&rule, more].concat());
        assert!(matches!(ended.code, Some(0 | 99)), "{}", ended.stderr);
        assert_eq!(
            ended.stderr.contains("broken: mean(transfer_time)>+5%: "),
            ended.code == Some(99),
            "{}",
            ended.stderr
        );
        usize::from(ended.code == Some(99))
    };
    let (mut by_chance, mut by_value, mut found, mut found_of_one_seed) = (0, 0, 0, 0);
    for seed in 1..=20 {
        let before = run("same", seed);
        let again = run("same", 100 + seed);
        by_chance += breaks(&before, &again, &[]);
        by_value += breaks(&before, &again, &["--strict"]);
        found += breaks(&before, &run("slower", 200 + seed), &[]);
        found_of_one_seed += breaks(&before, &run("slower", seed), &[]);
    }
    eprintln!(
        "of 20: {by_chance} equal runs break the rule, {by_value} by their values alone; {found} of those that take 8 % longer, {found_of_one_seed} of one seed"
    );
    assert!(by_chance <= 1, "{by_chance}");
    assert!(by_value >= 5, "values alone cry wolf: {by_value}");
    assert!(found >= 19 && found_of_one_seed >= 19, "{found} {found_of_one_seed}");
}

#[test]
fn a_gate_between_seeds_is_undecided_where_repeats_share_their_contents() {
    let sandbox = Sandbox::new();
    let study = |fresh: &str| {
        format!(
            "name = 'mine'\nquestion = ''\nrepeats = 5\nfresh = '{fresh}'\n[fixed]\ndelivery = 'http/1.1'\ncodec = 'gzip:6'\n\
             workload = {{ kind = 'tm-packets', packets = 20 }}\n\
             [factors]\nlink = [{{ name = 'own', rate = '800 kbit/s', one_way_delay = '20 ms' }}]"
        )
    };
    for fresh in ["cell", "repeat"] {
        let file = format!("{fresh}.toml");
        sandbox.file(&file, study(fresh));
        for seed in ["1", "2"] {
            sandbox.data(&["run", &file, "--seed", seed, "--out", &format!("{fresh}-{seed}")]);
        }
    }
    // Of one of the two orders the bytes are more, by less than a hundredth.
    let gate = |before: &str, after: &str| {
        let ended = sandbox.run(&["compare", before, after, "--fail-on", "mean(response_bytes)>+0.0001%"]);
        (ended.code, ended.stderr)
    };
    let ended = [gate("cell-1", "cell-2"), gate("cell-2", "cell-1")];
    let undecided: Vec<&String> = ended
        .iter()
        .filter(|(code, _)| *code == Some(2))
        .map(|(_, stderr)| stderr)
        .collect();
    assert!(
        undecided.len() == 1 && ended.iter().any(|(code, _)| *code == Some(0)),
        "{ended:?}"
    );
    assert!(
        undecided[0].contains("undecided: mean(response_bytes)>+0.0001%: 1 of 1 figures")
            && undecided[0].contains("fresh = \"repeat\""),
        "{undecided:?}"
    );
    for (before, after) in [("repeat-1", "repeat-2"), ("repeat-2", "repeat-1"), ("cell-1", "cell-1")] {
        assert_eq!(gate(before, after).0, Some(0), "{before} {after}");
    }
}

#[test]
fn a_folder_and_the_record_that_was_printed_of_it_are_the_same() {
    let sandbox = Sandbox::new();
    two_runs(&sandbox);
    for format in ["table", "json", "csv", "md"] {
        let folders = sandbox.data(&["compare", "before", "after", "--format", format]);
        let files = sandbox.data(&["compare", "before.json", "after.json", "--format", format]);
        assert_eq!(folders, files);
        assert!(!folders.is_empty());
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let sandbox = Sandbox::new();
    two_runs(&sandbox);
    sandbox.data(&["run", "bulk", "--out", "bulk"]);
    sandbox
        .run(&["compare", "before", "bulk"])
        .refused(2, &["no cell in common", "\"mine\"", "\"bulk\""]);
    sandbox
        .run(&["compare", "before", "nowhere"])
        .refused(2, &["nowhere does not exist"]);
    let foreign = sandbox.file("foreign.json", "{}");
    sandbox
        .run(&["compare", "before", foreign])
        .refused(2, &["foreign.json is not the record of a run"]);
    sandbox
        .run(&["compare", "before", "after", "--fail-on", "p95>5"])
        .refused(2, &["is not a rule", "p95(transfer_time)>+5%"]);
}

/// The records before and after, which a verb printed of two files.
fn two_records(sandbox: &Sandbox, verb: &[&str], files: [&str; 2]) -> serde_json::Value {
    for (file, record) in files.into_iter().zip(["before.json", "after.json"]) {
        let json = sandbox.data(&[&verb[..1], &[file], &verb[1..], &["--format", "json"]].concat());
        sandbox.file(record, json);
    }
    sandbox.json(&["compare", "before.json", "after.json", "--format", "json"])
}

/// The verdict on a figure, in the first cell of this part that has it.
fn verdict<'a>(comparison: &'a serde_json::Value, part: &str, figure: &str) -> &'a str {
    let cells = comparison["cells"].as_array().unwrap();
    let cells = cells.iter().filter(|cell| cell["part"] == part);
    let mut changes = cells.map(|cell| &cell["changes"][figure]);
    let change = changes.find(|change| !change.is_null()).unwrap();
    change["verdict"].as_str().unwrap()
}

#[test]
fn records_of_other_verbs_are_compared_as_runs_are() {
    let sandbox = Sandbox::new();
    let documents = |name: &str| {
        (0..40)
            .map(|n| format!("{{\"id\":{n},\"name\":\"{name}\"}}\n"))
            .collect::<String>()
    };
    sandbox.file("short.jsonl", documents("name"));
    sandbox.file("long.jsonl", documents("a much longer name than before"));
    let encode = ["encode", "--no-timing", "--link", "wpt/3g", "--encodings", "json"];
    let encoded = two_records(&sandbox, &encode, ["short.jsonl", "long.jsonl"]);
    assert_eq!(verdict(&encoded, "sizes", "bytes_per_message"), "worse");
    // What is delivered over a link depends on the sizes, which are measured of every setting.
    let unmatched = encoded["unmatched"].as_array().unwrap();
    assert!(unmatched.iter().all(|cell| cell["part"] == "delivery"), "{unmatched:?}");
    let record = sandbox.read("after.json");
    let piped = sandbox.piped(&["compare", "before.json", "-", "--format", "json"], &record);
    assert_eq!(crate::sandbox::parsed(&piped.stdout), encoded);

    let tuned = two_records(
        &sandbox,
        &["tune", "--deflate-only", "--no-report"],
        ["long.jsonl", "short.jsonl"],
    );
    assert!(tuned["cells"].as_array().unwrap().len() > 10, "{tuned}");
    assert_eq!(verdict(&tuned, "settings", "memory_bytes"), "within-noise");

    let capture = sandbox.path().join("messages.pcap");
    std::fs::write(&capture, crate::tune::capture::of_messages(12)).unwrap();
    let inspected = two_records(&sandbox, &["inspect"], [capture.to_str().unwrap(); 2]);
    assert_eq!(verdict(&inspected, "tcp", "payload_bytes"), "within-noise");

    sandbox
        .run(&["compare", "before.json", "after.json", "--last", "bulk"])
        .refused(2, &["--last"]);
    sandbox
        .piped(&["compare", "-", "-"], &record)
        .refused(2, &["standard input is one record"]);
    sandbox
        .piped(&["compare", "before.json", "-"], "{\"schema\": \"lastmile/table/1\"}")
        .refused(2, &["standard input is not the record of a run", "lastmile/table/1"]);
}

#[test]
fn the_last_two_runs_of_a_verb_are_compared_where_it_keeps_them() {
    let sandbox = Sandbox::new();
    let line = serde_json::json!({"url": "https://localhost/a", "content_type": "text/html", "body": "<p>text</p>".repeat(2000)});
    sandbox.file("traffic.jsonl", format!("{line}\n"));
    let last = |verb: &str| sandbox.run(&["compare", "--last", verb, "--format", "json"]);
    last("advise").refused(2, &["there is no run of it under runs/"]);
    for held in ["is one run", "are two"] {
        let more = ["--link", "wpt/cable", "--encodings", "gzip", "--repeats", "2"];
        sandbox.data(&[&["advise", "traffic.jsonl"], &more[..]].concat());
        match held {
            "is one run" => last("advise").refused(2, &[held]),
            _ => assert_eq!(
                verdict(&crate::sandbox::parsed(&last("advise").stdout), "page", "page_time"),
                "within-noise"
            ),
        }
    }
    let [before, after] = &sandbox.runs()[..] else {
        panic!("two runs: {:?}", sandbox.runs());
    };
    let named = sandbox.json(&[
        "compare",
        before.to_str().unwrap(),
        after.to_str().unwrap(),
        "--format",
        "json",
    ]);
    assert_eq!(named, crate::sandbox::parsed(&last("advise").stdout));
    last("encode").refused(2, &["`lastmile encode` keeps no record under runs/", "--format json"]);
}
