//! Forwards a sensor's log to its monitor, in order, and deletes what the monitor has acknowledged.
//!
//! With a budget, posts wait until their bytes fit. What would wait longer than the budget's delay is dropped before it is sent, and stated as
//! lost. A batch that got no answer is sent again, since the monitor may have taken it or not: within a budget as it was, else in smaller posts.

use super::budget::{Budget, wire_bytes};
use super::pace::Pace;
use super::spool::{SPOOL_DAMAGED, Spool, loss};
use super::{Forwarding, thinning};
use crate::client::{Client, EncodedChunks, SLOW_LINK_CODEC};
use crate::log::{Entry, Log};
use crate::runtime::{Runtime, within};
use lastmile_codec::content::CodecSpec;
use lastmile_events::Chunk;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_units::BitRate;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The waits after a failure, which double: our own choice.
const WAIT_MIN: Duration = Duration::from_millis(10);
const WAIT_MAX: Duration = Duration::from_secs(2);
/// Why numbers are missing that the monitor asks for, or takes from nobody.
const FORGOTTEN: &str = "forgotten";
const REFUSED: &str = "refused";
/// What a fresh sensor takes for the compressed bytes of an event, until it has sent some.
const EVENT_BYTES: f64 = 40.0;

/// The bytes that a sensor may send.
#[derive(Debug, Clone, Copy)]
pub struct ByteBudget {
    /// No 10 seconds hold more than this rate gives, compressed and with all headers.
    pub rate: BitRate,
    /// Events that would wait longer than this are dropped.
    pub delay: Duration,
}

/// What a sensor has done, for those who watch it.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Everything before this position is forwarded.
    pub(super) position: AtomicU64,
    /// Events dropped for the budget.
    pub(super) dropped: AtomicU64,
    /// Bytes of posts, compressed.
    pub(super) sent_bytes: AtomicU64,
}

pub(super) struct Forwarder<R> {
    spool: Arc<Spool>,
    log: Arc<Log>,
    monitor: Client<R>,
    durability: Durability,
    budget: Option<(ByteBudget, Budget)>,
    progress: Arc<Progress>,
    uplink: UplinkState,
    /// Why numbers are missing that the monitor asks for.
    gap_cause: &'static str,
    /// The damage before this position is told.
    damage_reported: u64,
    /// Whether it is told that the log cannot be read.
    is_unreadable: bool,
    pace: Pace,
    /// The compressed bytes of an event, as a moving average.
    event_bytes: f64,
}

/// Whether the monitor takes events. A person is told once when it does not, and once when it does again.
struct UplinkState {
    /// How many attempts failed since the last that did not.
    failures: u64,
    note: fn(&str),
}

/// So many failures in a row are told: a connection that was closed while nothing was sent makes one.
const REPORTED_FAILURES: u64 = 2;

impl UplinkState {
    fn change(&mut self, failure: Option<&str>) {
        match failure {
            Some(why) => {
                self.failures += 1;
                if self.failures == REPORTED_FAILURES {
                    (self.note)(&format!("{why}; events are kept here until the monitor takes them"));
                }
            }
            None => {
                if self.failures >= REPORTED_FAILURES {
                    (self.note)("the monitor takes events again");
                }
                self.failures = 0;
            }
        }
    }
}

/// What is sent together, and again until it is answered.
struct Batch {
    chunks: Vec<Chunk>,
    encoded: EncodedChunks,
    events: u64,
    /// Where the next batch begins.
    next: u64,
}

impl<R: Runtime> Forwarder<R> {
    pub(super) fn new(spool: Arc<Spool>, monitor: Client<R>, forwarding: &Forwarding, progress: Arc<Progress>) -> Self {
        let budget = forwarding.budget.map(|settings| {
            let mut budget = Budget::new(settings.rate);
            let before = spool.spent_before(monitor.runtime().now(), budget.window_bytes());
            budget.spend(monitor.runtime().uptime(), before);
            (settings, budget)
        });
        Self {
            log: Arc::clone(spool.log()),
            spool,
            monitor,
            durability: forwarding.durability,
            budget,
            progress,
            uplink: UplinkState {
                failures: 0,
                note: forwarding.note,
            },
            gap_cause: FORGOTTEN,
            damage_reported: 0,
            is_unreadable: false,
            pace: Pace::default(),
            event_bytes: EVENT_BYTES,
        }
    }

