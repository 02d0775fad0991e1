//! The probability of a bit error at a ratio of signal to noise, by modulation.
//!
//! The ratio is that of the powers of signal and noise in the receiver's bandwidth (22 MHz for HR/DSSS, 20 MHz for OFDM), after the
//! implementation loss. Noise is white and Gaussian; what interferes is taken for such noise.
//!
//! The formulas of 802.11b are those that Pei and Henderson, "Validation of ns-3 802.11b PHY model" (Boeing, 2009), compare with
//! measurements, and that ns-3 has in `dsss-error-rate-model`.

use super::phy::Rate;

/// The natural logarithm of the probability that one bit at `rate` arrives, at a signal-to-noise ratio (not in decibels). That of n
/// bits is n times as large, since errors are taken to be independent.
pub(crate) fn ln_bit_success(rate: Rate, ratio: f64) -> f64 {
    let error = bit_error(rate, ratio);
    if error >= 0.5 {
        libm::log(0.5)
    } else {
        libm::log1p(-error)
    }
}

/// The probability of a bit error, from 0 to 0.5. For CCK, whose symbols have 4 or 8 bits, it is the error rate of independent bits
/// that gives a symbol the same chance.
pub(crate) fn bit_error(rate: Rate, ratio: f64) -> f64 {
    // Energy per bit over noise density: the ratio of powers times bandwidth over bit rate.
    let per_bit = |megabits: f64| ratio * 22.0 / megabits;
    let error = match rate {
        // Proakis, Digital Communications (4th ed.), 5.2-69.
        Rate::Dsss1 => 0.5 * libm::exp(-per_bit(1.0)),
        Rate::Dsss2 => dqpsk(per_bit(2.0)),
        Rate::Cck5 => per_bit_of_symbol(bi_orthogonal_16(cck_symbol(ratio)), 4.0),
        // Two of the above side by side, each with half of the energy.
        Rate::Cck11 => {
            let half = 1.0 - bi_orthogonal_16(cck_symbol(ratio) / 2.0);
            per_bit_of_symbol(1.0 - half * half, 8.0)
        }
        Rate::Ofdm6 => coded(half_rate, q_of_bpsk(ratio)),
        Rate::Ofdm9 => coded(three_quarter_rate, q_of_bpsk(ratio)),
        Rate::Ofdm12 => coded(half_rate, q_of_qpsk(ratio)),
        Rate::Ofdm18 => coded(three_quarter_rate, q_of_qpsk(ratio)),
        Rate::Ofdm24 => coded(half_rate, q_of_qam16(ratio)),
        Rate::Ofdm36 => coded(three_quarter_rate, q_of_qam16(ratio)),
        Rate::Ofdm48 => coded(two_third_rate, q_of_qam64(ratio)),
        Rate::Ofdm54 => coded(three_quarter_rate, q_of_qam64(ratio)),
    };
    error.clamp(0.0, 0.5)
}

/// DQPSK with Gray code, by the approximation of its Bessel functions in Ferrari and Corazza, "Tight bounds and accurate
/// approximations for DQPSK transmission bit error rate", Electronics Letters 40(20), 2004. `per_bit` is Eb/N0.
fn dqpsk(per_bit: f64) -> f64 {
    let root = std::f64::consts::SQRT_2;
    if per_bit <= 0.0 {
        return 0.5;
    }
    (root + 1.0) / (8.0 * std::f64::consts::PI * root).sqrt() / per_bit.sqrt() * libm::exp(-(2.0 - root) * per_bit)
}

/// The energy of a CCK symbol over noise density, half of it: symbols come at 1.375 MHz, and detection of the differential phase
/// costs 3 dB against a coherent one.
fn cck_symbol(ratio: f64) -> f64 {
    ratio * 22.0 / 1.375 / 2.0
}

