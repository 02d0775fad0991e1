//! Checks what this machine can do for the emulated world, with a remedy for whatever is missing.
//!
//! Everything that can be tried is tried: a world is made, a packet socket opened, a link measured.

mod machine;
mod probe_worlds;
mod programs;

use super::acquire;
use std::fmt;

/// The result of one check of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name of the check.
    pub name: String,
    /// The result.
    pub status: CheckStatus,
    /// Details, with figures if there are any.
    pub found: String,
    /// What the user can do; none if nothing is needed.
    pub remedy: Option<String>,
}

/// The status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckStatus {
    /// It passed.
    Ready,
    /// The emulated world works, but less well, or not for everything.
    Limited,
    /// The emulated world does not work without it.
    Missing,
}

impl Check {
    fn ready(name: impl Into<String>, found: impl fmt::Display) -> Self {
        Self {
            name: name.into(),
            status: CheckStatus::Ready,
            found: found.to_string(),
            remedy: None,
        }
    }

    fn limited(name: impl Into<String>, found: impl fmt::Display, remedy: impl Into<String>) -> Self {
        Self {
            status: CheckStatus::Limited,
            remedy: Some(remedy.into()),
            ..Self::ready(name, found)
        }
    }

    fn missing(name: impl Into<String>, found: impl fmt::Display, remedy: impl Into<String>) -> Self {
        Self {
            status: CheckStatus::Missing,
            ..Self::limited(name, found, remedy)
        }
    }
}

/// Runs all checks, in about a second. No thread may have been started before, since this [acquires](acquire) the right to make
/// namespaces. An ordinary user's thread is in a namespace without a network afterwards.
pub fn examine() -> Vec<Check> {
    const RIGHT: &str = "user namespaces";
    let mut abilities = Vec::new();
    match acquire() {
        Ok(privilege) => {
            abilities.push(Check::ready(RIGHT, privilege));
            abilities.extend(probe_worlds::all());
        }
        Err(error) => abilities.push(Check::missing(RIGHT, error.reason, error.remedy)),
    }
    abilities.extend(machine::all());
    abilities.extend(programs::all());
    abilities
}
