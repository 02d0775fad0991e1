//! How are a queue, a loss, a jitter and a reordering written? Reads and prints them; what they mean is told beside their types.
//!
//! Every form may be written with spaces or without. What is printed reads back as the same value.

use crate::{CoDel, GilbertElliott, Jitter, Loss, Queue, Reordering};
use lastmile_units::{Bytes, Probability, duration};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A part of a link that could not be read: what was expected, what was found, and examples that would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not {what}: {problem}; write it like {examples}")]
pub struct ParsePartError {
    what: &'static str,
    found: String,
    problem: String,
    examples: &'static str,
}

/// What a part is called, and how it is written.
struct Part {
    what: &'static str,
    examples: &'static str,
}

const QUEUE: Part = Part {
    what: "a queue",
    examples: r#""20 packets", "64 kB", "unlimited", "auto", "codel" or "codel(target=5 ms, interval=100 ms, limit=1000 packets)""#,
};

const LOSS: Part = Part {
    what: "a loss",
    examples: r#""1 %", "bursty(rate=1 %, burst=3)" or "gilbert-elliott(p=1 %, r=30 %, loss_good=0 %, loss_bad=100 %)""#,
};

const JITTER: Part = Part {
    what: "a jitter",
    examples: r#""20 ms" (evenly, plus or minus), "normal(5 ms)", "added(40 ms)" or "none""#,
};

const REORDERING: Part = Part {
    what: "a reordering",
    examples: r#""1 % by 20 ms", "jitter" or "none""#,
};

impl Part {
    fn error(&self, found: &str, problem: impl Into<String>) -> ParsePartError {
        ParsePartError {
            what: self.what,
            found: found.to_owned(),
            problem: problem.into(),
            examples: self.examples,
        }
    }

    /// Takes `arguments` such as `p=1%,r=30%` apart: each key that is given must be known, and is given once.
    fn arguments<'a, const N: usize>(
        &self,
        found: &str,
        arguments: &'a str,
        keys: [&str; N],
    ) -> Result<[Option<&'a str>; N], ParsePartError> {
        let mut values = [None; N];
        for argument in arguments.split(',').filter(|argument| !argument.is_empty()) {
            let (key, value) = argument
                .split_once('=')
                .ok_or_else(|| self.error(found, format!("{argument:?} has no \"=\"")))?;
            let index = keys.iter().position(|known| *known == key);
            let index = index.ok_or_else(|| self.error(found, format!("{key:?} is none of {}", keys.join(", "))))?;
            if values[index].replace(value).is_some() {
                return Err(self.error(found, format!("{key:?} is given twice")));
            }
        }
        Ok(values)
    }

    /// Reads one argument by its own type, or fails in the name of the whole part.
    fn argument<T, E: fmt::Display>(&self, found: &str, read: Result<T, E>) -> Result<T, ParsePartError> {
        read.map_err(|error| self.error(found, error.to_string()))
    }
}

/// The text without white space.
fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// What stands in the parentheses of `name(...)`.
fn inside<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

/// A count of packets: `20packets`, `1packet`.
fn packets(text: &str) -> Option<&str> {
    text.strip_suffix("packets").or_else(|| text.strip_suffix("packet"))
}

impl FromStr for Queue {
    type Err = ParsePartError;

    fn from_str(found: &str) -> Result<Self, Self::Err> {
        let text = compact(found);
        match text.as_str() {
            "auto" => return Ok(Self::Auto),
            "unlimited" => return Ok(Self::Unlimited),
            "codel" => return Ok(Self::CoDel(CoDel::default())),
            _ => {}
        }
        let count = |text: &str| {
            let count = packets(text).and_then(|count| count.parse().ok());
            count.ok_or_else(|| QUEUE.error(found, format!("{text:?} is no whole number of packets")))
        };
        if let Some(arguments) = inside(&text, "codel") {
            let [target, interval, limit] = QUEUE.arguments(found, arguments, ["target", "interval", "limit"])?;
            let mut codel = CoDel::default();
            if let Some(target) = target {
                codel.target = QUEUE.argument(found, duration::parse(target))?;
            }
            if let Some(interval) = interval {
                codel.interval = QUEUE.argument(found, duration::parse(interval))?;
            }
            if let Some(limit) = limit {
                codel.limit = count(limit)?;
            }
            if codel.interval.is_zero() {
                return Err(QUEUE.error(found, "its interval is 0"));
            }
            return Ok(Self::CoDel(codel));
        }
        if packets(&text).is_some() {
            return count(&text).map(Self::Packets);
        }
        QUEUE.argument(found, text.parse::<Bytes>()).map(Self::Bytes)
    }
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Unlimited => f.write_str("unlimited"),
            Self::Packets(1) => f.write_str("1 packet"),
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::CoDel(codel) if *codel == CoDel::default() => f.write_str("codel"),
            Self::CoDel(CoDel {
                target,
                interval,
                limit,
            }) => {
                let (target, interval) = (duration::print(*target), duration::print(*interval));
                write!(f, "codel(target={target}, interval={interval}, limit={limit} packets)")
            }
        }
    }
}

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
                return Err(LOSS.error(found, "a burst is from 1 to 10^9 frames long on the mean"));
            }
            if rate.get() > burst / (1.0 + burst) {
                return Err(LOSS.error(
                    found,
                    "bursts this short cannot lose so much: good frames lie between bursts",
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
            Self::Bernoulli(rate) => write!(f, "{}", exact(*rate)),
            Self::Bursty { rate, burst } => write!(f, "bursty(rate={}, burst={burst})", exact(*rate)),
            Self::GilbertElliott(channel) => {
                let (p, r) = (exact(channel.good_to_bad), exact(channel.bad_to_good));
                write!(f, "gilbert-elliott(p={p}, r={r}")?;
                if channel.loss_in_good != Probability::NEVER {
                    write!(f, ", loss_good={}", exact(channel.loss_in_good))?;
                }
                if channel.loss_in_bad != Probability::ALWAYS {
                    write!(f, ", loss_bad={}", exact(channel.loss_in_bad))?;
                }
                f.write_str(")")
            }
        }
    }
}

/// In per cent, or as a ratio where per cent would lose digits.
fn exact(probability: Probability) -> String {
    let per_cent = probability.to_string();
    if per_cent.parse() == Ok(probability) {
        per_cent
    } else {
        probability.get().to_string()
    }
}

impl FromStr for Jitter {
    type Err = ParsePartError;

    fn from_str(found: &str) -> Result<Self, Self::Err> {
        let text = compact(found);
        let time = |text: &str| JITTER.argument(found, duration::parse(text));
        let jitter = if text == "none" {
            Self::None
        } else if let Some(deviation) = inside(&text, "normal") {
            Self::Normal {
                standard_deviation: time(deviation)?,
            }
        } else if let Some(peak) = inside(&text, "added") {
            Self::Added { peak: time(peak)? }
        } else {
            Self::Uniform {
                half_width: time(&text)?,
            }
        };
        // No jitter has one form, so that equal links are equal.
        Ok(if jitter.is_nothing() { Self::None } else { jitter })
    }
}

impl Jitter {
    fn is_nothing(&self) -> bool {
        match self {
            Self::None => true,
            Self::Uniform { half_width: length }
            | Self::Normal {
                standard_deviation: length,
            }
            | Self::Added { peak: length } => length.is_zero(),
        }
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
            .ok_or_else(|| REORDERING.error(found, "it says not by how much frames are late"))?;
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
                write!(f, "{} by {}", exact(*probability), duration::print(*extra_delay))
            }
        }
    }
}

#[cfg(test)]
mod tests;
