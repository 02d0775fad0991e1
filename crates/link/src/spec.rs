//! Which link was meant, and how is it written? Both directions together, from a name, a formula or a table.

use crate::nearest::nearest;
use crate::profile::{self, Profile};
use crate::setting::{Key, Knob, Setting, SettingsTable, Side, TableVisitor, TraceReader, half};
use crate::{Capacity, DirectionSpec, Jitter, LinkError, Loss, Queue, Reordering};
use lastmile_units::{BitRate, Bytes};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A link: what it is called, and what each of its directions is like.
///
/// It prints as a formula that [`resolve`] turns into an equal link, and serialises as that. In a file it may also be a table:
///
/// ```
/// use lastmile_link::{LinkSpec, resolve};
/// #[derive(serde::Deserialize)]
/// struct Factors { link: Vec<LinkSpec> }
/// let text = r#"link = ["wpt/3g+loss=1%", { name = "mine", rate = "512 kbit/s", one_way_delay = "50 ms", queue = "20 packets" }]"#;
/// let factors: Factors = toml::from_str(text).unwrap();
/// assert_eq!(factors.link[0].to_string(), "wpt/3g+loss=1%");
/// assert_eq!(factors.link[1].to_string(), "mine+rate=512kbit/s+one_way_delay=50ms+queue=20packets");
/// assert_eq!(resolve(&factors.link[1].to_string()).unwrap(), factors.link[1]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec {
    base: Base,
    /// Towards the client: what a user downloads passes here.
    pub down: DirectionSpec,
    /// Towards the server.
    pub up: DirectionSpec,
}

/// What a link's settings are changes of.
#[derive(Debug, Clone, PartialEq)]
enum Base {
    /// A profile, by its `set/name`.
    Profile(String),
    /// A link of the user's own: changes of an ideal link, under a name.
    Own(String),
}

impl LinkSpec {
    pub(crate) fn of_profile(id: &str, down: DirectionSpec, up: DirectionSpec) -> Self {
        Self {
            base: Base::Profile(id.to_owned()),
            down,
            up,
        }
    }

    /// A link of one's own. The name is for tables and is part of the printed form: letters, digits, `-`, `_` and `.`.
    ///
    /// # Errors
    /// When the name is empty or has other characters.
    pub fn new(name: &str, down: DirectionSpec, up: DirectionSpec) -> Result<Self, LinkError> {
        check_own_name(name)?;
        Ok(Self {
            base: Base::Own(name.to_owned()),
            down,
            up,
        })
    }

    /// What it is called in tables: a profile's name with what was changed of it, or the name it was given.
    pub fn name(&self) -> String {
        match &self.base {
            Base::Profile(_) => self.to_string(),
            Base::Own(name) => name.clone(),
        }
    }

    /// The profile it began as.
    pub fn profile(&self) -> Option<&'static Profile> {
        match &self.base {
            Base::Profile(id) => profile::find(id),
            Base::Own(_) => None,
        }
    }

    /// Both one-way delays: the least time from a question to its answer, without serialisation and jitter.
    pub fn round_trip(&self) -> Duration {
        self.down.one_way_delay + self.up.one_way_delay
    }

    /// The same link with this round trip, half of it in each direction.
    #[must_use]
    pub fn with_round_trip(mut self, round_trip: Duration) -> Self {
        self.down.one_way_delay = half(round_trip, Side::Down);
        self.up.one_way_delay = half(round_trip, Side::Up);
        self
    }

    /// The same link with this delay in each direction.
    #[must_use]
    pub fn with_one_way_delay(self, delay: Duration) -> Self {
        self.with_both(|direction| direction.one_way_delay = delay)
    }

    /// The same link with these rates.
    #[must_use]
    pub fn with_rates(mut self, down: BitRate, up: BitRate) -> Self {
        self.down.capacity = Capacity::Rate(down);
        self.up.capacity = Capacity::Rate(up);
        self
    }

    /// The same link with this loss in each direction.
    #[must_use]
    pub fn with_loss(self, loss: Loss) -> Self {
        self.with_both(|direction| direction.loss = loss)
    }

    /// The same link with this jitter in each direction.
    #[must_use]
    pub fn with_jitter(self, jitter: Jitter) -> Self {
        self.with_both(|direction| direction.jitter = jitter)
    }

    /// The same link with this reordering in each direction.
    #[must_use]
    pub fn with_reordering(self, reordering: Reordering) -> Self {
        self.with_both(|direction| direction.reordering = reordering)
    }

    /// The same link with this queue in each direction.
    #[must_use]
    pub fn with_queue(self, queue: Queue) -> Self {
        self.with_both(|direction| direction.queue = queue)
    }

    /// The same link with this framing overhead in each direction.
    #[must_use]
    pub fn with_framing_overhead(self, overhead: Bytes) -> Self {
        self.with_both(|direction| direction.framing_overhead = overhead)
    }

    fn with_both(mut self, change: impl Fn(&mut DirectionSpec)) -> Self {
        change(&mut self.down);
        change(&mut self.up);
        self
    }

    /// What its settings are changes of, direction by direction.
    fn unchanged(&self) -> (DirectionSpec, DirectionSpec) {
        match self.profile() {
            Some(profile) => (profile.spec.down.clone(), profile.spec.up.clone()),
            None => (DirectionSpec::IDEAL, DirectionSpec::IDEAL),
        }
    }
}

