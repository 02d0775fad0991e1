//! What a log knows beside its chunks, and how a checkpoint holds it.

use crate::ledger::{Ledger, SourceAccount};
use crate::log::Deletion;
use crate::log::epochs::Epochs;
use lastmile_events::{Chunk, Source, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What a log knows beside its chunks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct State {
    /// The accounts of the sources.
    pub(super) ledger: Ledger,
    /// The message up to which the ledger counts.
    pub(super) sequence: u64,
    /// The first position that is kept.
    pub(super) start: u64,
    /// The epochs, each with the position at which it begins.
    pub(super) epochs: Vec<(u64, u64)>,
    /// The events that were acknowledged and are gone.
    pub(super) holes: Vec<Hole>,
    pub(super) deletions: Vec<Deletion>,
}

/// A log as it is committed, for those who read it.
#[derive(Debug)]
pub(super) struct Committed {
    pub(super) state: State,
    /// The latest messages' positions, each with its sequence.
    pub(super) sequences: VecDeque<(u64, u64)>,
}

/// So many positions are remembered; earlier ones are searched for: our own choice.
const SEQUENCES_MAX: usize = 1 << 16;

impl Committed {
    /// Adds chunks that were committed, each with its position and sequence; the state has them.
    pub(super) fn add<'a>(&mut self, chunks: impl Iterator<Item = (u64, u64, &'a Chunk)>, state: &State) {
        for (position, sequence, chunk) in chunks {
            let source = chunk.source();
            let account = state.ledger.sources[source].clone();
            self.state.ledger.sources.insert(source.clone(), account);
            self.sequences.push_back((position, sequence));
        }
        while self.sequences.len() > SEQUENCES_MAX {
            self.sequences.pop_front();
        }
        self.state.ledger.next_position = state.ledger.next_position;
        self.state.sequence = state.sequence;
    }

    /// The sequence of the message that holds a position, or the one before which it is.
    pub(super) fn sequence_of(&self, position: u64) -> Result<u64, u64> {
        let at = self.sequences.partition_point(|(first, _)| *first <= position);
        match at.checked_sub(1) {
            Some(at) => Ok(self.sequences[at].1),
            None => Err(self
                .sequences
                .front()
                .map_or(self.state.sequence + 1, |(_, sequence)| *sequence)),
        }
    }
}

/// Events that were acknowledged and are gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hole {
    /// The position of the first.
    pub(super) position: u64,
    /// The position after the last.
    pub(super) end: u64,
    pub(super) what: String,
}

#[derive(Serialize, Deserialize)]
struct Checkpoint {
    sequence: u64,
    next_position: u64,
    start: u64,
    epochs: Vec<(u64, u64)>,
    holes: Vec<Hole>,
    /// Why, how many, up to which position, and when.
    deletions: Vec<(String, u64, u64, i64)>,
    sources: Vec<Account>,
}

#[derive(Serialize, Deserialize)]
struct Account {
    name: String,
    incarnation: u64,
    id: i64,
    next: u64,
    stored: u64,
    released: u64,
    ended: bool,
    /// Place, cause and count.
    lost: Vec<(String, String, u64)>,
}

impl State {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let account = |(source, account): (&Source, &SourceAccount)| Account {
            name: source.name().to_owned(),
            incarnation: source.incarnation(),
            id: account.id,
            next: account.next,
            stored: account.stored,
            released: account.released,
            ended: account.ended,
            lost: account
                .lost
                .iter()
                .map(|((place, cause), count)| (place.clone(), cause.clone(), *count))
                .collect(),
        };
        let deletion = |deletion: &Deletion| {
            let time = deletion.time.unix_nanoseconds();
            (deletion.why.clone(), deletion.events, deletion.until, time)
        };
        let checkpoint = Checkpoint {
            sequence: self.sequence,
            next_position: self.ledger.next_position,
            start: self.start,
            epochs: self.epochs.clone(),
            holes: self.holes.clone(),
            deletions: self.deletions.iter().map(deletion).collect(),
            sources: self.ledger.sources.iter().map(account).collect(),
        };
        serde_json::to_vec(&checkpoint).expect("numbers and texts can be written")
    }

    /// The state of a checkpoint; none where it is no checkpoint of this version.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let checkpoint: Checkpoint = serde_json::from_slice(bytes).ok()?;
        let mut ledger = Ledger {
            next_position: checkpoint.next_position,
            ..Ledger::default()
        };
        for account in checkpoint.sources {
            let source = Source::new(&account.name, account.incarnation).ok()?;
            let lost = account.lost.into_iter();
            let lost = lost.map(|(place, cause, count)| ((place, cause), count)).collect();
            let account = SourceAccount {
                id: account.id,
                next: account.next,
                stored: account.stored,
                released: account.released,
                lost,
                ended: account.ended,
            };
            ledger.sources.insert(source, account);
        }
        let deletion = |(why, events, until, time)| Deletion {
            why,
            events,
            until,
            time: Timestamp::from_unix_nanoseconds(time),
        };
        Some(Self {
            ledger,
            sequence: checkpoint.sequence,
            start: checkpoint.start,
            epochs: checkpoint.epochs,
            holes: checkpoint.holes,
            deletions: checkpoint.deletions.into_iter().map(deletion).collect(),
        })
    }

    pub(super) fn epochs(&self) -> Epochs {
        Epochs::of(self.epochs.clone())
    }

    /// Notes that events were acknowledged and are gone.
    pub(super) fn add_hole(&mut self, position: u64, end: u64, what: &str) {
        let is_known = |hole: &Hole| hole.position <= position && end <= hole.end;
        if !self.holes.iter().any(is_known) {
            let what = what.to_owned();
            self.holes.push(Hole { position, end, what });
        }
    }

    /// Counts events as deleted.
    pub(super) fn add_deletion(&mut self, why: &str, events: u64, time: Timestamp) {
        let until = self.start;
        match self.deletions.iter_mut().find(|deletion| deletion.why == why) {
            Some(deletion) => {
                deletion.events += events;
                (deletion.until, deletion.time) = (until, time);
            }
            None => self.deletions.push(Deletion {
                why: why.to_owned(),
                events,
                until,
                time,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_events::ChunkBuilder;

    #[test]
    fn a_checkpoint_holds_the_whole_state() {
        let mut state = State {
            sequence: 7,
            epochs: vec![(0, u64::MAX)],
            ..State::default()
        };
        let mut builder = ChunkBuilder::new(Source::new("a", 1).unwrap(), 1);
        builder.push(Timestamp::default(), "a.b", []).unwrap();
        builder.push_loss(Timestamp::default(), 5, "ring", "full").unwrap();
        state.ledger.admit(&builder.finish().unwrap());
        state.add_hole(3, 9, "gone");
        state.add_hole(4, 5, "known already");
        state.start = 1;
        state.add_deletion("age", 1, Timestamp::from_unix_nanoseconds(5));
        state.add_deletion("age", 2, Timestamp::from_unix_nanoseconds(6));
        assert_eq!((state.holes.len(), state.deletions[0].events), (1, 3));
        assert_eq!(State::from_bytes(&state.to_bytes()), Some(state));
        assert_eq!(State::from_bytes(b"{}"), None);
    }
}
