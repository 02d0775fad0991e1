//! Marks the point of each curve where a figure, or the quotient of two, is greatest: the knee of a load curve.

use super::axis_position::AxisScaleMap;
use super::{ChartPoint, MeasuredCell, series_name};
use crate::file::{ChartSpec, MarkSpec, Vertical};
use lastmile_report::number::quantity;
use lastmile_report::record::{Chart, Mark, Source};

pub(super) fn marks(spec: &ChartSpec, mark: &MarkSpec, chart: &Chart, cells: &[&MeasuredCell<'_>]) -> Vec<Mark> {
    let Vertical::Figure(figure, _) = &spec.y else {
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
                published: None,
            };
            series_name(spec, &point) == series
        });
        let (_, at) = of_series
            .filter_map(|cell| Some((power(mark, cell)?, *cell)))
            .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        let (x, y) = (ruler.position(at)?, at.samples(figure.0.name).mean()?);
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

/// What is greatest at the mark; none where a figure is missing, or the divisor is 0.
fn power(mark: &MarkSpec, cell: &MeasuredCell<'_>) -> Option<f64> {
    let most = cell.samples(mark.most.0.name).mean()?;
    let Some(per) = &mark.per else { return Some(most) };
    let per = cell.samples(per.0.name).mean()?;
    (per > 0.0).then(|| most / per)
}
