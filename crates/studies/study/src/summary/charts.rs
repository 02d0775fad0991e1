//! Fills the charts that a study describes with its figures and with the published ones.

mod axis_position;
mod distributions;
mod knee;
mod stack;
mod timelines;

use super::MeasuredCell;
use super::cells::published;
use super::ratios::PairedRatio;
use crate::figure::Figure;
use crate::file::{AxisPosition, AxisScale, ChartSpec, Horizontal, LevelChoice, Study, Vertical};
use crate::settings::Key;
use axis_position::AxisScaleMap;
use lastmile_report::record::{Axis, Chart, Point, Published, Scale, Series, Source};
use lastmile_statistics::interval::interval_95;
use lastmile_statistics::mean;

/// The charts of a study, in the order of its file; one without a point is left out.
pub(super) fn charts(study: &Study, measured: &[MeasuredCell<'_>], ratios: &[PairedRatio<'_>]) -> Vec<Chart> {
    study
        .charts
        .iter()
        .filter_map(|spec| chart(study, spec, measured, ratios))
        .collect()
}

/// A point on its way into a chart.
struct ChartPoint<'a> {
    /// The ratio's title, where ratios are drawn.
    of: Option<&'a str>,
    /// The cell that positions it.
    at: &'a MeasuredCell<'a>,
    y: f64,
    spread: Option<[f64; 2]>,
    /// The means of its repeats, where they differ by chance.
    runs: Vec<f64>,
    published: Option<Published>,
}

/// More single runs than this are not drawn in a chart: our own choice, since they would cover each other.
const SINGLE_RUNS_MAX: usize = 400;

fn chart(study: &Study, spec: &ChartSpec, measured: &[MeasuredCell<'_>], ratios: &[PairedRatio<'_>]) -> Option<Chart> {
    let cells: Vec<&MeasuredCell<'_>> = measured.iter().filter(|cell| shows_cell(spec, cell)).collect();
    let mut chart = match &spec.y {
        Vertical::Share { share, scale } => distributions::chart(spec, *share, *scale, &cells),
        Vertical::Timelines { timelines, scale } => timelines::chart(spec, timelines, *scale, &cells),
        Vertical::Stack { stack, title } => stack::chart(spec, stack, title, &cells),
        Vertical::Figure { .. } | Vertical::Ratios { .. } => curves(study, spec, measured, ratios),
    }?;
    if let Some(title) = &spec.x_title {
        chart.x.label.clone_from(title);
    }
    if let Some(mark) = &spec.mark {
        chart.marks = knee::marks(spec, mark, &chart, &cells);
    }
    Some(chart)
}

