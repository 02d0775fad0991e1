//! What is said when a peer cannot be read, started or stopped?

use super::installed::Missing;
use std::path::PathBuf;
use std::time::Duration;

/// Why a peer is of no use just now.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// There is no folder of peers.
    #[error("no folder of peers at {tried}; name it with LASTMILE_PEERS, or start lastmile where `peers/` is")]
    NoFolder {
        /// Where one was looked for.
        tried: String,
    },
    /// There is no peer of that name.
    #[error("no peer is called {name:?} in {}{suggestion}", folder.display())]
    Unknown {
        /// The name asked for.
        name: String,
        /// Where peers are.
        folder: PathBuf,
        /// The nearest name, as a question.
        suggestion: String,
    },
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A `peer.toml` says what it must not.
    #[error("{}: {problem}", path.display())]
    Spec {
        /// Which.
        path: PathBuf,
        /// What, with its line, and what would be right.
        problem: String,
    },
    /// The peer is not installed.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The peer does not do what was asked for.
    #[error("peer {name}: {problem}")]
    Refused {
        /// Which.
        name: String,
        /// What was asked for, and what it does.
        problem: String,
    },
    /// Its program could not be run.
    #[error("peer {name}: {} could not be run: {error}", program.display())]
    Run {
        /// Which.
        name: String,
        /// The program.
        program: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It ended too early, or too late, or said what it must not.
    #[error("peer {name} {what}; it said: {said}")]
    Failed {
        /// Which.
        name: String,
        /// In which way.
        what: String,
        /// The last lines of its standard error.
        said: String,
    },
    /// It did not end on SIGTERM.
    #[error(
        "peer {name} did not end within {after:?} of SIGTERM and was killed; a peer ends on SIGTERM with all its processes"
    )]
    Killed {
        /// Which.
        name: String,
        /// How long was waited.
        after: Duration,
    },
}
