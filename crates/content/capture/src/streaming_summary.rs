//! Summarises samples without keeping them: count, mean and deviation exactly, quantiles within 0.6 %.
//!
//! Deviation by Welford's recurrence (Technometrics 4(3), 1962). Quantiles from a histogram whose bars are a 64th of an octave wide: the
//! middle of a bar is at most 2^(1/128) - 1 = 0.54 % from any sample in it. Its size does not depend on the number of samples.

use std::collections::BTreeMap;

/// Bars per octave: our own choice.
const BARS: f64 = 64.0;

/// A streaming summary of samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamingSummary {
    count: u64,
    mean: f64,
    /// The sum of squared differences from the mean.
    squares: f64,
    least: f64,
    most: f64,
    /// How many samples lie in each bar; zeros are in the lowest.
    bars: BTreeMap<i32, u64>,
}

impl StreamingSummary {
    /// Adds a sample, which is a number and at least 0.
    pub(crate) fn add(&mut self, sample: f64) {
        self.count += 1;
        let difference = sample - self.mean;
        self.mean += difference / self.count as f64;
        self.squares += difference * (sample - self.mean);
        (self.least, self.most) = if self.count == 1 {
            (sample, sample)
        } else {
            (self.least.min(sample), self.most.max(sample))
        };
        let bar = if sample > 0.0 {
            (libm::log2(sample) * BARS).floor() as i32
        } else {
            i32::MIN
        };
        *self.bars.entry(bar).or_default() += 1;
    }

    /// The number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; none where there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The smallest; none where there are none.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.least)
    }

    /// The largest; none where there are none.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.most)
    }

    /// Their population deviation, divided by n; none where there are none.
    pub fn population_sd(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squares / self.count as f64).max(0.0).sqrt())
    }

    /// Their sample deviation, divided by n - 1; none where there are fewer than two.
    pub fn sd(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).max(0.0).sqrt())
    }

    /// The quantile at `probability` (0 to 1), within 0.6 %; none where there are no samples.
    pub fn quantile(&self, probability: f64) -> Option<f64> {
        let rank = ((probability * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        let bar = self.bars.iter().find_map(|(bar, count)| {
            below += count;
            (below >= rank).then_some(*bar)
        })?;
        let middle = if bar == i32::MIN {
            0.0
        } else {
            libm::exp2((f64::from(bar) + 0.5) / BARS)
        };
        Some(middle.clamp(self.least, self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_samples() {
        let mut all = StreamingSummary::default();
        for sample in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            all.add(sample);
        }
        assert_eq!(
            (all.count(), all.mean(), all.population_sd()),
            (8, Some(5.0), Some(2.0))
        );
        assert_eq!((all.min(), all.max()), (Some(2.0), Some(9.0)));
        assert_eq!(all.sd(), Some((32.0_f64 / 7.0).sqrt()));
    }

    #[test]
    fn quantiles_lie_within_half_a_bar_of_the_sample_they_name() {
        let mut all = StreamingSummary::default();
        (1..=10_000).for_each(|sample| all.add(f64::from(sample) * 1e-4));
        for (probability, sample) in [(0.001, 0.001), (0.5, 0.5), (0.95, 0.95), (0.99, 0.99), (1.0, 1.0)] {
            let found = all.quantile(probability).unwrap();
            assert!((found / sample - 1.0).abs() < 0.0055, "{probability}: {found}");
        }
    }

    #[test]
    fn nothing_has_no_figures_and_zero_is_a_sample() {
        let mut all = StreamingSummary::default();
        assert_eq!((all.mean(), all.population_sd(), all.quantile(0.5)), (None, None, None));
        all.add(0.0);
        assert_eq!((all.mean(), all.sd(), all.quantile(0.5)), (Some(0.0), None, Some(0.0)));
    }
}
