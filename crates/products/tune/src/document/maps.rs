//! Heat maps of a grid: ratio and memory, each over two parameters.

use super::settings::remarks;
use super::{Detail, memory};
use crate::record::{Deflate, Direction, Point, Scope, Strategy, Tuning};
use lastmile_chart::heatmap::{ColourScale, HeatCell, HeatMap, Parameter};
use lastmile_report::document::{Block, Grid};
use lastmile_report::number::{quantity, with_decimals};

/// The levels that people choose among, besides the advised one: the fastest, the default, the one with the best ratio.
const LEVELS: [u8; 3] = [1, 6, 9];

/// Maps of a direction's grid: the main ones open, the others folded; none where the grid has a single point.
pub(super) fn maps(tuning: &Tuning, direction: Direction) -> Vec<Block> {
    let (advised, strategy) = match advised(tuning, direction) {
        Some(deflate) => (deflate, deflate.strategy),
        None => (Deflate::DEFAULT, Strategy::Default),
    };
    let points: Vec<&Point> = tuning
        .points
        .iter()
        .filter(|point| point.direction == direction && point.strategy == strategy)
        .collect();
    let atlas = Atlas { tuning, points };
    let mut levels: Vec<u8> = LEVELS.into_iter().chain([advised.level]).collect();
    levels.sort_unstable();
    levels.dedup();
    let by_mem_level = |level: u8, takeover: bool| {
        atlas.ratios(
            format!("Ratio by window and mem level, level {level}, {}", words(takeover)),
            &MEM_LEVEL,
            move |point| point.takeover == takeover && point.level == level,
        )
    };
    let by_level = |mem_level: u8, takeover: bool| {
        atlas.ratios(
            format!("Ratio by window and level, mem level {mem_level}, {}", words(takeover)),
            &LEVEL,
            move |point| point.takeover == takeover && point.mem_level == mem_level,
        )
    };
    let open = [
        by_mem_level(advised.level, true),
        by_level(advised.mem_level, true),
        atlas.memory(advised.level),
    ];
    let folded = levels
        .iter()
        .filter(|level| **level != advised.level)
        .map(|level| by_mem_level(*level, true))
        .chain([by_mem_level(advised.level, false), by_level(advised.mem_level, false)]);
    let folded: Vec<Block> = folded.flatten().map(Block::Heat).collect();
    let mut blocks: Vec<Block> = open.into_iter().flatten().map(Block::Heat).collect();
    if !folded.is_empty() {
        blocks.push(Block::Folded {
            summary: "Maps of other levels, and without takeover".to_owned(),
            blocks: folded,
        });
    }
    blocks
}

fn words(takeover: bool) -> &'static str {
    if takeover { "with takeover" } else { "without takeover" }
}

fn advised(tuning: &Tuning, direction: Direction) -> Option<Deflate> {
    let choice = tuning
        .answer
        .choices
        .iter()
        .find(|choice| choice.direction == direction && choice.scope == Scope::PermessageDeflate);
    choice.and_then(|choice| choice.deflate)
}

/// The vertical parameter of a map.
struct Vertical {
    label: &'static str,
    of: fn(&Point) -> u8,
}

const MEM_LEVEL: Vertical = Vertical {
    label: "Mem level (8: 128 KiB, 7: 64 KiB, …)",
    of: |point| point.mem_level,
};
const LEVEL: Vertical = Vertical {
    label: "Level (0 stores, 9 searches hardest)",
    of: |point| point.level,
};

/// The data that all maps of a direction are made from.
struct Atlas<'a> {
    tuning: &'a Tuning,
    points: Vec<&'a Point>,
}

