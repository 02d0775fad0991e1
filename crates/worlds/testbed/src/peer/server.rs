//! Starts a peer as a server, waits until it is ready, and reads its CPU time.

use super::environment::Inputs;
use super::error::PeerError;
use super::process::Process;
use super::process_tree;
use super::spec::PeerSpec;
use std::cell::Cell;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The timeout for `READY`: a Java server on a busy machine takes a few seconds. Our own choice.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A running peer that serves. Dropping this stops it; it also gets SIGTERM when the thread that started it ends.
#[derive(Debug)]
pub struct Server {
    process: Process,
    cpu_time: Cell<Duration>,
}

impl PeerSpec {
    /// Starts the peer as a server, and waits until it prints `READY`.
    ///
    /// `command_in` may change the command before it is run (put another program before it, or move it into a network namespace), as
    /// long as the server stays in the process group that the command leads. The calling thread must outlive the server, which gets
    /// SIGTERM when that thread ends.
    ///
    /// # Errors
    /// When the peer is not a server, does not support `inputs`, is not installed, or is not ready within a minute.
    pub fn start(
        &self,
        inputs: &Inputs,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Server, PeerError> {
        let program = ("server", self.server.as_ref());
        let mut process = self.start_program(program, inputs, Stdio::null(), command_in)?;
        let mut ended = None;
        let in_time = process.poll_until(START_TIMEOUT, |process, status| {
            // Read its output after its exit status, so that lines printed just before it exited are seen.
            let ready = process.output().lines().any(|line| line == "READY");
            ended = status.filter(|_| !ready);
            ready || ended.is_some()
        });
        match ended {
            Some(status) => Err(process.failed(format!("ended before it was ready, with {status}"))),
            None if in_time => Ok(Server {
                process,
                cpu_time: Cell::default(),
            }),
            None => Err(process.failed(format!("did not print READY within {START_TIMEOUT:?}"))),
        }
    }
}

impl Server {
    /// The id of the process that was started, which leads the process group.
    pub fn id(&self) -> u32 {
        self.process.id().as_raw().cast_unsigned()
    }

    /// The CPU time, user and system, that it and all its descendants have used so far.
    ///
    /// The value never decreases, although the time of a child that ends is rounded down to ticks.
    ///
    /// # Errors
    /// When it has ended.
    pub fn cpu_time(&self) -> io::Result<Duration> {
        let time = process_tree::cpu_time(self.process.id())?.max(self.cpu_time.get());
        self.cpu_time.set(time);
        Ok(time)
    }

    /// Ends it with SIGTERM; what is left of it after ten seconds is killed.
    ///
    /// # Errors
    /// When it had to be killed, which is a defect of the peer.
    pub fn stop(mut self) -> Result<(), PeerError> {
        self.process.end()
    }
}
