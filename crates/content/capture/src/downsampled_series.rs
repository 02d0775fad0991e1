//! A series that thins itself while it grows, so that hours are drawn in a few hundred points.

use lastmile_units::Instant;

/// The most points of a series: our own choice, two per three pixels of a wide chart. Thinning keeps half of them.
pub(crate) const POINTS_MAX: usize = 512;

/// Bytes over time, thinned evenly in time: of the points that fall into one interval, the last is kept. In a growing series that is the
/// highest, so a line through the points leaves out nothing that could be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DownsampledSeries {
    points: Vec<(Instant, i64)>,
    /// No two points are in one interval of this many nanoseconds; 0 while all are kept.
    interval: u64,
}

impl DownsampledSeries {
    /// The points kept, in the order of time.
    pub fn points(&self) -> &[(Instant, i64)] {
        &self.points
    }

    pub(crate) fn add(&mut self, at: Instant, bytes: i64) {
        if let Some(last) = self.points.last_mut()
            && self.interval > 0
            && last.0.as_nanos() / self.interval == at.as_nanos() / self.interval
        {
            *last = (at, bytes);
            return;
        }
        if self.points.len() == POINTS_MAX {
            self.thin();
        }
        self.points.push((at, bytes));
    }

    /// Removes about half of the points, with an interval at least twice as long as before.
    fn thin(&mut self) {
        let times = || self.points.iter().map(|(at, _)| at.as_nanos());
        let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let even = (last - first) / (POINTS_MAX as u64 / 2) + 1;
        self.interval = even.max(self.interval.saturating_mul(2));
        let interval = self.interval;
        self.points.reverse();
        self.points.dedup_by_key(|(at, _)| at.as_nanos() / interval);
        self.points.reverse();
        // Times that go back and forth are not thinned by that.
        if self.points.len() > POINTS_MAX * 3 / 4 {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cumulative(count: u64, step: u64) -> DownsampledSeries {
        let mut trace = DownsampledSeries::default();
        for n in 0..count {
            trace.add(Instant::from_nanos(n * step), n as i64);
        }
        trace
    }

    #[test]
    fn few_points_are_all_kept() {
        let trace = cumulative(POINTS_MAX as u64, 7);
        assert_eq!(trace.points().len(), POINTS_MAX);
    }

    #[test]
    fn many_points_are_thinned_evenly_and_both_ends_are_near_the_true_ones() {
        let trace = cumulative(1_000_000, 1000);
        assert!(
            (POINTS_MAX / 4..=POINTS_MAX).contains(&trace.points().len()),
            "{}",
            trace.points().len()
        );
        assert_eq!(
            trace.points().last(),
            Some(&(Instant::from_nanos(999_999_000), 999_999))
        );
        assert!(trace.points()[0].1 < 1_000_000 / (POINTS_MAX as i64 / 4));
        assert!(trace.points().is_sorted());
    }

    #[test]
    fn times_that_jump_about_take_no_more_room() {
        let mut trace = DownsampledSeries::default();
        for n in 0..100_000_u64 {
            trace.add(Instant::from_nanos(if n % 2 == 0 { n } else { u64::MAX - n }), 0);
        }
        assert!(trace.points().len() <= POINTS_MAX);
    }
}
