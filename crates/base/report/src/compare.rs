//! Comparing two runs of a study: the record of `lastmile compare`, and how it tells a change from noise.
//!
//! Cells are matched by part and levels, and each figure's mean is compared, with an interval where both runs give one: of pairs of repeats
//! where the runs have one seed. [`rule`] has the rules that a caller may set for the changes.

mod as_run;
mod interval;
pub mod rule;
#[cfg(test)]
mod tests;

use crate::record::{Cell, Doubt, DoubtKind, Figure, Levels, Run};
use crate::rules::Statistic;
use interval::{CellPair, Difference, TAIL_95};
use rule::{Rule, RuleOutcome};
#[cfg(feature = "testing")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `lastmile compare` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Comparison {
    /// `lastmile/compare/1`.
    #[cfg_attr(feature = "testing", schemars(extend("const" = Comparison::SCHEMA)))]
    pub schema: String,
    /// The run compared against.
    pub before: Side,
    /// The run compared.
    pub after: Side,
    /// Cells that both runs have, in the order of the run before.
    pub cells: Vec<CellComparison>,
    /// Cells that one run alone has.
    pub unmatched: Vec<Unmatched>,
    /// The rules that were set, and what broke them.
    pub rules: Vec<RuleOutcome>,
    /// Whether rules were checked on values alone, without regard to their intervals.
    pub strict: bool,
    /// What makes the comparison suspect: different worlds, seeds or cost tables, or rules checked without an interval.
    pub doubts: Vec<Doubt>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
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
    /// 95 % interval of `change`; none where nothing varied, or a run gives no interval. It is of pairs of repeats where the runs have one
    /// seed.
    pub change_ci95: Option<[f64; 2]>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less of it: times, bytes, drops.
    Lower,
    /// More of it: rates.
    Higher,
    /// Not known.
    Neither,
}

/// The verdict on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better, and the interval excludes 0.
    Better,
    /// Worse, and the interval excludes 0.
    Worse,
    /// Different, and the interval excludes 0; it is not known which direction is better.
    Different,
    /// The interval holds 0, or nothing varied and both are equal.
    WithinNoise,
    /// Unknown: a cell is invalid, its figure varies and gives no interval, or seeds differ and the repeats of a cell share its draws.
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
            Verdict::Unknown => "unknown",
        }
    }
}

/// A cell that only one run has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "testing", derive(JsonSchema))]
pub struct Unmatched {
    /// Whether the run before has it, rather than the run after.
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
        self.rules.iter().any(RuleOutcome::is_broken)
    }

    /// Whether no rule was broken, and one could not be decided.
    pub fn is_undecided(&self) -> bool {
        !self.breaks_a_rule() && self.rules.iter().any(RuleOutcome::is_undecided)
    }
}

/// The kinds of doubts that a comparison raises.
pub const DOUBTS: &[DoubtKind] = &[
    DoubtKind::OtherStudy,
    DoubtKind::OtherWorld,
    DoubtKind::OtherCostTable,
    DoubtKind::OtherMachine,
    DoubtKind::OtherSeed,
    DoubtKind::NoInterval,
];

