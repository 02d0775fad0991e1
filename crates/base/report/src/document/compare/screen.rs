//! A comparison on one screen: the rules that broke, else the changes that are more than noise, the largest first.

use super::{answer, breach_cells, interval_text, joint_name, unmatched_text};
use crate::compare::rule::RuleOutcome;
use crate::compare::{CellComparison, Change, Comparison, Side, Verdict};
use crate::document::{Grid, factors, readable};
use crate::number::{NO_NUMBER, counted, quantity, signed_percent};
use crate::screen::Screen;

pub(super) fn screen(comparison: &Comparison) -> Screen {
    let broken: Vec<&RuleOutcome> = comparison.rules.iter().filter(|outcome| outcome.is_broken()).collect();
    let undecided = comparison.undecided_rules();
    let (before, after) = (&comparison.before, &comparison.after);
    let mut doubts: Vec<String> = comparison.unmatched.iter().map(unmatched_text).collect();
    if doubts.len() > 1 {
        doubts = vec![format!(
            "unmatched-cell: {}",
            counted(doubts.len() as u64, "cell") + " are in one of the runs alone"
        )];
    }
    doubts.splice(..0, Screen::doubt_texts(&comparison.doubts));
    let rules = match (comparison.rules.len(), broken.len()) {
        (0, _) => String::new(),
        (all, 0) if undecided.is_empty() => format!(" {} held.", counted(all as u64, "rule")),
        (_, 0) => format!(" Undecided: {}.", undecided[0].trim_end_matches('.')),
        (all, count) => format!(
            " {count} of {} BROKEN: {}.",
            counted(all as u64, "rule"),
            broken[0].rule
        ),
    };
    Screen {
        question: format!("{} against {}, {}.", name(after), name(before), settings(comparison)),
        table: Some(if broken.is_empty() {
            changes(comparison)
        } else {
            breaches(&broken)
        })
        .filter(|grid| !grid.rows.is_empty()),
        spare_columns: vec!["95 % interval"],
        doubts,
        answer: counts_text(comparison) + &rules,
        ..Screen::default()
    }
}

/// The folder of a run; its study, where it was not kept in a folder.
fn name(side: &Side) -> &str {
    if side.run.is_empty() { &side.study } else { &side.run }
}

/// What the two runs were made with, where they differ.
fn settings(comparison: &Comparison) -> String {
    let (before, after) = (&comparison.before, &comparison.after);
    let pairs = [
        ("study", before.study.clone(), after.study.clone()),
        ("world", before.world.clone(), after.world.clone()),
        ("cost table", before.cpu.clone(), after.cpu.clone()),
        ("seed", before.seed.to_string(), after.seed.to_string()),
        ("lastmile", before.version.clone(), after.version.clone()),
    ];
    let differing = pairs.iter().filter(|(_, before, after)| before != after);
    let texts: Vec<String> = differing
        .map(|(name, before, after)| format!("{name} {before} → {after}"))
        .collect();
    if texts.is_empty() {
        format!("both of {}, seed {}", after.study, after.seed)
    } else {
        texts.join(", ")
    }
}

fn counts_text(comparison: &Comparison) -> String {
    let text = answer(comparison);
    let counts = text.rsplit_once(": ").map_or(text.as_str(), |(_, counts)| counts);
    let all = comparison.cells.iter().map(|cell| cell.changes.len() as u64).sum();
    format!("Of {}: {counts}", counted(all, "figure"))
}

fn breaches(broken: &[&RuleOutcome]) -> Grid {
    let mut rows = Vec::new();
    for outcome in broken {
        if outcome.checked == 0 {
            rows.push(vec![outcome.rule.clone(), "no figure to check".to_owned()]);
        }
        for breach in &outcome.breaches {
            let [cell, figure, before, after, change, interval] = breach_cells(breach);
            let place = format!("{figure}, {cell}");
            rows.push(vec![outcome.rule.clone(), place, before, after, change, interval]);
        }
        if let Some(joint) = outcome.joint.as_ref().filter(|joint| joint.broken) {
            let change = signed_percent(joint.change);
            let interval = interval_text(joint.interval);
            rows.push(vec![
                outcome.rule.clone(),
                joint_name(joint),
                String::new(),
                String::new(),
                change,
                interval,
            ]);
        }
    }
    Grid::new("", "")
        .word_columns(["BROKEN rule", "in"])
        .figure_columns(["before", "after", "change", "95 % interval"])
        .plain_rows(rows)
}

fn changes(comparison: &Comparison) -> Grid {
    let cells = comparison.cells.iter();
    let all = cells.flat_map(|cell| cell.changes.iter().map(move |(name, change)| (cell, name, change)));
    let mut changes: Vec<(&CellComparison, &String, &Change)> = all
        .filter(|(_, _, change)| change.verdict != Verdict::WithinNoise)
        .collect();
    let rank = |change: &Change| match change.verdict {
        Verdict::Worse => 0,
        Verdict::Better => 1,
        Verdict::Different => 2,
        Verdict::WithinNoise | Verdict::Unknown => 3,
    };
    changes.sort_by(|(_, _, one), (_, _, other)| {
        let size = |change: &Change| change.change.map_or(f64::INFINITY, f64::abs);
        rank(one).cmp(&rank(other)).then(size(other).total_cmp(&size(one)))
    });
    let (differ, _) = factors(comparison.cells.iter().map(|cell| &cell.levels));
    let row = |(cell, name, change): &(&CellComparison, &String, &Change)| {
        let levels = differ.iter().filter_map(|name| cell.levels.get(name));
        let place = cell.part.iter().map(|part| readable(part)).chain(levels.cloned());
        vec![
            readable(name),
            quantity(change.before, &change.unit),
            quantity(change.after, &change.unit),
            change.change.map_or_else(|| NO_NUMBER.to_owned(), signed_percent),
            change.change_ci95.map_or_else(String::new, interval_text),
            change.verdict.words().to_owned(),
            place.collect::<Vec<_>>().join(", "),
        ]
    };
    Grid::new("", "")
        .word_columns(["figure"])
        .figure_columns(["before", "after", "change", "95 % interval"])
        .word_columns(["", "in"])
        .plain_rows(changes.iter().map(row))
}
