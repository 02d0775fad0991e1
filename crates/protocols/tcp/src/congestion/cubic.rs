//! Cubic: moves the window along a cubic curve through the window of the last loss.

use super::hystart::HyStart;
use super::{Algorithm, RoundTripSample, THRESHOLD_MIN};
use lastmile_units::Instant;
use std::time::Duration;

/// RFC 9438, with HyStart for the end of slow start. Windows are in segments.
///
/// As in the kernel, the curve and all that follows from it are in whole segments, since on a slow link it matters for which
/// acknowledgement the window grows. Departures, all the kernel's: until the first loss the window grows by at least a
/// twentieth per round trip; it never grows by more than half per round trip; round trips count only from a second after a
/// loss; the curve is evaluated again only when the window has moved or some time has passed.
#[derive(Debug, Default)]
pub(super) struct Cubic {
    hystart: HyStart,
    /// W_max: the window just before the last loss, lowered by fast convergence. 0 before the first loss.
    window_maximum: u32,
    epoch: Option<Epoch>,
    round_trip_minimum: Option<Duration>,
    /// Segments acknowledged since the window last grew.
    acknowledged: u32,
}

/// Congestion avoidance since the last loss.
#[derive(Debug)]
struct Epoch {
    started: Instant,
    /// K: when the curve returns to its plateau, in [`CLOCK`]ths of a second.
    plateau_after: u64,
    plateau: u32,
    /// W_est: Reno's window (section 4.3), and the segments acknowledged since it last grew.
    reno_window: u32,
    reno_acknowledged: u32,
    /// How many segments must be acknowledged for the window to grow by one; when that was evaluated, and for which window.
    per_growth: u32,
    looked_at: Instant,
    looked_at_window: u32,
}

/// C (section 5), in [`SCALE`]ths of a segment / s^3: the kernel's 410 / 1024 for 0.4.
const C: u64 = 410;
/// beta_cubic (section 4.6), in [`SCALE`]ths: the kernel's 717 / 1024 for 0.7.
const BETA: u32 = 717;
const SCALE: u32 = 1024;
/// The curve's time is counted in these parts of a second.
const CLOCK: u64 = 1024;
/// 1 / alpha_cubic (section 4.3), in eighths: (1 + beta) / (3 (1 - beta)), rounded down as the kernel does.
const ALPHA_INVERSE_EIGHTHS: u32 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);
/// While the window stays the same, the least time between evaluations of the curve (the kernel's HZ / 32, at 250 ticks per
/// second).
const CURVE_REEVALUATION_INTERVAL: Duration = Duration::from_millis(28);
/// Round trips are not counted for this long after a loss.
const SETTLING: Duration = Duration::from_secs(1);
/// Until the first loss, the window grows by at least one segment per this many acknowledged.
const PROBING: u32 = 20;

impl Cubic {
    /// How many segments must be acknowledged for the window to grow by one.
    fn segments_per_growth(&mut self, now: Instant, segments: u32, window: u32) -> u32 {
        let (maximum, ahead) = (self.window_maximum, self.round_trip_minimum.unwrap_or_default());
        let Some(epoch) = &mut self.epoch else {
            let mut epoch = Epoch::new(now, segments, window, maximum);
            epoch.update_cubic_target(now, ahead, window, maximum == 0);
            epoch.tcp_friendly_region(window);
            return self.epoch.insert(epoch).per_growth;
        };
        epoch.reno_acknowledged += segments;
        if epoch.looked_at_window != window || now.saturating_since(epoch.looked_at) > CURVE_REEVALUATION_INTERVAL {
            epoch.update_cubic_target(now, ahead, window, maximum == 0);
            epoch.tcp_friendly_region(window);
        }
        epoch.per_growth
    }
}

impl Epoch {
    fn new(now: Instant, segments: u32, window: u32, window_maximum: u32) -> Self {
        // Section 4.2, equation 2: K = cbrt((W_max - cwnd_epoch) / C).
        let below = f64::from(window_maximum.saturating_sub(window)) * f64::from(SCALE) / C as f64;
        Self {
            started: now,
            plateau_after: (libm::cbrt(below) * CLOCK as f64) as u64,
            plateau: window_maximum.max(window),
            reno_window: window,
            reno_acknowledged: segments,
            per_growth: 0,
            looked_at: now,
            looked_at_window: window,
        }
    }

    /// Section 4.2, equation 1: W_cubic(t) = C (t - K)^3 + W_max, aimed one round trip ahead.
    fn update_cubic_target(&mut self, now: Instant, ahead: Duration, window: u32, probing: bool) {
        (self.looked_at, self.looked_at_window) = (now, window);
        let time = now.saturating_since(self.started) + ahead;
        let time = (time.as_micros() * u128::from(CLOCK) / 1_000_000) as u64;
        let distance = u128::from(time.abs_diff(self.plateau_after));
        let rise =
            u128::from(C) * distance * distance * distance / u128::from(CLOCK * CLOCK * CLOCK) / u128::from(SCALE);
        let rise = u32::try_from(rise).unwrap_or(u32::MAX);
        let target = if time < self.plateau_after {
            self.plateau.saturating_sub(rise)
        } else {
            self.plateau.saturating_add(rise)
        };
        self.per_growth = if target > window {
            window / (target - window)
        } else {
            100 * window
        };
        if probing {
            self.per_growth = self.per_growth.min(PROBING);
        }
    }

