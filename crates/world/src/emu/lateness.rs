//! How late were packets delivered, and is that too late for figures to be trusted?

use super::interface::MTU;
use hdrhistogram::Histogram;
use lastmile_link::DirectionSpec;
use lastmile_units::Bytes;
use std::fmt;
use std::time::Duration;

/// How much later than the link model says packets were handed to their receivers.
#[derive(Debug, Clone)]
pub struct Lateness(Histogram<u64>);

/// Beyond this a packet counts as hours late; it only bounds the histogram.
const LONGEST: u64 = 3_600_000_000_000;

impl Default for Lateness {
    /// Nothing was delivered yet.
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, 2).expect("the bounds are in order and two digits are few"))
    }
}

impl Lateness {
    /// A packet was handed over `late` after it was due.
    pub(super) fn record(&mut self, late: Duration) {
        self.0.saturating_record((late.as_nanos() as u64).max(1));
    }

    /// How many packets were delivered.
    pub fn packets(&self) -> u64 {
        self.0.len()
    }

    /// The lateness that a share `quantile` (0 to 1) of the packets did not exceed, to two digits; zero where there were none.
    pub fn quantile(&self, quantile: f64) -> Duration {
        if self.0.is_empty() {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    /// That of the packet that was latest.
    pub fn largest(&self) -> Duration {
        self.quantile(1.0)
    }

    /// What was recorded since `earlier`, which must be an earlier state of the same.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = self.0.clone();
        difference
            .subtract(&earlier.0)
            .expect("what was recorded earlier is part of what is recorded now");
        Self(difference)
    }
}

/// How late the packets of a world may be for its figures to count: it is held against the 99th percentile.
///
/// A figure is made of times that packets take over a direction of a link, from a few to thousands in turn, and what delays one
/// packet in a hundred by so little changes it less than repeats differ. So the bound is a share of the shortest such time: one full
/// frame's serialisation and the delay. Below [`LatenessBound::LEAST`] it does not go: on a link that takes no time nothing is early
/// enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LatenessBound(Duration);

impl LatenessBound {
    /// The share of packets that must keep within the bound. Our own choice.
    pub const QUANTILE: f64 = 0.99;
    /// The bound as a share of the time that the shortest direction takes. Our own choice.
    pub const SHARE: f64 = 0.05;
    /// The least bound. Our own choice: an idle machine delivers three times as fast (p99 of 150 us without `SCHED_FIFO`), a busy
    /// one does not without it (p99 of milliseconds).
    pub const LEAST: Duration = Duration::from_micros(500);

    /// That of a world with these directions of links.
    pub fn of<'a>(directions: impl IntoIterator<Item = &'a DirectionSpec>) -> Self {
        let shortest = directions.into_iter().map(|direction| {
            let frame = Bytes::new(MTU.into()) + direction.framing_overhead;
            let serialisation = direction.rate_mean().map_or(Duration::ZERO, |rate| frame / rate);
            direction.one_way_delay + serialisation
        });
        let share = shortest.min().unwrap_or_default().mul_f64(Self::SHARE);
        Self(share.max(Self::LEAST))
    }

    /// The bound itself.
    pub const fn get(self) -> Duration {
        self.0
    }
}

/// Without anything to deliver over.
impl Default for LatenessBound {
    fn default() -> Self {
        Self::of([])
    }
}

impl Lateness {
    /// Whether packets kept within `bound`.
    ///
    /// # Errors
    /// Where they did not, by how much.
    pub fn within(&self, bound: LatenessBound) -> Result<(), TooLate> {
        let late = self.quantile(LatenessBound::QUANTILE);
        if late <= bound.get() {
            return Ok(());
        }
        Err(TooLate {
            late,
            largest: self.largest(),
            packets: self.packets(),
            bound,
        })
    }
}

/// Packets came too late for a figure to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLate {
    /// The 99th percentile.
    pub late: Duration,
    /// That of the latest packet.
    pub largest: Duration,
    /// How many packets were delivered.
    pub packets: u64,
    /// What was allowed.
    pub bound: LatenessBound,
}

impl std::error::Error for TooLate {}

impl fmt::Display for TooLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            late,
            largest,
            packets,
            bound,
        } = self;
        let [late, largest, bound] = [*late, *largest, bound.get()].map(microseconds);
        write!(
            f,
            "one packet in a hundred was delivered {late} late or more ({largest} at most, of {packets} packets), and these links allow \
             {bound}: leave this machine to it, or let it run as root, where other programs wait for it (SCHED_FIFO)"
        )
    }
}

/// In whole microseconds: no clock of programs is better.
pub(super) fn microseconds(duration: Duration) -> String {
    lastmile_units::duration::print(Duration::from_micros(duration.as_micros() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_link::Capacity;

    fn direction(rate: &str, one_way_delay: Duration) -> DirectionSpec {
        DirectionSpec {
            capacity: Capacity::Rate(rate.parse().expect("a rate")),
            one_way_delay,
            ..DirectionSpec::IDEAL
        }
    }

    #[test]
    fn the_bound_is_a_twentieth_of_what_a_full_frame_takes_on_the_fastest_direction() {
        // 1,500 B at 1 Mbit/s are 12 ms.
        let (down, up) = (
            direction("1 Mbit/s", Duration::from_millis(8)),
            direction("56 kbit/s", Duration::from_millis(75)),
        );
        assert_eq!(LatenessBound::of([&down, &up]).get(), Duration::from_millis(1));
    }

    #[test]
    fn where_a_link_takes_no_time_the_least_bound_holds() {
        assert_eq!(LatenessBound::of([&DirectionSpec::IDEAL]).get(), LatenessBound::LEAST);
        assert_eq!(LatenessBound::default().get(), LatenessBound::LEAST);
    }

    #[test]
    fn one_late_packet_in_a_hundred_is_allowed_and_two_are_not() {
        let mut lateness = Lateness::default();
        for _ in 0..99 {
            lateness.record(Duration::from_micros(30));
        }
        lateness.record(Duration::from_millis(9));
        assert_eq!(lateness.within(LatenessBound::default()), Ok(()));
        let earlier = lateness.clone();
        lateness.record(Duration::from_millis(4));
        let too_late = lateness.within(LatenessBound::default()).expect_err("two are late");
        assert_eq!(too_late.packets, 101);
        assert!(too_late.to_string().contains("of 101 packets"), "{too_late}");
        assert_eq!(lateness.since(&earlier).packets(), 1);
    }
}
