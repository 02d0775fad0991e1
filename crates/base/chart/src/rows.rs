//! Draws charts whose horizontal axis is names: a row per name, in the order of the axis, with values from left to right.
//!
//! Where each row has one value without a spread, and zero means something, the value is a bar; otherwise it is a mark with its
//! whisker. The axis ends at the values that lie together. A value far beyond them has its figure beside an arrow, or beside a broken bar.

use super::axis::FittedAxis;
use super::label_placement::{Anchor, Labels, Rect, text_width, wrap};
use super::legend::Legend;
use super::markers::{self, SeriesStyle};
use super::{LINE, Layout, RIGHT, path, px, rectangle, stack, title_lines, tooltip, value, write_text, write_title};
use crate::escape::Text;
use crate::{Chart, Point, Scale, Series, Source};
use std::fmt::Write;

/// Heights in px: our own choice, by eye, for text of 13 px.
const LANE: f64 = 14.0;
/// Where there are more than two.
const NARROW_LANE: f64 = 10.0;
const TEXT_LINE: f64 = 15.0;
const GAP: f64 = 9.0;
const BAR: f64 = 12.0;
/// How much wider than estimated a name may be, since the reader's font is not known.
const WIDER: f64 = 1.08;
/// The share of the drawing that names have at most.
const NAMES_MAX: f64 = 0.42;
/// A value lies far beyond the others where the axis would have to be this many times as long for it. Our own choice.
const FAR: f64 = 2.0;

/// Where a value lies, in terms of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reach {
    Inside,
    Below,
    Beyond,
}

/// The layout of the rows, computed before the first element is written.
pub(super) struct RowDrawing<'a> {
    chart: &'a Chart,
    layout: Layout,
    id: String,
    axis: FittedAxis,
    /// The ends of the axis, where values lie beyond it.
    ends: [f64; 2],
    styles: Vec<SeriesStyle>,
    legend: Legend,
    /// A row's name in lines, its top and its height.
    rows: Vec<NameRow>,
    has_bars: bool,
    /// Whether each row shows one thing, so that its value stands at the right.
    has_values: bool,
    /// The titles of the names and of the values, in lines.
    name_title: Vec<String>,
    value_title: Vec<String>,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

struct NameRow {
    lines: Vec<String>,
    /// The things shown in it, each in a lane of its own.
    things: Vec<usize>,
    top: f64,
    height: f64,
}

