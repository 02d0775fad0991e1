//! Draws a [`Chart`] as SVG of our own: no script, absolute coordinates, the same bytes for the same chart.
//!
//! A series' source shows in its marks, and not in colour alone: measured figures are filled marks on a full line,
//! published ones hollow marks on a dashed line, predicted ones crosses on a dotted line. Series of one name share colour and
//! shape, so that measured and published figures of one quantity are seen to belong together. Colours are CSS variables, in [`CSS`], light and dark.
//!
//! `axis` computes where a value lies, `label_placement` where text fits, `markers` draws points, `stack` areas, `marks` what stands out on a curve and the
//! limits, `legend` explains the marks, `thin` leaves out what would not be seen. `rows` draws charts over names. `heatmap` draws fields of cells, in the scale of `colour`; `waterfall` draws the requests of a page, as HTML.

mod axis;
mod colour;
mod data;
pub mod escape;
pub mod heatmap;
mod label_placement;
mod legend;
mod markers;
mod marks;
mod rows;
mod stack;
#[cfg(test)]
mod tests;
mod thin;
pub mod waterfall;

use axis::FittedAxis;
pub use data::{Axis, Chart, Limit, LimitAxis, Mark, Point, Scale, Series, Source};
use escape::Text;
use label_placement::{Anchor, Labels, Rect, shorten, text_width, wrap};
use lastmile_units::number::{self, interval, quantity};
use legend::Legend;
use markers::{SeriesStyle, legend_name};
use rows::RowDrawing;
use std::fmt::Write;

/// The style that drawings need, to be put once into the page they are in.
pub const CSS: &str = concat!(include_str!("chart.css"), include_str!("waterfall.css"));

/// The width that a chart is laid out for; text has the same size in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A page on a desk, or on paper.
    Wide,
    /// A phone held upright.
    Narrow,
}

impl Layout {
    fn width(self) -> f64 {
        match self {
            Layout::Wide => 840.0,
            Layout::Narrow => 350.0,
        }
    }

    fn plot_height(self) -> f64 {
        match self {
            Layout::Wide => 300.0,
            Layout::Narrow => 230.0,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Layout::Wide => "wide",
            Layout::Narrow => "narrow",
        }
    }

    /// Begins a drawing of this height, with its title and its description for screen readers.
    fn write_head(
        self,
        out: &mut String,
        class: &str,
        height: f64,
        id: &str,
        title: &str,
        description: &str,
    ) -> std::fmt::Result {
        let (name, width, height) = (self.name(), px(self.width()), px(height));
        writeln!(
            out,
            "<svg class=\"{class} {name}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>",
            Text(title),
            Text(description),
        )
    }
}

/// How much wider than its estimate bold text may be.
const BOLD: f64 = 1.1;
/// Heights and gaps in px: our own choice, by eye, for text of 13 px.
const LINE: f64 = 18.0;
const RIGHT: f64 = 16.0;
/// The height of a lower panel, in terms of the upper one.
const LOWER_PANEL: f64 = 0.35;
/// The length that a mark needs along a line, on average over the series, and the points that are few enough to be marked in any case.
const MARK_ROOM: f64 = 12.0;
const DENSE_POINTS: usize = 24;
/// The marks on a line that is too dense for all of them.
const DENSE_MARKS: usize = 7;

/// Draws `chart` for a page that has [`CSS`]. `id` distinguishes its elements from those of other charts on the page: letters and digits.
pub fn svg(chart: &Chart, layout: Layout, id: &str) -> String {
    let mut out = String::new();
    write_svg(&mut out, chart, layout, &format!("{id}-{}", layout.name()))
        .expect("a String takes all that is written to it");
    out
}

