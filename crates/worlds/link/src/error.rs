//! The errors of links that a user asks for: where, the value found, and the remedy.

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
        /// The path as the user wrote it.
        path: String,
        /// The reason.
        problem: String,
    },
    /// A setting that is unknown, or whose value cannot be used.
    #[error("link {link:?}: {problem}")]
    Setting {
        /// The link as the user wrote it.
        link: String,
        /// The key, the value, and what would be right.
        problem: String,
    },
    /// A radio that cannot be used.
    #[error("radio {radio:?}: {problem}")]
    Radio {
        /// The radio as the user wrote it.
        radio: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// No profile has this name.
    #[error("{name:?} is not a link profile{meant} (`lastmile profiles list` lists them all)")]
    UnknownProfile {
        /// The name.
        name: String,
        /// "Did you mean" with the nearest name, or nothing.
        meant: String,
    },
    /// A link of the user's own without a setting that has no default.
    #[error(
        "link {link:?} does not state {missing}; write it like \"{link}+rate=512kbit/s+one_way_delay=50ms\"{meant}"
    )]
    Incomplete {
        /// Its name.
        link: String,
        /// The settings that are missing.
        missing: String,
        /// "Did you mean" with the nearest profile, or nothing.
        meant: String,
    },
    /// A file of profiles.
    #[error("profiles in {file}: {problem}")]
    Profiles {
        /// The file.
        file: String,
        /// What is wrong with it, with the line where it is known.
        problem: String,
    },
}