impl<'a> RowDrawing<'a> {
    /// None where the horizontal axis is not of names.
    pub(super) fn new(chart: &'a Chart, layout: Layout, id: &str) -> Option<Self> {
        let Scale::Named(names) = &chart.x.scale else {
            return None;
        };
        let is_stacked = chart.y.scale == Scale::Stacked;
        let styles = if is_stacked {
            markers::layer_styles(&chart.series)
        } else {
            markers::styles(&chart.series)
        };
        let things_of = |row: usize| -> Vec<usize> {
            let has_it = |series: &Series| series.points.iter().any(|point| row_of(point) == Some(row));
            let mut things: Vec<usize> = (chart.series.iter().zip(&styles))
                .filter(|(series, _)| has_it(series))
                .map(|(_, style)| if is_stacked { 0 } else { style.thing })
                .collect();
            things.sort_unstable();
            things.dedup();
            things
        };
        let things: Vec<Vec<usize>> = (0..names.len()).map(things_of).collect();
        let has_one = things.iter().all(|things| things.len() < 2);
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let is_varied = points().any(|point| point.spread.is_some())
            || chart.series.iter().any(|series| series.source == Source::Sample);
        let is_ours = |series: &Series| matches!(series.source, Source::Measured | Source::Sample);
        let is_measured = chart.series.iter().all(is_ours);
        let has_bars = is_stacked || has_one && !is_varied && is_measured && chart.y.scale == Scale::Linear;
        let has_values = has_one && !is_stacked && is_measured;

        let (shown, ends) = shown_values(chart, has_bars);
        let (width, is_narrow) = (layout.width(), layout == Layout::Narrow);
        let near = shown.iter().copied().fold(f64::INFINITY, f64::min);
        let far = shown.iter().copied().fold(0.0, f64::max);
        let axis = FittedAxis::new(
            &chart.y,
            &shown,
            if is_narrow { 3 } else { 7 },
            has_bars || near < far / 3.0,
        );
        let widest = names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
        let left = (widest * WIDER + 14.0).clamp(24.0, width * NAMES_MAX);
        let values = points().map(|point| text_width(&value(&chart.y, point.y)));
        let right = width
            - if has_values {
                values.fold(0.0, f64::max) + 16.0
            } else {
                RIGHT
            };
        let legend = Legend::lay_out(chart, width - RIGHT);
        let name_title = title_lines(&chart.x.label, width - RIGHT);
        let value_title = title_lines(&axis.title, right);
        let top = legend.height() + name_title.len() as f64 * LINE + 6.0;
        let mut bottom = top;
        let rows = (names.iter().zip(things))
            .map(|(name, things)| {
                let lines = wrap(name, (left - 13.0) / WIDER, usize::MAX);
                let height =
                    (lines.len() as f64 * TEXT_LINE).max(things.len().max(1) as f64 * lane_height(things.len())) + GAP;
                bottom += height;
                NameRow {
                    lines,
                    things,
                    top: bottom - height,
                    height,
                }
            })
            .collect();
        Some(Self {
            chart,
            layout,
            id: id.to_owned(),
            axis,
            ends,
            styles,
            legend,
            rows,
            has_bars,
            has_values,
            name_title,
            value_title,
            left,
            right,
            top,
            bottom,
        })
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom + (1 + self.value_title.len()) as f64 * LINE + 14.0
    }

    /// Whether a point has a place.
    pub(super) fn has_place(&self, point: &Point) -> bool {
        let is_shown = self.axis.position(point.y).is_some() || self.reach(point.y) != Reach::Inside;
        is_shown && row_of(point).is_some_and(|row| row < self.rows.len())
    }

    pub(super) fn write(&self, out: &mut String) -> std::fmt::Result {
        self.legend.write(out, self.chart, &self.styles, &self.id)?;
        self.write_axes(out)?;
        let mut labels = Labels::new(Rect {
            left: self.left,
            top: self.top - 6.0,
            right: self.layout.width(),
            bottom: self.bottom + 4.0,
        });
        if self.chart.y.scale == Scale::Stacked {
            return self.write_stacks(out);
        }
        for (series, style) in self.chart.series.iter().zip(&self.styles).rev() {
            write!(out, "<g class=\"{}\">", style.class)?;
            for point in series.points.iter().filter(|point| self.has_place(point)) {
                self.write_point(out, series, style, point, &mut labels)?;
            }
            writeln!(out, "</g>")?;
        }
        if !self.has_values {
            self.write_labels(out, &mut labels)?;
        }
        self.write_mark_labels(out, &mut labels)
    }

    fn write_axes(&self, out: &mut String) -> std::fmt::Result {
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        out.push_str("<g class=\"grid\">");
        let mut taken = f64::NEG_INFINITY;
        for tick in &self.axis.ticks {
            let x = self.across(tick.at);
            write!(out, "<path d=\"M{} {}V{}\"/>", px(x), px(top), px(bottom))?;
            let half = text_width(&tick.text) / 2.0;
            if x - half > taken + 4.0 {
                taken = x + half;
                let centre = x.min(self.layout.width() - half * WIDER - 2.0);
                write_text(out, "", (centre, bottom + 16.0), Some(Anchor::Middle), &tick.text)?;
            }
        }
        // Where rows have several lanes, a line shows where the next one begins.
        if self.rows.iter().any(|row| row.things.len() > 1) {
            for row in self.rows.iter().skip(1) {
                write!(out, "<path d=\"M{} {}H{}\"/>", px(left), px(row.top), px(right))?;
            }
        }
        writeln!(out, "</g>")?;
        for row in &self.rows {
            let first = row.top + (row.height - row.lines.len() as f64 * TEXT_LINE) / 2.0 + 11.5;
            for (at, line) in row.lines.iter().enumerate() {
                let y = first + at as f64 * TEXT_LINE;
                write_text(out, "name", (left - 10.0, y), Some(Anchor::End), line)?;
            }
        }
        let zero = self.axis.position(0.0).filter(|at| *at > 0.0 && *at < 1.0);
        for x in [Some(left), zero.map(|zero| self.across(zero))].into_iter().flatten() {
            write!(
                out,
                "<path class=\"axis\" d=\"M{} {}V{}\"/>",
                px(x),
                px(top),
                px(bottom)
            )?;
        }
        write_title(out, &self.name_title, (0.0, self.legend.height() + 14.0), None)?;
        let at = (right, bottom + 2.0 * LINE + 2.0);
        write_title(out, &self.value_title, at, Some(Anchor::End))?;
        writeln!(out)
    }

