//! Ratios of paired cells, computed for each repeat and summarised like a figure.

use super::{MeasuredCell, bootstrap_seed};
use crate::file::{PublishedAt, RatioSpec, Study};
use lastmile_report::record::{Figure, Levels, Ratio};
use std::collections::{BTreeMap, BTreeSet};

/// A ratio with its base cell, which gives its position in charts.
pub(super) struct PairedRatio<'a> {
    pub(super) spec: &'a RatioSpec,
    pub(super) base: &'a MeasuredCell<'a>,
    pub(super) record: Ratio,
}

/// The ratios of a study, in the order of its file and of its cells; a pair of cells without a common repeat has none.
pub(super) fn ratios<'a>(study: &'a Study, measured: &'a [MeasuredCell<'a>]) -> Vec<PairedRatio<'a>> {
    let of_spec = |spec| {
        measured
            .iter()
            .filter_map(move |base| compare(study, spec, base, measured))
    };
    study.ratios.iter().flat_map(of_spec).collect()
}

/// The ratio of `base` and the cell that differs from it in the factor only, where both exist.
fn compare<'a>(
    study: &Study,
    spec: &'a RatioSpec,
    base: &'a MeasuredCell<'a>,
    measured: &[MeasuredCell<'_>],
) -> Option<PairedRatio<'a>> {
    let factor = spec.factor.0;
    let level = |cell: &MeasuredCell<'_>| cell.cell.levels.get(factor).cloned();
    let part = base.cell.part.as_ref();
    let in_part = spec.parts.is_empty() || part.is_some_and(|part| spec.parts.contains(part));
    if !in_part || level(base)? != spec.base {
        return None;
    }
    let others = |cell: &MeasuredCell<'_>| without(cell.cell.key(), factor);
    let treated = measured.iter().find(|other| {
        other.cell.part == base.cell.part
            && level(other).as_ref() == Some(&spec.treated)
            && others(other) == others(base)
    })?;

    let figure = spec.figure.0.name;
    let bases: BTreeMap<_, _> = base.means(figure).into_iter().collect();
    let pair = |(repeat, treated)| spec.form.ratio_of_pair(*bases.get(&repeat)?, treated);
    let pairs: Vec<Vec<f64>> = treated
        .means(figure)
        .into_iter()
        .filter_map(|mean| Some(vec![pair(mean)?]))
        .collect();
    let varied: BTreeSet<_> = base.varied().into_iter().chain(treated.varied()).collect();
    let varied: Vec<String> = varied.into_iter().collect();
    let summary = Figure::of_runs("1", "pair", &pairs, &varied, bootstrap_seed(study))?;

    let shared = without(base.cell.levels.clone(), factor);
    let mut shown = shared.clone();
    shown.retain(|key, _| spec.levels.is_empty() || spec.levels.iter().any(|wanted| wanted.0 == key));
    let record = Ratio {
        name: spec.name.clone(),
        levels: shown,
        n: summary.n,
        mean: summary.mean,
        population_sd: summary.population_sd,
        population_sd_ratio: (summary.mean != 0.0).then(|| summary.population_sd / summary.mean.abs()),
        ci95: summary.ci95,
        varied: summary.varied,
        published: PublishedAt::find(&spec.published, &shared),
    };
    Some(PairedRatio { spec, base, record })
}

fn without(mut levels: Levels, key: &str) -> Levels {
    levels.remove(key);
    levels
}
