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
        let words: Vec<&str> = verb.split_whitespace().collect();
        for width in ["60", "80", "120"] {
            let output = sandbox.command(&words).env("COLUMNS", width).output().unwrap();
            let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            let case = format!("{verb} at {width}: {stdout}{stderr}");
            assert!(output.status.success(), "{case}");
            let lines: Vec<&str> = stdout.lines().collect();
            assert!(lines.len() <= LINES_MAX, "{} lines: {case}", lines.len());
            // Commands and names of files are never broken.
            let is_wide = |line: &&str| {
                line.chars().count() > width.parse().unwrap() && !line.starts_with("next: ") && !line.contains(".json")
            };
            assert_eq!(lines.iter().find(|line| is_wide(line)), None, "{case}");
            let last = lines.last().unwrap();
            assert!(
                last.starts_with("next: ") || last.ends_with(['.', '…']) || words[0] == "demo",
                "{case}"
            );
        }
    }
}
