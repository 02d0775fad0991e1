//! The distribution of many times, in bounded memory: three significant digits of each, and their exact mean.

use hdrhistogram::Histogram;
use hdrhistogram::iterators::IterationValue;
use std::time::Duration;

/// Times from 1 ns to an hour; a longer one counts as an hour in quantiles, and as it is in the mean.
#[derive(Debug, Clone)]
pub struct Distribution {
    histogram: Histogram<u64>,
    sum_nanos: u128,
}

/// An hour.
const NANOS_MAX: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

impl Default for Distribution {
    fn default() -> Self {
        // The histogram grows to what it is given, so that unused ones are small.
        let mut histogram = Histogram::new(SIGNIFICANT_DIGITS).expect("three digits are allowed");
        histogram.auto(true);
        Self {
            histogram,
            sum_nanos: 0,
        }
    }
}

impl Distribution {
    /// Adds a time.
    pub fn record(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.sum_nanos += u128::from(nanos);
        self.histogram
            .record(nanos.min(NANOS_MAX))
            .expect("a histogram that grows takes an hour");
    }

    /// Adds the times of `other`.
    pub fn add(&mut self, other: &Self) {
        self.sum_nanos += other.sum_nanos;
        self.histogram
            .add(&other.histogram)
            .expect("a histogram that grows takes another's times");
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their mean; none of no times.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_nanos.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The smallest time that at least a share `probability` of them does not exceed, to three digits; none of no times.
    pub fn quantile(&self, probability: f64) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.histogram.value_at_quantile(probability)))
    }

    /// The quantile of these times and `missing` more that are longer than any; none where it is one of those, or there are none.
    pub fn quantile_with_missing(&self, probability: f64, missing: u64) -> Option<Duration> {
        let rank = (probability * (self.count() + missing) as f64).ceil().max(1.0);
        let share = rank / self.count() as f64;
        (self.count() > 0 && share <= 1.0)
            .then(|| self.quantile(share))
            .flatten()
    }

    /// The longest; none of no times.
    pub fn max(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.histogram.max()))
    }

    /// The standard deviation, to three digits, in seconds.
    pub fn population_sd(&self) -> f64 {
        if self.count() == 0 {
            0.0
        } else {
            self.histogram.stdev() / 1e9
        }
    }

    /// Whether two times are equal at the resolution of a distribution.
    pub fn are_equivalent(&self, one: Duration, other: Duration) -> bool {
        self.histogram
            .equivalent(one.as_nanos() as u64, other.as_nanos() as u64)
    }

    /// The cumulative distribution: each recorded time (to three digits) with the share of times that do not exceed it.
    pub fn cumulative(&self) -> impl Iterator<Item = (Duration, f64)> {
        let mut seen = 0;
        let all = self.count() as f64;
        self.histogram.iter_recorded().map(move |step| {
            seen += step.count_at_value();
            (Duration::from_nanos(step.value_iterated_to()), seen as f64 / all)
        })
    }

    /// Each recorded time (to three digits) with its count, in ascending order.
    pub fn counts(&self) -> impl Iterator<Item = (Duration, u64)> {
        let steps = self.histogram.iter_recorded();
        let middle = |step: &IterationValue<u64>| self.histogram.median_equivalent(step.value_iterated_to());
        steps.map(move |step| (Duration::from_nanos(middle(&step)), step.count_at_value()))
    }

    /// The histogram, in nanoseconds.
    pub(crate) fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_count_what_is_missing_as_longest() {
        let mut times = Distribution::default();
        for millis in 1..=98 {
            times.record(Duration::from_millis(millis));
        }
        let near =
            |found: Option<Duration>, millis| times.are_equivalent(found.unwrap(), Duration::from_millis(millis));
        assert!(near(times.quantile(0.5), 49));
        assert!(near(times.quantile_with_missing(0.5, 2), 50));
        assert!(near(times.quantile_with_missing(0.98, 2), 98));
        assert_eq!(times.quantile_with_missing(0.99, 2), None);
        assert_eq!(times.mean(), Some(Duration::from_micros(49_500)));
        assert_eq!(Distribution::default().quantile(0.5), None);
        assert_eq!(Distribution::default().mean(), None);
    }

    #[test]
    fn distributions_add_up() {
        let [mut one, mut two] = [(); 2].map(|()| Distribution::default());
        one.record(Duration::from_secs(1));
        two.record(Duration::from_secs(3));
        two.record(Duration::from_secs(7_200));
        one.add(&two);
        assert_eq!(one.count(), 3);
        assert_eq!(one.mean(), Some(Duration::from_nanos(7_204_000_000_000 / 3)));
        assert_eq!(one.cumulative().last().unwrap().1, 1.0);
        assert_eq!(one.counts().map(|(_, count)| count).collect::<Vec<_>>(), [1, 1, 1]);
    }
}
