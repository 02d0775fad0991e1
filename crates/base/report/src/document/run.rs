//! The tables and sentences of a run.

mod screen;

use super::{
    Block, Detail, Grid, Record, RowEmphasis, factors, levels_text, readable, row_head, standing, with_shared,
};
use crate::csv::{self, Rows};
use crate::number::{interval, mean_and_spread, percent, quantity, with_decimals};
use crate::record::{Cell, Figure, Published, Ratio, Run};
use crate::screen::Screen;
use std::collections::{BTreeMap, BTreeSet};

impl Record for Run {
    /// The run in the order of a terminal: the findings, then the tables that they are made from.
    fn blocks(&self, detail: Detail) -> Vec<Block> {
        let cells_at_most = match detail {
            Detail::Short => CELLS_IN_A_TERMINAL,
            Detail::Long | Detail::All => usize::MAX,
        };
        let mut blocks = vec![Block::Heading(self.study.clone()), Block::Text(self.question.clone())];
        blocks.extend(findings(self));
        blocks.extend(thresholds(self));
        if self.cells.len() <= cells_at_most {
            blocks.extend(cells(self));
        } else {
            let all = self.cells.len();
            blocks.push(Block::Text(format!(
                "The run has {all} cells, too many to show here (more than {cells_at_most}): their figures are in the report, and in the formats json, \
                 csv and md."
            )));
        }
        for block in ratios(self).into_iter().chain(exhibits(self)) {
            match block {
                Block::Grid(grid) if grid.rows.len() > cells_at_most => blocks.push(Block::Text(format!(
                    "The table {:?} has {} rows: it is in the report, and in the format md.",
                    grid.title,
                    grid.rows.len()
                ))),
                shown => blocks.push(shown),
            }
        }
        blocks.push(Block::Text(provenance_text(self)));
        blocks
    }

    fn rows(&self) -> Rows {
        csv::run(self)
    }

    fn screen(&self) -> Option<Screen> {
        Some(screen::screen(self))
    }
}

/// A terminal shows no more cells than this: more would push everything else out of sight. Our own choice.
const CELLS_IN_A_TERMINAL: usize = 40;

/// The first finding, which answers the study's question.
pub(crate) fn answer(run: &Run) -> Option<Block> {
    Some(Block::Answer(run.findings.first()?.text.clone()))
}

/// The findings.
pub(crate) fn findings(run: &Run) -> Vec<Block> {
    run.findings.iter().cloned().map(Block::Finding).collect()
}

/// Tables beside the cells.
pub(crate) fn exhibits(run: &Run) -> Vec<Block> {
    run.exhibits.iter().map(|table| Block::Grid(table.into())).collect()
}

/// Tables of each part: factors, then figures with their spread, as many side by side as stay readable.
pub(crate) fn cells(run: &Run) -> Vec<Block> {
    const SIDE_BY_SIDE: usize = 5;
    let mut blocks = Vec::new();
    for (part, cells) in parts(run) {
        let title = part.map_or_else(|| "Figures".to_owned(), |part| format!("Figures: {}", readable(part)));
        let names: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.figures.keys()).collect();
        let names: Vec<&String> = names.into_iter().collect();
        for (at, names) in names.chunks(SIDE_BY_SIDE).enumerate() {
            let title = if at == 0 {
                title.clone()
            } else {
                format!("{title}, continued")
            };
            blocks.push(Block::Grid(figures_grid(title, &cells, names)));
        }
    }
    blocks
}

/// Every statistic of every figure.
pub(crate) fn statistics(run: &Run) -> Vec<Block> {
    let names: BTreeSet<&String> = run.cells.iter().flat_map(|cell| cell.figures.keys()).collect();
    names
        .into_iter()
        .map(|name| Block::Grid(statistics_of(run, name)))
        .collect()
}

