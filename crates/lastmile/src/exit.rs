//! How did it end? The exit codes, and which error is which.

use crate::output;
use lastmile_study::runner::RunError;
use std::process::ExitCode;

/// How a verb ended that was not stopped by an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well: 0.
    Done,
    /// Some cells failed; the results of the others are kept: 4.
    CellsFailed,
    /// A threshold or a rule was broken: 99, as k6 has it.
    Broken,
    /// A command that was run ended with this, and so does its verb.
    Command(u8),
    /// Someone pressed Ctrl-C: 130, that is 128 and the number of SIGINT, as shells have it.
    Interrupted,
}

impl Exit {
    /// What the shell is told.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CellsFailed => 4,
            Self::Broken => 99,
            Self::Command(code) => code,
            Self::Interrupted => 130,
        }
    }
}

/// Wrong usage, configuration or input.
const USAGE: u8 = 2;
/// This machine or this build cannot.
const UNABLE: u8 = 3;

/// What this machine or this build cannot do, and what is missing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unable(pub(crate) String);

/// The exit code of what a verb came to; an error is told on stderr.
pub(crate) fn told(ended: anyhow::Result<Exit>) -> ExitCode {
    match ended {
        Ok(exit) => exit.code().into(),
        Err(error) => {
            output::remark(&format!("error: {}", said(&error)));
            code_of(&error).into()
        }
    }
}

fn code_of(error: &anyhow::Error) -> u8 {
    let unable = error.chain().any(|cause| {
        let run = cause.downcast_ref::<RunError>();
        cause.is::<Unable>() || matches!(run, Some(RunError::Journal(_)))
    });
    if unable { UNABLE } else { USAGE }
}

/// The error with what led to it. Many messages quote their cause already, and it is not said twice.
fn said(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            let join = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{join}{cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn a_cause_that_is_quoted_already_is_not_said_twice() {
        let quoted = anyhow!("no such file")
            .context("x.har: no such file")
            .context("traffic");
        assert_eq!(said(&quoted), "traffic: x.har: no such file");
    }

    #[test]
    fn what_the_machine_cannot_do_is_told_from_what_the_user_did_wrong() {
        assert_eq!(code_of(&anyhow!("a typing error")), 2);
        assert_eq!(
            code_of(&anyhow::Error::new(Unable("no namespaces".into())).context("world")),
            3
        );
    }
}
