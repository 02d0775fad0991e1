//! When is each message of a transcript due?

use lastmile_units::duration;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// When messages are due; after their connection has opened, on each side of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As the transcript has it, and all at once where it does not say; written `"recorded"`.
    #[default]
    Recorded,
    /// The first at once, and each of the others so long after the one before: a duration, of which `"0 s"` has them back to back.
    Every(Duration),
    /// The first at once, and each of the others once the one before it, the same way, has been decoded; written `"one-by-one"`.
    OneByOne,
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded => f.write_str("recorded"),
            Self::Every(interval) => f.write_str(&duration::print(*interval)),
            Self::OneByOne => f.write_str("one-by-one"),
        }
    }
}

impl Serialize for Pace {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pace {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "recorded" => Ok(Self::Recorded),
            "one-by-one" => Ok(Self::OneByOne),
            text => duration::parse(text).map(Self::Every).map_err(|error| {
                serde::de::Error::custom(format!(
                    "{error}, or \"recorded\" for the transcript's own times, or \"one-by-one\""
                ))
            }),
        }
    }
}