    fn write_point(
        &self,
        out: &mut String,
        series: &Series,
        style: &SeriesStyle,
        point: &Point,
        labels: &mut Labels,
    ) -> std::fmt::Result {
        let (x, y) = self.place(style, point);
        let reach = self.reach(point.y);
        write!(out, "<g><title>{}</title>", Text(tooltip(self.chart, series, point)))?;
        if self.has_bars {
            let base = self.across(self.axis.clamped_position(0.0));
            let bar = rectangle((x.min(base), y - BAR / 2.0), ((x - base).abs(), BAR));
            write!(out, "<rect class=\"bar\" {bar}/>")?;
            if reach != Reach::Inside {
                let at = if reach == Reach::Beyond { x - 16.0 } else { x + 12.0 };
                let cut = [
                    (at, y + 9.0),
                    (at + 5.0, y - 9.0),
                    (at + 9.0, y - 9.0),
                    (at + 4.0, y + 9.0),
                ];
                write!(out, "<path class=\"cut\" d=\"{}Z\"/>", path(cut))?;
            }
        } else if reach == Reach::Inside {
            if let Some(spread) = point.spread {
                let [low, high] = spread.map(|end| self.across(self.axis.clamped_position(end)));
                style.write_spread_across(out, y, low, high)?;
                labels.occupy(Rect {
                    left: low,
                    top: y - 4.0,
                    right: high,
                    bottom: y + 4.0,
                });
            }
            style.write_mark(out, x, y)?;
        } else {
            let (tip, back) = if reach == Reach::Beyond {
                (x, x - 8.0)
            } else {
                (x, x + 8.0)
            };
            let arrow = path([(tip, y), (back, y - 5.0), (back, y + 5.0)]);
            write!(out, "<path class=\"mark\" d=\"{arrow}Z\"/>")?;
        }
        out.push_str("</g>");
        labels.occupy(Rect::around(x, y, 5.0));
        let text = value(&self.chart.y, point.y);
        if self.has_values && series.source != Source::Sample {
            let at = (self.layout.width() - 2.0, y + 4.5);
            return write_text(out, "value", at, Some(Anchor::End), &text);
        }
        if reach == Reach::Inside || series.source == Source::Sample {
            return Ok(());
        }
        match labels.find_room(x, y, text_width(&text)) {
            Some((x, y, anchor)) => write_text(out, "label", (x, y), Some(anchor), &text),
            None => Ok(()),
        }
    }

    /// The names of points, where rows have no figures at the right.
    fn write_labels(&self, out: &mut String, labels: &mut Labels) -> std::fmt::Result {
        for (series, style) in self.chart.series.iter().zip(&self.styles) {
            let shown = series.points.iter().filter(|point| self.has_place(point));
            for (point, text) in shown.filter_map(|point| Some((point, point.label.as_ref()?))) {
                let (x, y) = self.place(style, point);
                if let Some((x, y, anchor)) = labels.find_room(x, y, text_width(text)) {
                    write_text(out, &format!("label {}", style.class), (x, y), Some(anchor), text)?;
                    writeln!(out)?;
                }
            }
        }
        Ok(())
    }

