//! What makes a cell's figures suspect? Doubts are data: they travel with the figures into every table and page.
//!
//! Those that only an experiment can see it makes itself; those that the repeats of a cell show are found here.

use crate::cost::Operation;
use crate::figure;
use crate::observation::Failure;
use crate::statistics::{mean, sd};
use lastmile_report::number::quantity;
use lastmile_report::record::Doubt;

/// Fewer repeats than that leave an interval wide and its assumptions untested: our own choice, and what
/// most of the published evaluations that the built-in studies follow ran.
const FEW: usize = 5;

fn doubt(kind: &str, text: String) -> Doubt {
    Doubt {
        kind: kind.to_owned(),
        text,
    }
}

/// The kind of [`disturbed`].
const DISTURBED: &str = "disturbed";

/// `disturbed`: in a run that took real time, packets were too late, or lost where no link lost them.
pub(crate) fn disturbed(how: &impl std::fmt::Display) -> Doubt {
    doubt(DISTURBED, how.to_string())
}

/// Whether a doubt leaves figures without a meaning.
pub(crate) fn invalidates(doubt: &Doubt) -> bool {
    doubt.kind == DISTURBED
}

/// `failed-runs`: some repeats gave no figures.
pub(crate) fn failed_runs(failures: &[(u64, &Failure)], repeats: u64) -> Option<Doubt> {
    let (first, failure) = failures.first()?;
    let text = format!(
        "{} of {repeats} runs failed; run {}: {failure}",
        failures.len(),
        first + 1
    );
    Some(doubt("failed-runs", text))
}

/// `few-runs`: something varied between the runs, and there are too few of them to say how much.
pub(crate) fn few_runs(runs: usize, something_varied: bool) -> Option<Doubt> {
    let text = || format!("{runs} runs, between which something varied: intervals want {FEW} or more");
    (runs < FEW && something_varied).then(|| doubt("few-runs", text()))
}

/// `slow-first-run`: the first run took more than a tenth longer than the mean of the others, and lies more than three of their
/// deviations beyond it; both bounds are our own choice. Three others are needed to have a deviation worth the name.
pub(crate) fn slow_first_run(figure: &str, runs: &[f64]) -> Option<Doubt> {
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
    slow.then(|| doubt("slow-first-run", text()))
}

/// `missing-figure`: the study asks for a figure that the cell did not give.
pub(crate) fn missing_figure(figure: &str) -> Doubt {
    doubt(
        "missing-figure",
        format!("the study asks for {figure}, which is not measured in this cell"),
    )
}

/// `no-cost`: the cost table has no samples of an operation, so what it takes is left out.
pub(crate) fn no_cost(table: &str, operation: &Operation) -> Doubt {
    doubt(
        "no-cost",
        format!(
            "cost table {table} has no samples of \"{operation}\": times are left out; --cpu measured makes one that has the usual settings"
        ),
    )
}

/// `estimated-cost`: an operation was not measured as it is set, and its cost is put together from others.
pub(crate) fn estimated_cost(operation: &Operation) -> Doubt {
    doubt(
        "estimated-cost",
        format!(
            "\"{operation}\" is not in the cost table: its time is that of the default, times what each setting does alone"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let told = slow_first_run("extract_time", &[0.002_4, 0.002, 0.002, 0.002]).unwrap();
        assert_eq!(
            told.text,
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
        let told = failed_runs(&[(1, &failure)], 5).unwrap();
        assert_eq!(told.text, "1 of 5 runs failed; run 2: the connection was reset");
    }
}
