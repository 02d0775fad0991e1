//! Which frames does the wire lose, how many, and how many in a row?

use crate::chance::Chance;
use lastmile_units::{Probability, Rng, Seed};

/// How frames are lost on the wire: after the queue, at the end of their serialisation, so that a lost frame has taken
/// its time on the link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss {
    /// Each frame alone, whatever happened to the ones before. `"1 %"`
    Bernoulli(Probability),
    /// In bursts. `"gilbert-elliott(p=1 %, r=30 %)"`
    GilbertElliott(GilbertElliott),
    /// In bursts, by what they look like from outside: every frame of a bad spell is lost, none outside.
    /// `"bursty(rate=1 %, burst=3)"`
    Bursty {
        /// The share of frames lost in the long run; below 1.
        rate: Probability,
        /// The mean number of frames lost in a row; at least 1, and at least `rate / (1 - rate)`.
        burst: f64,
    },
}

/// A channel that is good or bad, and may change before each frame.
///
/// Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39 (1960); Elliott, "Estimates of error
/// rates for codes on burst-noise channels", ibid. 42 (1963). The first frame meets a channel in its long-run mix of
/// states, so that the loss rate holds from the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GilbertElliott {
    /// p: from good to bad, a frame.
    pub good_to_bad: Probability,
    /// r: from bad to good, a frame.
    pub bad_to_good: Probability,
    /// Lost while good: Elliott's 1 - k.
    pub loss_in_good: Probability,
    /// Lost while bad: Elliott's 1 - h.
    pub loss_in_bad: Probability,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Loss = Loss::Bernoulli(Probability::NEVER);

    /// The share of frames lost in the long run: the marginal rate.
    pub fn rate(&self) -> Probability {
        match self {
            Self::Bernoulli(rate) | Self::Bursty { rate, .. } => *rate,
            Self::GilbertElliott(channel) => clamped(channel.moments().0),
        }
    }

    /// The mean number of frames lost in a row; none where nothing or everything is lost.
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

    /// The channel that a bursty loss stands for, which is Gilbert's with nothing lost while good and all lost while
    /// bad: bad spells last 1 / r frames, and p / (p + r) of the frames meet one.
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
    /// The share of time spent bad in the long run; none of it where a channel never turns bad.
    fn bad_share(&self) -> f64 {
        if self.good_to_bad == Probability::NEVER {
            return 0.0;
        }
        self.good_to_bad.get() / (self.good_to_bad.get() + self.bad_to_good.get())
    }

    /// How likely a frame is lost, and how likely two running are.
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

/// Into 0 to 1, out of which rounding may push a ratio by its last digit.
fn clamped(ratio: f64) -> Probability {
    Probability::new(ratio.clamp(0.0, 1.0)).expect("clamped to a probability")
}

/// A loss model at work.
#[derive(Debug)]
pub(crate) struct LossProcess {
    kind: Kind,
    rng: Rng,
}

#[derive(Debug)]
enum Kind {
    Never,
    Alone(Chance),
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
            Loss::Bernoulli(rate) => Kind::Alone(Chance::new(rate)),
            Loss::GilbertElliott(channel) => Kind::channel(&channel, &mut rng),
            Loss::Bursty { rate, burst } => Kind::channel(&Loss::channel(rate.get(), burst), &mut rng),
        };
        Self { kind, rng }
    }

    /// Whether anything can ever be lost.
    pub(crate) const fn can_lose(&self) -> bool {
        !matches!(self.kind, Kind::Never)
    }

    /// Whether the next frame is lost.
    pub(crate) fn takes(&mut self) -> bool {
        match &mut self.kind {
            Kind::Never => false,
            Kind::Alone(chance) => chance.happens(&mut self.rng),
            Kind::Channel {
                bad,
                good_to_bad,
                bad_to_good,
                loss_in_good,
                loss_in_bad,
            } => {
                let change = if *bad { *bad_to_good } else { *good_to_bad };
                *bad ^= change.happens(&mut self.rng);
                let loss = if *bad { *loss_in_bad } else { *loss_in_good };
                loss.happens(&mut self.rng)
            }
        }
    }
}

impl Kind {
    fn channel(channel: &GilbertElliott, rng: &mut Rng) -> Self {
        Self::Channel {
            bad: Chance::new(clamped(channel.bad_share())).happens(rng),
            good_to_bad: Chance::new(channel.good_to_bad),
            bad_to_good: Chance::new(channel.bad_to_good),
            loss_in_good: Chance::new(channel.loss_in_good),
            loss_in_bad: Chance::new(channel.loss_in_bad),
        }
    }
}

#[cfg(test)]
mod tests;
