//! Draws what is marked on a curve: a ring around the point, a line down to the axis, and a label; and limits: a line, and shade beyond it.

use super::label_placement::{Anchor, Labels, Rect, shorten, text_width};
use super::{BOLD, Drawing, px, rectangle, write_text};
use crate::data::{Limit, LimitAxis, Mark};
use std::fmt::Write;

/// Px: our own choice, by eye.
const RING: f64 = 7.5;
/// The lines of text that a label may lie higher than its ring.
const HIGHER_MAX: u32 = 6;
/// Px from one line of text to the next.
const LINE: f64 = 15.0;

impl Drawing<'_> {
    /// The rings and lines, which lie under the curves; no label is put on them.
    pub(super) fn write_rings(&self, out: &mut String, labels: &mut Labels) -> std::fmt::Result {
        for (_, (x, y)) in self.placed_marks() {
            let [cx, cy, r, from, to] = [x, y, RING, y + RING, self.bottom].map(px);
            writeln!(
                out,
                "<g class=\"marked\"><path class=\"drop\" d=\"M{cx} {from}V{to}\"/><circle class=\"ring\" cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\"/></g>"
            )?;
            labels.occupy(Rect::around(x, y, RING - 2.5));
            labels.occupy_line(&[(x, y), (x, self.bottom)]);
        }
        Ok(())
    }

    /// The labels, each where it covers nothing, or else at the top of the plot.
    pub(super) fn write_mark_labels(&self, out: &mut String, labels: &mut Labels) -> std::fmt::Result {
        for (index, (mark, (x, at_y))) in self.placed_marks().enumerate() {
            let label = shorten(&mark.label, (self.right - self.left) / BOLD);
            let width = text_width(&label) * BOLD;
            // Beside the ring, or higher along its vertical.
            let beside = labels.find_room(x, at_y, width + RING);
            let higher = || (1..=HIGHER_MAX).find_map(|step| labels.find_room(x, at_y - LINE * f64::from(step), width));
            let (x, y, anchor) = match beside.or_else(higher) {
                Some((x, y, Anchor::Start)) => (x + RING / 2.0, y, Anchor::Start),
                Some((x, y, Anchor::End)) => (x - RING / 2.0, y, Anchor::End),
                Some((x, y, Anchor::Middle)) => (x, y - if y < at_y { 2.0 } else { -2.0 }, Anchor::Middle),
                None => {
                    let x = (x + RING).min(self.right - width).max(self.left);
                    let y = self.top + 10.0 + LINE * index as f64;
                    let [top, bottom] = [y - 10.0, y + 3.0];
                    labels.occupy(Rect {
                        left: x,
                        top,
                        right: x + width,
                        bottom,
                    });
                    (x, y, Anchor::Start)
                }
            };
            write_text(out, "label strong", (x, y), Some(anchor), &label)?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// The shade beyond each limit, and its line.
    pub(super) fn write_beyond_limits(&self, out: &mut String) -> std::fmt::Result {
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        for (limit, at) in self.placed_limits() {
            let (shade, line) = match limit.axis {
                LimitAxis::X => (
                    rectangle((at, top), (right - at, bottom - top)),
                    format!("M{} {}V{}", px(at), px(top), px(bottom)),
                ),
                LimitAxis::Y => (
                    rectangle((left, top), (right - left, at - top)),
                    format!("M{} {}H{}", px(left), px(at), px(right)),
                ),
            };
            writeln!(
                out,
                "<rect class=\"beyond\" {shade}/><path class=\"limit\" d=\"{line}\"/>"
            )?;
        }
        Ok(())
    }

    /// The labels of limits, beyond their lines.
    pub(super) fn write_limit_labels(&self, out: &mut String, labels: &mut Labels) -> std::fmt::Result {
        for (limit, at) in self.placed_limits() {
            let label = shorten(&limit.label, (self.right - self.left) / BOLD);
            let width = text_width(&label) * BOLD;
            let rows = (0..12).map(|row| self.top + 12.0 + LINE * f64::from(row));
            let spots: Vec<(f64, f64)> = match limit.axis {
                LimitAxis::X => rows
                    .map(|y| ((at + 6.0).min(self.right - width).max(self.left), y))
                    .collect(),
                LimitAxis::Y => [self.right - width - 4.0, self.left + 6.0]
                    .iter()
                    .flat_map(|x| [(*x, at - 5.0), (*x, at + 14.0)])
                    .collect(),
            };
            let rect = |(x, y): (f64, f64)| Rect {
                left: x,
                top: y - 10.0,
                right: x + width,
                bottom: y + 3.0,
            };
            let at = spots.iter().find(|at| labels.is_free(&rect(**at))).unwrap_or(&spots[0]);
            labels.occupy(rect(*at));
            write_text(out, "label strong", *at, None, &label)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn placed_limits(&self) -> impl Iterator<Item = (&Limit, f64)> {
        self.chart.limits.iter().filter_map(|limit| {
            Some((
                limit,
                match limit.axis {
                    LimitAxis::X => self.across(self.x.position(limit.most)?),
                    LimitAxis::Y => self.up(self.y.position(limit.most)?),
                },
            ))
        })
    }

    fn placed_marks(&self) -> impl Iterator<Item = (&Mark, (f64, f64))> {
        self.chart.marks.iter().filter_map(|mark| {
            let (x, y) = (self.x.position(mark.x)?, self.y.position(mark.y)?);
            Some((mark, (self.across(x), self.up(y))))
        })
    }
}
