//! Estimates the round trip, and the retransmission timeout that follows from it.

use std::time::Duration;

/// Smoothed round-trip time and retransmission timeout: RFC 6298, with the departures of Linux (`tcp_rtt_estimator`): the
/// deviation is tracked at its maximum over a round trip, falls slowly, weighs a sudden drop of the round trip by an eighth,
/// and counts as at least 200 ms in the timeout.
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    /// Smoothed mean, and its deviation (RFC 6298's SRTT; the kernel's `mdev`).
    smoothed: Option<Duration>,
    deviation: Duration,
    /// The largest deviation in this round trip, and the one the timeout uses (RFC 6298's RTTVAR).
    deviation_maximum: Duration,
    variance: Duration,
    /// The stream offset whose acknowledgement ends this round trip.
    round_ends: u64,
    minimum: Option<Duration>,
    floor: Duration,
    backoff: u32,
}

/// RFC 6298 section 5.7: before the first sample, which is missing only after a repeated handshake.
const INITIAL_TIMEOUT: Duration = Duration::from_secs(3);
/// Linux's `TCP_RTO_MAX`.
const TIMEOUT_MAX: Duration = Duration::from_secs(120);

impl RoundTrip {
    pub(super) fn new(floor: Duration) -> Self {
        Self {
            floor,
            ..Self::default()
        }
    }

    /// Adds a sample, when everything before `acknowledged` has arrived and `next` is the next offset to be sent. Resets the
    /// backoff. `newest` is the round trip of the segment that arrived last, which no other delayed.
    pub(super) fn sample(&mut self, round_trip: Duration, newest: Option<Duration>, acknowledged: u64, next: u64) {
        self.backoff = 0;
        if let Some(newest) = newest {
            self.minimum = Some(self.minimum.map_or(newest, |minimum| minimum.min(newest)));
        }
        let Some(smoothed) = self.smoothed else {
            self.smoothed = Some(round_trip);
            // The kernel's mdev is four times a mean deviation of RTT/2, that is 2 RTT.
            self.deviation = round_trip * 2;
            self.variance = self.deviation.max(self.floor);
            self.deviation_maximum = self.variance;
            self.round_ends = next;
            return;
        };
        let (above, error) = (round_trip >= smoothed, round_trip.abs_diff(smoothed));
        let step = error / 8;
        self.smoothed = Some(if above {
            smoothed + step
        } else {
            smoothed.saturating_sub(step)
        });
        // `deviation` holds four mean deviations, so a quarter of it is compared with the error.
        let quarter = self.deviation / 4;
        if error > quarter {
            let rise = error - quarter;
            self.deviation += if above { rise } else { rise / 8 };
        } else {
            self.deviation -= quarter - error;
        }
        if self.deviation > self.deviation_maximum {
            self.deviation_maximum = self.deviation;
            self.variance = self.variance.max(self.deviation_maximum);
        }
        if acknowledged > self.round_ends {
            if self.deviation_maximum < self.variance {
                self.variance -= (self.variance - self.deviation_maximum) / 4;
            }
            self.round_ends = next;
            self.deviation_maximum = self.floor;
        }
    }

    pub(super) const fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    pub(super) const fn minimum(&self) -> Option<Duration> {
        self.minimum
    }

    /// The timeout in force, doubled for each time it expired since the last sample (RFC 6298 section 5.5).
    pub(super) fn timeout(&self) -> Duration {
        self.timeout_doubled(self.backoff)
    }

    /// The timeout, doubled `times` times, up to its maximum.
    pub(super) fn timeout_doubled(&self, times: u32) -> Duration {
        let base = self
            .smoothed
            .map_or(INITIAL_TIMEOUT, |smoothed| smoothed + self.variance);
        base.saturating_mul(1 << times.min(16)).min(TIMEOUT_MAX)
    }

    pub(super) const fn back_off(&mut self) {
        self.backoff += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Duration = Duration::from_millis(200);

    #[test]
    fn a_steady_round_trip_gives_a_timeout_of_itself_and_200_ms() {
        let mut round_trip = RoundTrip::new(FLOOR);
        assert_eq!(round_trip.timeout(), Duration::from_secs(3));
        for offset in 1..200 {
            let sample = Duration::from_millis(100);
            round_trip.sample(sample, Some(sample), offset, offset + 1);
        }
        assert_eq!(round_trip.smoothed(), Some(Duration::from_millis(100)));
        assert_eq!(round_trip.timeout(), Duration::from_millis(300));
    }

    #[test]
    fn the_first_sample_gives_three_round_trips() {
        let mut round_trip = RoundTrip::new(FLOOR);
        round_trip.sample(Duration::from_millis(300), None, 1, 2);
        assert_eq!(round_trip.timeout(), Duration::from_millis(900));
    }

    #[test]
    fn each_time_it_runs_out_doubles_it_up_to_two_minutes() {
        let mut round_trip = RoundTrip::new(FLOOR);
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), Duration::from_secs(6));
        for _ in 0..20 {
            round_trip.back_off();
        }
        assert_eq!(round_trip.timeout(), TIMEOUT_MAX);
        round_trip.sample(Duration::from_millis(100), None, 1, 2);
        assert_eq!(round_trip.timeout(), Duration::from_millis(300));
    }
}
