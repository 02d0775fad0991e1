//! The axes of a chart, as a study file writes them.

use crate::figure::FigureName;
use crate::settings::Key;
use serde::{Deserialize, Serialize};

/// The quantity on a horizontal axis: `{ figure = "response_bytes", scale = "log" }`, `{ factor = "link" }` or `{ time = true }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawAxis", untagged)]
pub enum Horizontal {
    /// A figure's mean: of the cell itself, or, where a ratio is drawn, of the ratio's base cell. Where shares are drawn, its samples.
    Figure { figure: FigureName, scale: AxisScale },
    /// A factor's levels: side by side on the scale `named`, otherwise read as quantities.
    Factor { factor: Key, scale: AxisScale },
    /// The time since the beginning of a repeat.
    Time { time: bool },
}

/// The quantity on a vertical axis: `{ figure = "transfer_rate" }`, `{ ratios = ["rssdr", "etdr"] }`, `{ share = "at-most" }`,
/// `{ timelines = ["client_queue"] }` or `{ stack = ["data_airtime_share", "idle_airtime_share"], title = "Airtime" }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawAxis", untagged)]
pub enum Vertical {
    /// A figure's mean.
    Figure { figure: FigureName, scale: AxisScale },
    /// Ratios, by name, one series each; their published values are drawn too.
    Ratios { ratios: Vec<String>, scale: AxisScale },
    /// The share of the samples of the figure on the other axis that lie on one side of each value.
    Share { share: Side, scale: AxisScale },
    /// Figures over the time of one repeat, one series each.
    Timelines {
        timelines: Vec<FigureName>,
        scale: AxisScale,
    },
    /// The means of figures that add up, on top of each other, under a common title.
    Stack { stack: Vec<FigureName>, title: String },
}

/// The side of a value on which samples are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Samples of at most the value: the cumulative distribution.
    AtMost,
    /// Samples above the value: its complement, which on a log scale shows the tail.
    Above,
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

/// An axis as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAxis {
    figure: Option<FigureName>,
    factor: Option<Key>,
    time: Option<bool>,
    ratios: Option<Vec<String>>,
    share: Option<Side>,
    timelines: Option<Vec<FigureName>>,
    stack: Option<Vec<FigureName>>,
    title: Option<String>,
    scale: Option<AxisScale>,
}

impl RawAxis {
    /// How many quantities are named.
    fn quantities(&self) -> usize {
        let named = [
            self.figure.is_some(),
            self.factor.is_some(),
            self.time.is_some(),
            self.ratios.is_some(),
            self.share.is_some(),
            self.timelines.is_some(),
            self.stack.is_some(),
        ];
        named.into_iter().filter(|is_named| *is_named).count()
    }
}

impl TryFrom<RawAxis> for Horizontal {
    type Error = &'static str;

    fn try_from(written: RawAxis) -> Result<Self, Self::Error> {
        const NEEDS: &str = "a horizontal axis shows either a `figure`, a `factor` or the `time`";
        if written.quantities() != 1 || written.title.is_some() {
            return Err(NEEDS);
        }
        match written {
            RawAxis {
                figure: Some(_),
                scale: Some(AxisScale::Named),
                ..
            } => Err("the axis of a figure cannot have the scale \"named\"; use linear or log"),
            RawAxis {
                figure: Some(figure),
                scale,
                ..
            } => Ok(Self::Figure {
                figure,
                scale: scale.unwrap_or(AxisScale::Linear),
            }),
            RawAxis {
                factor: Some(factor),
                scale,
                ..
            } => Ok(Self::Factor {
                factor,
                scale: scale.unwrap_or(AxisScale::Named),
            }),
            RawAxis {
                time: Some(time @ true),
                scale: None,
                ..
            } => Ok(Self::Time { time }),
            _ => Err(NEEDS),
        }
    }
}

impl TryFrom<RawAxis> for Vertical {
    type Error = &'static str;

    fn try_from(written: RawAxis) -> Result<Self, Self::Error> {
        const NEEDS: &str = "a vertical axis shows either a `figure`, `ratios`, a `share`, `timelines` or a `stack`";
        if written.scale == Some(AxisScale::Named) {
            return Err("a vertical axis cannot have the scale \"named\"; use linear or log");
        }
        if written.quantities() != 1 {
            return Err(NEEDS);
        }
        let scale = written.scale.unwrap_or(AxisScale::Linear);
        match written {
            RawAxis {
                stack: Some(stack),
                title: Some(title),
                scale: None | Some(AxisScale::Linear),
                ..
            } => Ok(Self::Stack { stack, title }),
            RawAxis { stack: Some(_), .. } => Err("a `stack` needs a `title`, and has a linear scale"),
            RawAxis { title: Some(_), .. } => Err("only a `stack` has a `title`"),
            RawAxis {
                figure: Some(figure), ..
            } => Ok(Self::Figure { figure, scale }),
            RawAxis {
                ratios: Some(ratios), ..
            } => Ok(Self::Ratios { ratios, scale }),
            RawAxis { share: Some(share), .. } => Ok(Self::Share { share, scale }),
            RawAxis {
                timelines: Some(timelines),
                ..
            } => Ok(Self::Timelines { timelines, scale }),
            _ => Err(NEEDS),
        }
    }
}
