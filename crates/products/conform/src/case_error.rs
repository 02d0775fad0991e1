//! The ways in which a case fails.

use lastmile_websocket::{Close, CloseCode};

/// Why a case did not end as expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CaseError {
    /// The server broke the rule.
    #[error("{0}")]
    Broken(String),
    /// The WebSocket connection was not established: no TCP connection, or no answer that switches protocols.
    #[error("{0}")]
    NotOpened(String),
    /// The server's answer accepts none of the offers that were made.
    #[error("its answer {0} matches no offer that it may accept")]
    Misfit(String),
    /// The server closed where something else was due.
    #[error("the server {}", closing(.0))]
    Closed(Close),
    /// The server lacks the optional feature that the case tests.
    #[error("{0}")]
    NotApplicable(String),
}

impl CaseError {
    pub(super) fn broken(found: impl Into<String>) -> Self {
        Self::Broken(found.into())
    }

    pub(super) fn not_opened(found: impl Into<String>) -> Self {
        Self::NotOpened(found.into())
    }

    pub(super) fn not_applicable(why: impl Into<String>) -> Self {
        Self::NotApplicable(why.into())
    }
}

/// The end of a case that the server breaks.
pub(super) fn broken<T>(found: impl Into<String>) -> Result<T, CaseError> {
    Err(CaseError::broken(found))
}

/// The end of a case for which no connection opens.
pub(super) fn not_opened<T>(found: impl Into<String>) -> Result<T, CaseError> {
    Err(CaseError::not_opened(found))
}

/// A predicate for a server that sends this close frame: `closes with 1002: no such opcode`.
pub(super) fn closing(close: &Close) -> String {
    if close.code == CloseCode::NONE {
        return "sends a close frame without a code".to_owned();
    }
    let colon = if close.reason.is_empty() { "" } else { ": " };
    // The reason is foreign text, which might contain a terminal's control sequences.
    format!("closes with {}{colon}{}", close.code.0, close.reason.escape_debug())
}
