//! Intervals of the difference that a figure shows between two runs, at any level.
//!
//! Runs of one seed share their random choices, so their repeats are compared pair by pair. Repeats of different seeds are independent, unless
//! the repeats of a cell share what was drawn for it: then they do not show how much other draws change, and no interval holds that.

use crate::record::{Cell, DoubtKind, Figure};
use crate::rules::Statistic;
use lastmile_statistics::interval::student;
use lastmile_statistics::{mean, quantile, sd, varies};
use lastmile_units::{Seed, random};

/// A cell in both runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellPair<'a> {
    pub(super) before: &'a Cell,
    pub(super) after: &'a Cell,
    /// Whether the repeats of both runs share their random choices.
    pub(super) paired: bool,
    /// Whether other draws were made for the cell after than before, and each by all of its repeats: no interval holds what that changes.
    pub(super) drawn_once: bool,
    /// Whether the runs have different seeds.
    pub(super) other_seed: bool,
}

/// What is known about `after - before`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Difference {
    /// Nothing varied: it is what it is.
    Exact,
    /// It lies between these, unless chance had it otherwise in both tails together.
    Interval([f64; 2]),
    /// Something varied, and the records do not say how much.
    Unknown,
    /// The draws differ, and no interval holds what that changes: the repeats of a cell share them, or the records do not say.
    Undecided,
}

/// The tail of a 95 % interval.
pub(super) const TAIL_95: f64 = 0.025;

/// Resamples for a standard error: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), section 6.4, find 200 enough.
const RESAMPLES: usize = 200;

impl Difference {
    /// The ends, where there is an interval.
    pub(super) fn interval(self) -> Option<[f64; 2]> {
        match self {
            Self::Interval(ends) => Some(ends),
            Self::Exact | Self::Unknown | Self::Undecided => None,
        }
    }
}

impl CellPair<'_> {
    /// The difference of a statistic of a figure, with the probability `tail` in each tail.
    pub(super) fn difference(&self, statistic: Statistic, figures: [&Figure; 2], tail: f64) -> Difference {
        let [before, after] = figures;
        let values = figures.map(|figure| statistic.of_figure(figure));
        // A single run of something that varies looks as if nothing had varied.
        let is_single = [self.before, self.after].into_iter().any(is_single_run) && values[0] != values[1];
        let exact = figures.iter().all(|figure| figure.varied.is_empty());
        let difference = match statistic {
            _ if self.drawn_once && values[0] != values[1] => Difference::Undecided,
            _ if is_single => Difference::Unknown,
            _ if exact => Difference::Exact,
            Statistic::Mean if self.is_paired(figures) => of_pairs(&before.run_means, &after.run_means, tail),
            Statistic::Mean => self.of_independent_means(figures, tail),
            Statistic::Quantile(probability) => self.of_quantiles(figures, probability, tail),
        };
        match difference {
            Difference::Unknown if self.other_seed && values[0] != values[1] => Difference::Undecided,
            known => known,
        }
    }

    /// Whether the figures hold repeats that belong together.
    fn is_paired(&self, [before, after]: [&Figure; 2]) -> bool {
        self.paired && before.run_means.len() > 1 && before.run_means.len() == after.run_means.len()
    }

    /// The difference of means of independent runs, from the interval of each.
    ///
    /// With means m, M and intervals `[l, u]`, `[L, U]`, before and after: from `d - sqrt((M - L)^2 + (u - m)^2)` to
    /// `d + sqrt((U - M)^2 + (m - l)^2)`, where `d = M - m`. Source: Zou and Donner, "Construction of confidence limits about effect
    /// measures: a general approach", Statistics in Medicine 27 (2008), equation 3. It needs no symmetry, as bootstrap intervals have
    /// none.
    fn of_independent_means(&self, [before, after]: [&Figure; 2], tail: f64) -> Difference {
        let ends = [
            ends_of_mean(before, successful_runs(self.before), tail),
            ends_of_mean(after, successful_runs(self.after), tail),
        ];
        let [Some(ends), Some(new_ends)] = ends else {
            return Difference::Unknown;
        };
        Difference::Interval(combined([before.mean, after.mean], [ends, new_ends]))
    }

    /// The difference of quantiles by a bootstrap that draws whole runs, in pairs where they are: the estimate, and as many standard errors
    /// as Student's t says, widened by `sqrt(n / (n - 1))` since a resample of few runs varies too little.
    fn of_quantiles(&self, figures: [&Figure; 2], probability: f64, tail: f64) -> Difference {
        let [Some(before), Some(after)] = figures.map(run_samples) else {
            return Difference::Unknown;
        };
        let runs = before.len().min(after.len());
        if runs < 2 {
            return Difference::Unknown;
        }
        let paired = self.is_paired(figures);
        let mut rng = Seed::new(0).derive("quantiles").rng();
        let mut draw = |count: usize| (0..count).map(|_| random::below(&mut rng, count)).collect::<Vec<_>>();
        let of = |samples: &[f64], drawn: &[usize]| {
            let drawn: Vec<f64> = drawn.iter().map(|run| samples[*run]).collect();
            quantile(&drawn, probability).unwrap_or_default()
        };
        let resampled: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let drawn = draw(before.len());
                let drawn_after = if paired { drawn.clone() } else { draw(after.len()) };
                of(&after, &drawn_after) - of(&before, &drawn)
            })
            .collect();
        let estimate =
            quantile(&after, probability).unwrap_or_default() - quantile(&before, probability).unwrap_or_default();
        match sd(&resampled) {
            Some(error) if error > 0.0 => {
                let half = student::critical(tail, runs - 1) * error * (runs as f64 / (runs - 1) as f64).sqrt();
                Difference::Interval([estimate - half, estimate + half])
            }
            _ => Difference::Unknown,
        }
    }
}

