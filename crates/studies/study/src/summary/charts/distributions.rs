//! Draws the distribution of a figure's samples: the share at most, or above, each value.

use super::{MeasuredCell, axis, chart_of, figure_axis, point, published_scale, series_levels};
use crate::file::{AxisScale, ChartSpec, Horizontal, Side};
use lastmile_report::record::{Chart, Series, Source};
use lastmile_statistics::Distribution;

/// The points of a drawn distribution: equal steps of the share, and in each tail equal factors of it. Our own choice.
const STEPS: f64 = 125.0;
const STEPS_PER_DECADE: f64 = 20.0;

/// The distributions of the cells, a series each, over the samples of all repeats.
pub(super) fn chart(spec: &ChartSpec, side: Side, scale: AxisScale, cells: &[&MeasuredCell<'_>]) -> Option<Chart> {
    let Horizontal::Figure { figure, scale: x_scale } = spec.x else {
        return None;
    };
    let mut series: Vec<Series> = Vec::new();
    for cell in cells {
        let Some(all) = cell.samples(figure.0.name).distribution() else {
            continue;
        };
        let points = thinned(&all)
            .map(|(x, at_most)| point(x, if side == Side::AtMost { at_most } else { 1.0 - at_most }))
            .filter(|point| (x_scale != AxisScale::Log || point.x > 0.0) && (scale != AxisScale::Log || point.y > 0.0));
        let names = series_levels(spec, cell);
        series.push(Series {
            name: if names.is_empty() {
                figure.0.title.to_owned()
            } else {
                names.join(", ")
            },
            source: Source::Measured,
            joined: true,
            points: points.collect(),
        });
    }
    series.retain(|one| !one.points.is_empty());
    let comparison = match side {
        Side::AtMost => "at or below",
        Side::Above => "above",
    };
    let label = format!("Share of {}s {comparison} the value", figure.0.per);
    let y = axis(&label, "1", published_scale(scale));
    chart_of(spec, figure_axis(figure.0, x_scale), y, series)
}

/// Values with the share of samples that do not exceed them, as many as can be seen.
fn thinned(all: &Distribution) -> impl Iterator<Item = (f64, f64)> {
    let n = all.count();
    let mut last: Option<(i64, i64)> = None;
    all.cumulative().filter_map(move |(value, seen)| {
        let share = seen as f64 / n as f64;
        // The place on a linear axis, and on a logarithmic one of what is left.
        let left = (n - seen) as f64 / n as f64;
        let tail = if left > 0.0 {
            (-left.log10() * STEPS_PER_DECADE) as i64
        } else {
            i64::MAX
        };
        let step = ((share * STEPS) as i64, tail);
        (last.replace(step) != Some(step)).then_some((value, share))
    })
}
