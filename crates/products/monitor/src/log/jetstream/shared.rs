//! What the writer tells the readers.

use super::recovery::Recovered;
use super::state::{Hole, State};
use crate::ledger::{Ledger, SourceAccount};
use crate::log::Deletion;
use crate::log::epochs::Epochs;
use crate::log::tail::Tail;
use lastmile_events::{Chunk, Source};
use std::collections::VecDeque;

/// A log as it is committed.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) ledger: Ledger,
    /// The message up to which all is committed.
    pub(super) sequence: u64,
    pub(super) start: u64,
    pub(super) epochs: Epochs,
    pub(super) holes: Vec<Hole>,
    pub(super) deletions: Vec<Deletion>,
    pub(super) tail: Tail,
    /// The latest messages' positions, each with its sequence.
    sequences: VecDeque<(u64, u64)>,
}

/// The most places that are remembered; earlier ones are searched for: our own choice.
const PLACES: usize = 1 << 16;

impl Shared {
    pub(super) fn new(recovered: Recovered, tail_bytes: usize) -> Self {
        let Recovered { state, sequences } = recovered;
        Self {
            tail: Tail::new(state.ledger.next_position, tail_bytes),
            sequence: state.sequence,
            start: state.start,
            epochs: Epochs::of(state.epochs),
            holes: state.holes,
            deletions: state.deletions,
            ledger: state.ledger,
            sequences: sequences.into(),
        }
    }

    /// Adds chunks that were committed; the state has them.
    pub(super) fn commit(&mut self, chunks: Vec<(u64, u64, Chunk)>, state: &State) {
        for (position, sequence, chunk) in chunks {
            let source = chunk.source();
            let account = &state.ledger.sources[source];
            self.ledger.sources.insert(source.clone(), account.clone());
            self.sequences.push_back((position, sequence));
            self.tail.push(position, chunk);
        }
        while self.sequences.len() > PLACES {
            self.sequences.pop_front();
        }
        self.ledger.next_position = state.ledger.next_position;
        self.sequence = state.sequence;
    }

    /// States what was deleted.
    pub(super) fn release(&mut self, state: &State) {
        self.ledger = state.ledger.clone();
        self.start = state.start;
        self.deletions.clone_from(&state.deletions);
    }

    pub(super) fn accounts(&self) -> Vec<(Source, SourceAccount)> {
        self.ledger.sources.clone().into_iter().collect()
    }

    /// The sequence of the message that holds a position, or the one before which it is.
    pub(super) fn place(&self, position: u64) -> Result<u64, u64> {
        let at = self.sequences.partition_point(|(first, _)| *first <= position);
        match at.checked_sub(1) {
            Some(at) => Ok(self.sequences[at].1),
            None => Err(self
                .sequences
                .front()
                .map_or(self.sequence + 1, |(_, sequence)| *sequence)),
        }
    }
}
