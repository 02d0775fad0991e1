//! Events: typed values with a subject, a time and a place in their source's sequence; the chunks that carry them; and the emitter that an
//! application links.
//!
//! The contract between all parts is one rule: **the chunks of a source tile its sequence numbers**. Numbers begin at 1 and have no hole.
//! Whoever drops events puts a loss event in their place, which spans their numbers and names where they were dropped and why. So every
//! number that a source gave out is a stored event, a stated loss, or is named as missing.
//!
//! A [`chunk::Chunk`] is the same bytes in a log, on the wire and to subscribers: its checksum covers it from the emitter to the reader.

pub mod chunk;
pub mod emitter;
pub mod event;
pub mod line;
pub mod loss;
pub mod source;
pub mod subject;
pub mod timestamp;
pub mod uplink;
mod varint;

pub use chunk::{Chunk, ChunkBuilder};
pub use emitter::{Emitter, EmitterSettings, FullRing, Kind};
pub use event::{Event, EventView, Value};
pub use loss::Loss;
pub use source::Source;
pub use subject::{Pattern, Subject};
pub use timestamp::Timestamp;
