//! The link profiles of other tools and reports, each with its source.
//!
//! The sets are the files of `profiles/`, compiled in. One name means different links in different tools (a "3G" has a
//! round trip of 300, 150 or 200 ms), so a profile is named `set/name`.

use crate::toml_table::SettingsTable;
use crate::{DirectionSpec, LinkError, LinkSpec};
use lastmile_units::ByteCount;
use serde::Deserialize;
use std::sync::LazyLock;

/// A link that someone else named, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// `set/name`.
    pub id: String,
    /// The set's name: the tool or report.
    pub set: String,
    /// Its name within the set.
    pub name: String,
    /// What the set is, in one line.
    pub set_title: String,
    /// The source of its figures: tool, file, version.
    pub source: String,
    /// How the figures are known.
    pub certainty: Certainty,
    /// How many bits the source's "kbit" has: 1000 or 1024. The rates here are in bit/s, which already accounts for it.
    pub k: u64,
    /// What the source does in practice, where that differs from its target; the figures here are the target.
    pub applied: Option<String>,
    /// What a reader must know: our own choices, and what was left out.
    pub note: Option<String>,
    /// The link.
    pub spec: LinkSpec,
}

/// How the figures of a profile are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Read in the named source.
    Read,
    /// Read in a text about the source.
    SecondHand,
    /// Derived from what the source prints; the note says how.
    Inferred,
    /// Partly our own choice; the note says which part.
    OwnChoice,
}

impl Certainty {
    /// The text shown to users.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Read => "read in the source",
            Self::SecondHand => "second-hand",
            Self::Inferred => "inferred",
            Self::OwnChoice => "in part our own choice",
        }
    }
}

/// A file of `profiles/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetFile {
    set: String,
    title: String,
    source: String,
    certainty: Certainty,
    k: u64,
    /// For every profile in the set that does not state its own.
    framing_overhead: ByteCount,
    /// For every profile in the set.
    note: Option<String>,
    profile: Vec<ProfileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileEntry {
    name: String,
    link: SettingsTable,
    source: Option<String>,
    certainty: Option<Certainty>,
    applied: Option<String>,
    note: Option<String>,
}

const FILES: [(&str, &str); 12] = [
    ("chrome.toml", include_str!("../../../../profiles/chrome.toml")),
    ("lighthouse.toml", include_str!("../../../../profiles/lighthouse.toml")),
    ("wpt.toml", include_str!("../../../../profiles/wpt.toml")),
    ("sitespeed.toml", include_str!("../../../../profiles/sitespeed.toml")),
    ("firefox.toml", include_str!("../../../../profiles/firefox.toml")),
    ("apple.toml", include_str!("../../../../profiles/apple.toml")),
    (
        "browserstack.toml",
        include_str!("../../../../profiles/browserstack.toml"),
    ),
    ("satellite.toml", include_str!("../../../../profiles/satellite.toml")),
    ("lpwan.toml", include_str!("../../../../profiles/lpwan.toml")),
    ("lora.toml", include_str!("../../../../profiles/lora.toml")),
    ("g1050.toml", include_str!("../../../../profiles/g1050.toml")),
    ("published.toml", include_str!("../../../../profiles/published.toml")),
];

static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let read = |(file, text)| {
        parse_set(file, text).expect("the profiles that are compiled in are well-formed: a test reads them all")
    };
    FILES.into_iter().flat_map(read).collect()
});

/// Every profile, set by set in a fixed order.
pub fn all_profiles() -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter()
}

/// The profile called `set/name`.
pub(crate) fn find(id: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.id == id)
}

/// Reads a set of profiles; errors call it `file`.
fn parse_set(file: &str, text: &str) -> Result<Vec<Profile>, LinkError> {
    let error = |problem: String| LinkError(format!("profiles in {file}: {problem}"));
    let set: SetFile = toml::from_str(text).map_err(|problem| error(problem.to_string()))?;
    if set.k != 1000 && set.k != 1024 {
        return Err(error(format!("k = {} is neither 1000 nor 1024", set.k)));
    }
    let mut profiles: Vec<Profile> = Vec::new();
    for entry in &set.profile {
        let id = format!("{}/{}", set.set, entry.name);
        let source = entry.source.as_ref().unwrap_or(&set.source);
        if source.trim().is_empty() {
            return Err(error(format!("{id} has no source; every profile must name one")));
        }
        if profiles.iter().any(|other| other.id == id) {
            return Err(error(format!("{id} is defined twice")));
        }
        profiles.push(Profile {
            spec: entry.spec(&id, set.framing_overhead)?,
            id,
            set: set.set.clone(),
            name: entry.name.clone(),
            set_title: set.title.clone(),
            source: source.clone(),
            certainty: entry.certainty.unwrap_or(set.certainty),
            k: set.k,
            applied: entry.applied.clone(),
            note: join_notes(entry.note.as_deref(), set.note.as_deref()),
        });
    }
    Ok(profiles)
}

impl ProfileEntry {
    fn spec(&self, id: &str, framing_overhead: ByteCount) -> Result<LinkSpec, LinkError> {
        let ideal = DirectionSpec {
            framing_overhead,
            ..DirectionSpec::IDEAL
        };
        let mut spec = LinkSpec::from_profile(id, ideal.clone(), ideal);
        for setting in &self.link.settings {
            let mut refuse = |_: &str| Err("a profile cannot contain a delivery trace".to_owned());
            setting.apply(&mut spec.down, &mut spec.up, &mut refuse)?;
        }
        Ok(spec)
    }
}

/// Both notes, joined by a space.
fn join_notes(first: Option<&str>, second: Option<&str>) -> Option<String> {
    let both: Vec<&str> = [first, second].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join(" "))
}

#[cfg(test)]
mod tests;
