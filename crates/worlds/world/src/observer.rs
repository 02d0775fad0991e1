//! What a world tells an observer while it runs: what each medium did, interval by interval.
//!
//! Observing changes nothing: samples are taken when a medium is driven anyway, so that no event is added to a simulated world and no
//! thread wakes up in an emulated one. An interval in which no packet moves joins the one after it.

use crate::topology::id::MediumId;
use lastmile_link::Counters;
use lastmile_units::{ByteCount, Instant};
use std::ops::Range;
use std::time::Duration;

/// What a medium did in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediumSample {
    /// The medium.
    pub medium: MediumId,
    /// The IP bytes of the packets that it delivered.
    pub delivered: ByteCount,
    /// The packets that it dropped, whatever the cause.
    pub dropped: u64,
    /// The packets that waited at the end, in all its queues together.
    pub queue_length: u64,
}

/// Sees a world from inside.
pub trait Observer: Send {
    /// An interval of the world's time has ended; there is a sample of each medium.
    fn interval(&mut self, time: &Range<Instant>, samples: &[MediumSample]);
}

/// An observer, and what it was told last.
pub(crate) struct Sampling {
    observer: Box<dyn Observer>,
    period: Duration,
    since: Instant,
    counted: Vec<Counters>,
}

impl Sampling {
    pub(crate) fn new(observer: Box<dyn Observer>, period: Duration) -> Self {
        Self {
            observer,
            period,
            since: Instant::START,
            counted: Vec::new(),
        }
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now.saturating_since(self.since) >= self.period
    }

    /// Tells what the media did until now; `media` gives the counters and the queue length of each, in the order of their numbers.
    pub(crate) fn tell(&mut self, now: Instant, media: impl ExactSizeIterator<Item = (Counters, u64)>) {
        self.counted.resize(media.len(), Counters::default());
        let samples: Vec<MediumSample> = media
            .zip(&mut self.counted)
            .enumerate()
            .map(|(number, ((counters, queue_length), before))| {
                let sample = MediumSample {
                    medium: MediumId(number),
                    delivered: counters.bytes_delivered.saturating_sub(before.bytes_delivered),
                    dropped: counters.dropped() - before.dropped(),
                    queue_length,
                };
                *before = counters;
                sample
            })
            .collect();
        self.observer.interval(&(self.since..now), &samples);
        self.since = now;
    }
}
