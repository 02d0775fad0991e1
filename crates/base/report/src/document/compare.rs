//! The tables and sentences of a comparison.

mod screen;

use super::{Block, Detail, Grid, Note, Record, RowEmphasis, factors, levels_text, readable};
use crate::compare::rule::{Breach, JointChange};
use crate::compare::{Change, Comparison, UNDECIDED, Unmatched, Verdict};
use crate::csv::{self, Rows};
use crate::number::{NO_NUMBER, quantity, signed_percent};
use crate::record::Levels;
use crate::screen::Screen;

impl Record for Comparison {
    /// The comparison: the verdicts counted, the rules, then every change that is more than noise.
    fn blocks(&self, _: Detail) -> Vec<Block> {
        let mut blocks = vec![Block::Answer(answer(self))];
        blocks.extend(rules(self));
        blocks.push(Block::Grid(changes(self)));
        let unmatched = self.unmatched.iter();
        let unmatched = unmatched.map(|cell| Note::new("unmatched-cell", unmatched_text(cell)));
        blocks.extend(Block::notes(&self.doubts, unmatched));
        blocks
    }

    fn rows(&self) -> Rows {
        csv::comparison(self)
    }

    fn screen(&self) -> Option<Screen> {
        Some(screen::screen(self))
    }
}

fn answer(comparison: &Comparison) -> String {
    let count = |verdict| {
        let all = comparison.cells.iter().flat_map(|cell| cell.changes.values());
        all.filter(|change| change.verdict == verdict).count()
    };
    let order = [
        Verdict::Worse,
        Verdict::Better,
        Verdict::Different,
        Verdict::WithinNoise,
        Verdict::Unknown,
    ];
    let parts = order.into_iter().filter(|verdict| count(*verdict) > 0);
    let parts: Vec<String> = parts
        .map(|verdict| format!("{} {}", count(verdict), verdict.words()))
        .collect();
    format!(
        "{} against {}: {}.",
        comparison.after.run,
        comparison.before.run,
        parts.join(", ")
    )
}

fn rules(comparison: &Comparison) -> Option<Block> {
    if comparison.rules.is_empty() {
        return None;
    }
    let note = if comparison.strict {
        "Changes that must not happen. A rule is broken where a change is beyond its bound, even if that may be noise."
    } else {
        "Changes that must not happen. A rule is broken where the whole interval of a change is beyond its bound; all intervals of a rule hold \
         together with 95 %."
    };
    let mut grid = Grid::new("Rules", note)
        .word_columns(["rule", "held", "cell", "figure"])
        .figure_columns(["before", "after", "change", "interval"]);
    for outcome in &comparison.rules {
        let row = |held: &str, rest: [String; 6]| {
            let mut cells = vec![outcome.rule.clone(), held.to_owned()];
            cells.extend(rest);
            cells
        };
        if outcome.checked == 0 {
            grid.row(row("no: no figure to check", Default::default()), RowEmphasis::Bad, &[]);
            continue;
        }
        if !outcome.is_broken() && !outcome.is_undecided() {
            let held = format!("yes, in {} figures", outcome.checked);
            grid.row(row(&held, Default::default()), RowEmphasis::Plain, &[]);
        }
        let listed = |held, breaches: &[Breach], tone, grid: &mut Grid| {
            for breach in breaches {
                grid.row(row(held, breach_cells(breach)), tone, &[]);
            }
        };
        listed("no", &outcome.breaches, RowEmphasis::Bad, &mut grid);
        // Those are all of one kind, since either all cells of a comparison share draws or none.
        let held = if outcome.undecided > 0 {
            "undecided"
        } else {
            "not proven"
        };
        listed(held, &outcome.unproven, RowEmphasis::Plain, &mut grid);
        if let Some(joint) = &outcome.joint {
            let mut rest: [String; 6] = Default::default();
            rest[0] = joint_name(joint);
            rest[4] = signed_percent(joint.change);
            rest[5] = interval_text(joint.interval);
            let (held, tone) = if joint.broken {
                ("no", RowEmphasis::Bad)
            } else {
                ("yes", RowEmphasis::Plain)
            };
            grid.row(row(held, rest), tone, &[]);
        }
    }
    Some(Block::Grid(grid))
}

