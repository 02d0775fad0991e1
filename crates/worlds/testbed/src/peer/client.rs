//! Runs a peer as a client and reads its events: to its end, or command by command.

use super::environment::Inputs;
use super::error::PeerError;
use super::process::Process;
use super::spec::PeerSpec;
use serde_json::Value;
use std::io::{self, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;

impl PeerSpec {
    /// Runs the peer as a client to its end, and returns its output: one JSON object per line, each with its `event`. For `command_in`
    /// see [`start`](Self::start).
    ///
    /// # Errors
    /// When the peer is not a client, does not support `inputs`, is not installed, fails, prints a line that is not JSON, does not print
    /// the event `end`, or does not end within `timeout`.
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
        let program = ("client", self.client.as_ref());
        let process = self.start_program(program, inputs, Stdio::null(), command_in)?;
        Ok(RunningClient(process))
    }

    /// Starts the peer as a client that reads commands, each a line of its standard input, up to its end. Dropping the result ends it.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn converse(
        &self,
        inputs: &Inputs,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Conversation, PeerError> {
        let program = ("client", self.client.as_ref());
        let mut process = self.start_program(program, inputs, Stdio::piped(), command_in)?;
        let input = process.take_input();
        Ok(Conversation {
            process,
            input,
            heard: 0,
        })
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
        let output = process.output();
        let output: Result<Vec<Value>, _> = output.lines().map(serde_json::from_str).collect();
        let output = output.map_err(|error| process.failed(format!("printed a line that is not JSON: {error}")))?;
        if output.last().is_none_or(|last| last["event"] != "end") {
            return Err(process.failed("ended without the event \"end\"".to_owned()));
        }
        Ok(output)
    }
}

/// A peer that runs as a client and reads commands.
#[derive(Debug)]
pub struct Conversation {
    process: Process,
    input: Option<ChildStdin>,
    /// The bytes of its output that were read.
    heard: usize,
}

impl Conversation {
    /// Gives it a command.
    ///
    /// # Errors
    /// When it reads no more.
    pub fn tell(&mut self, command: &str) -> Result<(), PeerError> {
        let output = self.input.as_mut().map(|input| writeln!(input, "{command}"));
        match output {
            Some(Ok(())) => Ok(()),
            _ => Err(self.process.failed(format!("does not read the command {command:?}"))),
        }
    }

    /// Awaits the next event of that name, and passes over others.
    ///
    /// # Errors
    /// When it ends before, prints a line that is not JSON, or does not print the event within `timeout`.
    pub fn await_event(&mut self, name: &str, timeout: Duration) -> Result<Value, PeerError> {
        let mut heard = self.heard;
        let mut found = None;
        self.process.poll_until(timeout, |process, status| {
            let output = process.output();
            while let Some(length) = output[heard..].find('\n') {
                let line = &output[heard..heard + length];
                heard += length + 1;
                match serde_json::from_str::<Value>(line) {
                    Ok(event) if event["event"] != name => {}
                    output => {
                        found = Some(output);
                        return true;
                    }
                }
            }
            status.is_some()
        });
        self.heard = heard;
        match found {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.process.failed(format!("printed a line that is not JSON: {error}"))),
            None => {
                let what = format!("did not tell {name:?} before its end or within {timeout:?}");
                Err(self.process.failed(what))
            }
        }
    }
}
