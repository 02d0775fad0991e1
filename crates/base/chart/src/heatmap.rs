//! Draws a [`HeatMap`]: a field of coloured cells, each with its value where it fits, and always with a tool tip.
//!
//! Colour is never the only sign: the scale only gets lighter, so print in grey keeps the order, and cells hold their values. Cells that are
//! to stand out are framed.

use super::colour::Rgb;
use super::label_placement::{Anchor, shorten, text_width, wrap};
use super::{LINE, Layout, rectangle, write_text};
use crate::escape::Text;
use std::fmt::Write;

/// A value for each combination of two parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The horizontal parameter.
    pub x: Parameter,
    /// The vertical one, from the bottom.
    pub y: Parameter,
    /// The name of the values, with their unit: the legend's head.
    pub value: String,
    /// The meaning of a framed cell, for the legend.
    pub framed: String,
    /// How values are laid along the colour scale.
    pub scale: ColourScale,
    /// One row per y, with one cell per x; none where there is no value.
    pub rows: Vec<Vec<Option<HeatCell>>>,
}

/// A parameter, and its values in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub label: String,
    /// Its values as texts, in order.
    pub names: Vec<String>,
}

/// The colour scale: its ends, and whether it is logarithmic.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourScale {
    /// The darkest value; maps that are to be compared share both ends.
    pub low: f64,
    /// The lightest value.
    pub high: f64,
    /// Whether equal factors, rather than equal steps, are equal distances; both ends are then above 0.
    pub log: bool,
    /// The texts of both ends.
    pub ends: [String; 2],
}

/// A cell with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatCell {
    /// The value, on the colour scale.
    pub value: f64,
    /// The value as texts, the longest first; the first that fits is written.
    pub texts: Vec<String>,
    /// The full text, for the tool tip.
    pub detail: String,
    /// Whether it is framed.
    pub marked: bool,
}

impl ColourScale {
    fn share(&self, value: f64) -> f64 {
        let of = |value: f64| if self.log { libm::log10(value) } else { value };
        let (low, high) = (of(self.low), of(self.high));
        let share = (of(value) - low) / (high - low);
        // A single value has no position between two ends.
        if share.is_finite() { share } else { 0.5 }
    }
}

/// Px: our own choice, by eye.
const CELL_HEIGHT: f64 = 27.0;
const LEGEND_STEPS: usize = 32;
const LEGEND_WIDTH: f64 = 200.0;
const LEGEND_HEIGHT: f64 = 12.0;
const TEXT_MARGIN: f64 = 3.0;
/// Text in a cell is smaller than the text around it, by the sizes in chart.css.
const CELL_TEXT: f64 = 12.0 / 13.0;

/// Draws `map` for a page that has [`super::CSS`]. `id` distinguishes its elements from those of other charts on the page.
pub fn svg(map: &HeatMap, layout: Layout, id: &str) -> String {
    let mut out = String::new();
    Field::new(map, layout)
        .write(&mut out, &format!("{id}-{}", layout.name()))
        .expect("a String takes all that is written to it");
    out
}

/// Where the cells lie.
struct Field<'a> {
    map: &'a HeatMap,
    layout: Layout,
    left: f64,
    top: f64,
    cell_width: f64,
    /// The horizontal names, in lines.
    x_names: Vec<Vec<String>>,
    height: f64,
}

impl<'a> Field<'a> {
    fn new(map: &'a HeatMap, layout: Layout) -> Self {
        let width = layout.width();
        let widest = map.y.names.iter().map(|name| text_width(name)).fold(0.0, f64::max);
        let left = (widest + 12.0).clamp(24.0, width * 0.4);
        let cell_width = (width - left - 1.0) / map.x.names.len().max(1) as f64;
        // The legend, its ends, the vertical parameter's label.
        let top = LINE + LEGEND_HEIGHT + LINE + 12.0 + LINE;
        let x_names: Vec<Vec<String>> = map.x.names.iter().map(|name| wrap(name, cell_width - 4.0, 3)).collect();
        let lines = x_names.iter().map(Vec::len).max().unwrap_or(1);
        let height = top + map.rows.len() as f64 * CELL_HEIGHT + (lines + 1) as f64 * LINE + 12.0;
        Self {
            map,
            layout,
            left,
            top,
            cell_width,
            x_names,
            height,
        }
    }

