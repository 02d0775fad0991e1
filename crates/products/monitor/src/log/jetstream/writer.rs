//! The task that writes: it publishes together what waits, and acknowledges after the server has.

use super::recovery::{KnownEnd, recover};
use super::state::{Committed, State};
use super::store::Store;
use crate::ledger::Admission;
use crate::log::LogSettings;
use crate::log::mark::AcknowledgedMark;
use crate::log::shared::Shared;
use crate::log::threaded::Command;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Timestamp};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

pub(super) struct Writer {
    pub(super) store: Rc<Store>,
    pub(super) state: State,
    pub(super) settings: LogSettings,
    pub(super) shared: Arc<Shared>,
    pub(super) committed: Rc<RefCell<Committed>>,
    pub(super) mark: AcknowledgedMark,
    /// The chunks since the last checkpoint.
    pub(super) unchecked: usize,
    /// Whether the log must be found again, since it is not known what became of a chunk.
    pub(super) stale: bool,
}

/// What is published together takes no more bytes than this: our own choice.
const GROUP_BYTES: usize = 4 << 20;
/// A checkpoint is written after so many chunks, so that no more are read when the log is opened: our own choice.
const CHECKPOINT_CHUNKS: usize = 512;
/// The most messages that are deleted at a time: our own choice.
const EXPIRE_AT_A_TIME: usize = 256;

#[derive(Default)]
struct Group {
    chunks: Vec<(u64, Chunk)>,
    bytes: usize,
    waiting: Vec<(Vec<Reply>, oneshot::Sender<Vec<Reply>>)>,
}

