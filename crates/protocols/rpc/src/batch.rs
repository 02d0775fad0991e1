//! Gathers one-way calls into batches by number, bytes and time.

use lastmile_units::{ByteCount, Instant};
use std::num::NonZeroUsize;
use std::time::Duration;

/// When a batch is sent: as soon as one of these is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// The number of calls.
    pub calls: NonZeroUsize,
    /// The bytes of its calls, where they are limited; a longer call is a batch of its own.
    pub bytes: Option<ByteCount>,
    /// How long its first call waits for others, where that is limited.
    pub delay: Option<Duration>,
}

impl BatchLimits {
    /// Each call for itself.
    pub const SINGLE: Self = Self {
        calls: NonZeroUsize::MIN,
        bytes: None,
        delay: None,
    };
}

/// A batch that is being gathered.
#[derive(Debug, Clone)]
pub struct Batch<T> {
    limits: BatchLimits,
    calls: Vec<T>,
    bytes: ByteCount,
    /// When its first call was added.
    began: Instant,
}

impl<T> Batch<T> {
    /// An empty batch.
    pub const fn new(limits: BatchLimits) -> Self {
        Self {
            limits,
            calls: Vec::new(),
            bytes: ByteCount::ZERO,
            began: Instant::START,
        }
    }

    /// Adds a call of `bytes`, and returns the batches that are thereby complete: none, one, or two where the call did not fit.
    pub fn push(&mut self, call: T, bytes: ByteCount, now: Instant) -> Vec<Vec<T>> {
        let mut complete = Vec::new();
        if let Some(limit) = self.limits.bytes
            && !self.calls.is_empty()
            && self.bytes + bytes > limit
        {
            complete.extend(self.take());
        }
        if self.calls.is_empty() {
            self.began = now;
        }
        self.calls.push(call);
        self.bytes += bytes;
        let is_full = self.calls.len() >= self.limits.calls.get();
        if is_full || self.limits.bytes.is_some_and(|limit| self.bytes >= limit) {
            complete.extend(self.take());
        }
        complete
    }

    /// When the batch must be sent even if nothing is added.
    pub fn due(&self) -> Option<Instant> {
        let delay = self.limits.delay.filter(|_| !self.calls.is_empty())?;
        Some(self.began + delay)
    }

    /// The calls gathered so far, if there are any.
    pub fn take(&mut self) -> Option<Vec<T>> {
        self.bytes = ByteCount::ZERO;
        let calls = std::mem::take(&mut self.calls);
        (!calls.is_empty()).then_some(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::START + Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_batch_is_complete_by_number_or_bytes_and_due_by_the_time_of_its_first_call() {
        let limits = BatchLimits {
            calls: NonZeroUsize::new(3).unwrap(),
            bytes: Some(ByteCount::new(10)),
            delay: Some(Duration::from_millis(20)),
        };
        let mut batch = Batch::new(limits);
        assert_eq!(batch.due(), None);
        assert!(batch.push(1, ByteCount::new(2), at(5)).is_empty());
        assert!(batch.push(2, ByteCount::new(2), at(9)).is_empty());
        assert_eq!(batch.due(), Some(at(25)));
        assert_eq!(batch.push(3, ByteCount::new(2), at(9)), [vec![1, 2, 3]]);
        assert_eq!(batch.due(), None);
        assert!(batch.push(4, ByteCount::new(8), at(10)).is_empty());
        // The next does not fit, and is long enough for a batch of its own.
        assert_eq!(batch.push(5, ByteCount::new(10), at(10)), [vec![4], vec![5]]);
        assert_eq!(batch.take(), None);
    }

    #[test]
    fn without_limits_each_call_is_sent_for_itself() {
        let mut batch = Batch::new(BatchLimits::SINGLE);
        assert_eq!(batch.push("call", ByteCount::new(1), at(0)), [vec!["call"]]);
    }
}