    pub(super) async fn run(mut self) {
        let mut position = self.log.start().await;
        self.progress.position.store(position, Ordering::Relaxed);
        let mut pending: Option<Batch> = None;
        let mut wait = WAIT_MIN;
        loop {
            if pending.is_none() {
                self.log.wait_past(position).await;
            }
            let batch = match pending.take() {
                Some(batch) => Some(batch),
                None => self.next_batch(position).await,
            };
            let Some(mut batch) = batch else {
                self.monitor.runtime().sleep(wait).await;
                wait = (wait * 2).min(WAIT_MAX);
                continue;
            };
            if batch.chunks.is_empty() || self.forward(&mut batch).await {
                position = batch.next;
                self.spool.release(position).await;
                self.progress.position.store(position, Ordering::Relaxed);
                wait = WAIT_MIN;
            } else {
                // Without a budget the same chunks are read again, fewer where no answer came. What a budget dropped is stated in the batch.
                pending = self.budget.is_some().then_some(batch);
                self.monitor.runtime().sleep(wait).await;
                wait = (wait * 2).min(WAIT_MAX);
            }
        }
    }

    /// What is to be sent next; `None` where the log cannot be read now.
    async fn next_batch(&mut self, position: u64) -> Option<Batch> {
        let page = match self.log.read(position).await {
            Ok(page) => page,
            Err(error) => {
                if !std::mem::replace(&mut self.is_unreadable, true) {
                    (self.uplink.note)(&format!("the spool cannot be read, and nothing is forwarded: {error}"));
                }
                return None;
            }
        };
        let (mut found, mut page_end) = (Vec::new(), page.next);
        for entry in page.entries {
            match entry {
                Entry::Chunk { position, chunk } => found.push((position, chunk)),
                // It took no event.
                Entry::Damaged { end, .. } if end <= position => {}
                Entry::Damaged { end, what, .. } if found.is_empty() => {
                    return self.batch_in_place_of(position, end, &what).await;
                }
                Entry::Damaged { position, .. } => {
                    page_end = position;
                    break;
                }
            }
        }
        let Some((settings, budget)) = &self.budget else {
            let (mut chunks, mut bytes, mut events, mut next) = (Vec::new(), 0, 0, page_end);
            for (position, chunk) in found {
                bytes += chunk.bytes().len();
                if bytes > self.pace.largest() && !chunks.is_empty() {
                    next = position;
                    break;
                }
                events += u64::from(chunk.event_count());
                chunks.push(chunk);
            }
            let encoded = EncodedChunks::new(&chunks, self.codec());
            return Some(Batch {
                chunks,
                encoded,
                events,
                next,
            });
        };
        let waiting = self.log.end() - position;
        let allowed = (budget.bodies_in(settings.delay) / self.event_bytes) as u64;
        let mut surplus = waiting.saturating_sub(allowed);
        let (mut dropped, mut kept, mut next) = (Vec::new(), Vec::new(), position);
        for (position, chunk) in found {
            let events = u64::from(chunk.event_count());
            let end = position + events;
            if surplus > 0 && kept.is_empty() {
                surplus = surplus.saturating_sub(events);
                dropped.push(chunk);
            } else {
                let kept_events: u64 = kept.iter().map(|chunk: &Chunk| u64::from(chunk.event_count())).sum();
                let expected = (kept_events + events) as f64 * self.event_bytes;
                if !kept.is_empty() && expected > budget.largest_body() as f64 {
                    break;
                }
                kept.push(chunk);
            }
            next = end;
        }
        Some(self.fit(dropped, kept, next.max(position + 1)))
    }

