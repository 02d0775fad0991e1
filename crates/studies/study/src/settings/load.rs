//! The settings of a load and of its radio, one by one, so that each can be a factor.

use super::choice::{choice, display_as_content, serialize_as_text};
use lastmile_units::Dbm;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Requests per second, of all clients together: a number above 0 and at most 10 million. Written as a number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Rate(f64);

impl Rate {
    /// The largest rate: our own choice.
    const MAX: f64 = 1e7;

    /// Requests per second.
    pub const fn per_second(self) -> f64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let rate = f64::deserialize(from)?;
        (rate > 0.0 && rate <= Self::MAX).then_some(Self(rate)).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{rate} is not a rate; use a number of requests per second above 0 and at most 10000000"
            ))
        })
    }
}

choice! {
    /// Whether connections stay open for further requests.
    Persistent {
        /// They do.
        On = "on",
        /// Each request has a connection of its own.
        Off = "off",
    }
}

choice! {
    /// Whose rate it is that a study states.
    RateOf {
        /// That of all clients together.
        All = "all",
        /// That of each client.
        Each = "each",
    }
}

choice! {
    /// How the requests of a client follow each other.
    ArrivalPattern {
        /// At equal intervals.
        Constant = "constant",
        /// At independent, exponentially distributed intervals.
        Poisson = "poisson",
    }
}

choice! {
    /// Where in its interval each client begins.
    Phases {
        /// Somewhere: the clocks of the clients do not agree.
        Random = "random",
        /// All at once.
        Equal = "equal",
        /// One after the other, with equal times between them.
        Even = "even",
    }
}

/// The power of a transmitter, which is printed in milliwatts where that is a short number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransmitPower(pub Dbm);

impl fmt::Display for TransmitPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliwatts = (self.0.milliwatts() * 1e3).round() / 1e3;
        if milliwatts > 0.0 && Dbm::from_milliwatts(milliwatts) == self.0 {
            write!(f, "{milliwatts} mW")
        } else {
            self.0.fmt(f)
        }
    }
}

impl<'de> Deserialize<'de> for TransmitPower {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Dbm::deserialize(from).map(Self)
    }
}

/// A name that tells cells apart in reports, and changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(String);

display_as_content!(Rate, Label);
serialize_as_text!(TransmitPower);

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn every_value_prints_as_it_is_written() {
        let written = "clients = 4\ndistance = '10 m'\nexperiment = 'clients'\npersistent = 'off'\nradio = '802.11b+rate=arf'\n\
                       rate = 85\ntransmit_power = '100 mW'\nrate_of = 'each'\narrivals = 'poisson'\nphases = 'even'\n\
                       environment = { name = 'office', path_loss_exponent = 3 }";
        let levels = toml::from_str::<Settings>(written).unwrap().levels();
        let printed: Vec<_> = levels.values().map(String::as_str).collect();
        let expected = [
            "poisson",
            "4",
            "10 m",
            "office",
            "clients",
            "off",
            "even",
            "802.11b+rate=arf",
            "85",
            "each",
            "100 mW",
        ];
        assert_eq!(printed, expected);
        let power = |text: &str| {
            toml::from_str::<Settings>(&format!("transmit_power = '{text}'"))
                .unwrap()
                .levels()
        };
        for text in ["1 mW", "5 mW", "20 mW"] {
            assert_eq!(power(text)["transmit_power"], text);
        }
        assert_eq!(power("17.1 dBm")["transmit_power"], "17.1 dBm");
    }

    #[test]
    fn a_wrong_value_is_refused_with_what_would_be_right() {
        let refusal = |toml: &str| toml::from_str::<Settings>(toml).unwrap_err().to_string();
        assert!(refusal("rate = 0").contains("above 0 and at most 10000000"));
        assert!(refusal("persistent = 'yes'").contains("expected `on` or `off`"));
        assert!(refusal("transmit_power = '20'").contains("one of mW, W, dBm"));
    }
}
