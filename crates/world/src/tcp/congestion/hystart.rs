//! When should slow start end before it loses? When acknowledgements say that the pipe is full.

use super::Acknowledged;
use lastmile_units::Instant;
use std::time::Duration;

/// HyStart (Ha and Rhee, "Taming the elephants", 2011) as in Linux's Cubic: slow start ends when, within a round, either a
/// train of closely spaced acknowledgements is half a round trip long, or the least of eight samples exceeds the least
/// round trip ever seen by an eighth of it (4 to 16 ms).
#[derive(Debug)]
pub(super) struct HyStart {
    round: Option<Round>,
    round_trip_minimum: Option<Duration>,
}

#[derive(Debug)]
struct Round {
    started: Instant,
    /// The offset whose acknowledgement ends this round.
    ends: u64,
    last_ack: Instant,
    samples: u32,
    least: Duration,
}

/// Below this window slow start is left alone.
const LOW_WINDOW: u32 = 16;
/// Acknowledgements closer than this belong to one train.
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// Samples that make a round's least round trip worth comparing.
const SAMPLES: u32 = 8;

impl HyStart {
    pub(super) const fn new() -> Self {
        Self {
            round: None,
            round_trip_minimum: None,
        }
    }

    /// Takes an acknowledgement in slow start; true where slow start should end.
    pub(super) fn on_ack(&mut self, ack: &Acknowledged, window: u32) -> bool {
        let Some(sample) = ack.round_trip else { return false };
        let minimum = self.round_trip_minimum.map_or(sample, |minimum| minimum.min(sample));
        self.round_trip_minimum = Some(minimum);
        if self.round.as_ref().is_none_or(|round| ack.up_to > round.ends) {
            self.round = Some(Round {
                started: ack.now,
                ends: ack.next,
                last_ack: ack.now,
                samples: 0,
                least: Duration::MAX,
            });
        }
        let Some(round) = &mut self.round else { return false };
        if window < LOW_WINDOW {
            return false;
        }
        let mut full = false;
        if ack.now.saturating_since(round.last_ack) <= TRAIN_SPACING {
            round.last_ack = ack.now;
            full |= ack.now.saturating_since(round.started) > minimum / 2;
        }
        round.least = round.least.min(sample);
        if round.samples < SAMPLES {
            round.samples += 1;
        } else {
            let margin = (minimum / 8).clamp(Duration::from_millis(4), Duration::from_millis(16));
            full |= round.least > minimum + margin;
        }
        full
    }
}
