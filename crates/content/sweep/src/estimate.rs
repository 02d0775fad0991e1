//! Confidence intervals of a ratio that is estimated from a sample.

/// One shard of a sample: its compressed size, and an auxiliary size that is known of every shard and varies with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightedShard {
    pub(super) auxiliary: f64,
    pub(super) compressed: f64,
    /// How many shards it stands for: 1 / the chance that it was drawn.
    pub(super) weight: f64,
    /// How much of what it stands for is left out, from 0 to 1: the chance that it was not drawn.
    pub(super) left_out: f64,
}

/// The ratio of a sample's weighted sums: compressed size by auxiliary size.
pub(super) fn ratio(sample: &[WeightedShard]) -> f64 {
    let sum = |of: fn(&WeightedShard) -> f64| sample.iter().map(|pair| pair.weight * of(pair)).sum::<f64>();
    sum(|pair| pair.compressed) / sum(|pair| pair.auxiliary)
}

/// The estimated compressed size of all shards, and the half-width of its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) bytes: f64,
    pub(super) error: f64,
}

impl Estimate {
    /// From a random sample of shards, where `known` is the sum of the auxiliary sizes of all shards: ratio estimator with linearised variance
    /// (Cochran, Sampling Techniques, 3rd edition, chapter 6), where each shard is weighted by the inverse of the chance that it was drawn, and
    /// its variance by the chance that it was not (Hájek, Asymptotic Theory of Rejective Sampling with Varying Probabilities from a Finite
    /// Population, 1964); Student's t with one degree of freedom less than the number of shards that vary.
    ///
    /// Shards drawn one per stratum vary less than this says, so the error is rather too large.
    pub(super) fn from_sample(sample: &[WeightedShard], known: f64) -> Self {
        Self {
            bytes: ratio(sample) * known,
            error: half_width(sample) * known,
        }
    }

    /// The sum of two estimates; errors add up, whatever their correlation.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            error: self.error + other.error,
        }
    }

    /// The interval of the true size, widened by `unseen`, the part of it that a sample does not show.
    pub(super) fn interval(self, unseen: f64) -> [f64; 2] {
        let error = self.error + self.bytes * unseen;
        [(self.bytes - error).max(0.0), self.bytes + error]
    }
}

/// By how much `one` is larger than `other`, on the shards that both have: the first ones of each.
pub(super) fn difference(one: &[WeightedShard], other: &[WeightedShard]) -> Vec<WeightedShard> {
    let of_shard = |(one, other): (&WeightedShard, &WeightedShard)| WeightedShard {
        compressed: one.compressed - other.compressed,
        ..*one
    };
    one.iter().zip(other).map(of_shard).collect()
}

/// Whether `one` is no smaller than `other` with 97.5 % confidence, on the same shards. The difference of two ratios with the same divisor
/// is itself a ratio, in which the variation that both share cancels.
pub(super) fn is_no_smaller(one: &[WeightedShard], other: &[WeightedShard]) -> bool {
    let differences = difference(one, other);
    ratio(&differences) >= half_width(&differences)
}

fn half_width(sample: &[WeightedShard]) -> f64 {
    // A shard drawn with certainty does not vary. The variance of a single shard is unknown, so n is at least two.
    let n = sample.iter().filter(|pair| pair.left_out > 0.0).count().max(2) as f64;
    let ratio = ratio(sample);
    let known: f64 = sample.iter().map(|pair| pair.weight * pair.auxiliary).sum();
    let squares: f64 = sample
        .iter()
        .map(|pair| pair.left_out * (pair.weight * (pair.compressed - ratio * pair.auxiliary)).powi(2))
        .sum();
    student_975(n - 1.0) * (n / (n - 1.0) * squares).sqrt() / known
}

