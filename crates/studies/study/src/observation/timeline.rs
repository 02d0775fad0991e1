//! A figure over the time of one repeat, in bounded size.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The means of a figure over equal parts of a repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The length of a part, in seconds.
    pub step_s: f64,
    /// The mean of each part, in the figure's base unit, to three digits.
    pub values: Vec<f64>,
}

/// The most parts: one per five pixels of a wide chart. Our own choice.
const PARTS_MAX: usize = 160;

impl Timeline {
    /// The timeline of parts of length `step`. Where they are more than 160, neighbours are put together.
    pub fn new(step: Duration, values: &[f64]) -> Self {
        let together = values.len().div_ceil(PARTS_MAX).max(1);
        let mean = |part: &[f64]| rounded(part.iter().sum::<f64>() / part.len() as f64);
        Self {
            step_s: step.as_secs_f64() * together as f64,
            values: values.chunks(together).map(mean).collect(),
        }
    }

    /// The middle of each part, in seconds from the beginning, with its value.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let middle = |at: usize| (at as f64 + 0.5) * self.step_s;
        self.values
            .iter()
            .enumerate()
            .map(move |(at, value)| (middle(at), *value))
    }
}

/// To three significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_parts_are_put_together_and_keep_their_mean() {
        let few = Timeline::new(Duration::from_millis(80), &[1.0, 2.0 / 3.0]);
        assert_eq!((few.step_s, &few.values[..]), (0.08, &[1.0, 0.667][..]));
        let values: Vec<f64> = (0..1_000).map(f64::from).collect();
        let many = Timeline::new(Duration::from_millis(10), &values);
        assert_eq!((many.step_s, many.values.len()), (0.07, 143));
        assert_eq!(many.points().next(), Some((0.035, 3.0)));
        assert_eq!(Timeline::new(Duration::ZERO, &[]).values.len(), 0);
    }
}
