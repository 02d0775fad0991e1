//! HyStart: ends slow start before a loss, when acknowledgements show that the pipe is full.

use super::RoundTripSample;
use lastmile_units::Instant;
use std::time::Duration;

/// HyStart (Ha and Rhee, "Taming the elephants", 2011) as in Linux's Cubic: slow start ends when, within a round, either a
/// train of closely spaced acknowledgements is half a round trip long, or the least of eight samples exceeds the least round
/// trip so far by an eighth of it (4 to 16 ms). It does so once; only a timeout resets it.
#[derive(Debug, Default)]
pub(super) struct HyStart {
    round: Option<Round>,
    found: bool,
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

/// Below this window slow start continues in any case.
const LOW_WINDOW: u32 = 16;
/// Acknowledgements closer than this belong to one train.
const TRAIN_SPACING: Duration = Duration::from_millis(2);
/// How long the receiver's network card may hold an acknowledgement back to aggregate (Linux's `hystart_ack_delay`, which is
/// less only beyond 2 Gbit/s).
const TRAIN_ALLOWANCE: Duration = Duration::from_millis(1);
/// The samples needed before a round's least round trip is compared.
const SAMPLES: u32 = 8;

impl HyStart {
    /// Observes a round trip in slow start, when `minimum` is the least so far; returns true where slow start should end.
    pub(super) fn on_round_trip(&mut self, sample: &RoundTripSample, minimum: Duration, window: u32) -> bool {
        if self.found {
            return false;
        }
        if self.round.as_ref().is_none_or(|round| sample.up_to > round.ends) {
            self.round = Some(Round {
                started: sample.now,
                ends: sample.next,
                last_ack: sample.now,
                samples: 0,
                least: Duration::MAX,
            });
        }
        let Some(round) = &mut self.round else { return false };
        if window < LOW_WINDOW {
            return false;
        }
        if sample.now.saturating_since(round.last_ack) <= TRAIN_SPACING {
            round.last_ack = sample.now;
            self.found |= sample.now.saturating_since(round.started) > (minimum + TRAIN_ALLOWANCE) / 2;
        }
        round.least = round.least.min(sample.took);
        if round.samples < SAMPLES {
            round.samples += 1;
        } else {
            let margin = (minimum / 8).clamp(Duration::from_millis(4), Duration::from_millis(16));
            self.found |= round.least > minimum + margin;
        }
        self.found
    }
}
