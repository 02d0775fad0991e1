//! Draws what is marked on a curve: a ring around the point, a line down to the axis, and a label.

use super::label_placement::{Anchor, Labels, Rect, shorten, text_width};
use super::{Drawing, px, write_text};
use crate::data::Mark;
use std::fmt::Write;

/// Px: our own choice, by eye.
const RING: f64 = 7.5;
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
            let label = shorten(&mark.label, self.right - self.left);
            let width = text_width(&label);
            let (x, y, anchor) = match labels.find_room(x, at_y, width + RING) {
                Some((x, y, Anchor::Start)) => (x + RING / 2.0, y, Anchor::Start),
                Some((x, y, Anchor::End)) => (x - RING / 2.0, y, Anchor::End),
                Some((x, y, Anchor::Middle)) => (x, y - if y < at_y { 2.0 } else { -2.0 }, Anchor::Middle),
                None => {
                    let x = (x + RING).min(self.right - width).max(self.left);
                    (x, self.top + 10.0 + LINE * index as f64, Anchor::Start)
                }
            };
            write_text(out, "label strong", (x, y), Some(anchor), &label)?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn placed_marks(&self) -> impl Iterator<Item = (&Mark, (f64, f64))> {
        self.chart.marks.iter().filter_map(|mark| {
            let (x, y) = (self.x.position(mark.x)?, self.y.position(mark.y)?);
            Some((mark, (self.across(x), self.up(y))))
        })
    }
}
