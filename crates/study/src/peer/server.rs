//! How is a server started, watched and ended, so that nothing of it is left?
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

/// How long a server may take to say `READY`: a Java server on a busy machine takes a few seconds. Our own choice.
const START_BOUND: Duration = Duration::from_secs(60);
/// How long a server may take to end on SIGTERM. Our own choice.
const STOP_BOUND: Duration = Duration::from_secs(10);
/// How often it is looked after meanwhile. Our own choice.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A peer that serves. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Server {
    name: String,
    child: Child,
    stopped: bool,
}

impl Server {
    pub(super) fn start(
        peer: &PeerSpec,
        mut command: Command,
        state: &Path,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Self, PeerError> {
        let name = peer.name.clone();
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
        let child = command.spawn().map_err(not_run)?;
        let mut server = Self {
            name,
            child,
            stopped: false,
        };
        match server.wait_until_ready(&output) {
            Ok(()) => Ok(server),
            Err(what) => Err(PeerError::NotReady {
                name: peer.name.clone(),
                what,
                said: last_lines(&errors),
            }),
        }
    }

    /// The process that was started, which leads the process group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The CPU time, user and system, that it and all its descendants have had. The difference of two is what was spent between.
    ///
    /// # Errors
    /// When it has ended.
    pub fn cpu_time(&self) -> io::Result<Duration> {
        process_tree::cpu_time(self.process())
    }

    /// Ends it, by SIGTERM; what is left of it after ten seconds is killed.
    ///
    /// # Errors
    /// When it had to be killed, which is a defect of the peer.
    pub fn stop(mut self) -> Result<(), PeerError> {
        self.end()
    }

    fn process(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    fn wait_until_ready(&mut self, output: &Path) -> Result<(), String> {
        let deadline = Instant::now() + START_BOUND;
        loop {
            let said = std::fs::read_to_string(output).unwrap_or_default();
            if said.lines().any(|line| line == "READY") {
                return Ok(());
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("ended before it was ready, with {status}"));
            }
            if Instant::now() > deadline {
                return Err(format!("did not say READY within {START_BOUND:?}"));
            }
            sleep(LOOK_AGAIN);
        }
    }

    fn end(&mut self) -> Result<(), PeerError> {
        self.stopped = true;
        let group = self.process();
        // A process that has ended cannot be told to; and until it is waited for, its id is no other's.
        let _ = kill(group, Signal::SIGTERM);
        let deadline = Instant::now() + STOP_BOUND;
        let mut killed = false;
        while self.lives(group) {
            if Instant::now() > deadline {
                killed = true;
                let _ = killpg(group, Signal::SIGKILL);
            }
            sleep(LOOK_AGAIN);
        }
        if killed {
            return Err(PeerError::Killed {
                name: self.name.clone(),
                after: STOP_BOUND,
            });
        }
        Ok(())
    }

    /// Whether it, or anything that it started, still runs.
    fn lives(&mut self, group: Pid) -> bool {
        let ended: Option<ExitStatus> = self.child.try_wait().unwrap_or_default();
        // Where /proc cannot be read there is nothing more to be found out, or done.
        ended.is_none() || !process_tree::living_in_group(group).unwrap_or_default().is_empty()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !self.stopped {
            // Whoever cares whether it had to be killed calls `stop`.
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

/// What a server said last: enough to see why it ended.
fn last_lines(path: &Path) -> String {
    let said = std::fs::read(path).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.trim_end().lines().collect();
    match lines.as_slice() {
        [] => "nothing".to_owned(),
        lines => lines[lines.len().saturating_sub(5)..].join("\n"),
    }
}
