//! The spread of a few runs of the same thing.

/// The least, the median and the most of some runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The median; of an even number of runs, the upper of the two in the middle.
    pub median: f64,
    /// The most.
    pub max: f64,
    /// How many runs there were.
    pub n: usize,
}

impl Spread {
    /// The spread of these runs; none where there are none.
    pub fn of(mut runs: Vec<f64>) -> Option<Self> {
        runs.sort_by(f64::total_cmp);
        let (min, max) = (*runs.first()?, *runs.last()?);
        let (n, median) = (runs.len(), runs[runs.len() / 2]);
        Some(Self { min, median, max, n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_odd_number_of_runs_is_one_of_them() {
        let spread = Spread {
            min: 1.0,
            median: 2.0,
            max: 9.0,
            n: 3,
        };
        assert_eq!(Spread::of(vec![9.0, 1.0, 2.0]), Some(spread));
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
