//! The Ice protocol 1.0: its messages as bytes, and back.
//!
//! Every message has a header of 14 bytes; everything is little-endian and nothing is aligned. A request carries its parameters in
//! an *encapsulation*, whose content is the encoding's (`lastmile_wire_formats`), and opaque here. Source: "Ice Manual" 3.7, chapter "The
//! Ice Protocol"; recorded streams of Ice 3.7 hold the writer byte for byte (`tests/recorded.rs`).

mod compression;
mod header;
mod message;
mod reader;

pub use compression::{COMPRESSION_THRESHOLD, CompressionPolicy, compress};
pub use header::{CompressionStatus, HEADER_LENGTH};
pub use message::{Encapsulation, Identity, Invocation, Message, Mode, ReplyStatus};
pub use reader::{MESSAGE_SIZE_MAX, Reader, decode};

#[cfg(test)]
mod tests;
