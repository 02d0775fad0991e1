//! Tests of the verbs that look things up, and of the help.

use crate::sandbox::{Ended, Sandbox};
use std::path::Path;

const FORMATS: [&str; 4] = ["table", "json", "csv", "md"];

#[test]
fn studies_are_listed_and_one_that_is_shown_runs_as_a_file() {
    let sandbox = Sandbox::new();
    for format in FORMATS {
        let list = sandbox.data(&["studies", "--format", format]);
        assert!(
            list.contains("bulk") && list.contains("gzip-filter"),
            "{format}: {list}"
        );
    }
    let toml = sandbox.data(&["studies", "show", "bulk"]);
    let file = sandbox.file("mine.toml", toml);
    let (mine, builtin) = (
        sandbox.data(&["run", file, "--format", "csv"]),
        sandbox.data(&["run", "bulk", "--format", "csv"]),
    );
    assert_eq!(mine, builtin);
    sandbox
        .run(&["studies", "show", "bulc"])
        .refused(2, &["\"bulc\"", "did you mean bulk?"]);
}

#[test]
fn the_keys_of_a_study_are_listed_searched_and_fit_a_terminal() {
    let sandbox = Sandbox::new();
    for (list, key, value, meaning) in [
        ("factors", "congestion_control", "cubic, reno, bbr", "Default: cubic."),
        (
            "factors",
            "window_bits",
            "whole number from 8 to 15",
            "log2 of deflate's window",
        ),
        ("figures", "transfer_time", "s", "From opening the connection"),
        ("deliveries", "http/1.1", "objects", "Objects in the response"),
        ("workloads", "chat", "{ kind = \"chat\"", "chat service"),
    ] {
        let json = sandbox.data(&["studies", "keys", list, "--format", "json"]);
        let rows = crate::sandbox::parsed(&json)["rows"].as_array().unwrap().clone();
        let row = rows.iter().find(|row| row[0] == key).unwrap().as_array().unwrap();
        assert!(row[1].as_str().unwrap().contains(value), "{row:?}");
        assert!(row.last().unwrap().as_str().unwrap().contains(meaning), "{row:?}");
        let lists = sandbox.data(&["studies", "keys", "--format", "csv"]);
        assert!(lists.contains(&format!("{list},{},", rows.len())), "{lists}");
        let shown = sandbox
            .command(&["studies", "keys", list])
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        let widest = shown.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(shown.contains(key) && widest.chars().count() <= 80, "{widest}");
    }
    let found = sandbox.data(&["studies", "keys", "figures", "queue", "drops", "--format", "csv"]);
    assert_eq!(found.lines().count(), 4, "{found}");
    sandbox
        .run(&["studies", "keys", "factors", "nonsense"])
        .refused(2, &["no key of this list says \"nonsense\""]);
}

#[test]
fn profiles_are_listed_shown_and_told_apart() {
    let sandbox = Sandbox::new();
    for format in FORMATS {
        let list = sandbox.data(&["profiles", "list", "--format", format]);
        assert!(
            list.contains("wpt/3g") && list.contains("published/dialup-56k"),
            "{format}: {list}"
        );
        let shown = sandbox.data(&["profiles", "show", "wpt/3g+loss=1%", "--format", format]);
        assert!(
            shown.contains("WebPageTest") && shown.contains("1.6 Mbit/s") && shown.contains("1 %"),
            "{format}: {shown}"
        );
        let text = sandbox.data(&["profiles", "diff", "wpt/3g", "chrome/slow-3g", "--format", format]);
        assert!(
            text.contains("500 kbit/s") && text.contains("round trip"),
            "{format}: {text}"
        );
    }
    let set = sandbox.data(&["profiles", "list", "wpt", "--format", "csv"]);
    assert!(set.lines().skip(1).all(|line| line.starts_with("wpt/")), "{set}");
    sandbox
        .run(&["profiles", "list", "wtp"])
        .refused(2, &["\"wtp\"", "wpt"]);
    sandbox
        .run(&["profiles", "show", "wpt/3gg"])
        .refused(2, &["\"wpt/3gg\"", "did you mean wpt/3g?", "lastmile profiles list"]);
    assert!(
        sandbox
            .data(&["profiles", "diff", "wpt/3g", "wpt/3g"])
            .contains("the same")
    );
}

