//! What can this machine do for the emulated world, and what is to be done where it cannot?
//!
//! Nothing is looked up that can be tried: a world is made, a packet socket opened, a link measured.

mod machine;
mod programs;
mod trial;

use super::acquire;
use std::fmt;

/// Something that the emulated world, or what is done with it, is better off with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ability {
    /// What it is.
    pub name: String,
    /// Whether it is there.
    pub standing: Standing,
    /// What was found, with figures where there are any.
    pub found: String,
    /// What can be done about it; none where nothing has to be.
    pub remedy: Option<String>,
}

/// Whether something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is.
    Ready,
    /// It is not, or not as it should be: the emulated world works without, only not as well, or not for everything.
    Limited,
    /// It is not, and there is no emulated world without it.
    Missing,
}

impl Ability {
    fn ready(name: impl Into<String>, found: impl fmt::Display) -> Self {
        Self {
            name: name.into(),
            standing: Standing::Ready,
            found: found.to_string(),
            remedy: None,
        }
    }

    fn limited(name: impl Into<String>, found: impl fmt::Display, remedy: impl Into<String>) -> Self {
        Self {
            standing: Standing::Limited,
            remedy: Some(remedy.into()),
            ..Self::ready(name, found)
        }
    }

    fn missing(name: impl Into<String>, found: impl fmt::Display, remedy: impl Into<String>) -> Self {
        Self {
            standing: Standing::Missing,
            ..Self::limited(name, found, remedy)
        }
    }
}

/// Tries everything, in about a second. No thread may have been started before, since this [acquires](acquire) the right to make
/// namespaces. An ordinary user's thread is in a namespace without a network afterwards.
pub fn examine() -> Vec<Ability> {
    const RIGHT: &str = "user namespaces";
    let mut abilities = Vec::new();
    match acquire() {
        Ok(privilege) => {
            abilities.push(Ability::ready(RIGHT, privilege));
            abilities.extend(trial::all());
        }
        Err(error) => abilities.push(Ability::missing(RIGHT, error.reason, error.remedy)),
    }
    abilities.extend(machine::all());
    abilities.extend(programs::all());
    abilities
}