/// The relative change of a figure over several cells together and its interval: a weighted mean over cells of each run's change, whose runs
/// are independent even where the cells share random choices. A cell weighs as much as it is certain, by the inverse of its squared
/// coefficients of variation, those of both runs alike: so no noisy cell hides what the others show, and equal runs have no change on average.
/// None where a cell lacks its runs.
pub(super) fn joint_change(cells: &[(CellPair<'_>, [&Figure; 2])], tail: f64) -> Option<(f64, [f64; 2])> {
    let (first, [figure, other]) = cells.first()?;
    let runs = [figure.run_means.len(), other.run_means.len()];
    let complete = |(_, figures): &(CellPair<'_>, [&Figure; 2])| {
        [0, 1]
            .iter()
            .all(|side| figures[*side].mean > 0.0 && figures[*side].run_means.len() == runs[*side])
    };
    if runs.contains(&0) || runs.contains(&1) || !cells.iter().all(complete) {
        return None;
    }
    let variation = |figure: &Figure| sd(&figure.run_means).unwrap_or_default() / figure.mean;
    let weight = |figures: &[&Figure; 2]| 1.0 / figures.iter().map(|figure| variation(figure).powi(2)).sum::<f64>();
    let weights: Vec<f64> = cells.iter().map(|(_, figures)| weight(figures)).collect();
    let total: f64 = weights.iter().sum();
    let course = |side: usize| -> Vec<f64> {
        let of_run = |run: usize| {
            let shares = cells
                .iter()
                .zip(&weights)
                .map(|((_, figures), weight)| weight / total * figures[side].run_means[run] / figures[0].mean);
            shares.sum::<f64>()
        };
        (0..runs[side]).map(of_run).collect()
    };
    let (before, after) = (course(0), course(1));
    let means = [mean(&before)?, mean(&after)?];
    let ends = if first.paired && runs[0] == runs[1] {
        of_pairs(&before, &after, tail).interval()?
    } else {
        combined(means, [of_samples(&before, tail)?, of_samples(&after, tail)?])
    };
    Some((means[1] - means[0], ends))
}

/// The interval of a difference of two means from their own.
fn combined([mean, new_mean]: [f64; 2], [[low, high], [new_low, new_high]]: [[f64; 2]; 2]) -> [f64; 2] {
    let difference = new_mean - mean;
    let length = |a: f64, b: f64| (a * a + b * b).sqrt();
    [
        difference - length(new_mean - new_low, high - mean),
        difference + length(new_high - new_mean, mean - low),
    ]
}

/// The interval of a figure's mean: the record's of 95 %, widened as Student's t widens from that level to the one wanted.
fn ends_of_mean(figure: &Figure, runs: usize, tail: f64) -> Option<[f64; 2]> {
    let Some([low, high]) = figure.ci95 else {
        return figure.varied.is_empty().then_some([figure.mean; 2]);
    };
    let degrees_of_freedom = runs.saturating_sub(1).max(1);
    let wider = student::critical(tail, degrees_of_freedom) / student::critical(TAIL_95, degrees_of_freedom);
    Some([
        figure.mean - (figure.mean - low) * wider,
        figure.mean + (high - figure.mean) * wider,
    ])
}

/// `mean ± t * sd / sqrt(n)`.
fn of_samples(samples: &[f64], tail: f64) -> Option<[f64; 2]> {
    let error = sd(samples)? / (samples.len() as f64).sqrt();
    let half = student::critical(tail, samples.len() - 1) * error;
    let mean = mean(samples)?;
    Some([mean - half, mean + half])
}

/// The difference of runs pair by pair.
fn of_pairs(before: &[f64], after: &[f64], tail: f64) -> Difference {
    let differences: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    if !varies(&differences) {
        return Difference::Exact;
    }
    of_samples(&differences, tail).map_or(Difference::Unknown, Difference::Interval)
}

/// One sample per run, where that is what the figure is of; of one that did not vary, enough equal ones.
fn run_samples(figure: &Figure) -> Option<Vec<f64>> {
    if figure.varied.is_empty() {
        return Some(vec![figure.mean; usize::try_from(figure.n).ok()?]);
    }
    let is_per_run = !figure.run_means.is_empty() && figure.run_means.len() as u64 == figure.n;
    is_per_run.then(|| figure.run_means.clone())
}

fn successful_runs(cell: &Cell) -> usize {
    usize::try_from(cell.repeats.saturating_sub(cell.failed)).unwrap_or(usize::MAX)
}

/// Whether a cell with random variation ran once.
fn is_single_run(cell: &Cell) -> bool {
    successful_runs(cell) == 1 && cell.doubts.iter().any(|doubt| doubt.kind == DoubtKind::FewRuns)
}
