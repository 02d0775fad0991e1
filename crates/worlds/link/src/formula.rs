//! Parses the link that a user asks for: a formula on a command line, a formula or a table in a file.
//!
//! It looks up profiles; the caller reads traces.

use crate::parameters::{Key, Parameter, Setting, Side, TraceReader};
use crate::profile;
use crate::spec::check_jitter;
use crate::toml_table::{SettingsTable, TableVisitor};
use crate::{DirectionSpec, LinkError, LinkSpec};
use lastmile_units::BitRate;
use lastmile_units::suggest::nearest;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use std::fmt;
use std::str::FromStr;

/// A requested link: parsed and checked, but without its delivery traces, which the caller reads.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkRequest {
    base: String,
    settings: Vec<Setting>,
}

impl LinkRequest {
    /// Reads a formula: `wpt/3g`, `wpt/3g+loss=1%+jitter=20ms`, `mine+rate=512kbit/s+one_way_delay=50ms`; `2Mbps,100ms` is a rate and a
    /// round trip, and `none` a link that adds nothing. Later settings override earlier ones.
    ///
    /// # Errors
    /// Names the link, and either the key with the nearest known one, or the value with an example. An unknown profile
    /// is reported by [`resolve_with`](Self::resolve_with).
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        let error = |problem: String| LinkError::of_setting("link", text.trim(), &problem);
        let (base, parts) = split_formula(text, "loss=1%");
        let (base, mut settings) = match base.split_once(',') {
            Some((rate, round_trip)) => rate_and_round_trip(rate, round_trip).map_err(error)?,
            None if BitRate::parse(base).is_ok() => {
                return Err(error(format!(
                    "it states no round trip; write it like \"{base},100ms\""
                )));
            }
            None if base == NONE => (NONE.to_owned(), none()),
            None => (base.to_owned(), Vec::new()),
        };
        for part in parts {
            let (name, value) = part.map_err(error)?;
            let key = Key::parse(name).map_err(error)?;
            settings.push(Setting::parse(key, value).map_err(|problem| error(format!("{name}: {problem}")))?);
        }
        Ok(Self { base, settings })
    }

    /// Makes the link; `read_trace` returns the text of a delivery trace's file.
    ///
    /// # Errors
    /// When no profile has its name, when a link of the user's own states no rate or delay, when a trace cannot be
    /// read, or when jitter exceeds the delay it varies.
    pub fn resolve_with(&self, read_trace: TraceReader<'_>) -> Result<LinkSpec, LinkError> {
        let mut spec = match profile::find(&self.base) {
            Some(profile) => profile.spec.clone(),
            None if self.base.contains('/') || self.settings.is_empty() => {
                return Err(LinkError(format!(
                    "{:?} is not a link profile{} (`lastmile profiles list` lists them all)",
                    self.base,
                    profile_meant(&self.base)
                )));
            }
            None => {
                self.check_complete()?;
                LinkSpec::new(&self.base, DirectionSpec::IDEAL, DirectionSpec::IDEAL)?
            }
        };
        for setting in &self.settings {
            setting.apply(&mut spec.down, &mut spec.up, read_trace)?;
        }
        for (side, direction) in [("down", &spec.down), ("up", &spec.up)] {
            check_jitter(direction)
                .map_err(|problem| LinkError::of_setting("link", &spec.to_string(), &format!("{side}: {problem}")))?;
        }
        Ok(spec)
    }

    /// A link of the user's own must state rate and delay.
    fn check_complete(&self) -> Result<(), LinkError> {
        let mut missing = Vec::new();
        for (parameter, other) in Parameter::ALTERNATIVES {
            for side in [Side::Down, Side::Up] {
                let states = |setting: &Setting| setting.states(parameter, side) || setting.states(other, side);
                if !self.settings.iter().any(states) {
                    missing.push(format!("{}{}", parameter.name(), side.suffix()));
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let (link, missing, meant) = (&self.base, missing.join(", "), profile_meant(&self.base));
        Err(LinkError(format!(
            "link {link:?} does not state {missing}; write it like \"{link}+rate=512kbit/s+one_way_delay=50ms\"{meant}"
        )))
    }
}

/// The link that adds nothing.
const NONE: &str = "none";

fn none() -> Vec<Setting> {
    [("rate", "unlimited"), ("one_way_delay", "0 s")]
        .map(|(name, value)| setting(name, value).expect("a rate and a delay"))
        .to_vec()
}

fn setting(name: &str, value: &str) -> Result<Setting, String> {
    Setting::parse(Key::parse(name)?, value)
}

/// The name and the settings of a link of this rate in both directions, and this round trip.
fn rate_and_round_trip(rate: &str, round_trip: &str) -> Result<(String, Vec<Setting>), String> {
    let settings = vec![setting("rate", rate)?, setting("round_trip", round_trip)?];
    let name = format!("{}-{}", rate.trim().trim_end_matches("/s"), round_trip.trim());
    Ok((name.replace(' ', ""), settings))
}

/// Splits a formula: its base, and the name and the value of each setting. Errors show `example` of a setting.
pub(crate) fn split_formula<'a>(
    text: &'a str,
    example: &str,
) -> (&'a str, impl Iterator<Item = Result<(&'a str, &'a str), String>>) {
    let mut parts = text.split('+');
    let base = parts.next().unwrap_or_default().trim();
    let settings = parts.map(move |part| match part.split_once('=') {
        Some((name, value)) => Ok((name.trim(), value)),
        None => Err(format!(
            "{:?} is not a setting: write it like {example:?}, with \"+\" between settings",
            part.trim()
        )),
    });
    (base, settings)
}

/// Accepts a formula as a string, or a table.
impl<'de> Deserialize<'de> for LinkRequest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(RequestVisitor)
    }
}