/// Compares `after` with `before`, and checks the changes against `rules`: their intervals, or where `strict` their values alone.
pub fn compare(before: &Run, after: &Run, rules: &[Rule], strict: bool) -> Comparison {
    let paired = before.seed == after.seed && before.study == after.study;
    let drawn_once = draws_differ_by_cell(before, after);
    let mut left: BTreeMap<_, &Cell> = after.cells.iter().map(|cell| (key(cell), cell)).collect();
    let (mut cells, mut unmatched, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for cell in &before.cells {
        match left.remove(&key(cell)) {
            Some(matching) => {
                let pair = CellPair {
                    before: cell,
                    after: matching,
                    paired,
                    drawn_once,
                    other_seed: before.seed != after.seed,
                };
                cells.push(compare_cells(&pair));
                pairs.push(pair);
            }
            None => unmatched.push(unmatched_cell(cell, true)),
        }
    }
    unmatched.extend(left.into_values().map(|cell| unmatched_cell(cell, false)));
    let rules: Vec<RuleOutcome> = rules.iter().map(|rule| rule.check(&pairs, strict)).collect();
    let doubts = differences(before, after).into_iter();
    Comparison {
        schema: Comparison::SCHEMA.to_owned(),
        before: side(before),
        after: side(after),
        cells,
        unmatched,
        doubts: doubts.chain(rules.iter().filter_map(RuleOutcome::doubt)).collect(),
        rules,
        strict,
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

fn compare_cells(pair: &CellPair<'_>) -> CellComparison {
    let CellPair { before, after, .. } = pair;
    let changes = before.figures.iter().filter_map(|(name, figure)| {
        let other = after.figures.get(name).filter(|other| other.unit == figure.unit)?;
        Some((name.clone(), change(name, pair, [figure, other])))
    });
    let doubts = |cell: &Cell, side: &'static str| {
        let said = |doubt: &Doubt| Doubt {
            kind: doubt.kind,
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

fn change(name: &str, pair: &CellPair<'_>, [before, after]: [&Figure; 2]) -> Change {
    let better = better(name, before);
    let difference = pair.difference(Statistic::Mean, [before, after], TAIL_95);
    let direction = match difference {
        _ if !(pair.before.valid && pair.after.valid) => None,
        Difference::Interval([low, high]) => Some(low > 0.0 || high < 0.0),
        Difference::Exact => Some(before.mean != after.mean),
        Difference::Unknown | Difference::Undecided => None,
    };
    let verdict = match (direction, better) {
        (None, _) => Verdict::Unknown,
        (Some(false), _) => Verdict::WithinNoise,
        (Some(true), Better::Neither) => Verdict::Different,
        (Some(true), Better::Lower) if after.mean < before.mean => Verdict::Better,
        (Some(true), Better::Higher) if after.mean > before.mean => Verdict::Better,
        (Some(true), _) => Verdict::Worse,
    };
    Change {
        unit: before.unit.clone(),
        better,
        before: before.mean,
        after: after.mean,
        change: relative(before.mean, after.mean),
        change_ci95: difference
            .interval()
            .and_then(|ends| relative_interval(before.mean, ends)),
        verdict,
    }
}

/// The interval of a difference in relation to what was before; none where that is 0.
pub(crate) fn relative_interval(before: f64, ends: [f64; 2]) -> Option<[f64; 2]> {
    let ends = ends.map(|end| end / before.abs());
    ends.iter().all(|end| end.is_finite()).then_some(ends)
}

/// Whether the runs drew differently, and the repeats of a cell share what was drawn for it: their intervals do not hold what other draws change.
fn draws_differ_by_cell(before: &Run, after: &Run) -> bool {
    before.seed != after.seed && !(before.redraws() && after.redraws())
}

/// Why a rule is undecided, and what to do.
pub(crate) const UNDECIDED: &str = "that may be other draws, where the repeats of a cell share them, or the figure has no interval (one repeat, a quantile of many samples): \
     give both runs one seed, or the study fresh = \"repeat\" and the rule a mean";

/// What to do where [`draws_differ_by_cell`].
const REDRAW: &str = "the repeats of a cell share what was drawn for it, so that nothing tells a change from other draws: give both runs one seed, or the study \
     fresh = \"repeat\"";

/// What else differs between two runs, and so may have caused a change.
fn differences(before: &Run, after: &Run) -> Vec<Doubt> {
    let seeds = [before, after].map(|run| run.seed.to_string());
    let pairs = [
        (DoubtKind::OtherStudy, "study", &before.study, &after.study),
        (DoubtKind::OtherWorld, "world", &before.world, &after.world),
        (DoubtKind::OtherCostTable, "cost table", &before.cpu, &after.cpu),
        (
            DoubtKind::OtherMachine,
            "machine of the cost table",
            &before.cpu_machine,
            &after.cpu_machine,
        ),
        (DoubtKind::OtherSeed, "seed", &seeds[0], &seeds[1]),
    ];
    let differing = pairs.into_iter().filter(|(_, _, before, after)| before != after);
    differing
        .map(|(kind, what, old, new)| {
            let mut text = format!("the {what} was {old} before and is {new} after");
            if kind == DoubtKind::OtherSeed && draws_differ_by_cell(before, after) {
                text = format!("{text}; {REDRAW}");
            }
            Doubt::new(kind, text)
        })
        .collect()
}
