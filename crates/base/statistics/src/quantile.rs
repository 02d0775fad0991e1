//! Quantiles of samples.

/// The quantile of probability `probability` (0 to 1), by linear interpolation between order statistics: type 7 of Hyndman and Fan,
/// "Sample Quantiles in Statistical Packages", *The American Statistician* 50 (1996), the default of R and NumPy. None if there are no
/// samples. With few samples, the outer quantiles are little more than the greatest and the least sample.
pub fn quantile(samples: &[f64], probability: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = probability.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    Some(below + (above - below) * (rank - rank.floor()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_between_the_samples_next_to_them() {
        let samples = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&samples, 0.0), Some(1.0));
        assert_eq!(quantile(&samples, 0.5), Some(2.5));
        assert_eq!(quantile(&samples, 0.75), Some(3.25));
        assert_eq!(quantile(&samples, 1.0), Some(4.0));
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
