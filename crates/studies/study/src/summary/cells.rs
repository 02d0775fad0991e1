//! The record of one cell: its figures with their spread, and its doubts.

use super::{MeasuredCell, bootstrap_seed};
use crate::cell::Cell;
use crate::doubt;
use crate::figure;
use crate::file::Study;
use lastmile_report::record;
use lastmile_statistics::mean;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn summary(study: &Study, measured: &MeasuredCell<'_>) -> record::Cell {
    let wanted = requested_figures(study, measured);
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
        valid: !measured.observations.is_empty() && !doubts.iter().any(lastmile_testbed::doubt::invalidates),
        doubts,
        figures,
    }
}

/// The figures that the study asks for, or else all that were measured.
fn requested_figures<'a>(study: &Study, measured: &'a MeasuredCell<'_>) -> Vec<&'a str> {
    if !study.measure.figures.is_empty() {
        return study.measure.figures.iter().map(|figure| figure.0.name).collect();
    }
    let all: BTreeSet<_> = measured
        .observations
        .iter()
        .flat_map(|(_, seen)| seen.figures.keys().chain(seen.distributions.keys()))
        .collect();
    all.into_iter().map(String::as_str).collect()
}

fn figure(study: &Study, measured: &MeasuredCell<'_>, name: &str) -> Option<record::Figure> {
    let samples = measured.samples(name);
    let summary = samples.figure(figure::find(name).ok(), &measured.varied(), bootstrap_seed(study))?;
    let means: Vec<f64> = measured.means(name).into_iter().map(|(_, mean)| mean).collect();
    // Pairs of repeats can be made of runs without a gap alone.
    let is_paired = summary.ci95.is_some() && measured.failures.is_empty();
    Some(record::Figure {
        run_means: if is_paired { means.clone() } else { Vec::new() },
        first_against_rest: means
            .split_first()
            .and_then(|(first, rest)| Some([*first, mean(rest)?])),
        published: published(study, measured.cell, name),
        ..summary
    })
}

/// The published value of a figure of that cell.
pub(super) fn published(study: &Study, cell: &Cell, figure: &str) -> Option<record::Published> {
    study
        .published
        .iter()
        .find_map(|published| published.value_for(cell.part.as_deref(), &cell.levels, figure))
}

/// The experiment's doubts in any repeat, each kind once, and the doubts that follow from the repeats together.
fn doubts(measured: &MeasuredCell<'_>, wanted: &[&str]) -> Vec<record::Doubt> {
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
    let mut missing = Vec::new();
    for name in wanted {
        let means: Vec<f64> = measured.means(name).into_iter().map(|(_, mean)| mean).collect();
        doubts.extend(doubt::slow_first_run(name, &means));
        if means.is_empty() && runs > 0 {
            missing.push(*name);
        }
    }
    doubts.extend(doubt::missing_figures(&missing));
    doubts
}
