//! What does coding cost, and who waits for it?
//!
//! In the real world the processor is the cost: coding runs inline, a piece at a time, and [`NoCost`] adds nothing. In a
//! simulated world the work takes no virtual time by itself, so a [`Compute`] is told of every piece and is awaited before the
//! output is handed on. What a piece costs is the business of whoever implements it.

use lastmile_payload::codec::{CodecSpec, Coding};
use lastmile_units::Bytes;
use std::future::{Future, Ready, ready};

/// What was done to a piece of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Coded, at a level.
    Encode(CodecSpec),
    /// Decoded; a decoder is not told the level.
    Decode(Coding),
}

/// A piece of coding work. The pieces of one body add up to its whole input and its whole output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// What was done.
    pub operation: Operation,
    /// Octets that went in.
    pub input: Bytes,
    /// Octets that came out; not necessarily those of this input, since a codec may hold them back.
    pub output: Bytes,
    /// The first piece of its body: where the cost of starting a stream is charged.
    pub first: bool,
    /// The last piece of its body. A short body has one piece, or one with its input and one that ends it.
    pub last: bool,
}

/// Spends the time that coding takes.
pub trait Compute: Clone {
    /// Ends when the work is done. It is awaited before the work's output leaves the body, and before the next piece begins.
    type Spent: Future<Output = ()>;

    /// Begins the work.
    fn spend(&self, work: Work) -> Self::Spent;
}

/// Coding takes the time it takes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCost;

impl Compute for NoCost {
    type Spent = Ready<()>;

    fn spend(&self, _: Work) -> Self::Spent {
        ready(())
    }
}
