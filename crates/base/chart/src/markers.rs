//! The marks and lines of series. Shape and line show a figure's source; colour only helps.

use super::{path, px};
use crate::{Series, Source};
use std::fmt::Write;

/// How one series is drawn.
#[derive(Debug)]
pub(super) struct SeriesStyle {
    /// Its index among the series.
    pub(super) index: usize,
    /// The index of what it shows; series of one name show one thing.
    pub(super) thing: usize,
    /// CSS classes: the colour and the source.
    pub(super) class: String,
    source: Source,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Circle,
    Square,
    Diamond,
    Triangle,
    Turned,
    Plus,
}

const SHAPES: [Shape; 6] = [
    Shape::Circle,
    Shape::Square,
    Shape::Diamond,
    Shape::Triangle,
    Shape::Turned,
    Shape::Plus,
];
/// The number of colours in chart.css; with six shapes, 42 series differ before any two look alike.
const COLOURS: usize = 7;

/// The lines of each hatching, in a tile of 8 px.
const HATCHES: [&str; 4] = [
    "M0 8L8 0M-2 2L2 -2M6 10L10 6",
    "M0 4H8",
    "M0 0L8 8M6 -2L10 2M-2 6L2 10",
    "M4 0V8",
];

/// The hatchings of the drawing `id`.
pub(super) fn write_hatchings(out: &mut String, id: &str) -> std::fmt::Result {
    out.push_str("<defs>");
    for (at, lines) in HATCHES.iter().enumerate() {
        let number = at + 1;
        write!(
            out,
            "<pattern id=\"{id}-hatch{number}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><path class=\"hatching\" d=\"{lines}\"/></pattern>"
        )?;
    }
    writeln!(out, "</defs>")
}

/// One style per series; series of one name share colour and shape.
pub(super) fn styles(all: &[Series]) -> Vec<SeriesStyle> {
    let mut things: Vec<&str> = Vec::new();
    let mut styles = Vec::new();
    for (index, series) in all.iter().enumerate() {
        let source = series.source.name();
        let thing = series
            .name
            .strip_suffix(source)
            .map_or(series.name.as_str(), |rest| rest.trim_end_matches([',', ' ']));
        let thing_index = things.iter().position(|known| *known == thing).unwrap_or_else(|| {
            things.push(thing);
            things.len() - 1
        });
        styles.push(SeriesStyle {
            index,
            thing: thing_index,
            class: format!("c{} {source}", thing_index % COLOURS + 1),
            source: series.source,
            shape: SHAPES[thing_index % SHAPES.len()],
        });
    }
    styles
}

/// The styles of layers: as those of series, and the last one, which is what remains, in grey.
pub(super) fn layer_styles(all: &[Series]) -> Vec<SeriesStyle> {
    let mut styles = styles(all);
    if let [_, .., rest] = &mut styles[..] {
        rest.class = format!("rest {}", rest.source.name());
    }
    styles
}

/// A series' name, with its source where the chart has more than one source and the name does not end in it.
pub(super) fn legend_name(series: &Series, all: &[Series]) -> String {
    let source = series.source.name();
    let is_other = |other: &Series| other.source != series.source && other.source != Source::Sample;
    if all.iter().any(is_other) && !series.name.to_lowercase().contains(source) {
        format!("{}, {source}", series.name)
    } else {
        series.name.clone()
    }
}

impl SeriesStyle {
    /// Lines over an area, so that neighbouring ones differ without colour: `shape` is the beginning of an element. None over the first and the
    /// remainder.
    pub(super) fn write_hatch(&self, out: &mut String, id: &str, shape: &str) -> std::fmt::Result {
        if self.index == 0 || self.class.starts_with("rest") {
            return Ok(());
        }
        let pattern = (self.index - 1) % HATCHES.len() + 1;
        write!(out, "{shape} fill=\"url(#{id}-hatch{pattern})\" class=\"hatch\"/>")
    }

