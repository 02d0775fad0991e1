//! BBR's units for bandwidths and gains, and a windowed maximum of bandwidths.

use lastmile_units::{BitRate, ByteCount};
use std::time::Duration;

/// Segments per microsecond, in steps of 2^-24 (about 0.06 segments per second), as in Linux's `tcp_bbr.c`: at a few segments
/// per second its rounding shows in rates and windows, so it is reproduced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(u64);

/// A factor, in steps of 1/256 (Linux's `BBR_UNIT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gain(pub(super) u64);

const STEPS: u32 = 24;
const GAIN_STEPS: u32 = 8;
/// Segments are paced this much below the bandwidth on average, so that queues drain (Linux's `bbr_pacing_margin_percent`).
const PACING_MARGIN_PERCENT: u64 = 1;

impl Gain {
    pub(super) const ONE: Gain = Gain(1 << GAIN_STEPS);
}

impl Bandwidth {
    pub(super) const ZERO: Bandwidth = Bandwidth(0);

    /// `segments` per `time`, which is rounded to whole microseconds and at least one.
    pub(super) fn from_segments(segments: u64, time: Duration) -> Self {
        Self((segments << STEPS) / microseconds(time).max(1))
    }

    /// Whole segments carried in that time.
    pub(super) fn packets_delivered_in(self, time: Duration) -> u64 {
        (self.0 * microseconds(time)) >> STEPS
    }

    /// Segments carried in that time, times `gain`, rounded up: the bandwidth-delay product (Linux's `bbr_bdp`).
    pub(super) fn product(self, round_trip: Duration, gain: Gain) -> u32 {
        let scaled = (self.0 * microseconds(round_trip) * gain.0) >> GAIN_STEPS;
        scaled.div_ceil(1 << STEPS) as u32
    }

    /// The payload rate at this bandwidth, times `gain`, less the margin; never zero.
    pub(super) fn paced(self, gain: Gain, segment_size: ByteCount) -> BitRate {
        let rate = BitRate::new(8 * self.payload_per_second(gain, segment_size));
        rate.unwrap_or(SLOWEST)
    }

    /// Bytes per second, less the margin.
    fn payload_per_second(self, gain: Gain, segment_size: ByteCount) -> u64 {
        let scaled = (self.0 * segment_size.get() * gain.0) >> GAIN_STEPS;
        (scaled * (1_000_000 / 100 * (100 - PACING_MARGIN_PERCENT))) >> STEPS
    }

    /// This bandwidth times `gain`.
    pub(super) const fn times(self, gain: Gain) -> Self {
        Self((self.0 * gain.0) >> GAIN_STEPS)
    }

    /// Whether two bandwidths differ by at most an eighth of `self`, or by 4 kbit/s (Linux's `bbr_lt_bw_ratio` and
    /// `bbr_lt_bw_diff`).
    pub(super) fn is_consistent_with(self, other: Self, segment_size: ByteCount) -> bool {
        let difference = Self(self.0.abs_diff(other.0));
        difference.0 * 8 <= self.0 || difference.payload_per_second(Gain::ONE, segment_size) <= 4000 / 8
    }

    pub(super) const fn mean_with(self, other: Self) -> Self {
        Self((self.0 + other.0) / 2)
    }
}

/// One byte per second.
const SLOWEST: BitRate = BitRate::new(8).expect("it is not zero");

fn microseconds(time: Duration) -> u64 {
    time.as_micros() as u64
}

/// The largest bandwidth of a window of rounds: Nichols' algorithm as in Linux's `win_minmax.c`, which keeps the best, the best
/// since then, and the best since that.
#[derive(Debug, Default)]
pub(super) struct Maximum {
    best: [BandwidthSample; 3],
}

#[derive(Debug, Clone, Copy, Default)]
struct BandwidthSample {
    round: u64,
    bandwidth: Bandwidth,
}

impl Maximum {
    pub(super) const fn get(&self) -> Bandwidth {
        self.best[0].bandwidth
    }

