//! What does an operation cost on a reference core? The cost table: samples of each operation's time, drawn by seed.
//!
//! A virtual CPU charges what is drawn here, times its slow-down. Samples rather than a mean, so that the spread of computing is in
//! the figures; drawn by seed, so that a replay is bit-identical. How they are measured is `cost/calibrate.rs`' business.

pub mod calibrate;
mod machine;
mod messages;
mod operation;
mod table;

pub use machine::this_machine;
pub use operation::Operation;
pub use table::{Costs, Coverage, Samples};

use lastmile_units::{Bytes, Rng};
use rand_core::Rng as _;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// The table that ships with lastmile; `cost/calibrate.rs` says how to make it anew.
const REFERENCE: &str = include_str!("cost/reference.toml");

/// Which table virtual CPUs use, as `--cpu` takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The one that ships with lastmile: the same figures on every machine.
    Reference,
    /// One measured here and now, before any cell runs.
    Measured,
    /// None: computing takes no time.
    Free,
    /// One that was saved.
    File(PathBuf),
}

impl FromStr for Choice {
    type Err = std::convert::Infallible;

    /// Reads `reference`, `measured`, `free`, or else the path of a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "reference" => Self::Reference,
            "measured" => Self::Measured,
            "free" => Self::Free,
            path => Self::File(path.into()),
        })
    }
}

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// Its file cannot be read.
    #[error("cost table {}: {source}; --cpu takes reference, measured, free, or such a file", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not what a table should be.
    #[error("cost table {origin}: {problem}")]
    Table {
        /// Where it is from.
        origin: String,
        /// What is wrong, and where.
        problem: String,
    },
}

/// What every operation costs.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    name: String,
    /// None where computing is free.
    costs: Option<Costs>,
}

impl CostTable {
    /// The table of that choice; for [`Choice::Measured`] this takes about twenty seconds, and nothing else should run meanwhile.
    ///
    /// # Errors
    /// When a file cannot be read, is no table, or lacks an operation.
    pub fn load(choice: &Choice) -> Result<Self, CostError> {
        match choice {
            Choice::Free => Ok(Self::free()),
            Choice::Reference => Self::parse("reference", REFERENCE),
            Choice::Measured => Ok(Self {
                name: "measured".to_owned(),
                costs: Some(calibrate::calibrate()),
            }),
            Choice::File(path) => Self::read(path),
        }
    }

    /// The table in which everything takes no time.
    pub fn free() -> Self {
        Self {
            name: "free".to_owned(),
            costs: None,
        }
    }

    /// Reads a table from its TOML; `name` is what records call it.
    ///
    /// # Errors
    /// When it is no table, or lacks an operation.
    pub fn parse(name: &str, toml: &str) -> Result<Self, CostError> {
        let refused = |problem: String| CostError::Table {
            origin: name.to_owned(),
            problem,
        };
        let costs: Costs = toml::from_str(toml).map_err(|error| refused(error.to_string()))?;
        costs.check().map_err(refused)?;
        Ok(Self {
            name: name.to_owned(),
            costs: Some(costs),
        })
    }

    fn read(path: &Path) -> Result<Self, CostError> {
        let toml = std::fs::read_to_string(path).map_err(|source| CostError::File {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&path.display().to_string(), &toml)
    }

    /// The table as TOML, to be kept beside the figures it made and read again by [`CostTable::parse`]; empty for the free one.
    pub fn to_toml(&self) -> String {
        self.costs.as_ref().map_or_else(String::new, Costs::to_toml)
    }

    /// `reference`, `measured`, `free`, or a file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The machine it was measured on; `none` where computing is free.
    pub fn machine(&self) -> &str {
        self.costs.as_ref().map_or("none", |costs| &costs.machine)
    }

    /// Whether anything is drawn from it, and so may vary.
    pub fn is_free(&self) -> bool {
        self.costs.is_none()
    }

    /// How well the table knows what `operation` costs. Operations on messages are the only ones that it may not know.
    pub fn coverage(&self, operation: Operation) -> Coverage {
        match &self.costs {
            Some(costs) if !operation.is_free() => costs.coverage(operation),
            _ => Coverage::Sampled,
        }
    }

    /// What `operation` on `bytes` costs this time, on the machine of the table: a time drawn from its samples.
    ///
    /// `bytes` is the input of an encoding and the output of a decoding, that is, the plain side of either.
    pub fn draw(&self, rng: &mut Rng, operation: Operation, bytes: Bytes) -> Duration {
        // One draw whatever the table and the operation, so that a change of codec does not move the draws that follow.
        self.at_rank(operation, bytes, Self::rank(rng))
    }

    /// Draws a rank from 0 to 1 among the samples, for [`CostTable::at_rank`].
    pub fn rank(rng: &mut Rng) -> f64 {
        (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// As [`CostTable::draw`], for a rank that was drawn before: what is done piece by piece costs what it costs in one, where
    /// each piece pays the difference that it makes to the whole.
    ///
    /// # Panics
    /// When the table knows nothing of the operation, as [`CostTable::coverage`] tells.
    pub fn at_rank(&self, operation: Operation, bytes: Bytes, rank: f64) -> Duration {
        match &self.costs {
            Some(costs) if !operation.is_free() => costs
                .at(operation, bytes, rank)
                .expect("whoever charges for an operation on messages asks first whether the table knows it"),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;
