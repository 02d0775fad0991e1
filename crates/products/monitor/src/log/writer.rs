//! The thread that writes: it commits together what waits, and acknowledges after the commit.

use super::LogSettings;
use super::database::{Database, PositionedChunk};
use super::shared::Shared;
use super::threaded::Command;
use crate::ledger::{Admission, Ledger};
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Timestamp};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

pub(super) struct Writer {
    pub(super) database: Database,
    pub(super) ledger: Ledger,
    pub(super) settings: LogSettings,
    pub(super) shared: Arc<Shared>,
    /// Whether the ledger must be read again, since a commit failed.
    pub(super) stale: bool,
}

/// A group commit takes no more bytes than this: our own choice.
const GROUP_BYTES: usize = 4 << 20;

impl Writer {
    pub(super) fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        while let Some(command) = commands.blocking_recv() {
            let mut group = Group::default();
            let mut next = Some(command);
            while let Some(command) = next.take() {
                match command {
                    Command::Append {
                        chunks,
                        durability,
                        reply,
                    } => self.admit(&mut group, chunks, durability.max(self.settings.durability), reply),
                    Command::Release { before, reply } => {
                        // What cannot be deleted now is deleted with what follows.
                        self.release(before, None);
                        let _ = reply.send(());
                    }
                    Command::Expire { reply } => {
                        self.expire();
                        let _ = reply.send(());
                    }
                }
                if group.bytes < GROUP_BYTES {
                    next = commands.try_recv().ok();
                }
            }
            self.commit(group);
        }
    }

    /// What cannot be deleted now is deleted the next time.
    fn expire(&mut self) {
        let retention = self.settings.retention;
        let oldest = retention.age.map(|age| Timestamp::now().saturating_sub(age));
        if let Ok(Some((before, why))) = self.database.expired(oldest, retention.bytes) {
            self.release(before, Some(why));
        }
    }

    fn release(&mut self, before: u64, why: Option<&str>) {
        if with_room(&mut self.database, |database| database.release(before, why).is_ok())
            && let Ok((start, _)) = self.database.extent()
        {
            self.shared.release(start);
        }
    }

    fn admit(
        &mut self,
        group: &mut Group,
        chunks: Vec<Chunk>,
        durability: Durability,
        reply: oneshot::Sender<Vec<Reply>>,
    ) {
        if self.stale {
            match self.database.load_ledger() {
                Ok(ledger) => (self.ledger, self.stale) = (ledger, false),
                Err(_) => {
                    let _ = reply.send(vec![Reply::Full; chunks.len()]);
                    return;
                }
            }
        }
        let mut replies = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let admission = self.ledger.admit(&chunk);
            replies.push(admission.reply(&chunk, durability));
            if let Admission::Append { position, source } = admission {
                group.bytes += chunk.bytes().len();
                group.chunks.push(PositionedChunk {
                    position,
                    source,
                    chunk,
                });
            }
        }
        group.durability = group.durability.max(durability);
        if durability == Durability::Memory {
            let _ = reply.send(replies);
        } else {
            group.waiting.push((replies, reply));
        }
    }

    /// Commits a group and answers it. Where it cannot be committed nothing of it is acknowledged.
    ///
    /// A chunk that is acknowledged as known may have been committed for less: it is safe once this commit is, which syncs all before it.
    fn commit(&mut self, group: Group) {
        let committed = self.write(&group);
        if committed && !group.chunks.is_empty() {
            let chunks = group.chunks.into_iter();
            let chunks = chunks.map(|positioned| (positioned.position, positioned.chunk));
            self.shared.add(chunks, &self.ledger);
            self.shared.end.move_to(self.ledger.next_position);
        } else if !committed {
            self.stale = true;
        }
        for (replies, reply) in group.waiting {
            let full = || vec![Reply::Full; replies.len()];
            let replies = if committed { replies } else { full() };
            let _ = reply.send(replies);
        }
    }

    fn write(&mut self, group: &Group) -> bool {
        let sync = group.durability == Durability::Power && !group.waiting.is_empty();
        if group.chunks.is_empty() && !sync {
            return true;
        }
        let end = self.ledger.next_position;
        let database = &mut self.database;
        let written = database.set_durability(group.durability).is_ok()
            && with_room(database, |database| {
                database.append(&group.chunks, &self.ledger).is_ok()
            })
            && database.mark_acknowledged(end, group.durability).is_ok();
        if written {
            database.secure_room_early();
        }
        written
    }
}

/// Does something that needs room on the disk: as it is, then with what can be secured, then with what is reserved; whether it was done.
fn with_room(database: &mut Database, mut work: impl FnMut(&mut Database) -> bool) -> bool {
    if work(database) {
        return true;
    }
    if !database.secure_room() {
        return false;
    }
    let mut is_done = work(database);
    if !is_done && database.open_reserve() {
        is_done = work(database);
        database.secure_room();
    }
    is_done
}

#[derive(Default)]
struct Group {
    chunks: Vec<PositionedChunk>,
    bytes: usize,
    durability: Durability,
    waiting: Vec<(Vec<Reply>, oneshot::Sender<Vec<Reply>>)>,
}
