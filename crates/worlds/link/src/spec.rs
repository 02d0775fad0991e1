//! A link of two directions. It prints as a formula: its base, and every setting that was changed.

use crate::parameters::{Parameter, Side, half_round_trip};
use crate::profile::{self, Profile};
use crate::{Capacity, DirectionSpec, Jitter, LinkError, Loss, Reordering};
use lastmile_units::{BitRate, duration};
use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// A link: its name, and its two directions.
///
/// It prints as a formula that [`resolve`](crate::resolve) turns into an equal link, and serialises as that formula. In
/// a file it may also be a table:
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
    /// What its settings are changes to: a profile, by its `set/name`, or an ideal link under the user's own name, which has no
    /// slash.
    base: String,
    /// Towards the client: downloads use this direction.
    pub down: DirectionSpec,
    /// Towards the server.
    pub up: DirectionSpec,
}

impl LinkSpec {
    pub(crate) fn from_profile(id: &str, down: DirectionSpec, up: DirectionSpec) -> Self {
        let base = id.to_owned();
        Self { base, down, up }
    }

    /// A link of the user's own. Its name is for tables and is part of the printed form: letters, digits, `-`, `_` and
    /// `.`.
    ///
    /// # Errors
    /// When the name is empty or has other characters.
    pub fn new(name: &str, down: DirectionSpec, up: DirectionSpec) -> Result<Self, LinkError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(fits) {
            let problem = format!(
                "{name:?} is not a name for a link: use letters, digits, \"-\", \"_\" and \".\", like \"short-queue\""
            );
            return Err(LinkError::of_setting("link", name, &problem));
        }
        let base = name.to_owned();
        Ok(Self { base, down, up })
    }

    /// Its name in tables: a profile's name with the changed settings, or the name it was given.
    pub fn name(&self) -> String {
        if self.is_own() {
            self.base.clone()
        } else {
            self.to_string()
        }
    }

    /// The profile it is based on.
    pub fn profile(&self) -> Option<&'static Profile> {
        profile::find(&self.base)
    }

    fn is_own(&self) -> bool {
        !self.base.contains('/')
    }

    /// The sum of both one-way delays: the least time from a request to its answer, without serialisation and jitter.
    pub fn round_trip(&self) -> Duration {
        self.down.one_way_delay + self.up.one_way_delay
    }

    /// The same link with this round trip, half of it in each direction.
    #[must_use]
    pub fn with_round_trip(mut self, round_trip: Duration) -> Self {
        self.down.one_way_delay = half_round_trip(round_trip, Side::Down);
        self.up.one_way_delay = half_round_trip(round_trip, Side::Up);
        self
    }

    /// The same link with these rates.
    #[must_use]
    pub fn with_rates(mut self, down: BitRate, up: BitRate) -> Self {
        self.down.capacity = Capacity::Rate(down);
        self.up.capacity = Capacity::Rate(up);
        self
    }

    /// The same link without random losses, jitter and reordering, so that every run is alike.
    #[must_use]
    pub fn without_impairments(mut self) -> Self {
        for direction in [&mut self.down, &mut self.up] {
            direction.loss = Loss::NONE;
            direction.jitter = Jitter::None;
            direction.reordering = Reordering::None;
        }
        self
    }

    /// What its settings are changes to, per direction.
    fn unchanged(&self) -> (DirectionSpec, DirectionSpec) {
        match self.profile() {
            Some(profile) => (profile.spec.down.clone(), profile.spec.up.clone()),
            None => (DirectionSpec::IDEAL, DirectionSpec::IDEAL),
        }
    }
}

/// The formula: the base, and every setting in which the link differs from it. A link of the user's own always states
/// rate and delay.
impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        let (base_down, base_up) = self.unchanged();
        for (parameter, name) in Parameter::NAMES {
            let always = self.is_own() && matches!(parameter, Parameter::Rate | Parameter::OneWayDelay);
            let changed = |now: &DirectionSpec, before: &DirectionSpec| {
                let printed = parameter.printed(now);
                let is_changed = always || printed != parameter.printed(before);
                printed.filter(|_| is_changed).map(|value| match parameter {
                    // A path keeps its spaces.
                    Parameter::Trace => value,
                    _ => value.replace(' ', ""),
                })
            };
            match (changed(&self.down, &base_down), changed(&self.up, &base_up)) {
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

impl Serialize for LinkSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// Checks that no frame would arrive before it is sent.
pub(crate) fn check_jitter(direction: &DirectionSpec) -> Result<(), String> {
    let advance = direction.jitter.largest_reduction();
    if advance <= direction.one_way_delay {
        return Ok(());
    }
    let (jitter, delay) = (direction.jitter, duration::print(direction.one_way_delay));
    let peak = duration::print(advance * 2);
    Err(format!(
        "a jitter of {jitter} is too large for a one-way delay of {delay}; write jitter=added({peak}) to add it on top"
    ))
}
