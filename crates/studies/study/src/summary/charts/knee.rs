//! Marks the point of each curve where a figure is greatest, or where throughput by response time is: the knee of a load curve.

use super::axis_position::AxisScaleMap;
use super::{ChartPoint, MeasuredCell, series_name};
use crate::figure::ERROR_RATE;
use crate::file::{ChartSpec, MarkSpec, Vertical};
use lastmile_report::number::quantity;
use lastmile_report::record::{Chart, Mark, Source};
use lastmile_statistics::LoadPoint;

pub(super) fn marks(spec: &ChartSpec, mark: &MarkSpec, chart: &Chart, cells: &[&MeasuredCell<'_>]) -> Vec<Mark> {
    let Vertical::Figure { figure, .. } = &spec.y else {
        return Vec::new();
    };
    let ruler = AxisScaleMap::new(&spec.x, cells.iter().copied());
    let measured = || chart.series.iter().filter(|series| series.source == Source::Measured);
    let several = measured().count() > 1;
    let mark_of = |series: &str| {
        let of_series = cells.iter().filter(|cell| {
            let point = ChartPoint {
                of: None,
                at: cell,
                y: 0.0,
                spread: None,
                runs: Vec::new(),
                published: None,
            };
            series_name(spec, &point) == series
        });
        let mut of_series: Vec<_> = of_series
            .filter_map(|cell| Some((ruler.position(cell)?, *cell)))
            .collect();
        of_series.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let (x, at) = of_series[marked(mark, &of_series)?];
        let y = at.samples(figure.0.name).mean()?;
        let unit = figure.0.unit_of_axis();
        let value = if unit.is_empty() {
            quantity(y, "1")
        } else {
            quantity(y, unit)
        };
        let whose = if several { format!(" ({series})") } else { String::new() };
        Some(Mark {
            x,
            y,
            label: format!("{}{whose}: {value} at {}", mark.label, quantity(x, &chart.x.unit)),
        })
    };
    measured().filter_map(|series| mark_of(&series.name)).collect()
}

/// Which of the cells of a curve is marked, if any.
fn marked(mark: &MarkSpec, curve: &[(f64, &MeasuredCell<'_>)]) -> Option<usize> {
    let mean = |cell: &MeasuredCell<'_>, name| cell.samples(name).mean();
    let Some(per) = &mark.per else {
        let values = curve.iter().enumerate();
        let values = values.filter_map(|(at, (_, cell))| Some((at, mean(cell, mark.most.0.name)?)));
        return values
            .max_by(|(_, one), (_, other)| one.total_cmp(other))
            .map(|(at, _)| at);
    };
    let points: Vec<LoadPoint> = curve
        .iter()
        .map(|(_, cell)| LoadPoint {
            throughput: mean(cell, mark.most.0.name).unwrap_or(0.0),
            response_time: mean(cell, per.0.name),
            error_rate: mean(cell, ERROR_RATE.name).unwrap_or(0.0),
        })
        .collect();
    lastmile_statistics::knee(&points)
}
