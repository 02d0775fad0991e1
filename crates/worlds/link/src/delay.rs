//! Jitter and reordering: draws each frame's one-way delay, and whether later frames may overtake it.

use crate::bernoulli::Chance;
use lastmile_units::random::{positive_unit_fraction, up_to};
use lastmile_units::{Probability, Rng, Seed};
use std::time::Duration;

/// How the delay of one frame differs from the direction's one-way delay. Each frame's difference is drawn
/// independently.
///
/// Where order is kept ([`Reordering::None`]), a frame that would overtake waits for the one before it, so frames that
/// follow each other more closely than the jitter see a larger mean and a smaller spread than were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// Every frame takes the one-way delay. `"none"`
    None,
    /// Uniform from `one_way_delay - half_width` to `one_way_delay + half_width`, as netem's `delay 100ms 20ms`; its
    /// standard deviation is `half_width / sqrt(3)`. Not wider than the delay. `"20 ms"`
    Uniform {
        /// The largest difference from the one-way delay.
        half_width: Duration,
    },
    /// Normal about the one-way delay, redrawn beyond three standard deviations (0.27 % of draws), so that 98.7 % of
    /// the stated deviation remains. Three standard deviations must not exceed the delay. `"normal(5 ms)"`
    Normal {
        /// The standard deviation before the tails are cut off.
        standard_deviation: Duration,
    },
    /// Uniform from `one_way_delay` to `one_way_delay + peak`: the delay is the minimum, and the peak is the
    /// peak-to-peak jitter of ITU-T G.1050. `"added(40 ms)"`
    Added {
        /// The largest addition to the one-way delay.
        peak: Duration,
    },
}

/// Normal jitter is redrawn beyond this many standard deviations. Our own choice.
pub(crate) const NORMAL_CUT: u32 = 3;

impl Jitter {
    /// The mean delay that it adds to the one-way delay.
    pub fn added_mean(&self) -> Duration {
        match self {
            Self::None | Self::Uniform { .. } | Self::Normal { .. } => Duration::ZERO,
            Self::Added { peak } => *peak / 2,
        }
    }

    /// The largest reduction of a frame's delay below the one-way delay.
    pub(crate) fn largest_reduction(&self) -> Duration {
        match self {
            Self::None | Self::Added { .. } => Duration::ZERO,
            Self::Uniform { half_width } => *half_width,
            Self::Normal { standard_deviation } => *standard_deviation * NORMAL_CUT,
        }
    }
}

/// Whether frames may arrive in an order other than the one they were sent in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reordering {
    /// Order is kept. `"none"`
    None,
    /// Jitter may let a frame overtake another. `"jitter"`
    ByJitter,
    /// Some frames are late, independently of each other, and later ones overtake them; the others keep their order.
    /// `"1 % by 20 ms"`
    Late {
        /// The probability that a frame is late.
        probability: Probability,
        /// By how much.
        extra_delay: Duration,
    },
}

/// Draws the delays of frames.
#[derive(Debug)]
pub(crate) struct DelayProcess {
    one_way_delay: u64,
    jitter: Jitter,
    late: Option<(Chance, u64)>,
    jitter_rng: Rng,
    late_rng: Rng,
}

impl DelayProcess {
    pub(crate) fn new(one_way_delay: Duration, jitter: Jitter, reordering: Reordering, seed: Seed) -> Self {
        let late = match reordering {
            Reordering::None | Reordering::ByJitter => None,
            Reordering::Late {
                probability,
                extra_delay,
            } => Some((Chance::new(probability), nanoseconds(extra_delay))),
        };
        Self {
            one_way_delay: nanoseconds(one_way_delay),
            jitter,
            late,
            jitter_rng: seed.derive("jitter").rng(),
            late_rng: seed.derive("reordering").rng(),
        }
    }

    /// The next frame's delay, and whether other frames may overtake it.
    pub(crate) fn draw(&mut self) -> (Duration, bool) {
        let rng = &mut self.jitter_rng;
        let delay = match self.jitter {
            Jitter::None => self.one_way_delay,
            Jitter::Uniform { half_width } => {
                let half = nanoseconds(half_width);
                (self.one_way_delay + up_to(rng, 2 * half)).saturating_sub(half)
            }
            Jitter::Normal { standard_deviation } => {
                let offset = (normal_within_cut(rng) * nanoseconds(standard_deviation) as f64) as i64;
                self.one_way_delay.saturating_add_signed(offset)
            }
            Jitter::Added { peak } => self.one_way_delay + up_to(rng, nanoseconds(peak)),
        };
        match self.late {
            Some((chance, extra)) if chance.draw(&mut self.late_rng) => (Duration::from_nanos(delay + extra), true),
            _ => (Duration::from_nanos(delay), false),
        }
    }
}

/// A standard normal number by the Box-Muller method ("A note on the generation of random normal deviates", Annals of
/// Mathematical Statistics 29, 1958), redrawn beyond the cut.
fn normal_within_cut(rng: &mut Rng) -> f64 {
    loop {
        let radius = libm::sqrt(-2.0 * libm::log(positive_unit_fraction(rng)));
        let number = radius * libm::cos(2.0 * std::f64::consts::PI * positive_unit_fraction(rng));
        if number.abs() <= f64::from(NORMAL_CUT) {
            return number;
        }
    }
}

/// In nanoseconds, the unit of virtual time; 584 years exceed any delay that can be written.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4)
}

#[cfg(test)]
mod tests;