    fn write(&self, out: &mut String, id: &str) -> std::fmt::Result {
        let HeatMap { title, note, .. } = self.map;
        self.layout
            .write_head(out, "chart heat", self.height, id, title, &self.description(note))?;
        self.write_legend(out)?;
        self.write_names(out)?;
        let mut marked = String::new();
        for (row, cells) in self.map.rows.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                self.write_cell(out, row, column, cell)?;
                if cell.marked {
                    let size = (self.cell_width - 1.0, CELL_HEIGHT - 1.0);
                    write_cell_frame(&mut marked, self.corner(row, column), size)?;
                }
            }
        }
        writeln!(out, "{marked}</svg>")
    }

    /// The description for screen readers.
    fn description(&self, note: &str) -> String {
        let HeatMap { x, y, value, scale, .. } = self.map;
        let [low, high] = &scale.ends;
        let text = format!("{note} {value} by {} and {}, from {low} to {high}.", x.label, y.label);
        text.trim_start().to_owned()
    }

    /// The left top corner of a cell; the first row is the lowest.
    fn corner(&self, row: usize, column: usize) -> (f64, f64) {
        let from_top = self.map.rows.len() - 1 - row;
        (
            self.left + column as f64 * self.cell_width,
            self.top + from_top as f64 * CELL_HEIGHT,
        )
    }

    fn write_cell(&self, out: &mut String, row: usize, column: usize, cell: &HeatCell) -> std::fmt::Result {
        let (x, y) = self.corner(row, column);
        let colour = Rgb::at(self.map.scale.share(cell.value));
        let (detail, fill) = (Text(&cell.detail), colour.hex());
        let field = rectangle((x, y), (self.cell_width - 1.0, CELL_HEIGHT - 1.0));
        write!(out, "<g><title>{detail}</title><rect {field} fill=\"{fill}\"/>")?;
        let room = self.cell_width - 1.0 - 2.0 * TEXT_MARGIN;
        if let Some(text) = cell.texts.iter().find(|text| text_width(text) * CELL_TEXT <= room) {
            let class = if colour.wants_white_text() {
                "on-dark"
            } else {
                "on-light"
            };
            let class = format!("cell {class}{}", if cell.marked { " framed" } else { "" });
            let middle = (x + (self.cell_width - 1.0) / 2.0, y + CELL_HEIGHT / 2.0 + 4.0);
            write_text(out, &class, middle, Some(Anchor::Middle), text)?;
        }
        writeln!(out, "</g>")
    }

    fn write_legend(&self, out: &mut String) -> std::fmt::Result {
        let head = shorten(&self.map.value, self.layout.width());
        write_text(out, "legend", (0.0, 13.0), None, &head)?;
        out.push_str("<g>");
        let step = LEGEND_WIDTH / LEGEND_STEPS as f64;
        for nth in 0..LEGEND_STEPS {
            // Half a px wider, so that no gap shows between steps.
            let width = step + if nth + 1 < LEGEND_STEPS { 0.5 } else { 0.0 };
            let field = rectangle((nth as f64 * step, LINE), (width, LEGEND_HEIGHT));
            let fill = Rgb::at((nth as f64 + 0.5) / LEGEND_STEPS as f64).hex();
            write!(out, "<rect {field} fill=\"{fill}\"/>")?;
        }
        if self.map.rows.iter().flatten().flatten().any(|cell| cell.marked) {
            let (left, width) = (LEGEND_WIDTH + 20.0, 26.0);
            write_cell_frame(out, (left, LINE), (width, LEGEND_HEIGHT))?;
            let text = shorten(&self.map.framed, self.layout.width() - left - width - 8.0);
            let at = (left + width + 8.0, LINE + LEGEND_HEIGHT - 1.5);
            write_text(out, "legend", at, None, &text)?;
        }
        out.push_str("</g>");
        let y = LINE + LEGEND_HEIGHT + 14.0;
        let [low, high] = &self.map.scale.ends;
        write_text(out, "", (0.0, y), None, low)?;
        write_text(out, "", (LEGEND_WIDTH, y), Some(Anchor::End), high)?;
        writeln!(out)
    }

    fn write_names(&self, out: &mut String) -> std::fmt::Result {
        let width = self.layout.width();
        let HeatMap { x, y, rows, .. } = self.map;
        write_text(
            out,
            "axis-title",
            (0.0, self.top - 7.0),
            None,
            &shorten(&y.label, width),
        )?;
        for (row, name) in y.names.iter().take(rows.len()).enumerate() {
            let (_, top) = self.corner(row, 0);
            let (text, at) = (
                shorten(name, self.left - 8.0),
                (self.left - 8.0, top + CELL_HEIGHT / 2.0 + 4.0),
            );
            write_text(out, "", at, Some(Anchor::End), &text)?;
        }
        let bottom = self.top + rows.len() as f64 * CELL_HEIGHT;
        for (column, lines) in self.x_names.iter().enumerate() {
            let centre = self.left + (column as f64 + 0.5) * self.cell_width;
            for (line, text) in lines.iter().enumerate() {
                let at = (centre, bottom + 16.0 + line as f64 * LINE);
                write_text(out, "", at, Some(Anchor::Middle), text)?;
            }
        }
        let (text, at) = (shorten(&x.label, width), (width - 2.0, self.height - 8.0));
        write_text(out, "axis-title", at, Some(Anchor::End), &text)?;
        writeln!(out)
    }
}

