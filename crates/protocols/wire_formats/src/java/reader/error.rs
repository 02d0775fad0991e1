//! The errors and limits of the reader.

use super::super::writer::DEPTH_MAX;
use lastmile_units::ByteCount;

/// Why bytes are not an object stream. Offsets count from the stream's start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A byte that is not valid there.
    #[error(
        "offset {offset}: expected {expected}, found byte {found:#04x}; is this a Java object stream, uncompressed?"
    )]
    Byte {
        /// Its offset.
        offset: u64,
        /// What was expected.
        expected: &'static str,
        /// The byte.
        found: u8,
    },
    /// A handle whose target is not valid there.
    #[error("offset {offset}: expected {expected}, found handle {handle:#010x}, which stands for {found}")]
    Handle {
        /// The offset of the reference.
        offset: u64,
        /// What was expected.
        expected: &'static str,
        /// The handle.
        handle: u32,
        /// Its target.
        found: &'static str,
    },
    /// A part that is well-formed but not valid in its parent.
    #[error("before offset {offset}: expected {expected}")]
    Part {
        /// The end of the part.
        offset: u64,
        /// What was expected.
        expected: &'static str,
    },
    /// More than the reader's limits allow.
    #[error(
        "offset {offset}: {what} is above this reader's limit of {limit}; raise the limit if the stream is trusted"
    )]
    Limit {
        /// Where the limit was exceeded.
        offset: u64,
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// A part of the protocol that this reader does not support.
    #[error("offset {offset}: {what} (byte {found:#04x}) is not supported; send plain objects")]
    Unsupported {
        /// Its start.
        offset: u64,
        /// Its name.
        what: &'static str,
        /// Its first byte.
        found: u8,
    },
    /// The bytes end within a value.
    #[error("offset {offset}: the stream ends within a value; {buffered} bytes of it were left over")]
    CutOff {
        /// The end of the stream.
        offset: u64,
        /// How many bytes belong to the unfinished value.
        buffered: usize,
    },
}

/// The limits of a reader. The defaults are our own choice: far above what a delivery study sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How deep values may nest, through handles too; never above 500, so that dropping them does not overflow the stack.
    pub depth: usize,
    /// How many bytes one top-level value may have.
    pub size: ByteCount,
    /// How many parts (fields, elements, classes of a lineage) one top-level value may have.
    pub parts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: DEPTH_MAX,
            size: ByteCount::new(64 << 20),
            parts: 4 << 20,
        }
    }
}
