//! What must a run not show? `--fail-on 'p95(transfer_time)>20s'` of `lastmile run`, as the rule that must hold.
//!
//! Rules against the change between two runs are another thing: those are `lastmile compare`'s. Those of `lastmile tune` are in `tuning`.

pub(crate) mod tuning;

use crate::exit::Exit;
use crate::output;
use lastmile_report::number::quantity;
use lastmile_report::record::Run;
use lastmile_study::file::{Rule, Study};

/// A rule that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--fail-on {found:?}: {problem}")]
pub(crate) struct RuleError {
    found: String,
    problem: String,
}

/// Reads what must not be, and turns it into what must be: `p95(transfer_time)>20s` into `p95(transfer_time) <= 20s`.
///
/// # Errors
/// When the statistic, the figure, the comparison or the bound is not understood; the message says how to write it.
pub(crate) fn rule(text: &str) -> Result<Rule, RuleError> {
    let refused = |problem: String| RuleError {
        found: text.to_owned(),
        problem,
    };
    let at = text
        .find(['<', '>'])
        .ok_or_else(|| refused("it has neither > nor <; write it like 'p95(transfer_time)>20s'".to_owned()))?;
    let (statistic, bound) = text.split_at(at);
    if bound.trim_end().ends_with('%') {
        return Err(refused(
            "a change in per cent is for `lastmile compare`; a run is held against a bound like 'p95(transfer_time)>20s'".to_owned(),
        ));
    }
    let opposites = [(">=", "<"), ("<=", ">"), (">", "<="), ("<", ">=")];
    let (holds, bound) = opposites
        .iter()
        .find_map(|(sign, opposite)| Some((opposite, bound.strip_prefix(sign)?.trim())))
        .expect("the text was split where a sign begins");
    Rule::parse(statistic.trim(), &format!("{holds} {bound}")).map_err(refused)
}

/// How a run ended: whether its thresholds held, and then whether its cells ran. What is wrong is told on stderr.
///
/// A rule that found nothing to check counts as broken: a gate that checks nothing passes everything.
pub(crate) fn verdict(study: &Study, run: &Run) -> Exit {
    let broken: Vec<_> = run.thresholds.iter().filter(|threshold| !threshold.held).collect();
    for threshold in &broken {
        let unit = study
            .thresholds
            .0
            .iter()
            .find(|rule| rule.to_string() == threshold.rule);
        let unit = unit.map_or("1", |rule| rule.figure.unit);
        let levels: Vec<_> = threshold
            .levels
            .iter()
            .map(|(key, level)| format!("{key} {level}"))
            .collect();
        let found = quantity(threshold.found, unit);
        let part = threshold
            .part
            .as_ref()
            .map_or_else(String::new, |part| format!("{part}: "));
        output::remark(&format!(
            "broken: {}: {found} in {part}{}",
            threshold.rule,
            levels.join(", ")
        ));
    }
    let unchecked = |rule: &&Rule| {
        !run.thresholds
            .iter()
            .any(|threshold| threshold.rule == rule.to_string())
    };
    let unchecked: Vec<_> = study.thresholds.0.iter().filter(unchecked).collect();
    for rule in &unchecked {
        output::remark(&format!("broken: {rule}: no cell has the figure {}", rule.figure.name));
    }
    let failed: u64 = run.cells.iter().map(|cell| cell.failed).sum();
    if failed > 0 {
        let cells = run.cells.iter().filter(|cell| cell.failed > 0).count();
        output::remark(&format!(
            "{failed} repeats in {cells} of {} cells failed; the figures are of the others",
            run.cells.len()
        ));
    }
    match (broken.is_empty() && unchecked.is_empty(), failed) {
        (false, _) => Exit::Broken,
        (true, 0) => Exit::Done,
        (true, _) => Exit::CellsFailed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_not_be_becomes_what_must_be() {
        assert_eq!(
            rule("p95(transfer_time)>20s").unwrap().to_string(),
            "p95(transfer_time) <= 20s"
        );
        assert_eq!(
            rule("mean(goodput) < 1 Mbit/s").unwrap().to_string(),
            "mean(goodput) >= 1 Mbit/s"
        );
        assert_eq!(rule("max(queue_drops)>=1").unwrap().to_string(), "max(queue_drops) < 1");
    }

    #[test]
    fn a_rule_that_is_not_understood_is_refused_with_the_way_to_write_it() {
        let refusal = |text| rule(text).unwrap_err().to_string();
        assert!(refusal("p95(transfer_time)").contains("neither > nor <"));
        assert!(refusal("p95(transfer_time)>+5%").contains("lastmile compare"));
        assert!(refusal("p95(transfer_tme)>5s").contains("did you mean \"transfer_time\""));
        assert!(refusal("p95(transfer_time)>5").contains("unit"));
    }
}