    /// What is sent in place of a damaged part of the log. A source of which chunks follow meets the gap with the next one; of each other source
    /// its last number is stated as lost, which meets the gap as well.
    async fn batch_in_place_of(&mut self, position: u64, end: u64, what: &str) -> Option<Batch> {
        let mut silent: BTreeMap<_, _> = self.spool.waiting(position).into_iter().collect();
        let committed = self.log.end();
        let mut from = end;
        while from < committed {
            let page = self.log.read(from).await.ok()?;
            for entry in page.entries {
                if let Entry::Chunk { chunk, .. } = entry {
                    silent.remove(chunk.source());
                }
            }
            from = page.next.max(from + 1);
        }
        self.gap_cause = SPOOL_DAMAGED;
        if self.damage_reported < end && !self.spool.has_stated(position) {
            self.damage_reported = end;
            (self.uplink.note)(&format!(
                "the spool is damaged from position {position} to {}: {what}; the monitor is told what is lost",
                end - 1
            ));
        }
        let now = self.monitor.runtime().now();
        let notes = silent.iter().filter(|(_, next)| **next > 1);
        let chunks: Vec<Chunk> = notes
            .map(|(source, next)| loss(source, next - 1, *next, SPOOL_DAMAGED, now))
            .collect();
        let encoded = EncodedChunks::new(&chunks, self.codec());
        Some(Batch {
            chunks,
            encoded,
            events: 0,
            next: end,
        })
    }

    /// A batch of the chunks that are kept and the statements about those that are dropped, which fits the budget.
    fn fit(&mut self, mut dropped: Vec<Chunk>, mut kept: Vec<Chunk>, mut next: u64) -> Batch {
        let now = self.monitor.runtime().now();
        let (_, budget) = self.budget.as_ref().expect("there is a budget");
        loop {
            let mut chunks = thinning::drop_events(&dropped, now);
            let lost: u64 = dropped.iter().map(|chunk| u64::from(chunk.event_count())).sum();
            chunks.extend(kept.iter().cloned());
            let encoded = EncodedChunks::new(&chunks, self.codec());
            let size = encoded.byte_count();
            let events: u64 = kept.iter().map(|chunk| u64::from(chunk.event_count())).sum();
            let is_alone = kept.len() <= 1;
            if size <= budget.largest_body() || kept.is_empty() || (is_alone && budget.can_hold(size)) {
                self.progress.dropped.fetch_add(lost, Ordering::Relaxed);
                return Batch {
                    chunks,
                    encoded,
                    events,
                    next,
                };
            }
            let last = kept.pop().expect("it is not empty");
            if is_alone {
                // It is too large for any window.
                dropped.push(last);
            } else {
                next -= u64::from(last.event_count());
            }
        }
    }

    /// Sends a batch; whether all of it is acknowledged. Where something else must be sent first, it is.
    async fn forward(&mut self, batch: &mut Batch) -> bool {
        let Some(replies) = self.post(&batch.encoded, batch.chunks.len()).await else {
            return false;
        };
        if batch.events > 0 && batch.encoded.is_compressed() {
            let measured = batch.encoded.byte_count() as f64 / batch.events as f64;
            self.event_bytes += (measured - self.event_bytes) / 4.0;
        }
        let now = self.monitor.runtime().now();
        let mut all = true;
        for (chunk, reply) in batch.chunks.iter().zip(replies) {
            all &= match reply {
                Reply::Acknowledged { next, .. } => next >= chunk.end(),
                Reply::Gap { expected } if (1..chunk.first()).contains(&expected) => {
                    // The log that acknowledged these numbers is another one, or has lost them; they are not here any more.
                    let gap = loss(chunk.source(), expected, chunk.first(), self.gap_cause, now);
                    self.post_loss(gap).await;
                    false
                }
                Reply::Refused => self.state_refused(chunk).await,
                Reply::Gap { .. } | Reply::Full => false,
            };
        }
        all
    }

