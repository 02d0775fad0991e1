//! The record of `lastmile conform`: which rules a WebSocket server keeps.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules that a server was tested on, and the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Conformance {
    /// `lastmile/conform/1`.
    #[cfg_attr(test, schemars(extend("const" = Conformance::SCHEMA)))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// The server's URL: `ws://127.0.0.1:9001/`.
    pub target: String,
    /// The server's name for itself. Null where it gives none.
    pub server: Option<String>,
    /// How many rules it keeps.
    pub held: u64,
    /// How many it breaks.
    pub broken: u64,
    /// How many do not apply: the server does not offer the optional feature that they test.
    pub not_applicable: u64,
    /// Each of them.
    pub verdicts: Vec<Verdict>,
}

/// A rule, and whether it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Verdict {
    /// The rule's name.
    pub name: String,
    /// What it requires.
    pub asks: String,
    /// Its source: the RFC and section.
    pub source: String,
    /// Whether it is kept.
    pub standing: RuleStatus,
    /// What the server did.
    pub found: String,
}

/// Whether a rule is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RuleStatus {
    /// It is.
    Held,
    /// It is not.
    Broken,
    /// The rule does not apply: the server does not offer the optional feature that it tests.
    NotApplicable,
}

impl RuleStatus {
    /// In a word or two.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::NotApplicable => "not applicable",
        }
    }
}

impl Conformance {
    /// The name of this record's shape.
    pub const SCHEMA: &'static str = "lastmile/conform/1";

    /// The results of testing `target`, by this `version` of lastmile.
    pub fn new(version: &str, target: &str, server: Option<String>, verdicts: Vec<Verdict>) -> Self {
        let count = |standing| verdicts.iter().filter(|verdict| verdict.standing == standing).count() as u64;
        Self {
            schema: Self::SCHEMA.to_owned(),
            version: version.to_owned(),
            target: target.to_owned(),
            server,
            held: count(RuleStatus::Held),
            broken: count(RuleStatus::Broken),
            not_applicable: count(RuleStatus::NotApplicable),
            verdicts,
        }
    }
}
