//! What is drawn? A chart as a study describes it; `summary::charts` fills it.

use super::Study;
use crate::figure::FigureName;
use crate::settings::Key;
use lastmile_report::record::Levels;
use serde::{Deserialize, Serialize};

/// A chart over the study's cells or ratios.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartSpec {
    /// What it shows.
    pub title: String,
    /// How to read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What lies along the horizontal axis.
    pub x: Horizontal,
    /// What lies along the vertical axis.
    pub y: Vertical,
    /// The factors whose levels make a series each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Key>,
    /// The factor whose levels stand beside the points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Key>,
    /// The parts whose cells are drawn; where none is named, all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// The levels that a cell must have to be drawn.
    #[serde(default, rename = "where", skip_serializing_if = "Levels::is_empty")]
    pub only: Levels,
    /// Whether neighbouring points are joined.
    #[serde(default)]
    pub joined: bool,
    /// What has been published, drawn beside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedSeries>,
}

/// What lies along a horizontal axis: `{ figure = "response_bytes", scale = "log" }` or `{ factor = "link" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenAxis", into = "WrittenAxis")]
pub enum Horizontal {
    /// A figure's mean: of the cell itself, or, where a ratio is drawn, of the ratio's base cell.
    Figure(FigureName, AxisScale),
    /// A factor's levels; side by side as `named`, or else read as quantities.
    Factor(Key, AxisScale),
}

/// What lies along a vertical axis: `{ figure = "transfer_rate" }` or `{ ratios = ["rssdr", "etdr"] }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenAxis", into = "WrittenAxis")]
pub enum Vertical {
    /// A figure's mean.
    Figure(FigureName, AxisScale),
    /// Ratios, by name, a series each; what has been published of them is drawn beside.
    Ratios(Vec<String>, AxisScale),
}

/// An axis as it is written.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAxis {
    #[serde(skip_serializing_if = "Option::is_none")]
    figure: Option<FigureName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<Key>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratios: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<AxisScale>,
}

impl TryFrom<WrittenAxis> for Horizontal {
    type Error = &'static str;

    fn try_from(written: WrittenAxis) -> Result<Self, Self::Error> {
        match written {
            WrittenAxis {
                figure: Some(_),
                scale: Some(AxisScale::Named),
                ..
            } => Err("a figure has no names to lay side by side: its scale is linear or log"),
            WrittenAxis {
                figure: Some(figure),
                factor: None,
                ratios: None,
                scale,
            } => Ok(Self::Figure(figure, scale.unwrap_or(AxisScale::Linear))),
            WrittenAxis {
                figure: None,
                factor: Some(factor),
                ratios: None,
                scale,
            } => Ok(Self::Factor(factor, scale.unwrap_or(AxisScale::Named))),
            _ => Err("a horizontal axis shows either a `figure` or a `factor`"),
        }
    }
}

impl From<Horizontal> for WrittenAxis {
    fn from(axis: Horizontal) -> Self {
        match axis {
            Horizontal::Figure(figure, scale) => Self {
                figure: Some(figure),
                scale: Some(scale),
                ..Self::default()
            },
            Horizontal::Factor(factor, scale) => Self {
                factor: Some(factor),
                scale: Some(scale),
                ..Self::default()
            },
        }
    }
}

impl TryFrom<WrittenAxis> for Vertical {
    type Error = &'static str;

    fn try_from(written: WrittenAxis) -> Result<Self, Self::Error> {
        match written {
            WrittenAxis {
                scale: Some(AxisScale::Named),
                ..
            } => Err("a vertical axis has no names: its scale is linear or log"),
            WrittenAxis {
                figure: Some(figure),
                factor: None,
                ratios: None,
                scale,
            } => Ok(Self::Figure(figure, scale.unwrap_or(AxisScale::Linear))),
            WrittenAxis {
                figure: None,
                factor: None,
                ratios: Some(names),
                scale,
            } => Ok(Self::Ratios(names, scale.unwrap_or(AxisScale::Linear))),
            _ => Err("a vertical axis shows either a `figure` or `ratios`"),
        }
    }
}

impl From<Vertical> for WrittenAxis {
    fn from(axis: Vertical) -> Self {
        match axis {
            Vertical::Figure(figure, scale) => Self {
                figure: Some(figure),
                scale: Some(scale),
                ..Self::default()
            },
            Vertical::Ratios(names, scale) => Self {
                ratios: Some(names),
                scale: Some(scale),
                ..Self::default()
            },
        }
    }
}

/// How values are laid along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    /// Equal steps, equal distances.
    Linear,
    /// Equal factors, equal distances.
    Log,
    /// Side by side, whatever they are.
    Named,
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
    pub x: Place,
    /// A number in the base unit of what is on the vertical axis.
    pub y: f64,
    /// A short name beside the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Where a published point lies along the horizontal axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// At that value.
    At(f64),
    /// At that level.
    Level(String),
}

impl ChartSpec {
    /// Whether the study has what the chart refers to.
    pub(super) fn check(&self, study: &Study) -> Result<(), String> {
        study.check_parts(&self.parts)?;
        let varied = study.varied_keys();
        let x = match &self.x {
            Horizontal::Factor(key, _) => Some(key),
            Horizontal::Figure(..) => None,
        };
        let named = x.into_iter().chain(&self.series).chain(&self.label).map(|key| key.0);
        for key in named.chain(self.only.keys().map(String::as_str)) {
            if !varied.contains(&key) {
                let suggestion = crate::nearest::suggestion(key, varied.iter().copied());
                return Err(format!("{key:?} is no factor of this study{suggestion}"));
            }
        }
        let places = self
            .published
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| &point.x);
        for place in places {
            match (x, place) {
                (Some(key), Place::Level(level)) => {
                    let levels = study.levels_of(key.0);
                    if !levels.contains(level) {
                        let suggestion = crate::nearest::suggestion(level, levels.iter().map(String::as_str));
                        return Err(format!("published: {level:?} is no level of {:?}{suggestion}", key.0));
                    }
                }
                (None, Place::Level(level)) => {
                    return Err(format!("published: x is {level:?}, and a figure is a number"));
                }
                (_, Place::At(_)) => (),
            }
        }
        let known = || study.ratios.iter().map(|ratio| ratio.name.as_str());
        match &self.y {
            Vertical::Ratios(names, _) => match names.iter().find(|name| !known().any(|ratio| ratio == *name)) {
                Some(name) => Err(format!(
                    "no ratio is called {name:?}{}",
                    crate::nearest::suggestion(name, known())
                )),
                None => Ok(()),
            },
            Vertical::Figure(..) => Ok(()),
        }
    }
}
