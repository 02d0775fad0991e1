//! Draws series that lie on top of each other, as areas along a numeric axis.

use super::markers::SeriesStyle;
use super::{Drawing, path, rectangle, tooltip};
use crate::data::Series;
use crate::escape::Text;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The piece of a series at one x: from the sum of the series before it to the sum with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Piece {
    /// The index of the point in its series.
    pub(super) point: usize,
    pub(super) x: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The pieces of each series, in the order of its points.
pub(super) fn pieces(all: &[Series]) -> Vec<Vec<Piece>> {
    let mut sums: BTreeMap<u64, f64> = BTreeMap::new();
    let mut piece = |point: usize, x: f64, y: f64| {
        let sum = sums.entry(x.to_bits()).or_default();
        let low = *sum;
        *sum += y;
        Piece {
            point,
            x,
            low,
            high: *sum,
        }
    };
    all.iter()
        .map(|series| {
            let points = series.points.iter().enumerate();
            let finite = points.filter(|(_, point)| point.y.is_finite());
            finite.map(|(at, point)| piece(at, point.x, point.y)).collect()
        })
        .collect()
}

impl Drawing<'_> {
    pub(super) fn write_stack(&self, out: &mut String) -> std::fmt::Result {
        let (left, right) = (self.left, self.right);
        let across = |x: f64| Some(self.across(self.x.position(x)?));
        let up = |y: f64| self.up(self.y.clamped_position(y));
        for ((series, style), pieces) in self
            .chart
            .series
            .iter()
            .zip(&self.styles)
            .zip(pieces(&self.chart.series))
        {
            let placed: Vec<(Piece, f64)> = pieces
                .iter()
                .filter_map(|piece| Some((*piece, across(piece.x)?)))
                .collect();
            write!(out, "<g class=\"{}\">", style.class)?;
            write_area(out, style, &self.id, &placed, up)?;
            let half = (right - left) / placed.len().max(2) as f64 / 2.0;
            for (piece, x) in &placed {
                // What is drawn at a point has a tool tip and no colour.
                let (from, to) = ((x - half).max(left), (x + half).min(right));
                let bar = rectangle((from, up(piece.high)), (to - from, up(piece.low) - up(piece.high)));
                let tooltip = Text(tooltip(self.chart, series, &series.points[piece.point]));
                write!(out, "<rect class=\"touch\" {bar}><title>{tooltip}</title></rect>")?;
            }
            writeln!(out, "</g>")?;
        }
        Ok(())
    }
}

fn write_area(
    out: &mut String,
    style: &SeriesStyle,
    id: &str,
    placed: &[(Piece, f64)],
    up: impl Fn(f64) -> f64,
) -> std::fmt::Result {
    let over = placed.iter().map(|(piece, x)| (*x, up(piece.high)));
    let under = placed.iter().rev().map(|(piece, x)| (*x, up(piece.low)));
    let area = path(over.chain(under));
    write!(out, "<path class=\"area\" d=\"{area}Z\"/>")?;
    style.write_hatch(out, id, &format!("<path d=\"{area}Z\""))
}
