//! How does Cubic move the window? Along a cubic curve through the window at which it last lost.

use super::hystart::HyStart;
use super::{Acknowledged, Algorithm, MINIMUM_THRESHOLD};
use lastmile_units::Instant;
use std::time::Duration;

/// RFC 9438, with HyStart for the end of slow start. Windows are in segments, times in seconds.
///
/// Departures, all the kernel's: until the first loss the window grows by at least a twentieth a round trip; it never grows
/// faster than by half a round trip.
#[derive(Debug)]
pub(super) struct Cubic {
    hystart: HyStart,
    /// W_max: the window just before the last loss, lowered by fast convergence. None before the first loss.
    window_maximum: Option<f64>,
    epoch: Option<Epoch>,
    round_trip_minimum: Option<Duration>,
    /// Segments acknowledged since the window last grew.
    acknowledged: f64,
}

/// Congestion avoidance since the last loss.
#[derive(Debug)]
struct Epoch {
    started: Instant,
    /// K: when the curve returns to its plateau.
    plateau_after: f64,
    plateau: f64,
    /// W_est: where Reno would be (section 4.3).
    reno_window: f64,
}

/// C, in segments / s^3 (section 5).
const C: f64 = 0.4;
/// beta_cubic (section 4.6).
const BETA: f64 = 0.7;
/// alpha_cubic (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

impl Cubic {
    pub(super) const fn new() -> Self {
        Self {
            hystart: HyStart::new(),
            window_maximum: None,
            epoch: None,
            round_trip_minimum: None,
            acknowledged: 0.0,
        }
    }

    /// How many segments must be acknowledged for the window to grow by one.
    fn segments_per_growth(&mut self, now: Instant, segments: f64, window: f64) -> f64 {
        let window_maximum = self.window_maximum;
        let epoch = self.epoch.get_or_insert_with(|| {
            // Section 4.2, equation 2: K = cbrt((W_max - cwnd_epoch) / C).
            let (plateau_after, plateau) = match window_maximum {
                Some(maximum) if window < maximum => (libm::cbrt((maximum - window) / C), maximum),
                _ => (0.0, window),
            };
            Epoch {
                started: now,
                plateau_after,
                plateau,
                reno_window: window,
            }
        });
        // Section 4.2, equation 1: W_cubic(t) = C (t - K)^3 + W_max, aimed one round trip ahead.
        let ahead = now.saturating_since(epoch.started) + self.round_trip_minimum.unwrap_or_default();
        let from_plateau = ahead.as_secs_f64() - epoch.plateau_after;
        let target = epoch.plateau + C * from_plateau * from_plateau * from_plateau;
        let mut per_growth = if target > window {
            window / (target - window)
        } else {
            100.0 * window
        };
        if window_maximum.is_none() {
            per_growth = per_growth.min(20.0);
        }
        // Section 4.3, equation 4: the Reno-friendly region.
        epoch.reno_window += ALPHA * segments / window;
        if epoch.reno_window > window {
            per_growth = per_growth.min(window / (epoch.reno_window - window));
        }
        per_growth.max(2.0)
    }
}

impl Algorithm for Cubic {
    fn avoid(&mut self, ack: &Acknowledged, segments: u32, window: u32) -> u32 {
        if let Some(sample) = ack.round_trip {
            self.round_trip_minimum = Some(self.round_trip_minimum.map_or(sample, |minimum| minimum.min(sample)));
        }
        let per_growth = self.segments_per_growth(ack.now, f64::from(segments), f64::from(window));
        let mut window = window;
        // What was saved up while the window stood still is worth one segment, whatever it amounts to (Linux's
        // `tcp_cong_avoid_ai`).
        if self.acknowledged >= per_growth {
            self.acknowledged = 0.0;
            window += 1;
        }
        self.acknowledged += f64::from(segments);
        let growth = (self.acknowledged / per_growth) as u32;
        self.acknowledged -= f64::from(growth) * per_growth;
        window + growth
    }

    /// Sections 4.6 (decrease by beta) and 4.7 (fast convergence).
    fn threshold_after_loss(&mut self, window: u32) -> u32 {
        self.epoch = None;
        self.acknowledged = 0.0;
        let lost_at = f64::from(window);
        self.window_maximum = Some(match self.window_maximum {
            Some(maximum) if lost_at < maximum => lost_at * (1.0 + BETA) / 2.0,
            _ => lost_at,
        });
        ((lost_at * BETA) as u32).max(MINIMUM_THRESHOLD)
    }

    fn leaves_slow_start(&mut self, ack: &Acknowledged, window: u32) -> bool {
        if let Some(sample) = ack.round_trip {
            self.round_trip_minimum = Some(self.round_trip_minimum.map_or(sample, |minimum| minimum.min(sample)));
        }
        self.hystart.on_ack(ack, window)
    }

    fn on_timeout(&mut self) {
        self.epoch = None;
        self.window_maximum = None;
        self.acknowledged = 0.0;
        self.round_trip_minimum = None;
        self.hystart = HyStart::new();
    }

    fn on_idle(&mut self, idle: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.started += idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack_at(seconds: f64) -> Acknowledged {
        Acknowledged {
            now: Instant::START + Duration::from_secs_f64(seconds),
            segments: 1,
            round_trip: Some(Duration::from_millis(100)),
            up_to: 0,
            next: 0,
            window_limited: true,
        }
    }

    #[test]
    fn a_loss_multiplies_the_window_by_seven_tenths() {
        assert_eq!(Cubic::new().threshold_after_loss(100), 70);
    }

    #[test]
    fn a_second_loss_at_a_smaller_window_gives_way_by_fast_convergence() {
        let mut cubic = Cubic::new();
        cubic.threshold_after_loss(100);
        cubic.threshold_after_loss(80);
        assert_eq!(cubic.window_maximum, Some(80.0 * 0.85));
    }

    /// W_max 100, so K = cbrt(100 x 0.3 / 0.4) = 4.217 s; the window aims one round trip ahead. It moves in whole segments,
    /// and may be early by the one that acknowledgements have saved up for.
    #[test]
    fn the_window_follows_the_cubic_curve_to_its_plateau_and_past_it() {
        let mut cubic = Cubic::new();
        let mut window = cubic.threshold_after_loss(100);
        let plateau_after = libm::cbrt(30.0 / C);
        // A window of acknowledgements every 100 ms, as on a link of that round trip.
        for round in 0..60 {
            let acknowledgements = window;
            for _ in 0..acknowledgements {
                window = cubic.avoid(&ack_at(f64::from(round) * 0.1), 1, window);
            }
            let from_plateau = f64::from(round + 1) * 0.1 - plateau_after;
            let curve = 100.0 + C * from_plateau * from_plateau * from_plateau;
            if round > 5 {
                assert!(
                    (curve - f64::from(window)).abs() < 1.5,
                    "{window} in round {round}, the curve is at {curve}"
                );
            }
        }
        assert!(window > 100, "past its plateau the window probes for more");
    }
}
