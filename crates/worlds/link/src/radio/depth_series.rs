//! The depth of a queue over time, in bounded memory: when there would be too many bins, each two become one.

use lastmile_units::Instant;
use std::time::Duration;

/// The depth of a queue over time.
#[derive(Debug, Clone, PartialEq)]
pub struct DepthSeries {
    bin: u64,
    bins: Vec<Bin>,
    depth: u64,
    since: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bin {
    deepest: u64,
    /// Packets times nanoseconds.
    area: u64,
}

/// A part of a [`DepthSeries`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthSample {
    /// The beginning of the part.
    pub start: Instant,
    /// Packets, on average over time.
    pub mean: f64,
    /// The most packets.
    pub deepest: u64,
}

/// The bins at most, and the length of each at first. Our own choice.
const BINS_MAX: usize = 512;
const FIRST_BIN: u64 = 10_000_000;

impl Default for DepthSeries {
    /// Empty since time 0.
    fn default() -> Self {
        Self {
            bin: FIRST_BIN,
            bins: Vec::new(),
            depth: 0,
            since: 0,
        }
    }
}

impl DepthSeries {
    /// The depth is `depth` from `at` on, which is not before the last change.
    #[inline]
    pub(crate) fn change(&mut self, at: u64, depth: u64) {
        self.settle(at);
        self.depth = depth;
        let is_known = at < self.end_of_bins();
        let index = if is_known { self.bins.len() - 1 } else { self.bin_at(at) };
        let bin = &mut self.bins[index];
        bin.deepest = bin.deepest.max(depth);
    }

    /// Counts the present depth until `at`.
    #[inline]
    pub(crate) fn settle(&mut self, at: u64) {
        // Mostly in the bin of the last change, which is the last one.
        if at < self.end_of_bins()
            && let Some(bin) = self.bins.last_mut()
        {
            bin.area += self.depth * (at - self.since);
            self.since = at;
            return;
        }
        while self.since < at {
            let index = self.bin_at(self.since);
            let until = ((index as u64 + 1) * self.bin).min(at);
            let bin = &mut self.bins[index];
            bin.deepest = bin.deepest.max(self.depth);
            bin.area += self.depth * (until - self.since);
            self.since = until;
        }
    }

    #[inline]
    const fn end_of_bins(&self) -> u64 {
        self.bins.len() as u64 * self.bin
    }

    #[inline]
    fn bin_at(&mut self, at: u64) -> usize {
        while at / self.bin >= BINS_MAX as u64 {
            self.bin *= 2;
            let pair = |two: &[Bin]| Bin {
                deepest: two.iter().map(|bin| bin.deepest).max().unwrap_or(0),
                area: two.iter().map(|bin| bin.area).sum(),
            };
            self.bins = self.bins.chunks(2).map(pair).collect();
        }
        let index = (at / self.bin) as usize;
        if self.bins.len() <= index {
            self.bins.resize(index + 1, Bin::default());
        }
        index
    }

    /// The length of each part; the last one may be shorter.
    pub const fn sample_duration(&self) -> Duration {
        Duration::from_nanos(self.bin)
    }

    /// The parts in order of time.
    pub fn samples(&self) -> impl Iterator<Item = DepthSample> {
        let sample = |(index, bin): (usize, &Bin)| {
            let start = index as u64 * self.bin;
            let length = self.since.saturating_sub(start).min(self.bin);
            DepthSample {
                start: Instant::from_nanos(start),
                mean: if length == 0 {
                    0.0
                } else {
                    bin.area as f64 / length as f64
                },
                deepest: bin.deepest,
            }
        };
        self.bins.iter().enumerate().map(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_the_mean_over_its_time_and_the_greatest_depth() {
        let mut series = DepthSeries::default();
        series.change(5_000_000, 4);
        series.change(10_000_000, 2);
        series.settle(25_000_000);
        let samples: Vec<_> = series.samples().map(|sample| (sample.mean, sample.deepest)).collect();
        assert_eq!(samples, [(2.0, 4), (2.0, 2), (2.0, 2)]);
    }

    #[test]
    fn memory_is_bounded_and_the_mean_is_kept() {
        let mut series = DepthSeries::default();
        for second in 0..1000 {
            series.change(second * 1_000_000_000, second % 2 * 10);
        }
        series.settle(1000 * 1_000_000_000);
        assert!(series.samples().count() <= BINS_MAX);
        let bin = series.sample_duration().as_nanos() as f64;
        let area: f64 = series.bins.iter().map(|bin| bin.area as f64).sum();
        assert_eq!(area, 500.0 * 10.0 * 1e9);
        assert!(bin * BINS_MAX as f64 >= 1000e9);
    }
}
