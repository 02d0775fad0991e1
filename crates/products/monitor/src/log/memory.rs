//! A log in memory, without threads and without a clock: for worlds that have no disk.
//!
//! It keeps the rules of the log on a disk: what waits is committed together, acknowledged after the commit, and read only then. How long a
//! commit takes is up to [`MemoryLog::run`]'s caller, who lets that time pass in its world.

use super::audit::Auditor;
use super::end::LogEnd;
use super::epochs::Epochs;
use super::page::{Entry, PAGE_BYTES, Page};
use super::{Audit, LogError, Resumption};
use crate::cursor::Cursor;
use crate::ledger::{Admission, Ledger, SourceAccount};
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Source};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot};

/// A log in memory.
#[derive(Debug)]
pub struct MemoryLog {
    state: Mutex<State>,
    submitted: Notify,
    end: LogEnd,
    epochs: Epochs,
}

#[derive(Debug)]
struct State {
    /// What is committed.
    committed: Ledger,
    chunks: VecDeque<(u64, Chunk)>,
    /// The first position that is kept.
    start: u64,
    /// The submissions that wait for a commit, in their order.
    waiting: Vec<Submission>,
}

#[derive(Debug)]
struct Submission {
    chunks: Vec<Chunk>,
    durability: Durability,
    reply: oneshot::Sender<Vec<Reply>>,
}

/// What is committed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitGroup {
    /// The chunks that were submitted.
    pub chunks: usize,
    /// Their events.
    pub events: u64,
    /// Their bytes.
    pub bytes: usize,
    /// The most that any of them must survive.
    pub durability: Durability,
}

impl MemoryLog {
    /// An empty log, whose cursors have this epoch. Nothing is committed unless [`Self::run`] runs.
    pub fn new(epoch: u64) -> Self {
        Self {
            state: Mutex::new(State {
                committed: Ledger::default(),
                chunks: VecDeque::new(),
                start: 0,
                waiting: Vec::new(),
            }),
            submitted: Notify::new(),
            end: LogEnd::new(0),
            epochs: Epochs::of(vec![(0, epoch)]),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with it")
    }

    /// Commits for ever: takes what waits, calls `wait` for the time of the commit, and then keeps and acknowledges it.
    pub async fn run<F: Future<Output = ()>>(&self, wait: impl Fn(CommitGroup) -> F) {
        loop {
            let group = std::mem::take(&mut self.lock().waiting);
            if group.is_empty() {
                self.submitted.notified().await;
                continue;
            }
            let chunks = || group.iter().flat_map(|submission| &submission.chunks);
            let durability = group.iter().map(|submission| submission.durability).max();
            wait(CommitGroup {
                chunks: chunks().count(),
                events: chunks().map(|chunk| u64::from(chunk.event_count())).sum(),
                bytes: chunks().map(|chunk| chunk.bytes().len()).sum(),
                durability: durability.unwrap_or(Durability::Memory),
            })
            .await;
            for submission in group {
                let replies = self.commit(submission.chunks, submission.durability);
                // Whoever submitted it may be gone.
                let _ = submission.reply.send(replies);
            }
            let end = self.lock().committed.next_position;
            self.end.move_to(end);
        }
    }

    fn commit(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        let mut state = self.lock();
        let mut replies = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let acknowledged = |next| Reply::Acknowledged { next, durability };
            replies.push(match state.committed.admit(&chunk) {
                Admission::Append { position, .. } => {
                    let end = chunk.end();
                    state.chunks.push_back((position, chunk));
                    acknowledged(end)
                }
                Admission::Known { next } => acknowledged(next),
                Admission::Gap { expected } => Reply::Gap { expected },
                Admission::Contradiction => Reply::Refused,
            });
        }
        replies
    }

    pub(super) async fn append(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        let count = chunks.len();
        let (reply, answer) = oneshot::channel();
        self.lock().waiting.push(Submission {
            chunks,
            durability,
            reply,
        });
        self.submitted.notify_one();
        answer.await.unwrap_or_else(|_| vec![Reply::Full; count])
    }

