//! What changed between two runs of a study, and is it more than noise?
//!
//! Cells are matched by part and levels, and each figure's mean is compared, with an interval where both runs give one. [`rule`]
//! holds what a caller may demand of the changes.

pub mod rule;
#[cfg(test)]
mod tests;

use crate::record::{Cell, Doubt, Figure, Levels, Run};
use rule::{Rule, RuleOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `lastmile compare` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// `lastmile/compare/1`.
    #[schemars(extend("const" = Comparison::SCHEMA))]
    pub schema: String,
    /// The run compared against.
    pub before: Side,
    /// The run compared.
    pub after: Side,
    /// Cells that both runs have, in the order of the run before.
    pub cells: Vec<CellComparison>,
    /// Cells that one run alone has.
    pub unmatched: Vec<Unmatched>,
    /// What was demanded, and what broke it.
    pub rules: Vec<RuleOutcome>,
    /// What makes the comparison suspect: other worlds, seeds or cost tables.
    pub doubts: Vec<Doubt>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The run folder.
    pub run: String,
    /// The study's name.
    pub study: String,
    /// `sim` or `emu`.
    pub world: String,
    /// The cost table.
    pub cpu: String,
    /// Where that table was measured.
    pub cpu_machine: String,
    /// The root of every random choice.
    pub seed: u64,
    /// The version of lastmile.
    pub version: String,
}

/// A cell of both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellComparison {
    /// The part of the study it belongs to, where a study has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The level of every factor.
    pub levels: Levels,
    /// The figures that both have, by name.
    pub changes: BTreeMap<String, Change>,
    /// What makes either side suspect.
    pub doubts: Vec<Doubt>,
}

/// How one figure changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The figure's unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The mean before.
    pub before: f64,
    /// The mean after.
    pub after: f64,
    /// `(after - before) / |before|`; none where that is not a number, `before` being 0.
    pub change: Option<f64>,
    /// 95 % interval of `change`; none where neither run's samples varied, or one gives no interval.
    pub change_ci95: Option<[f64; 2]>,
    /// What to make of it.
    pub verdict: Verdict,
}

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less of it: times, bytes, drops.
    Lower,
    /// More of it: rates.
    Higher,
    /// Neither is known to be.
    Neither,
}

/// What to make of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better, and the interval leaves no doubt.
    Better,
    /// Worse, and the interval leaves no doubt.
    Worse,
    /// Another, and the interval leaves no doubt; neither way is known to be better.
    Different,
    /// The interval holds 0, or nothing varied and both are equal.
    WithinNoise,
    /// It cannot be told: a cell is invalid, or its figure varies and gives no interval.
    Unknown,
}

impl Verdict {
    /// In words: `better`, `within noise`.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Different => "different",
            Verdict::WithinNoise => "within noise",
            Verdict::Unknown => "cannot be told",
        }
    }
}

/// A cell that only one run has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Unmatched {
    /// Whether it is the run before that has it.
    pub before: bool,
    /// The part of the study it belongs to, where a study has parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The level of every factor.
    pub levels: Levels,
}

impl Comparison {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/compare/1";

    /// Whether any rule was broken. One that found nothing to check counts as broken: a gate that checks nothing passes everything.
    pub fn breaks_a_rule(&self) -> bool {
        self.rules
            .iter()
            .any(|outcome| outcome.checked == 0 || !outcome.breaches.is_empty())
    }
}

/// Compares `after` with `before`, and holds `rules` against the changes.
pub fn compare(before: &Run, after: &Run, rules: &[Rule]) -> Comparison {
    let mut left: BTreeMap<_, &Cell> = after.cells.iter().map(|cell| (key(cell), cell)).collect();
    let (mut cells, mut unmatched, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for cell in &before.cells {
        match left.remove(&key(cell)) {
            Some(matching) => {
                cells.push(compare_cells(cell, matching));
                pairs.push((cell, matching));
            }
            None => unmatched.push(unmatched_cell(cell, true)),
        }
    }
    unmatched.extend(left.into_values().map(|cell| unmatched_cell(cell, false)));
    Comparison {
        schema: Comparison::SCHEMA.to_owned(),
        before: side(before),
        after: side(after),
        cells,
        unmatched,
        rules: rules.iter().map(|rule| rule.hold(&pairs)).collect(),
        doubts: differences(before, after),
    }
}

/// Which way `figure` is better: by its unit, and for counts by its name.
pub(crate) fn better(name: &str, figure: &Figure) -> Better {
    match figure.unit.as_str() {
        "s" | "B" => Better::Lower,
        "1/s" | "bit/s" => Better::Higher,
        _ if ["drops", "retransmissions", "losses", "failures"]
            .iter()
            .any(|count| name.ends_with(count)) =>
        {
            Better::Lower
        }
        _ => Better::Neither,
    }
}

/// `(after - before) / |before|`; no change is 0 even from 0.
pub(crate) fn relative(before: f64, after: f64) -> Option<f64> {
    if before == after {
        return Some(0.0);
    }
    let change = (after - before) / before.abs();
    change.is_finite().then_some(change)
}

fn key(cell: &Cell) -> (Option<&str>, &Levels) {
    (cell.part.as_deref(), &cell.levels)
}

fn unmatched_cell(cell: &Cell, before: bool) -> Unmatched {
    Unmatched {
        before,
        part: cell.part.clone(),
        levels: cell.levels.clone(),
    }
}

fn side(run: &Run) -> Side {
    Side {
        run: run.run.clone(),
        study: run.study.clone(),
        world: run.world.clone(),
        cpu: run.cpu.clone(),
        cpu_machine: run.cpu_machine.clone(),
        seed: run.seed,
        version: run.version.clone(),
    }
}

fn compare_cells(before: &Cell, after: &Cell) -> CellComparison {
    let valid = before.valid && after.valid;
    let changes = before.figures.iter().filter_map(|(name, figure)| {
        let other = after.figures.get(name).filter(|other| other.unit == figure.unit)?;
        Some((name.clone(), change(name, figure, other, valid)))
    });
    let doubts = |cell: &Cell, side: &'static str| {
        let said = |doubt: &Doubt| Doubt {
            kind: doubt.kind.clone(),
            text: format!("{side}: {}", doubt.text),
        };
        cell.doubts.iter().map(said).collect::<Vec<_>>()
    };
    CellComparison {
        part: before.part.clone(),
        levels: before.levels.clone(),
        changes: changes.collect(),
        doubts: [doubts(before, "before"), doubts(after, "after")].concat(),
    }
}

