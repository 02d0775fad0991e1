//! Computes how long a frame takes to serialise. Carries rounding remainders over, so that a rate does not drift.

use crate::direction::Capacity;
use crate::trace::TraceCursor;
use lastmile_units::{BitRate, ByteCount, Instant};

const NANOSECONDS_PER_SECOND: u128 = 1_000_000_000;

/// Serialises frames, one after another.
#[derive(Debug)]
pub(crate) struct Transmitter {
    kind: Kind,
    /// Bytes added to each frame before it is serialised.
    framing_overhead: ByteCount,
    /// When the last frame's last bit left, rounded up.
    free_at: Instant,
}

#[derive(Debug)]
enum Kind {
    Unlimited,
    Rate {
        rate: BitRate,
        /// How much too late `free_at` is: a fraction of a nanosecond, in units of 1 ns / rate.
        early: u64,
    },
    Trace(TraceCursor),
}

impl Transmitter {
    pub(crate) fn new(capacity: &Capacity, framing_overhead: ByteCount) -> Self {
        let kind = match capacity {
            Capacity::Unlimited => Kind::Unlimited,
            Capacity::Rate(rate) => Kind::Rate { rate: *rate, early: 0 },
            Capacity::Trace(trace) => Kind::Trace(TraceCursor::new(trace.clone())),
        };
        Self {
            kind,
            framing_overhead,
            free_at: Instant::START,
        }
    }

    /// When the next frame can start.
    pub(crate) const fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Serialises a frame of `size` from `start` on, which is not before [`free_at`](Self::free_at); returns when its
    /// last bit leaves.
    ///
    /// A frame that starts in the nanosecond in which the one before ended follows it without a gap: n frames of b bits
    /// back to back end at `ceil(n b / rate)`, whatever n is.
    pub(crate) fn serialise(&mut self, start: Instant, size: ByteCount) -> Instant {
        assert!(start >= self.free_at, "a frame starts while another is in service");
        let size = size + self.framing_overhead;
        self.free_at = match &mut self.kind {
            Kind::Unlimited => start,
            Kind::Rate { rate, early } => {
                let carried = if start == self.free_at { *early } else { 0 };
                let rate = u128::from(rate.bits_per_second());
                // In units of 1 ns / rate: what the bits take, less what earlier rounding added too much.
                let (due, carried) = (u128::from(size.get()) * 8 * NANOSECONDS_PER_SECOND, u128::from(carried));
                let nanoseconds = due.saturating_sub(carried).div_ceil(rate);
                *early = (nanoseconds * rate + carried - due) as u64;
                Instant::from_nanos(start.as_nanos() + nanoseconds as u64)
            }
            Kind::Trace(cursor) => cursor.serialise(start, size),
        };
        self.free_at
    }
}