/// Means of a figure, or ratios.
fn curves(study: &Study, spec: &ChartSpec, measured: &[MeasuredCell<'_>], ratios: &[PairedRatio<'_>]) -> Option<Chart> {
    let mut drawn = chart_points(study, spec, measured, ratios);
    drawn.retain(|point| shows_cell(spec, point.at));
    let ruler = AxisScaleMap::new(&spec.x, drawn.iter().map(|point| point.at));
    let singles: usize = drawn.iter().map(|point| point.runs.len()).sum();
    let has_singles = singles <= SINGLE_RUNS_MAX;
    let mut curves = Curves {
        y: curve_axis(study, &spec.y)?,
        joined: spec.joined,
        series: Vec::new(),
    };
    for drawn in &drawn {
        let Some(x) = ruler.position(drawn.at) else { continue };
        let label = spec.label.and_then(|key| drawn.at.cell.levels.get(key.0).cloned());
        let name = series_name(spec, drawn);
        let point = Point {
            x,
            y: drawn.y,
            spread: drawn.spread,
            label,
        };
        curves.add(&name, Source::Measured, point.clone());
        for run in drawn.runs.iter().filter(|_| has_singles) {
            curves.add(&name, Source::Sample, self::point(x, *run));
        }
        let (y, spread) = match drawn.published {
            None => continue,
            Some(Published::Value(y)) => (y, None),
            Some(Published::Range([low, high])) => (f64::midpoint(low, high), Some([low, high])),
        };
        let point = Point { y, spread, ..point };
        curves.add(&format!("{name}, published"), Source::Published, point);
    }
    for published in &spec.published {
        for at in &published.points {
            let x = match &at.x {
                AxisPosition::At(x) => ruler.at(*x),
                AxisPosition::Level(level) => ruler.level(level),
            };
            let Some(x) = x else { continue };
            let label = at.label.clone();
            let point = Point {
                label,
                ..point(x, at.y)
            };
            curves.add(&published.name, Source::Published, point);
        }
    }
    let mut x = ruler.axis();
    if ruler.is_unordered() {
        rank(&mut x, &mut curves.series);
    }
    for line in &mut curves.series {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    chart_of(spec, x, curves.y, curves.series)
}

/// Puts names in the order of their measured values, the smallest first; of several series, by their mean.
fn rank(x: &mut Axis, series: &mut [Series]) {
    let Scale::Named(names) = &mut x.scale else { return };
    let value = |at: usize| {
        let measured = series.iter().filter(|series| series.source == Source::Measured);
        let of_name = measured
            .flat_map(|series| &series.points)
            .filter(|point| point.x == at as f64);
        mean(&of_name.map(|point| point.y).collect::<Vec<_>>()).unwrap_or(f64::INFINITY)
    };
    let mut order: Vec<(usize, f64)> = (0..names.len()).map(|at| (at, value(at))).collect();
    order.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let old = std::mem::take(names);
    names.extend(order.iter().map(|(at, _)| old[*at].clone()));
    for point in series.iter_mut().flat_map(|series| &mut series.points) {
        point.x = order.iter().position(|(at, _)| *at as f64 == point.x).unwrap_or(0) as f64;
    }
}

/// The curves of a chart while points are added to them.
struct Curves {
    y: Axis,
    joined: bool,
    series: Vec<Series>,
}

impl Curves {
    /// Adds a point to the curve of that name; one without a logarithm is left out on a log scale.
    fn add(&mut self, name: &str, source: Source, point: Point) {
        if self.y.scale == Scale::Log && point.y <= 0.0 {
            return;
        }
        let mut known = self.series.iter_mut();
        match known.find(|known| known.name == name && known.source == source) {
            Some(known) => known.points.push(point),
            None => self.series.push(Series {
                name: name.to_owned(),
                source,
                joined: self.joined && source != Source::Sample,
                points: vec![point],
            }),
        }
    }
}

/// The vertical axis of means or ratios.
fn curve_axis(study: &Study, y: &Vertical) -> Option<Axis> {
    match y {
        Vertical::Figure { figure, scale } => Some(figure_axis(figure.0, *scale)),
        Vertical::Ratios { ratios, scale } => {
            let only = study
                .ratios
                .iter()
                .find(|ratio| ratios.len() == 1 && ratios.contains(&ratio.name));
            let title = only.map_or("Ratio", |ratio| ratio.title.as_str());
            Some(axis(title, "1", published_scale(*scale)))
        }
        Vertical::Share { .. } | Vertical::Timelines { .. } | Vertical::Stack { .. } => None,
    }
}

/// A chart of these series; none where there are none.
fn chart_of(spec: &ChartSpec, x: Axis, y: Axis, series: Vec<Series>) -> Option<Chart> {
    (!series.is_empty()).then(|| Chart {
        title: spec.title.clone(),
        note: spec.note.clone(),
        x,
        y,
        series,
        ..Chart::default()
    })
}

fn axis(label: &str, unit: &str, scale: Scale) -> Axis {
    Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale,
    }
}

fn figure_axis(figure: &Figure, scale: AxisScale) -> Axis {
    axis(figure.title, figure.unit_of_axis(), published_scale(scale))
}

/// A point without a spread and a label.
fn point(x: f64, y: f64) -> Point {
    Point {
        x,
        y,
        spread: None,
        label: None,
    }
}

