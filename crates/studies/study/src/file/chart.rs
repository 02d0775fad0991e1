//! A chart as a study file describes it; `summary::charts` fills it.

mod axis;

use super::Study;
use crate::figure::FigureName;
use crate::settings::Key;
pub use axis::{AxisScale, Horizontal, Side, Vertical};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A chart over the study's cells or ratios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartSpec {
    /// Its title.
    pub title: String,
    /// How to read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The horizontal axis.
    pub x: Horizontal,
    /// The title of the horizontal axis, where the name of the factor says too little.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_title: Option<String>,
    /// The vertical axis.
    pub y: Vertical,
    /// The factors whose levels make one series each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Key>,
    /// The factor whose levels label the points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Key>,
    /// The parts whose cells are drawn; where none is named, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// The levels that a cell must have to be drawn: one of a factor, or a list of which it must have one.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, LevelChoice>,
    /// Whether neighbouring points are joined.
    #[serde(default)]
    pub joined: bool,
    /// What is marked on each curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<MarkSpec>,
    /// Published points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedSeries>,
}

/// What is marked on each curve: `{ most = "transaction_rate", per = "response_time", label = "knee" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkSpec {
    /// The point is marked where the mean of this figure is greatest,
    pub most: FigureName,
    /// or, where another is named, where it is greatest in terms of the mean of that one: at the knee ([`lastmile_statistics::knee`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<FigureName>,
    /// The name of the point; its values are added.
    pub label: String,
}

/// One level, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LevelChoice {
    /// That level.
    One(String),
    /// Any of these.
    Several(Vec<String>),
}

impl LevelChoice {
    /// Whether it holds `level`.
    pub fn has(&self, level: &str) -> bool {
        match self {
            Self::One(one) => one == level,
            Self::Several(all) => all.iter().any(|one| one == level),
        }
    }
}

/// Published points of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedSeries {
    /// Its name in the legend.
    pub name: String,
    /// The points.
    pub points: Vec<PublishedPoint>,
}

/// A published point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedPoint {
    /// A level of the factor on the horizontal axis, or a number in the base unit of the figure there.
    pub x: AxisPosition,
    /// A number in the base unit of the vertical axis.
    pub y: f64,
    /// A short name beside the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Where a published point lies along the horizontal axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AxisPosition {
    /// At that value.
    At(f64),
    /// At that level.
    Level(String),
}

impl ChartSpec {
    /// Checks that the study has what the chart refers to.
    pub(super) fn check(&self, study: &Study) -> Result<(), String> {
        study.check_parts(&self.parts)?;
        let x = match &self.x {
            Horizontal::Factor { factor, .. } => Some(factor),
            Horizontal::Figure { .. } | Horizontal::Time { .. } => None,
        };
        self.check_axes()?;
        let named = x.into_iter().chain(&self.series).chain(&self.label).map(|key| key.0);
        for key in named.chain(self.only.keys().map(String::as_str)) {
            study.check_factor(key)?;
        }
        let axes = self
            .published
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| &point.x);
        for axis in axes {
            match (x, axis) {
                (Some(key), AxisPosition::Level(level)) => {
                    study
                        .check_level("", key.0, level)
                        .map_err(|problem| format!("published: {problem}"))?;
                }
                (None, AxisPosition::Level(level)) => {
                    return Err(format!(
                        "published: x is {level:?}, but the axis shows a figure; give a number"
                    ));
                }
                (_, AxisPosition::At(_)) => (),
            }
        }
        let known = || study.ratios.iter().map(|ratio| ratio.name.as_str());
        match &self.y {
            Vertical::Ratios { ratios, .. } => match ratios.iter().find(|name| !known().any(|ratio| ratio == *name)) {
                Some(name) => Err(format!(
                    "no ratio is called {name:?}{}",
                    lastmile_units::suggest::suggestion(name, known())
                )),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Checks that the axes go together.
    fn check_axes(&self) -> Result<(), String> {
        let is_curve = matches!(self.y, Vertical::Figure { .. }) && matches!(self.x, Horizontal::Factor { .. });
        if self.mark.is_some() && !is_curve {
            return Err("a mark belongs to a curve: a figure over a factor".to_owned());
        }
        match (&self.x, &self.y) {
            (Horizontal::Time { .. }, Vertical::Timelines { .. })
            | (Horizontal::Figure { .. }, Vertical::Share { .. }) => Ok(()),
            (_, Vertical::Timelines { .. }) => Err("timelines need x = { time = true }".to_owned()),
            (Horizontal::Time { .. }, _) => Err("x = { time = true } needs y = { timelines = [...] }".to_owned()),
            (_, Vertical::Share { .. }) => {
                Err("a share needs the figure that it is of: x = { figure = ... }".to_owned())
            }
            (Horizontal::Figure { .. }, Vertical::Stack { .. }) => {
                Err("stacked figures need a factor: x = { factor = ... }".to_owned())
            }
            _ => Ok(()),
        }
    }
}
