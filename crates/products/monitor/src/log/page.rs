//! Pages: what a reader of a log gets at a time.

use lastmile_events::Chunk;

/// What is at a place of a log.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A chunk that is whole.
    Chunk {
        /// The position of its first event.
        position: u64,
        /// The chunk.
        chunk: Chunk,
    },
    /// Events that cannot be read.
    Damaged {
        /// The position of the first.
        position: u64,
        /// The first position after them.
        end: u64,
        /// What is wrong with them, and whose they were.
        what: String,
    },
}

/// Consecutive entries of a log.
#[derive(Debug, Clone)]
pub struct Page {
    /// The entries; the first may begin before the position that was asked for.
    pub entries: Vec<Entry>,
    /// Where the next page begins.
    pub next: u64,
}

impl Page {
    /// A page without entries so far, from a position on.
    pub(super) const fn new(from: u64) -> Self {
        Self {
            entries: Vec::new(),
            next: from,
        }
    }
}

/// The chunks of a page have about so many bytes: our own choice.
pub(super) const PAGE_BYTES: usize = 256 << 10;
