//! The ledger: which chunk is taken, and what became of every number of every source. Without clock, disk or socket.
//!
//! A chunk is appended when it begins at its source's next number. One that is known whole is acknowledged again. One that would leave a gap is
//! refused, with the number that is expected: its sender sends from there, or states the loss. So a log has no gap that nobody stated.

use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Source};
use std::collections::BTreeMap;

/// What a log knows of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceAccount {
    /// The log's own number of it.
    pub id: i64,
    /// The number of its next event: all below are stored or stated as lost.
    pub next: u64,
    /// How many events are stored.
    pub stored: u64,
    /// How many stored events and losses were deleted since, because others keep them or their time was over.
    pub released: u64,
    /// How many were lost, by place and cause.
    pub lost: BTreeMap<(String, String), u64>,
    /// Whether it ended in good order, so that nothing can follow.
    pub ended: bool,
}

/// What becomes of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It is appended at this position.
    Append {
        /// The position of its first event.
        position: u64,
        /// The log's number of its source.
        source: i64,
    },
    /// It is known; all below `next` is.
    Known {
        /// The source's next number.
        next: u64,
    },
    /// It would leave a gap.
    Gap {
        /// The source's next number.
        expected: u64,
    },
    /// It has numbers that are known and others that are not, or follows its source's end: a faulty sender.
    Contradiction,
}

impl Admission {
    /// The answer to the chunk, once what was admitted is kept so well.
    pub(crate) const fn reply(self, chunk: &Chunk, durability: Durability) -> Reply {
        let next = match self {
            Self::Append { .. } => chunk.end(),
            Self::Known { next } => next,
            Self::Gap { expected } => return Reply::Gap { expected },
            Self::Contradiction => return Reply::Refused,
        };
        Reply::Acknowledged { next, durability }
    }
}

/// The accounts of all sources of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// By source.
    pub sources: BTreeMap<Source, SourceAccount>,
    /// The position of the next event.
    pub next_position: u64,
}

impl Ledger {
    /// Decides about a chunk, and enters it where it is appended.
    pub fn admit(&mut self, chunk: &Chunk) -> Admission {
        let known = self.sources.get(chunk.source());
        let next = known.map_or(1, |account| account.next);
        if chunk.end() <= next {
            return Admission::Known { next };
        }
        if chunk.first() > next {
            return Admission::Gap { expected: next };
        }
        if chunk.first() < next || known.is_some_and(|account| account.ended) {
            return Admission::Contradiction;
        }
        let id = known.map_or(self.sources.len() as i64 + 1, |account| account.id);
        let account = self.sources.entry(chunk.source().clone());
        account.or_insert_with(|| SourceAccount::new(id, next)).enter(chunk);
        let position = self.next_position;
        self.next_position += u64::from(chunk.event_count());
        Admission::Append { position, source: id }
    }

    /// Takes the numbers of a source below `next` as known, whatever became of them.
    pub(crate) fn skip_to(&mut self, source: &Source, next: u64) {
        let id = self.sources.len() as i64 + 1;
        let account = self.sources.entry(source.clone());
        let account = account.or_insert_with(|| SourceAccount::new(id, next));
        account.next = account.next.max(next);
    }
}

impl SourceAccount {
    const fn new(id: i64, next: u64) -> Self {
        Self {
            id,
            next,
            stored: 0,
            released: 0,
            lost: BTreeMap::new(),
            ended: false,
        }
    }

    fn enter(&mut self, chunk: &Chunk) {
        let losses = chunk.losses();
        self.stored += u64::from(chunk.event_count()) - losses.len() as u64;
        for loss in losses {
            let mut lose = |cause: String, count| {
                *self.lost.entry((loss.place.clone(), cause)).or_default() += count;
            };
            if loss.by_subject.is_empty() {
                lose(loss.cause.clone(), loss.count);
            }
            for (subject, count) in &loss.by_subject {
                lose(format!("{}: {subject}", loss.cause), *count);
            }
        }
        self.next = chunk.end();
        self.ended = chunk.ends_source();
    }

    /// Whether stored and lost events add up to the numbers that the source gave out.
    pub fn adds_up(&self) -> bool {
        self.stored + self.lost.values().sum::<u64>() + 1 == self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_events::{ChunkBuilder, Timestamp};
    use proptest::prelude::*;

    fn source() -> Source {
        Source::new("app", 1).unwrap()
    }

    fn chunk(first: u64, count: u64) -> Chunk {
        let mut builder = ChunkBuilder::new(source(), first);
        for _ in 0..count {
            builder.push(Timestamp::default(), "a", []).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn a_chunk_that_would_leave_a_gap_is_refused_with_the_number_that_is_expected() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.admit(&chunk(2, 3)), Admission::Gap { expected: 1 });
        assert_eq!(ledger.admit(&chunk(1, 3)), Admission::Append { position: 0, source: 1 });
        assert_eq!(ledger.admit(&chunk(2, 1)), Admission::Known { next: 4 });
        assert_eq!(ledger.admit(&chunk(3, 3)), Admission::Contradiction);
        assert_eq!(ledger.admit(&chunk(4, 1)), Admission::Append { position: 3, source: 1 });
    }

    proptest! {
        #[test]
        fn whatever_comes_the_account_adds_up_and_only_grows(chunks in prop::collection::vec((1u64..60, 1u64..9, any::<bool>()), 0..60)) {
            let mut ledger = Ledger::default();
            let mut end = 0;
            for (first, count, lost) in chunks {
                let loss = lastmile_events::Loss { first, count, place: "p".into(), cause: "c".into(), by_subject: Default::default() };
                let chunk = if lost { Chunk::of_loss(&source(), Timestamp::default(), &loss) } else { chunk(first, count) };
                let before = ledger.clone();
                match ledger.admit(&chunk) {
                    Admission::Append { position, .. } => prop_assert_eq!(position, before.next_position),
                    _ => prop_assert_eq!(&ledger, &before),
                }
                if let Some(account) = ledger.sources.get(&source()) {
                    prop_assert!(account.adds_up());
                    prop_assert!(account.next >= end);
                    end = account.next;
                }
            }
        }
    }
}
