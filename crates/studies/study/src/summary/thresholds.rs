//! Tests each of the study's rules on each cell that has its figure.

use super::MeasuredCell;
use crate::file::{Rule, Study};
use lastmile_report::record::Threshold;

pub(super) fn test_rules(study: &Study, measured: &[MeasuredCell<'_>]) -> Vec<Threshold> {
    let of_rule = |rule| measured.iter().filter_map(move |cell| test_rule(rule, cell));
    study.thresholds.0.iter().flat_map(of_rule).collect()
}

fn test_rule(rule: &Rule, measured: &MeasuredCell<'_>) -> Option<Threshold> {
    let found = measured.samples(rule.figure.name).statistic(rule.statistic)?;
    Some(Threshold {
        rule: rule.to_string(),
        part: measured.cell.part.clone(),
        levels: measured.cell.levels.clone(),
        found,
        held: rule.comparison.holds(found, rule.bound),
    })
}
