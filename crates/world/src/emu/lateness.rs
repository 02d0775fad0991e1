//! How late were packets delivered, and is that too late for figures to be trusted?

use hdrhistogram::Histogram;
use std::time::Duration;

/// How much later than the link model says packets were handed to their receivers.
#[derive(Debug, Clone)]
pub struct Lateness(Histogram<u64>);

/// Beyond this a packet counts as hours late; it only bounds the histogram.
const LONGEST: u64 = 3_600_000_000_000;

impl Default for Lateness {
    /// Nothing was delivered yet.
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST, 2).expect("the bounds are in order and two digits are few"))
    }
}

impl Lateness {
    /// A packet was handed over `late` after it was due.
    pub(super) fn record(&mut self, late: Duration) {
        self.0.saturating_record((late.as_nanos() as u64).max(1));
    }

    /// How many packets were delivered.
    pub fn packets(&self) -> u64 {
        self.0.len()
    }

    /// The lateness that a share `quantile` (0 to 1) of the packets did not exceed, to two digits; zero where there were none.
    pub fn quantile(&self, quantile: f64) -> Duration {
        if self.0.is_empty() {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.0.value_at_quantile(quantile))
    }

    /// That of the packet that was latest.
    pub fn largest(&self) -> Duration {
        self.quantile(1.0)
    }

    /// What was recorded since `earlier`, which must be an earlier state of the same.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut difference = self.0.clone();
        difference
            .subtract(&earlier.0)
            .expect("what was recorded earlier is part of what is recorded now");
        Self(difference)
    }
}
