//! The sweep: the compressed size and the memory of every permessage-deflate setting of a grid, on one direction of a transcript.
//!
//! - [`exact`]: counts every byte that stock zlib would send, at every setting.
//! - [`sampled`]: estimates with intervals, from parts of a transcript that is too long for that.
//!
//! Every size is a sum over messages that zlib compressed. It is fast because hardly any message is compressed twice with the same result:
//!
//! - 8 window bits run as 9, and at level 0 there is nothing to choose.
//! - At levels 4 to 9, `lazy_parse` predicts which matches zlib chooses for a message at a setting, from `deflate.c` as it is in
//!   zlib 1.3, without compressing it. Settings that choose the same matches send the same bytes (`equivalence` says when), so only one of
//!   them is run, and only over messages with a list of matches not yet measured, in a context primed with the history (`distinct_outputs`).
//! - At levels 1 to 3, the strings that zlib enters into its hash depend on the matches it chose before. There, settings are known to
//!   agree only on messages without context takeover, by a bound on their hash chains.
//!
//! Tests compare the predictions with zlib, byte by byte, over transcripts of many kinds.
//!
//! CPU time is measured elsewhere, since this crate reads no clock.

mod chain_positions;
mod checkpoint;
mod distinct_outputs;
mod equivalence;
mod estimate;
mod exact;
mod grid;
mod hash_chains;
mod lazy_parse;
mod sample;
mod section;
mod shard;
mod work_unit;
mod workers;

pub use exact::exact;
pub use grid::{Grid, Point, SweepResult};
pub use lastmile_units::workers::Interrupted;
pub use sample::{Sampling, sampled};

use lastmile_traffic::messages::{self, Messages};
use std::ops::ControlFlow;

/// What one side sent over one connection, in order. With takeover, a message may refer to earlier messages of its own connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection<'a> {
    /// The messages' payloads.
    pub messages: Vec<&'a [u8]>,
}

impl<'a> Connection<'a> {
    /// The connections of gathered messages, in order.
    pub fn from_messages(messages: &'a Messages) -> Vec<Self> {
        let connection = |connection: &messages::Connection| Self {
            messages: connection
                .messages
                .clone()
                .map(|number| messages.payload(number))
                .collect(),
        };
        messages.connections().iter().map(connection).collect()
    }

    /// The bytes of all messages.
    fn payload_bytes(&self) -> usize {
        self.messages.iter().map(|message| message.len()).sum()
    }
}

/// Receives a sweep's progress, may interrupt it, and may cache its parts. Called from several threads.
pub trait Observer: Sync {
    /// Reports the share of the work that is done, from 0 to 1. After a break, the sweep ends soon.
    fn progress(&self, done: f64) -> ControlFlow<()> {
        let _ = done;
        ControlFlow::Continue(())
    }

    /// The figures of a part, if an earlier sweep of the same messages with the same grid and sampling stored them.
    fn cached(&self, part: &str) -> Option<Vec<u64>> {
        let _ = part;
        None
    }

    /// Stores the figures of a part, which then need not be computed again.
    fn store(&self, part: &str, figures: &[u64]) {
        let _ = (part, figures);
    }
}

/// Ignores everything.
impl Observer for () {}

#[cfg(test)]
mod tests;
