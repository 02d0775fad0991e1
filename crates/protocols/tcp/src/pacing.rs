//! The clock of a paced sender: when its next burst may leave, and how large the burst is.
//!
//! The segments of a sender with a pacing rate are spread over time, as Linux does without a queueing discipline.
//! [`super::congestion`] sets the rate.

use lastmile_units::{BitRate, ByteCount, Instant};
use std::time::Duration;

/// The clock of a paced sender (Linux's `tcp_wstamp_ns` and the code that moves it).
#[derive(Debug)]
pub(super) struct Pacing {
    /// When the next burst may leave; in the past, where it may leave at once.
    pub(super) departs_at: Instant,
    burst: Burst,
    segments_sent: u64,
    /// A segment is ready and waits for the clock.
    waits: bool,
}

/// Segments that leave back to back: what Linux hands to the device at once.
#[derive(Debug)]
struct Burst {
    at: Instant,
    segments_left: u32,
    /// How far behind the clock this burst was when it began, less what has been caught up.
    credit: Duration,
    is_charged: bool,
}

/// Segments that are sent before pacing begins to count them (Linux's `tcp_update_skb_after_send`).
const FREE_SEGMENTS: u64 = 10;
/// Below this rate a burst is one segment (Linux's `bbr_min_tso_rate`).
const SINGLE_SEGMENT_RATE: BitRate = BitRate::new(1_200_000).expect("it is not zero");
/// A burst lasts 2^-10 s, about a millisecond (Linux's `sk_pacing_shift`).
const BURSTS_PER_SECOND: u64 = 1 << 10;
/// The most that Linux hands to a device at once: 64 KiB less room for headers.
const BURST_MAX: ByteCount = ByteCount::new((64 << 10) - 321);

/// How many segments leave back to back at that rate: a millisecond's worth, at least two where the rate is not low.
pub(super) fn segments_per_burst(rate: BitRate, extra: ByteCount, segment_size: ByteCount) -> u32 {
    let least = if rate < SINGLE_SEGMENT_RATE { 1 } else { 2 };
    let bytes = (bytes_per_second(rate) / BURSTS_PER_SECOND + extra.get()).min(BURST_MAX.get());
    ((bytes / segment_size.get()) as u32).max(least)
}

/// How much larger a burst may be on a short path, where feedback comes soon: halved for each 512 us of round trip (Linux's
/// `tcp_tso_autosize`).
pub(super) fn short_path_allowance(round_trip_minimum: Duration) -> ByteCount {
    let halvings = round_trip_minimum.as_micros() >> 9;
    ByteCount::new(BURST_MAX.get().checked_shr(halvings as u32).unwrap_or(0))
}

const fn bytes_per_second(rate: BitRate) -> u64 {
    rate.bits_per_second() / 8
}

