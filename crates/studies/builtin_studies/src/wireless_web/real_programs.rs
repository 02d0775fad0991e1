//! Real kernels, a real server and a real generator beside ours, below the knee.

use crate::record_lookup::{levels_of, mean};
use lastmile_report::number::percent;
use lastmile_report::record::{Finding, Run};

/// Two levels of a factor that are compared at each rate of a part.
struct Comparison {
    part: &'static str,
    factor: &'static str,
    /// The first in terms of the second.
    levels: [&'static str; 2],
    sentence: &'static str,
}

const COMPARISONS: [Comparison; 3] = [
    Comparison {
        part: "both-worlds",
        factor: "world",
        levels: ["sim", "emu"],
        sentence: "Between the simulated world and real kernels over the same radio",
    },
    Comparison {
        part: "servers",
        factor: "server",
        levels: ["apache", "lastmile"],
        sentence: "Between Apache and our server",
    },
    Comparison {
        part: "generators",
        factor: "generator",
        levels: ["httperf", "lastmile"],
        sentence: "Between httperf and our generator, which both load Apache,",
    },
];

/// How far the two differ at most, over the rates at which both have a valid figure.
fn difference(run: &Run, comparison: &Comparison, figure: &str) -> Option<f64> {
    let of = |rate: &str, level| {
        let levels = [("rate", rate), (comparison.factor, level)];
        mean(run, comparison.part, &levels, figure)
    };
    let [one, other] = comparison.levels;
    let rates = levels_of(run, comparison.part, "rate");
    let ratios = rates
        .into_iter()
        .filter_map(|rate| Some((of(rate, one)? / of(rate, other)? - 1.0).abs()));
    ratios.max_by(f64::total_cmp)
}

/// How far they differ.
pub(super) fn finding(run: &Run) -> Option<Finding> {
    let sentence = |comparison: &Comparison| {
        Some(format!(
            "{} transactions per second differ by at most {}, and mean response times by at most {}.",
            comparison.sentence,
            percent(difference(run, comparison, "transaction_rate")?),
            percent(difference(run, comparison, "response_time")?)
        ))
    };
    let sentences: Vec<String> = COMPARISONS.iter().filter_map(sentence).collect();
    (!sentences.is_empty()).then(|| super::finding("Real programs", sentences.join(" "), false))
}
