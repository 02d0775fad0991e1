//! Draws figures that add up, on top of each other, over a factor.

use super::axis_position::AxisScaleMap;
use super::{MeasuredCell, axis, chart_of, point};
use crate::figure::FigureName;
use crate::file::ChartSpec;
use lastmile_report::record::{Chart, Point, Scale, Series, Source};

/// The means of each figure, a series each; a figure that is 0 in every cell is left out.
pub(super) fn chart(
    spec: &ChartSpec,
    figures: &[FigureName],
    title: &str,
    cells: &[&MeasuredCell<'_>],
) -> Option<Chart> {
    let ruler = AxisScaleMap::new(&spec.x, cells.iter().copied());
    let of = |figure: &FigureName| {
        let point_of =
            |cell: &&MeasuredCell<'_>| Some(point(ruler.position(cell)?, cell.samples(figure.0.name).mean()?));
        let mut points: Vec<Point> = cells.iter().filter_map(point_of).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        Series {
            name: figure.0.title.to_owned(),
            source: Source::Measured,
            joined: true,
            points,
        }
    };
    let mut series: Vec<Series> = figures.iter().map(of).collect();
    series.retain(|one| one.points.iter().any(|point| point.y > 0.0));
    let unit = figures.first()?.0.unit_of_axis();
    chart_of(spec, ruler.axis(), axis(title, unit, Scale::Stacked), series)
}