impl Pacing {
    /// The clock of a connection that last sent at `now`.
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            departs_at: now,
            burst: Burst {
                at: now,
                segments_left: 0,
                credit: Duration::ZERO,
                is_charged: false,
            },
            segments_sent: 0,
            waits: false,
        }
    }

    /// How long the next burst has to wait.
    pub(super) const fn delay(&self, now: Instant) -> Duration {
        self.departs_at.saturating_since(now)
    }

    /// When to ask the sender again, where it was held back.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.waits.then_some(self.departs_at)
    }

    /// Clears the note that a burst waits.
    pub(super) const fn stop_waiting(&mut self) {
        self.waits = false;
    }

    /// Whether a burst under way has room for another segment.
    pub(super) fn is_in_burst(&self, now: Instant) -> bool {
        self.burst.segments_left > 0 && self.burst.at == now
    }

    /// Whether a burst may begin; where not, notes that one waits.
    pub(super) fn may_begin(&mut self, now: Instant) -> bool {
        self.waits = self.departs_at > now;
        !self.waits
    }

    /// Begins a burst of at most `segments` segments, whatever the clock says.
    pub(super) fn begin(&mut self, now: Instant, segments: u32) {
        self.burst = Burst {
            at: now,
            segments_left: segments,
            credit: now.saturating_since(self.departs_at),
            is_charged: self.segments_sent + u64::from(segments) >= FREE_SEGMENTS,
        };
        self.departs_at = self.departs_at.max(now);
    }

    /// A segment of the burst leaves: the next burst waits for the time that its payload needs at `rate`, or for half of that
    /// while the sender is behind its clock.
    pub(super) fn on_sent(&mut self, payload: ByteCount, rate: BitRate) {
        self.segments_sent += 1;
        self.burst.segments_left = self.burst.segments_left.saturating_sub(1);
        if self.burst.is_charged {
            let nanoseconds = u128::from(payload.get()) * 1_000_000_000 / u128::from(bytes_per_second(rate).max(1));
            let takes = Duration::from_nanos(nanoseconds as u64);
            let made_up = self.burst.credit.min(takes / 2);
            self.burst.credit -= made_up;
            self.departs_at += takes - made_up;
        }
    }

    /// A segment without data leaves: it neither waits nor delays others.
    pub(super) fn on_bare_segment(&mut self, now: Instant) {
        self.departs_at = self.departs_at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: ByteCount = ByteCount::new(1000);

    fn rate(text: &str) -> BitRate {
        text.parse().unwrap()
    }

    /// A clock whose uncounted segments have been sent, at `now`.
    fn running(now: Instant) -> Pacing {
        let mut pacing = Pacing::new(now);
        pacing.segments_sent = FREE_SEGMENTS;
        pacing
    }

    #[test]
    fn the_next_burst_waits_for_as_long_as_this_one_takes_at_the_rate() {
        let mut pacing = running(Instant::START);
        assert!(pacing.may_begin(Instant::START));
        pacing.begin(Instant::START, 2);
        for _ in 0..2 {
            assert!(pacing.is_in_burst(Instant::START));
            pacing.on_sent(SEGMENT, rate("8 Mbit/s"));
        }
        assert!(!pacing.is_in_burst(Instant::START));
        let next = Instant::START + Duration::from_millis(2);
        assert!(!pacing.may_begin(Instant::START));
        assert_eq!(pacing.next_deadline(), Some(next));
        assert!(pacing.may_begin(next));
        assert_eq!(pacing.next_deadline(), None);
    }

    #[test]
    fn the_first_ten_segments_are_not_charged_for() {
        let mut pacing = Pacing::new(Instant::START);
        for _ in 0..9 {
            pacing.begin(Instant::START, 1);
            pacing.on_sent(SEGMENT, rate("8 Mbit/s"));
        }
        assert!(pacing.may_begin(Instant::START));
        pacing.begin(Instant::START, 1);
        pacing.on_sent(SEGMENT, rate("8 Mbit/s"));
        assert_eq!(pacing.delay(Instant::START), Duration::from_millis(1));
    }

    #[test]
    fn a_sender_behind_its_clock_makes_up_for_it_at_twice_the_rate() {
        let mut pacing = running(Instant::START);
        // 1.5 ms late: the first two segments of 1 ms are charged half each, the third the rest.
        let mut now = Instant::START + Duration::from_micros(1500);
        pacing.begin(now, 4);
        let mut waits = Vec::new();
        for _ in 0..4 {
            let before = pacing.departs_at;
            pacing.on_sent(SEGMENT, rate("8 Mbit/s"));
            waits.push((pacing.departs_at - before).as_micros());
        }
        assert_eq!(waits, [500, 500, 500, 1000]);
        now += Duration::from_micros(2500);
        assert!(pacing.may_begin(now));
    }

    #[test]
    fn a_burst_is_a_milliseconds_worth_and_at_least_two_segments_at_1_2_mbit_s() {
        let burst = |text| segments_per_burst(rate(text), ByteCount::new(0), ByteCount::new(1448));
        assert_eq!(
            [burst("1199 kbit/s"), burst("1.2 Mbit/s"), burst("20 Mbit/s")],
            [1, 2, 2]
        );
        // 12.5 MB/s is 12,207 bytes in 2^-10 s.
        assert_eq!(burst("100 Mbit/s"), 8);
        assert_eq!(u64::from(burst("10 Gbit/s")), BURST_MAX.get() / 1448);
    }

    #[test]
    fn a_short_path_is_allowed_larger_bursts() {
        let allowance = |us| short_path_allowance(Duration::from_micros(us)).get();
        assert_eq!(allowance(100), BURST_MAX.get());
        assert_eq!(allowance(1024), BURST_MAX.get() / 4);
        assert_eq!(allowance(1_000_000), 0);
    }
}
