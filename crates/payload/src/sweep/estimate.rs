//! How sure is a ratio that was found in a sample?

/// Where a figure lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// No less than this.
    pub low: f64,
    /// No more than this.
    pub high: f64,
}

impl Interval {
    /// Whether it is among what lies within.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// One shard of a sample: its octets as coded, and something that is known of every shard and goes up and down with them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) known: f64,
    pub(super) coded: f64,
    /// For how many shards it stands: one by the chance that it was drawn.
    pub(super) weight: f64,
    /// How much of what it stands for is left out, as a part of one: the chance that it was not drawn.
    pub(super) left_out: f64,
}

/// Of a sample, the ratio of its sums: coded by known.
pub(super) fn ratio(sample: &[Pair]) -> f64 {
    let sum = |of: fn(&Pair) -> f64| sample.iter().map(|pair| pair.weight * of(pair)).sum::<f64>();
    sum(|pair| pair.coded) / sum(|pair| pair.known)
}

/// How many octets all shards become, and how far from that the truth may lie, to either side, with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) octets: f64,
    pub(super) error: f64,
}

impl Estimate {
    /// From a sample that was drawn at random of shards of which `known` octets are known together: ratio estimator with linearised
    /// variance (Cochran, Sampling Techniques, 3rd edition, chapter 6), where each shard counts by the chance that it was drawn, and
    /// varies by the chance that it was not (Hájek, Asymptotic Theory of Rejective Sampling with Varying Probabilities from a Finite
    /// Population, 1964); Student's t with one degree of freedom less than there are shards that vary.
    ///
    /// Shards drawn one from each stratum vary less than this says, so the error is rather too large.
    pub(super) fn of(sample: &[Pair], known: f64) -> Self {
        Self {
            octets: ratio(sample) * known,
            error: half_width(sample) * known,
        }
    }

    /// With another added, whatever the one has to do with the other: errors add up.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            octets: self.octets + other.octets,
            error: self.error + other.error,
        }
    }

    /// Where the truth lies, if `unseen` is the part of it that a sample does not show.
    pub(super) fn interval(self, unseen: f64) -> Interval {
        let error = self.error + self.octets * unseen;
        Interval {
            low: (self.octets - error).max(0.0),
            high: self.octets + error,
        }
    }
}

/// By how much `one` is larger than `other`, on the shards that both have: the first of either.
pub(super) fn difference(one: &[Pair], other: &[Pair]) -> Vec<Pair> {
    let of_shard = |(one, other): (&Pair, &Pair)| Pair {
        coded: one.coded - other.coded,
        ..*one
    };
    one.iter().zip(other).map(of_shard).collect()
}

/// Whether `one` is no smaller than `other` with 97.5 % confidence, on the same shards. The difference of two ratios with the same divisor is
/// a ratio itself, and what shards have in common falls out of it.
pub(super) fn is_no_smaller(one: &[Pair], other: &[Pair]) -> bool {
    let differences = difference(one, other);
    ratio(&differences) >= half_width(&differences)
}

fn half_width(sample: &[Pair]) -> f64 {
    // What is drawn for sure does not vary; of one shard alone it cannot be said how much it does, and two are the fewest.
    let n = sample.iter().filter(|pair| pair.left_out > 0.0).count().max(2) as f64;
    let ratio = ratio(sample);
    let known: f64 = sample.iter().map(|pair| pair.weight * pair.known).sum();
    let squares: f64 = sample
        .iter()
        .map(|pair| pair.left_out * (pair.weight * (pair.coded - ratio * pair.known)).powi(2))
        .sum();
    student_975(n - 1.0) * (n / (n - 1.0) * squares).sqrt() / known
}

/// The 97.5 % quantile of Student's t (Abramowitz and Stegun, 26.7.5); true to 0.2 % from 5 degrees of freedom on.
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
    fn pair(known: f64, coded: f64, chance: f64) -> Pair {
        Pair {
            known,
            coded,
            weight: 1.0 / chance,
            left_out: 1.0 - chance,
        }
    }

    #[test]
    fn an_interval_has_no_width_where_shards_agree_or_all_are_drawn() {
        let interval = |sample: &[Pair]| Estimate::of(sample, 1.0).interval(0.0);
        let Interval { low, high } = interval(&[pair(10.0, 3.0, 0.1), pair(20.0, 6.0, 0.3)]);
        assert!((low - 0.3).abs() < 1e-12 && (high - 0.3).abs() < 1e-12);
        let all = |chance| [pair(10.0, 3.0, chance), pair(10.0, 5.0, chance)];
        assert_eq!(interval(&all(1.0)), Interval { low: 0.4, high: 0.4 });
        let Interval { low, high } = interval(&all(0.9));
        assert!(low < 0.35 && high > 0.45);
    }

    #[test]
    fn a_shard_counts_by_how_likely_it_was() {
        // One in ten of those that make 3 of 10, and the only one that makes 9.
        let sample = [pair(10.0, 3.0, 0.1), pair(10.0, 3.0, 0.1), pair(10.0, 9.0, 1.0)];
        let estimate = Estimate::of(&sample, 210.0);
        assert!((estimate.octets - 69.0).abs() < 1e-9, "{estimate:?}");
    }

    #[test]
    fn a_difference_shows_through_what_shards_have_in_common() {
        let shards = [100.0, 500.0, 300.0, 900.0, 200.0, 700.0];
        let sample = |factor: f64| shards.map(|coded| pair(1000.0, coded * factor, 0.01));
        let (one, other) = (sample(1.01), sample(1.0));
        assert!(is_no_smaller(&one, &other) && !is_no_smaller(&other, &one));
        assert!(Estimate::of(&one, 1.0).interval(0.0).contains(ratio(&other)));
    }

    #[test]
    fn what_has_fewer_shards_is_estimated_by_what_has_all_and_their_difference() {
        // On the first shards the other makes 100 of 1000, and on those that came later 300; the one makes 5 more.
        let pair = |coded| pair(1000.0, coded, 0.01);
        let other: Vec<Pair> = (0..12).map(|n| pair(if n < 6 { 100.0 } else { 300.0 })).collect();
        let one = [pair(105.0); 6];
        let beside = Estimate::of(&other, 1e6).plus(Estimate::of(&difference(&one, &other), 1e6));
        assert!((beside.octets - 205_000.0).abs() < 1e-6, "{beside:?}");
        assert!(beside.interval(0.0).contains(205_000.0) && beside.error >= Estimate::of(&other, 1e6).error);
        // By itself it would be far smaller, and sure of it.
        assert!(!Estimate::of(&one, 1e6).interval(0.0).contains(205_000.0));
    }
}