/// The formula: the base, and every setting in which the link differs from it. A link of one's own always states rate and delay.
impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Base::Profile(base) | Base::Own(base)) = &self.base;
        f.write_str(base)?;
        let own = matches!(self.base, Base::Own(_));
        let (base_down, base_up) = self.unchanged();
        for knob in Knob::ALL {
            let always = own && matches!(knob, Knob::Rate | Knob::OneWayDelay);
            let changed = |now: &DirectionSpec, before: &DirectionSpec| {
                let printed = knob.printed(now);
                if always || printed != knob.printed(before) {
                    printed
                } else {
                    None
                }
            };
            // A trace's path keeps its spaces.
            let compact = |value: String| {
                if knob == Knob::Trace {
                    value
                } else {
                    value.replace(' ', "")
                }
            };
            let down = changed(&self.down, &base_down).map(compact);
            let up = changed(&self.up, &base_up).map(compact);
            let name = knob.name();
            match (down, up) {
                (Some(down), Some(up)) if down == up => write!(f, "+{name}={down}")?,
                (down, up) => {
                    if let Some(down) = down {
                        write!(f, "+{name}_down={down}")?;
                    }
                    if let Some(up) = up {
                        write!(f, "+{name}_up={up}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl FromStr for LinkSpec {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        resolve(text)
    }
}

impl Serialize for LinkSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// From a formula or a table. Delivery traces cannot be read here: deserialise a [`LinkRequest`] where they are allowed.
impl<'de> Deserialize<'de> for LinkSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let request = LinkRequest::deserialize(from)?;
        request.resolve_with(&mut no_traces).map_err(D::Error::custom)
    }
}

/// A link that was asked for: read and checked, but without its delivery traces, which the caller reads.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkRequest {
    base: String,
    settings: Vec<Setting>,
}

