//! The rules of `--fail-on` of `lastmile run`, `lastmile tune` and `lastmile advise`: reads `p95(transfer_time)>20s` as the opposite rule, which must hold, and reports broken
//! ones.
//!
//! Rules on the change between two runs are `lastmile compare`'s.

use crate::exit::Exit;
use crate::output;
use anyhow::anyhow;
use lastmile_advise::record::Advice;
use lastmile_advise::rules::Rule as AdviceRule;
use lastmile_report::number::quantity;
use lastmile_report::record::{Run, Threshold};
use lastmile_report::rules::RuleText;
use lastmile_study::file::{Rule, Study};
use lastmile_tune::record::Tuning;
use lastmile_tune::rules::Rule as TuningRule;

/// Reads what must not happen as the rule that must hold: `p95(transfer_time)>20s` as `p95(transfer_time) <= 20s`.
///
/// # Errors
/// When the statistic, the figure, the comparison or the bound is not understood; the message says how to write it.
pub(crate) fn parse_rule(text: &str) -> anyhow::Result<Rule> {
    let refused = |problem: String| anyhow!("--fail-on {text:?}: {problem}");
    let rule =
        RuleText::parse(text).map_err(|error| refused(format!("{error}; write it like 'p95(transfer_time)>20s'")))?;
    if rule.bound.ends_with('%') {
        return Err(refused(
            "a change in per cent is for `lastmile compare`; the bound of a run has a unit, like 'p95(transfer_time)>20s'".to_owned(),
        ));
    }
    Rule::parse(rule.subject, &format!("{} {}", rule.comparison.opposite(), rule.bound)).map_err(refused)
}

/// The exit of a run: whether its thresholds held, and then whether its cells ran. Reports broken rules and failures on stderr.
pub(crate) fn run_exit(study: &Study, run: &Run) -> Exit {
    let mut holds = true;
    for rule in &study.thresholds.0 {
        let value_text = |found| quantity(found, rule.figure.unit);
        let nothing = format!("no cell has the figure {}", rule.figure.name);
        holds &= report_rule(&rule.to_string(), &run.thresholds, value_text, &nothing);
    }
    let failed: u64 = run.cells.iter().map(|cell| cell.failed).sum();
    if failed > 0 {
        let cells = run.cells.iter().filter(|cell| cell.failed > 0).count();
        output::note(&format!(
            "{failed} repeats in {cells} of {} cells failed; the figures are from the others",
            run.cells.len()
        ));
    }
    match (holds, failed) {
        (false, _) => Exit::Broken,
        (true, 0) => Exit::Done,
        (true, _) => Exit::CellsFailed,
    }
}

/// The exit of a tuning: whether the rules held. Reports broken rules on stderr.
pub(crate) fn tuning_exit(rules: &[TuningRule], tuning: &Tuning) -> Exit {
    let mut holds = true;
    for rule in rules {
        let text = rule.to_string();
        let nothing = if tuning.links.is_empty() && text.contains("delivery_time") {
            "nothing here has that figure: no message was delivered over a link; give --link"
        } else {
            "nothing here has that figure"
        };
        holds &= report_rule(&text, &tuning.thresholds, |found| rule.value_text(found), nothing);
    }
    Exit::of_check(holds)
}

/// The exit of an advice: whether the rules held. Reports broken rules on stderr.
pub(crate) fn advice_exit(rules: &[AdviceRule], advice: &Advice) -> Exit {
    let mut holds = true;
    for rule in rules {
        let value_text = |found| rule.value_text(found);
        let nothing = "the page was not loaded under that setting on any link";
        holds &= report_rule(&rule.to_string(), &rule.check(advice), value_text, nothing);
    }
    Exit::of_check(holds)
}

/// Whether a rule held everywhere. Reports on stderr where it did not.
///
/// A rule that found nothing to check counts as broken: a gate that checks nothing passes everything.
pub(crate) fn report_rule(
    rule: &str,
    thresholds: &[Threshold],
    value_text: impl Fn(f64) -> String,
    nothing: &str,
) -> bool {
    let mut checked = thresholds.iter().filter(|threshold| threshold.rule == rule).peekable();
    if checked.peek().is_none() {
        output::note(&format!("broken: {rule}: {nothing}"));
        return false;
    }
    let mut holds = true;
    for broken in checked.filter(|threshold| !threshold.held) {
        let levels: Vec<_> = broken
            .levels
            .iter()
            .map(|(key, level)| format!("{key} {level}"))
            .collect();
        let part = broken.part.iter().map(|part| format!("{part}: "));
        let part: String = part.collect();
        let found = value_text(broken.found);
        output::note(&format!("broken: {rule}: {found} in {part}{}", levels.join(", ")));
        holds = false;
    }
    holds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_not_be_becomes_what_must_be() {
        assert_eq!(
            parse_rule("p95(transfer_time)>20s").unwrap().to_string(),
            "p95(transfer_time) <= 20s"
        );
        assert_eq!(
            parse_rule("mean(goodput) < 1 Mbit/s").unwrap().to_string(),
            "mean(goodput) >= 1 Mbit/s"
        );
        assert_eq!(
            parse_rule("max(queue_drops)>=1").unwrap().to_string(),
            "max(queue_drops) < 1"
        );
    }

    #[test]
    fn a_rule_that_is_not_understood_is_refused_with_the_way_to_write_it() {
        let refusal = |text| parse_rule(text).unwrap_err().to_string();
        assert!(refusal("p95(transfer_time)").contains("neither > nor <"));
        assert!(refusal("p95(transfer_time)>+5%").contains("lastmile compare"));
        assert!(refusal("p95(transfer_tme)>5s").contains("did you mean \"transfer_time\""));
        assert!(refusal("p95(transfer_time)>5").contains("unit"));
    }
}
