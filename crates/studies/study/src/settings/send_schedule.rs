//! The send schedule of a transcript: when each message is due.

use super::choice::serialize_as_text;
use lastmile_units::duration;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::time::Duration;

/// When messages are due, on each side of a connection, counted from its opening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// At the times of the transcript, and all at once where it has none; written `"recorded"`.
    #[default]
    Recorded,
    /// The first at once, and each of the others this long after the one before; `"0 s"` sends them back to back.
    Every(Duration),
    /// The first at once, and each of the others once the one before it in the same direction has been decompressed; written
    /// `"one-by-one"`.
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

serialize_as_text!(Pace);
