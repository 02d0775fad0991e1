//! Runs the binary for a test, in a folder of its own.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The binary under test.
pub(crate) const LASTMILE: &str = env!("CARGO_BIN_EXE_lastmile");

/// An empty folder to run in.
pub(crate) struct Sandbox(TempDir);

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, and returns its name.
    pub(crate) fn file<'a>(&self, name: &'a str, content: impl AsRef<[u8]>) -> &'a str {
        std::fs::write(self.path().join(name), content).unwrap();
        name
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// The binary, to be run here with these words.
    pub(crate) fn command(&self, words: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(LASTMILE);
        command.args(words).current_dir(self.path()).stdin(Stdio::null());
        // However slow the machine is, stderr is the same.
        command.env("LASTMILE_PROGRESS", "0");
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        Ended::of(self.command(words).output().unwrap())
    }

    /// Likewise, with these bytes on standard input.
    pub(crate) fn piped(&self, words: &[&str], bytes: impl AsRef<[u8]>) -> Ended {
        let mut command = self.command(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses its options reads nothing.
        let _ = child.stdin.take().unwrap().write_all(bytes.as_ref());
        Ended::of(child.wait_with_output().unwrap())
    }

    /// Runs it, and returns stdout; it must succeed.
    pub(crate) fn data(&self, words: &[&str]) -> String {
        let ended = self.run(words);
        assert_eq!(ended.code, Some(0), "{words:?}: {}", ended.stderr);
        ended.stdout
    }

    /// Likewise, as JSON that has the shape of its schema.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        parsed(&self.data(words))
    }

    /// The folders under `runs/`, by name.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path().join("runs")).into_iter().flatten();
        let mut runs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts that it succeeded.
    #[track_caller]
    pub(crate) fn succeeded(&self) {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
    }

    /// Asserts that it was refused: this exit code, nothing on stdout, all of these words on stderr, and no panic.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        for words in said {
            assert!(self.stderr.contains(words), "{words:?} is not in: {}", self.stderr);
        }
        assert!(
            !self.stderr.contains("panicked") && !self.stderr.contains("RUST_BACKTRACE"),
            "{}",
            self.stderr
        );
    }
}

/// The record in a text, which must have the shape that the committed schema of its name says.
#[track_caller]
pub(crate) fn parsed(text: &str) -> Value {
    let record: Value = serde_json::from_str(text).unwrap();
    let name = record["schema"]
        .as_str()
        .expect("a record names its schema")
        .split('/')
        .nth(1)
        .unwrap();
    let path = format!("{}/../../schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    if let Err(error) = jsonschema::validator_for(&schema).unwrap().validate(&record) {
        panic!("{path}: {error} at {}", error.instance_path());
    }
    record
}

/// A record without the line that names its folder: everything else must be the same in every run.
pub(crate) fn without_run(text: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with("  \"run\":"));
    assert_eq!(text.lines().count(), kept.clone().count() + 1);
    kept.collect::<Vec<_>>().join("\n")
}
