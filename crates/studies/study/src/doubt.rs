//! Doubts: what makes a cell's figures suspect. They are data that travel with the figures into every table and page.
//!
//! Experiments make the doubts that only they can see; the doubts that follow from the repeats of a cell are made here.

use crate::figure;
use lastmile_report::number::{percent, quantity};
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_statistics::{mean, sd};
use lastmile_testbed::cpu_cost_model::Operation;
use lastmile_testbed::failure::Failure;

/// Fewer repeats than this make an interval wide and leave its assumptions untested: our own choice, and what most of the published
/// evaluations that the built-in studies follow ran.
const FEW: usize = 5;

/// The kinds of doubts that follow from the repeats of a cell.
pub const DOUBTS: &[DoubtKind] = &[
    DoubtKind::FailedRuns,
    DoubtKind::FewRuns,
    DoubtKind::SlowFirstRun,
    DoubtKind::MissingFigure,
    DoubtKind::Observed,
];

/// `failed-runs`: some repeats gave no figures.
pub(crate) fn failed_runs(failures: &[(u64, &Failure)], repeats: u64) -> Option<Doubt> {
    let (first, failure) = failures.first()?;
    let text = format!(
        "{} of {repeats} runs failed; run {}: {failure}",
        failures.len(),
        first + 1
    );
    Some(Doubt::new(DoubtKind::FailedRuns, text))
}

/// `few-runs`: something varied between the runs, and there are too few of them to say how much.
pub fn few_runs(runs: usize, something_varied: bool) -> Option<Doubt> {
    let text = || format!("{runs} runs with random variation between them: confidence intervals need {FEW} or more");
    (runs < FEW && something_varied).then(|| Doubt::new(DoubtKind::FewRuns, text()))
}

/// `slow-first-run`: the first run took more than a tenth longer than the mean of the others, and exceeds it by more than three of
/// their standard deviations; both bounds are our own choice. A meaningful deviation needs at least three others.
pub fn slow_first_run(figure: &str, runs: &[f64]) -> Option<Doubt> {
    let (first, rest) = runs.split_first()?;
    if rest.len() < 3 || figure::find(figure).is_ok_and(|figure| figure.unit != "s") {
        return None;
    }
    let (centre, deviation) = (mean(rest)?, sd(rest)?);
    let slow = *first > 1.1 * centre && *first > centre + 3.0 * deviation;
    let text = || {
        let (first, others) = (quantity(*first, "s"), quantity(centre, "s"));
        format!("{figure}: the first run took {first}, the others {others}: caches or warm-up")
    };
    slow.then(|| Doubt::new(DoubtKind::SlowFirstRun, text()))
}

/// `observed`: whoever observed the run took more than a hundredth of the machine's CPU time while figures were measured in real time. The bound is
/// our own choice.
pub fn observed(share: f64) -> Option<Doubt> {
    let text = || {
        format!(
            "observing the run took {} of the CPU time while it was measured",
            percent(share)
        )
    };
    (share > 0.01).then(|| Doubt::new(DoubtKind::Observed, text()))
}

/// `missing-figure`: the study asks for figures that the cell does not have.
pub(crate) fn missing_figures(figures: &[&str]) -> Option<Doubt> {
    let (which, verb) = match figures {
        [] => return None,
        [one] => ((*one).to_owned(), "is"),
        [before @ .., last] => (format!("{} and {last}", before.join(", ")), "are"),
    };
    let text = format!("the study asks for {which}, which {verb} not measured in this cell");
    Some(Doubt::new(DoubtKind::MissingFigure, text))
}

/// `no-cost`: the cost table has no samples of an operation, so its CPU time is left out.
pub fn no_cost(table: &str, operation: &Operation) -> Doubt {
    Doubt::new(
        DoubtKind::NoCost,
        format!(
            "cost table {table} has no samples of \"{operation}\": times are left out; --cpu measured makes one with the common settings"
        ),
    )
}

/// `estimated-cost`: an operation was not measured with its settings, and its cost is composed from other operations.
pub fn estimated_cost(operation: &Operation) -> Doubt {
    Doubt::new(
        DoubtKind::EstimatedCost,
        format!(
            "\"{operation}\" is not in the cost table: its time is the default's, multiplied by the effect of each setting by itself"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_figures_are_one_doubt() {
        let text = |figures: &[&str]| missing_figures(figures).map(|doubt| doubt.text);
        assert_eq!(text(&[]), None);
        assert!(text(&["goodput"]).unwrap().contains("goodput, which is not"));
        assert!(
            text(&["period", "goodput", "fairness"])
                .unwrap()
                .contains("period, goodput and fairness, which are not")
        );
    }

    #[test]
    fn a_first_run_is_slow_where_it_stands_out_from_the_others() {
        assert!(slow_first_run("transfer_time", &[4.549, 0.2, 0.21, 0.19, 0.2]).is_some());
        assert_eq!(
            slow_first_run("transfer_time", &[0.205, 0.2, 0.2, 0.2]),
            None,
            "not by a tenth"
        );
        assert_eq!(
            slow_first_run("transfer_time", &[0.3, 0.1, 0.2, 0.3]),
            None,
            "not beyond the others' spread"
        );
        assert_eq!(
            slow_first_run("response_bytes", &[900.0, 1.0, 1.0, 1.0]),
            None,
            "a size is not slow"
        );
    }

    #[test]
    fn a_slow_first_run_is_told_in_digits_that_show_it() {
        let doubt = slow_first_run("extract_time", &[0.002_4, 0.002, 0.002, 0.002]).unwrap();
        assert_eq!(
            doubt.text,
            "extract_time: the first run took 2.40 ms, the others 2 ms: caches or warm-up"
        );
    }

    #[test]
    fn few_runs_matter_only_where_something_varied() {
        assert!(few_runs(2, true).is_some());
        assert_eq!((few_runs(2, false), few_runs(5, true)), (None, None));
    }

    #[test]
    fn a_failure_is_told_with_its_reason_and_its_run() {
        let failure = Failure::new("the connection was reset");
        let doubt = failed_runs(&[(1, &failure)], 5).unwrap();
        assert_eq!(doubt.text, "1 of 5 runs failed; run 2: the connection was reset");
    }
}
