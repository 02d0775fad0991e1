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
}