impl Atlas<'_> {
    /// Ratios of the points that `shown` picks. All maps with takeover share one scale, and all maps without takeover another. Level 0
    /// (stored) is outside the scale, since it would leave all other cells in one colour.
    fn ratios(&self, title: String, vertical: &Vertical, shown: impl Fn(&Point) -> bool) -> Option<HeatMap> {
        let picked: Vec<&Point> = self.points.iter().copied().filter(|point| shown(point)).collect();
        let takeover = picked.first()?.takeover;
        let scaled = self.points.iter().filter(|point| {
            point.takeover == takeover && (point.level > 0 || picked.iter().all(|picked| picked.level == 0))
        });
        let scale = scale_over(scaled.map(|point| point.ratio), false, |value| with_decimals(value, 3))?;
        let texts = |point: &Point| {
            vec![
                with_decimals(point.ratio, 4),
                with_decimals(point.ratio, 3),
                with_decimals(point.ratio, 2),
            ]
        };
        let note = "Lower is better. Window bits 8 run as 9; level 0 (stored) is outside the scale. The table of every point has the figures.";
        Some(self.map(
            title,
            note,
            "Compressed / raw payload",
            scale,
            vertical,
            &picked,
            |point| point.ratio,
            texts,
        ))
    }

    /// The memory of a context, which does not depend on the level.
    fn memory(&self, level: u8) -> Option<HeatMap> {
        let picked: Vec<&Point> = self
            .points
            .iter()
            .copied()
            .filter(|point| point.takeover && point.level == level)
            .collect();
        let bytes = |point: &Point| point.memory_bytes as f64;
        let scale = scale_over(picked.iter().map(|point| bytes(point)), true, |value| {
            memory(value as u64)
        })?;
        let texts = |point: &Point| {
            let thousands = point.memory_bytes as f64 / 1e3;
            vec![
                memory(point.memory_bytes),
                with_decimals(thousands, if thousands < 99.95 { 1 } else { 0 }),
                with_decimals(thousands, 0),
            ]
        };
        let note = "The memory that one compressing context requests from its allocator. The scale is logarithmic.";
        Some(self.map(
            "Memory by window and mem level".to_owned(),
            note,
            "Memory of a context (kB)",
            scale,
            &MEM_LEVEL,
            &picked,
            bytes,
            texts,
        ))
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the differences between maps, passed by the two callers above"
    )]
    fn map(
        &self,
        title: String,
        note: &str,
        value: &str,
        scale: ColourScale,
        vertical: &Vertical,
        picked: &[&Point],
        of: impl Fn(&Point) -> f64,
        texts: impl Fn(&Point) -> Vec<String>,
    ) -> HeatMap {
        let sorted = |of: &dyn Fn(&Point) -> u8| {
            let mut all: Vec<u8> = picked.iter().map(|point| of(point)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let columns = sorted(&|point| point.window_bits);
        let rows = sorted(&vertical.of);
        let cell = |window_bits: u8, row: u8| {
            let point = picked
                .iter()
                .find(|point| point.window_bits == window_bits && (vertical.of)(point) == row)?;
            let remarks = remarks(self.tuning, point);
            Some(HeatCell {
                value: of(point),
                texts: texts(point),
                detail: detail(point, &remarks),
                marked: remarks.contains(&"to use"),
            })
        };
        HeatMap {
            title,
            note: note.to_owned(),
            x: Parameter {
                label: "Window bits (15: 32 KiB, 14: 16 KiB, …)".to_owned(),
                names: columns.iter().map(u8::to_string).collect(),
            },
            y: Parameter {
                label: vertical.label.to_owned(),
                names: rows.iter().map(u8::to_string).collect(),
            },
            value: value.to_owned(),
            framed: "to use".to_owned(),
            scale,
            rows: rows
                .iter()
                .map(|row| columns.iter().map(|bits| cell(*bits, *row)).collect())
                .collect(),
        }
    }
}

fn detail(point: &Point, remarks: &[&str]) -> String {
    let interval = match point.ratio_ci95 {
        Some([low, high]) => format!(" ({} to {})", with_decimals(low, 6), with_decimals(high, 6)),
        None => String::new(),
    };
    let computing = point.cpu_seconds.as_ref().map_or_else(String::new, |figure| {
        format!(", {} CPU per message", quantity(figure.mean, &figure.unit))
    });
    let remarks = if remarks.is_empty() {
        String::new()
    } else {
        format!(" ({})", remarks.join(", "))
    };
    format!(
        "{}{remarks}: ratio {}{interval}, {} B, context {} B{computing}",
        point.deflate().setting(),
        with_decimals(point.ratio, 6),
        with_decimals(point.compressed_bytes as f64, 0),
        with_decimals(point.memory_bytes as f64, 0),
    )
}

/// From the lowest to the highest of `values`; none if there are no values.
fn scale_over(values: impl Iterator<Item = f64>, log: bool, text: impl Fn(f64) -> String) -> Option<ColourScale> {
    let range = |range: Option<[f64; 2]>, value: f64| match range {
        None => Some([value, value]),
        Some([low, high]) => Some([low.min(value), high.max(value)]),
    };
    let [low, high] = values.filter(|value| value.is_finite()).fold(None, range)?;
    Some(ColourScale {
        low,
        high,
        log,
        ends: [text(low), text(high)],
    })
}

/// The grid in numbers, for readers without the drawings: ratio by window and mem level, at the advised level with takeover.
pub(super) fn ratio_table(tuning: &Tuning, direction: Direction, detail: Detail) -> Option<Block> {
    if detail != Detail::All {
        return None;
    }
    let found = maps(tuning, direction).into_iter().find_map(|block| match block {
        Block::Heat(map) => Some(map),
        _ => None,
    })?;
    let text = |cell: Option<HeatCell>| cell.and_then(|cell| cell.texts.into_iter().next()).unwrap_or_default();
    let row = |(name, cells): (String, Vec<_>)| [name].into_iter().chain(cells.into_iter().map(text)).collect();
    let grid = Grid::new(found.title, found.note)
        .figure_columns(["mem level"])
        .figure_columns(found.x.names)
        .plain_rows(found.y.names.into_iter().zip(found.rows).map(row));
    Some(Block::Grid(grid))
}
