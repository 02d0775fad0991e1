//! The graph of crates in ARCHITECTURE.md is the one that the manifests have, and no crate has grown beyond what one reader can hold.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The heading that the graph stands under.
const HEADING: &str = "## Who may know whom";

/// The most lines of code that a crate has, without its tests. Our own choice.
const LINES_MAX: usize = 11_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The crates of the graph in the order of its lines, each with the crates it may know.
fn drawn_graph() -> Vec<(String, BTreeSet<String>)> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text
        .split(HEADING)
        .nth(1)
        .expect("the heading stands in ARCHITECTURE.md");
    let block = section.split("```").nth(1).expect("a block follows the heading");
    let lines = block.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let (name, known) = line.split_once(':').unwrap_or_else(|| panic!("{line:?} has no colon"));
            let known = known.split_whitespace().map(str::to_owned).collect();
            (name.trim().to_owned(), known)
        })
        .collect()
}

/// Our crates under `crates/` and what each depends on, tests and build scripts aside.
fn built_graph() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let short = |name: &str| name.strip_prefix("lastmile-").unwrap_or(name).to_owned();
    let is_ours = |name: &str| name.starts_with("lastmile");
    let crates = metadata["packages"].as_array().unwrap().iter().filter(|package| {
        let manifest = package["manifest_path"].as_str().unwrap();
        manifest.contains("/crates/")
    });
    crates
        .map(|package| {
            let known = package["dependencies"].as_array().unwrap().iter();
            let known = known
                .filter(|dependency| dependency["kind"].is_null())
                .filter_map(|dependency| dependency["name"].as_str())
                .filter(|name| is_ours(name))
                .map(short);
            (short(package["name"].as_str().unwrap()), known.collect())
        })
        .collect()
}

#[test]
fn the_graph_of_crates_is_that_of_the_manifests() {
    let drawn = drawn_graph();
    let as_map: BTreeMap<_, _> = drawn.iter().cloned().collect();
    assert_eq!(as_map.len(), drawn.len(), "a crate stands twice in the graph");
    let built = built_graph();
    for (name, known) in &built {
        let expected = as_map
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in the graph of ARCHITECTURE.md"));
        assert_eq!(
            known, expected,
            "the dependencies of {name}: manifest (left), ARCHITECTURE.md (right)"
        );
    }
    assert_eq!(built.len(), drawn.len(), "the graph names a crate that is not there");
}

#[test]
fn each_crate_knows_only_crates_that_stand_above_it() {
    let mut above = BTreeSet::new();
    for (name, known) in drawn_graph() {
        assert!(known.is_subset(&above), "{name} knows a crate that stands below it");
        above.insert(name);
    }
}

/// The lines of a source file before its tests.
fn lines_of_code(text: &str) -> usize {
    text.split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text)
        .lines()
        .count()
}

/// The lines of code in a folder, without files of tests and the fixtures that tests share.
fn lines_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            if path
                .file_stem()
                .is_some_and(|stem| stem == "tests" || stem == "fixtures")
            {
                0
            } else if path.is_dir() {
                lines_in(&path)
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                lines_of_code(&std::fs::read_to_string(&path).unwrap())
            } else {
                0
            }
        })
        .sum()
}

#[test]
fn no_crate_is_too_large_for_one_reader() {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    for folder in crates.map(|entry| entry.unwrap().path()) {
        let lines = lines_in(&folder.join("src"));
        assert!(
            lines <= LINES_MAX,
            "{} has {lines} lines of code: split it",
            folder.display()
        );
    }
}

/// Every crate but those that drive real programs bans clocks and sockets.
#[test]
fn every_crate_without_a_clock_has_lints_that_say_so() {
    let with_a_clock = ["conform", "encode", "events", "lab", "lastmile", "monitor", "tune"];
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    for folder in crates.map(|entry| entry.unwrap().path()) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let lints = folder.join("clippy.toml").exists();
        assert_eq!(lints, !with_a_clock.contains(&name.as_str()), "{name}");
    }
}
