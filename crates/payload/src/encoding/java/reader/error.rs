//! Why are these bytes refused, and how much is accepted?

use super::super::writer::MAX_DEPTH;
use lastmile_units::Bytes as ByteCount;

/// Why bytes are no object stream. Offsets count from the stream's start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A byte that cannot stand there.
    #[error(
        "offset {offset}: expected {expected}, found byte {found:#04x}; is this a Java object stream, uncompressed?"
    )]
    Byte {
        /// Where it is.
        offset: u64,
        /// What could.
        expected: &'static str,
        /// The byte.
        found: u8,
    },
    /// A handle that does not stand for what belongs there.
    #[error("offset {offset}: expected {expected}, found handle {handle:#010x}, which stands for {found}")]
    Handle {
        /// Where the reference begins.
        offset: u64,
        /// What belongs there.
        expected: &'static str,
        /// The handle.
        handle: u32,
        /// What it stands for.
        found: &'static str,
    },
    /// A part that is well-formed but does not fit what it is part of.
    #[error("before offset {offset}: expected {expected}")]
    Part {
        /// Where the part has just ended.
        offset: u64,
        /// What would fit.
        expected: &'static str,
    },
    /// More than the reader's limits allow.
    #[error(
        "offset {offset}: {what} is above this reader's limit of {limit}; raise the limit if the stream is trusted"
    )]
    Limit {
        /// Where it was noticed.
        offset: u64,
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A part of the protocol that this reader leaves out.
    #[error("offset {offset}: {what} (byte {found:#04x}) is not supported; send plain objects")]
    Unsupported {
        /// Where it begins.
        offset: u64,
        /// Its name.
        what: &'static str,
        /// Its first byte.
        found: u8,
    },
    /// The bytes end within a value.
    #[error("offset {offset}: the stream ends within a value; {buffered} bytes of it were left over")]
    CutOff {
        /// Where it ends.
        offset: u64,
        /// How many bytes could not be used.
        buffered: usize,
    },
}

/// What a reader accepts. The defaults are our own choice: far above what a delivery study sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How deep values may nest, through handles too; never above 500, which keeps dropping them within any stack.
    pub depth: usize,
    /// How many bytes one value at the top may take.
    pub size: ByteCount,
    /// How many parts (fields, elements, classes of a lineage) one value at the top may have.
    pub parts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: MAX_DEPTH,
            size: ByteCount::new(64 << 20),
            parts: 4 << 20,
        }
    }
}