/// The cells of a row on a change beyond a bound.
fn breach_cells(breach: &Breach) -> [String; 6] {
    [
        cell_name(breach.part.as_deref(), &breach.levels),
        readable(&breach.figure),
        quantity(breach.before, &breach.unit),
        quantity(breach.after, &breach.unit),
        breach.change.map_or_else(|| NO_NUMBER.to_owned(), signed_percent),
        breach.interval.map_or_else(String::new, interval_text),
    ]
}

fn joint_name(joint: &JointChange) -> String {
    format!("all {} that vary, together", joint.cells)
}

impl Comparison {
    /// What broke the rules, a sentence each: `mean(transfer_time)>+5%: transfer time 2 s before, 2.2 s after, +10 % (+7 % to +13 %) in link = wpt/3g`.
    pub fn broken_rules(&self) -> Vec<String> {
        let mut parts = Vec::new();
        for outcome in &self.rules {
            let mut tell = |what: String| parts.push(format!("{}: {what}", outcome.rule));
            if outcome.checked == 0 {
                tell("no cell has the figure in both runs".to_owned());
            }
            for breach in &outcome.breaches {
                let [cell, figure, before, after, change, interval] = breach_cells(breach);
                let interval = if interval.is_empty() {
                    interval
                } else {
                    format!(" ({interval})")
                };
                tell(format!(
                    "{figure} {before} before, {after} after, {change}{interval} in {cell}"
                ));
            }
            if let Some(joint) = outcome.joint.as_ref().filter(|joint| joint.broken) {
                let (change, interval) = (signed_percent(joint.change), interval_text(joint.interval));
                tell(format!("{change} ({interval}) in {}", joint_name(joint)));
            }
        }
        parts
    }
}

impl Comparison {
    /// The rules that could not be decided, a sentence each: why, and what would tell.
    pub fn undecided_rules(&self) -> Vec<String> {
        let undecided = self.rules.iter().filter(|outcome| outcome.is_undecided());
        undecided
            .map(|outcome| {
                format!(
                    "{}: {} of {} figures changed by more, between seeds {} and {}; {UNDECIDED}",
                    outcome.rule, outcome.undecided, outcome.checked, self.before.seed, self.after.seed
                )
            })
            .collect()
    }
}

fn interval_text([low, high]: [f64; 2]) -> String {
    format!("{} to {}", signed_percent(low), signed_percent(high))
}

fn changes(comparison: &Comparison) -> Grid {
    let noise = |change: &&Change| change.verdict == Verdict::WithinNoise;
    let hidden = comparison
        .cells
        .iter()
        .flat_map(|cell| cell.changes.values())
        .filter(noise)
        .count();
    let (differ, shared) = factors(comparison.cells.iter().map(|cell| &cell.levels));
    let mut note = "Means, and their change relative to the mean before.".to_owned();
    if hidden > 0 {
        note += &format!(" {hidden} figures within noise are left out.");
    }
    let mut grid = Grid::new("Changes", super::with_shared(&note, &shared));
    let parts = comparison.cells.iter().any(|cell| cell.part.is_some());
    grid = grid
        .word_columns(parts.then_some("part"))
        .word_columns(&differ)
        .word_columns(["figure"])
        .figure_columns(["before", "after", "change", "95 % interval"])
        .word_columns(["verdict"]);
    for cell in &comparison.cells {
        for (name, change) in cell.changes.iter().filter(|(_, change)| !noise(change)) {
            let mut row = super::row_head(parts.then_some(&cell.part), &cell.levels, &differ);
            row.push(readable(name));
            row.extend([change.before, change.after].map(|value| quantity(value, &change.unit)));
            row.push(change.change.map_or_else(|| NO_NUMBER.to_owned(), signed_percent));
            row.push(change.change_ci95.map_or_else(String::new, interval_text));
            let tone = match change.verdict {
                Verdict::Better => RowEmphasis::Good,
                Verdict::Worse => RowEmphasis::Bad,
                Verdict::Different | Verdict::WithinNoise => RowEmphasis::Plain,
                Verdict::Unknown => RowEmphasis::Invalid,
            };
            row.push(change.verdict.words().to_owned());
            grid.row(row, tone, &cell.doubts);
        }
    }
    grid
}

fn unmatched_text(cell: &Unmatched) -> String {
    let side = if cell.before { "before" } else { "after" };
    format!(
        "only the run {side} has {}",
        cell_name(cell.part.as_deref(), &cell.levels)
    )
}

fn cell_name(part: Option<&str>, levels: &Levels) -> String {
    part.map_or_else(
        || levels_text(levels),
        |part| format!("{part}: {}", levels_text(levels)),
    )
}
