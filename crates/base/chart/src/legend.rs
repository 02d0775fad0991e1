//! The legend of a chart.

use super::label_placement::{text_width, wrap};
use super::markers::{SeriesStyle, legend_name};
use super::{LINE, rectangle, write_text};
use crate::{Chart, Scale, Source};
use std::fmt::Write;

/// Px from an item's left end to its text, and from one item to the next: our own choice, by eye.
const SAMPLE: f64 = 34.0;
const GAP: f64 = 18.0;

/// A sample and a name for each series, in as many rows as they need.
#[derive(Debug)]
pub(super) struct Legend {
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    left: f64,
    row: usize,
    lines: Vec<String>,
}

impl Legend {
    /// Lays items from left to right, up to `right`. A single series of this run's own needs no legend: the title names it.
    pub(super) fn lay_out(chart: &Chart, right: f64) -> Self {
        let (mut left, mut row, mut items) = (0.0, 0, Vec::new());
        let shown = || chart.series.iter().filter(|series| series.source != Source::Sample);
        let is_alone = shown().count() == 1 && shown().all(|series| series.source == Source::Measured);
        for series in shown().filter(|_| !is_alone) {
            let lines = wrap(&legend_name(series, &chart.series), right - SAMPLE, usize::MAX);
            let width = SAMPLE + lines.iter().map(|line| text_width(line)).fold(0.0, f64::max);
            if left > 0.0 && left + width > right {
                (left, row) = (0.0, row + 1);
            }
            let rows = lines.len();
            items.push(Item { left, row, lines });
            left += width + GAP;
            if rows > 1 {
                (left, row) = (0.0, row + rows);
            }
        }
        Self { items }
    }

    /// The height it needs at the drawing's top.
    pub(super) fn height(&self) -> f64 {
        self.items
            .last()
            .map_or(0.0, |item| (item.row + item.lines.len()) as f64 * LINE + 10.0)
    }

    pub(super) fn write(&self, out: &mut String, chart: &Chart, styles: &[SeriesStyle], id: &str) -> std::fmt::Result {
        let (series, stacked) = (&chart.series, chart.y.scale == Scale::Stacked);
        let shown = series
            .iter()
            .zip(styles)
            .filter(|(series, _)| series.source != Source::Sample);
        for (item, (series, style)) in self.items.iter().zip(shown) {
            let middle = item.row as f64 * LINE + 11.0;
            write!(out, "<g class=\"{}\">", style.class)?;
            if stacked {
                let area = rectangle((item.left, middle - 6.0), (26.0, 12.0));
                write!(out, "<rect class=\"area\" {area}/>")?;
                style.write_hatch(out, id, &format!("<rect {area}"))?;
            } else if series.joined {
                style.write_line(out, &[(item.left, middle), (item.left + 26.0, middle)])?;
            }
            if !stacked {
                style.write_mark(out, item.left + 13.0, middle)?;
            }
            for (at, line) in item.lines.iter().enumerate() {
                let y = middle + 4.5 + at as f64 * LINE;
                write_text(out, "legend", (item.left + SAMPLE, y), None, line)?;
            }
            writeln!(out, "</g>")?;
        }
        Ok(())
    }
}
