//! The distribution of many samples in little memory: bins of 0.05 % of a value, and the exact mean, deviation and ends.

use crate::{mean, squares};
use std::collections::BTreeMap;

/// Samples in bins: those whose first twelve binary digits are equal share one. A quantile is off by at most 0.025 % of its value; the count, the
/// mean, the deviation and both ends are those of the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    n: u64,
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
    min: f64,
    max: f64,
    /// The count of each bin, by its index; an index is negative where values are.
    bins: BTreeMap<i64, u64>,
}

/// The bits of a double that the index of its bin leaves out: 11 of the 52 of its fraction are kept.
const SHIFT: u32 = 41;

impl Distribution {
    /// The distribution of samples; none where there are none, or one is not finite.
    pub fn of_samples(samples: &[f64]) -> Option<Self> {
        let counts = samples.iter().map(|value| (*value, 1));
        Some(Self {
            mean: mean(samples)?,
            squares: squares(samples)?,
            ..Self::of_counts(counts, 0.0)?
        })
    }

    /// The distribution of values that occur several times each. `mean` is their exact mean, which the values may give to fewer digits. None where
    /// there are none, or one is not finite.
    pub fn of_counts(counts: impl IntoIterator<Item = (f64, u64)>, mean: f64) -> Option<Self> {
        let (mut n, mut squares, mut bins) = (0_u64, 0.0, BTreeMap::new());
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for (value, count) in counts {
            if !value.is_finite() {
                return None;
            }
            if count == 0 {
                continue;
            }
            n = n.checked_add(count)?;
            squares += (value - mean) * (value - mean) * count as f64;
            (min, max) = (min.min(value), max.max(value));
            *bins.entry(bin_of(value)).or_default() += count;
        }
        (n > 0).then_some(Self {
            n,
            mean,
            squares,
            min,
            max,
            bins,
        })
    }

    /// A distribution from what [`Distribution::bins`] and the other getters gave; none where they contradict each other.
    pub fn of_parts(
        mean: f64,
        squares: f64,
        [min, max]: [f64; 2],
        bins: impl IntoIterator<Item = (i64, u64)>,
    ) -> Option<Self> {
        let bins: BTreeMap<i64, u64> = bins.into_iter().collect();
        let n = bins.values().try_fold(0_u64, |sum, count| sum.checked_add(*count))?;
        let ends = bins.keys().next().zip(bins.keys().next_back());
        let is_sound = ends == Some((&bin_of(min), &bin_of(max)))
            && bins.values().all(|count| *count > 0)
            && [mean, squares, min, max].iter().all(|value| value.is_finite())
            && squares >= 0.0;
        is_sound.then_some(Self {
            n,
            mean,
            squares,
            min,
            max,
            bins,
        })
    }

    /// All distributions as one; none where there are none.
    pub fn merge<'a>(all: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut all = all.into_iter();
        let mut sum = all.next()?.clone();
        for other in all {
            let n = sum.n.checked_add(other.n)?;
            let distance = other.mean - sum.mean;
            // Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
            sum.squares += other.squares + distance * distance * (sum.n as f64 * (other.n as f64 / n as f64));
            sum.mean += distance * (other.n as f64 / n as f64);
            (sum.min, sum.max) = (sum.min.min(other.min), sum.max.max(other.max));
            sum.n = n;
            for (bin, count) in &other.bins {
                *sum.bins.entry(*bin).or_default() += count;
            }
        }
        Some(sum)
    }

    /// How many samples there are.
    pub const fn count(&self) -> u64 {
        self.n
    }

    /// Their mean.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The sum of their squared distances from the mean.
    pub const fn squares(&self) -> f64 {
        self.squares
    }

    /// The least and the greatest.
    pub const fn ends(&self) -> [f64; 2] {
        [self.min, self.max]
    }

    /// The population standard deviation.
    pub fn population_sd(&self) -> f64 {
        (self.squares / self.n as f64).sqrt()
    }

    /// The sample standard deviation; none for one sample.
    pub fn sd(&self) -> Option<f64> {
        (self.n > 1).then(|| (self.squares / (self.n - 1) as f64).sqrt())
    }

    /// The quantile of probability `probability`, as [`crate::quantile`] interpolates it.
    pub fn quantile(&self, probability: f64) -> f64 {
        let rank = probability.clamp(0.0, 1.0) * (self.n - 1) as f64;
        let [below, above] = [rank.floor(), rank.ceil()].map(|rank| self.at_rank(rank as u64));
        below + (above - below) * (rank - rank.floor())
    }

    /// The sample of this rank, from 0; to the width of its bin, except at both ends.
    fn at_rank(&self, rank: u64) -> f64 {
        if rank == 0 {
            return self.min;
        }
        let mut seen = 0;
        let bin = self.bins.iter().find(|(_, count)| {
            seen += **count;
            seen > rank
        });
        match bin {
            Some((bin, _)) if seen < self.n || rank + 1 < self.n => self.value_of(*bin),
            _ => self.max,
        }
    }

    /// The middle of a bin, but no value beyond the ends.
    fn value_of(&self, bin: i64) -> f64 {
        middle_of(bin).clamp(self.min, self.max)
    }

    /// Each bin that is not empty, by its index, with its count, in ascending order.
    pub fn bins(&self) -> impl Iterator<Item = (i64, u64)> {
        self.bins.iter().map(|(bin, count)| (*bin, *count))
    }

    /// The cumulative distribution: each value, to the width of its bin, with the number of samples that do not exceed it.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut seen = 0;
        self.bins.iter().map(move |(bin, count)| {
            seen += count;
            (if seen == self.n { self.max } else { self.value_of(*bin) }, seen)
        })
    }
}

