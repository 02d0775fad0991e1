//! Does the simulated TCP send what a kernel's TCP sent, segment by segment?
//!
//! `tests/traces` holds a study, and of each of its parts what passed the server, which sends the data, over a kernel; `make traces`
//! records it anew. Here the same study runs in the simulated world, and is held against that.
//!
//! Compared are, in each direction in order: SYN, FIN and RST, sequence and acknowledgement numbers, payload, SACK blocks, what is resent, and
//! which frames the queue drops; and when each segment passed. Not compared are
//! - how segments of one direction lie between those of the other, beyond what their times say;
//! - PSH, which says how a program's writes fell to segments;
//! - the window that a receiver announces: it depends on how much memory the kernel's buffers take beside the data in them;
//! - what comes after the last segment with data: a world ends when the client has it all.

mod bounds;
mod trace;

use crate::place::{Place, parsed};
use std::fs;
use std::path::{Path, PathBuf};
use trace::Trace;

/// A part of the study, with what passed its server.
struct Traced {
    name: String,
    /// As the study has it.
    settings: String,
    /// As `lastmile inspect --segments` prints it.
    segments: String,
}

impl Traced {
    /// The file of the recorded trace.
    fn path(&self) -> PathBuf {
        folder().join(format!("{}.txt", self.name))
    }

    /// The settings, as a trace states them.
    fn stated(&self) -> String {
        let lines = self.settings.lines().map(|line| format!("#     {line}\n"));
        lines.collect()
    }

    fn trace(&self) -> Trace<'_> {
        Trace::read(&self.segments)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces")
}

/// Runs the study in a world; none where this machine has no such world.
fn run(world: &str) -> Option<Vec<Traced>> {
    let place = Place::new();
    let path = folder().join("study.toml");
    // One cell at a time: what is recorded does not wait for another cell's packets.
    let how = "--capture --no-report --threads 1 --cpu free --out run --format json --world";
    let words: Vec<&str> = ["run", path.to_str().unwrap()]
        .into_iter()
        .chain(how.split(' '))
        .chain([world])
        .collect();
    let ended = place.run(&words);
    if ended.code == Some(3) {
        eprintln!("skipped: {}", ended.stderr);
        return None;
    }
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for cell in parsed(&ended.stdout)["cells"].as_array().unwrap() {
        assert_eq!(cell["valid"], true, "other work disturbed this one: {cell}");
    }
    let files = fs::read_dir(place.path().join("run/captures")).unwrap();
    let files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let study = fs::read_to_string(path).unwrap();
    let parts = study.split("[[part]]\n").skip(1).map(|settings| {
        let name = settings.split('"').nth(1).unwrap().to_owned();
        let is_of_part =
            |file: &&String| file.starts_with(&format!("{name}-link-")) && file.ends_with("-server.pcapng");
        let file = files.iter().find(is_of_part).unwrap();
        Traced {
            segments: place.data(&["inspect", &format!("run/captures/{file}"), "--segments"]),
            settings: settings.trim_end().to_owned(),
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
    let simulated = run("sim").expect("every machine has the simulated world");
    let mut failures = Vec::new();
    for part in &simulated {
        let recorded = fs::read_to_string(part.path()).unwrap_or_default().replace("\r\n", "\n");
        assert!(
            recorded.contains(&part.stated()),
            "{} was recorded with other settings than the study has; run `make traces`",
            part.path().display()
        );
        match Trace::read(&recorded).compared(&part.trace()) {
            Ok(compared) => {
                println!("{}: {compared}", part.name);
                let bound = bounds::of(&part.name);
                if compared.largest > bound {
                    failures.push(format!("{}: {compared}, and may be {bound:?}", part.name));
                }
            }
            Err(why) => failures.push(format!("{}: {why}", part.name)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Records the traces of this machine's kernel, which must be the same twice: what it sends by chance is nothing to be held against.
fn record() {
    let (Some(traces), Some(again)) = (run("emu"), run("emu")) else {
        panic!("this machine has no emulated world to record in; `lastmile doctor` says why");
    };
    for (trace, again) in traces.iter().zip(&again) {
        match trace.trace().compared(&again.trace()) {
            Ok(compared) => println!("{}, twice over the kernel: {compared}", trace.name),
            Err(why) => panic!("{} is not the same twice over this kernel: {why}", trace.name),
        }
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    // What follows a hyphen is whoever built it.
    let kernel = release.trim().split('-').next().unwrap();
    for part in &traces {
        let head = format!(
            "# What passed the server over Linux {kernel}, whose settings are its own but for net.ipv4.tcp_no_metrics_save = 1 and Cubic, with\n\
             # seed 1; recorded by `make traces`. The part of study.toml:\n{}",
            part.stated()
        );
        fs::write(part.path(), head + &part.segments).unwrap();
    }
}
