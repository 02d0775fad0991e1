//! What is wrong with a link that was asked for?

/// A link, setting, profile or trace that cannot be used: where, what was found, and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A line of a delivery trace.
    #[error("delivery trace {trace:?}, line {line}: {problem}")]
    Trace {
        /// The trace's path.
        trace: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A delivery trace that could not be read.
    #[error("delivery trace {path:?} cannot be read: {problem}")]
    UnreadTrace {
        /// Its path, as written.
        path: String,
        /// Why not.
        problem: String,
    },
    /// A setting that is unknown, or whose value cannot be used.
    #[error("link {link:?}: {problem}")]
    Setting {
        /// The link as it was written.
        link: String,
        /// Which key, what value, and what would be right.
        problem: String,
    },
    /// No profile has this name.
    #[error("{name:?} is no link profile{meant} (`lastmile profiles list` names them all)")]
    UnknownProfile {
        /// The name.
        name: String,
        /// A question that names the nearest, or nothing.
        meant: String,
    },
    /// A link of the user's own that leaves out what no default can stand for.
    #[error("link {link:?} states no {missing}; write it like \"{link}+rate=512kbit/s+one_way_delay=50ms\"{meant}")]
    Incomplete {
        /// Its name.
        link: String,
        /// The settings that are missing.
        missing: String,
        /// A question that names the nearest profile, or nothing.
        meant: String,
    },
    /// A file of profiles.
    #[error("profiles in {file}: {problem}")]
    Profiles {
        /// The file.
        file: String,
        /// What is wrong with it, with the line where that is known.
        problem: String,
    },
}
