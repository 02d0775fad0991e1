//! Delivery traces in mahimahi's format: the times at which a link of varying capacity may deliver.
//!
//! A trace is a text file with one whole number of milliseconds per line, never decreasing: at each of these times the
//! link may deliver 1,504 bytes (Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015,
//! and mm-link(1)). At its end it starts over; its last line is its period. A packet larger than the rest of an
//! opportunity waits for the next one to deliver its remaining bytes; small packets share one; an opportunity that
//! finds the queue empty is lost.
//!
//! Departure: mahimahi's clock counts whole milliseconds, so it may deliver a packet up to a millisecond too early.
//! Here an opportunity at 7 ms serves a packet offered at 7.000 ms and not one offered at 7.001 ms.

use crate::LinkError;
use lastmile_units::{BitRate, ByteCount, Instant};
use std::fmt;
use std::sync::Arc;

/// What one opportunity delivers: an Ethernet-sized IP packet of 1,500 B and the 4 B header of mahimahi's TUN device.
pub const OPPORTUNITY: ByteCount = ByteCount::new(1504);

/// Delivery opportunities, repeated without end. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct DeliveryTrace {
    name: Arc<str>,
    /// Milliseconds since the period began; never decreasing; the last is above 0 and is the period.
    milliseconds: Arc<[u32]>,
}

impl DeliveryTrace {
    /// Reads a trace from its text. `name`, the file's path, is used in errors and in the printed form of a link.
    ///
    /// # Errors
    /// Names the line that is not a whole number of milliseconds, or is smaller than the line before; or a trace that
    /// is empty, or has no opportunity after 0 ms (it would deliver without limit).
    pub fn parse(name: &str, text: &str) -> Result<Self, LinkError> {
        let error =
            |line: usize, problem: String| Err(LinkError(format!("delivery trace {name:?}, line {line}: {problem}")));
        let mut milliseconds: Vec<u32> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let Ok(number) = line.trim().parse::<u32>() else {
                let shortened: String = line.chars().take(LINE_SHOWN_MAX).collect();
                let problem = format!("{shortened:?} is not a whole number of milliseconds, like 12");
                return error(index + 1, problem);
            };
            if let Some(&before) = milliseconds.last()
                && number < before
            {
                let problem = format!("{number} ms comes after {before} ms; sort the lines by time");
                return error(index + 1, problem);
            }
            milliseconds.push(number);
        }
        match milliseconds.last() {
            None => {
                let problem = "the trace is empty; it needs a line for each delivery opportunity";
                error(1, problem.to_owned())
            }
            Some(0) => {
                let problem = "the last opportunity is at 0 ms, so the trace has no length";
                error(milliseconds.len(), problem.to_owned())
            }
            Some(_) => Ok(Self {
                name: name.into(),
                milliseconds: milliseconds.into(),
            }),
        }
    }

    /// Its name: the path it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many opportunities one period has.
    pub fn opportunities(&self) -> usize {
        self.milliseconds.len()
    }

    /// The mean rate over a period, rounded down, including the overhead in [`OPPORTUNITY`].
    pub fn rate_mean(&self) -> BitRate {
        let bits = self.milliseconds.len() as u128 * u128::from(OPPORTUNITY.get()) * 8;
        let rate = bits * 1000 / u128::from(self.period());
        BitRate::new(u64::try_from(rate).unwrap_or(u64::MAX).max(1)).expect("at least 1 bit/s")
    }

    /// Its length in milliseconds.
    fn period(&self) -> u32 {
        *self.milliseconds.last().expect("a trace has at least one line")
    }

    /// The time of opportunity `index`, counted from the world's start through all repetitions.
    fn at(&self, index: u64) -> Instant {
        let each = self.milliseconds.len() as u64;
        let milliseconds =
            (index / each) * u64::from(self.period()) + u64::from(self.milliseconds[(index % each) as usize]);
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    /// The first opportunity at or after `time`.
    fn first_from(&self, time: Instant) -> u64 {
        let each = self.milliseconds.len() as u64;
        let milliseconds = time.as_nanos().div_ceil(1_000_000);
        let period = u64::from(self.period());
        // The end of one repetition is the start of the next: search from the last one that can still contain `time`.
        let repetition = milliseconds.saturating_sub(1) / period;
        let within = milliseconds - repetition * period;
        let index = self.milliseconds.partition_point(|&at| u64::from(at) < within) as u64;
        repetition * each + index
    }
}

impl fmt::Debug for DeliveryTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "DeliveryTrace({:?}, {} opportunities)",
            self.name,
            self.milliseconds.len()
        )
    }
}

/// The characters of a foreign line that a message shows.
const LINE_SHOWN_MAX: usize = 40;

/// A transmitter's position in a trace.
#[derive(Debug)]
pub(crate) struct TraceCursor {
    trace: DeliveryTrace,
    next: u64,
    /// What remains of opportunity `next`.
    left: ByteCount,
}

impl TraceCursor {
    pub(crate) fn new(trace: DeliveryTrace) -> Self {
        Self {
            trace,
            next: 0,
            left: OPPORTUNITY,
        }
    }

    /// When a frame of `size` that may start at `start` is delivered; uses up the opportunities that it needs.
    pub(crate) fn serialise(&mut self, start: Instant, size: ByteCount) -> Instant {
        if self.trace.at(self.next) < start {
            self.next = self.trace.first_from(start);
            self.left = OPPORTUNITY;
        }
        let mut wanted = size;
        while wanted > self.left {
            wanted -= self.left;
            self.next += 1;
            self.left = OPPORTUNITY;
        }
        let end = self.trace.at(self.next);
        self.left -= wanted;
        if self.left == ByteCount::ZERO {
            self.next += 1;
            self.left = OPPORTUNITY;
        }
        end
    }
}

#[cfg(test)]
mod tests;