fn write_svg(out: &mut String, chart: &Chart, layout: Layout, id: &str) -> std::fmt::Result {
    if let Some(rows) = RowDrawing::new(chart, layout, id) {
        let description = description(chart, |point| rows.has_place(point));
        layout.write_head(out, "chart", rows.height(), id, &chart.title, &description)?;
        if chart.y.scale == Scale::Stacked {
            markers::write_hatchings(out, id)?;
        }
        rows.write(out)?;
    } else {
        let panels = Drawing::panels(chart, layout, id);
        let height = panels.iter().map(|panel| panel.height).sum();
        let texts = panels
            .iter()
            .map(|panel| description(panel.chart, |point| panel.at(point).is_some()));
        let description = texts.collect::<Vec<_>>().join(" ");
        layout.write_head(out, "chart", height, id, &chart.title, &description)?;
        if panels.iter().any(|panel| panel.chart.y.scale == Scale::Stacked) {
            markers::write_hatchings(out, id)?;
        }
        let mut top = 0.0;
        for panel in &panels {
            if top > 0.0 {
                write!(out, "<g transform=\"translate(0 {})\">", px(top))?;
            }
            panel.write(out)?;
            if top > 0.0 {
                out.push_str("</g>");
            }
            top += panel.height;
        }
    }
    out.push_str("</svg>\n");
    Ok(())
}

/// The description for screen readers: the chart's note, axes, series, and what could not be shown.
fn description(chart: &Chart, has_place: impl Fn(&Point) -> bool) -> String {
    let Chart { x, y, series, .. } = chart;
    let mut text = format!("{} {} against {}.", chart.note, y.label, x.label)
        .trim_start()
        .to_owned();
    for one in series {
        let count = one.points.len();
        let _ = write!(
            text,
            " {}: {count} {}{}",
            legend_name(one, series),
            if one.source == Source::Sample { "run" } else { "point" },
            if count == 1 { "." } else { "s." }
        );
    }
    for limit in &chart.limits {
        let axis = if limit.axis == LimitAxis::X { x } else { y };
        let _ = write!(text, " {}: {}.", limit.label, value(axis, limit.most));
    }
    let hidden = series.iter().flat_map(|s| &s.points).filter(|p| !has_place(p)).count();
    if hidden > 0 {
        let _ = write!(text, " Points that do not fit on an axis and are not shown: {hidden}.");
    }
    text
}

/// A chart's layout, computed before the first element is written.
struct Drawing<'a> {
    chart: &'a Chart,
    layout: Layout,
    x: FittedAxis,
    y: FittedAxis,
    styles: Vec<SeriesStyle>,
    legend: Legend,
    id: String,
    /// The titles of the axes in lines; the horizontal one's is empty where it is in a panel below.
    x_title: Vec<String>,
    y_title: Vec<String>,
    /// The edges of the plot.
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    height: f64,
}

impl<'a> Drawing<'a> {
    /// The chart, and the one below it, over the same horizontal axis.
    fn panels(chart: &'a Chart, layout: Layout, id: &str) -> Vec<Self> {
        let charts: Vec<&Chart> = [Some(chart), chart.below.as_deref()].into_iter().flatten().collect();
        let points = charts
            .iter()
            .flat_map(|chart| &chart.series)
            .flat_map(|series| &series.points);
        let mut xs: Vec<f64> = points.map(|p| p.x).collect();
        extend_to_limits(&mut xs, chart, LimitAxis::X);
        // The x axis begins at 0 only where the points still fill most of it: with levels of 1 and 2, but not with a range of 900 to 1000.
        let wanted = if layout == Layout::Narrow { 4 } else { 9 };
        let x = || FittedAxis::new(&chart.x, &xs, wanted, begins_below(&xs, 1.0 / 3.0));
        let last = charts.len() - 1;
        let panels = charts.iter().enumerate();
        let mut panels: Vec<Self> = panels
            .map(|(at, part)| Self::new(part, layout, id, x(), at == 0, at == last))
            .collect();
        let left = panels.iter().map(|panel| panel.left).fold(0.0, f64::max);
        panels.iter_mut().for_each(|panel| panel.left = left);
        panels
    }