fn change(name: &str, before: &Figure, after: &Figure, valid: bool) -> Change {
    let better = better(name, before);
    let exact = before.varied.is_empty() && after.varied.is_empty();
    let difference_ci95 = if exact {
        None
    } else {
        difference_interval(before, after)
    };
    let told = match difference_ci95 {
        _ if !valid => None,
        Some([low, high]) if low <= 0.0 && 0.0 <= high => Some(false),
        Some(_) => Some(true),
        None if exact => Some(before.mean != after.mean),
        None => None,
    };
    let verdict = match (told, better) {
        (None, _) => Verdict::Unknown,
        (Some(false), _) => Verdict::WithinNoise,
        (Some(true), Better::Neither) => Verdict::Different,
        (Some(true), Better::Lower) if after.mean < before.mean => Verdict::Better,
        (Some(true), Better::Higher) if after.mean > before.mean => Verdict::Better,
        (Some(true), _) => Verdict::Worse,
    };
    let share = |[low, high]: [f64; 2]| [low / before.mean.abs(), high / before.mean.abs()];
    Change {
        unit: before.unit.clone(),
        better,
        before: before.mean,
        after: after.mean,
        change: relative(before.mean, after.mean),
        change_ci95: difference_ci95
            .map(share)
            .filter(|ends| ends.iter().all(|end| end.is_finite())),
        verdict,
    }
}

/// 95 % interval of `after.mean - before.mean`, the runs taken as independent; none where a figure varies and gives no interval.
///
/// With means m, M and intervals `[l, u]`, `[L, U]`, before and after: from `d - sqrt((M - L)^2 + (u - m)^2)` to
/// `d + sqrt((U - M)^2 + (m - l)^2)`, where `d = M - m`. Source: Zou and Donner, "Construction of confidence limits about effect
/// measures: a general approach", Statistics in Medicine 27 (2008), equation 3. It needs no symmetry, as bootstrap intervals have
/// none. Runs of one seed share their random choices, which makes this wider than need be.
fn difference_interval(before: &Figure, after: &Figure) -> Option<[f64; 2]> {
    let ends = |figure: &Figure| match figure.ci95 {
        Some(ci) => Some(ci),
        None => figure.varied.is_empty().then_some([figure.mean; 2]),
    };
    let ([low, high], [new_low, new_high]) = (ends(before)?, ends(after)?);
    let (mean, new_mean) = (before.mean, after.mean);
    let difference = new_mean - mean;
    let length = |a: f64, b: f64| (a * a + b * b).sqrt();
    Some([
        difference - length(new_mean - new_low, high - mean),
        difference + length(new_high - new_mean, mean - low),
    ])
}

/// What else differs between two runs, and so may be why a figure does.
fn differences(before: &Run, after: &Run) -> Vec<Doubt> {
    let seeds = [before, after].map(|run| run.seed.to_string());
    let pairs = [
        ("other-study", "study", &before.study, &after.study),
        ("other-world", "world", &before.world, &after.world),
        ("other-cost-table", "cost table", &before.cpu, &after.cpu),
        (
            "other-machine",
            "machine of the cost table",
            &before.cpu_machine,
            &after.cpu_machine,
        ),
        ("other-seed", "seed", &seeds[0], &seeds[1]),
    ];
    let differing = pairs.into_iter().filter(|(_, _, before, after)| before != after);
    differing
        .map(|(kind, what, before, after)| Doubt {
            kind: kind.to_owned(),
            text: format!("the {what} was {before} before and is {after} after"),
        })
        .collect()
}