#[test]
fn what_is_looked_up_has_the_shape_of_its_schema() {
    let sandbox = Sandbox::new();
    for words in [
        &["studies"][..],
        &["profiles", "list"],
        &["profiles", "show", "wpt/3g"],
        &["profiles", "diff", "wpt/3g", "wpt/2g"],
    ] {
        let table = sandbox.json(&[words, &["--format", "json"]].concat());
        let columns = table["columns"].as_array().unwrap().len();
        for row in table["rows"].as_array().unwrap() {
            assert_eq!(row.as_array().unwrap().len(), columns, "{words:?}: {row}");
        }
    }
}

#[test]
fn a_link_may_follow_a_delivery_trace_of_a_file() {
    let sandbox = Sandbox::new();
    let trace = sandbox.file("drive.up", "0\n12\n24\n");
    let link = format!("drive+trace={trace}+one_way_delay=30ms");
    assert!(sandbox.data(&["profiles", "show", &link]).contains("3 opportunities"));
    sandbox
        .run(&["profiles", "show", "drive+trace=none.up+one_way_delay=30ms"])
        .refused(2, &["none.up", "cannot be read"]);
}

#[test]
fn a_run_is_reported_again_as_it_was() {
    let sandbox = Sandbox::new();
    for format in FORMATS {
        let printed = sandbox.data(&["run", "bulk", "--out", format, "--format", format]);
        assert_eq!(sandbox.data(&["report", format, "--format", format]), printed);
    }
    let page = sandbox.read("json/report.html");
    assert_eq!(
        sandbox.data(&["report", "json", "--html"]).trim_end(),
        Path::new("json").join("report.html").display().to_string()
    );
    assert_eq!(sandbox.read("json/report.html"), page);
    sandbox
        .run(&["report", "nowhere"])
        .refused(2, &["nowhere does not exist", "lastmile run"]);
    sandbox.run(&["report", "."]).refused(2, &["holds no run"]);
}

#[test]
fn the_demo_answers_for_each_link_without_a_file_and_names_verbs_that_exist() {
    let sandbox = Sandbox::new();
    let shown = sandbox.data(&["demo"]);
    for link in ["wpt/3g", "published/dialup-56k", "wpt/cable"] {
        assert!(shown.lines().any(|line| line.starts_with(link)), "{shown}");
    }
    let verbs = verbs(&sandbox);
    let named = shown.lines().filter_map(|line| line.trim().strip_prefix("lastmile "));
    let named: Vec<&str> = named.filter_map(|rest| rest.split(' ').next()).collect();
    assert!(named.len() >= 6, "{shown}");
    assert!(
        named.iter().all(|name| verbs.iter().any(|verb| verb == name)),
        "{shown}"
    );
}

#[test]
fn every_shell_gets_its_completions() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = sandbox.data(&["completions", shell]);
        assert!(
            script.contains("lastmile") && script.contains("LASTMILE_COMPLETE"),
            "{shell}"
        );
        let mut asked = sandbox.command(&["--", "lastmile", "advise", "--fail"]);
        asked.envs([("LASTMILE_COMPLETE", shell), ("_CLAP_COMPLETE_INDEX", "2")]);
        let words = Ended::of(asked.output().unwrap());
        assert!(words.stdout.starts_with("--fail-on"), "{shell}: {words:?}");
    }
    sandbox.run(&["completions", "basch"]).refused(2, &["basch", "bash"]);
}

