//! How do paired cells compare? A ratio is computed repeat by repeat, and summed up like a figure.

use super::{Measured, bootstrap_seed};
use crate::file::{PublishedAt, RatioSpec, Study};
use crate::statistics::interval::interval_95;
use crate::statistics::{mean, rms, varies};
use lastmile_report::record::{Levels, Ratio};
use std::collections::{BTreeMap, BTreeSet};

/// A ratio with the cell it compares against, which charts place it by.
pub(super) struct Compared<'a> {
    pub(super) spec: &'a RatioSpec,
    pub(super) base: &'a Measured<'a>,
    pub(super) record: Ratio,
}

/// The ratios of a study, in the order of its file and of its cells; a pair of cells without a common repeat has none.
pub(super) fn ratios<'a>(study: &'a Study, measured: &'a [Measured<'a>]) -> Vec<Compared<'a>> {
    let of_spec = |spec| {
        measured
            .iter()
            .filter_map(move |base| compare(study, spec, base, measured))
    };
    study.ratios.iter().flat_map(of_spec).collect()
}

/// The ratio of `base` and the cell that differs from it in the factor alone, where both are there.
fn compare<'a>(
    study: &Study,
    spec: &'a RatioSpec,
    base: &'a Measured<'a>,
    measured: &[Measured<'_>],
) -> Option<Compared<'a>> {
    let factor = spec.factor.0;
    let level = |cell: &Measured<'_>| cell.cell.levels.get(factor).cloned();
    let part = base.cell.part.as_ref();
    let in_part = spec.parts.is_empty() || part.is_some_and(|part| spec.parts.contains(part));
    if !in_part || level(base)? != spec.base {
        return None;
    }
    let others = |cell: &Measured<'_>| without(cell.cell.key(), factor);
    let treated = measured.iter().find(|other| {
        other.cell.part == base.cell.part
            && level(other).as_ref() == Some(&spec.treated)
            && others(other) == others(base)
    })?;

    let figure = spec.figure.0.name;
    let bases: BTreeMap<_, _> = base.means(figure).into_iter().collect();
    let pair = |(repeat, treated)| spec.form.of(*bases.get(&repeat)?, treated);
    let pairs: Vec<f64> = treated.means(figure).into_iter().filter_map(pair).collect();
    let (mean, rms) = (mean(&pairs)?, rms(&pairs)?);
    let varied: BTreeSet<_> = if varies(&pairs) {
        base.varied().into_iter().chain(treated.varied()).collect()
    } else {
        BTreeSet::new()
    };

    let shared = without(base.cell.levels.clone(), factor);
    let mut shown = shared.clone();
    shown.retain(|key, _| spec.levels.is_empty() || spec.levels.iter().any(|wanted| wanted.0 == key));
    let record = Ratio {
        name: spec.name.clone(),
        levels: shown,
        n: pairs.len() as u64,
        mean,
        rms,
        rms_ratio: (mean != 0.0).then(|| rms / mean.abs()),
        ci95: if varied.is_empty() {
            None
        } else {
            interval_95(&pairs, bootstrap_seed(study))
        },
        varied: varied.into_iter().collect(),
        published: PublishedAt::find(&spec.published, &shared),
    };
    Some(Compared { spec, base, record })
}

fn without(mut levels: Levels, key: &str) -> Levels {
    levels.remove(key);
    levels
}
