//! What can be had of a peer that serves? That it is ready, and the CPU time that it has had.

use super::error::PeerError;
use super::inputs::Inputs;
use super::process::Process;
use super::process_tree;
use super::spec::PeerSpec;
use std::cell::Cell;
use std::io;
use std::process::Command;
use std::time::Duration;

/// How long a server may take to say `READY`: a Java server on a busy machine takes a few seconds. Our own choice.
const START_BOUND: Duration = Duration::from_secs(60);

/// A peer that serves. It is stopped when this is dropped, and told to end when the thread that started it is gone.
#[derive(Debug)]
pub struct Server {
    process: Process,
    cpu_time: Cell<Duration>,
}

impl PeerSpec {
    /// Starts it as a server, and waits until it says `READY`.
    ///
    /// `command_in` is handed the command before it is run, and decides where that is: it may change it as it likes (another
    /// program before it, or a network namespace), as long as the server stays in the process group that the command begins. The
    /// calling thread must live as long as the server is to: its end is the server's.
    ///
    /// # Errors
    /// When it is no server, does not do what `inputs` ask for, is not installed, or is not ready within a minute.
    pub fn start(
        &self,
        inputs: &Inputs,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Server, PeerError> {
        let program = self.program(self.server.as_ref(), "server", inputs)?;
        self.is_present()?;
        let command = inputs.command(self, &program.command);
        let mut process = Process::start(self, command, &inputs.state, command_in)?;
        let mut ended = None;
        let in_time = process.watch(START_BOUND, |process, status| {
            // It is looked at last what it said, so that nothing it said before it ended is missed.
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
            None => Err(process.failed(format!("did not say READY within {START_BOUND:?}"))),
        }
    }
}

impl Server {
    /// The process that was started, which leads the process group.
    pub fn id(&self) -> u32 {
        self.process.id().as_raw().cast_unsigned()
    }

    /// The CPU time, user and system, that it and all its descendants have had. The difference of two is what was spent between.
    ///
    /// It never goes back: of a child that ends the time is known in ticks only, and what rounding would take away is kept.
    ///
    /// # Errors
    /// When it has ended.
    pub fn cpu_time(&self) -> io::Result<Duration> {
        let time = process_tree::cpu_time(self.process.id())?.max(self.cpu_time.get());
        self.cpu_time.set(time);
        Ok(time)
    }

    /// Ends it, by SIGTERM; what is left of it after ten seconds is killed.
    ///
    /// # Errors
    /// When it had to be killed, which is a defect of the peer.
    pub fn stop(mut self) -> Result<(), PeerError> {
        self.process.end()
    }
}
