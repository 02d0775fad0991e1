//! The cost table: samples of the CPU time of each operation on a reference core, drawn by seed.
//!
//! A virtual CPU charges the drawn time multiplied by its slow-down. The table has samples rather than a mean, so that the figures show
//! the spread of CPU times; they are drawn by seed, so that a replay is bit-identical. `calibrate.rs` measures them.

pub mod calibrate;
mod cost_table;
mod machine;
mod message_cost_estimate;
mod operation;

pub use cost_table::{CostCoverage, Costs, Samples};
pub use machine::this_machine;
pub use operation::Operation;

use lastmile_units::{ByteCount, Rng, random};
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// The table that ships with lastmile; `examples/calibrate.rs` makes a new one.
const REFERENCE: &str = include_str!("cpu_cost_model/reference.toml");

/// The table that virtual CPUs use, as given by `--cpu`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The table that ships with lastmile: the same figures on every machine.
    Reference,
    /// A table measured on this machine before any cell runs.
    Measured,
    /// No table: operations take no CPU time.
    Free,
    /// A saved table.
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
    #[error("cost table {}: {source}; --cpu accepts reference, measured, free, or the path of a cost table", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is not a valid table.
    #[error("cost table {origin}: {problem}")]
    Table {
        /// Its name.
        origin: String,
        /// What is wrong, and where.
        problem: String,
    },
}

/// The CPU time of every operation.
#[derive(Debug, Clone, PartialEq)]
pub struct CostTable {
    name: String,
    /// None in the free table.
    costs: Option<Costs>,
}

impl CostTable {
    /// Loads the chosen table; for [`Choice::Measured`] this takes about twenty seconds, and nothing else should run meanwhile.
    ///
    /// # Errors
    /// When a file cannot be read, is not a cost table, or lacks an operation.
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

    /// The table in which every operation takes no time.
    pub fn free() -> Self {
        Self {
            name: "free".to_owned(),
            costs: None,
        }
    }

    /// Reads a table from TOML; `name` is its name in records.
    ///
    /// # Errors
    /// When it is not a cost table, or lacks an operation.
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

    /// The table as TOML, to be stored with the figures and read again by [`CostTable::parse`]; empty for the free table.
    pub fn to_toml(&self) -> String {
        self.costs.as_ref().map_or_else(String::new, Costs::to_toml)
    }

    /// `reference`, `measured`, `free`, or a file's path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The machine it was measured on; `none` for the free table.
    pub fn machine(&self) -> &str {
        self.costs.as_ref().map_or("none", |costs| &costs.machine)
    }

    /// Whether every operation takes no time, so that nothing is drawn.
    pub fn is_free(&self) -> bool {
        self.costs.is_none()
    }

    /// Whether the cost of `operation` was measured, is estimated, or is unknown. Only operations on messages may be other than measured.
    pub fn coverage(&self, operation: Operation) -> CostCoverage {
        match &self.costs {
            Some(costs) if !operation.is_free() => costs.coverage(operation),
            _ => CostCoverage::Sampled,
        }
    }

    /// Draws the CPU time of `operation` on `bytes`, on the table's machine, from its samples.
    ///
    /// `bytes` is the uncompressed size: the input of an encoding and the output of a decoding.
    pub fn draw(&self, rng: &mut Rng, operation: Operation, bytes: ByteCount) -> Duration {
        // Always one draw, whatever the table and the operation, so that a change of codec does not shift the draws that follow.
        self.at_rank(operation, bytes, Self::rank(rng))
    }

    /// Draws a rank for [`CostTable::at_rank`], uniform in [0, 1).
    pub fn rank(rng: &mut Rng) -> f64 {
        random::unit_fraction(rng)
    }

    /// Like [`CostTable::draw`], for a rank drawn before. With one rank for all pieces, work done piece by piece costs the same in total
    /// as work done at once, if each piece is charged the increase of the total.
    ///
    /// # Panics
    /// When [`CostTable::coverage`] of the operation is [`CostCoverage::None`].
    pub fn at_rank(&self, operation: Operation, bytes: ByteCount, rank: f64) -> Duration {
        match &self.costs {
            Some(costs) if !operation.is_free() => costs
                .at(operation, bytes, rank)
                .expect("callers check the coverage of an operation on messages before they charge for it"),
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;
