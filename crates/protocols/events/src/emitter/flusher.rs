//! The thread that makes chunks of what the rings hold, and passes them on until they are acknowledged.

use super::kind::KindContent;
use super::ring_event::{NO_KIND, RingEvent};
use super::{LaneEnd, Shared};
use crate::chunk::EncodeError;
use crate::uplink::{Reply, Uplink};
use crate::{Chunk, ChunkBuilder, Loss, Source, Timestamp};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

pub(super) struct Flusher {
    shared: Arc<Shared>,
    source: Source,
    uplink: Box<dyn Uplink>,
    lanes: Vec<LaneEnd>,
    builder: ChunkBuilder,
    scratch: Vec<u8>,
    /// Those that it has met.
    kinds: Vec<Arc<KindContent>>,
}

/// The place that loss events of an emitter name.
const PLACE: &str = "emitter";

impl Flusher {
    pub(super) fn new(shared: Arc<Shared>, source: Source, uplink: Box<dyn Uplink>) -> Self {
        Self {
            builder: ChunkBuilder::new(source.clone(), 1),
            shared,
            source,
            uplink,
            lanes: Vec::new(),
            scratch: Vec::new(),
            kinds: Vec::new(),
        }
    }

    pub(super) fn run(mut self) {
        loop {
            // Read first: what was emitted before the close is then in the rings that follow.
            let closing = self.shared.closing.load(Ordering::Acquire);
            let lanes = &self.shared.new_lanes;
            self.lanes.append(&mut lanes.lock().expect("no thread panics with it"));
            for at in 0..self.lanes.len() {
                self.drain(at);
            }
            self.lanes.retain(|lane| !lane.is_over);
            if self.shared.given_up.load(Ordering::Acquire) {
                return;
            }
            if closing {
                self.put(|builder| builder.push_end(Timestamp::now()));
                self.send();
                return;
            }
            self.send();
            thread::park_timeout(self.shared.settings.linger);
        }
    }

    /// Takes what one ring holds now, and states what it dropped.
    fn drain(&mut self, at: usize) {
        // Read first: what its thread put in or dropped before it ended is then taken below.
        self.lanes[at].is_over = self.lanes[at].ring.is_abandoned();
        let mut left = self.lanes[at].ring.slots();
        let mut event = std::mem::take(&mut self.scratch);
        while left > 0 {
            let mut length = [0; 4];
            take(&mut self.lanes[at], &mut length);
            event.resize(u32::from_le_bytes(length) as usize, 0);
            take(&mut self.lanes[at], &mut event);
            left -= 4 + event.len();
            let read = RingEvent::read(&event);
            if read.kind == NO_KIND {
                self.put(|builder| {
                    let (subject, fields) = read.subject_and_fields();
                    builder.push(read.time, subject, fields)
                });
            } else {
                let kind = self.kind(read.kind);
                self.put(|builder| {
                    let fields = kind.names.iter().map(String::as_str).zip(read.values());
                    builder.push(read.time, kind.subject.as_str(), fields)
                });
            }
            if self.builder.byte_count() >= self.shared.settings.chunk_bytes {
                self.send();
            }
        }
        self.scratch = event;
        let lane = &mut self.lanes[at];
        let full = lane.drops.full.load(Ordering::Relaxed);
        let large = lane.drops.large.load(Ordering::Relaxed);
        let (new_full, new_large) = (full - lane.stated_full, large - lane.stated_large);
        (lane.stated_full, lane.stated_large) = (full, large);
        self.state_loss(new_full, "ring full");
        self.state_loss(new_large, "event too large");
        self.shared.dropped_full.fetch_add(new_full, Ordering::Release);
        self.shared.dropped_large.fetch_add(new_large, Ordering::Release);
    }

    fn kind(&mut self, number: u32) -> Arc<KindContent> {
        if self.kinds.len() <= number as usize {
            // It was registered before it was emitted.
            let kinds = self.shared.kinds.lock().expect("no thread panics with it");
            self.kinds.extend(kinds[self.kinds.len()..].iter().cloned());
        }
        Arc::clone(&self.kinds[number as usize])
    }

    fn state_loss(&mut self, count: u64, cause: &str) {
        if count > 0 {
            self.put(|builder| builder.push_loss(Timestamp::now(), count, PLACE, cause));
        }
    }

    /// Puts an event into the chunk, or into the next where it is full. One that no chunk holds becomes a loss.
    fn put(&mut self, push: impl Fn(&mut ChunkBuilder) -> Result<(), EncodeError>) {
        let mut pushed = push(&mut self.builder);
        if pushed == Err(EncodeError::Full) {
            self.send();
            pushed = push(&mut self.builder);
        }
        if pushed.is_err() {
            self.shared.dropped_large.fetch_add(1, Ordering::Release);
            let stated = self.builder.push_loss(Timestamp::now(), 1, PLACE, "event too large");
            if stated.is_err() {
                self.send();
                let stated = self.builder.push_loss(Timestamp::now(), 1, PLACE, "event too large");
                stated.expect("an empty chunk has room for a loss");
            }
        }
        let numbered = self.builder.next_sequence() - 1;
        self.shared.numbered.store(numbered, Ordering::Release);
    }

    /// Passes the chunk on until it is acknowledged. After a chunk that was given up, none is submitted: what follows would state it as lost,
    /// and be acknowledged in its place.
    fn send(&mut self) {
        let next = ChunkBuilder::new(self.source.clone(), self.builder.next_sequence());
        let Some(mut chunk) = std::mem::replace(&mut self.builder, next).finish() else {
            return;
        };
        let (begin, mut wait) = (Instant::now(), WAIT_MIN);
        while !self.shared.given_up.load(Ordering::Acquire) {
            match self.uplink.submit(&chunk) {
                Ok(Reply::Acknowledged { next, .. }) if next >= chunk.end() => {
                    self.shared.acknowledged.store(next - 1, Ordering::Release);
                    return;
                }
                Ok(Reply::Gap { expected }) if (1..chunk.first()).contains(&expected) => {
                    // What is asked for was acknowledged before, and is gone there and here.
                    self.shared.lost.fetch_add(chunk.first() - expected, Ordering::Release);
                    let forgotten = self.loss(expected, chunk.first(), "forgotten");
                    let _ = self.uplink.submit(&forgotten);
                }
                Ok(Reply::Refused) if chunk.losses().is_empty() => {
                    self.shared
                        .lost
                        .fetch_add(chunk.end() - chunk.first(), Ordering::Release);
                    chunk = self.loss(chunk.first(), chunk.end(), "refused");
                }
                _ => {
                    let patience = self.shared.settings.patience.unwrap_or(Duration::MAX);
                    if begin.elapsed() >= patience {
                        self.shared.given_up.store(true, Ordering::Release);
                    }
                    thread::park_timeout(wait.min(patience));
                    wait = (wait * 2).min(WAIT_MAX);
                }
            }
        }
    }

    /// A chunk that states the loss of the numbers from `first` to before `end`.
    fn loss(&self, first: u64, end: u64, cause: &str) -> Chunk {
        Chunk::of_loss(&self.source, Timestamp::now(), &Loss::new(first..end, PLACE, cause))
    }
}

/// The waits between attempts, which double: our own choice.
const WAIT_MIN: Duration = Duration::from_millis(5);
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Takes exactly so many bytes, which the ring holds.
fn take(lane: &mut LaneEnd, bytes: &mut [u8]) {
    lane.ring
        .pop_entire_slice(bytes)
        .expect("a thread writes its events whole");
}
