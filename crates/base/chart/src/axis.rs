//! Maps values to positions along an axis, and chooses its ticks.
//!
//! An axis runs from 0 (where it begins) to 1 (where it ends); the chart turns that into coordinates.

use crate::{Axis, Scale};
use lastmile_units::number::{Prefixed, prefix, with_decimals};

/// An axis fitted to the values it shows.
#[derive(Debug)]
pub(super) struct FittedAxis {
    kind: Kind,
    /// Position and text of each named value.
    pub(super) ticks: Vec<Tick>,
    /// The axis label, with the unit of the tick texts.
    pub(super) title: String,
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// From 0 to 1 along the axis.
    pub(super) at: f64,
    pub(super) text: String,
}

#[derive(Debug)]
enum Kind {
    Linear {
        low: f64,
        high: f64,
    },
    /// The logarithms of both ends.
    Log {
        low: f64,
        high: f64,
    },
}

/// How far a value may lie beyond the last tick, in terms of a step: too little to be seen. Our own choice.
const BEYOND: f64 = 0.01;

impl FittedAxis {
    /// Fits `axis` to `values`, with about `wanted` ticks; `from_zero` asks a linear axis to begin at 0 where no value is below.
    pub(super) fn new(axis: &Axis, values: &[f64], wanted: usize, from_zero: bool) -> Self {
        match &axis.scale {
            Scale::Log => Self::log(axis, values, wanted),
            Scale::Linear | Scale::Stacked | Scale::Named(_) => Self::linear(axis, values, wanted, from_zero),
        }
    }

    /// Where `value` lies, from 0 to 1; none where the axis does not have it (0 on a logarithmic axis).
    pub(super) fn position(&self, value: f64) -> Option<f64> {
        // Ends are rounded outwards, but not for what is hardly beyond a tick.
        let share = self.share(value);
        (-BEYOND..=1.0 + BEYOND).contains(&share).then_some(share)
    }

    /// The position of `value`, or the end that it lies beyond: for the ends of spreads.
    pub(super) fn clamped_position(&self, value: f64) -> f64 {
        let share = self.share(value);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    fn share(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Linear { low, high } => (value - low) / (high - low),
            Kind::Log { low, high } => (libm::log10(value) - low) / (high - low),
        }
    }

    fn linear(axis: &Axis, values: &[f64], wanted: usize, from_zero: bool) -> Self {
        let (mut low, mut high) = range(values.iter().copied().filter(|v| v.abs() < VALUE_MAX)).unwrap_or((0.0, 1.0));
        if from_zero && low > 0.0 {
            low = 0.0;
        }
        if low == high {
            (low, high) = if low == 0.0 {
                (0.0, 1.0)
            } else {
                (low - low.abs() / 2.0, high + high.abs() / 2.0)
            };
        }
        let step = nice_step((high - low) / wanted as f64);
        let (first, last) = ((low / step).floor() as i64, (high / step - BEYOND).ceil() as i64);
        (low, high) = (first as f64 * step, last as f64 * step);
        let shown = shown_unit(&axis.unit, low.abs().max(high.abs()));
        let positions = places_of(step / shown.size);
        let ticks = (first..=last)
            .map(|n| {
                let value = n as f64 * step;
                Tick {
                    at: (value - low) / (high - low),
                    text: with_decimals(value / shown.size, positions),
                }
            })
            .collect();
        Self {
            kind: Kind::Linear { low, high },
            ticks,
            title: titled(&axis.label, &shown.unit),
        }
    }

    fn log(axis: &Axis, values: &[f64], wanted: usize) -> Self {
        let (low, high) = range(values.iter().copied().filter(|v| v.is_finite() && *v > 0.0)).unwrap_or((1.0, 10.0));
        // Ends lie on 1, 2 or 5 times a power of ten, with room for one step where there is only one value.
        let steps: Vec<f64> = (-30..=30)
            .flat_map(|power| [1.0, 2.0, 5.0].map(|lead| lead * exp10(power)))
            .collect();
        let first = steps.iter().rposition(|step| *step <= low * (1.0 + 1e-9)).unwrap_or(0);
        let last = steps
            .iter()
            .position(|step| *step >= high * (1.0 - 1e-9))
            .unwrap_or(steps.len() - 1);
        let (first, last) = if first == last {
            (first.saturating_sub(1), (last + 1).min(steps.len() - 1))
        } else {
            (first, last)
        };
        let (low, high) = (libm::log10(steps[first]), libm::log10(steps[last]));
        let within = &steps[first..=last];
        // Every step where they are few, else powers of ten (every third of the steps), thinned until they fit.
        let named: Vec<f64> = if within.len() <= wanted + 2 {
            within.to_vec()
        } else {
            let tens: Vec<f64> = (first..=last).filter(|at| at % 3 == 0).map(|at| steps[at]).collect();
            let every = tens.len().div_ceil(wanted + 2).max(1);
            tens.into_iter().step_by(every).collect()
        };
        let ticks = named
            .into_iter()
            .map(|value| Tick {
                at: (libm::log10(value) - low) / (high - low),
                text: log_text(value, &axis.unit),
            })
            .collect();
        Self {
            kind: Kind::Log { low, high },
            ticks,
            title: axis.label.clone(),
        }
    }
}