/// The 97.5 % quantile of Student's t (Abramowitz and Stegun, 26.7.5); accurate to 0.2 % from 5 degrees of freedom on.
fn student_975(degrees: f64) -> f64 {
    const Z: f64 = 1.959_963_985;
    let power = |n| Z.powi(n);
    let terms = [
        (power(3) + Z) / 4.0,
        (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z) / 96.0,
        (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z) / 384.0,
    ];
    let terms = terms.iter().rev().fold(0.0, |sum, term| (sum + term) / degrees);
    Z + terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_t_is_that_of_tables() {
        for (degrees, expected) in [
            (5.0, 2.5706),
            (7.0, 2.3646),
            (15.0, 2.1314),
            (31.0, 2.0395),
            (1e9, 1.96),
        ] {
            assert!((student_975(degrees) / expected - 1.0).abs() < 0.002, "{degrees}");
        }
    }

    /// A shard that was drawn with this chance.
    fn pair(known: f64, coded: f64, chance: f64) -> WeightedShard {
        WeightedShard {
            auxiliary: known,
            compressed: coded,
            weight: 1.0 / chance,
            left_out: 1.0 - chance,
        }
    }

    fn contains(estimate: Estimate, value: f64) -> bool {
        let [low, high] = estimate.interval(0.0);
        (low..=high).contains(&value)
    }

    #[test]
    fn an_interval_has_no_width_where_shards_agree_or_all_are_drawn() {
        let interval = |sample: &[WeightedShard]| Estimate::from_sample(sample, 1.0).interval(0.0);
        let [low, high] = interval(&[pair(10.0, 3.0, 0.1), pair(20.0, 6.0, 0.3)]);
        assert!((low - 0.3).abs() < 1e-12 && (high - 0.3).abs() < 1e-12);
        let all = |chance| [pair(10.0, 3.0, chance), pair(10.0, 5.0, chance)];
        assert_eq!(interval(&all(1.0)), [0.4, 0.4]);
        let [low, high] = interval(&all(0.9));
        assert!(low < 0.35 && high > 0.45);
    }

    #[test]
    fn a_shard_counts_by_how_likely_it_was() {
        // One in ten of the shards that compress 10 to 3, and the only one that compresses 10 to 9.
        let sample = [pair(10.0, 3.0, 0.1), pair(10.0, 3.0, 0.1), pair(10.0, 9.0, 1.0)];
        let estimate = Estimate::from_sample(&sample, 210.0);
        assert!((estimate.bytes - 69.0).abs() < 1e-9, "{estimate:?}");
    }

    #[test]
    fn a_difference_shows_through_what_shards_have_in_common() {
        let shards = [100.0, 500.0, 300.0, 900.0, 200.0, 700.0];
        let sample = |factor: f64| shards.map(|coded| pair(1000.0, coded * factor, 0.01));
        let (one, other) = (sample(1.01), sample(1.0));
        assert!(is_no_smaller(&one, &other) && !is_no_smaller(&other, &one));
        assert!(contains(Estimate::from_sample(&one, 1.0), ratio(&other)));
    }

    #[test]
    fn what_has_fewer_shards_is_estimated_by_what_has_all_and_their_difference() {
        // `other` compresses 1000 to 100 on the first shards, and to 300 on the later ones; `one` is 5 larger.
        let pair = |coded| pair(1000.0, coded, 0.01);
        let other: Vec<WeightedShard> = (0..12).map(|n| pair(if n < 6 { 100.0 } else { 300.0 })).collect();
        let one = [pair(105.0); 6];
        let beside = Estimate::from_sample(&other, 1e6).plus(Estimate::from_sample(&difference(&one, &other), 1e6));
        assert!((beside.bytes - 205_000.0).abs() < 1e-6, "{beside:?}");
        assert!(contains(beside, 205_000.0) && beside.error >= Estimate::from_sample(&other, 1e6).error);
        // By itself, its estimate would be far too small, with a narrow interval.
        assert!(!contains(Estimate::from_sample(&one, 1e6), 205_000.0));
    }
}
