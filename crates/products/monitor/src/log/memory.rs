//! A log in memory, without threads and without a clock: for worlds that have no disk.
//!
//! It keeps the rules of the log on a disk: what waits is committed together, acknowledged after the commit, and read only then. How long a
//! commit takes is up to [`MemoryLog::run`]'s caller, who lets that time pass in its world.

use super::Audit;
use super::audit::Auditor;
use super::epochs::Epochs;
use super::page::Page;
use super::shared::Shared;
use crate::ledger::{Admission, Ledger};
use lastmile_events::Chunk;
use lastmile_events::uplink::{Durability, Reply};
use std::sync::{Mutex, MutexGuard};
use tokio::sync::{Notify, oneshot};

/// A log in memory.
#[derive(Debug)]
pub struct MemoryLog {
    pub(super) shared: Shared,
    state: Mutex<State>,
    submitted: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// What is committed.
    ledger: Ledger,
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
            shared: Shared::new(&Ledger::default(), Epochs::of(vec![(0, epoch)]), usize::MAX),
            state: Mutex::default(),
            submitted: Notify::new(),
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
            let end = self.lock().ledger.next_position;
            self.shared.end.move_to(end);
        }
    }

    fn commit(&self, chunks: Vec<Chunk>, durability: Durability) -> Vec<Reply> {
        let mut state = self.lock();
        let (mut replies, mut taken) = (Vec::with_capacity(chunks.len()), Vec::new());
        for chunk in chunks {
            let admission = state.ledger.admit(&chunk);
            replies.push(admission.reply(&chunk, durability));
            if let Admission::Append { position, .. } = admission {
                taken.push((position, chunk));
            }
        }
        self.shared.add(taken, &state.ledger);
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
        self.shared.release(before);
    }

    pub(super) fn read(&self, from: u64) -> Page {
        let page = self.shared.page(from.max(self.start()));
        page.expect("memory has all that is kept")
    }

    pub(super) fn start(&self) -> u64 {
        self.shared.tail_start()
    }

    pub(super) fn audit(&self) -> Audit {
        let ledger = self.lock().ledger.clone();
        let mut auditor = Auditor::new((self.start(), ledger.next_position));
        while let Some(position) = auditor.next() {
            auditor.check(self.read(position));
        }
        auditor.finish(ledger, Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_events::{ChunkBuilder, Source, Timestamp};
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
