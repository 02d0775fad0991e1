//! Runs a peer as a client to its end, and reads its events.

use super::environment::Inputs;
use super::error::PeerError;
use super::process::Process;
use super::spec::PeerSpec;
use serde_json::Value;
use std::io;
use std::process::Command;
use std::time::Duration;

/// The timeout of a client. Our own choice.
const RUN_TIMEOUT: Duration = Duration::from_secs(600);

impl PeerSpec {
    /// Runs the peer as a client to its end, and returns its output: one JSON object per line, each with its `event`. For `command_in`
    /// see [`start`](Self::start).
    ///
    /// # Errors
    /// When the peer is not a client, does not support `inputs`, is not installed, fails, prints a line that is not JSON, does not print
    /// the event `end`, or does not end within ten minutes.
    pub fn run(
        &self,
        inputs: &Inputs,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Vec<Value>, PeerError> {
        self.run_within(RUN_TIMEOUT, inputs, command_in)
    }

    /// The same with a timeout of one's own, for a client that waits for a slow link.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_within(
        &self,
        timeout: Duration,
        inputs: &Inputs,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Vec<Value>, PeerError> {
        self.begin(inputs, command_in)?.end_within(timeout)
    }

    /// Starts the peer as a client. Dropping the result ends it.
    ///
    /// # Errors
    /// When the peer is not a client, does not support `inputs`, is not installed, or cannot be started.
    pub fn begin(
        &self,
        inputs: &Inputs,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<RunningClient, PeerError> {
        let program = self.program(self.client.as_ref(), "client", inputs)?;
        self.is_present()?;
        let command = inputs.command(self, program);
        Process::start(self, command, &inputs.state, command_in).map(RunningClient)
    }
}

/// A peer that runs as a client.
#[derive(Debug)]
pub struct RunningClient(Process);

impl RunningClient {
    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.0.status().is_some()
    }

    /// Waits for its end, and returns its output.
    ///
    /// # Errors
    /// When it fails, prints a line that is not JSON, does not print the event `end`, or does not end within `timeout`.
    pub fn end_within(self, timeout: Duration) -> Result<Vec<Value>, PeerError> {
        let Self(mut process) = self;
        let mut ended = None;
        process.poll_until(timeout, |_, status| {
            ended = status;
            ended.is_some()
        });
        match ended {
            None => return Err(process.failed(format!("did not end within {timeout:?}"))),
            Some(status) if !status.success() => return Err(process.failed(format!("ended with {status}"))),
            Some(_) => {}
        }
        let told = process.output();
        let told: Result<Vec<Value>, _> = told.lines().map(serde_json::from_str).collect();
        let told = told.map_err(|error| process.failed(format!("printed a line that is not JSON: {error}")))?;
        if told.last().is_none_or(|last| last["event"] != "end") {
            return Err(process.failed("ended without the event \"end\"".to_owned()));
        }
        Ok(told)
    }
}