/// A frame of two lines, light and dark, which stands out from every colour.
fn write_cell_frame(out: &mut String, corner: (f64, f64), size: (f64, f64)) -> std::fmt::Result {
    for class in ["frame", "frame inner"] {
        writeln!(out, "<rect class=\"{class}\" {}/>", rectangle(corner, size))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(value: f64) -> Option<HeatCell> {
        Some(HeatCell {
            value,
            texts: vec![format!("{value:.6}"), format!("{value:.1}")],
            detail: format!("it is {value}"),
            marked: false,
        })
    }

    fn map(rows: Vec<Vec<Option<HeatCell>>>) -> HeatMap {
        let names = |count: usize| (0..count).map(|n| n.to_string()).collect();
        HeatMap {
            title: "A field".to_owned(),
            note: "Less is better.".to_owned(),
            x: Parameter {
                label: "Window bits".to_owned(),
                names: names(rows.first().map_or(0, Vec::len)),
            },
            y: Parameter {
                label: "Mem level".to_owned(),
                names: names(rows.len()),
            },
            value: "Ratio".to_owned(),
            framed: "the best".to_owned(),
            scale: ColourScale {
                low: 0.0,
                high: 1.0,
                log: false,
                ends: ["0.0".to_owned(), "1.0".to_owned()],
            },
            rows,
        }
    }

    #[test]
    fn the_least_is_darkest_and_the_most_is_lightest() {
        let drawn = svg(&map(vec![vec![cell(0.0), cell(1.0)]]), Layout::Wide, "a");
        let fill = |value: &str| {
            let at = drawn.find(&format!("it is {value}")).expect("the cell is drawn");
            drawn[at..]
                .split("fill=\"")
                .nth(1)
                .and_then(|rest| rest.get(..7))
                .expect("it has a colour")
        };
        assert_eq!((fill("0<"), fill("1<")), ("#360761", "#f4ea62"));
        assert!(drawn.contains("class=\"cell on-dark\"") && drawn.contains("class=\"cell on-light\""));
    }

    #[test]
    fn every_value_is_in_a_tool_tip_and_its_text_is_as_long_as_fits() {
        let rows = vec![(0..8).map(|n| cell(f64::from(n) / 8.0)).collect()];
        let (wide, narrow) = (
            svg(&map(rows.clone()), Layout::Wide, "a"),
            svg(&map(rows), Layout::Narrow, "a"),
        );
        for drawn in [&wide, &narrow] {
            assert_eq!(drawn.matches("<title>it is").count(), 8);
        }
        assert!(wide.contains(">0.125000<") && !wide.contains(">0.1<"));
        assert!(narrow.contains(">0.1<") && !narrow.contains(">0.125000<"));
    }

    #[test]
    fn a_cell_without_a_value_stays_empty_and_a_marked_one_is_framed_last() {
        let mut rows = vec![vec![cell(0.5), None], vec![None, cell(0.25)]];
        if let Some(cell) = &mut rows[0][0] {
            cell.marked = true;
        }
        let drawn = svg(&map(rows), Layout::Wide, "a");
        assert_eq!(drawn.matches("<title>it is").count(), 2);
        // Once in the legend, which explains it, and once around the cell.
        assert_eq!(drawn.matches("class=\"frame").count(), 4);
        assert!(drawn.contains(">the best</text>"));
        assert!(drawn.rfind("class=\"frame").unwrap() > drawn.rfind("<title>it is").unwrap());
    }

    #[test]
    fn a_legend_names_no_frame_where_no_cell_has_one() {
        let drawn = svg(&map(vec![vec![cell(0.5)]]), Layout::Wide, "a");
        assert!(!drawn.contains("class=\"frame") && !drawn.contains("the best"));
    }

    #[test]
    fn the_first_row_is_the_lowest() {
        let field = map(vec![vec![cell(0.5)], vec![cell(0.25)]]);
        let field = Field::new(&field, Layout::Wide);
        assert!(field.corner(0, 0).1 > field.corner(1, 0).1);
    }

    #[test]
    fn a_logarithmic_scale_has_equal_factors_at_equal_distances() {
        let scale = ColourScale {
            low: 1.0,
            high: 16.0,
            log: true,
            ends: [String::new(), String::new()],
        };
        assert_eq!((scale.share(4.0), scale.share(16.0)), (0.5, 1.0));
        assert_eq!(scale.share(0.0), 0.5, "what has no place is given the middle");
    }

    #[test]
    fn a_field_of_nothing_is_still_a_drawing() {
        for layout in [Layout::Wide, Layout::Narrow] {
            let drawn = svg(&map(Vec::new()), layout, "a");
            assert!(drawn.ends_with("</svg>\n") && !drawn.contains("NaN") && !drawn.contains("inf"));
        }
    }
}
