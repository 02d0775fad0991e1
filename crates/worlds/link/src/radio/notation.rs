//! How a radio is written: as a formula such as `802.11b+transmit_power=5mW+distance=10m`, or as a table in a file.

use super::parameters::{PARAMETERS, Parameter, unknown_name};
use super::phy::Phy;
use super::spec::RadioSpec;
use crate::LinkError;
use crate::formula::split_formula;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

type MakeDefault = fn() -> RadioSpec;

/// The radios with defaults, by the standards' names.
const STANDARDS: [(&str, MakeDefault); 2] = [("802.11b", RadioSpec::dot11b), ("802.11a", RadioSpec::dot11a)];

/// The key of a table that names the standard.
const STANDARD: &str = "standard";

impl RadioSpec {
    /// The name of its standard.
    pub const fn standard(&self) -> &'static str {
        match self.phy {
            Phy::HighRateDsss(_) => "802.11b",
            Phy::Ofdm => "802.11a",
        }
    }

    fn of_standard(name: &str) -> Result<Self, String> {
        let known = STANDARDS.iter().find(|(known, _)| *known == name);
        let (_, default) =
            known.ok_or_else(|| unknown_name(name, "a radio", "radios", &STANDARDS.map(|(name, _)| name)))?;
        Ok(default())
    }
}

/// The formula: the standard, and every setting in which the radio differs from its defaults. It reads back as an equal radio.
///
/// ```
/// use lastmile_link::radio::RadioSpec;
/// let radio: RadioSpec = "802.11b+distance=10m+transmit_power=5mW+rate=arf".parse().unwrap();
/// assert_eq!(radio.to_string(), "802.11b+rate=arf+transmit_power=5mW+distance=10m");
/// assert_eq!(radio.to_string().parse(), Ok(radio));
///
/// #[derive(serde::Deserialize)]
/// struct Factors { radio: Vec<RadioSpec> }
/// let text = r#"radio = ["802.11a", { standard = "802.11b", distance = "100 m", short_retry_limit = 4 }]"#;
/// let factors: Factors = toml::from_str(text).unwrap();
/// assert_eq!(factors.radio[1].to_string(), "802.11b+distance=100m+short_retry_limit=4");
/// ```
impl fmt::Display for RadioSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.standard())?;
        let default = Self::of_standard(self.standard()).map_err(|_| fmt::Error)?;
        for parameter in &PARAMETERS {
            let printed = parameter.printed(self);
            if printed != parameter.printed(&default) {
                write!(f, "+{}={}", parameter.name, printed.replace(' ', ""))?;
            }
        }
        Ok(())
    }
}

impl FromStr for RadioSpec {
    type Err = LinkError;

    /// # Errors
    /// Names the radio, and either the setting with the nearest known one, or the value with an example.
    fn from_str(text: &str) -> Result<Self, LinkError> {
        let error = |problem: String| LinkError::of_setting("radio", text.trim(), &problem);
        let (standard, settings) = split_formula(text, "distance=10m");
        let mut spec = Self::of_standard(standard).map_err(error)?;
        for setting in settings {
            let (name, value) = setting.map_err(error)?;
            let parameter = Parameter::find(name).map_err(error)?;
            parameter.apply(&mut spec, value).map_err(error)?;
        }
        Ok(spec)
    }
}

impl Serialize for RadioSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RadioSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(RadioVisitor)
    }
}

struct RadioVisitor;

impl<'de> Visitor<'de> for RadioVisitor {
    type Value = RadioSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            r#"a radio like "802.11b+distance=10m", or a table like { standard = "802.11b", distance = "10 m" }"#,
        )
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RadioSpec, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RadioSpec, A::Error> {
        let (mut standard, mut settings) = (None, Vec::new());
        while let Some(key) = map.next_key::<String>()? {
            if key == STANDARD {
                let name = map.next_value::<String>()?;
                standard = Some(RadioSpec::of_standard(&name).map_err(A::Error::custom)?);
            } else {
                settings.push(read_setting(&key, &mut map)?);
            }
        }
        let mut spec =
            standard.ok_or_else(|| A::Error::custom(r#"a radio needs its standard, like standard = "802.11b""#))?;
        RadioChanges(settings).change(&mut spec).map_err(A::Error::custom)?;
        Ok(spec)
    }
}

/// The setting whose key was read from a table.
fn read_setting<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<(&'static Parameter, String), A::Error> {
    let parameter = Parameter::find(key).map_err(A::Error::custom)?;
    Ok((parameter, map.next_value::<ValueText>()?.0))
}

/// Some settings of a radio, to be changed in one that is given elsewhere: such as those of a place. Written as a table, like
/// `{ path_loss_exponent = 4, fading = "rayleigh" }`.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioChanges(Vec<(&'static Parameter, String)>);

impl RadioChanges {
    /// Changes `radio`.
    ///
    /// # Errors
    /// When a value does not suit the radio's standard.
    pub fn apply(&self, radio: &mut RadioSpec) -> Result<(), LinkError> {
        let changed = self.change(radio);
        changed.map_err(|problem| LinkError::of_setting("radio", &radio.to_string(), &problem))
    }

    fn change(&self, radio: &mut RadioSpec) -> Result<(), String> {
        self.0
            .iter()
            .try_for_each(|(parameter, value)| parameter.apply(radio, value))
    }
}

impl<'de> Deserialize<'de> for RadioChanges {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ChangesVisitor)
    }
}

