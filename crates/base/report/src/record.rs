//! The record of a run: the object that `--format json` prints, and from which every table, page and CSV is made.
//!
//! Quantities are in SI base units (s, B, bit/s, 1). Maps are ordered, so that two equal runs print the same bytes.

pub use crate::doubt::{Doubt, DoubtKind};
pub use lastmile_chart::{Axis, Chart, Limit, LimitAxis, Mark, Point, Scale, Series, Source};
#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The level of each factor, by the factor's name: `{"case": "A", "codec": "gzip:6"}`.
pub type Levels = BTreeMap<String, String>;

/// What `lastmile run` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Run {
    /// `lastmile/run/1`.
    #[cfg_attr(feature = "testing", schemars(extend("const" = Run::SCHEMA)))]
    pub schema: String,
    /// The study's name.
    pub study: String,
    /// The question it answers.
    pub question: String,
    /// `sim` or `emu`.
    pub world: String,
    /// The cost table of the virtual CPUs: `reference`, `measured`, `free` or a file's name.
    pub cpu: String,
    /// Where that table was measured.
    pub cpu_machine: String,
    /// The root of every random choice.
    pub seed: u64,
    /// What each new world was for: `cell`, whose repeats then share what was drawn for it, or `repeat`.
    #[serde(default)]
    pub fresh: String,
    /// The version of lastmile.
    pub version: String,
    /// The run folder.
    pub run: String,
    /// One per combination of levels.
    pub cells: Vec<Cell>,
    /// Comparisons of paired cells.
    pub ratios: Vec<Ratio>,
    /// What follows from the figures, in words made from them.
    pub findings: Vec<Finding>,
    /// Further tables: sensitivities, corrections of published figures, link profiles used.
    pub exhibits: Vec<Table>,
    /// What is drawn.
    pub charts: Vec<Chart>,
    /// The thresholds that were set, and whether they held.
    pub thresholds: Vec<Threshold>,
}

impl Run {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/run/1";

    /// Whether each repeat has draws of its own, so that intervals hold all that the seed changes.
    pub fn redraws(&self) -> bool {
        self.fresh == "repeat"
    }
}

/// One combination of levels, repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Cell {
    /// The part of the study it belongs to, where a study has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The level of every factor.
    pub levels: Levels,
    /// How often it ran.
    pub repeats: u64,
    /// How many of those failed.
    pub failed: u64,
    /// The summary of each figure, by the figure's name.
    pub figures: BTreeMap<String, Figure>,
    /// Whether the figures may be used.
    pub valid: bool,
    /// What makes them suspect.
    pub doubts: Vec<Doubt>,
}

/// The samples of one figure, summarised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Figure {
    /// `s`, `B`, `bit/s`, `1`, `1/s`.
    pub unit: String,
    /// What one sample is: `run`, `request`, `object`.
    pub per: String,
    /// How many samples.
    pub n: u64,
    /// Their mean.
    pub mean: f64,
    /// Population deviation (divided by n).
    pub population_sd: f64,
    /// Sample deviation (divided by n - 1); none for one sample.
    pub sd: Option<f64>,
    /// `population_sd / mean`; none where the mean is 0.
    pub population_sd_ratio: Option<f64>,
    /// By probability, as text: `"0.5"`, `"0.95"`, `"0.99"`.
    pub quantiles: BTreeMap<String, f64>,
    /// 95 % interval of the mean; none where nothing varied, or with a single sample.
    pub ci95: Option<[f64; 2]>,
    /// What varied between samples, and so what the interval is about.
    pub varied: Vec<String>,
    /// The mean of each run, in their order: what `ci95` is of. Absent where nothing varied, or a run failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run_means: Vec<f64>,
    /// The first run's value, and the mean of the others: caches and warm-up show here. None for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_against_rest: Option<[f64; 2]>,
    /// What the study's authors printed, where they printed this figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<Published>,
}

/// A comparison of two cells that differ in one factor, pair by pair of repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Ratio {
    /// Its name: `rssdr`.
    pub name: String,
    /// The levels that the two cells share; they distinguish this ratio from others of its name.
    pub levels: Levels,
    /// How many pairs.
    pub n: u64,
    /// The mean over pairs.
    pub mean: f64,
    /// Population deviation over pairs.
    pub population_sd: f64,
    /// `population_sd / |mean|`; none where the mean is 0.
    pub population_sd_ratio: Option<f64>,
    /// 95 % interval of the mean; none where nothing varied.
    pub ci95: Option<[f64; 2]>,
    /// What varied between pairs.
    pub varied: Vec<String>,
    /// What the study's authors printed.
    pub published: Option<Published>,
}

/// A published figure: a number, or a range where the source gives no better. In JSON `0.93` or `[0.007, 0.022]`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
#[serde(untagged)]
pub enum Published {
    /// As printed.
    Value(f64),
    /// It lies between these two.
    Range([f64; 2]),
}

/// A sentence that follows from the figures, made from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Finding {
    /// What it is about.
    pub title: String,
    /// The sentence or two, with the figures in it.
    pub text: String,
    /// Whether it rests on something that was inferred, rather than printed or measured.
    pub inferred: bool,
}

impl Finding {
    /// What rests on nothing inferred.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            text: text.into(),
            inferred: false,
        }
    }
}

/// A small table beside the cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How to read it, and where its figures are from.
    pub note: String,
    /// Column heads, with units.
    pub columns: Vec<String>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<String>>,
}

/// A threshold, and whether it held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Threshold {
    /// The rule as written: `p95(transfer_time) < 20 s`.
    pub rule: String,
    /// The part of the study that the cell belongs to, where a study has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The cell it was checked in.
    pub levels: Levels,
    /// The figure found, in the base unit.
    pub found: f64,
    /// Whether it held.
    pub held: bool,
}
