//! The notation of loss: `1 %`, `bursty(rate=1 %, burst=3)`, `gilbert-elliott(p=1 %, r=30 %)`.

use super::{ParsePartError, ValueGrammar, compact, inside, print_exactly};
use crate::{GilbertElliott, Loss};
use lastmile_units::Probability;
use std::fmt;
use std::str::FromStr;

const LOSS: ValueGrammar = ValueGrammar {
    what: "a loss",
    examples: r#""1 %", "bursty(rate=1 %, burst=3)" or "gilbert-elliott(p=1 %, r=30 %, loss_good=0 %, loss_bad=100 %)""#,
};

impl FromStr for Loss {
    type Err = ParsePartError;

    fn from_str(found: &str) -> Result<Self, Self::Err> {
        let text = compact(found);
        let probability = |text: &str| LOSS.argument(found, text.parse::<Probability>());
        if let Some(arguments) = inside(&text, "bursty") {
            let [rate, burst] = LOSS.arguments(found, arguments, ["rate", "burst"])?;
            let (Some(rate), Some(burst)) = (rate, burst) else {
                return Err(LOSS.error(found, "it needs both a rate and a burst"));
            };
            let rate = probability(rate)?;
            let burst: f64 = LOSS.argument(found, burst.parse())?;
            if !(1.0..=1e9).contains(&burst) {
                return Err(LOSS.error(found, "its mean burst must be 1 to 10^9 frames long"));
            }
            if rate.get() > burst / (1.0 + burst) {
                return Err(LOSS.error(
                    found,
                    "bursts this short cannot lose this many frames: good frames lie between bursts",
                ));
            }
            return Ok(Self::Bursty { rate, burst });
        }
        if let Some(arguments) = inside(&text, "gilbert-elliott") {
            let keys = ["p", "r", "loss_good", "loss_bad"];
            let [p, r, loss_good, loss_bad] = LOSS.arguments(found, arguments, keys)?;
            let (Some(p), Some(r)) = (p, r) else {
                return Err(LOSS.error(found, "it needs both p and r"));
            };
            let channel = GilbertElliott {
                good_to_bad: probability(p)?,
                bad_to_good: probability(r)?,
                loss_in_good: loss_good.map_or(Ok(Probability::NEVER), probability)?,
                loss_in_bad: loss_bad.map_or(Ok(Probability::ALWAYS), probability)?,
            };
            if channel.good_to_bad == Probability::NEVER && channel.bad_to_good == Probability::NEVER {
                return Err(LOSS.error(found, "with p and r both 0 the channel never changes"));
            }
            return Ok(Self::GilbertElliott(channel));
        }
        probability(&text).map(Self::Bernoulli)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bernoulli(rate) => write!(f, "{}", print_exactly(*rate)),
            Self::Bursty { rate, burst } => write!(f, "bursty(rate={}, burst={burst})", print_exactly(*rate)),
            Self::GilbertElliott(channel) => {
                let (p, r) = (print_exactly(channel.good_to_bad), print_exactly(channel.bad_to_good));
                write!(f, "gilbert-elliott(p={p}, r={r}")?;
                if channel.loss_in_good != Probability::NEVER {
                    write!(f, ", loss_good={}", print_exactly(channel.loss_in_good))?;
                }
                if channel.loss_in_bad != Probability::ALWAYS {
                    write!(f, ", loss_bad={}", print_exactly(channel.loss_in_bad))?;
                }
                f.write_str(")")
            }
        }
    }
}
