//! The results of a server as a run of a study, so that two tests can be compared: a cell per rule.

use crate::record::{Conformance, RuleStatus};
use lastmile_report::record::{Cell, Figure, Run};

impl Conformance {
    /// Each rule that applies, with 1 failure where the server breaks it, and 0 where it keeps it.
    pub fn as_run(&self) -> Run {
        let applies = self
            .verdicts
            .iter()
            .filter(|verdict| verdict.standing != RuleStatus::NotApplicable);
        let cells = applies.map(|verdict| {
            let failures = f64::from(u8::from(verdict.standing == RuleStatus::Broken));
            let figures = [("failures", Some(Figure::of_value("1", failures)))];
            Cell::of_figures("rules", [("rule", verdict.name.as_str())], figures, &[])
        });
        let run = Run::of_cells(format!("conform {}", self.target), &self.version, 0, cells.collect());
        Run {
            world: "real".to_owned(),
            ..run
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Verdict as RuleVerdict;
    use lastmile_report::compare::{Verdict, compare};

    #[test]
    fn a_rule_that_a_server_breaks_only_in_a_later_version_is_a_change_for_the_worse() {
        let results = |standings: [RuleStatus; 3]| {
            let verdicts = standings
                .into_iter()
                .zip(["ping", "close", "deflate"])
                .map(|(standing, name)| RuleVerdict {
                    name: name.to_owned(),
                    asks: String::new(),
                    source: String::new(),
                    standing,
                    found: String::new(),
                });
            Conformance::new("1", "ws://localhost/", None, verdicts.collect()).as_run()
        };
        let before = results([RuleStatus::Held, RuleStatus::Held, RuleStatus::NotApplicable]);
        let after = results([RuleStatus::Held, RuleStatus::Broken, RuleStatus::NotApplicable]);
        let comparison = compare(&before, &after, &[], false);
        let verdicts: Vec<Verdict> = comparison
            .cells
            .iter()
            .map(|cell| cell.changes["failures"].verdict)
            .collect();
        assert_eq!(verdicts, [Verdict::WithinNoise, Verdict::Worse]);
    }
}
