//! Fills the charts that a study describes with its figures and with the published ones.

mod axis_position;
mod distributions;
mod knee;
mod stack;
mod timelines;

use super::MeasuredCell;
use super::cells::published;
use super::ratios::PairedRatio;
use crate::file::{AxisPosition, AxisScale, ChartSpec, Horizontal, LevelChoice, Study, Vertical};
use crate::settings::Key;
use axis_position::AxisScaleMap;
use lastmile_report::record::{Axis, Chart, Point, Published, Scale, Series, Source};
use lastmile_statistics::interval::interval_95;

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
    published: Option<Published>,
}

fn chart(study: &Study, spec: &ChartSpec, measured: &[MeasuredCell<'_>], ratios: &[PairedRatio<'_>]) -> Option<Chart> {
    let cells: Vec<&MeasuredCell<'_>> = measured.iter().filter(|cell| shows_cell(spec, cell)).collect();
    let mut chart = match &spec.y {
        Vertical::Share(side, scale) => distributions::chart(spec, *side, *scale, &cells),
        Vertical::Timelines(figures, scale) => timelines::chart(spec, figures, *scale, &cells),
        Vertical::Stack(figures, title) => stack::chart(spec, figures, title, &cells),
        Vertical::Figure(..) | Vertical::Ratios(..) => curves(study, spec, measured, ratios),
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
    let drawn: Vec<_> = chart_points(study, spec, measured, ratios)
        .into_iter()
        .filter(|point| shows_cell(spec, point.at))
        .collect();
    let ruler = AxisScaleMap::new(&spec.x, drawn.iter().map(|point| point.at));
    let (y_label, y_unit, y_scale) = match &spec.y {
        Vertical::Figure(figure, scale) => (figure.0.title, figure.0.unit_of_axis(), *scale),
        Vertical::Ratios(names, scale) => {
            let only = study
                .ratios
                .iter()
                .find(|ratio| names.len() == 1 && names.contains(&ratio.name));
            (only.map_or("Ratio", |ratio| ratio.title.as_str()), "1", *scale)
        }
        Vertical::Share(..) | Vertical::Timelines(..) | Vertical::Stack(..) => return None,
    };
    let on_y = |y: f64| y_scale != AxisScale::Log || y > 0.0;

    let mut series: Vec<Series> = Vec::new();
    let mut add = |name: String, source, joined, point: Point| {
        if !on_y(point.y) {
            return;
        }
        match series
            .iter_mut()
            .find(|known| known.name == name && known.source == source)
        {
            Some(known) => known.points.push(point),
            None => series.push(Series {
                name,
                source,
                joined,
                points: vec![point],
            }),
        }
    };
    for point in &drawn {
        let Some(x) = ruler.position(point.at) else { continue };
        let label = spec.label.and_then(|key| point.at.cell.levels.get(key.0).cloned());
        let name = series_name(spec, point);
        add(
            name.clone(),
            Source::Measured,
            spec.joined,
            Point {
                x,
                y: point.y,
                spread: point.spread,
                label: label.clone(),
            },
        );
        let (y, spread) = match point.published {
            None => continue,
            Some(Published::Value(y)) => (y, None),
            Some(Published::Range([low, high])) => (f64::midpoint(low, high), Some([low, high])),
        };
        add(
            format!("{name}, published"),
            Source::Published,
            spec.joined,
            Point { x, y, spread, label },
        );
    }
    for published in &spec.published {
        for point in &published.points {
            let x = match &point.x {
                AxisPosition::At(x) => ruler.at(*x),
                AxisPosition::Level(level) => ruler.level(level),
            };
            if let Some(x) = x {
                let point = Point {
                    x,
                    y: point.y,
                    spread: None,
                    label: point.label.clone(),
                };
                add(published.name.clone(), Source::Published, spec.joined, point);
            }
        }
    }
    for line in &mut series {
        line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    (!series.is_empty()).then(|| Chart {
        title: spec.title.clone(),
        note: spec.note.clone(),
        x: ruler.axis(),
        y: Axis {
            label: y_label.to_owned(),
            unit: y_unit.to_owned(),
            scale: published_scale(y_scale),
        },
        series,
        marks: Vec::new(),
    })
}

/// Every point of the figure or the ratios on the vertical axis.
fn chart_points<'a>(
    study: &Study,
    spec: &ChartSpec,
    measured: &'a [MeasuredCell<'a>],
    ratios: &'a [PairedRatio<'a>],
) -> Vec<ChartPoint<'a>> {
    match &spec.y {
        Vertical::Figure(figure, _) => {
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
                    published: published(study, at.cell, figure.0.name),
                })
            };
            measured.iter().filter_map(point).collect()
        }
        Vertical::Ratios(names, _) => {
            let point = |ratio: &'a PairedRatio<'a>| ChartPoint {
                of: Some(&ratio.spec.title),
                at: ratio.base,
                y: ratio.record.mean,
                spread: ratio.record.ci95,
                published: ratio.record.published,
            };
            let named = |name| ratios.iter().filter(move |ratio| &ratio.spec.name == name);
            names.iter().flat_map(named).map(point).collect()
        }
        Vertical::Share(..) | Vertical::Timelines(..) | Vertical::Stack(..) => Vec::new(),
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

/// The legend of a point: its ratio, and the levels that make a series.
fn series_name(spec: &ChartSpec, point: &ChartPoint<'_>) -> String {
    let names: Vec<_> = point
        .of
        .into_iter()
        .map(str::to_owned)
        .chain(series_levels(spec, point.at))
        .collect();
    match (&spec.y, names.is_empty()) {
        (Vertical::Figure(figure, _), true) => figure.0.title.to_owned(),
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
