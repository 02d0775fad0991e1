//! Draws series that lie on top of each other: areas along a numeric axis, bars at names.

use super::{Drawing, px};
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

/// The width of a bar in terms of the room that its name has: our own choice, by eye.
const BAR: f64 = 0.6;

impl Drawing<'_> {
    pub(super) fn write_stack(&self, out: &mut String) -> std::fmt::Result {
        let (left, right) = (self.left, self.right);
        let across = |x: f64| Some(left + self.x.position(x)? * (right - left));
        let up = |y: f64| self.bottom - self.y.clamped_position(y) * (self.bottom - self.top);
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
            let half = match self.x.slot() {
                Some(slot) => slot * (right - left) * BAR / 2.0,
                None => {
                    write_area(out, &placed, up)?;
                    (right - left) / placed.len().max(2) as f64 / 2.0
                }
            };
            for (piece, x) in &placed {
                // Where an area shows the values, what is drawn at a point has a tool tip and no colour.
                let class = if self.x.slot().is_some() { "area" } else { "touch" };
                let (from, to) = ((x - half).max(left), (x + half).min(right));
                write!(
                    out,
                    "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
                    px(from),
                    px(up(piece.high)),
                    px(to - from),
                    px(up(piece.low) - up(piece.high)),
                    Text(self.tooltip(series, &series.points[piece.point]))
                )?;
            }
            writeln!(out, "</g>")?;
        }
        Ok(())
    }
}

fn write_area(out: &mut String, placed: &[(Piece, f64)], up: impl Fn(f64) -> f64) -> std::fmt::Result {
    let over = placed.iter().map(|(piece, x)| (*x, up(piece.high)));
    let under = placed.iter().rev().map(|(piece, x)| (*x, up(piece.low)));
    out.push_str("<path class=\"area\" d=\"");
    for (at, (x, y)) in over.chain(under).enumerate() {
        write!(out, "{}{} {}", if at == 0 { 'M' } else { 'L' }, px(x), px(y))?;
    }
    out.push_str("Z\"/>");
    Ok(())
}
