//! Draws figures over the time of one repeat.

use super::{MeasuredCell, axis, chart_of, point, published_scale, series_levels};
use crate::figure::FigureName;
use crate::file::{AxisScale, ChartSpec};
use crate::observation::Timeline;
use lastmile_report::record::{Chart, Point, Scale, Series, Source};

/// The timelines of the cells, a series per figure and cell.
pub(super) fn chart(
    spec: &ChartSpec,
    figures: &[FigureName],
    scale: AxisScale,
    cells: &[&MeasuredCell<'_>],
) -> Option<Chart> {
    let mut series = Vec::new();
    let mut repeats: Vec<u64> = Vec::new();
    for figure in figures {
        for cell in cells {
            let timed = |name: &str| {
                cell.observations
                    .iter()
                    .find_map(|(repeat, seen)| Some((*repeat, seen.timelines.get(name)?)))
            };
            let Some((repeat, timeline)) = timed(figure.0.name) else {
                continue;
            };
            repeats.push(repeat + 1);
            let mut names = series_levels(spec, cell);
            if figures.len() > 1 || names.is_empty() {
                names.insert(0, figure.0.title.to_owned());
            }
            series.push(Series {
                name: names.join(", "),
                source: Source::Measured,
                joined: true,
                points: points(timeline, scale),
            });
        }
    }
    repeats.sort_unstable();
    repeats.dedup();
    let first = figures.first()?;
    let label = if figures.len() == 1 {
        first.0.title
    } else {
        common_words(figures)
    };
    let note = format!("{} {}", spec.note, repeats_text(&repeats));
    let x = axis("Time since requests began", "s", Scale::Linear);
    let y = axis(label, first.0.unit_of_axis(), published_scale(scale));
    let mut chart = chart_of(spec, x, y, series)?;
    chart.note = note.trim_start().to_owned();
    Some(chart)
}

fn points(timeline: &Timeline, scale: AxisScale) -> Vec<Point> {
    let all = timeline.points().map(|(x, y)| point(x, y));
    all.filter(|point| scale != AxisScale::Log || point.y > 0.0).collect()
}

/// The words with which the titles of all figures begin, for their common axis.
fn common_words(figures: &[FigureName]) -> &'static str {
    let Some((first, others)) = figures.split_first() else {
        return "";
    };
    let title = first.0.title;
    let ends = title.char_indices().filter(|(_, c)| *c == ' ').map(|(at, _)| at).rev();
    let is_common = |end: &usize| others.iter().all(|other| other.0.title.starts_with(&title[..*end]));
    let common = ends.into_iter().find(is_common).map_or(title, |end| &title[..end]);
    common.trim_end_matches(" at the").trim_end_matches(" of the")
}

fn repeats_text(repeats: &[u64]) -> String {
    match repeats {
        [only] => format!("Repeat {only} alone, as means over equal parts of its time."),
        _ => {
            let all: Vec<String> = repeats.iter().map(u64::to_string).collect();
            format!(
                "One repeat of each ({}), as means over equal parts of its time.",
                all.join(", ")
            )
        }
    }
}