    /// Section 4.3: where Reno's window would be larger, it is the target. And the window grows by at most half per round trip.
    fn tcp_friendly_region(&mut self, window: u32) {
        let step = window * ALPHA_INVERSE_EIGHTHS / 8;
        while self.reno_acknowledged > step {
            self.reno_acknowledged -= step;
            self.reno_window += 1;
        }
        if self.reno_window > window {
            self.per_growth = self.per_growth.min(window / (self.reno_window - window));
        }
        self.per_growth = self.per_growth.max(2);
    }
}

impl Algorithm for Cubic {
    fn avoid(&mut self, now: Instant, segments: u32, window: u32) -> u32 {
        let per_growth = self.segments_per_growth(now, segments, window);
        let mut window = window;
        // Credit saved up while the window stood still counts as one segment, whatever its amount (Linux's
        // `tcp_cong_avoid_ai`).
        if self.acknowledged >= per_growth {
            self.acknowledged = 0;
            window += 1;
        }
        self.acknowledged += segments;
        let growth = self.acknowledged / per_growth;
        self.acknowledged -= growth * per_growth;
        window + growth
    }

    /// Sections 4.6 (decrease by beta) and 4.7 (fast convergence).
    fn threshold_after_loss(&mut self, window: u32) -> u32 {
        self.epoch = None;
        self.acknowledged = 0;
        self.window_maximum = if window < self.window_maximum {
            window * (SCALE + BETA) / (2 * SCALE)
        } else {
            window
        };
        (window * BETA / SCALE).max(THRESHOLD_MIN)
    }

    fn on_round_trip(&mut self, sample: &RoundTripSample, window: u32, in_slow_start: bool) -> bool {
        let settles = |epoch: &Epoch| sample.now.saturating_since(epoch.started) < SETTLING;
        if self.epoch.as_ref().is_some_and(settles) {
            return false;
        }
        let minimum = self
            .round_trip_minimum
            .map_or(sample.took, |least| least.min(sample.took));
        self.round_trip_minimum = Some(minimum);
        in_slow_start && self.hystart.on_round_trip(sample, minimum, window)
    }

    fn on_timeout(&mut self) {
        *self = Self::default();
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

    fn at(seconds: f64) -> Instant {
        Instant::START + Duration::from_secs_f64(seconds)
    }

    #[test]
    fn a_loss_multiplies_the_window_by_seven_tenths() {
        assert_eq!(Cubic::default().threshold_after_loss(100), 70);
    }

    #[test]
    fn a_second_loss_at_a_smaller_window_gives_way_by_fast_convergence() {
        let mut cubic = Cubic::default();
        cubic.threshold_after_loss(100);
        cubic.threshold_after_loss(80);
        assert_eq!(cubic.window_maximum, 68);
    }

    /// W_max 100, so K = cbrt(100 x 0.3 / 0.4) = 4.217 s; the window aims one round trip ahead. It moves in whole segments, and
    /// may be early by the segment that acknowledgements have saved up for, and late by one that rounding costs.
    #[test]
    fn the_window_follows_the_cubic_curve_to_its_plateau_and_past_it() {
        let mut cubic = Cubic::default();
        let mut window = cubic.threshold_after_loss(100);
        let sample = RoundTripSample {
            now: Instant::START,
            took: Duration::from_millis(100),
            up_to: 0,
            next: 0,
        };
        cubic.on_round_trip(&sample, window, false);
        let plateau_after = libm::cbrt(30.0 / 0.4);
        // A window of acknowledgements every 100 ms, as on a link of that round trip.
        for round in 0..60 {
            let acknowledgements = window;
            for _ in 0..acknowledgements {
                window = cubic.avoid(at(f64::from(round) * 0.1), 1, window);
            }
            let from_plateau = f64::from(round + 1) * 0.1 - plateau_after;
            let curve = 100.0 + 0.4 * from_plateau * from_plateau * from_plateau;
            if round > 5 {
                assert!(
                    (curve - f64::from(window)).abs() < 2.0,
                    "{window} in round {round}, the curve is at {curve}"
                );
            }
        }
        assert!(window > 100, "past its plateau the window probes for more");
    }

    #[test]
    fn round_trips_in_the_first_second_after_a_loss_do_not_count() {
        let mut cubic = Cubic::default();
        let window = cubic.threshold_after_loss(100);
        cubic.avoid(at(0.0), 1, window);
        for (milliseconds, counted) in [(999, None), (1000, Some(Duration::from_millis(100)))] {
            let sample = RoundTripSample {
                now: Instant::START + Duration::from_millis(milliseconds),
                took: Duration::from_millis(100),
                up_to: 0,
                next: 0,
            };
            cubic.on_round_trip(&sample, window, false);
            assert_eq!(cubic.round_trip_minimum, counted);
        }
    }
}
