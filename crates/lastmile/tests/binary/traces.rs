//! Compares the simulated TCP with a kernel's TCP, segment by segment.
//!
//! `tests/traces` holds a study, and for each of its parts a trace of a kernel, recorded at the server, which sends the data; `make traces`
//! records them again. Here the same study runs in the simulated world, and its traces are compared with those.
//!
//! The tests compare, in order, everything that the server sends, and everything that the client sends except pure acknowledgements: SYN, FIN and
//! RST, sequence and acknowledgement numbers, payload, SACK blocks, retransmissions, the frames that the queue drops, and the time of each. For
//! pure acknowledgements, they compare the acknowledged numbers over time: the kernel does not always delay the same ones. Not compared are
//! - PSH, which depends on how a program's writes fall into segments;
//! - the announced window: it depends on the memory overhead of the kernel's buffers;
//! - what comes after the last segment with data: a world ends when the client has all data.

mod agreement;
mod trace;

use crate::sandbox::{Sandbox, parsed};
use agreement::{AGREEMENTS, Agreement};
use std::fs;
use std::path::{Path, PathBuf};
use trace::Trace;

/// A part of the study, with the trace at its server.
struct Traced {
    name: String,
    /// The seed and the part, from the study.
    settings: String,
    /// The trace, as `lastmile inspect --segments` prints it.
    segments: String,
}

impl Traced {
    /// The file of the recorded trace.
    fn path(&self) -> PathBuf {
        folder().join(format!("{}.txt", self.name))
    }

    /// The recorded trace.
    fn recorded(&self) -> String {
        let recorded = fs::read_to_string(self.path())
            .unwrap_or_default()
            .replace("\r\n", "\n");
        assert!(
            recorded.contains(&self.stated()),
            "{} was recorded with other settings than the study has; run `make traces`",
            self.path().display()
        );
        recorded
    }

    /// The settings, as a trace states them.
    fn stated(&self) -> String {
        let lines = self.settings.lines().map(|line| format!("#     {line}\n"));
        lines.collect()
    }

    /// How far its traces must agree.
    fn agreement(&self) -> Agreement {
        let known = AGREEMENTS.iter().find(|agreement| agreement.part == self.name);
        *known.unwrap_or_else(|| panic!("the study has a part {:?}, and `agreement` has none", self.name))
    }

    /// Compares a trace of the same part with this one; returns the result.
    fn compared(&self, segments: &str, agreement: &Agreement) -> Result<String, String> {
        let (ours, theirs) = (Trace::read(&self.segments, agreement), Trace::read(segments, agreement));
        let named = |text: String| format!("{}: {text}", self.name);
        ours.compared(&theirs, agreement)
            .map(|compared| named(compared.to_string()))
            .map_err(named)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

/// Runs the study in a world, with a further fixed setting; none where this machine has no such world.
fn run(world: &str, fixed: &str) -> Option<Vec<Traced>> {
    let sandbox = Sandbox::new();
    let study = fs::read_to_string(folder().join("study.toml"))
        .unwrap()
        .replace("\r\n", "\n");
    let file = sandbox.file("study.toml", study.replace("[fixed]\n", &format!("[fixed]\n{fixed}\n")));
    // One cell at a time, so that no packet waits for those of another cell.
    let how = "--capture --no-report --threads 1 --cpu free --out run --format json --world";
    let ended = sandbox.run(
        &["run", file]
            .into_iter()
            .chain(how.split(' '))
            .chain([world])
            .collect::<Vec<_>>(),
    );
    if ended.code == Some(3) {
        eprintln!("skipped: {}", ended.stderr);
        return None;
    }
    ended.succeeded();
    for cell in parsed(&ended.stdout)["cells"].as_array().unwrap() {
        assert_eq!(cell["valid"], true, "other work disturbed this one: {cell}");
    }
    let files = fs::read_dir(sandbox.path().join("run/captures")).unwrap();
    let files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let seed = study.lines().find(|line| line.starts_with("seed = ")).unwrap();
    let parts = study.split("[[part]]\n").skip(1).map(|settings| {
        let name = settings.split('"').nth(1).unwrap().to_owned();
        let is_of_part =
            |file: &&String| file.starts_with(&format!("{name}-link-")) && file.ends_with("-server.pcapng");
        let file = files.iter().find(is_of_part).unwrap();
        Traced {
            segments: sandbox.data(&["inspect", &format!("run/captures/{file}"), "--segments"]),
            settings: format!("{seed}\n{}", settings.trim_end()),
            name,
        }
    });
    Some(parts.collect())
}

#[test]
fn the_simulated_tcp_sends_what_a_kernels_tcp_sent_segment_by_segment() {
    if std::env::var("UPDATE_TRACES").is_ok() {
        record();
    }
    let simulated = run("sim", "").expect("every machine has the simulated world");
    let mut failures = Vec::new();
    for part in &simulated {
        match part.compared(&part.recorded(), &part.agreement()) {
            Ok(compared) => println!("{compared}"),
            Err(why) => failures.push(why),
        }
    }
    assert_eq!(simulated.len(), AGREEMENTS.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_tcp_that_begins_with_one_segment_less_is_told_from_the_kernels_in_every_trace_of_bulk() {
    for part in run("sim", "initial_window = 9").expect("every machine has the simulated world") {
        // A response of 6 kB fits in either window.
        let ended = part.compared(&part.recorded(), &part.agreement());
        assert_eq!(ended.is_err(), part.name != "tail-losses", "{ended:?}");
    }
}

/// Records the traces of this machine's kernel, which must be the same twice: what it sends by chance is no reference.
fn record() {
    let (Some(traces), Some(again)) = (run("emu", ""), run("emu", "")) else {
        panic!("this machine has no emulated world to record in; `lastmile doctor` says why");
    };
    for (trace, again) in traces.iter().zip(&again) {
        match trace.compared(&again.segments, &trace.agreement().of_two_recordings()) {
            Ok(compared) => println!("twice over the kernel: {compared}"),
            Err(why) => panic!("not the same twice over this kernel: {why}"),
        }
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    // The text after a hyphen names the builder.
    let kernel = release.trim().split('-').next().unwrap();
    for part in &traces {
        let head = format!(
            "# What passed the server over Linux {kernel}, recorded by `make traces`. The kernel's settings are its own, but for Cubic and\n\
             # net.ipv4.tcp_no_metrics_save = 1; those of the study are\n{}",
            part.stated()
        );
        fs::write(part.path(), head + &part.segments).unwrap();
    }
}