struct RequestVisitor;

impl<'de> Visitor<'de> for RequestVisitor {
    type Value = LinkRequest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a link like "wpt/3g+loss=1%", or "#)?;
        TableVisitor.expecting(f)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<LinkRequest, E> {
        LinkRequest::parse(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LinkRequest, A::Error> {
        let SettingsTable { name, settings } = TableVisitor.visit_map(map)?;
        let base =
            name.ok_or_else(|| A::Error::custom("a link in a table needs a name, like name = \"short-queue\""))?;
        Ok(LinkRequest { base, settings })
    }
}

/// The link that a formula describes, without delivery traces.
///
/// ```
/// let link = lastmile_link::resolve("wpt/3g + loss = 1 % + rate_up = 64 kbit/s").unwrap();
/// assert_eq!(link.name(), "wpt/3g+rate_up=64kbit/s+loss=1%");
/// ```
///
/// # Errors
/// As [`LinkRequest::parse`] and [`LinkRequest::resolve_with`]; a delivery trace is refused, since its file cannot be
/// read here.
pub fn resolve(text: &str) -> Result<LinkSpec, LinkError> {
    LinkRequest::parse(text)?.resolve_with(&mut no_traces)
}

/// The links of a list such as `wpt/3g,published/dialup-56k,2Mbps,100ms`; commas inside parentheses belong to a setting.
///
/// # Errors
/// As [`LinkRequest::parse`], for the first entry that is wrong.
pub fn parse_list(text: &str) -> Result<Vec<LinkRequest>, LinkError> {
    let mut depth = 0_usize;
    let at_comma = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let mut formulas: Vec<String> = Vec::new();
    for part in text.split(at_comma) {
        match formulas.last_mut() {
            // The comma stands between a rate and its round trip.
            Some(rate) if BitRate::parse(rate).is_ok() => *rate += &format!(",{part}"),
            _ => formulas.push(part.to_owned()),
        }
    }
    formulas.iter().map(|formula| LinkRequest::parse(formula)).collect()
}

impl FromStr for LinkSpec {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        resolve(text)
    }
}

/// Accepts a formula or a table. Delivery traces cannot be read here: deserialise a [`LinkRequest`] where they are
/// allowed.
impl<'de> Deserialize<'de> for LinkSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let request = LinkRequest::deserialize(from)?;
        request.resolve_with(&mut no_traces).map_err(D::Error::custom)
    }
}

fn no_traces(_: &str) -> Result<String, String> {
    Err("delivery traces cannot be read here; give the link a rate instead".to_owned())
}

/// "Did you mean" with the profile most similar to `name`, or nothing.
fn profile_meant(name: &str) -> String {
    let same_name = profile::all_profiles().find(|profile| profile.name == name);
    let same_name = same_name.map(|profile| profile.id.as_str());
    same_name
        .or_else(|| nearest(name, profile::all_profiles().map(|profile| profile.id.as_str())))
        .map_or_else(String::new, |id| format!("; did you mean {id}?"))
}

#[cfg(test)]
mod tests;
