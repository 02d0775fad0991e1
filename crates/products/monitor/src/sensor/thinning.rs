//! Thins out what a budget does not let through: events are dropped, the oldest first, and loss events in their place say how many of each subject.

use lastmile_events::{Chunk, ChunkBuilder, Loss, Source, Timestamp};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const PLACE: &str = "sensor";
const CAUSE: &str = "budget";
/// A loss names so many subjects; what is of others is counted under [`OTHERS`].
const SUBJECTS_MAX: usize = 48;
const OTHERS: &str = "others";

/// Chunks whose events are dropped, as chunks that state it; losses that they stated before, and a source's end, stay. Their order within a
/// source must be that of its sequence.
pub(super) fn drop_events(chunks: &[Chunk], now: Timestamp) -> Vec<Chunk> {
    let mut out = Vec::new();
    let mut open: BTreeMap<Source, Statement> = BTreeMap::new();
    for chunk in chunks {
        let continues = open
            .get(chunk.source())
            .is_some_and(|statement| statement.next() == chunk.first());
        if !continues {
            let begun = Statement::new(chunk.source().clone(), chunk.first());
            let before = open.insert(chunk.source().clone(), begun);
            out.extend(before.into_iter().flat_map(|before| before.finish(now)));
        }
        let statement = open.get_mut(chunk.source()).expect("it was put there");
        chunk.look_at_events(|event| {
            if let Some(loss) = event.loss() {
                statement.keep_loss(event.time, &loss, now);
            } else if event.subject == lastmile_events::loss::END_SUBJECT {
                statement.keep_end(event.time, now);
            } else {
                statement.drop_event(event.subject);
            }
            ControlFlow::Continue(())
        });
    }
    out.extend(open.into_values().flat_map(|statement| statement.finish(now)));
    out
}

/// What is said of one source's consecutive numbers.
struct Statement {
    source: Source,
    builder: ChunkBuilder,
    finished: Vec<Chunk>,
    dropped: u64,
    by_subject: BTreeMap<String, u64>,
}

impl Statement {
    fn new(source: Source, first: u64) -> Self {
        Self {
            builder: ChunkBuilder::new(source.clone(), first),
            source,
            finished: Vec::new(),
            dropped: 0,
            by_subject: BTreeMap::new(),
        }
    }

    fn next(&self) -> u64 {
        self.builder.next_sequence() + self.dropped
    }

    fn drop_event(&mut self, subject: &str) {
        self.dropped += 1;
        let is_known = self.by_subject.contains_key(subject);
        // A field's name is shorter than a subject may be.
        let fits = subject.len() <= lastmile_events::event::NAME_LENGTH_MAX;
        let subject = if is_known || (fits && self.by_subject.len() < SUBJECTS_MAX) {
            subject
        } else {
            OTHERS
        };
        *self.by_subject.entry(subject.to_owned()).or_default() += 1;
    }

    fn state(&mut self, now: Timestamp) {
        if self.dropped > 0 {
            let (dropped, by_subject) = (std::mem::take(&mut self.dropped), std::mem::take(&mut self.by_subject));
            self.push(|builder| {
                builder
                    .push_loss_by_subject(now, dropped, PLACE, CAUSE, &by_subject)
                    .is_ok()
            });
        }
    }

    fn keep_loss(&mut self, time: Timestamp, loss: &Loss, now: Timestamp) {
        self.state(now);
        self.push(|builder| {
            builder
                .push_loss_by_subject(time, loss.count, &loss.place, &loss.cause, &loss.by_subject)
                .is_ok()
        });
    }

    fn keep_end(&mut self, time: Timestamp, now: Timestamp) {
        self.state(now);
        self.push(|builder| builder.push_end(time).is_ok());
    }

    fn push(&mut self, push: impl Fn(&mut ChunkBuilder) -> bool) {
        if !push(&mut self.builder) {
            let next = ChunkBuilder::new(self.source.clone(), self.builder.next_sequence());
            self.finished
                .extend(std::mem::replace(&mut self.builder, next).finish());
            assert!(push(&mut self.builder), "an empty chunk has room for a loss");
        }
    }

    fn finish(mut self, now: Timestamp) -> Vec<Chunk> {
        self.state(now);
        self.finished.extend(self.builder.finish());
        self.finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_events_are_counted_by_subject_and_losses_and_the_end_stay() {
        let source = Source::new("a", 1).unwrap();
        let mut first = ChunkBuilder::new(source.clone(), 5);
        for subject in ["x", "y", "x"] {
            first.push(Timestamp::default(), subject, []).unwrap();
        }
        let first = first.finish().unwrap();
        let mut second = ChunkBuilder::new(source.clone(), 8);
        second.push(Timestamp::default(), "x", []).unwrap();
        second
            .push_loss(Timestamp::default(), 10, "emitter", "ring full")
            .unwrap();
        second.push(Timestamp::default(), "z", []).unwrap();
        second.push_end(Timestamp::default()).unwrap();
        let second = second.finish().unwrap();
        let other = Chunk::of_loss(
            &Source::new("b", 1).unwrap(),
            Timestamp::default(),
            &Loss {
                first: 1,
                count: 3,
                place: "emitter".into(),
                cause: "ring full".into(),
                by_subject: BTreeMap::new(),
            },
        );
        let end = second.end();
        let thinned = drop_events(&[first, other.clone(), second], Timestamp::default());
        assert_eq!(thinned.len(), 2);
        let own = thinned.iter().find(|chunk| chunk.source() == &source).unwrap();
        assert_eq!((own.first(), own.end(), own.ends_source()), (5, end, true));
        let causes: Vec<_> = own
            .losses()
            .iter()
            .map(|loss| (loss.count, loss.cause.as_str()))
            .collect();
        assert_eq!(causes, [(4, "budget"), (10, "ring full"), (1, "budget")]);
        assert_eq!(
            own.losses()[0].by_subject,
            BTreeMap::from([("x".into(), 3), ("y".into(), 1)])
        );
        let kept = thinned.iter().find(|chunk| chunk.source() != &source).unwrap();
        assert_eq!(kept.losses()[0].cause, "ring full");
    }
}