/// Ratios, measured beside published: one table for all ratios of one name that differ in the same factors.
pub(crate) fn ratios(run: &Run) -> Vec<Block> {
    let mut groups: Vec<(&str, Vec<&String>, Vec<&Ratio>)> = Vec::new();
    for ratio in &run.ratios {
        let keys: Vec<&String> = ratio.levels.keys().collect();
        match groups
            .iter_mut()
            .find(|(name, known, _)| *name == ratio.name && *known == keys)
        {
            Some((_, _, ratios)) => ratios.push(ratio),
            None => groups.push((&ratio.name, keys, vec![ratio])),
        }
    }
    groups
        .iter()
        .map(|(name, _, ratios)| Block::Grid(ratios_grid(name, ratios)))
        .collect()
}

fn ratios_grid(name: &str, ratios: &[&Ratio]) -> Grid {
    let (differ, shared) = factors(ratios.iter().map(|ratio| &ratio.levels));
    let note = with_shared("Mean over pairs of repeats, ± population deviation.", &shared);
    let any_published = ratios.iter().any(|ratio| ratio.published.is_some());
    let mut grid = Grid::new(format!("Ratio: {}", readable(name)), note)
        .word_columns(&differ)
        .figure_columns(["measured", "95 % interval"]);
    if any_published {
        grid = grid.figure_columns(["published", "measured - published"]);
    }
    for ratio in ratios {
        let mut cells = row_head(None, &ratio.levels, &differ);
        cells.push(if ratio.n < 2 {
            quantity(ratio.mean, "1")
        } else {
            crate::number::spread(ratio.mean, ratio.population_sd, "1")
        });
        cells.push(
            ratio
                .ci95
                .map_or_else(|| "nothing varied".to_owned(), |ci| interval(ci, "1")),
        );
        if any_published {
            cells.push(ratio.published.map_or_else(String::new, published));
            cells.push(difference(ratio));
        }
        grid.row(cells, RowEmphasis::Plain, &[]);
    }
    grid
}

/// The thresholds, and whether they held; none where none was set.
pub(crate) fn thresholds(run: &Run) -> Option<Block> {
    if run.thresholds.is_empty() {
        return None;
    }
    let any_part = run.thresholds.iter().any(|threshold| threshold.part.is_some());
    let part_head = any_part.then_some("part");
    let mut grid = Grid::new("Thresholds", "")
        .word_columns(["rule"].into_iter().chain(part_head).chain(["cell"]))
        .figure_columns(["found"])
        .word_columns(["held"]);
    for threshold in &run.thresholds {
        let (held, tone) = standing(threshold);
        let found = screen::threshold_value(run, threshold);
        let mut cells = vec![threshold.rule.clone()];
        if any_part {
            cells.push(threshold.part.as_deref().map_or_else(String::new, readable));
        }
        cells.extend([levels_text(&threshold.levels), found, held.to_owned()]);
        grid.row(cells, tone, &[]);
    }
    Some(Block::Grid(grid))
}

/// The world, seed, cost table and version of the run.
pub(crate) fn provenance_text(run: &Run) -> String {
    format!(
        "World {}, seed {}, cost table {} ({}), lastmile {}.",
        run.world, run.seed, run.cpu, run.cpu_machine, run.version
    )
}

/// The published value of a figure, if there is one, on a line of its own.
fn published_of(figure: &Figure) -> String {
    match figure.published {
        None => String::new(),
        Some(Published::Value(value)) => format!("\npublished {}", quantity(value, &figure.unit)),
        Some(Published::Range(range)) => format!("\npublished {}", interval(range, &figure.unit)),
    }
}

/// As printed by the authors: `0.93`, `0.004 to 0.022`.
fn published(published: Published) -> String {
    match published {
        Published::Value(value) => value.to_string(),
        Published::Range([low, high]) => format!("{low} to {high}"),
    }
}

/// Measured minus published, to the published value's precision and one digit more; for a range, whether it lies inside.
fn difference(ratio: &Ratio) -> String {
    match ratio.published {
        None => String::new(),
        Some(Published::Value(value)) => signed(ratio.mean - value),
        Some(Published::Range([low, high])) if (low..=high).contains(&ratio.mean) => "inside".to_owned(),
        Some(Published::Range([low, high])) => {
            let distance = if ratio.mean < low {
                ratio.mean - low
            } else {
                ratio.mean - high
            };
            format!("{} outside", signed(distance))
        }
    }
}

fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", with_decimals(value, 3))
}

/// Cells by part, parts in the order in which they first occur.
fn parts(run: &Run) -> Vec<(Option<&str>, Vec<&Cell>)> {
    let mut parts: Vec<(Option<&str>, Vec<&Cell>)> = Vec::new();
    for cell in &run.cells {
        let part = cell.part.as_deref();
        match parts.iter_mut().find(|(name, _)| *name == part) {
            Some((_, cells)) => cells.push(cell),
            None => parts.push((part, vec![cell])),
        }
    }
    parts
}

fn figures_grid(title: String, cells: &[&Cell], names: &[&String]) -> Grid {
    let (differ, shared) = factors(cells.iter().map(|cell| &cell.levels));
    let per: BTreeMap<&String, &Figure> = cells.iter().flat_map(|cell| &cell.figures).collect();
    let mut grid = Grid::new(title, with_shared("Mean ± population deviation.", &shared))
        .word_columns(&differ)
        .figure_columns(["repeats"])
        .figure_columns(
            names
                .iter()
                .map(|name| format!("{} / {}", readable(name), per[*name].per)),
        );
    for cell in cells {
        let mut row = row_head(None, &cell.levels, &differ);
        row.push(if cell.failed == 0 {
            cell.repeats.to_string()
        } else {
            format!("{}, {} failed", cell.repeats, cell.failed)
        });
        row.extend(names.iter().map(|name| {
            let Some(figure) = cell.figures.get(*name) else {
                return String::new();
            };
            let measured = mean_and_spread(figure);
            let shown = if cell.valid {
                measured
            } else {
                format!("invalid ({measured})")
            };
            shown + &published_of(figure)
        }));
        grid.row(row, emphasis(cell), &cell.doubts);
    }
    grid
}

fn emphasis(cell: &Cell) -> RowEmphasis {
    if cell.valid {
        RowEmphasis::Plain
    } else {
        RowEmphasis::Invalid
    }
}

fn statistics_of(run: &Run, name: &str) -> Grid {
    let having: Vec<(&Cell, &Figure)> = run
        .cells
        .iter()
        .filter_map(|cell| Some((cell, cell.figures.get(name)?)))
        .collect();
    let (differ, shared) = factors(having.iter().map(|(cell, _)| &cell.levels));
    let parts = having.iter().any(|(cell, _)| cell.part.is_some());
    let mut grid = Grid::new(
        readable(name),
        with_shared("The population sd divides by n, the sd by n - 1.", &shared),
    )
    .word_columns(parts.then_some("part"))
    .word_columns(&differ)
    .figure_columns([
        "n",
        "mean",
        "population sd",
        "sd",
        "population sd / mean",
        "median",
        "p95",
        "p99",
        "95 % interval of the mean",
        "first run",
        "the rest",
    ])
    .word_columns(["varied"]);
    for (cell, figure) in having {
        let mut row = row_head(parts.then_some(&cell.part), &cell.levels, &differ);
        let show = |value: Option<f64>| value.map_or_else(String::new, |value| quantity(value, &figure.unit));
        let quantile = |p: &str| show(figure.quantiles.get(p).copied());
        row.push(figure.n.to_string());
        row.extend([
            show(Some(figure.mean)),
            show(Some(figure.population_sd)),
            show(figure.sd),
        ]);
        row.push(figure.population_sd_ratio.map_or_else(String::new, percent));
        row.extend(["0.5", "0.95", "0.99"].map(quantile));
        row.push(figure.ci95.map_or_else(String::new, |ci| interval(ci, &figure.unit)));
        row.extend([0, 1].map(|at| show(figure.first_against_rest.map(|pair| pair[at]))));
        row.push(if figure.varied.is_empty() {
            "nothing".to_owned()
        } else {
            figure.varied.join(", ")
        });
        grid.row(row, emphasis(cell), &cell.doubts);
    }
    grid
}