impl Writer {
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        while let Some(command) = commands.recv().await {
            let mut group = Group::default();
            let mut next = Some(command);
            while let Some(command) = next.take() {
                match command {
                    Command::Append {
                        chunks,
                        durability: _,
                        reply,
                    } => self.admit(&mut group, chunks, reply).await,
                    Command::Release { before, reply } => {
                        self.commit(std::mem::take(&mut group)).await;
                        // What cannot be deleted now is deleted with what follows.
                        let _ = self.release(before, None).await;
                        let _ = reply.send(());
                    }
                    Command::Expire { reply } => {
                        self.commit(std::mem::take(&mut group)).await;
                        let _ = self.expire().await;
                        let _ = reply.send(());
                    }
                }
                if group.bytes < GROUP_BYTES {
                    next = commands.try_recv().ok();
                }
            }
            self.commit(group).await;
            if self.unchecked >= CHECKPOINT_CHUNKS {
                self.write_checkpoint().await;
            }
        }
        if self.unchecked > 0 {
            self.write_checkpoint().await;
        }
    }

    /// Without one, more is read when the log is opened; so a failure is none.
    async fn write_checkpoint(&mut self) {
        if !self.stale && self.store.put_checkpoint(self.state.to_bytes()).await.is_ok() {
            self.unchecked = 0;
        }
    }

    async fn admit(&mut self, group: &mut Group, chunks: Vec<Chunk>, reply: oneshot::Sender<Vec<Reply>>) {
        if self.stale && self.recover().await.is_err() {
            let _ = reply.send(vec![Reply::Full; chunks.len()]);
            return;
        }
        let mut replies = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            if chunk.bytes().len() > self.store.largest {
                replies.push(Reply::Refused);
                continue;
            }
            let admission = self.state.ledger.admit(&chunk);
            replies.push(admission.reply(&chunk, self.settings.durability));
            if let Admission::Append { position, .. } = admission {
                group.bytes += chunk.bytes().len();
                group.chunks.push((position, chunk));
            }
        }
        group.waiting.push((replies, reply));
    }

    async fn recover(&mut self) -> Result<(), String> {
        let end = self.shared.end.position();
        let recovered = recover(&self.store, KnownEnd::Position(end)).await?;
        self.state = recovered.state.clone();
        let (ledger, tail_bytes) = (&self.state.ledger, self.settings.tail_bytes);
        self.shared.replace(ledger, self.state.epochs(), tail_bytes);
        self.committed.replace(recovered);
        self.stale = false;
        Ok(())
    }

    /// Publishes a group and answers it. Where the server does not acknowledge all of it, nothing of it is acknowledged.
    async fn commit(&mut self, group: Group) {
        let committed = self.publish(&group.chunks).await.is_ok() && {
            let end = self.state.ledger.next_position;
            let safe_from_power = self.settings.durability == Durability::Power;
            self.mark.write(end, safe_from_power).is_ok()
        };
        if committed && !group.chunks.is_empty() {
            self.unchecked += group.chunks.len();
            let first = self.state.sequence + 1 - group.chunks.len() as u64;
            let numbered = group.chunks.iter().zip(first..);
            let numbered = numbered.map(|((position, chunk), sequence)| (*position, sequence, chunk));
            self.committed.borrow_mut().add(numbered, &self.state);
            self.shared.add(group.chunks, &self.state.ledger);
            self.shared.end.move_to(self.state.ledger.next_position);
        } else if !committed {
            self.stale = true;
        }
        for (replies, reply) in group.waiting {
            let full = || vec![Reply::Full; replies.len()];
            let _ = reply.send(if committed { replies } else { full() });
        }
    }

    /// Each chunk is taken only behind the one before it, so one that fails ends the group.
    async fn publish(&mut self, chunks: &[(u64, Chunk)]) -> Result<(), String> {
        let mut acknowledgements = Vec::with_capacity(chunks.len());
        for ((position, chunk), last) in chunks.iter().zip(self.state.sequence..) {
            acknowledgements.push(self.store.publish(last, *position, chunk).await?);
        }
        for acknowledgement in acknowledgements {
            let acknowledgement = acknowledgement.await.map_err(|error| error.to_string())?;
            let expected = self.state.sequence + 1;
            if acknowledgement.sequence != expected {
                return Err(format!(
                    "message {} stands where {expected} should",
                    acknowledgement.sequence
                ));
            }
            self.state.sequence = expected;
        }
        Ok(())
    }

    /// Deletes what is not kept any longer.
    async fn expire(&mut self) -> Result<(), String> {
        let retention = self.settings.retention;
        if let Some(age) = retention.age {
            let oldest = Timestamp::now().saturating_sub(age);
            self.release_while(Some("age"), |chunk, _| chunk.latest() < oldest)
                .await?;
        }
        if let Some(most) = retention.bytes {
            let extent = self.store.extent().await?;
            if extent.bytes > most {
                let excess = (extent.bytes - most) as usize;
                self.release_while(Some("size"), |_, before| before < excess).await?;
            }
        }
        Ok(())
    }

    async fn release(&mut self, before: u64, why: Option<&str>) -> Result<(), String> {
        let mut position = self.state.start;
        self.release_while(why, |chunk, _| {
            position += u64::from(chunk.event_count());
            position <= before
        })
        .await
    }

    /// Deletes chunks from the first one on as long as `is_old` says so, of a chunk and the bytes before it. All that was admitted is committed
    /// by then: a checkpoint counts nothing that the stream does not have.
    async fn release_while(
        &mut self,
        why: Option<&str>,
        mut is_old: impl FnMut(&Chunk, usize) -> bool,
    ) -> Result<(), String> {
        if self.stale {
            return Ok(());
        }
        let committed = self.committed.borrow().state.sequence;
        let (mut sequence, mut bytes, mut events) = (1, 0, 0);
        let mut state = self.state.clone();
        for _ in 0..EXPIRE_AT_A_TIME {
            let Some(message) = self.store.next(sequence).await? else {
                break;
            };
            if message.sequence > committed {
                break;
            }
            if let Ok(chunk) = &message.chunk {
                if !is_old(chunk, bytes) {
                    break;
                }
                bytes += chunk.bytes().len();
                if let Some(account) = state.ledger.sources.get_mut(chunk.source()) {
                    account.released += message.events;
                }
            }
            events += message.events;
            state.start = message.end();
            sequence = message.sequence + 1;
        }
        if sequence == 1 {
            return Ok(());
        }
        if let Some(why) = why {
            state.add_deletion(why, events, Timestamp::now());
        }
        // First the word, then the deed: what is deleted without a word would be a hole.
        self.store.put_checkpoint(state.to_bytes()).await?;
        self.committed.borrow_mut().state = state.clone();
        self.state = state;
        self.store.purge(sequence).await
    }
}
