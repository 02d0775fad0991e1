//! A chart as data: what is drawn, without how.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A chart, as data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
    /// What is marked on the curves: a knee.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Lines that values should not cross: a budget, a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// A lower chart over the same horizontal axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<Box<Chart>>,
}

/// A line across the chart, beyond which the plot is shaded. Charts whose horizontal axis is names have none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Limit {
    /// The axis that its value is on.
    pub axis: LimitAxis,
    /// The largest value within it, in that axis' unit.
    pub most: f64,
    /// What is said of it.
    pub label: String,
}

/// An axis that a limit is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LimitAxis {
    /// The horizontal one.
    X,
    /// The vertical one.
    Y,
}

/// A point that stands out, with its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Mark {
    /// Along the horizontal axis, in its unit.
    pub x: f64,
    /// Along the vertical axis, in its unit.
    pub y: f64,
    /// What is said of it.
    pub label: String,
}

/// An axis of a chart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Axis {
    /// What is on it.
    pub label: String,
    /// Its unit: `s`, `B`, `bit/s`, `1`, `1/s`. Ticks have an SI prefix; a ratio (`1`) is shown in per cent. The unit of a count is empty
    /// or names what is counted; a count is shown without a prefix.
    pub unit: String,
    /// How values are laid along it.
    pub scale: Scale,
}

impl Axis {
    pub fn new(label: &str, unit: &str, scale: Scale) -> Self {
        Self {
            label: label.to_owned(),
            unit: unit.to_owned(),
            scale,
        }
    }
}

/// How values are laid along an axis.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps, equal distances.
    #[default]
    Linear,
    /// Stacked areas, over equal steps. The last series is the remainder.
    Stacked,
    /// Equal factors, equal distances; every value is above 0.
    Log,
    /// A row for each name, in this order: a point's x is an index into these names.
    Named(Vec<String>),
}

/// Points of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Series {
    /// Its name in the legend. Series of one name and different sources show the same quantity: they share a colour, and the legend
    /// adds the source where the name does not end in it: `ETDR, published`.
    pub name: String,
    /// Whose figures these are.
    pub source: Source,
    /// Whether neighbouring points are joined.
    pub joined: bool,
    /// In the order they are joined.
    pub points: Vec<Point>,
}

/// Whose figures a series shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// This run's.
    Measured,
    /// A study's authors'.
    Published,
    /// A formula's.
    Predicted,
    /// The values of single runs, whose mean is the measured point of the series of this name.
    Sample,
}

impl Source {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Predicted => "predicted",
            Self::Sample => "sample",
        }
    }
}

/// A point, with its spread where it has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Point {
    /// Along the horizontal axis, in its unit.
    pub x: f64,
    /// Along the vertical axis, in its unit.
    pub y: f64,
    /// Interval or range of y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<[f64; 2]>,
    /// A short name beside the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Point {
    /// Without a spread or a name.
    pub fn new(x: f64, y: f64) -> Self {
        Self {
            x,
            y,
            spread: None,
            label: None,
        }
    }
}
