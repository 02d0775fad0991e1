//! The cost of compression and decompression, and how bodies wait for it.
//!
//! In the real world the work itself takes time: it runs inline, a piece at a time, and [`NoCost`] adds nothing. In a simulated
//! world the work takes no virtual time by itself, so every piece is reported to a [`Compute`], which is awaited before the output
//! is forwarded. The implementation decides what a piece costs.

use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_units::ByteCount;
use std::future::{Future, Ready, ready};

/// The operation on a piece of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Compressed, at a level.
    Encode(CodecSpec),
    /// Decompressed; a decoder does not know the level.
    Decode(Coding),
}

/// The work on one piece. The pieces of a body add up to its whole input and its whole output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressionStep {
    /// The operation.
    pub operation: Operation,
    /// Bytes of input.
    pub input: ByteCount,
    /// Bytes of output; not necessarily from this input, since a codec may hold output back.
    pub output: ByteCount,
    /// Whether it is the first piece of its body, which is charged the cost of starting a stream.
    pub first: bool,
    /// Whether it is the last piece of its body. A short body has one piece, or one with its input and one that ends it.
    pub last: bool,
}

/// Spends the time that compression or decompression takes.
pub trait Compute: Clone {
    /// Resolves when the work is done. It is awaited before the work's output leaves the body, and before the next piece begins.
    type Spent: Future<Output = ()>;

    /// Begins the work.
    fn spend(&self, work: CompressionStep) -> Self::Spent;
}

/// Adds no time to the work itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCost;

impl Compute for NoCost {
    type Spent = Ready<()>;

    fn spend(&self, _: CompressionStep) -> Self::Spent {
        ready(())
    }
}