fn bin_of(value: f64) -> i64 {
    let bin = (value.abs().to_bits() >> SHIFT) as i64;
    if value < 0.0 { -bin } else { bin }
}

fn middle_of(bin: i64) -> f64 {
    if bin == 0 {
        return 0.0;
    }
    let magnitude = f64::from_bits(bin.unsigned_abs() << SHIFT | 1 << (SHIFT - 1));
    if bin < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{population_sd, quantile, sd};

    /// Response times from 1 ms to 1,000 s, most of them short, without randomness.
    fn skewed(count: usize) -> Vec<f64> {
        let share = |at: usize| (at as f64 * 0.618_033_988_749_895).fract();
        (0..count)
            .map(|at| 0.001 / (1.0 - share(at)).powi(2))
            .map(|time| time.min(1000.0))
            .collect()
    }

    #[test]
    fn quantiles_are_within_a_fortieth_of_a_per_cent_and_moments_are_exact() {
        let samples = skewed(5_000);
        let kept = Distribution::of_samples(&samples).unwrap();
        assert_eq!(kept.count(), 5_000);
        assert_eq!(kept.mean(), mean(&samples).unwrap());
        assert_eq!(kept.population_sd(), population_sd(&samples).unwrap());
        assert_eq!(kept.sd(), sd(&samples));
        for probability in [0.0, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let (found, exact) = (kept.quantile(probability), quantile(&samples, probability).unwrap());
            assert!((found / exact - 1.0).abs() < 0.000_25, "{probability}: {found} {exact}");
        }
        assert_eq!([kept.quantile(0.0), kept.quantile(1.0)], kept.ends());
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let samples = skewed(3_000);
        let parts: Vec<_> = samples
            .chunks(700)
            .map(|part| Distribution::of_samples(part).unwrap())
            .collect();
        let (sum, whole) = (
            Distribution::merge(&parts).unwrap(),
            Distribution::of_samples(&samples).unwrap(),
        );
        assert_eq!((sum.count(), sum.ends()), (whole.count(), whole.ends()));
        assert!(sum.bins().eq(whole.bins()));
        assert!((sum.mean() / whole.mean() - 1.0).abs() < 1e-12);
        assert!((sum.population_sd() / whole.population_sd() - 1.0).abs() < 1e-12);
        assert_eq!(Distribution::merge([]), None);
    }

    #[test]
    fn values_of_any_sign_are_in_order_and_zero_is_exact() {
        let kept = Distribution::of_samples(&[-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.0]).unwrap();
        let values: Vec<(f64, u64)> = kept.cumulative().collect();
        assert!(values.is_sorted_by(|(one, _), (other, _)| one < other), "{values:?}");
        assert_eq!(
            (kept.quantile(0.5), kept.ends(), values.last()),
            (0.0, [-2.0, 2.0], Some(&(2.0, 7)))
        );
        assert_eq!(Distribution::of_samples(&[1.0, f64::NAN]), None);
        assert_eq!(Distribution::of_samples(&[]), None);
    }

    #[test]
    fn a_single_sample_is_every_quantile() {
        let kept = Distribution::of_samples(&[0.3]).unwrap();
        assert_eq!(
            (kept.quantile(0.0), kept.quantile(0.5), kept.quantile(0.99)),
            (0.3, 0.3, 0.3)
        );
        assert_eq!((kept.population_sd(), kept.sd()), (0.0, None));
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        let kept = Distribution::of_samples(&skewed(100)).unwrap();
        let again = |ends| Distribution::of_parts(kept.mean(), kept.squares(), ends, kept.bins());
        assert_eq!(again(kept.ends()).as_ref(), Some(&kept));
        assert_eq!(again([kept.ends()[0] / 2.0, kept.ends()[1]]), None);
        assert_eq!(Distribution::of_parts(1.0, 0.0, [1.0, 1.0], []), None);
        assert_eq!(Distribution::of_parts(1.0, -1.0, [1.0, 1.0], [(bin_of(1.0), 1)]), None);
        assert_eq!(Distribution::of_parts(1.0, 0.0, [1.0, 1.0], [(bin_of(1.0), 0)]), None);
    }
}