    fn new(chart: &'a Chart, layout: Layout, id: &str, x: FittedAxis, is_first: bool, has_x_title: bool) -> Self {
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let is_stacked = chart.y.scale == Scale::Stacked;
        let mut ys: Vec<f64> = if is_stacked {
            let pieces = stack::pieces(&chart.series).into_iter().flatten();
            pieces.flat_map(|piece| [piece.low, piece.high]).collect()
        } else {
            points()
                .flat_map(|p| [p.y, p.spread.map_or(p.y, |s| s[0]), p.spread.map_or(p.y, |s| s[1])])
                .collect()
        };
        extend_to_limits(&mut ys, chart, LimitAxis::Y);
        // Curves and areas begin at 0; a cloud of points fills its axis.
        let is_cloud = !is_stacked && chart.series.iter().all(|series| !series.joined);
        let from_zero = !is_cloud || begins_below(&ys, 0.1);
        let y = FittedAxis::new(&chart.y, &ys, if is_first { 6 } else { 3 }, from_zero);
        let width = layout.width();
        let widest = y.ticks.iter().map(|tick| text_width(&tick.text)).fold(0.0, f64::max);
        let left = (widest + 12.0).clamp(24.0, width * 0.45);
        let right = width - RIGHT;
        let legend = Legend::lay_out(chart, right);
        let x_title = if has_x_title {
            title_lines(&x.title, right)
        } else {
            Vec::new()
        };
        let y_title = title_lines(&y.title, right);
        let top = legend.height() + y_title.len() as f64 * LINE + 8.0;
        let plot_height = layout.plot_height() * if is_first { 1.0 } else { LOWER_PANEL };
        let bottom = top + plot_height;
        let height = bottom + 8.0 + LINE + x_title.len() as f64 * LINE + 6.0;
        Self {
            chart,
            layout,
            x,
            y,
            styles: if is_stacked {
                markers::layer_styles(&chart.series)
            } else {
                markers::styles(&chart.series)
            },
            legend,
            id: id.to_owned(),
            x_title,
            y_title,
            left,
            right,
            top,
            bottom,
            height,
        }
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        self.legend.write(out, self.chart, &self.styles, &self.id)?;
        self.write_beyond_limits(out)?;
        self.write_axes(out)?;
        let mut labels = Labels::new(Rect {
            left: self.left,
            top: self.top - 6.0,
            right: self.right + RIGHT,
            bottom: self.bottom,
        });
        if self.chart.y.scale == Scale::Stacked {
            self.write_stack(out)?;
        } else {
            self.write_rings(out, &mut labels)?;
            // The first series lies on top: it is the chart's subject.
            let mut left_out = 0;
            for (series, style) in self.chart.series.iter().zip(&self.styles).rev() {
                left_out += self.write_series(out, series, style, &mut labels)?;
            }
            self.write_mark_labels(out, &mut labels)?;
            self.write_labels(out, &mut labels)?;
            if left_out > 0 {
                let all: usize = self.chart.series.iter().map(|series| series.points.len()).sum();
                let text = format!(
                    "{} of {all} points are drawn; the others lie under them",
                    all - left_out
                );
                let at = (self.left + 6.0, self.bottom - 6.0);
                write_text(out, "label", at, None, &shorten(&text, self.right - self.left))?;
            }
        }
        self.write_limit_labels(out, &mut labels)
    }

    fn write_axes(&self, out: &mut String) -> std::fmt::Result {
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        out.push_str("<g class=\"grid\">");
        let mut ends = f64::INFINITY;
        for tick in &self.y.ticks {
            let y = self.up(tick.at);
            write!(out, "<path d=\"M{} {}H{}\"/>", px(left), px(y), px(right))?;
            if ends - y >= 13.0 {
                ends = y;
                let text = shorten(&tick.text, left - 10.0);
                write_text(out, "", (left - 8.0, y + 4.5), Some(Anchor::End), &text)?;
            }
        }
        let mut ends = f64::NEG_INFINITY;
        for tick in &self.x.ticks {
            let x = self.across(tick.at);
            write!(out, "<path d=\"M{} {}V{}\"/>", px(x), px(top), px(bottom))?;
            let half = text_width(&tick.text) / 2.0;
            // The last text stays inside the drawing; a text that would touch its neighbour is left out.
            let centre = x.min(self.layout.width() - half - 2.0);
            if centre - half > ends + 4.0 {
                ends = centre + half;
                write_text(out, "", (centre, bottom + 18.0), Some(Anchor::Middle), &tick.text)?;
            }
        }
        writeln!(out, "</g>")?;
        let inside = |at: &f64| *at > 0.0 && *at < 1.0;
        let zero = self.y.position(0.0).filter(inside).map(|zero| self.up(zero));
        for y in [Some(bottom), zero].into_iter().flatten() {
            write!(
                out,
                "<path class=\"axis\" d=\"M{} {}H{}\"/>",
                px(left),
                px(y),
                px(right)
            )?;
        }
        write_title(out, &self.y_title, (0.0, self.legend.height() + 14.0), None)?;
        write_title(
            out,
            &self.x_title,
            (right, bottom + 2.0 * LINE + 6.0),
            Some(Anchor::End),
        )?;
        writeln!(out)
    }