    /// States those numbers of a refused chunk as lost that the monitor has not; whether nothing more can be done for them.
    async fn state_refused(&mut self, chunk: &Chunk) -> bool {
        // What follows the chunk is a gap for the monitor, which names the number that it expects.
        let now = self.monitor.runtime().now();
        let probe = loss(chunk.source(), chunk.end() + 1, chunk.end() + 2, REFUSED, now);
        let Some(Reply::Gap { expected }) = self.post_loss(probe).await else {
            return false;
        };
        if expected >= chunk.end() {
            return true;
        }
        let stated = chunk.losses().first().filter(|_| chunk.event_count() == 1);
        let cause = stated.map_or(REFUSED, |loss| loss.cause.as_str());
        let missing = loss(chunk.source(), expected.max(chunk.first()), chunk.end(), cause, now);
        let reply = self.post_loss(missing).await;
        if reply == Some(Reply::Refused) {
            (self.uplink.note)(&format!(
                "the monitor takes nothing more of source {}, which has ended there: its numbers from {expected} on are lost",
                chunk.source()
            ));
        }
        matches!(reply, Some(Reply::Refused | Reply::Acknowledged { .. }))
    }

    async fn post_loss(&mut self, loss: Chunk) -> Option<Reply> {
        let encoded = EncodedChunks::new(&[loss], self.codec());
        let replies = self.post(&encoded, 1).await?;
        replies.first().copied()
    }

    /// What is sent within a budget is always compressed.
    const fn codec(&self) -> CodecSpec {
        match self.budget {
            Some(_) => SLOW_LINK_CODEC,
            None => self.monitor.codec(),
        }
    }

    /// Posts when the budget has room for it.
    async fn post(&mut self, encoded: &EncodedChunks, count: usize) -> Option<Vec<Reply>> {
        let size = encoded.byte_count();
        if let Some((_, budget)) = &mut self.budget {
            let wait = budget.wait(self.monitor.runtime().uptime(), size);
            self.monitor.runtime().sleep(wait).await;
            self.note_spent(Some(size));
        }
        let (begun, limit) = (self.monitor.runtime().uptime(), self.pace.limit(size));
        let replies = self
            .monitor
            .submit_encoded(encoded, count, self.durability, limit)
            .await;
        match &replies {
            Ok(_) => self.pace.answered(size, self.monitor.runtime().uptime() - begun),
            Err(_) => self.pace.failed(),
        }
        if let Some((_, budget)) = &mut self.budget {
            budget.send(self.monitor.runtime().uptime(), size);
            self.note_spent(None);
        }
        self.progress.sent_bytes.fetch_add(size, Ordering::Relaxed);
        let failure = match &replies {
            Err(error) => Some(error.to_string()),
            Ok(replies) if replies.contains(&Reply::Full) => Some("the monitor has no room".to_owned()),
            Ok(_) => None,
        };
        self.uplink.change(failure.as_deref());
        replies.ok()
    }

    /// Notes what is spent of the budget's window, with a body that is about to be sent, for the life after this one.
    fn note_spent(&self, body: Option<u64>) {
        let Some((_, budget)) = &self.budget else { return };
        let spent = budget.held(self.monitor.runtime().uptime()) + body.map_or(0, wire_bytes);
        // Where the disk does not take it, the next life may spend it again.
        let _ = self.spool.spend(self.monitor.runtime().now(), spent, body.is_some());
    }
}

/// Waits until everything is forwarded, for this long at most.
pub(super) async fn wait_until_empty<R: Runtime>(runtime: &R, log: &Log, patience: Duration) {
    let empty = async {
        while log.start().await < log.end() {
            runtime.sleep(WAIT_MIN).await;
        }
    };
    let _ = within(runtime, patience, empty).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    thread_local! {
        static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    #[test]
    fn a_refusal_is_told_once_and_so_is_its_end() {
        let note = |text: &str| NOTES.with_borrow_mut(|notes| notes.push(text.to_owned()));
        let mut uplink = UplinkState { failures: 0, note };
        for failure in [
            None,
            Some("broken"),
            None,
            Some("401"),
            Some("401"),
            Some("401"),
            None,
            None,
        ] {
            uplink.change(failure);
        }
        let notes = [
            "401; events are kept here until the monitor takes them",
            "the monitor takes events again",
        ];
        assert_eq!(NOTES.take(), notes);
    }
}
