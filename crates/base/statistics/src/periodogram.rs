//! Whether a series has a period: the greatest peak of its periodogram, by Fisher's test.
//!
//! The periodogram is that of the ranks of the values, so that a few very large values do not hide the rest. Neighbours that are alike, as in
//! a queue, would look like a long period: what an autoregression of the first order explains is taken off before (prewhitening), and a
//! period must occur ten times. Under the hypothesis that what is left is in random order, the peak's share of the whole exceeds g with a
//! chance of at most m (1 - g)^(m - 1), where m is the number of frequencies (R. A. Fisher, Tests of significance in harmonic analysis,
//! Proceedings of the Royal Society A 125, 1929: the first term of his sum, which bounds it).

use crate::ranks::ranks;

/// The most values of a series that are looked at: a bound on the work, which grows with its square.
const VALUES_MAX: usize = 4096;
/// How often a period must occur in the series: our own choice.
const OCCURRENCES_MIN: usize = 10;
/// A series that is shorter than this has no answer: our own choice.
const VALUES_MIN: usize = 50;

/// The greatest peak of a periodogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Its share of the sum of all peaks: Fisher's g.
    pub share: f64,
    /// Its period, in values of the series.
    pub period: f64,
    /// The greatest chance of such a share in a series without a period.
    pub chance: f64,
}

/// The greatest peak of the periodogram of a series of values at equal intervals; none where it has fewer than 50 values, or they are equal. Of a
/// long series, the first 4,096 values count.
pub fn greatest_peak(series: &[f64]) -> Option<Peak> {
    let series = &series[..series.len().min(VALUES_MAX)];
    if series.len() < VALUES_MIN || !super::varies(series) {
        return None;
    }
    let values = prewhitened(&ranks(series));
    let n = values.len();
    let angles = |turns: usize| 2.0 * std::f64::consts::PI * turns as f64 / n as f64;
    let cosines: Vec<f64> = (0..n).map(|turns| libm::cos(angles(turns))).collect();
    let sines: Vec<f64> = (0..n).map(|turns| libm::sin(angles(turns))).collect();
    // The frequencies between those of the mean and of alternating values.
    let frequencies = OCCURRENCES_MIN..(n - 1) / 2 + 1;
    let count = frequencies.len() as f64;
    let power = |frequency: usize| {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (index, value) in values.iter().enumerate() {
            let turns = index * frequency % n;
            real += value * cosines[turns];
            imaginary += value * sines[turns];
        }
        real * real + imaginary * imaginary
    };
    let powers: Vec<f64> = frequencies.map(power).collect();
    let sum: f64 = powers.iter().sum();
    let (index, greatest) = powers
        .iter()
        .enumerate()
        .max_by(|one, other| one.1.total_cmp(other.1))?;
    let share = greatest / sum;
    let rest = (count - 1.0) * libm::log(1.0 - share);
    Some(Peak {
        share,
        period: n as f64 / (index + OCCURRENCES_MIN) as f64,
        chance: (count * libm::exp(rest)).min(1.0),
    })
}

/// What is left of each value when the part that the one before explains, and the mean, are taken off.
pub(crate) fn prewhitened(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let products: f64 = centred.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let squares: f64 = centred.iter().map(|value| value * value).sum();
    let slope = products / squares;
    let residuals: Vec<f64> = centred.windows(2).map(|pair| pair[1] - slope * pair[0]).collect();
    let mean = residuals.iter().sum::<f64>() / residuals.len() as f64;
    residuals.into_iter().map(|residual| residual - mean).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Values without a period: a linear congruential generator's (Numerical Recipes).
    pub(crate) fn noise(count: usize) -> Vec<f64> {
        let mut state = 1_u32;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1_u32 << 24)
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    #[test]
    fn a_period_below_noise_is_found_and_noise_alone_has_none() {
        let noise = noise(600);
        assert!(greatest_peak(&noise).unwrap().chance > 0.01);
        let with_period = noise
            .iter()
            .zip(0..)
            .map(|(value, index)| value + if index % 12 == 0 { 1.0 } else { 0.0 });
        let peak = greatest_peak(&with_period.collect::<Vec<_>>()).unwrap();
        assert!(peak.chance < 0.001, "{peak:?}");
        // A pulse has its harmonics too.
        let harmonic = 12.0 / peak.period;
        assert!((harmonic - harmonic.round()).abs() < 0.03, "{peak:?}");
    }

    /// A random walk, as the waiting times of a busy queue are.
    #[test]
    fn neighbours_that_are_alike_make_no_period() {
        let mut sum = 0.0;
        let walk: Vec<f64> = noise(600)
            .iter()
            .map(|step| {
                sum += step - 0.5;
                sum
            })
            .collect();
        let peak = greatest_peak(&walk).unwrap();
        assert!(peak.chance > 0.001, "{peak:?}");
    }

    #[test]
    fn one_enormous_value_makes_no_period() {
        let mut noise = noise(300);
        noise[100] = 1e9;
        assert!(greatest_peak(&noise).unwrap().chance > 0.01);
    }

    #[test]
    fn a_pure_wave_is_found_with_its_period() {
        let wave: Vec<f64> = (0..400)
            .map(|index| libm::sin(std::f64::consts::PI * f64::from(index) / 10.0))
            .collect();
        let peak = greatest_peak(&wave).unwrap();
        assert!((peak.period - 20.0).abs() < 1.1 && peak.chance < 1e-6, "{peak:?}");
    }

    #[test]
    fn equal_values_and_short_series_have_no_answer() {
        assert_eq!(greatest_peak(&[1.0; 100]), None);
        assert_eq!(greatest_peak(&[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 0.0]), [2.5, 1.0, 2.5, 0.0]);
    }
}
