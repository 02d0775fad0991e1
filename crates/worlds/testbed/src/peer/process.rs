//! Starts a peer's program and ends it with everything that it started.
//!
//! The program leads a process group, in which everything it starts is found. Its output goes to files in its state folder, so that it
//! never blocks on a pipe, and can be read after a failed run.

use super::error::PeerError;
use super::process_tree;
use super::spec::PeerSpec;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The timeout for ending on SIGTERM. Our own choice.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// The polling interval meanwhile. Our own choice.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A peer's program with everything that it starts. Dropping this ends it.
#[derive(Debug)]
pub(super) struct Process {
    name: String,
    child: Child,
    output: PathBuf,
    errors: PathBuf,
    ended: bool,
}

impl Process {
    /// Starts `command` as changed by `command_in`.
    pub(super) fn start(
        peer: &PeerSpec,
        mut command: Command,
        state: &Path,
        input: Stdio,
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
            .stdin(input)
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

    /// The id of the process that was started, which leads the process group.
    pub(super) fn id(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Its standard input, the first time, where it has one.
    pub(super) fn take_input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its standard output so far.
    pub(super) fn output(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.output).unwrap_or_default()).into_owned()
    }

    /// Polls `done` until it is true, and returns whether that was within `bound`. `done` gets the exit status once there is one.
    pub(super) fn poll_until(
        &mut self,
        bound: Duration,
        mut done: impl FnMut(&Self, Option<ExitStatus>) -> bool,
    ) -> bool {
        let deadline = Instant::now() + bound;
        loop {
            let status = self.status();
            if done(self, status) {
                return true;
            }
            if Instant::now() > deadline {
                return false;
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// Its exit status, if it has ended.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        // An error here would be a defect of ours; the process then counts as running until it is killed.
        self.child.try_wait().unwrap_or_default()
    }

    /// An error that says how it failed, with the end of its standard error.
    pub(super) fn failed(&self, what: String) -> PeerError {
        PeerError::Failed {
            name: self.name.clone(),
            what,
            stderr: last_lines(&self.errors),
        }
    }

    /// Ends it with SIGTERM; kills what is left of its process group after [`STOP_TIMEOUT`].
    pub(super) fn end(&mut self) -> Result<(), PeerError> {
        self.ended = true;
        let group = self.id();
        if self.status().is_none() {
            // It has not been waited for, so the id still belongs to it.
            let _ = kill(group, Signal::SIGTERM);
        }
        let is_gone = |_: &Self, status: Option<ExitStatus>| {
            // If /proc cannot be read, nothing more can be found out or done.
            status.is_some() && process_tree::living_in_group(group).unwrap_or_default().is_empty()
        };
        if self.poll_until(STOP_TIMEOUT, is_gone) {
            return Ok(());
        }
        let _ = killpg(group, Signal::SIGKILL);
        self.poll_until(STOP_TIMEOUT, is_gone);
        Err(PeerError::Killed {
            name: self.name.clone(),
            after: STOP_TIMEOUT,
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.ended {
            // A caller who needs to know whether it was killed calls `end`.
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

/// The last lines of a program's output: enough to see why it ended.
fn last_lines(path: &Path) -> String {
    let said = std::fs::read(path).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.trim_end().lines().collect();
    match lines.as_slice() {
        [] => "nothing".to_owned(),
        lines => lines[lines.len().saturating_sub(5)..].join("\n"),
    }
}