    /// Observes a bandwidth of `round`, and drops those of more than `window` rounds before.
    pub(super) fn observe(&mut self, window: u64, round: u64, bandwidth: Bandwidth) {
        let seen = BandwidthSample { round, bandwidth };
        if bandwidth >= self.best[0].bandwidth || round - self.best[2].round > window {
            self.best = [seen; 3];
            return;
        }
        if bandwidth >= self.best[1].bandwidth {
            (self.best[1], self.best[2]) = (seen, seen);
        } else if bandwidth >= self.best[2].bandwidth {
            self.best[2] = seen;
        }
        let age = round - self.best[0].round;
        if age > window {
            // The best is too old. The second may be too; the third is known not to be.
            for _ in 0..2 {
                if round - self.best[0].round > window {
                    self.best = [self.best[1], self.best[2], seen];
                }
            }
        } else if self.best[1].round == self.best[0].round && age > window / 4 {
            (self.best[1], self.best[2]) = (seen, seen);
        } else if self.best[2].round == self.best[1].round && age > window / 2 {
            self.best[2] = seen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: ByteCount = ByteCount::new(1448);

    #[test]
    fn ten_segments_in_a_tenth_of_a_second_fill_twice_ten_segments_at_gain_two() {
        let round_trip = Duration::from_millis(100);
        let bandwidth = Bandwidth::from_segments(10, round_trip);
        assert_eq!(bandwidth.product(round_trip, Gain(512)), 20);
        assert_eq!(
            bandwidth.packets_delivered_in(2 * round_trip),
            19,
            "what is carried is rounded down"
        );
    }

    /// 100 segments per second of 1448 bytes, less 1 %, and the rounding of 2^24 / 10,000 us down to 1677 steps (0.04 %).
    #[test]
    fn a_paced_rate_is_one_per_cent_below_the_bandwidth() {
        let paced = Bandwidth::from_segments(100, Duration::from_secs(1)).paced(Gain::ONE, SEGMENT);
        let exact = 144_800.0 * 8.0 * 0.99 * (1677.0 / 1677.7216);
        assert!((paced.bits_per_second() as f64 - exact).abs() <= 8.0, "{paced}");
        assert_eq!(Bandwidth::ZERO.paced(Gain::ONE, SEGMENT), SLOWEST);
    }

    /// The largest of the last ten rounds, whatever the samples, as a filter that keeps all of them would give it while samples
    /// rise, fall or stay level.
    #[test]
    fn the_most_that_was_seen_is_forgotten_after_ten_rounds() {
        let bandwidth = |segments| Bandwidth::from_segments(segments, Duration::from_secs(1));
        let mut maximum = Maximum::default();
        maximum.observe(10, 1, bandwidth(100));
        for round in 2..=11 {
            maximum.observe(10, round, bandwidth(50));
            assert_eq!(maximum.get(), bandwidth(100), "round {round}");
        }
        maximum.observe(10, 12, bandwidth(50));
        assert_eq!(maximum.get(), bandwidth(50));
        maximum.observe(10, 13, bandwidth(60));
        assert_eq!(maximum.get(), bandwidth(60));
    }

    #[test]
    fn falling_samples_leave_the_maximum_at_what_the_last_rounds_saw() {
        let bandwidth = |segments| Bandwidth::from_segments(segments, Duration::from_secs(1));
        let mut maximum = Maximum::default();
        for round in 1..100 {
            maximum.observe(10, round, bandwidth(1000 - round));
            let kept = 1000
                - maximum
                    .get()
                    .mean_with(maximum.get())
                    .packets_delivered_in(Duration::from_secs(1))
                - 1;
            assert!(round - kept.min(round) <= 10, "round {round} remembers round {kept}");
        }
    }

    #[test]
    fn bandwidths_are_consistent_within_an_eighth_or_4_kbit_s() {
        let bandwidth = |segments| Bandwidth::from_segments(segments, Duration::from_secs(1));
        assert!(bandwidth(800).is_consistent_with(bandwidth(899), SEGMENT));
        assert!(!bandwidth(800).is_consistent_with(bandwidth(902), SEGMENT));
        // A quarter of a segment per second is 2.9 kbit/s.
        let slow = |quarters| Bandwidth::from_segments(quarters, Duration::from_secs(4));
        assert!(slow(1).is_consistent_with(slow(2), SEGMENT));
        assert!(!slow(1).is_consistent_with(slow(3), SEGMENT));
    }
}
