//! The probability of a bit error by a table, for ratios of signal to noise that differ from frame to frame.
//!
//! The formulas of [`error_rate`](super::error_rate) integrate numerically, which takes microseconds for each new ratio.

use super::error_rate::ln_bit_success;
use super::phy::Rate;
use lastmile_units::Decibels;
use std::sync::OnceLock;

/// The ratios of a table, in decibels: from the first on, at which even 1 Mbit/s is guessed, to 50, at which nothing is lost.
const LOWEST: f64 = -30.0;
const STEPS: usize = 1600;
const STEPS_PER_DECIBEL: f64 = 20.0;

/// By rate: the natural logarithm of [`ln_bit_success`] without its sign, at each step.
static TABLES: [OnceLock<Vec<f64>>; Rate::COUNT] = [const { OnceLock::new() }; Rate::COUNT];

/// [`ln_bit_success`] by linear interpolation: off by less than 0.1 % where between 10^-12 and a tenth of the bits are wrong.
pub(crate) fn interpolated_ln_bit_success(rate: Rate, ratio: f64) -> f64 {
    let table = TABLES[rate as usize].get_or_init(|| table_of(rate));
    let steps = (10.0 * libm::log10(ratio) - LOWEST) * STEPS_PER_DECIBEL;
    let steps = steps.clamp(0.0, STEPS as f64 - 1.0);
    let index = steps as usize;
    let beyond = steps - index as f64;
    -libm::exp(table[index] + beyond * (table[index + 1] - table[index]))
}

fn table_of(rate: Rate) -> Vec<f64> {
    let at = |step: usize| {
        let decibels = LOWEST + step as f64 / STEPS_PER_DECIBEL;
        // 10^-304 in place of 0, which has no logarithm.
        libm::log(-ln_bit_success(rate, Decibels::new(decibels).ratio())).max(-700.0)
    };
    (0..=STEPS).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::{Phy, Preamble};

    #[test]
    fn between_the_steps_of_the_table_errors_are_those_of_the_formulas() {
        for rate in [Phy::HighRateDsss(Preamble::Long), Phy::Ofdm]
            .iter()
            .flat_map(|phy| phy.rates())
        {
            for step in 0..700 {
                let ratio = Decibels::new(-25.0 + 0.1037 * f64::from(step)).ratio();
                let (exact, interpolated) = (ln_bit_success(*rate, ratio), interpolated_ln_bit_success(*rate, ratio));
                if (-0.1..-1e-12).contains(&exact) {
                    assert!(
                        (interpolated / exact - 1.0).abs() < 1e-3,
                        "{rate}, {ratio}: {interpolated}, not {exact}"
                    );
                }
            }
            assert_eq!(
                interpolated_ln_bit_success(*rate, 0.0),
                interpolated_ln_bit_success(*rate, 1e-4)
            );
            assert!(interpolated_ln_bit_success(*rate, 1e9) > -1e-18);
        }
    }
}
