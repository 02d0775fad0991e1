//! The notation of jitter and reordering: `20 ms`, `normal(5 ms)`; `1 % by 20 ms`.

use super::{ParsePartError, ValueGrammar, compact, inside, print_exactly};
use crate::{Jitter, Reordering};
use lastmile_units::{Probability, duration};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

const JITTER: ValueGrammar = ValueGrammar {
    what: "a jitter",
    examples: r#""20 ms" (uniform, plus or minus), "normal(5 ms)", "added(40 ms)" or "none""#,
};

const REORDERING: ValueGrammar = ValueGrammar {
    what: "a reordering",
    examples: r#""1 % by 20 ms", "jitter" or "none""#,
};

impl FromStr for Jitter {
    type Err = ParsePartError;

    fn from_str(found: &str) -> Result<Self, Self::Err> {
        let text = compact(found);
        if text == "none" {
            return Ok(Self::None);
        }
        let (length, of_length): (&str, fn(Duration) -> Self) = if let Some(deviation) = inside(&text, "normal") {
            (deviation, |standard_deviation| Self::Normal { standard_deviation })
        } else if let Some(peak) = inside(&text, "added") {
            (peak, |peak| Self::Added { peak })
        } else {
            (&text, |half_width| Self::Uniform { half_width })
        };
        let length = JITTER.argument(found, duration::parse(length))?;
        // Zero jitter has one form, so that equal links are equal.
        Ok(if length.is_zero() {
            Self::None
        } else {
            of_length(length)
        })
    }
}

impl fmt::Display for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Uniform { half_width } => f.write_str(&duration::print(*half_width)),
            Self::Normal { standard_deviation } => write!(f, "normal({})", duration::print(*standard_deviation)),
            Self::Added { peak } => write!(f, "added({})", duration::print(*peak)),
        }
    }
}

impl FromStr for Reordering {
    type Err = ParsePartError;

    fn from_str(found: &str) -> Result<Self, Self::Err> {
        let text = compact(found);
        match text.as_str() {
            "none" => return Ok(Self::None),
            "jitter" => return Ok(Self::ByJitter),
            _ => {}
        }
        let (probability, extra_delay) = text
            .split_once("by")
            .ok_or_else(|| REORDERING.error(found, "it does not say by how much frames are late"))?;
        let probability: Probability = REORDERING.argument(found, probability.parse())?;
        let extra_delay: Duration = REORDERING.argument(found, duration::parse(extra_delay))?;
        let nothing = probability == Probability::NEVER || extra_delay.is_zero();
        Ok(if nothing {
            Self::None
        } else {
            Self::Late {
                probability,
                extra_delay,
            }
        })
    }
}

impl fmt::Display for Reordering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::ByJitter => f.write_str("jitter"),
            Self::Late {
                probability,
                extra_delay,
            } => {
                write!(
                    f,
                    "{} by {}",
                    print_exactly(*probability),
                    duration::print(*extra_delay)
                )
            }
        }
    }
}