/// The symbol error of 16 bi-orthogonal signals (Proakis, 4th ed., 5.2-34), by Simpson's rule; `energy` is Es/N0. The four code words
/// of CCK at 5.5 Mbit/s times four phases are such a set: eight orthogonal signals and their negatives.
fn bi_orthogonal_16(energy: f64) -> f64 {
    const STEPS: u32 = 64;
    let beta = (2.0 * energy).sqrt();
    let root = std::f64::consts::SQRT_2;
    // 1 - (2 Phi(x + beta) - 1)^7, the probability that some other signal seems likelier: a difference from 1 would lose its digits.
    let density = |x: f64| {
        let outside = libm::erfc((x + beta) / root);
        -libm::expm1(7.0 * libm::log1p(-outside)) * libm::exp(-x * x / 2.0)
    };
    // Beyond 9 standard deviations there is less than 10^-18.
    let (low, high) = ((-beta).max(-9.0), 9.0);
    let width = (high - low) / f64::from(STEPS);
    let mut sum = 0.0;
    for step in 0..=STEPS {
        let x = low + f64::from(step) * width;
        let weight = match step {
            0 | STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        // At x = -beta the argument of the logarithm is 0, and the signal is surely mistaken.
        let value = density(x);
        sum += weight * if value.is_nan() { libm::exp(-x * x / 2.0) } else { value };
    }
    let inside = sum * width / 3.0 / (2.0 * std::f64::consts::PI).sqrt();
    // A negative correlation of its own is mistaken, too.
    (inside + 0.5 * libm::erfc(-low / root)).min(15.0 / 16.0)
}

/// The error of one of `bits` independent bits that together fail as often as the symbol.
fn per_bit_of_symbol(symbol_error: f64, bits: f64) -> f64 {
    -libm::expm1(libm::log1p(-symbol_error) / bits)
}

/// Uncoded bit errors on a subcarrier (Proakis, 4th ed., 5.2-57, 5.2-59 and 5.2-79 with Gray code); `ratio` is Es/N0.
fn q_of_bpsk(ratio: f64) -> f64 {
    0.5 * libm::erfc(ratio.sqrt())
}

fn q_of_qpsk(ratio: f64) -> f64 {
    0.5 * libm::erfc((ratio / 2.0).sqrt())
}

fn q_of_qam16(ratio: f64) -> f64 {
    0.75 * 0.5 * libm::erfc((ratio / 10.0).sqrt())
}

fn q_of_qam64(ratio: f64) -> f64 {
    7.0 / 12.0 * 0.5 * libm::erfc((ratio / 42.0).sqrt())
}

/// The union bound on the bit error of the convolutional code with constraint length 7 (133, 171 octal), decoded with hard decisions:
/// the weight spectra of Haccoun and Begin, "High-rate punctured convolutional codes for Viterbi and sequential decoding", IEEE Trans.
/// Communications 37(11), 1989, with the Chernoff bound (Proakis, 4th ed., 8.2-34).
fn coded(spectrum: fn(f64) -> f64, uncoded: f64) -> f64 {
    spectrum((4.0 * uncoded * (1.0 - uncoded)).sqrt())
}

/// The sum of `weights[i]` times D to the power of `free + i * step`, halved, per input bit of a period.
fn series(weights: &[u32], free: i32, step: i32, period: f64, d: f64) -> f64 {
    let mut power = libm::pow(d, f64::from(free));
    let factor = libm::pow(d, f64::from(step));
    let mut sum = 0.0;
    for weight in weights {
        sum += f64::from(*weight) * power;
        power *= factor;
    }
    sum / (2.0 * period)
}

fn half_rate(d: f64) -> f64 {
    let weights = [36, 211, 1_404, 11_633, 77_433, 502_690, 3_322_763, 21_292_910];
    series(&weights, 10, 2, 1.0, d)
}

fn two_third_rate(d: f64) -> f64 {
    let weights = [3, 70, 285, 1_276, 6_160, 27_128, 117_019, 498_860, 2_103_891, 8_784_123];
    series(&weights, 6, 1, 2.0, d)
}

fn three_quarter_rate(d: f64) -> f64 {
    let weights = [
        42,
        201,
        1_492,
        10_469,
        62_935,
        379_644,
        2_253_373,
        13_073_811,
        75_152_755,
        428_005_675,
    ];
    series(&weights, 5, 1, 3.0, d)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::Phy;
    use lastmile_units::Decibels;

    /// The chance that a frame of 1,536 B is lost.
    fn frame_error(rate: Rate, decibels: f64) -> f64 {
        1.0 - libm::exp(8.0 * 1536.0 * ln_bit_success(rate, Decibels::new(decibels).ratio()))
    }

    #[test]
    fn a_tenth_of_full_frames_is_lost_at_the_known_ratios() {
        for (rate, decibels) in [
            (Rate::Dsss1, -3.0),
            (Rate::Dsss2, 1.7),
            (Rate::Cck5, 4.2),
            (Rate::Cck11, 7.2),
        ] {
            let (below, above) = (frame_error(rate, decibels - 0.3), frame_error(rate, decibels + 0.3));
            assert!(below > 0.1 && above < 0.1, "{rate}: {below} to {above}");
        }
    }

    #[test]
    fn the_higher_the_rate_the_more_signal_it_needs_and_more_signal_never_does_harm() {
        for phy in [Phy::HighRateDsss(crate::radio::Preamble::Long), Phy::Ofdm] {
            let needed = |rate: Rate| (-200..400).find(|step| frame_error(rate, f64::from(*step) / 10.0) < 0.1);
            // 9 Mbit/s needs more than 12: a known fault of 802.11a's rates (its code is punctured, the modulation the lower).
            let needed: Vec<_> = phy
                .rates()
                .iter()
                .filter(|rate| **rate != Rate::Ofdm9)
                .map(|rate| needed(*rate).expect("within 40 dB"))
                .collect();
            assert!(needed.is_sorted(), "{needed:?}");
            for rate in phy.rates() {
                let errors: Vec<f64> = (-100..300)
                    .map(|step| -bit_error(*rate, Decibels::new(f64::from(step) / 10.0).ratio()))
                    .collect();
                assert!(errors.is_sorted(), "{rate}");
            }
        }
    }

    #[test]
    fn sixteen_bi_orthogonal_signals_without_energy_are_guessed() {
        assert!(
            (bi_orthogonal_16(0.0) - 15.0 / 16.0).abs() < 1e-3,
            "{}",
            bi_orthogonal_16(0.0)
        );
        // At high energies the union of 14 neighbours is the whole error: 14 Q(sqrt(Es/N0)).
        let energy: f64 = 40.0;
        let union = 14.0 * 0.5 * libm::erfc((energy / 2.0).sqrt());
        let error = bi_orthogonal_16(energy);
        assert!((error / union - 1.0).abs() < 0.02, "{error} {union}");
    }
}