struct ChangesVisitor;

impl<'de> Visitor<'de> for ChangesVisitor {
    type Value = RadioChanges;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"settings of a radio, like { path_loss_exponent = 4, fading = "rayleigh" }"#)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RadioChanges, A::Error> {
        let mut settings = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            settings.push(read_setting(&key, &mut map)?);
        }
        let changes = RadioChanges(settings);
        // What no radio takes is refused where it is written.
        let [dot11b, dot11a] = STANDARDS.map(|(_, default)| changes.change(&mut default()));
        match (dot11b, dot11a) {
            (Err(problem), Err(_)) => Err(A::Error::custom(problem)),
            _ => Ok(changes),
        }
    }
}

/// A value as text; a number stands for its digits.
struct ValueText(String);

impl<'de> Deserialize<'de> for ValueText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a text like \"10 m\", or a number")]
        enum Value {
            Text(String),
            Whole(i64),
            Number(f64),
        }
        Ok(Self(match Value::deserialize(from)? {
            Value::Text(text) => text,
            Value::Whole(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_reads_back_as_it_is_printed() {
        let changed = "802.11b+preamble=short+rate=5.5Mbit/s+highest_basic_rate=1Mbit/s+transmit_power=7dBm+distance=10m\
            +path_loss_exponent=2.5+path_loss_reference=41dB+obstruction_loss=7dB+antennas=2+fading=rician(6dB)+coherence_time=10ms+noise_figure=8dB\
            +implementation_loss=2dB+carrier_sense_threshold=-85dBm+energy_detection_threshold=-70dBm+capture=none\
            +short_retry_limit=4+long_retry_limit=3+rts_threshold=500B+queue=50packets+beacons=102.4ms\
            +interferer=on(period=20ms,duty_cycle=50%,power=-60dBm)+power_states=draws(transmit=2W,receive=1W,idle=0.5W)";
        let radio: RadioSpec = changed.parse().unwrap();
        assert_eq!(radio.to_string(), changed);
        assert_eq!(changed.matches('+').count(), PARAMETERS.len());
        assert_eq!(radio.to_string().parse(), Ok(radio));
        for (name, default) in STANDARDS {
            assert_eq!(default().to_string(), name);
            assert_eq!(name.parse(), Ok(default()));
        }
    }

    #[test]
    fn changes_keep_the_other_settings_of_a_radio() {
        #[derive(Debug, Deserialize)]
        struct File {
            changes: RadioChanges,
        }
        let read = |table: &str| toml::from_str::<File>(&format!("changes = {table}"));
        let changes = read("{ path_loss_exponent = 4, fading = \"rayleigh\" }")
            .unwrap()
            .changes;
        let mut radio: RadioSpec = "802.11b+distance=10m".parse().unwrap();
        changes.apply(&mut radio).unwrap();
        assert_eq!(
            radio.to_string(),
            "802.11b+distance=10m+path_loss_exponent=4+fading=rayleigh"
        );
        let refused = read("{ fading = \"some\" }").unwrap_err().to_string();
        assert!(refused.contains("fading:") && refused.contains("rayleigh"), "{refused}");
        let short = read("{ preamble = \"short\" }").unwrap().changes;
        let refused = short.apply(&mut RadioSpec::dot11a()).unwrap_err().to_string();
        assert!(refused.contains("one preamble"), "{refused}");
    }

    #[test]
    fn errors_name_the_setting_the_value_and_the_remedy() {
        let refusal = |text: &str| text.parse::<RadioSpec>().unwrap_err().to_string();
        for (text, expected) in [
            ("802.11g", "is not a radio; did you mean 802.11"),
            ("802.11b+distanse=3m", "did you mean distance?"),
            ("802.11b+distance", "write it like \"distance=10m\""),
            (
                "802.11b+distance=3",
                "distance: \"3\" is not a distance: its unit is missing",
            ),
            (
                "802.11b+rate=54Mbit/s",
                "its rates are 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s, 11 Mbit/s",
            ),
            ("802.11a+preamble=short", "802.11a has one preamble"),
            ("802.11b+interferer=on(period=3ms)", "its power is missing"),
            (
                "802.11b+interferer=on(colour=3)",
                "\"colour\" is not one of period, duty_cycle, power",
            ),
            ("802.11b+short_retry_limit=0", "from 1 to 255"),
            ("802.11b+antennas=0", "from 1 to 8"),
            ("802.11b+fading=some", "\"rician(6 dB)\""),
            ("802.11b+beacons=0s", "above 0"),
            ("802.11b+power_states=draws(idle=3)", "no number of watts"),
        ] {
            let refused = refusal(text);
            assert!(refused.contains(expected), "{text}: {refused}");
            assert!(refused.starts_with(&format!("radio {text:?}: ")), "{refused}");
        }
        #[derive(Debug, Deserialize)]
        #[allow(dead_code)]
        struct File {
            radio: RadioSpec,
        }
        let refused = toml::from_str::<File>("radio = { distance = \"3 m\" }")
            .unwrap_err()
            .to_string();
        assert!(refused.contains("standard = \"802.11b\""), "{refused}");
        let refused = toml::from_str::<File>("radio = { standard = \"802.11b\", queue = 3 }")
            .unwrap_err()
            .to_string();
        assert!(refused.contains("100 packets"), "{refused}");
    }
}