    pub(super) fn release(&self, before: u64) {
        let mut state = self.lock();
        while let Some((position, chunk)) = state.chunks.front()
            && position + u64::from(chunk.event_count()) <= before
        {
            state.chunks.pop_front();
        }
        state.start = state
            .chunks
            .front()
            .map_or(state.committed.next_position, |(position, _)| *position);
    }

    pub(super) fn read(&self, from: u64) -> Page {
        self.lock().page(from)
    }

    pub(super) fn start(&self) -> u64 {
        self.lock().start
    }

    pub(super) fn audit(&self) -> Audit {
        let state = self.lock();
        let extent = (state.start, state.committed.next_position);
        let mut auditor = Auditor::new(extent);
        while let Some(position) = auditor.next() {
            auditor.take(state.page(position));
        }
        auditor.finish(state.committed.clone())
    }

    pub(super) const fn end(&self) -> &LogEnd {
        &self.end
    }

    pub(super) fn accounts(&self) -> Vec<(Source, SourceAccount)> {
        self.lock().committed.sources.clone().into_iter().collect()
    }

    pub(super) fn cursor(&self, position: u64) -> Cursor {
        Cursor {
            epoch: self.epochs.present(),
            position,
        }
    }

    pub(super) fn resume(&self, cursor: Cursor) -> Result<Resumption, LogError> {
        self.epochs.resume(cursor, self.end.position())
    }
}

impl State {
    fn page(&self, from: u64) -> Page {
        let from = from.max(self.start);
        let mut page = Page {
            entries: Vec::new(),
            next: from,
        };
        let first = self
            .chunks
            .partition_point(|(position, chunk)| position + u64::from(chunk.event_count()) <= from);
        let mut bytes = 0;
        for (position, chunk) in self.chunks.range(first..) {
            bytes += chunk.bytes().len();
            page.next = position + u64::from(chunk.event_count());
            page.entries.push(Entry::Chunk {
                position: *position,
                chunk: chunk.clone(),
            });
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_events::{ChunkBuilder, Timestamp};
    use std::sync::Arc;
    use tokio::sync::Semaphore;
    use tokio::task::yield_now;

    fn chunk(name: &str, first: u64, count: u64) -> Chunk {
        let mut builder = ChunkBuilder::new(Source::new(name, 1).unwrap(), first);
        for _ in 0..count {
            builder.push(Timestamp::default(), "a", []).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn what_waits_during_a_commit_is_committed_together_after_it_and_is_not_read_before() {
        let log = Arc::new(MemoryLog::new(7));
        let (groups, disk) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Semaphore::new(0)));
        let submit = |name: &'static str, first, count| {
            let log = Arc::clone(&log);
            tokio::spawn(async move { log.append(vec![chunk(name, first, count)], Durability::Process).await[0] })
        };
        let replies = crate::block_on(async {
            let (committing, noted, disk_of_log) = (Arc::clone(&log), Arc::clone(&groups), Arc::clone(&disk));
            tokio::spawn(async move {
                let wait = |group: CommitGroup| {
                    noted.lock().unwrap().push(group.chunks);
                    let disk = Arc::clone(&disk_of_log);
                    async move { disk.acquire().await.unwrap().forget() }
                };
                committing.run(wait).await;
            });
            let first = submit("a", 1, 2);
            while groups.lock().unwrap().is_empty() {
                yield_now().await;
            }
            let (second, gap) = (submit("a", 3, 1), submit("b", 2, 1));
            while log.lock().waiting.len() < 2 {
                yield_now().await;
            }
            assert!(log.read(0).entries.is_empty());
            disk.add_permits(2);
            [first.await.unwrap(), second.await.unwrap(), gap.await.unwrap()]
        });
        let acknowledged = |next| Reply::Acknowledged {
            next,
            durability: Durability::Process,
        };
        assert_eq!(
            replies.unwrap(),
            [acknowledged(3), acknowledged(4), Reply::Gap { expected: 1 }]
        );
        assert_eq!(*groups.lock().unwrap(), [1, 2]);
        assert_eq!(log.read(0).next, 3);
        assert!(log.audit().problems.is_empty());
        log.release(2);
        assert_eq!((log.start(), log.read(0).entries.len()), (2, 1));
    }
}
