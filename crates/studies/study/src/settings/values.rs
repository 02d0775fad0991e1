//! The small types of single settings; each is read from the text that it prints as.

use super::choice::{choice, display_as_content, serialize_as_text};
use lastmile_units::duration;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::time::Duration;

choice! {
    /// How a server writes the objects of a response to TCP.
    Writes {
        /// Each object is written and flushed as it is made.
        PerObject = "per-object",
        /// The whole response is made first, and then written.
        Buffered = "buffered",
    }
}

choice! {
    /// Whether the filter holds a compressed response until it is complete.
    Filter {
        /// It does, as the filter of 2005 did.
        Whole = "whole",
        /// Each object is sent as soon as it is compressed: the filter passes on every flush of the server.
        Stream = "stream",
    }
}

choice! {
    /// The congestion control.
    CongestionControl {
        /// RFC 9438.
        Cubic = "cubic",
        /// RFC 5681.
        Reno = "reno",
        /// BBR version 1, which also paces.
        Bbr = "bbr",
    }
}

/// When a small segment may be sent while others are outstanding; `true` and `false` are read as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nagle {
    /// As in Linux (Minshall): when no other small segment is outstanding.
    On,
    /// As in RFC 896: when nothing is outstanding.
    Classic,
    /// At once.
    Off,
}

impl fmt::Display for Nagle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "on",
            Self::Classic => "classic",
            Self::Off => "off",
        })
    }
}

impl<'de> Deserialize<'de> for Nagle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::Boolean(true) => Ok(Self::On),
            toml::Value::Boolean(false) => Ok(Self::Off),
            toml::Value::String(text) if text == "on" => Ok(Self::On),
            toml::Value::String(text) if text == "classic" => Ok(Self::Classic),
            toml::Value::String(text) if text == "off" => Ok(Self::Off),
            other => Err(serde::de::Error::custom(format!(
                "{other} is none of \"on\", \"classic\" and \"off\""
            ))),
        }
    }
}

/// A program at one end: `lastmile` is ours, any other is the name of a peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServerName(String);

impl ServerName {
    /// Whether it is ours.
    pub fn is_ours(&self) -> bool {
        self.0 == OURS
    }

    /// As studies and records write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const OURS: &str = "lastmile";

impl Default for ServerName {
    fn default() -> Self {
        Self(OURS.to_owned())
    }
}

impl<'de> Deserialize<'de> for ServerName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        // It names a folder, so it must be a plain name.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(serde::de::Error::custom(format!(
                "{name:?} is not the name of a program; use \"{OURS}\" or the name of a peer, in letters, digits and '-'"
            )));
        }
        Ok(Self(name))
    }
}

/// The name of a delivery: `tcp`. Whether there is a delivery with that name is known to the registry
/// ([`Deliveries`](crate::delivery::Deliveries)), which suggests the most similar one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct DeliveryName(String);

impl DeliveryName {
    /// As studies and records write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for DeliveryName {
    /// The delivery of cells that do not name one.
    fn default() -> Self {
        Self("http/1.1".to_owned())
    }
}

impl<'de> Deserialize<'de> for DeliveryName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(serde::de::Error::custom(format!(
                "{name:?} is not the name of a delivery; names have letters, digits, '-', '.' and '/', like \"http/1.1\""
            )));
        }
        Ok(Self(name))
    }
}

/// A length of time, written `"40 ms"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Delay(#[serde(with = "duration::text")] pub Duration);

impl Delay {
    pub const ZERO: Self = Self(Duration::ZERO);
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&duration::print(self.0))
    }
}

/// The round trip of a link, without serialisation times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundTrip {
    /// That of the link's profile; written `"link"`.
    OfLink,
    /// This one: half of it each way, whatever the profile says.
    Of(Duration),
}

impl fmt::Display for RoundTrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfLink => f.write_str("link"),
            Self::Of(round_trip) => f.write_str(&duration::print(*round_trip)),
        }
    }
}

impl<'de> Deserialize<'de> for RoundTrip {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "link" => Ok(Self::OfLink),
            text => duration::parse(text)
                .map(Self::Of)
                .map_err(|error| serde::de::Error::custom(format!("{error}, or \"link\" to keep the link's own"))),
        }
    }
}

/// The factor by which a virtual CPU is slower than the one of the cost table; at least 0.01. Written as a number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct SlowDown(f64);

impl SlowDown {
    /// As fast as the reference.
    pub const NONE: SlowDown = SlowDown(1.0);

    /// The factor, where it is a number of at least 0.01 and at most a million. Both bounds are our own choice: they keep every
    /// charged time within the virtual clock.
    pub fn new(factor: f64) -> Option<Self> {
        (0.01..=1e6).contains(&factor).then_some(Self(factor))
    }

    /// The factor.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for SlowDown {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let factor = f64::deserialize(from)?;
        Self::new(factor).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{factor} is not a slow-down; use a number from 0.01 to 1000000, where 1 is none"
            ))
        })
    }
}

display_as_content!(ServerName, DeliveryName, SlowDown);
serialize_as_text!(Nagle, RoundTrip);

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    fn refusal(toml: &str) -> String {
        toml::from_str::<Settings>(toml).unwrap_err().to_string()
    }

    #[test]
    fn every_choice_prints_as_it_is_written() {
        let written = "codec = \"gzip:6\"\ncongestion_control = \"reno\"\ncpu_slowdown = 3\ndelivery = \"h2\"\nhosts = \"one\"\n\
                       nagle = true\nround_trip = \"250 ms\"\nwrites = \"per-object\"";
        let levels = toml::from_str::<Settings>(written).unwrap().levels();
        let printed: Vec<_> = levels.values().map(String::as_str).collect();
        assert_eq!(
            printed,
            ["gzip:6", "reno", "3", "h2", "one", "on", "250 ms", "per-object"]
        );
    }

    #[test]
    fn a_wrong_value_is_refused_with_what_would_be_right() {
        assert!(refusal("nagle = 'yes'").contains("none of \"on\", \"classic\" and \"off\""));
        assert!(refusal("cpu_slowdown = 0").contains("0.01 to 1000000"));
        assert!(refusal("round_trip = 5").contains("expected a string"));
        assert!(refusal("round_trip = '5'").contains("\"link\" to keep"));
        assert!(refusal("delivery = 'http 1'").contains("names have letters, digits, '-', '.' and '/'"));
        assert!(refusal("congestion_control = 'bbr2'").contains("expected one of `cubic`, `reno`, `bbr`"));
    }
}
