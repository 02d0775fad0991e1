//! Reno: the window grows by one segment per round trip, and is halved by a loss.

use super::{Algorithm, THRESHOLD_MIN};
use lastmile_units::Instant;

/// RFC 5681, counting acknowledged segments and not acknowledgements (RFC 3465).
#[derive(Debug, Default)]
pub(super) struct Reno {
    /// Segments acknowledged since the window last grew.
    acknowledged: u32,
}

impl Algorithm for Reno {
    /// RFC 5681 section 3.1, equation 3: one segment for a window's worth of acknowledged segments.
    fn avoid(&mut self, _now: Instant, segments: u32, window: u32) -> u32 {
        self.acknowledged += segments;
        let growth = self.acknowledged / window;
        self.acknowledged %= window;
        window + growth
    }

    /// RFC 5681 section 3.1, equation 4, with the window in place of the flight size, as in Linux.
    fn threshold_after_loss(&mut self, window: u32) -> u32 {
        self.acknowledged = 0;
        (window / 2).max(THRESHOLD_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_acknowledgements_adds_one_segment_and_a_loss_halves() {
        let mut reno = Reno::default();
        let mut window = 10;
        for _ in 0..10 {
            window = reno.avoid(Instant::START, 1, window);
        }
        assert_eq!(window, 11);
        assert_eq!(reno.threshold_after_loss(window), 5);
        assert_eq!(reno.threshold_after_loss(2), THRESHOLD_MIN);
    }
}
