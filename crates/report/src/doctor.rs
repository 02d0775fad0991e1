//! What can a machine do for the emulated world? What `lastmile doctor` publishes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found on a machine, and whether it is enough.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// `lastmile/doctor/1`.
    #[schemars(extend("const" = Examination::SCHEMA))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// Whether the emulated world works here: nothing is missing.
    pub emulated_world: bool,
    /// What the machine itself can do.
    pub machine: Vec<Ability>,
    /// Real servers and clients that studies drive in the emulated world.
    pub peers: Vec<Ability>,
}

/// Something that is there, or is not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ability {
    /// What it is.
    pub name: String,
    /// Whether it is there.
    pub standing: Standing,
    /// What was found.
    pub found: String,
    /// What can be done about it. Null where nothing has to be.
    pub remedy: Option<String>,
}

/// Whether something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is.
    Ready,
    /// It is not, or not as it should be: the emulated world works without, only not as well, or not for everything.
    Limited,
    /// It is not, and there is no emulated world without it.
    Missing,
}

impl Standing {
    /// In one word, as in JSON.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

impl Examination {
    /// The name of this record's shape.
    pub const SCHEMA: &'static str = "lastmile/doctor/1";

    /// What was found on a machine, by this `version` of lastmile.
    pub fn new(version: &str, machine: Vec<Ability>, peers: Vec<Ability>) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            version: version.to_owned(),
            emulated_world: machine.iter().all(|ability| ability.standing != Standing::Missing),
            machine,
            peers,
        }
    }
}
