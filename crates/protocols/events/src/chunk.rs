//! Chunks: consecutive events of one source as bytes, which are the same in a log, on the wire and to subscribers.
//!
//! All numbers are little-endian. The header is 64 bytes:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..4 | `EC 4C 4D 01`: the first byte begins no text in UTF-8, the last is the version |
//! | 4..8 | the length of what follows the header, in bytes |
//! | 8..12 | how many events it holds |
//! | 12..14 | the length of the source's name, in bytes |
//! | 14..16 | how the body is compressed: 0, not at all |
//! | 16..24 | the source's incarnation |
//! | 24..32 | the first sequence number |
//! | 32..40 | how many sequence numbers its events span |
//! | 40..48, 48..56 | the earliest and the latest time |
//! | 56..60 | 0 |
//! | 60..64 | CRC-32 (ISO-HDLC) of all the other bytes |
//!
//! The source's name follows, then each event: its time (the difference to the one before, as a zigzag varint), its span, its subject, and
//! its fields with name, type and value. Subjects and names are written once a chunk, and then by their number.

mod builder;
mod decode;

pub use builder::{ChunkBuilder, EncodeError};
pub use decode::Events;

use crate::{EventView, Loss, Source, Timestamp};
use std::ops::ControlFlow;
use std::sync::Arc;
use thiserror::Error;

/// The bytes of a header.
pub const HEADER: usize = 64;
/// The largest chunk, in bytes. What claims to be larger is refused before anything is allocated.
pub const CHUNK_SIZE_MAX: usize = 1 << 20;
/// The first bytes of every chunk.
pub const MAGIC: [u8; 4] = [0xec, b'L', b'M', 1];

/// Why bytes are no chunk.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChunkError {
    /// They do not begin as a chunk does.
    #[error(
        "no chunk begins here: its first bytes are {found:02x?} and should be {MAGIC:02x?}; the sender may speak another version"
    )]
    Magic {
        /// The first bytes.
        found: [u8; 4],
    },
    /// They end before the chunk does.
    #[error("the chunk is cut off: it has {present} bytes of {needed}")]
    CutOff {
        /// The bytes that are there.
        present: usize,
        /// The bytes that it has by its header.
        needed: usize,
    },
    /// It says that it is larger than a chunk may be.
    #[error("the chunk says that it has {claimed} bytes, and {CHUNK_SIZE_MAX} are the most")]
    TooLarge {
        /// What it says.
        claimed: u64,
    },
    /// A bit was flipped.
    #[error("the chunk is damaged: its checksum is {computed:08x} and should be {stated:08x}")]
    Checksum {
        /// What the bytes give.
        computed: u32,
        /// What the header says.
        stated: u32,
    },
    /// The checksum holds, and yet the content breaks the format: a faulty sender.
    #[error("the chunk's {what}, at byte {at}: its sender is faulty")]
    Content {
        /// What is wrong.
        what: &'static str,
        /// Where, from the chunk's start.
        at: usize,
    },
}

/// A whole chunk whose checksum holds. Cheap to clone: the bytes are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    bytes: Arc<[u8]>,
    source: Source,
    first: u64,
    span: u64,
    events: u32,
    earliest: Timestamp,
    latest: Timestamp,
    losses: Arc<[Loss]>,
    ends_source: bool,
}

impl Chunk {
    /// How many bytes the chunk has that these bytes begin: `None` where they do not hold a header yet.
    ///
    /// # Errors
    /// When no chunk begins so, or it says that it is too large.
    pub fn length(bytes: &[u8]) -> Result<Option<usize>, ChunkError> {
        let begins = bytes.len().min(MAGIC.len());
        if bytes[..begins] != MAGIC[..begins] {
            let mut found = [0; 4];
            found[..begins].copy_from_slice(&bytes[..begins]);
            return Err(ChunkError::Magic { found });
        }
        if bytes.len() < HEADER {
            return Ok(None);
        }
        let claimed = HEADER as u64 + u64::from(u32_at(bytes, 4));
        if claimed > CHUNK_SIZE_MAX as u64 {
            return Err(ChunkError::TooLarge { claimed });
        }
        Ok(Some(claimed as usize))
    }

    /// Reads the chunk at the front of `bytes`, and tells how many bytes it has. Every event of it is checked.
    ///
    /// # Errors
    /// When there is no whole chunk, or it is damaged.
    pub fn read(bytes: &[u8]) -> Result<(Self, usize), ChunkError> {
        let present = bytes.len();
        let needed = Self::length(bytes)?.ok_or(ChunkError::CutOff {
            present,
            needed: HEADER,
        })?;
        let bytes = bytes.get(..needed).ok_or(ChunkError::CutOff { present, needed })?;
        let stated = u32_at(bytes, 60);
        let computed = checksum(bytes);
        if stated != computed {
            return Err(ChunkError::Checksum { computed, stated });
        }
        let mut chunk = decode::header(bytes)?;
        let (losses, ends_source) = decode::check_events(&chunk)?;
        (chunk.losses, chunk.ends_source) = (losses.into(), ends_source);
        Ok((chunk, needed))
    }

    /// A chunk that states a loss: `count` numbers from `first` on.
    pub fn of_loss(source: &Source, time: Timestamp, loss: &Loss) -> Self {
        let mut builder = ChunkBuilder::new(source.clone(), loss.first);
        builder
            .push_loss_by_subject(time, loss.count, &loss.place, &loss.cause, &loss.by_subject)
            .expect("one short event fits");
        builder.finish().expect("it has an event")
    }

    /// Its bytes.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Who emitted it.
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// Its first sequence number.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// The first number after it: where the source's next chunk begins.
    pub const fn end(&self) -> u64 {
        self.first + self.span
    }

    /// How many events it holds, loss events among them; at least 1.
    pub const fn event_count(&self) -> u32 {
        self.events
    }

    /// The earliest time of its events.
    pub const fn earliest(&self) -> Timestamp {
        self.earliest
    }

    /// The latest time of its events.
    pub const fn latest(&self) -> Timestamp {
        self.latest
    }

    /// Its events in order.
    pub fn events(&self) -> Events<'_> {
        Events::new(self)
    }

    /// Shows its events in order, without copying any, until `look` breaks off.
    pub fn look_at_events(&self, look: impl FnMut(&EventView<'_>) -> ControlFlow<()>) {
        decode::look_at_events(self, look);
    }

    /// Its subjects, each once, in the order in which they come first.
    pub fn subjects(&self) -> Vec<&str> {
        decode::subjects(self)
    }

    /// The losses that it states.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Whether the source ends in this chunk, in good order.
    pub const fn ends_source(&self) -> bool {
        self.ends_source
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The checksum of a chunk, leaving out its own four bytes.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..60]);
    hasher.update(&bytes[HEADER..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests;