impl LinkRequest {
    /// Reads a formula: `wpt/3g`, `wpt/3g+loss=1%+jitter=20ms`, `mine+rate=512kbit/s+one_way_delay=50ms`. Later settings override earlier ones.
    ///
    /// # Errors
    /// Names the link, the key and its nearest known one, or the value and an example. An unknown profile is found by
    /// [`resolve_with`](Self::resolve_with).
    pub fn parse(text: &str) -> Result<Self, LinkError> {
        let error = |problem| LinkError::Setting {
            link: text.trim().to_owned(),
            problem,
        };
        let mut parts = text.split('+');
        let base = parts.next().unwrap_or_default().trim().to_owned();
        let mut settings = Vec::new();
        for part in parts {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                error(format!(
                    "{:?} is no setting: write it like \"loss=1%\", with \"+\" between settings",
                    part.trim()
                ))
            })?;
            let key = Key::parse(key.trim()).map_err(error)?;
            settings.push(Setting::parse(key, value).map_err(error)?);
        }
        Ok(Self { base, settings })
    }

    /// Makes the link; `read_trace` gives the text of a delivery trace's file.
    ///
    /// # Errors
    /// When no profile has its name, when a link of one's own states no rate or delay, when a trace cannot be read, or when jitter is larger than
    /// the delay it varies.
    pub fn resolve_with(&self, read_trace: TraceReader<'_>) -> Result<LinkSpec, LinkError> {
        let mut spec = match profile::find(&self.base) {
            Some(profile) => profile.spec.clone(),
            None if self.base.contains('/') || self.settings.is_empty() => {
                let meant = profile_meant(&self.base);
                return Err(LinkError::UnknownProfile {
                    name: self.base.clone(),
                    meant,
                });
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
            check_jitter(direction).map_err(|problem| LinkError::Setting {
                link: spec.to_string(),
                problem: format!("{side}: {problem}"),
            })?;
        }
        Ok(spec)
    }

    /// A link of one's own says how fast and how far it is.
    fn check_complete(&self) -> Result<(), LinkError> {
        let mut missing = Vec::new();
        for (knob, other) in [(Knob::Rate, Knob::Trace), (Knob::OneWayDelay, Knob::RoundTrip)] {
            for (side, suffix) in [(Side::Down, "_down"), (Side::Up, "_up")] {
                let states = |setting: &Setting| {
                    [knob, other].contains(&setting.key.knob) && [Side::Both, side].contains(&setting.key.side)
                };
                if !self.settings.iter().any(states) {
                    missing.push(format!("{}{suffix}", knob.name()));
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let (missing, meant) = (missing.join(", "), profile_meant(&self.base));
        Err(LinkError::Incomplete {
            link: self.base.clone(),
            missing,
            meant,
        })
    }
}

/// A formula as a string, or a table.
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

/// The link that a formula means, delivery traces apart.
///
/// ```
/// let link = lastmile_link::resolve("wpt/3g + loss = 1 % + rate_up = 64 kbit/s").unwrap();
/// assert_eq!(link.name(), "wpt/3g+rate_up=64kbit/s+loss=1%");
/// ```
///
/// # Errors
/// As [`LinkRequest::parse`] and [`LinkRequest::resolve_with`]; a delivery trace is refused, since nothing here can read its file.
pub fn resolve(text: &str) -> Result<LinkSpec, LinkError> {
    LinkRequest::parse(text)?.resolve_with(&mut no_traces)
}

/// The links of a list such as `wpt/3g,seeds/dialup-56k`; commas inside parentheses belong to a setting.
///
/// # Errors
/// As [`LinkRequest::parse`], for the first that is wrong.
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
    text.split(at_comma).map(LinkRequest::parse).collect()
}

fn no_traces(_: &str) -> Result<String, String> {
    Err("no file can be read in this place; give the link a rate".to_owned())
}

/// The question that names the profile most like `name`, or nothing.
fn profile_meant(name: &str) -> String {
    let ids = || profile::all_profiles().map(|profile| profile.id.as_str());
    let by_last_name = || {
        profile::all_profiles()
            .find(|profile| profile.name == name)
            .map(|profile| profile.id.as_str())
    };
    by_last_name()
        .or_else(|| nearest(name, ids()))
        .map_or_else(String::new, |id| format!("; did you mean {id}?"))
}

fn check_own_name(name: &str) -> Result<(), LinkError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(fits) {
        return Ok(());
    }
    let problem =
        format!("{name:?} is no name of a link: use letters, digits, \"-\", \"_\" and \".\", like \"short-queue\"");
    Err(LinkError::Setting {
        link: name.to_owned(),
        problem,
    })
}

/// A frame does not arrive before it is sent.
fn check_jitter(direction: &DirectionSpec) -> Result<(), String> {
    let advance = direction.jitter.advance_max();
    if advance <= direction.one_way_delay {
        return Ok(());
    }
    let (jitter, delay) = (
        direction.jitter,
        lastmile_units::duration::print(direction.one_way_delay),
    );
    let peak = lastmile_units::duration::print(advance * 2);
    Err(format!(
        "a jitter of {jitter} does not fit about a one-way delay of {delay}; write jitter=added({peak}) to add it on top"
    ))
}

#[cfg(test)]
mod tests;
