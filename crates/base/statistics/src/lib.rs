//! Statistics of samples: centre, spread and the interval of the mean, with the definitions that published figures use.
//!
//! `population_sd` is the population standard deviation (divided by n), which the older reports print as rms, and `sd` the sample standard
//! deviation (divided by n - 1); both are given, under their own names, so that they are not confused. A [`Distribution`] has them of samples that are not kept.

mod distribution;
pub mod epoch_folding;
pub mod interval;
mod knee;
pub mod periodogram;
mod quantile;
mod ranks;

pub use distribution::Distribution;
pub use knee::{LoadPoint, knee};
pub use quantile::quantile;

/// The mean; none if there are no samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// The population standard deviation: the root of the mean squared distance from the mean. None if there are no samples.
pub fn population_sd(samples: &[f64]) -> Option<f64> {
    Some((squares(samples)? / samples.len() as f64).sqrt())
}

/// The sample standard deviation, which divides by n - 1. None for fewer than two samples.
pub fn sd(samples: &[f64]) -> Option<f64> {
    (samples.len() > 1).then(|| Some((squares(samples)? / (samples.len() - 1) as f64).sqrt()))?
}

/// Whether the samples differ.
pub fn varies(samples: &[f64]) -> bool {
    samples.windows(2).any(|pair| pair[0] != pair[1])
}

/// The sum of squared distances from the mean; exactly 0 for equal samples, despite the rounding of the mean.
fn squares(samples: &[f64]) -> Option<f64> {
    let mean = mean(samples)?;
    Some(if varies(samples) {
        samples.iter().map(|value| (value - mean) * (value - mean)).sum()
    } else {
        0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extracting times of the GZIPFilter report's case B without the filter, ms; it prints an average of 10779 and an rms of 120.
    const PRINTED: [f64; 5] = [10565.0, 10936.0, 10795.0, 10812.0, 10787.0];

    #[test]
    fn the_population_deviation_is_the_rms_that_the_gzipfilter_report_prints() {
        assert_eq!(mean(&PRINTED).unwrap().round(), 10779.0);
        assert_eq!(population_sd(&PRINTED).unwrap().round(), 120.0);
    }

    #[test]
    fn sd_is_the_sample_deviation() {
        // Submission times of the GEMINI report, s, printed with the sample deviation 1.242.
        let printed = [
            22.496, 20.733, 21.826, 21.460, 19.208, 21.644, 23.525, 21.782, 20.814, 23.085,
        ];
        assert_eq!((sd(&printed).unwrap() * 1000.0).round(), 1242.0);
        assert_eq!(sd(&[1.0]), None);
    }

    #[test]
    fn samples_that_are_all_alike_deviate_by_exactly_nothing() {
        assert_eq!(population_sd(&[0.1; 7]), Some(0.0));
        assert_eq!(sd(&[0.1; 7]), Some(0.0));
        assert_eq!((mean(&[]), population_sd(&[]), sd(&[])), (None, None, None));
    }
}