/// The words that bash offers, by the script that it is given.
#[test]
fn bash_completes_profiles_studies_and_runs() {
    let sandbox = Sandbox::new();
    for folder in ["runs/bulk-20260131-142359", "runs/empty", "runs/advise-20260131-142359"] {
        std::fs::create_dir_all(sandbox.path().join(folder)).unwrap();
    }
    sandbox.file("runs/bulk-20260131-142359/meta.json", "");
    sandbox.file("runs/advise-20260131-142359/record.json", "");
    sandbox.file("mine.toml", "");
    let bin = sandbox.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(crate::sandbox::LASTMILE, bin.join("lastmile")).unwrap();
    let offered = |line: &str| {
        let script = format!(
            "PATH={}:$PATH; source <(lastmile completions bash); COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _clap_complete_lastmile lastmile \"${{COMP_WORDS[COMP_CWORD]}}\" x; printf '%s\n' \"${{COMPREPLY[@]}}\"",
            bin.display()
        );
        let mut bash = std::process::Command::new("bash");
        let ended = bash.args(["-c", &script]).current_dir(sandbox.path()).output().unwrap();
        let words = String::from_utf8(ended.stdout).unwrap();
        let mut words: Vec<String> = words.lines().map(str::to_owned).collect();
        words.sort();
        words
    };
    for verb in [
        "advise x.har --link",
        "tune x --link",
        "load http://localhost/ --link",
        "link",
        "profiles show",
    ] {
        assert_eq!(
            offered(&format!("lastmile {verb} wpt/3g")),
            ["wpt/3g", "wpt/3g-fast", "wpt/3g-slow"],
            "{verb}"
        );
    }
    assert_eq!(offered("lastmile time --link none,wpt/cab"), ["none,wpt/cable"]);
    assert_eq!(offered("lastmile run b"), ["bin/", "bulk"]);
    assert_eq!(offered("lastmile run m"), ["mine.toml"]);
    assert_eq!(offered("lastmile studies show gzip"), ["gzip-filter"]);
    assert_eq!(offered("lastmile report --last bul"), ["bulk"]);
    for verb in ["report", "compare", "compare before.json"] {
        let runs = offered(&format!("lastmile {verb} runs/b"));
        assert!(
            runs.iter().any(|run| run.starts_with("runs/bulk-20260131-142359")),
            "{verb}: {runs:?}"
        );
    }
    let all = offered("lastmile report ''");
    let [advise, bulk] = ["runs/advise-20260131-142359", "runs/bulk-20260131-142359"].map(str::to_owned);
    assert!(
        all.contains(&advise) && all.contains(&bulk) && !all.contains(&"runs/empty".to_owned()),
        "{all:?}"
    );
}

#[test]
fn the_manual_page_has_a_section_a_verb_with_its_examples() {
    let sandbox = Sandbox::new();
    let page = sandbox.data(&["man"]);
    assert!(page.contains(".TH lastmile 1"), "{page}");
    for verb in verbs(&sandbox) {
        assert!(
            page.contains(&format!(".SH \"LASTMILE {}\"", verb.to_uppercase())),
            "{verb}"
        );
    }
    assert!(
        page.contains(r"lastmile run bulk \-\-fail\-on \(aqp95(transfer_time)>20s\(aq"),
        "examples can be pasted"
    );
    assert!(page.contains(".SH \"EXIT CODES\""));
}

/// The verbs that the help lists, each with its purpose in one line, except `help` itself.
pub(crate) fn verbs(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.data(&["--help"]);
    let list = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let verbs: Vec<_> = list.map_while(first).filter(|verb| verb != "help").collect();
    assert!(verbs.len() >= 8, "{verbs:?}");
    verbs
}

#[test]
fn the_help_of_every_verb_has_examples_and_says_what_each_flag_takes() {
    let sandbox = Sandbox::new();
    for verb in verbs(&sandbox) {
        let help = sandbox.data(&[&verb, "--help"]);
        assert!(
            help.contains("Examples:\n  lastmile "),
            "{verb} has no examples: {help}"
        );
        for line in help.lines().filter(|line| line.trim_start().starts_with("lastmile ")) {
            assert!(
                line.len() <= 80,
                "{verb}: an example is wider than a narrow terminal: {line}"
            );
        }
    }
    assert!(sandbox.data(&["--help"]).contains("Exit codes:"));
}

#[test]
fn an_unknown_verb_or_flag_is_met_with_the_nearest() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["runs", "bulk"])
        .refused(2, &["unrecognized subcommand 'runs'", "'run'"]);
    sandbox
        .run(&["run", "bulk", "--repeat", "3"])
        .refused(2, &["--repeat", "--repeats"]);
    sandbox
        .run(&["run", "bulk", "--repeats", "0"])
        .refused(2, &["--repeats"]);
    sandbox.run(&[]).refused(2, &["Usage: lastmile"]);
}

/// Whether the emulated world works depends on the machine; the test is that the record and the exit code agree on it.
#[test]
fn doctor_says_what_this_machine_can_do_and_the_remedy_where_it_cannot() {
    let sandbox = Sandbox::new();
    let examined = sandbox.run(&["doctor", "--format", "json"]);
    let examination = crate::sandbox::parsed(&examined.stdout);
    assert_eq!(examination["schema"], "lastmile/doctor/1");
    let works = examination["emulated_world"].as_bool().expect("yes or no");
    assert_eq!(examined.code, Some(if works { 0 } else { 3 }), "{}", examined.stderr);
    for part in ["machine", "peers"] {
        for ability in examination[part].as_array().expect("abilities") {
            assert_eq!(ability["remedy"].is_null(), ability["standing"] == "ready", "{ability}");
        }
    }
    let shown = sandbox.run(&["doctor"]).stdout;
    assert!(shown.contains("The emulated world "), "{shown}");
}