    /// The line through `points`, dashed for published and dotted for predicted figures.
    pub(super) fn write_line(&self, out: &mut String, points: &[(f64, f64)]) -> std::fmt::Result {
        let dash = match self.source {
            Source::Measured | Source::Sample => "",
            Source::Published => " stroke-dasharray=\"7 4\"",
            Source::Predicted => " stroke-dasharray=\"1.5 4\"",
        };
        write!(
            out,
            "<path class=\"line\"{dash} d=\"{}\"/>",
            path(points.iter().copied())
        )
    }

    /// A mark of about 8 px: filled for measured, hollow for published, strokes for predicted figures.
    pub(super) fn write_mark(&self, out: &mut String, x: f64, y: f64) -> std::fmt::Result {
        let path = |corners: &[(f64, f64)]| path(corners.iter().map(|(dx, dy)| (x + dx, y + dy)));
        if self.source == Source::Sample {
            let (x, y) = (px(x), px(y));
            return write!(out, "<circle class=\"sample\" cx=\"{x}\" cy=\"{y}\" r=\"2.2\"/>");
        }
        if self.source == Source::Predicted {
            let strokes: &[&[(f64, f64)]] = match self.shape {
                Shape::Circle => &[&[(-3.5, -3.5), (3.5, 3.5)], &[(-3.5, 3.5), (3.5, -3.5)]],
                Shape::Square => &[&[(-4.5, 0.0), (4.5, 0.0)], &[(0.0, -4.5), (0.0, 4.5)]],
                Shape::Diamond => &[&[(-4.0, 3.0), (0.0, -4.0), (4.0, 3.0)]],
                Shape::Triangle => &[&[(-4.0, -3.0), (0.0, 4.0), (4.0, -3.0)]],
                Shape::Turned => &[&[(0.0, -4.5), (0.0, 4.5)]],
                Shape::Plus => &[&[(-4.5, 0.0), (4.5, 0.0)]],
            };
            let strokes: String = strokes.iter().map(|stroke| path(stroke)).collect();
            return write!(out, "<path class=\"mark\" d=\"{strokes}\"/>");
        }
        let corners: &[(f64, f64)] = match self.shape {
            Shape::Circle => {
                let (x, y) = (px(x), px(y));
                return write!(out, "<circle class=\"mark\" cx=\"{x}\" cy=\"{y}\" r=\"4\"/>");
            }
            Shape::Square => &[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)],
            Shape::Diamond => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
            Shape::Triangle => &[(0.0, -4.8), (4.6, 3.6), (-4.6, 3.6)],
            Shape::Turned => &[(0.0, 4.8), (4.6, -3.6), (-4.6, -3.6)],
            #[rustfmt::skip]
            Shape::Plus => &[
                (-1.3, -4.5), (1.3, -4.5), (1.3, -1.3), (4.5, -1.3), (4.5, 1.3), (1.3, 1.3),
                (1.3, 4.5), (-1.3, 4.5), (-1.3, 1.3), (-4.5, 1.3), (-4.5, -1.3), (-1.3, -1.3),
            ],
        };
        write!(out, "<path class=\"mark\" d=\"{}Z\"/>", path(corners))
    }

    /// A bar from the low end of a spread to its high end, with a stop at each.
    pub(super) fn write_spread(&self, out: &mut String, x: f64, low: f64, high: f64) -> std::fmt::Result {
        let (left, right, low, high) = (px(x - 4.0), px(x + 4.0), px(low), px(high));
        let x = px(x);
        write!(
            out,
            "<path class=\"spread\" d=\"M{x} {low}V{high}M{left} {low}H{right}M{left} {high}H{right}\"/>"
        )
    }

    /// The same along a row.
    pub(super) fn write_spread_across(&self, out: &mut String, y: f64, low: f64, high: f64) -> std::fmt::Result {
        let (top, bottom, low, high) = (px(y - 4.0), px(y + 4.0), px(low), px(high));
        let y = px(y);
        write!(
            out,
            "<path class=\"spread\" d=\"M{low} {y}H{high}M{low} {top}V{bottom}M{high} {top}V{bottom}\"/>"
        )
    }
}