    fn write_mark_labels(&self, out: &mut String, labels: &mut Labels) -> std::fmt::Result {
        for mark in &self.chart.marks {
            let point = Point::new(mark.x, mark.y);
            if !self.has_place(&point) {
                continue;
            }
            let row = &self.rows[row_of(&point).unwrap_or(0)];
            let x = self.across(self.axis.clamped_position(mark.y));
            if let Some((x, y, anchor)) = labels.find_room(x, row.top + row.height / 2.0, text_width(&mark.label)) {
                write_text(out, "label strong", (x, y), Some(anchor), &mark.label)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn write_stacks(&self, out: &mut String) -> std::fmt::Result {
        let drawn = self.chart.series.iter().zip(&self.styles);
        for ((series, style), pieces) in drawn.zip(stack::pieces(&self.chart.series)) {
            write!(out, "<g class=\"{}\">", style.class)?;
            for piece in pieces {
                let point = &series.points[piece.point];
                if !self.has_place(point) {
                    continue;
                }
                let (_, y) = self.place(style, point);
                let [low, high] = [piece.low, piece.high].map(|end| self.across(self.axis.clamped_position(end)));
                let bar = rectangle((low.min(high), y - BAR / 2.0), ((high - low).abs(), BAR));
                let tooltip = Text(tooltip(self.chart, series, point));
                write!(out, "<g><title>{tooltip}</title><rect class=\"area\" {bar}/>")?;
                style.write_hatch(out, &self.id, &format!("<rect {bar}"))?;
                out.push_str("</g>");
            }
            writeln!(out, "</g>")?;
        }
        Ok(())
    }

    /// The mark of a point that has a place.
    fn place(&self, style: &SeriesStyle, point: &Point) -> (f64, f64) {
        let row = &self.rows[row_of(point).unwrap_or(0)];
        let lane = row.things.iter().position(|thing| *thing == style.thing).unwrap_or(0) as f64;
        let lanes = row.things.len().max(1) as f64;
        let y = row.top + row.height / 2.0 + (lane - (lanes - 1.0) / 2.0) * lane_height(row.things.len());
        (self.across(self.axis.clamped_position(point.y)), y)
    }

    fn reach(&self, y: f64) -> Reach {
        match self.ends {
            [low, _] if y < low => Reach::Below,
            [_, high] if y > high => Reach::Beyond,
            _ => Reach::Inside,
        }
    }

    /// The x of a share of the axis.
    fn across(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }
}

fn lane_height(lanes: usize) -> f64 {
    if lanes > 2 { NARROW_LANE } else { LANE }
}

/// The row of a point, if it is one.
fn row_of(point: &Point) -> Option<usize> {
    (point.x >= 0.0 && point.x.is_finite()).then_some(point.x as usize)
}

/// The values that the axis is fitted to, spreads included; and the ends beyond which a value has an arrow.
fn shown_values(chart: &Chart, has_bars: bool) -> (Vec<f64>, [f64; 2]) {
    const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
    if chart.y.scale == Scale::Stacked {
        let pieces = stack::pieces(&chart.series).into_iter().flatten();
        return (pieces.flat_map(|piece| [piece.low, piece.high]).collect(), ALL);
    }
    let points = chart.series.iter().flat_map(|series| &series.points);
    let mut points: Vec<&Point> = points.filter(|point| point.y.is_finite()).collect();
    points.sort_by(|one, other| one.y.total_cmp(&other.y));
    let mut kept = &points[..];
    if chart.y.scale == Scale::Linear {
        kept = cluster(kept, has_bars);
    }
    let ends = if kept.len() == points.len() {
        ALL
    } else {
        [kept[0].y, kept[kept.len() - 1].y]
    };
    let values = kept
        .iter()
        .flat_map(|point| [point.y; 2].into_iter().chain(point.spread.into_iter().flatten()));
    (values.collect(), ends)
}

/// The ascending points without those that lie far from the others: at most a quarter of them.
fn cluster<'a, 'b>(points: &'b [&'a Point], has_bars: bool) -> &'b [&'a Point] {
    let mut kept = points;
    for _ in 0..points.len() / 4 {
        let length = |all: &[&Point]| match all {
            [first, .., last] if has_bars => last.y.max(0.0) - first.y.min(0.0),
            [first, .., last] => last.y - first.y,
            _ => 0.0,
        };
        let without = [&kept[..kept.len() - 1], &kept[1..]].map(|rest| (length(rest), rest));
        let [last, first] = without;
        let (shorter, rest) = if last.0 <= first.0 { last } else { first };
        if shorter <= 0.0 || length(kept) <= FAR * shorter {
            break;
        }
        kept = rest;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, svg};

    fn ranking(values: &[f64], spread: f64) -> Chart {
        let names = (0..values.len()).map(|at| format!("setting {at}")).collect();
        let point = |(at, y): (usize, &f64)| Point {
            spread: (spread > 0.0).then_some([y - spread, y + spread]),
            ..Point::new(at as f64, *y)
        };
        Chart {
            title: "Page time".to_owned(),
            x: Axis::new("Setting", "", Scale::Named(names)),
            y: Axis::new("Page time", "s", Scale::Linear),
            series: vec![Series {
                name: "page time".to_owned(),
                source: Source::Measured,
                joined: false,
                points: values.iter().enumerate().map(point).collect(),
            }],
            ..Chart::default()
        }
    }

    #[test]
    fn a_small_ranking_is_drawn_like_this() {
        insta::assert_snapshot!(svg(&ranking(&[5.0, 5.1, 5.2, 22.4], 0.05), Layout::Narrow, "a"));
    }

    #[test]
    fn values_far_beyond_the_others_do_not_stretch_the_axis() {
        let kept = |values: &[f64], has_bars| {
            let points: Vec<Point> = values.iter().map(|y| Point::new(0.0, *y)).collect();
            let points: Vec<&Point> = points.iter().collect();
            cluster(&points, has_bars)
                .iter()
                .map(|point| point.y)
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(&[5.0, 5.1, 5.2, 22.4], false), [5.0, 5.1, 5.2]);
        assert_eq!(kept(&[0.1, 5.0, 5.1, 5.2], false), [5.0, 5.1, 5.2]);
        assert_eq!(
            kept(&[5.0, 5.1, 5.2, 6.0], true),
            [5.0, 5.1, 5.2, 6.0],
            "bars begin at zero"
        );
        assert_eq!(kept(&[1.0, 2.0, 3.0, 4.0], false), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(
            kept(&[1.0, 1.0, 1.0, 9.0], false),
            [1.0, 1.0, 1.0, 9.0],
            "equal values are no range"
        );
        assert_eq!(kept(&[1.0, 900.0], true), [1.0, 900.0], "of two, none is the outlier");
        assert_eq!(kept(&[], true), [0.0; 0]);
    }

    #[test]
    fn a_bar_beyond_the_axis_is_broken_and_every_row_has_its_figure() {
        let drawn = svg(&ranking(&[5.0, 5.1, 5.2, 22.4], 0.0), Layout::Wide, "a");
        assert_eq!(drawn.matches("class=\"bar\"").count(), 4);
        assert_eq!(drawn.matches("class=\"cut\"").count(), 1);
        for figure in ["5 s", "5.10 s", "5.20 s", "22.4 s"] {
            assert!(drawn.contains(&format!(">{figure}</text>")), "{figure}: {drawn}");
        }
    }

    #[test]
    fn a_name_of_any_length_is_whole() {
        let mut chart = ranking(&[1.0], 0.0);
        let name = format!("css, zstd:6 for {}", "x".repeat(300));
        chart.x.scale = Scale::Named(vec![name.clone()]);
        for layout in [Layout::Wide, Layout::Narrow] {
            let drawn = svg(&chart, layout, "a");
            assert!(!drawn.contains('…'));
            let lines = drawn.split("<text class=\"name\"").skip(1);
            let text: String = lines
                .map(|rest| &rest[rest.find('>').unwrap() + 1..rest.find('<').unwrap()])
                .collect();
            assert_eq!(text.replace(' ', ""), name.replace(' ', ""));
        }
    }
}
