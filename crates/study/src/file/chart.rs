//! A chart as a study file describes it; `summary::charts` fills it.

use super::Study;
use crate::figure::FigureName;
use crate::settings::Key;
use lastmile_report::record::Levels;
use serde::{Deserialize, Serialize};

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
    /// The levels that a cell must have to be drawn.
    #[serde(default, rename = "where", skip_serializing_if = "Levels::is_empty")]
    pub only: Levels,
    /// Whether neighbouring points are joined.
    #[serde(default)]
    pub joined: bool,
    /// Published points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedSeries>,
}

/// The quantity on a horizontal axis: `{ figure = "response_bytes", scale = "log" }` or `{ factor = "link" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawAxis", into = "RawAxis")]
pub enum Horizontal {
    /// A figure's mean: of the cell itself, or, where a ratio is drawn, of the ratio's base cell.
    Figure(FigureName, AxisScale),
    /// A factor's levels: side by side on the scale `named`, otherwise read as quantities.
    Factor(Key, AxisScale),
}

/// The quantity on a vertical axis: `{ figure = "transfer_rate" }` or `{ ratios = ["rssdr", "etdr"] }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawAxis", into = "RawAxis")]
pub enum Vertical {
    /// A figure's mean.
    Figure(FigureName, AxisScale),
    /// Ratios, by name, one series each; their published values are drawn too.
    Ratios(Vec<String>, AxisScale),
}

/// An axis as it is written.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAxis {
    #[serde(skip_serializing_if = "Option::is_none")]
    figure: Option<FigureName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<Key>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratios: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<AxisScale>,
}

impl TryFrom<RawAxis> for Horizontal {
    type Error = &'static str;

    fn try_from(written: RawAxis) -> Result<Self, Self::Error> {
        match written {
            RawAxis {
                figure: Some(_),
                scale: Some(AxisScale::Named),
                ..
            } => Err("the axis of a figure cannot have the scale \"named\"; use linear or log"),
            RawAxis {
                figure: Some(figure),
                factor: None,
                ratios: None,
                scale,
            } => Ok(Self::Figure(figure, scale.unwrap_or(AxisScale::Linear))),
            RawAxis {
                figure: None,
                factor: Some(factor),
                ratios: None,
                scale,
            } => Ok(Self::Factor(factor, scale.unwrap_or(AxisScale::Named))),
            _ => Err("a horizontal axis shows either a `figure` or a `factor`"),
        }
    }
}

impl From<Horizontal> for RawAxis {
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

impl TryFrom<RawAxis> for Vertical {
    type Error = &'static str;

    fn try_from(written: RawAxis) -> Result<Self, Self::Error> {
        match written {
            RawAxis {
                scale: Some(AxisScale::Named),
                ..
            } => Err("a vertical axis cannot have the scale \"named\"; use linear or log"),
            RawAxis {
                figure: Some(figure),
                factor: None,
                ratios: None,
                scale,
            } => Ok(Self::Figure(figure, scale.unwrap_or(AxisScale::Linear))),
            RawAxis {
                figure: None,
                factor: None,
                ratios: Some(names),
                scale,
            } => Ok(Self::Ratios(names, scale.unwrap_or(AxisScale::Linear))),
            _ => Err("a vertical axis shows either a `figure` or `ratios`"),
        }
    }
}

impl From<Vertical> for RawAxis {
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

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    /// Equal differences are equal distances.
    Linear,
    /// Equal factors are equal distances.
    Log,
    /// Levels side by side, whatever they are.
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
        let varied = study.varied_keys();
        let x = match &self.x {
            Horizontal::Factor(key, _) => Some(key),
            Horizontal::Figure(..) => None,
        };
        let named = x.into_iter().chain(&self.series).chain(&self.label).map(|key| key.0);
        for key in named.chain(self.only.keys().map(String::as_str)) {
            if !varied.contains(&key) {
                let suggestion = lastmile_units::suggest::suggestion(key, varied.iter().copied());
                return Err(format!("{key:?} is not a factor of this study{suggestion}"));
            }
        }
        let places = self
            .published
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| &point.x);
        for place in places {
            match (x, place) {
                (Some(key), AxisPosition::Level(level)) => {
                    let levels = study.levels_of(key.0);
                    if !levels.contains(level) {
                        let suggestion = lastmile_units::suggest::suggestion(level, levels.iter().map(String::as_str));
                        return Err(format!(
                            "published: {level:?} is not a level of {:?}{suggestion}",
                            key.0
                        ));
                    }
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
            Vertical::Ratios(names, _) => match names.iter().find(|name| !known().any(|ratio| ratio == *name)) {
                Some(name) => Err(format!(
                    "no ratio is called {name:?}{}",
                    lastmile_units::suggest::suggestion(name, known())
                )),
                None => Ok(()),
            },
            Vertical::Figure(..) => Ok(()),
        }
    }
}
