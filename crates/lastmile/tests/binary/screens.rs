//! Every verb that answers does so on one screen of a terminal, at three widths, with the answer or the next step last.

use crate::inspect::captured;
use crate::sandbox::Sandbox;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// The lines of a terminal.
const LINES_MAX: usize = 24;

#[test]
fn each_answer_fits_a_screen_and_ends_with_the_answer_or_the_next_step() {
    let sandbox = Sandbox::new();
    for file in ["shop.har", "chat.txt", "service.jsonl"] {
        sandbox.file(file, std::fs::read(format!("{EXAMPLES}/{file}")).unwrap());
    }
    let load = ["load", "http://server/", "--world", "sim", "--duration", "1s"];
    sandbox.file("load.json", sandbox.data(&[&load[..], &["--format", "json"]].concat()));
    let capture = captured(&sandbox);
    let tune = "tune chat.txt --deflate-only --timing 0s --no-report";
    let verbs = [
        "demo",
        "advise shop.har --encodings gzip --repeats 1 --no-report",
        tune,
        &format!("{tune} --connections 50000 --rate 2"),
        "encode service.jsonl --no-timing --encodings json,msgpack --batches 1,10",
        "run bulk",
        &format!("inspect {capture}"),
        "compare load.json load.json",
        &load.join(" "),
    ];
    for verb in verbs {
        for (case, lines) in at_each_width(&sandbox, verb) {
            let last = lines.last().unwrap();
            assert!(
                last.starts_with("next: ") || last.ends_with(['.', '…']) || verb == "demo",
                "{case}"
            );
        }
    }
}

#[test]
fn each_list_fits_a_screen() {
    let sandbox = Sandbox::new();
    for verb in [
        "studies",
        "profiles list 3g",
        "profiles diff wpt/3g chrome/slow-3g",
        "run wireless-web --dry-run",
    ] {
        at_each_width(&sandbox, verb);
    }
}

#[test]
fn what_this_machine_can_do_fits_a_screen_whatever_that_is() {
    let sandbox = Sandbox::new();
    for width in ["60", "80", "120"] {
        let output = sandbox.command(&["doctor"]).env("COLUMNS", width).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_screen(&stdout, width, &stdout);
        assert!(stdout.ends_with("next: lastmile doctor --details\n"), "{stdout}");
    }
}

/// What a command prints at each width, with what to say where it is wrong.
fn at_each_width(sandbox: &Sandbox, verb: &str) -> Vec<(String, Vec<String>)> {
    let words: Vec<&str> = verb.split_whitespace().collect();
    let shown = |width| {
        let output = sandbox.command(&words).env("COLUMNS", width).output().unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let case = format!("{verb} at {width}: {stdout}{stderr}");
        assert!(output.status.success(), "{case}");
        assert_screen(&stdout, width, &case);
        (case, stdout.lines().map(str::to_owned).collect())
    };
    ["60", "80", "120"].map(shown).into()
}

/// At most [`LINES_MAX`] lines, none too wide, and no word cut in its middle; commands and names of files are never broken.
fn assert_screen(text: &str, width: &str, case: &str) {
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= LINES_MAX, "{} lines: {case}", lines.len());
    let is_whole = |line: &&&str| line.starts_with("next: ") || line.contains(".json");
    let is_cut = |line: &str| {
        line.match_indices('…')
            .any(|(at, _)| !line[..at].ends_with(' ') && line[at..].chars().nth(1).is_some_and(|c| c != ' '))
    };
    for line in lines.iter().filter(|line| !is_whole(line)) {
        assert!(line.chars().count() <= width.parse().unwrap(), "{line:?}: {case}");
        assert!(!is_cut(line), "{line:?}: {case}");
    }
}
