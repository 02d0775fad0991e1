//! A source that the sensor itself is: it numbers the events of lines or records, and states those that the full log did not take.

use super::spool::{PLACE, STORE_FULL, Spool};
use lastmile_events::uplink::Reply;
use lastmile_events::{Chunk, ChunkBuilder, Source, Timestamp};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// The source, whoever takes its turn to number events.
#[derive(Debug)]
pub(super) struct OwnSource {
    spool: Arc<Spool>,
    source: Source,
    numbers: Mutex<Numbers>,
}

#[derive(Debug)]
struct Numbers {
    /// The number of the next event.
    next: u64,
    /// How many numbers before it the full log did not take; the next chunk states them as lost.
    unstated: u64,
}

/// The right to number events, which one has at a time.
pub(super) struct Turn<'a> {
    own: &'a OwnSource,
    numbers: MutexGuard<'a, Numbers>,
}

impl OwnSource {
    pub(super) fn new(spool: Arc<Spool>, source: Source) -> Self {
        let numbers = Mutex::new(Numbers { next: 1, unstated: 0 });
        Self { spool, source, numbers }
    }

    pub(super) const fn source(&self) -> &Source {
        &self.source
    }

    pub(super) async fn turn(&self) -> Turn<'_> {
        Turn {
            own: self,
            numbers: self.numbers.lock().await,
        }
    }

    /// Ends the source in good order, where it has emitted.
    pub(super) async fn end(&self, now: Timestamp) {
        let mut turn = self.turn().await;
        if turn.numbers.next > 1 {
            let mut builder = turn.begin(now);
            let _ = builder.push_end(now);
            turn.keep_or_drop(builder).await;
        }
    }

    /// States what was dropped, as soon as there is room.
    pub(super) async fn state_losses(&self, now: Timestamp) {
        let mut turn = self.turn().await;
        if turn.numbers.unstated > 0 {
            let builder = turn.begin(now);
            turn.keep_or_drop(builder).await;
        }
    }
}

impl Turn<'_> {
    /// A chunk that begins with the loss that is not stated yet.
    pub(super) fn begin(&self, now: Timestamp) -> ChunkBuilder {
        let Numbers { next, unstated } = *self.numbers;
        let mut builder = ChunkBuilder::new(self.own.source.clone(), next - unstated);
        if unstated > 0 {
            let stated = builder.push_loss(now, unstated, PLACE, STORE_FULL);
            stated.expect("an empty chunk has room for a loss");
        }
        builder
    }

    /// Keeps chunks. Where at least one is kept, the numbers of the others are used up, and stated as lost later. How many numbers that are; `None` where no
    /// chunk is kept and no number is used.
    pub(super) async fn keep(&mut self, chunks: Vec<Chunk>) -> Option<u64> {
        let ends: Vec<u64> = chunks.iter().map(Chunk::end).collect();
        let replies = self.own.spool.append(chunks).await;
        let kept = replies.iter().zip(&ends);
        let kept = kept.take_while(|(reply, _)| matches!(reply, Reply::Acknowledged { .. }));
        let kept_until = *kept.last()?.1;
        self.number(*ends.last()?, kept_until);
        Some(self.numbers.unstated)
    }

    /// Keeps a chunk, or uses up its numbers and states them as lost later; whether it is kept.
    pub(super) async fn keep_or_drop(&mut self, builder: ChunkBuilder) -> bool {
        let Some(chunk) = builder.finish() else { return true };
        let end = chunk.end();
        let is_kept = self.keep(vec![chunk]).await.is_some();
        if !is_kept {
            self.number(end, self.numbers.next - self.numbers.unstated);
        }
        is_kept
    }

    fn number(&mut self, next: u64, kept_until: u64) {
        self.numbers.next = next;
        self.numbers.unstated = next - kept_until;
        if self.numbers.unstated > 0 {
            self.own.spool.drop_numbers(&self.own.source, next);
        }
    }
}