    /// Returns how many points are left out, since they would lie under others.
    fn write_series(
        &self,
        out: &mut String,
        series: &Series,
        style: &SeriesStyle,
        labels: &mut Labels,
    ) -> Result<usize, std::fmt::Error> {
        write!(out, "<g class=\"{}\">", style.class)?;
        let placed: Vec<(&Point, (f64, f64))> = series
            .points
            .iter()
            .filter_map(|point| Some((point, self.at(point)?)))
            .collect();
        let count = placed.len();
        let placed = if series.joined {
            thin::line(placed)
        } else {
            thin::cloud(placed)
        };
        let left_out = if series.joined { 0 } else { count - placed.len() };
        let line: Vec<(f64, f64)> = placed.iter().map(|(_, at)| *at).collect();
        if series.joined && placed.len() > 1 {
            style.write_line(out, &line)?;
            labels.occupy_line(&line);
        }
        // Marks that would cover each other add nothing to a line. Where several lines are to be told apart without colour, some marks stay.
        let is_crowded = count > thin::POINTS_MAX || path_length(&line) / line.len() as f64 <= MARK_ROOM;
        let is_dense = series.joined && line.len() > DENSE_POINTS && is_crowded;
        let (first, step) = match (is_dense, self.styles.len()) {
            (false, _) => (0, 1),
            (true, 1) => (placed.len(), 1),
            (true, lines) => {
                let step = placed.len().div_ceil(DENSE_MARKS);
                ((step / 2 + style.index * step / lines) % step, step)
            }
        };
        for (point, (x, y)) in placed.iter().skip(first).step_by(step) {
            write!(out, "<g><title>{}</title>", Text(tooltip(self.chart, series, point)))?;
            if let Some(ends) = point.spread {
                let [low, high] = ends.map(|end| self.up(self.y.clamped_position(end)));
                style.write_spread(out, *x, low, high)?;
                labels.occupy(Rect {
                    left: x - 4.0,
                    top: high,
                    right: x + 4.0,
                    bottom: low,
                });
            }
            style.write_mark(out, *x, *y)?;
            out.push_str("</g>");
            labels.occupy(Rect::around(*x, *y, 5.0));
        }
        writeln!(out, "</g>")?;
        Ok(left_out)
    }

