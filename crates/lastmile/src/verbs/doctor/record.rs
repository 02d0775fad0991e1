//! The record of `lastmile doctor`: what a machine can do for the emulated world.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found on a machine, and whether it is enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub(crate) struct DoctorReport {
    /// `lastmile/doctor/1`.
    #[cfg_attr(test, schemars(extend("const" = DoctorReport::SCHEMA)))]
    pub(crate) schema: String,
    /// The version of lastmile.
    pub(crate) version: String,
    /// Whether the emulated world works here: whether nothing is missing.
    pub(crate) emulated_world: bool,
    /// What the machine itself can do.
    pub(crate) machine: Vec<Check>,
    /// Real servers and clients that studies run in the emulated world.
    pub(crate) peers: Vec<Check>,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub(crate) struct Check {
    /// What it is.
    pub(crate) name: String,
    /// Whether it is available.
    pub(crate) standing: CheckStatus,
    /// What was found.
    pub(crate) found: String,
    /// The remedy. Null where none is needed.
    pub(crate) remedy: Option<String>,
}

/// Whether something is available.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckStatus {
    /// It is.
    Ready,
    /// It is not, or only in part: the emulated world works without it, but less well, or not for everything.
    Limited,
    /// It is not, and the emulated world needs it.
    Missing,
}

impl CheckStatus {
    /// In one word, as in JSON.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

impl DoctorReport {
    /// The name of this record's shape.
    pub(crate) const SCHEMA: &'static str = "lastmile/doctor/1";

    /// What was found on a machine, by this `version` of lastmile.
    pub(crate) fn new(version: &str, machine: Vec<Check>, peers: Vec<Check>) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            version: version.to_owned(),
            emulated_world: machine.iter().all(|ability| ability.standing != CheckStatus::Missing),
            machine,
            peers,
        }
    }
}
