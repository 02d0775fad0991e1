//! Records how late packets are delivered, and whether that is too late for figures to count.

use super::interface::MTU;
use hdrhistogram::Histogram;
use lastmile_link::DirectionSpec;
use lastmile_units::ByteCount;
use std::fmt;
use std::time::Duration;

/// A histogram of lateness: the time from a packet's due time in the link model to its delivery.
#[derive(Debug, Clone)]
pub struct Lateness(Histogram<u64>);

/// The largest value of the histogram, an hour.
const NANOSECONDS_MAX: u64 = 3_600_000_000_000;

impl Default for Lateness {
    /// No packet was delivered yet.
    fn default() -> Self {
        Self(
            Histogram::new_with_bounds(1, NANOSECONDS_MAX, 2)
                .expect("the bounds are in order and two digits are supported"),
        )
    }
}

impl Lateness {
    /// Records a packet that was delivered `late` after its due time.
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

    /// The lateness of the latest packet.
    pub fn largest(&self) -> Duration {
        self.quantile(1.0)
    }

    /// The lateness of all packets together: no time that they take part in can be longer by more.
    pub fn total(&self) -> Duration {
        Duration::from_secs_f64(self.0.mean() * self.0.len() as f64 / 1e9)
    }

    /// The packets recorded since `earlier`, which must be an earlier state of this histogram.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = self.0.clone();
        difference
            .subtract(&earlier.0)
            .expect("the earlier records are part of the present ones");
        Self(difference)
    }
}

/// The greatest lateness, as a 99th percentile, at which the figures of a world count.
///
/// A figure is a sum of times that packets take over a direction of a link, from a few to thousands, and a small delay of one packet
/// in a hundred changes it less than repeats differ. So the bound is a share of the shortest such time: one full frame's serialisation
/// and the delay. It is at least [`LatenessBound::MIN`]: on a link
/// without delay no delivery would be early enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LatenessBound(Duration);

impl LatenessBound {
    /// The share of packets that must stay within the bound. Our own choice.
    pub const QUANTILE: f64 = 0.99;
    /// The bound as a share of the time that the shortest direction takes. Our own choice.
    pub const SHARE: f64 = 0.05;
    /// The least bound. Our own choice: an idle machine delivers three times as fast (p99 of 150 us without `SCHED_FIFO`), a busy
    /// one does not without it (p99 of milliseconds).
    pub const MIN: Duration = Duration::from_micros(500);
    /// Packets may come later than the bound where the lateness of all of them together is this share of the shortest time that was
    /// measured: transfers that take seconds are not moved by milliseconds. Our own choice.
    pub const SHARE_OF_TIME: f64 = 0.01;

    /// The bound of a world with these directions of links.
    pub fn for_directions<'a>(directions: impl IntoIterator<Item = &'a DirectionSpec>) -> Self {
        let shortest = directions.into_iter().map(|direction| {
            let frame = ByteCount::new(MTU.into()) + direction.framing_overhead;
            let serialisation = direction.rate_mean().map_or(Duration::ZERO, |rate| frame / rate);
            direction.one_way_delay + serialisation
        });
        let share = shortest.min().unwrap_or_default().mul_f64(Self::SHARE);
        Self(share.max(Self::MIN))
    }

    /// The bound itself.
    pub const fn get(self) -> Duration {
        self.0
    }
}

/// The bound of a world without links.
impl Default for LatenessBound {
    fn default() -> Self {
        Self::for_directions([])
    }
}

impl Lateness {
    /// Checks that packets stayed within `bound`.
    ///
    /// # Errors
    /// If they did not, by how much they exceeded it.
    pub fn within(&self, bound: LatenessBound) -> Result<(), LatenessExceeded> {
        let late = self.quantile(LatenessBound::QUANTILE);
        if late <= bound.get() {
            return Ok(());
        }
        Err(LatenessExceeded {
            late,
            largest: self.largest(),
            packets: self.packets(),
            bound,
        })
    }
}

/// Packets came too late for a figure to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatenessExceeded {
    /// The 99th percentile.
    pub late: Duration,
    /// The lateness of the latest packet.
    pub largest: Duration,
    /// How many packets were delivered.
    pub packets: u64,
    /// The bound that was exceeded.
    pub bound: LatenessBound,
}

impl std::error::Error for LatenessExceeded {}

impl fmt::Display for LatenessExceeded {
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
            "1 % of {packets} packets were delivered at least {late} late (maximum {largest}), and these links allow {bound}: stop other \
            programs, or run as root, which gives lastmile real-time priority (SCHED_FIFO)"
        )
    }
}

/// A duration in whole microseconds: programs' clocks are not more accurate.
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
        assert_eq!(
            LatenessBound::for_directions([&down, &up]).get(),
            Duration::from_millis(1)
        );
    }

    #[test]
    fn where_a_link_takes_no_time_the_least_bound_holds() {
        assert_eq!(
            LatenessBound::for_directions([&DirectionSpec::IDEAL]).get(),
            LatenessBound::MIN
        );
        assert_eq!(LatenessBound::default().get(), LatenessBound::MIN);
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
