//! Measures how much acknowledgements are aggregated: links and receivers that acknowledge in clumps need a larger window.

use super::bandwidth::Bandwidth;
use lastmile_units::Instant;
use std::time::Duration;

/// The most segments acknowledged beyond what the bandwidth would have delivered, in the last five to ten rounds (Linux's
/// `bbr_update_ack_aggregation`).
#[derive(Debug)]
pub(super) struct Aggregation {
    epoch_began: Instant,
    epoch_acknowledged: u64,
    /// The maximum in this half of the window, and in the one before.
    most: [u32; 2],
    rounds: u32,
}

/// Rounds in each half of the window.
const ROUNDS: u32 = 5;
/// An epoch ends after this many segments.
const EPOCH_LENGTH_MAX: u64 = 1 << 20;
/// The window is widened by at most what the bandwidth delivers in this time.
const SILENCE_MAX: Duration = Duration::from_millis(100);

impl Aggregation {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            epoch_began: now,
            epoch_acknowledged: 0,
            most: [0; 2],
            rounds: 0,
        }
    }

    /// Sending restarts after a pause.
    pub(super) const fn restart(&mut self, now: Instant) {
        (self.epoch_began, self.epoch_acknowledged) = (now, 0);
    }

    /// Observes `segments` acknowledged at `now`, with a window of `window` segments.
    pub(super) fn observe(
        &mut self,
        now: Instant,
        segments: u32,
        round_began: bool,
        bandwidth: Bandwidth,
        window: u32,
    ) {
        if round_began {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.most = [0, self.most[0]];
            }
        }
        let segments = u64::from(segments);
        let mut expected = bandwidth.packets_delivered_in(now.saturating_since(self.epoch_began));
        if self.epoch_acknowledged <= expected || self.epoch_acknowledged + segments >= EPOCH_LENGTH_MAX {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acknowledged += segments;
        let beyond = (self.epoch_acknowledged - expected).min(u64::from(window)) as u32;
        self.most[0] = self.most[0].max(beyond);
    }

    /// How far the window is to be widened at that bandwidth.
    pub(super) fn allowance(&self, bandwidth: Bandwidth) -> u32 {
        let most = self.most[0].max(self.most[1]);
        u64::from(most).min(bandwidth.packets_delivered_in(SILENCE_MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Acknowledges `clump` segments every `clump` ms, at a bandwidth of one segment per millisecond, for `rounds` rounds.
    fn acknowledge(aggregation: &mut Aggregation, clump: u32, from: u32, rounds: u32) {
        for round in 0..rounds {
            let now = Instant::START + MS * (from + (round + 1) * clump);
            aggregation.observe(now, clump, true, bandwidth(), 1000);
        }
    }

    fn bandwidth() -> Bandwidth {
        Bandwidth::from_segments(1001, Duration::from_secs(1))
    }

    #[test]
    fn the_window_is_widened_by_the_largest_clump() {
        let mut aggregation = Aggregation::new(Instant::START);
        acknowledge(&mut aggregation, 1, 0, 3);
        assert_eq!(aggregation.allowance(bandwidth()), 1);
        acknowledge(&mut aggregation, 20, 10, 3);
        assert_eq!(aggregation.allowance(bandwidth()), 20);
    }

    #[test]
    fn a_clump_is_forgotten_after_ten_rounds() {
        let mut aggregation = Aggregation::new(Instant::START);
        acknowledge(&mut aggregation, 20, 0, 1);
        acknowledge(&mut aggregation, 1, 60, 8);
        assert_eq!(aggregation.allowance(bandwidth()), 20);
        acknowledge(&mut aggregation, 1, 68, 1);
        assert_eq!(aggregation.allowance(bandwidth()), 1);
    }

    #[test]
    fn the_window_is_widened_by_no_more_than_a_tenth_of_a_second_delivers() {
        let mut aggregation = Aggregation::new(Instant::START);
        acknowledge(&mut aggregation, 500, 0, 1);
        assert_eq!(aggregation.allowance(bandwidth()), 100);
    }
}