    /// Labels are placed when every mark is known, so that no mark is covered. A label that a near point already has, as where
    /// measured and published figures of one quantity have the same label, is not repeated.
    fn write_labels(&self, out: &mut String, labels: &mut Labels) -> std::fmt::Result {
        const NEAR: f64 = 40.0;
        const SUBJECT_POINTS_MAX: usize = 2;
        let mut said: Vec<(&str, f64, f64)> = Vec::new();
        for (series, style) in self.chart.series.iter().zip(&self.styles) {
            for point in &series.points {
                let Some(text) = &point.label else { continue };
                let Some((x, y)) = self.at(point) else { continue };
                let near = |(same, there_x, there_y): &(&str, f64, f64)| {
                    same == text && (there_x - x).abs() < NEAR && (there_y - y).abs() < NEAR
                };
                if said.iter().any(near) {
                    continue;
                }
                said.push((text, x, y));
                // A label that fits nowhere is in the tool tip only; of the chart's subject, where that is a point or two, the first words
                // are written in any case.
                let (text, (x, y, anchor)) = match labels.find_room(x, y, text_width(text)) {
                    Some(spot) => (text.as_str(), spot),
                    None if style.index == 0 && series.points.len() <= SUBJECT_POINTS_MAX => {
                        let first = text.split(", ").next().unwrap_or(text);
                        let spot = labels.find_room(x, y, text_width(first));
                        (first, spot.unwrap_or((x, y - 9.0, Anchor::Middle)))
                    }
                    None => continue,
                };
                write_text(out, &format!("label {}", style.class), (x, y), Some(anchor), text)?;
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn at(&self, point: &Point) -> Option<(f64, f64)> {
        let (x, y) = (self.x.position(point.x)?, self.y.position(point.y)?);
        Some((self.across(x), self.up(y)))
    }

    /// The x of a share of the horizontal axis.
    fn across(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    /// The y of a share of the vertical axis.
    fn up(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }
}

fn tooltip(chart: &Chart, series: &Series, point: &Point) -> String {
    let Chart { x, y, series: all, .. } = chart;
    let mut text = format!(
        "{}: {} at {}",
        legend_name(series, all),
        value(y, point.y),
        value(x, point.x)
    );
    if let Some(spread) = point.spread {
        let _ = write!(text, " ({})", range(y, spread));
    }
    if let Some(label) = &point.label {
        let _ = write!(text, ", {label}");
    }
    text
}
/// Whether the smallest of these values is less than this share of the largest.
fn begins_below(values: &[f64], share: f64) -> bool {
    let far = values.iter().copied().fold(0.0, f64::max);
    values.iter().copied().fold(f64::INFINITY, f64::min) < far * share
}

/// Adds the limits that lie near enough to be drawn.
fn extend_to_limits(values: &mut Vec<f64>, chart: &Chart, axis: LimitAxis) {
    const NEAR: f64 = 4.0;
    let largest = values
        .iter()
        .copied()
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max);
    let limits = chart
        .limits
        .iter()
        .filter(|limit| limit.axis == axis)
        .map(|limit| limit.most);
    values.extend(limits.filter(|most| *most > 0.0 && *most < largest * NEAR));
}

fn value(axis: &Axis, value: f64) -> String {
    match (&axis.scale, axis.unit.as_str()) {
        (Scale::Named(names), _) => names.get(value as usize).cloned().unwrap_or_default(),
        (_, "1") => number::percent(value),
        (_, unit) => quantity(value, unit),
    }
}

fn range(axis: &Axis, [low, high]: [f64; 2]) -> String {
    match axis.unit.as_str() {
        "1" => format!("{} to {}", value(axis, low), value(axis, high)),
        unit => interval([low, high], unit),
    }
}

/// The length of a line in px.
fn path_length(line: &[(f64, f64)]) -> f64 {
    let lengths = line
        .windows(2)
        .map(|pair| libm::hypot(pair[1].0 - pair[0].0, pair[1].1 - pair[0].1));
    lengths.sum()
}

/// The title of an axis, in lines no wider than `room`.
fn title_lines(title: &str, room: f64) -> Vec<String> {
    wrap(title, room / BOLD, usize::MAX)
}

/// Writes the lines of an axis' title, the first with its base line at `at`.
fn write_title(out: &mut String, lines: &[String], (x, y): (f64, f64), anchor: Option<Anchor>) -> std::fmt::Result {
    for (row, line) in lines.iter().enumerate() {
        write_text(out, "axis-title", (x, y + row as f64 * LINE), anchor, line)?;
    }
    Ok(())
}

/// Writes a text with its base line at `at`, which is its beginning unless an anchor says otherwise.
fn write_text(
    out: &mut String,
    class: &str,
    (x, y): (f64, f64),
    anchor: Option<Anchor>,
    text: &str,
) -> std::fmt::Result {
    out.push_str("<text");
    if !class.is_empty() {
        write!(out, " class=\"{class}\"")?;
    }
    write!(out, " x=\"{}\" y=\"{}\"", px(x), px(y))?;
    if let Some(anchor) = anchor {
        write!(out, " text-anchor=\"{}\"", anchor.name())?;
    }
    write!(out, ">{}</text>", Text(text))
}

/// The attributes of a rectangle with its left top corner at `x`, `y`.
fn rectangle((x, y): (f64, f64), (width, height): (f64, f64)) -> String {
    let [x, y, width, height] = [x, y, width, height].map(px);
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

/// The commands of a path through `points`.
fn path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let commands = points.into_iter().enumerate().map(|(at, (x, y))| {
        let command = if at == 0 { 'M' } else { 'L' };
        format!("{command}{} {}", px(x), px(y))
    });
    commands.collect()
}

/// A coordinate to a tenth of a px: finer cannot be seen, and every machine rounds to the same text.
fn px(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    match (tenths.abs() / 10, tenths.abs() % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}
