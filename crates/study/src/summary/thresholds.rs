//! Did the study's rules hold? Each rule against each cell that has its figure.

use super::Measured;
use crate::file::{Rule, Statistic, Study};
use crate::statistics::{mean, quantile};
use lastmile_report::record::Threshold;

pub(super) fn held(study: &Study, measured: &[Measured<'_>]) -> Vec<Threshold> {
    let of_rule = |rule| measured.iter().filter_map(move |cell| held_in(rule, cell));
    study.thresholds.0.iter().flat_map(of_rule).collect()
}

fn held_in(rule: &Rule, measured: &Measured<'_>) -> Option<Threshold> {
    let samples = measured.samples(rule.figure.name);
    let found = match rule.statistic {
        Statistic::Mean => mean(&samples),
        Statistic::Least => quantile(&samples, 0.0),
        Statistic::Greatest => quantile(&samples, 1.0),
        Statistic::Quantile(probability) => quantile(&samples, probability),
    }?;
    Some(Threshold {
        rule: rule.to_string(),
        part: measured.cell.part.clone(),
        levels: measured.cell.levels.clone(),
        found,
        held: rule.comparison.holds(found, rule.bound),
    })
}
