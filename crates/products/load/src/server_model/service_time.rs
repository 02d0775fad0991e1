//! Distributions of service times, as text: `constant:20ms`, `exponential:20ms`, `lognormal:20ms:0.5`.

use lastmile_units::{Rng, duration, random};
use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// How long a request is served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServiceTime {
    /// Always as long.
    Constant(Duration),
    /// An exponential distribution of this mean.
    Exponential(Duration),
    /// A lognormal distribution.
    Lognormal {
        /// Its mean.
        mean: Duration,
        /// Its standard deviation as a share of the mean.
        variation: f64,
    },
}

/// A service time that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no service time: {problem}; write it like constant:20ms, exponential:20ms or lognormal:20ms:0.5")]
pub struct ServiceTimeError {
    found: String,
    problem: String,
}

/// The longest coefficient of variation: our own choice.
const VARIATION_MAX: f64 = 100.0;

impl FromStr for ServiceTime {
    type Err = ServiceTimeError;

    /// Reads a distribution with its mean; a time alone is constant. The third part of a lognormal one is its standard deviation as a share
    /// of the mean.
    fn from_str(text: &str) -> Result<Self, ServiceTimeError> {
        let refused = |problem: String| ServiceTimeError {
            found: text.to_owned(),
            problem,
        };
        let time = |text: &str| duration::parse(text).map_err(|error| refused(error.to_string()));
        match text.split(':').map(str::trim).collect::<Vec<_>>()[..] {
            [constant] | ["constant", constant] => time(constant).map(Self::Constant),
            ["exponential", mean] => time(mean).map(Self::Exponential),
            ["lognormal", mean, variation] => {
                let share = variation.parse::<f64>().ok();
                let variation = share.filter(|share| (0.0..=VARIATION_MAX).contains(share));
                let variation =
                    variation.ok_or_else(|| refused("its variation is no number from 0 to 100".to_owned()))?;
                Ok(Self::Lognormal {
                    mean: time(mean)?,
                    variation,
                })
            }
            _ => Err(refused(
                "there is no such distribution, or it has other parts".to_owned(),
            )),
        }
    }
}

impl fmt::Display for ServiceTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(time) => f.write_str(&duration::print(*time)),
            Self::Exponential(mean) => write!(f, "exponential:{}", duration::print(*mean)),
            Self::Lognormal { mean, variation } => write!(f, "lognormal:{}:{variation}", duration::print(*mean)),
        }
    }
}

impl ServiceTime {
    /// A random service time, rounded down to a nanosecond.
    pub fn draw(self, rng: &mut Rng) -> Duration {
        match self {
            Self::Constant(time) => time,
            Self::Exponential(mean) => mean.mul_f64(-libm::log(random::positive_unit_fraction(rng))),
            Self::Lognormal { mean, variation } => {
                // With standard deviation s of the logarithm, the mean is exp(m + s^2 / 2), and variation^2 = exp(s^2) - 1.
                let variance = libm::log1p(variation * variation);
                let factor = libm::exp(variance.sqrt() * standard_normal(rng) - variance / 2.0);
                mean.mul_f64(factor)
            }
        }
    }
}

/// A standard normal number (Box and Muller 1958).
fn standard_normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * libm::log(random::positive_unit_fraction(rng))).sqrt();
    radius * libm::cos(TAU * random::unit_fraction(rng))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::Seed;

    #[test]
    fn service_times_have_the_moments_that_are_asked_for() {
        const N: u32 = 200_000;
        for (text, variation) in [
            ("constant:20ms", 0.0),
            ("exponential:20ms", 1.0),
            ("lognormal:20ms:0.5", 0.5),
        ] {
            let distribution: ServiceTime = text.parse().unwrap();
            let mut rng = Seed::new(1).rng();
            let times: Vec<f64> = (0..N)
                .map(|_| distribution.draw(&mut rng).as_secs_f64() * 50.0)
                .collect();
            let mean = times.iter().sum::<f64>() / f64::from(N);
            let sd = (times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / f64::from(N)).sqrt();
            // Four standard errors of the mean, variation / sqrt(N); that of the deviation is within three times as much here.
            let tolerance = 4.0 * variation / f64::from(N).sqrt() + 1e-9;
            assert!(
                (mean - 1.0).abs() <= tolerance && (sd - variation).abs() <= 3.0 * tolerance,
                "{text}: {mean} {sd}"
            );
            assert_eq!(distribution.to_string().parse(), Ok(distribution));
        }
    }

    #[test]
    fn another_distribution_is_refused_with_a_remedy() {
        for wrong in [
            "",
            "20",
            "pareto:20ms",
            "lognormal:20ms",
            "lognormal:20ms:-1",
            "exponential:20ms:1",
        ] {
            let refused = wrong.parse::<ServiceTime>().unwrap_err().to_string();
            assert!(refused.contains("write it like"), "{refused}");
        }
    }
}
