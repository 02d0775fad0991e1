//! The exit codes, and the mapping of errors to them.

use crate::output;
use lastmile_monitor::client::ClientError;
use lastmile_study::runner::RunError;
use std::process::ExitCode;

/// The end of a verb that met no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success: 0.
    Done,
    /// Some cells of a study failed, or every request of a load's run; what did not fail is kept: 4.
    CellsFailed,
    /// A threshold or a rule was broken: 99, as in k6.
    Broken,
    /// A rule could not be decided with these runs: 2, as for other input that gives no answer.
    Undecided,
    /// The exit code of the command that was run.
    Command(u8),
    /// Ctrl-C was pressed: 130, that is 128 plus the number of SIGINT, as in shells.
    Interrupted,
}

impl Exit {
    /// The exit of a check.
    pub(crate) const fn of_check(holds: bool) -> Self {
        if holds { Self::Done } else { Self::Broken }
    }

    /// The code for the shell.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::CellsFailed => 4,
            Self::Broken => 99,
            Self::Undecided => USAGE,
            Self::Command(code) => code,
            Self::Interrupted => 130,
        }
    }
}

/// Wrong usage, configuration or input.
const USAGE: u8 = 2;
/// Not possible on this machine or in this build, or a monitor that does not answer.
const UNABLE: u8 = 3;

/// An error of this machine or this build: what it cannot do, and what is missing.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UnavailableError(pub(crate) String);

/// The exit code of a verb's result; an error is printed on stderr.
pub(crate) fn report_result(ended: anyhow::Result<Exit>) -> ExitCode {
    match ended {
        Ok(exit) => exit.code().into(),
        Err(error) => {
            output::note(&format!("error: {}", error_chain(&error)));
            code_of(&error).into()
        }
    }
}

fn code_of(error: &anyhow::Error) -> u8 {
    let unable = error.chain().any(|cause| {
        #[cfg(target_os = "linux")]
        if cause.is::<lastmile_world::emu::Unavailable>() {
            return true;
        }
        let has_no_answer = cause.downcast_ref().is_some_and(ClientError::has_no_answer);
        cause.is::<UnavailableError>() || has_no_answer || cause.is::<RunError>()
    });
    if unable { UNABLE } else { USAGE }
}

/// The error with its causes. A cause that a message quotes already is not repeated.
fn error_chain(error: &anyhow::Error) -> String {
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
        assert_eq!(error_chain(&quoted), "traffic: x.har: no such file");
    }

    #[test]
    fn what_the_machine_cannot_do_is_told_from_what_the_user_did_wrong() {
        assert_eq!(code_of(&anyhow!("a typing error")), 2);
        assert_eq!(
            code_of(&anyhow::Error::new(UnavailableError("no namespaces".into())).context("world")),
            3
        );
    }
}
