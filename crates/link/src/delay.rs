//! How much does the one-way delay vary, and may frames overtake each other?

use crate::chance::{Chance, fraction_above_zero, up_to};
use lastmile_units::{Probability, Rng, Seed};
use std::time::Duration;

/// How the delay of one frame differs from the direction's one-way delay; each frame's is drawn alone.
///
/// Where order is kept ([`Reordering::None`]), a frame that would overtake waits for the one before it, so frames that
/// follow each other more closely than the jitter see a larger mean and a smaller spread than drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// Every frame takes the one-way delay. `"none"`
    None,
    /// Evenly between `one_way_delay - half_width` and `one_way_delay + half_width`, as netem's `delay 100ms 20ms`; its
    /// standard deviation is `half_width / sqrt(3)`. Not wider than the delay. `"20 ms"`
    Uniform {
        /// The largest difference from the one-way delay.
        half_width: Duration,
    },
    /// Normally about the one-way delay, drawn again beyond three standard deviations (0.27 % of draws), which leaves
    /// 98.7 % of the stated deviation. Three of them are not more than the delay. `"normal(5 ms)"`
    Normal {
        /// The standard deviation before draws are cut off.
        standard_deviation: Duration,
    },
    /// Evenly between `one_way_delay` and `one_way_delay + peak`: the delay is the smallest, and the peak is the
    /// peak-to-peak jitter of ITU-T G.1050. `"added(40 ms)"`
    Added {
        /// The largest addition to the one-way delay.
        peak: Duration,
    },
}

/// Beyond how many standard deviations normal jitter is drawn again. Our own choice.
pub(crate) const NORMAL_CUT: u32 = 3;

impl Jitter {
    /// The mean of what it adds to the one-way delay.
    pub fn added_mean(&self) -> Duration {
        match self {
            Self::None | Self::Uniform { .. } | Self::Normal { .. } => Duration::ZERO,
            Self::Added { peak } => *peak / 2,
        }
    }

    /// How much shorter than the one-way delay it can make a frame's.
    pub(crate) fn advance_max(&self) -> Duration {
        match self {
            Self::None | Self::Added { .. } => Duration::ZERO,
            Self::Uniform { half_width } => *half_width,
            Self::Normal { standard_deviation } => *standard_deviation * NORMAL_CUT,
        }
    }
}

/// Whether frames may arrive in another order than they were sent in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reordering {
    /// Order is kept. `"none"`
    None,
    /// Jitter may put a frame before another. `"jitter"`
    ByJitter,
    /// Some frames are late, each alone, and those behind overtake them; the others keep their order. `"1 % by 20 ms"`
    Late {
        /// How likely a frame is late.
        probability: Probability,
        /// By how much.
        extra_delay: Duration,
    },
}

/// When frames arrive.
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

    /// The next frame's delay, and whether it is one that others may overtake.
    pub(crate) fn draw(&mut self) -> (Duration, bool) {
        let rng = &mut self.jitter_rng;
        let delay = match self.jitter {
            Jitter::None => self.one_way_delay,
            Jitter::Uniform { half_width } => {
                let half = nanoseconds(half_width);
                (self.one_way_delay + up_to(2 * half, rng)).saturating_sub(half)
            }
            Jitter::Normal { standard_deviation } => {
                let offset = (normal_within_cut(rng) * nanoseconds(standard_deviation) as f64) as i64;
                self.one_way_delay.saturating_add_signed(offset)
            }
            Jitter::Added { peak } => self.one_way_delay + up_to(nanoseconds(peak), rng),
        };
        match self.late {
            Some((chance, extra)) if chance.happens(&mut self.late_rng) => (Duration::from_nanos(delay + extra), true),
            _ => (Duration::from_nanos(delay), false),
        }
    }
}

/// A standard normal number by Box and Muller ("A note on the generation of random normal deviates", Annals of
/// Mathematical Statistics 29, 1958), drawn again beyond the cut.
fn normal_within_cut(rng: &mut Rng) -> f64 {
    loop {
        let radius = libm::sqrt(-2.0 * libm::log(fraction_above_zero(rng)));
        let number = radius * libm::cos(2.0 * std::f64::consts::PI * fraction_above_zero(rng));
        if number.abs() <= f64::from(NORMAL_CUT) {
            return number;
        }
    }
}

/// In virtual time's unit; 584 years are more than any delay that can be written.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4)
}

#[cfg(test)]
mod tests;
