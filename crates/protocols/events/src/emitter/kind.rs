//! Kinds of events: a subject and the names of its fields, which are registered once, so that only a number goes through the ring.

use crate::Subject;
use crate::event::{FIELDS_MAX, NAME_LENGTH_MAX};
use std::sync::Arc;
use thiserror::Error;

/// A kind of event of one emitter. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Kind {
    emitter: u64,
    number: u32,
    fields: usize,
}

/// What the flusher knows of a kind.
#[derive(Debug)]
pub(super) struct KindContent {
    pub(super) subject: Subject,
    pub(super) names: Vec<String>,
}

/// Why there is no such kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KindError {
    /// Its fields pass a limit.
    #[error("an event has at most {FIELDS_MAX} fields, with names of 1 to {NAME_LENGTH_MAX} bytes")]
    Fields,
    /// There are too many.
    #[error("an emitter has at most {KINDS_MAX} kinds: register each once, and keep it")]
    TooMany,
}

/// The most kinds of an emitter: our own choice.
const KINDS_MAX: usize = 65_536;

impl Kind {
    pub(super) fn add(
        kinds: &mut Vec<Arc<KindContent>>,
        emitter: u64,
        subject: &Subject,
        names: &[&str],
    ) -> Result<Self, KindError> {
        let allowed = names.iter().all(|name| (1..=NAME_LENGTH_MAX).contains(&name.len()));
        if names.len() > FIELDS_MAX || !allowed {
            return Err(KindError::Fields);
        }
        if kinds.len() == KINDS_MAX {
            return Err(KindError::TooMany);
        }
        let number = kinds.len() as u32;
        let names = names.iter().map(|name| (*name).to_owned());
        kinds.push(Arc::new(KindContent {
            subject: subject.clone(),
            names: names.collect(),
        }));
        Ok(Self {
            emitter,
            number,
            fields: kinds[number as usize].names.len(),
        })
    }

    pub(super) const fn number(&self) -> u32 {
        self.number
    }

    pub(super) fn check(&self, emitter: u64, values: usize) {
        assert!(self.emitter == emitter, "another emitter registered this kind");
        assert!(
            self.fields == values,
            "the kind has {} fields, and {values} values are given",
            self.fields
        );
    }
}
