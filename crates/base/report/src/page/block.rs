//! Renders the pieces of a document as HTML.

use crate::csv::Rows;
use crate::document::{Block, Grid, Note, RowEmphasis};
use crate::record::{Axis, Chart, Finding, Scale, Source};
use lastmile_chart::escape::Text;
use lastmile_chart::heatmap::{self, HeatMap};
use lastmile_chart::waterfall::Waterfall;
use lastmile_chart::{self as chart, Layout};
use std::fmt::Write;

/// Writes blocks, and gives each footnote and each chart an id of its own.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    grids: usize,
    charts: usize,
    /// The section's head; a table of the same title does not repeat it.
    head: String,
    /// The sections so far; drawings are added to the last one.
    pub(super) contents: Vec<Entry>,
}

/// A section of the table of contents.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) title: String,
    /// The drawings in it: id and title.
    pub(super) charts: Vec<(String, String)>,
}

impl Blocks {
    pub(super) fn write_section(&mut self, out: &mut String, head: &str, blocks: &[Block]) -> std::fmt::Result {
        head.clone_into(&mut self.head);
        self.write(out, blocks)
    }

    fn write(&mut self, out: &mut String, blocks: &[Block]) -> std::fmt::Result {
        for block in blocks {
            match block {
                Block::Heading(text) => writeln!(out, "<h3>{}</h3>", Text(text))?,
                Block::Text(text) => writeln!(out, "<p>{}</p>", Text(text))?,
                Block::Answer(text) => writeln!(out, "<p class=\"answer\">{}</p>", Text(text))?,
                Block::Finding(finding) => write_finding(out, finding)?,
                Block::Doubts(doubts) => write_doubts(out, doubts)?,
                Block::Grid(grid) => self.write_grid(out, grid)?,
                Block::Code { title, text, note } => {
                    let (caption, text) = (caption(title, note), Text(text));
                    writeln!(
                        out,
                        "<figure class=\"code\">{caption}<pre tabindex=\"0\">{text}</pre></figure>"
                    )?;
                }
                Block::Chart(chart) => self.write_chart(out, chart)?,
                Block::Heat(map) => self.write_heat(out, map)?,
                Block::Waterfall(waterfall) => self.write_waterfall(out, waterfall)?,
                Block::Folded { summary, blocks } => {
                    writeln!(out, "<details><summary>{}</summary>", Text(summary))?;
                    self.write(out, blocks)?;
                    writeln!(out, "</details>")?;
                }
            }
        }
        Ok(())
    }

    /// Opens a drawing, lists it in the contents, and returns its id.
    fn begin_drawing(&mut self, out: &mut String, title: &str, note: &str) -> Result<String, std::fmt::Error> {
        self.charts += 1;
        let id = format!("chart{}", self.charts);
        if let Some(section) = self.contents.last_mut() {
            section.charts.push((id.clone(), title.to_owned()));
        }
        write!(out, "<figure class=\"drawing\" id=\"{id}\">{}", caption(title, note))?;
        Ok(id)
    }

    fn write_chart(&mut self, out: &mut String, chart: &Chart) -> std::fmt::Result {
        let id = self.begin_drawing(out, &chart.title, &chart.note)?;
        // The page has both layouts and the style shows one, so that no script has to measure the window.
        out.push_str(&chart::svg(chart, Layout::Wide, &id));
        out.push_str(&chart::svg(chart, Layout::Narrow, &id));
        writeln!(out, "<template>{}</template></figure>", Text(chart_csv(chart)))
    }

    fn write_heat(&mut self, out: &mut String, map: &HeatMap) -> std::fmt::Result {
        let id = self.begin_drawing(out, &map.title, &map.note)?;
        out.push_str(&heatmap::svg(map, Layout::Wide, &id));
        out.push_str(&heatmap::svg(map, Layout::Narrow, &id));
        writeln!(out, "<template>{}</template></figure>", Text(heat_csv(map)))
    }

    fn write_waterfall(&mut self, out: &mut String, waterfall: &Waterfall) -> std::fmt::Result {
        self.begin_drawing(out, &waterfall.title, &waterfall.note)?;
        out.push_str(&chart::waterfall::html(waterfall));
        writeln!(out, "</figure>")
    }

