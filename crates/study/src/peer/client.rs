//! What does a peer that is run to its end tell?

use super::error::PeerError;
use super::inputs::Inputs;
use super::process::Process;
use super::spec::PeerSpec;
use serde_json::Value;
use std::io;
use std::process::Command;
use std::time::Duration;

/// How long a client may take. Our own choice.
const RUN_BOUND: Duration = Duration::from_secs(600);

impl PeerSpec {
    /// Runs it as a client to its end, and gives what it told: a JSON object a line, each with its `event`. For `command_in` see
    /// [`start`](Self::start).
    ///
    /// # Errors
    /// When it is no client, does not do what `inputs` ask for, is not installed, fails, says what is no JSON, does not say `end`, or
    /// does not end within ten minutes.
    pub fn run(
        &self,
        inputs: &Inputs,
        command_in: &dyn Fn(&mut Command) -> io::Result<()>,
    ) -> Result<Vec<Value>, PeerError> {
        let program = self.program(self.client.as_ref(), "client", inputs)?;
        self.is_present()?;
        let command = inputs.command(self, &program.command);
        let mut process = Process::start(self, command, &inputs.state, command_in)?;
        let mut ended = None;
        process.watch(RUN_BOUND, |_, status| {
            ended = status;
            ended.is_some()
        });
        match ended {
            None => return Err(process.failed(format!("did not end within {RUN_BOUND:?}"))),
            Some(status) if !status.success() => return Err(process.failed(format!("ended with {status}"))),
            Some(_) => {}
        }
        let told = process.output();
        let told: Result<Vec<Value>, _> = told.lines().map(serde_json::from_str).collect();
        let told = told.map_err(|error| process.failed(format!("told what is no JSON: {error}")))?;
        if told.last().is_none_or(|last| last["event"] != "end") {
            return Err(process.failed("ended without saying so by the event \"end\"".to_owned()));
        }
        Ok(told)
    }
}