/// The multiples of a round step from 0 to `end`, about `wanted` of them, each with its unit; and that step.
pub(super) fn ticks_from_zero(end: f64, unit: &str, wanted: usize) -> (f64, Vec<Tick>) {
    let step = nice_step(end / wanted as f64);
    let shown = shown_unit(unit, end);
    let tick = |n: i64| {
        let value = n as f64 * step;
        let text = with_decimals(value / shown.size, places_of(step / shown.size));
        Tick {
            at: value / end,
            text: format!("{text} {}", shown.unit),
        }
    };
    (step, (0..=(end / step) as i64).map(tick).collect())
}

/// The prefix for an axis up to `largest`; a ratio is shown in per cent.
fn shown_unit(unit: &str, largest: f64) -> Prefixed {
    match unit {
        "1" => Prefixed {
            size: 0.01,
            unit: "%".to_owned(),
        },
        "1/s" => Prefixed {
            size: 1.0,
            unit: "1/s".to_owned(),
        },
        unit => prefix(largest, unit),
    }
}

/// No quantity that we measure comes near this; beyond it, differences and steps would overflow.
const VALUE_MAX: f64 = 1e100;

/// Values of a logarithmic axis span prefixes, so each tick has its own unit: `500 ms`, `1 s`.
fn log_text(value: f64, unit: &str) -> String {
    let shown = shown_unit(unit, value);
    let text = with_decimals(value / shown.size, places_of(value / shown.size));
    if shown.unit.is_empty() {
        text
    } else {
        format!("{text} {}", shown.unit)
    }
}

fn titled(label: &str, unit: &str) -> String {
    if unit.is_empty() {
        label.to_owned()
    } else {
        format!("{label} ({unit})")
    }
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, v| {
        let (low, high) = range.unwrap_or((v, v));
        Some((low.min(v), high.max(v)))
    })
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `rough`.
fn nice_step(rough: f64) -> f64 {
    let mut power = 1.0;
    while power > rough {
        power /= 10.0;
    }
    while power * 10.0 <= rough {
        power *= 10.0;
    }
    [1.0, 2.0, 5.0, 10.0]
        .map(|lead| lead * power)
        .into_iter()
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(power)
}

/// Decimal places that distinguish multiples of `step`.
fn places_of(step: f64) -> usize {
    let (mut positions, mut step) = (0, step.abs());
    while positions < 9 && step < 0.9995 {
        step *= 10.0;
        positions += 1;
    }
    positions
}

fn exp10(power: i32) -> f64 {
    // From the decimal text: correctly rounded, where repeated multiplication would not be.
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(unit: &str, scale: Scale, values: &[f64]) -> (String, Vec<String>) {
        let axis = Axis {
            label: "what".to_owned(),
            unit: unit.to_owned(),
            scale,
        };
        let fitted = FittedAxis::new(&axis, values, 5, true);
        (fitted.title, fitted.ticks.into_iter().map(|tick| tick.text).collect())
    }

    #[test]
    fn linear_ticks_are_round_and_share_one_prefix() {
        let (title, texts) = ticks("s", Scale::Linear, &[0.0123, 0.0951]);
        assert_eq!(
            (title.as_str(), texts.join(" ").as_str()),
            ("what (ms)", "0 20 40 60 80 100")
        );
        let (title, texts) = ticks("1", Scale::Linear, &[-0.01, 0.43]);
        assert_eq!(
            (title.as_str(), texts.join(" ").as_str()),
            ("what (%)", "-10 0 10 20 30 40 50")
        );
    }

    #[test]
    fn logarithmic_ticks_have_units_of_their_own() {
        let (title, texts) = ticks("bit/s", Scale::Log, &[56e3, 512e3, 10e6, 100e6]);
        assert_eq!(
            (title.as_str(), texts.join(" | ").as_str()),
            ("what", "100 kbit/s | 1 Mbit/s | 10 Mbit/s | 100 Mbit/s")
        );
        let (_, texts) = ticks("s", Scale::Log, &[0.3, 1.5]);
        assert_eq!(texts.join(" | "), "200 ms | 500 ms | 1 s | 2 s");
    }

    #[test]
    fn what_has_no_place_is_given_none() {
        let axis = Axis {
            label: String::new(),
            unit: "s".to_owned(),
            scale: Scale::Log,
        };
        let fitted = FittedAxis::new(&axis, &[1.0, 100.0], 5, false);
        assert_eq!(fitted.position(10.0), Some(0.5));
        assert_eq!(
            (fitted.position(0.0), fitted.position(-1.0), fitted.position(f64::NAN)),
            (None, None, None)
        );
    }

    #[test]
    fn one_value_no_value_and_absurd_values_still_make_an_axis() {
        for scale in [Scale::Linear, Scale::Log, Scale::Named(Vec::new())] {
            for values in [
                &[][..],
                &[0.0][..],
                &[7.0][..],
                &[f64::MAX, f64::MIN],
                &[1e-320, 0.0],
                &[1e99, -1e99],
            ] {
                for tick in ticks("s", scale.clone(), values).1 {
                    assert!(!tick.contains("NaN"), "{tick}");
                }
            }
        }
    }
}
