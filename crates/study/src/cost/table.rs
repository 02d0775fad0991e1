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

impl Costs {
    /// The samples of an operation that has a cost.
    pub(super) fn of(&self, operation: Operation) -> &Samples {
        self.operations
            .get(&operation.to_string())
            .expect("a table is refused unless it has every operation")
    }

    /// Whether every operation is there, with usable samples.
    pub(super) fn check(&self) -> Result<(), String> {
        for operation in Operation::all().map(|operation| operation.to_string()) {
            let samples = self.operations.get(&operation);
            let samples = samples.ok_or_else(|| format!("no samples of {operation:?}; measure a new table"))?;
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
