//! Positions of cells along the horizontal axis.

use super::{AxisScale, Horizontal, MeasuredCell, axis};
use crate::figure::Figure;
use crate::settings::Key;
use lastmile_report::record::{Axis, Scale};
use lastmile_units::{BitRate, ByteCount, Probability, duration};

/// A horizontal axis that gives positions along it.
pub(super) enum AxisScaleMap {
    /// By a figure's mean.
    Figure { figure: &'static Figure, log: bool },
    /// By the level, read as a quantity.
    Quantity { key: Key, unit: &'static str, log: bool },
    /// By the rate of the cell's link towards users.
    LinkRate {
        key: Key,
        rates: Vec<(String, f64)>,
        log: bool,
    },
    /// By the index of a level among the others.
    Named { key: Key, levels: Vec<String> },
}

impl AxisScaleMap {
    /// The axis for `cells`. Links are put at their rates, where these differ. Levels that are not all quantities of one unit are put side by side, whatever the requested scale.
    pub(super) fn new<'a>(axis: &Horizontal, cells: impl Iterator<Item = &'a MeasuredCell<'a>>) -> Self {
        let (key, scale) = match axis {
            Horizontal::Figure { figure, scale } => {
                return Self::Figure {
                    figure: figure.0,
                    log: *scale == AxisScale::Log,
                };
            }
            Horizontal::Factor { factor, scale } => (*factor, *scale),
            Horizontal::Time { .. } => panic!("timelines have an axis of their own"),
        };
        let mut levels: Vec<String> = Vec::new();
        let mut rates: Vec<(String, f64)> = Vec::new();
        for cell in cells {
            let Some(level) = cell.cell.levels.get(key.0) else {
                continue;
            };
            if levels.contains(level) {
                continue;
            }
            levels.push(level.clone());
            let link = cell.cell.settings.link.as_ref().filter(|_| key.0 == "link");
            let rate = link.and_then(|link| link.0.down.rate_mean());
            rates.extend(rate.map(|rate| (level.clone(), rate.bits_per_second() as f64)));
        }
        let is_new = |at: usize| rates[..at].iter().all(|(_, rate)| *rate != rates[at].1);
        if scale != AxisScale::Named && !rates.is_empty() && rates.len() == levels.len() && (0..rates.len()).all(is_new)
        {
            let log = scale == AxisScale::Log;
            return Self::LinkRate { key, rates, log };
        }
        let units: Option<Vec<_>> = levels
            .iter()
            .map(|level| quantity(level).map(|(_, unit)| unit))
            .collect();
        match units.as_deref() {
            Some([unit, others @ ..]) if scale != AxisScale::Named && others.iter().all(|other| other == unit) => {
                Self::Quantity {
                    key,
                    unit,
                    log: scale == AxisScale::Log,
                }
            }
            _ => Self::Named { key, levels },
        }
    }

    /// The position of a cell; none where it has no value, or one without a logarithm on a log scale.
    pub(super) fn position(&self, measured: &MeasuredCell<'_>) -> Option<f64> {
        match self {
            Self::Figure { figure, .. } => self.at(measured.samples(figure.name).mean()?),
            Self::Quantity { key, .. } | Self::LinkRate { key, .. } | Self::Named { key, .. } => {
                self.level(measured.cell.levels.get(key.0)?)
            }
        }
    }

    /// The position of a level.
    pub(super) fn level(&self, level: &str) -> Option<f64> {
        match self {
            Self::Figure { .. } => None,
            Self::Quantity { .. } => self.at(quantity(level)?.0),
            Self::LinkRate { rates, .. } => rates.iter().find(|(known, _)| known == level).map(|(_, rate)| *rate),
            Self::Named { levels, .. } => levels.iter().position(|known| known == level).map(|index| index as f64),
        }
    }

    /// The position of a number in the axis' unit.
    pub(super) fn at(&self, value: f64) -> Option<f64> {
        match self {
            Self::Figure { log, .. } | Self::Quantity { log, .. } | Self::LinkRate { log, .. } => {
                (!log || value > 0.0).then_some(value)
            }
            Self::Named { .. } => None,
        }
    }

    /// Whether its levels are names without an order of their own, as links and quantities have.
    pub(super) fn is_unordered(&self) -> bool {
        match self {
            Self::Named { key, levels } => key.0 != "link" && !levels.iter().any(|level| quantity(level).is_some()),
            Self::Figure { .. } | Self::Quantity { .. } | Self::LinkRate { .. } => false,
        }
    }

    /// The axis as it is published.
    pub(super) fn axis(&self) -> Axis {
        let steps = |log: bool| if log { Scale::Log } else { Scale::Linear };
        let (label, unit, scale) = match self {
            Self::Figure { figure, log } => (figure.title, figure.unit_of_axis(), steps(*log)),
            Self::Quantity { key, unit, log } => (key.0, *unit, steps(*log)),
            Self::LinkRate { log, .. } => ("rate of the link", "bit/s", steps(*log)),
            Self::Named { key, levels } => (key.0, "1", Scale::Named(levels.clone())),
        };
        axis(&label.replace('_', " "), unit, scale)
    }
}

/// A level as a number in a base unit, where it is one. A bare number is a count or a name (window bits, objects), not a ratio, which
/// charts show in per cent.
fn quantity(level: &str) -> Option<(f64, &'static str)> {
    let number = || {
        level
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .map(|value| (value, ""))
    };
    let time = || duration::parse(level).ok().map(|time| (time.as_secs_f64(), "s"));
    let rate = || {
        BitRate::parse(level)
            .ok()
            .map(|rate| (rate.bits_per_second() as f64, "bit/s"))
    };
    let size = || ByteCount::parse(level).ok().map(|size| (size.as_f64(), "B"));
    let share = || Probability::parse(level).ok().map(|share| (share.get(), "1"));
    number().or_else(time).or_else(rate).or_else(size).or_else(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_read_as_the_quantity_it_is() {
        assert_eq!(quantity("250 ms"), Some((0.25, "s")));
        assert_eq!(quantity("512 kbit/s"), Some((512e3, "bit/s")));
        assert_eq!(quantity("2 kB"), Some((2000.0, "B")));
        assert_eq!(quantity("3"), Some((3.0, "")));
        assert_eq!(quantity("50 %"), Some((0.5, "1")));
        assert_eq!(quantity("link"), None);
    }
}
