//! Crates know only the floors below them, as paths and manifests say, and no crate has grown beyond what one reader can hold.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most lines of code that a crate has, without its tests, comments and blank lines. Our own choice.
const LINES_MAX: usize = 7_000;

/// The folder whose crates do not know each other.
const PRODUCTS: &str = "products";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of `crates/`, lowest first, as the workspace's manifest lists them.
fn floors() -> Vec<String> {
    let manifest: toml::Table = std::fs::read_to_string(root().join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let members = manifest["workspace"]["default-members"].as_array().unwrap();
    let folder = |member: &toml::Value| {
        member
            .as_str()?
            .strip_prefix("crates/")?
            .split('/')
            .next()
            .map(str::to_owned)
    };
    members.iter().filter_map(folder).collect()
}

/// A crate under `crates/`: its floor, and the crates of ours that it depends on, tests and build scripts aside.
struct Crate {
    name: String,
    folder: PathBuf,
    floor: usize,
    known: Vec<String>,
}

/// Our crates, by cargo's own reading of their manifests.
fn crates() -> Vec<Crate> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let floors = floors();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .filter_map(|package| {
            let manifest = package["manifest_path"].as_str().unwrap();
            let floor = manifest.split("/crates/").nth(1)?.split('/').next()?;
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let known = dependencies
                .filter(|dependency| dependency["kind"].is_null() && !dependency["path"].is_null())
                .map(|dependency| dependency["name"].as_str().unwrap().to_owned());
            Some(Crate {
                name: package["name"].as_str().unwrap().to_owned(),
                folder: Path::new(manifest).parent().unwrap().to_owned(),
                floor: floors.iter().position(|name| name == floor).unwrap(),
                known: known.collect(),
            })
        })
        .collect()
}

#[test]
fn a_crate_knows_its_own_floor_and_those_below_and_products_do_not_know_each_other() {
    let crates = crates();
    let products = floors().iter().position(|name| name == PRODUCTS);
    for user in &crates {
        for name in &user.known {
            let known = crates.iter().find(|known| known.name == *name).unwrap();
            assert!(
                known.floor <= user.floor,
                "{} knows {name}, which stands above it",
                user.name
            );
            let both_products = Some(user.floor) == products && known.floor == user.floor;
            assert!(!both_products, "{} knows {name}: both are products", user.name);
        }
    }
}

/// The lines of a source file before its tests, without comments and blank lines.
fn lines_of_code(text: &str) -> usize {
    text.split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

/// The lines of code in a folder, without files of tests.
fn lines_in(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            if path.file_stem().is_some_and(|stem| stem == "tests") {
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
    for one in crates() {
        let lines = lines_in(&one.folder.join("src"));
        assert!(lines <= LINES_MAX, "{} has {lines} lines of code: split it", one.name);
    }
}

/// Every crate but those that drive real programs bans clocks and sockets.
#[test]
fn every_crate_without_a_clock_has_lints_that_say_so() {
    let with_a_clock = [
        "conform", "encode", "events", "lastmile", "monitor", "record", "testbed", "tune",
    ];
    for one in crates() {
        let name = one.name.strip_prefix("lastmile-").unwrap_or(&one.name);
        let lints = one.folder.join("clippy.toml").exists();
        assert_eq!(lints, !with_a_clock.contains(&name), "{name}");
    }
}
