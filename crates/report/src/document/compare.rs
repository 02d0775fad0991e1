//! Which tables and sentences show a comparison?

use super::{Block, Grid, Tone, factors, levels_text, readable};
use crate::compare::{Change, Comparison, Unmatched, Verdict};
use crate::number::{NO_NUMBER, quantity, signed_percent};
use crate::record::{Doubt, Levels};

/// The comparison: the verdicts counted, broken rules, then every change that is more than noise.
pub(crate) fn for_terminal(comparison: &Comparison) -> Vec<Block> {
    let mut blocks = vec![Block::Answer(answer(comparison))];
    blocks.extend(rules(comparison));
    blocks.push(Block::Grid(changes(comparison)));
    let unmatched = comparison.unmatched.iter().map(|cell| Doubt {
        kind: "unmatched-cell".to_owned(),
        text: alone(cell),
    });
    let doubts: Vec<Doubt> = comparison.doubts.iter().cloned().chain(unmatched).collect();
    if !doubts.is_empty() {
        blocks.push(Block::Doubts(doubts));
    }
    blocks
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
    let told = order.into_iter().filter(|verdict| count(*verdict) > 0);
    let told: Vec<String> = told
        .map(|verdict| format!("{} {}", count(verdict), verdict.words()))
        .collect();
    format!(
        "{} against {}: {}.",
        comparison.after.run,
        comparison.before.run,
        told.join(", ")
    )
}

fn rules(comparison: &Comparison) -> Option<Block> {
    if comparison.rules.is_empty() {
        return None;
    }
    let mut grid = Grid::new("Rules", "What must not be.")
        .words(["rule", "held", "cell", "figure"])
        .figures(["before", "after", "change"]);
    for outcome in &comparison.rules {
        let row = |held: &str, rest: [String; 5]| {
            let mut cells = vec![outcome.rule.clone(), held.to_owned()];
            cells.extend(rest);
            cells
        };
        match (outcome.checked, outcome.breaches.as_slice()) {
            (0, _) => grid.row(row("no: no figure to check", Default::default()), Tone::Bad, &[]),
            (checked, []) => grid.row(
                row(&format!("yes, by {checked} figures"), Default::default()),
                Tone::Plain,
                &[],
            ),
            (_, breaches) => {
                for breach in breaches {
                    let rest = [
                        place(breach.part.as_deref(), &breach.levels),
                        readable(&breach.figure),
                        quantity(breach.before, &breach.unit),
                        quantity(breach.after, &breach.unit),
                        breach.change.map_or_else(|| NO_NUMBER.to_owned(), signed_percent),
                    ];
                    grid.row(row("no", rest), Tone::Bad, &[]);
                }
            }
        }
    }
    Some(Block::Grid(grid))
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
    let mut note = "Means, and their change as a share of the mean before.".to_owned();
    if hidden > 0 {
        note += &format!(" {hidden} figures within noise are left out.");
    }
    let mut grid = Grid::new("Changes", super::with_shared(&note, &shared));
    let parts = comparison.cells.iter().any(|cell| cell.part.is_some());
    grid = grid
        .words(parts.then_some("part"))
        .words(&differ)
        .words(["figure"])
        .figures(["before", "after", "change", "95 % interval"])
        .words(["verdict"]);
    for cell in &comparison.cells {
        for (name, change) in cell.changes.iter().filter(|(_, change)| !noise(change)) {
            let mut row = super::row_head(parts.then_some(&cell.part), &cell.levels, &differ);
            row.push(readable(name));
            row.extend([change.before, change.after].map(|value| quantity(value, &change.unit)));
            row.push(change.change.map_or_else(|| NO_NUMBER.to_owned(), signed_percent));
            let interval = |[low, high]: [f64; 2]| format!("{} to {}", signed_percent(low), signed_percent(high));
            row.push(change.change_ci95.map_or_else(String::new, interval));
            let tone = match change.verdict {
                Verdict::Better => Tone::Good,
                Verdict::Worse => Tone::Bad,
                Verdict::Different | Verdict::WithinNoise => Tone::Plain,
                Verdict::Unknown => Tone::Invalid,
            };
            row.push(change.verdict.words().to_owned());
            grid.row(row, tone, &cell.doubts);
        }
    }
    grid
}

fn alone(cell: &Unmatched) -> String {
    let side = if cell.before { "before" } else { "after" };
    format!("only the run {side} has {}", place(cell.part.as_deref(), &cell.levels))
}

fn place(part: Option<&str>, levels: &Levels) -> String {
    part.map_or_else(
        || levels_text(levels),
        |part| format!("{part}: {}", levels_text(levels)),
    )
}