/// Every point of the figure or the ratios on the vertical axis.
fn chart_points<'a>(
    study: &Study,
    spec: &ChartSpec,
    measured: &'a [MeasuredCell<'a>],
    ratios: &'a [PairedRatio<'a>],
) -> Vec<ChartPoint<'a>> {
    match &spec.y {
        Vertical::Figure { figure, .. } => {
            let point = |at: &'a MeasuredCell<'a>| {
                let runs: Vec<f64> = at.means(figure.0.name).into_iter().map(|(_, mean)| mean).collect();
                let spread = if at.varied().is_empty() {
                    None
                } else {
                    interval_95(&runs, super::bootstrap_seed(study))
                };
                Some(ChartPoint {
                    of: None,
                    at,
                    y: at.samples(figure.0.name).mean()?,
                    spread,
                    runs: if spread.is_some() { runs } else { Vec::new() },
                    published: published(study, at.cell, figure.0.name),
                })
            };
            measured.iter().filter_map(point).collect()
        }
        Vertical::Ratios { ratios: names, .. } => {
            let point = |ratio: &'a PairedRatio<'a>| ChartPoint {
                of: Some(&ratio.spec.title),
                at: ratio.base,
                y: ratio.record.mean,
                spread: ratio.record.ci95,
                runs: Vec::new(),
                published: ratio.record.published,
            };
            let named = |name| ratios.iter().filter(move |ratio| &ratio.spec.name == name);
            names.iter().flat_map(named).map(point).collect()
        }
        Vertical::Share { .. } | Vertical::Timelines { .. } | Vertical::Stack { .. } => Vec::new(),
    }
}

fn published_scale(scale: AxisScale) -> Scale {
    if scale == AxisScale::Log {
        Scale::Log
    } else {
        Scale::Linear
    }
}

/// Whether the chart shows that cell.
fn shows_cell(spec: &ChartSpec, at: &MeasuredCell<'_>) -> bool {
    let is_chosen =
        |(key, choice): (&String, &LevelChoice)| at.cell.levels.get(key).is_some_and(|level| choice.has(level));
    (spec.parts.is_empty() || at.cell.part.as_ref().is_some_and(|part| spec.parts.contains(part)))
        && spec.only.iter().all(is_chosen)
}

/// The legend of a point: its ratio, unless the axis names it and levels tell series apart, and the levels that make a series.
fn series_name(spec: &ChartSpec, point: &ChartPoint<'_>) -> String {
    let is_on_axis = matches!(&spec.y, Vertical::Ratios { ratios, .. } if ratios.len() == 1) && !spec.series.is_empty();
    let names: Vec<_> = point
        .of
        .filter(|_| !is_on_axis)
        .into_iter()
        .map(str::to_owned)
        .chain(series_levels(spec, point.at))
        .collect();
    match (&spec.y, names.is_empty()) {
        (Vertical::Figure { figure, .. }, true) => figure.0.title.to_owned(),
        _ => names.join(", "),
    }
}

/// The levels that distinguish a series; a bare number has the name of its factor beside it.
fn series_levels(spec: &ChartSpec, at: &MeasuredCell<'_>) -> Vec<String> {
    let level = |key: &Key| {
        let level = at.cell.levels.get(key.0)?;
        let is_bare = level.parse::<f64>().is_ok();
        Some(if is_bare {
            format!("{} {level}", key.0.replace('_', " "))
        } else {
            level.clone()
        })
    };
    spec.series.iter().filter_map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ranked_by_their_measured_values_and_every_point_stays_with_its_name() {
        let names = ["json", "cbor", "java", "new"].map(str::to_owned).to_vec();
        let mut x = axis("encoding", "1", Scale::Named(names));
        let series_of = |source, points: &[(f64, f64)]| Series {
            name: "bytes".to_owned(),
            source,
            joined: false,
            points: points.iter().map(|(x, y)| point(*x, *y)).collect(),
        };
        let mut series = [
            series_of(Source::Published, &[(1.0, 99.0)]),
            series_of(Source::Measured, &[(0.0, 20.0), (1.0, 10.0), (2.0, 30.0)]),
            series_of(Source::Measured, &[(0.0, 12.0), (1.0, 11.0)]),
        ];
        rank(&mut x, &mut series);
        assert_eq!(
            x.scale,
            Scale::Named(["cbor", "json", "java", "new"].map(str::to_owned).to_vec())
        );
        let at = |series: &Series| series.points.iter().map(|point| (point.x, point.y)).collect::<Vec<_>>();
        assert_eq!(at(&series[0]), [(0.0, 99.0)]);
        assert_eq!(at(&series[1]), [(1.0, 20.0), (0.0, 10.0), (2.0, 30.0)]);
    }
}
