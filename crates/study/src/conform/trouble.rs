//! Why did a case not end as it should?

use lastmile_payload::websocket::{Close, CloseCode};

/// What went otherwise than a case expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// The server did something else.
    #[error("{0}")]
    Broken(String),
    /// It did not so much as begin: no connection, or no answer that switches protocols.
    #[error("{0}")]
    NotOpened(String),
    /// Its answer takes up none of the offers that it was made.
    #[error("its answer {0} fits no offer that it may accept")]
    Misfit(String),
    /// It closed where something else was due.
    #[error("the server {}", closing(.0))]
    Closed(Close),
    /// It has not what the case asks about.
    #[error("{0}")]
    NotAsked(String),
}

impl Trouble {
    pub(super) fn broken(found: impl Into<String>) -> Self {
        Self::Broken(found.into())
    }

    pub(super) fn not_opened(found: impl Into<String>) -> Self {
        Self::NotOpened(found.into())
    }

    pub(super) fn not_asked(why: impl Into<String>) -> Self {
        Self::NotAsked(why.into())
    }
}

/// What a server does that sends this: `closes with 1002: no such opcode`.
pub(super) fn closing(close: &Close) -> String {
    if close.code == CloseCode::NONE {
        return "sends a close frame without a code".to_owned();
    }
    let colon = if close.reason.is_empty() { "" } else { ": " };
    // A reason is the server's own words, which may steer a terminal.
    format!("closes with {}{colon}{}", close.code.0, close.reason.escape_debug())
}
