//! The samples of operations as stored in a table, and the times for sizes in between.

use super::Operation;
use lastmile_units::ByteCount;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The samples of every operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// The machine they were measured on.
    pub machine: String,
    /// The samples by the operation's name.
    pub operations: BTreeMap<String, Samples>,
}

/// The samples of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    /// Samples at a small size.
    pub small: SamplesAtSize,
    /// Samples at a large size; none where the size does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large: Option<SamplesAtSize>,
}

/// Samples at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplesAtSize {
    /// The uncompressed size.
    pub bytes: ByteCount,
    /// Seconds per call, in ascending order.
    pub seconds: Vec<f64>,
}

/// Where the cost of an operation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostCoverage {
    /// It was measured.
    Sampled,
    /// It is extrapolated from others that were.
    Estimated,
    /// The table does not have it.
    None,
}

impl Costs {
    /// The samples of an operation, if it has any.
    pub(super) fn samples_of(&self, operation: Operation) -> Option<&Samples> {
        self.operations.get(&operation.effective_setting().to_string())
    }

    /// Where the cost of an operation comes from.
    pub(super) fn coverage(&self, operation: Operation) -> CostCoverage {
        if self.samples_of(operation).is_some() {
            return CostCoverage::Sampled;
        }
        let known = |(usual, alone): (Operation, Vec<Operation>)| {
            self.samples_of(usual).is_some() && alone.into_iter().all(|operation| self.samples_of(operation).is_some())
        };
        if operation.extrapolation().is_some_and(known) {
            CostCoverage::Estimated
        } else {
            CostCoverage::None
        }
    }

    /// The time of an operation on `bytes`, at a rank from 0 to 1 among its samples; none where the table does not have it.
    pub(super) fn at(&self, operation: Operation, bytes: ByteCount, rank: f64) -> Option<Duration> {
        if let Some(samples) = self.samples_of(operation) {
            return Some(samples.at(bytes, rank));
        }
        let (usual, alone) = operation.extrapolation()?;
        let base = self.samples_of(usual)?.at(bytes, rank);
        let mut time = base.as_secs_f64();
        for operation in alone {
            let with = self.samples_of(operation)?.at(bytes, rank);
            if !base.is_zero() {
                time *= with.as_secs_f64() / base.as_secs_f64();
            }
        }
        Some(Duration::from_nanos((time * 1e9).round() as u64))
    }

    /// Checks that all required operations are there, and that all samples are usable.
    pub(super) fn check(&self) -> Result<(), String> {
        for operation in Operation::all().map(|operation| operation.to_string()) {
            if !self.operations.contains_key(&operation) {
                return Err(format!(
                    "no samples of {operation:?}; measure a new table with --cpu measured"
                ));
            }
        }
        for (operation, samples) in &self.operations {
            samples.check().map_err(|problem| format!("{operation:?}: {problem}"))?;
        }
        Ok(())
    }

    pub(super) fn to_toml(&self) -> String {
        toml::to_string(self).expect("a table consists of texts and numbers")
    }
}

impl Samples {
    /// Samples of an operation whose time does not depend on a size.
    pub(super) const fn of_any_size(seconds: Vec<f64>) -> Self {
        let bytes = ByteCount::ZERO;
        Self {
            small: SamplesAtSize { bytes, seconds },
            large: None,
        }
    }

    pub(super) const fn of_sizes(small: SamplesAtSize, large: SamplesAtSize) -> Self {
        Self {
            small,
            large: Some(large),
        }
    }

    fn check(&self) -> Result<(), String> {
        for SamplesAtSize { seconds, bytes } in [Some(&self.small), self.large.as_ref()].into_iter().flatten() {
            // At most a day: no operation comes near it, and the virtual clock cannot represent infinity.
            let usable = |value: &f64| (0.0..86_400.0).contains(value);
            if seconds.is_empty() || !seconds.iter().all(usable) || !seconds.is_sorted() {
                return Err(format!(
                    "at {bytes}: `seconds` must be one or more times from 0 to a day, in ascending order"
                ));
            }
        }
        match &self.large {
            Some(large) if large.bytes <= self.small.bytes => {
                Err("`large` must have more bytes than `small`".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The time for `bytes` at a rank from 0 to 1 among the samples, rounded to a nanosecond: a fixed part and a part per byte, from the
    /// samples of that rank at both sizes. A slow call is slow at both, so equal ranks belong together.
    pub(super) fn at(&self, bytes: ByteCount, rank: f64) -> Duration {
        let small = self.small.at_rank(rank);
        let seconds = match &self.large {
            None => small,
            Some(large) => {
                let per_byte = (large.at_rank(rank) - small) / (large.bytes - self.small.bytes).as_f64();
                let line = small + per_byte * (bytes.as_f64() - self.small.bytes.as_f64());
                // Below the small size a steep line would cross zero; the time is then proportional to the size.
                if bytes < self.small.bytes {
                    line.max(small * bytes.as_f64() / self.small.bytes.as_f64())
                } else {
                    line
                }
            }
        };
        Duration::from_nanos((seconds.max(0.0) * 1e9).round() as u64)
    }
}

impl SamplesAtSize {
    /// These samples, each divided by two.
    pub(super) fn halved(mut self) -> Self {
        self.seconds.iter_mut().for_each(|seconds| *seconds /= 2.0);
        self
    }

    fn at_rank(&self, rank: f64) -> f64 {
        let index = (rank * self.seconds.len() as f64) as usize;
        self.seconds[index.min(self.seconds.len() - 1)]
    }
}
