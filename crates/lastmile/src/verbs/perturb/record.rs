//! The record of `lastmile perturb`: what a program's sensor costs the program.

use lastmile_report::record::Figure;
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program, run in pairs with and without its sensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub(crate) struct Perturbation {
    /// `lastmile/perturb/1`.
    #[cfg_attr(test, schemars(extend("const" = Perturbation::SCHEMA)))]
    pub(crate) schema: String,
    /// The version of lastmile.
    pub(crate) version: String,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// How many pairs of runs there were.
    pub(crate) pairs: u64,
    /// The mean number of events that a run with the sensor emitted.
    pub(crate) events: f64,
    /// What was measured.
    pub(crate) effects: Vec<Effect>,
}

/// One figure with and without the sensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub(crate) struct Effect {
    /// `cpu_time`, `run_time`, `response_time_median`, `response_time_p99`.
    pub(crate) name: String,
    /// Without the sensor, over the runs.
    pub(crate) without: Figure,
    /// With it.
    pub(crate) with: Figure,
    /// The mean difference of the pairs, in the figure's unit: with, less without.
    pub(crate) difference: f64,
    /// The 95 % interval of that. Null where the pairs do not differ.
    pub(crate) difference_ci95: Option<[f64; 2]>,
    /// The difference as a share of the mean without the sensor. Null where that is 0.
    pub(crate) share: Option<f64>,
    /// The interval of that.
    pub(crate) share_ci95: Option<[f64; 2]>,
}

impl Perturbation {
    /// The name of this record's shape.
    pub(crate) const SCHEMA: &'static str = "lastmile/perturb/1";
}

impl Effect {
    /// Whether the interval leaves out 0: whether the sensor has an effect beyond chance.
    pub(crate) fn is_certain(&self) -> bool {
        self.difference_ci95.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}
