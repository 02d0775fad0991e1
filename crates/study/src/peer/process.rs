//! How is a peer's program started and ended, so that nothing of it is left?
//!
//! It begins a process group, which is how it is found again whatever it starts. Its output goes to files in its state folder, for a
//! reader of a failed run, and so that it never waits for one.

use super::error::PeerError;
use super::process_tree;
use super::spec::PeerSpec;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a program may take to end on SIGTERM. Our own choice.
const STOP_BOUND: Duration = Duration::from_secs(10);
/// How often it is looked after meanwhile. Our own choice.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A peer's program with all that it starts. It is ended when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    name: String,
    child: Child,
    output: PathBuf,
    errors: PathBuf,
    ended: bool,
}

impl Process {
    /// Starts `command`, where `command_in` wants it.
    pub(super) fn start(
        peer: &PeerSpec,
        mut command: Command,
        state: &Path,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Self, PeerError> {
        let program = PathBuf::from(command.get_program());
        let not_run = |error| PeerError::Run {
            name: peer.name.clone(),
            program: program.clone(),
            error,
        };
        let output = state.join("stdout.log");
        let errors = state.join("stderr.log");
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(create(&output)?)
            .stderr(create(&errors)?);
        command_in(&mut command).map_err(not_run)?;
        Ok(Self {
            name: peer.name.clone(),
            child: command.spawn().map_err(not_run)?,
            output,
            errors,
            ended: false,
        })
    }

    /// The process that was started, which leads the process group.
    pub(super) fn id(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// What it has written to its standard output.
    pub(super) fn output(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.output).unwrap_or_default()).into_owned()
    }

    /// Looks at it again and again until `done`, which is told how it ended once it has; says whether that was within `bound`.
    pub(super) fn watch(&mut self, bound: Duration, mut done: impl FnMut(&Self, Option<ExitStatus>) -> bool) -> bool {
        let deadline = Instant::now() + bound;
        loop {
            let status = self.status();
            if done(self, status) {
                return true;
            }
            if Instant::now() > deadline {
                return false;
            }
            sleep(LOOK_AGAIN);
        }
    }

    /// How it ended, where it has.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        // That it cannot be waited for would be a defect of ours; it is then taken to run, until it is killed.
        self.child.try_wait().unwrap_or_default()
    }

    /// An error that says how it failed, and what it said.
    pub(super) fn failed(&self, what: String) -> PeerError {
        PeerError::Failed {
            name: self.name.clone(),
            what,
            said: last_lines(&self.errors),
        }
    }

    /// Ends it, by SIGTERM; what is left of it and all that it started after [`STOP_BOUND`] is killed.
    pub(super) fn end(&mut self) -> Result<(), PeerError> {
        self.ended = true;
        let group = self.id();
        if self.status().is_none() {
            // It has not been waited for, so the id is still its own.
            let _ = kill(group, Signal::SIGTERM);
        }
        let is_gone = |_: &Self, status: Option<ExitStatus>| {
            // Where /proc cannot be read there is nothing more to be found out, or done.
            status.is_some() && process_tree::living_in_group(group).unwrap_or_default().is_empty()
        };
        if self.watch(STOP_BOUND, is_gone) {
            return Ok(());
        }
        let _ = killpg(group, Signal::SIGKILL);
        self.watch(STOP_BOUND, is_gone);
        Err(PeerError::Killed {
            name: self.name.clone(),
            after: STOP_BOUND,
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.ended {
            // Whoever cares whether it had to be killed calls `end`.
            let _ = self.end();
        }
    }
}

fn create(path: &Path) -> Result<File, PeerError> {
    File::create(path).map_err(|error| PeerError::File {
        path: path.to_owned(),
        error,
    })
}

/// What a program said last: enough to see why it ended.
fn last_lines(path: &Path) -> String {
    let said = std::fs::read(path).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.trim_end().lines().collect();
    match lines.as_slice() {
        [] => "nothing".to_owned(),
        lines => lines[lines.len().saturating_sub(5)..].join("\n"),
    }
}
