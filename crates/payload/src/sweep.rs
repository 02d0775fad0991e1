//! How small does each setting of permessage-deflate make a stream of messages, and what does it hold in memory? The sweep: a grid of
//! settings over one direction of a transcript.
//!
//! - [`exact`]: every octet that stock zlib would send, at every setting, counted.
//! - [`sampled`]: an estimate with its interval, from parts of a transcript that is too long for that.
//!
//! Every size is made of messages that zlib compressed. It is fast since hardly any message is compressed twice to the same end:
//!
//! - 8 window bits run as 9, and at level 0 there is nothing to choose.
//! - At levels 4 to 9, `parse` foretells which matches zlib will choose for a message at a setting, from `deflate.c` as it is in
//!   zlib 1.3, without coding it. Settings that choose the same matches send the same octets (`shape` says when), so one of them
//!   is run, and only over messages whose choice nobody has made yet, in a context primed with what went before (`measure`).
//! - At levels 1 to 3, where what zlib enters into its hash depends on what it chose, only messages on their own collapse, by a
//!   bound on their hash chains.
//!
//! That the foretelling is right is a claim that tests hold against zlib, octet by octet, over transcripts of many kinds.
//!
//! CPU time is not found here, since this crate reads no clock.

mod chains;
mod estimate;
mod exact;
mod grid;
mod measure;
mod parse;
mod part;
mod piece;
mod places;
mod pool;
mod sample;
mod section;
mod shape;
mod shard;

pub use estimate::Interval;
pub use exact::exact;
pub use grid::{Grid, Point, Swept};
pub use sample::{Sampling, sampled};

use crate::transcript::{self, Messages};
use std::ops::ControlFlow;

/// What one side sent over one connection, in order. With takeover, a message may refer to those before it, on its connection alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection<'a> {
    /// The messages' payloads.
    pub messages: Vec<&'a [u8]>,
}

impl<'a> Connection<'a> {
    /// The connections of gathered messages, in their order.
    pub fn of(messages: &'a Messages) -> Vec<Self> {
        let connection = |connection: &transcript::Connection| Self {
            messages: connection
                .messages
                .clone()
                .map(|number| messages.payload(number))
                .collect(),
        };
        messages.connections().iter().map(connection).collect()
    }

    /// The octets of all messages.
    fn octets(&self) -> usize {
        self.messages.iter().map(|message| message.len()).sum()
    }
}

/// Who is told how far a sweep is, and may end it. Called from several threads.
pub trait Observer: Sync {
    /// `done` of the work is done: 0 to 1. Asked for a break, the sweep ends soon.
    fn progress(&self, done: f64) -> ControlFlow<()> {
        let _ = done;
        ControlFlow::Continue(())
    }

    /// What was found of a part before, by a sweep of the same messages with the same grid and sampling.
    fn kept(&self, part: &str) -> Option<Vec<u64>> {
        let _ = part;
        None
    }

    /// A part is found, and need not be found again where these figures of it are kept.
    fn found(&self, part: &str, figures: &[u64]) {
        let _ = (part, figures);
    }
}

/// Nobody.
impl Observer for () {}

/// An observer asked for a break before the sweep was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sweep was interrupted")]
pub struct Interrupted;

#[cfg(test)]
mod tests;
