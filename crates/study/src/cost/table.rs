//! How are the samples of operations kept, and what do they say of a size that was not measured?

use super::Operation;
use lastmile_units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The samples of every operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Where they were measured.
    pub machine: String,
    /// By the operation's name.
    pub operations: BTreeMap<String, Samples>,
}

/// The samples of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    /// At a small size.
    pub small: AtSize,
    /// At a large size; none where the size does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large: Option<AtSize>,
}

/// Samples at one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtSize {
    /// The plain side's size.
    pub bytes: Bytes,
    /// Seconds a call, in ascending order.
    pub seconds: Vec<f64>,
}

/// How well a table knows what an operation costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// It was measured.
    Sampled,
    /// It is put together from others that were.
    Estimated,
    /// The table says nothing of it.
    None,
}

impl Costs {
    /// The samples of an operation, where there are any.
    pub(super) fn of(&self, operation: Operation) -> Option<&Samples> {
        self.operations.get(&operation.as_it_runs().to_string())
    }

    /// How well it is known what an operation costs.
    pub(super) fn coverage(&self, operation: Operation) -> Coverage {
        if self.of(operation).is_some() {
            return Coverage::Sampled;
        }
        let known = |(usual, alone): (Operation, Vec<Operation>)| {
            self.of(usual).is_some() && alone.into_iter().all(|operation| self.of(operation).is_some())
        };
        if operation.put_together().is_some_and(known) {
            Coverage::Estimated
        } else {
            Coverage::None
        }
    }

    /// What an operation that is known costs on so many octets, at a rank from 0 to 1 among its samples.
    pub(super) fn at(&self, operation: Operation, bytes: Bytes, rank: f64) -> Option<Duration> {
        if let Some(samples) = self.of(operation) {
            return Some(samples.at(bytes, rank));
        }
        let (usual, alone) = operation.put_together()?;
        let base = self.of(usual)?.at(bytes, rank);
        let mut time = base.as_secs_f64();
        for operation in alone {
            let with = self.of(operation)?.at(bytes, rank);
            if !base.is_zero() {
                time *= with.as_secs_f64() / base.as_secs_f64();
            }
        }
        Some(Duration::from_nanos((time * 1e9).round() as u64))
    }

    /// Whether every operation that each table has is there, and whatever is there has usable samples.
    pub(super) fn check(&self) -> Result<(), String> {
        for operation in Operation::all().map(|operation| operation.to_string()) {
            if !self.operations.contains_key(&operation) {
                return Err(format!("no samples of {operation:?}; measure a new table"));
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
    fn check(&self) -> Result<(), String> {
        for AtSize { seconds, bytes } in [Some(&self.small), self.large.as_ref()].into_iter().flatten() {
            // A day: nothing that is charged here comes near, and the virtual clock could not hold infinity.
            let usable = |value: &f64| (0.0..86_400.0).contains(value);
            if seconds.is_empty() || !seconds.iter().all(usable) || !seconds.is_sorted() {
                return Err(format!(
                    "at {bytes}: `seconds` are one or more times from 0 to a day, in ascending order"
                ));
            }
        }
        match &self.large {
            Some(large) if large.bytes <= self.small.bytes => Err("`large` is not larger than `small`".to_owned()),
            _ => Ok(()),
        }
    }

    /// The time for `bytes` at a rank from 0 to 1 among the samples, rounded to a nanosecond: a fixed part and a part a byte, from
    /// the samples of that rank at both sizes. A slow call is slow at both, so equal ranks belong together.
    pub(super) fn at(&self, bytes: Bytes, rank: f64) -> Duration {
        let small = self.small.at_rank(rank);
        let seconds = match &self.large {
            None => small,
            Some(large) => {
                let per_byte = (large.at_rank(rank) - small) / (large.bytes - self.small.bytes).as_f64();
                let line = small + per_byte * (bytes.as_f64() - self.small.bytes.as_f64());
                // Below the small size a line that is steep enough would cross zero; the time is then taken as in proportion.
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

impl AtSize {
    /// These samples, of half of what was timed.
    pub(super) fn halved(mut self) -> Self {
        self.seconds.iter_mut().for_each(|seconds| *seconds /= 2.0);
        self
    }

    fn at_rank(&self, rank: f64) -> f64 {
        let index = (rank * self.seconds.len() as f64) as usize;
        self.seconds[index.min(self.seconds.len() - 1)]
    }
}
