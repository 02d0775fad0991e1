//! The errors of reading, starting and stopping a peer.

use std::path::PathBuf;
use std::time::Duration;

/// Why a peer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// There is no folder of peers.
    #[error(
        "no folder of peers at {tried}; set LASTMILE_PEERS to it, or start lastmile in the folder that contains `peers/`"
    )]
    NoFolder {
        /// The paths that were tried.
        tried: String,
    },
    /// There is no peer with this name.
    #[error("no peer is named {name:?} in {}{suggestion}", folder.display())]
    Unknown {
        /// The name asked for.
        name: String,
        /// The folder of peers.
        folder: PathBuf,
        /// The nearest name, as a question.
        suggestion: String,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A `peer.toml` is invalid.
    #[error("{}: {problem}", path.display())]
    Spec {
        /// Which one.
        path: PathBuf,
        /// What is wrong, with its line, and what would be right.
        problem: String,
    },
    /// The peer is not installed.
    #[error(transparent)]
    Missing(#[from] NotInstalled),
    /// The peer does not support what was requested.
    #[error("peer {name}: {problem}")]
    Refused {
        /// Which one.
        name: String,
        /// What was requested, and what the peer supports.
        problem: String,
    },
    /// Its program could not be run.
    #[error("peer {name}: {} could not be run: {error}", program.display())]
    Run {
        /// Which one.
        name: String,
        /// The program.
        program: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It ended too early or too late, or its output is invalid.
    #[error("peer {name} {what}; its standard error: {stderr}")]
    Failed {
        /// Which one.
        name: String,
        /// How it failed.
        what: String,
        /// The last lines of its standard error.
        stderr: String,
    },
    /// It did not end on SIGTERM.
    #[error(
        "peer {name} did not end within {after:?} of SIGTERM and was killed; a peer ends on SIGTERM with all its processes"
    )]
    Killed {
        /// Which one.
        name: String,
        /// The time it had.
        after: Duration,
    },
}

/// A peer is not installed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("peer {name} is not installed: {what}; {remedy}")]
pub struct NotInstalled {
    /// Which peer.
    pub name: String,
    /// What is missing.
    pub what: String,
    /// The command that installs it.
    pub remedy: String,
}