    fn write_grid(&mut self, out: &mut String, grid: &Grid) -> std::fmt::Result {
        self.grids += 1;
        let id = self.grids;
        // A table wider than the window scrolls by itself; the name and the tab stop are for readers who scroll by keyboard.
        let title = if grid.title == self.head { "" } else { &grid.title };
        write!(out, "<figure class=\"table\">{}", caption(title, &grid.note))?;
        write!(
            out,
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table><thead><tr>",
            Text(&grid.title)
        )?;
        for column in &grid.columns {
            write!(
                out,
                "<th scope=\"col\"{}>{}</th>",
                figure_class(column.figures),
                Text(&column.name)
            )?;
        }
        if !grid.doubts.is_empty() {
            out.push_str("<th scope=\"col\">doubts</th>");
        }
        out.push_str("</tr></thead>\n<tbody>");
        for row in &grid.rows {
            let tone = match row.tone {
                RowEmphasis::Plain => "",
                RowEmphasis::Good => " class=\"good\"",
                RowEmphasis::Bad => " class=\"bad\"",
                RowEmphasis::Invalid => " class=\"invalid\"",
            };
            write!(out, "<tr{tone}>")?;
            for (cell, column) in row.cells.iter().zip(&grid.columns) {
                write!(out, "<td{}>{}</td>", figure_class(column.figures), Text(cell))?;
            }
            if !grid.doubts.is_empty() {
                out.push_str("<td class=\"doubt\">");
                for (nth, at) in row.doubts.iter().enumerate() {
                    let comma = if nth > 0 { ", " } else { "" };
                    let (kind, mark) = (Text(grid.doubts[*at].kind.name()), at + 1);
                    write!(
                        out,
                        "{comma}<a href=\"#doubt{id}-{mark}\">{kind}\u{a0}<sup>{mark}</sup></a>"
                    )?;
                }
                out.push_str("</td>");
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>");
        if !grid.doubts.is_empty() {
            out.push_str("<ol class=\"doubts\">");
            for (at, doubt) in grid.doubts.iter().enumerate() {
                write!(
                    out,
                    "<li id=\"doubt{id}-{}\"><b>{}</b>: {}</li>",
                    at + 1,
                    Text(doubt.kind.name()),
                    Text(&doubt.text)
                )?;
            }
            out.push_str("</ol>");
        }
        writeln!(out, "</figure>")
    }
}

/// A row for each bar: its name, its share of the longest, its figure. The caption is markup.
pub(super) fn write_bar_table<T: AsRef<str>>(
    out: &mut String,
    caption: &str,
    rows: impl Iterator<Item = (T, f64, String)>,
) -> std::fmt::Result {
    out.push_str("<table>");
    if !caption.is_empty() {
        write!(out, "<caption>{caption}</caption>")?;
    }
    for (name, share, figures) in rows {
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0) * 100.0
        } else {
            0.0
        };
        writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td><i style=\"width:{share:.2}%\"></i></td><td>{}</td></tr>",
            Text(name.as_ref()),
            Text(figures)
        )?;
    }
    writeln!(out, "</table>")
}

/// To six digits.
fn six_digits(value: f64) -> String {
    format!("{value:.5e}").parse().unwrap_or(value).to_string()
}

/// The cells of a heat map that have a value, a row each.
fn heat_csv(map: &HeatMap) -> String {
    let mut rows = Rows::default();
    rows.row([&map.x.label, &map.y.label, &map.value]);
    for (y, cells) in map.y.names.iter().zip(&map.rows) {
        for (x, cell) in map.x.names.iter().zip(cells) {
            if let Some(cell) = cell {
                rows.row([x, y, &six_digits(cell.value)]);
            }
        }
    }
    rows.into_text()
}

/// The points of a chart, a row each, in base units and to six digits; the record has all. Columns that are empty are left out. The rows of a
/// lower chart follow after an empty line, under a head of their own.
fn chart_csv(chart: &Chart) -> String {
    let head = |axis: &Axis| match axis.unit.as_str() {
        "" | "1" => axis.label.clone(),
        unit => format!("{} ({unit})", axis.label),
    };
    let has_sources = chart.series.iter().any(|series| series.source != Source::Measured);
    let has_spreads = chart
        .series
        .iter()
        .flat_map(|series| &series.points)
        .any(|point| point.spread.is_some());
    let row = |[series, source, x, y, low, high]: [String; 6]| {
        let source = has_sources.then_some(source);
        let spread = has_spreads.then_some([low, high]);
        let cells = [series].into_iter().chain(source).chain([x, y]);
        cells.chain(spread.into_iter().flatten()).collect::<Vec<_>>()
    };
    let mut rows = Rows::default();
    rows.row(row([
        "series".to_owned(),
        "source".to_owned(),
        head(&chart.x),
        head(&chart.y),
        "low".to_owned(),
        "high".to_owned(),
    ]));
    for series in &chart.series {
        for point in &series.points {
            let x = match &chart.x.scale {
                Scale::Named(names) => names.get(point.x as usize).cloned().unwrap_or_default(),
                Scale::Linear | Scale::Log | Scale::Stacked => six_digits(point.x),
            };
            let [low, high] = point
                .spread
                .map_or_else(Default::default, |spread| spread.map(six_digits));
            let (name, source) = (series.name.clone(), series.source.name().to_owned());
            rows.row(row([name, source, x, six_digits(point.y), low, high]));
        }
    }
    match &chart.below {
        Some(below) => format!("{}\n{}", rows.into_text(), chart_csv(below)),
        None => rows.into_text(),
    }
}

fn caption(title: &str, note: &str) -> String {
    match (title, note) {
        ("", "") => String::new(),
        ("", note) => format!("<figcaption>{}</figcaption>\n", Text(note)),
        (title, note) => format!("<figcaption><b>{}</b> {}</figcaption>\n", Text(title), Text(note)),
    }
}

fn figure_class(figures: bool) -> &'static str {
    if figures { " class=\"figure\"" } else { "" }
}

fn write_finding(out: &mut String, finding: &Finding) -> std::fmt::Result {
    let inferred = if finding.inferred {
        " <span class=\"inferred\">inferred</span>"
    } else {
        ""
    };
    writeln!(
        out,
        "<article class=\"finding\"><h3>{}{inferred}</h3><p>{}</p></article>",
        Text(&finding.title),
        Text(&finding.text)
    )
}

fn write_doubts(out: &mut String, doubts: &[Note]) -> std::fmt::Result {
    out.push_str("<ul class=\"doubts\">");
    for doubt in doubts {
        write!(out, "<li><b>{}</b>: {}</li>", Text(doubt.name), Text(&doubt.text))?;
    }
    writeln!(out, "</ul>")
}
