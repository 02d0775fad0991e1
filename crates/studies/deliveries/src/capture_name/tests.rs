use super::*;
use crate::tests::DELIVERIES;
use lastmile_study::cell::expand;
use lastmile_study::file::Study;
use lastmile_study::observation::Outcome;
use lastmile_study::runner::{Experiment, RunContext};
use lastmile_testbed::cpu_cost_model::CostTable;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const TOML: &str = "name = 't'\nquestion = ''\n[fixed]\nworkload = { name = '20 kB', kind = 'bulk', bytes = '20 kB' }\n\
                    delivery = 'tcp'\n[factors]\nlink = ['wpt/3g', 'wpt/3g+loss=5%']\n";

fn cells() -> Vec<Cell> {
    expand(&Study::parse("t.toml", TOML).unwrap()).unwrap().cells
}

fn outcomes(cell: &Cell, captures: Option<&Path>) -> Vec<Outcome> {
    let costs = CostTable::free();
    let context = RunContext {
        seed: Seed::new(1),
        repeats: 0..3,
        interval: Duration::from_secs(1),
        costs: &costs,
        captures,
        observer: None,
    };
    DELIVERIES.run(cell, &context)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn each_vantage_point_has_a_whole_capture_and_the_figures_are_the_same_without() {
    let folder = tempfile::tempdir().unwrap();
    for cell in cells() {
        let seen = outcomes(&cell, Some(folder.path()));
        assert!(seen.iter().all(Result::is_ok));
        assert_eq!(seen, outcomes(&cell, None), "watching changes nothing");
    }
    let names = names(folder.path());
    assert_eq!(
        names.len(),
        6,
        "two cells from two ends, and what the link dropped: {names:?}"
    );
    for name in names {
        let capture = std::fs::read(folder.path().join(&name)).unwrap();
        // Three transfers of 20 kB in one file, whose blocks have valid lengths and end where the file ends.
        assert!(name.ends_with("-drops.pcapng") || capture.len() > 60_000, "{name}");
        let says_why = capture.windows(20).any(|bytes| bytes == b"dropped: random loss");
        assert_eq!(
            says_why,
            name.contains("loss") && name.ends_with("-drops.pcapng"),
            "{name}"
        );
        assert_eq!(capture[..4], [0x0a, 0x0d, 0x0d, 0x0a], "{name}");
        let mut rest = &capture[..];
        while let Some(length) = rest.get(4..8) {
            rest = &rest[u32::from_le_bytes(length.try_into().unwrap()) as usize..];
        }
        assert!(rest.is_empty(), "{name}");
    }
}

#[test]
fn tshark_reads_a_capture_where_it_is_installed() {
    let folder = tempfile::tempdir().unwrap();
    outcomes(&cells()[0], Some(folder.path()))
        .into_iter()
        .for_each(|outcome| drop(outcome.unwrap()));
    for name in names(folder.path()) {
        let filter = "_ws.malformed || ip.checksum.status == 0 || tcp.checksum.status == 0";
        let checked = [
            "-o",
            "ip.check_checksum:TRUE",
            "-o",
            "tcp.check_checksum:TRUE",
            "-Y",
            filter,
        ];
        let read = Command::new("tshark")
            .arg("-r")
            .arg(folder.path().join(&name))
            .args(checked)
            .output();
        let Ok(read) = read else {
            eprintln!("tshark is not installed: captures are not compared with it");
            return;
        };
        let (found, said) = (
            String::from_utf8_lossy(&read.stdout),
            String::from_utf8_lossy(&read.stderr),
        );
        assert!(read.status.success() && found.is_empty(), "{name}: {found}{said}");
    }
}

#[test]
fn a_capture_that_cannot_be_written_fails_the_repeat_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let failed = outcomes(&cells()[0], Some(&folder.path().join("missing")));
    let reason = failed[0].as_ref().unwrap_err().to_string();
    assert!(
        reason.contains("the capture ") && reason.contains("missing") && reason.contains("cannot be written"),
        "{reason}"
    );
}

/// `/dev/full` acts like a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_fails_the_repeat_and_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let cell = &cells()[0];
    let path = folder.path().join(format!("{}-server.pcapng", name(cell, &(0..3))));
    std::os::unix::fs::symlink("/dev/full", path).unwrap();
    let failed = outcomes(cell, Some(folder.path()));
    let reason = failed[0].as_ref().unwrap_err().to_string();
    assert!(
        reason.contains("-server.pcapng cannot be written: No space left"),
        "{reason}"
    );
}

#[test]
fn a_name_can_be_read_is_short_and_is_no_other_cells() {
    let [plain, lossy] = &cells()[..] else { panic!() };
    let first = name(plain, &(0..5));
    assert!(
        first.starts_with("link-wpt-3g-") && first.ends_with("-runs-1-to-5"),
        "{first}"
    );
    assert!(name(lossy, &(4..5)).ends_with("-run-5"));
    let long = "part ".repeat(100);
    let described = |part: &str| Cell {
        part: Some(part.to_owned()),
        ..plain.clone()
    };
    let (one, other) = (described(&format!("{long}ä/1")), described(&format!("{long}ä/2")));
    assert_eq!(name(&one, &(0..1)).len(), READABLE + "-01234567-run-1".len());
    assert_eq!(name(&one, &(0..1)), name(&other, &(0..1)), "two parts share one work");
    assert_ne!(name(plain, &(0..1)), name(lossy, &(0..1)));
}
