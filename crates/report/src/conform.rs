//! Does a WebSocket server keep the rules? What `lastmile conform` publishes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server was asked, and how it stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conformance {
    /// `lastmile/conform/1`.
    #[schemars(extend("const" = Conformance::SCHEMA))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// Who was asked: `ws://127.0.0.1:9001/`.
    pub target: String,
    /// What the server calls itself. Null where it does not say.
    pub server: Option<String>,
    /// How many rules it keeps.
    pub held: u64,
    /// How many it breaks.
    pub broken: u64,
    /// How many it could not be asked about: it has not what they are about, as it may.
    pub not_asked: u64,
    /// Each of them.
    pub verdicts: Vec<Verdict>,
}

/// A rule, and whether it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The rule's name.
    pub name: String,
    /// What it asks.
    pub asks: String,
    /// Where it is said.
    pub source: String,
    /// Whether it is kept.
    pub standing: Standing,
    /// What the server did.
    pub found: String,
}

/// Whether a rule is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is.
    Held,
    /// It is not.
    Broken,
    /// The server has not what the rule is about, and need not have it.
    NotAsked,
}

impl Standing {
    /// In a word or two.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::NotAsked => "not asked",
        }
    }
}

impl Conformance {
    /// The name of this record's shape.
    pub const SCHEMA: &'static str = "lastmile/conform/1";

    /// What came of asking `target`, by this `version` of lastmile.
    pub fn new(version: &str, target: &str, server: Option<String>, verdicts: Vec<Verdict>) -> Self {
        let count = |standing| verdicts.iter().filter(|verdict| verdict.standing == standing).count() as u64;
        Self {
            schema: Self::SCHEMA.to_owned(),
            version: version.to_owned(),
            target: target.to_owned(),
            server,
            held: count(Standing::Held),
            broken: count(Standing::Broken),
            not_asked: count(Standing::NotAsked),
            verdicts,
        }
    }
}
