//! Loss models: decide which frames the wire loses, at a long-run rate and a mean burst length.

use crate::bernoulli::Chance;
use lastmile_units::{Probability, Rng, Seed};

/// How frames are lost on the wire: after the queue, at the end of their serialisation, so that a lost frame has used
/// its time on the link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// Each frame independently. `"1 %"`
    Bernoulli(Probability),
    /// In bursts. `"gilbert-elliott(p=1 %, r=30 %)"`
    GilbertElliott(GilbertElliott),
    /// In bursts, stated as observed from outside: every frame of a bad spell is lost, and none outside.
    /// `"bursty(rate=1 %, burst=3)"`
    Bursty {
        /// The long-run share of frames lost; below 1.
        rate: Probability,
        /// The mean number of frames lost in a row; at least 1, and at least `rate / (1 - rate)`.
        burst: f64,
    },
}

/// A channel that is good or bad, and may change before each frame.
///
/// Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39 (1960); Elliott, "Estimates of error
/// rates for codes on burst-noise channels", ibid. 42 (1963). The channel starts in its long-run mix of states, so that
/// the loss rate holds from the first frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GilbertElliott {
    /// p: probability per frame of a change from good to bad.
    pub good_to_bad: Probability,
    /// r: probability per frame of a change from bad to good.
    pub bad_to_good: Probability,
    /// Probability of loss while good: Elliott's 1 - k.
    pub loss_in_good: Probability,
    /// Probability of loss while bad: Elliott's 1 - h.
    pub loss_in_bad: Probability,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Loss = Loss::Bernoulli(Probability::NEVER);

    /// The long-run share of frames lost: the marginal rate.
    pub fn rate(&self) -> Probability {
        match self {
            Self::Bernoulli(rate) | Self::Bursty { rate, .. } => *rate,
            Self::GilbertElliott(channel) => clamped(channel.moments().0),
        }
    }

    /// The mean number of consecutive frames lost; none where nothing or everything is lost.
    ///
    /// A burst begins at a frame that is lost after one that is not, so the mean length is P(lost) / (P(lost) - P(lost
    /// twice running)).
    pub fn burst_length_mean(&self) -> Option<f64> {
        let (one, two) = match self {
            Self::Bernoulli(rate) => (rate.get(), rate.get() * rate.get()),
            Self::GilbertElliott(channel) => channel.moments(),
            Self::Bursty { rate, burst } => return (rate.get() > 0.0).then_some(*burst),
        };
        (one > 0.0 && one > two).then(|| one / (one - two))
    }

    /// The channel equivalent to a bursty loss: Gilbert's, where nothing is lost while good and everything while bad.
    /// Bad spells last 1 / r frames, and p / (p + r) of the frames fall into one.
    fn channel(rate: f64, burst: f64) -> GilbertElliott {
        let bad_to_good = 1.0 / burst;
        GilbertElliott {
            good_to_bad: clamped(bad_to_good * rate / (1.0 - rate)),
            bad_to_good: clamped(bad_to_good),
            loss_in_good: Probability::NEVER,
            loss_in_bad: Probability::ALWAYS,
        }
    }
}

impl GilbertElliott {
    /// The long-run share of time spent bad; 0 where a channel never turns bad.
    fn bad_share(&self) -> f64 {
        if self.good_to_bad == Probability::NEVER {
            return 0.0;
        }
        self.good_to_bad.get() / (self.good_to_bad.get() + self.bad_to_good.get())
    }

    /// The probability that a frame is lost, and that two consecutive frames are.
    fn moments(&self) -> (f64, f64) {
        let (p, r) = (self.good_to_bad.get(), self.bad_to_good.get());
        let (good, bad) = (self.loss_in_good.get(), self.loss_in_bad.get());
        let bad_share = self.bad_share();
        let one = bad_share * bad + (1.0 - bad_share) * good;
        let after_bad = r * good + (1.0 - r) * bad;
        let after_good = p * bad + (1.0 - p) * good;
        (one, bad_share * bad * after_bad + (1.0 - bad_share) * good * after_good)
    }
}

/// Clamps a ratio to 0 to 1: rounding may push it out by its last digit.
fn clamped(ratio: f64) -> Probability {
    Probability::new(ratio.clamp(0.0, 1.0)).expect("clamped to a probability")
}

/// The state of a loss model.
#[derive(Debug)]
pub(crate) struct LossProcess {
    kind: Kind,
    rng: Rng,
}

#[derive(Debug)]
enum Kind {
    Never,
    Independent(Chance),
    Channel {
        bad: bool,
        good_to_bad: Chance,
        bad_to_good: Chance,
        loss_in_good: Chance,
        loss_in_bad: Chance,
    },
}

impl LossProcess {
    pub(crate) fn new(loss: &Loss, seed: Seed) -> Self {
        let mut rng = seed.rng();
        let kind = match *loss {
            Loss::Bernoulli(rate) if rate == Probability::NEVER => Kind::Never,
            Loss::Bernoulli(rate) => Kind::Independent(Chance::new(rate)),
            Loss::GilbertElliott(channel) => Kind::channel(&channel, &mut rng),
            Loss::Bursty { rate, burst } => Kind::channel(&Loss::channel(rate.get(), burst), &mut rng),
        };
        Self { kind, rng }
    }

    /// Whether it can ever lose a frame.
    pub(crate) const fn can_lose(&self) -> bool {
        !matches!(self.kind, Kind::Never)
    }

    /// Whether the next frame is lost.
    pub(crate) fn next_is_lost(&mut self) -> bool {
        match &mut self.kind {
            Kind::Never => false,
            Kind::Independent(chance) => chance.draw(&mut self.rng),
            Kind::Channel {
                bad,
                good_to_bad,
                bad_to_good,
                loss_in_good,
                loss_in_bad,
            } => {
                let change = if *bad { *bad_to_good } else { *good_to_bad };
                *bad ^= change.draw(&mut self.rng);
                let loss = if *bad { *loss_in_bad } else { *loss_in_good };
                loss.draw(&mut self.rng)
            }
        }
    }
}

impl Kind {
    fn channel(channel: &GilbertElliott, rng: &mut Rng) -> Self {
        Self::Channel {
            bad: Chance::new(clamped(channel.bad_share())).draw(rng),
            good_to_bad: Chance::new(channel.good_to_bad),
            bad_to_good: Chance::new(channel.bad_to_good),
            loss_in_good: Chance::new(channel.loss_in_good),
            loss_in_bad: Chance::new(channel.loss_in_bad),
        }
    }
}

#[cfg(test)]
mod tests;
