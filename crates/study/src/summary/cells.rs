//! What does one cell say? Its figures with their spread, and its doubts.

use super::{Measured, bootstrap_seed};
use crate::cell::Cell;
use crate::doubt;
use crate::figure;
use crate::file::Study;
use crate::statistics::interval::interval_95;
use crate::statistics::{mean, quantile, rms, sd, varies};
use lastmile_report::record;
use std::collections::{BTreeMap, BTreeSet};

/// The published quantiles.
const QUANTILES: [(&str, f64); 3] = [("0.5", 0.5), ("0.95", 0.95), ("0.99", 0.99)];

pub(super) fn summary(study: &Study, measured: &Measured<'_>) -> record::Cell {
    let wanted = wanted(study, measured);
    let figures: BTreeMap<_, _> = wanted
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), figure(study, measured, name)?)))
        .collect();
    let doubts = doubts(measured, &wanted);
    record::Cell {
        part: measured.cell.part.clone(),
        levels: measured.cell.levels.clone(),
        repeats: (measured.observations.len() + measured.failures.len()) as u64,
        failed: measured.failures.len() as u64,
        valid: !measured.observations.is_empty() && !doubts.iter().any(doubt::invalidates),
        doubts,
        figures,
    }
}

/// The figures that the study asks for, or else all that there are.
fn wanted<'a>(study: &Study, measured: &'a Measured<'_>) -> Vec<&'a str> {
    if !study.measure.figures.is_empty() {
        return study.measure.figures.iter().map(|figure| figure.0.name).collect();
    }
    let all: BTreeSet<_> = measured
        .observations
        .iter()
        .flat_map(|(_, seen)| seen.figures.keys())
        .collect();
    all.into_iter().map(String::as_str).collect()
}

fn figure(study: &Study, measured: &Measured<'_>, name: &str) -> Option<record::Figure> {
    let samples = measured.samples(name);
    let (mean_of_all, rms) = (mean(&samples)?, rms(&samples)?);
    // The samples of one run (its requests) depend on each other, and its runs do not: the interval is that of the runs' means.
    let runs: Vec<f64> = measured.means(name).into_iter().map(|(_, mean)| mean).collect();
    let varied = if varies(&runs) { measured.varied() } else { Vec::new() };
    let interval = if varied.is_empty() {
        None
    } else {
        interval_95(&runs, bootstrap_seed(study))
    };
    let known = figure::find(name).ok();
    Some(record::Figure {
        unit: known.map_or("1", |figure| figure.unit).to_owned(),
        per: known.map_or("run", |figure| figure.per).to_owned(),
        n: samples.len() as u64,
        mean: mean_of_all,
        rms,
        sd: sd(&samples),
        rms_ratio: (mean_of_all != 0.0).then(|| rms / mean_of_all),
        quantiles: QUANTILES
            .iter()
            .filter_map(|(text, probability)| Some(((*text).to_owned(), quantile(&samples, *probability)?)))
            .collect(),
        ci95: interval,
        varied,
        first_against_rest: runs.split_first().and_then(|(first, rest)| Some([*first, mean(rest)?])),
        published: published(study, &measured.cell, name),
    })
}

/// What others have published of a figure of that cell.
pub(super) fn published(study: &Study, cell: &Cell, figure: &str) -> Option<record::Published> {
    study
        .published
        .iter()
        .find_map(|published| published.of(cell.part.as_deref(), &cell.levels, figure))
}

/// What the experiment doubted in any repeat, each doubt once, and what the repeats show together.
fn doubts(measured: &Measured<'_>, wanted: &[&str]) -> Vec<record::Doubt> {
    let mut doubts: Vec<record::Doubt> = Vec::new();
    for doubt in measured.observations.iter().flat_map(|(_, seen)| &seen.doubts) {
        if !doubts.iter().any(|known| known.kind == doubt.kind) {
            doubts.push(doubt.clone());
        }
    }
    let runs = measured.observations.len();
    let repeats = (runs + measured.failures.len()) as u64;
    doubts.extend(doubt::failed_runs(&measured.failures, repeats));
    doubts.extend(doubt::few_runs(runs, !measured.varied().is_empty()));
    for name in wanted {
        let means: Vec<f64> = measured.means(name).into_iter().map(|(_, mean)| mean).collect();
        doubts.extend(doubt::slow_first_run(name, &means));
        if means.is_empty() && runs > 0 {
            doubts.push(doubt::missing_figure(name));
        }
    }
    doubts
}
