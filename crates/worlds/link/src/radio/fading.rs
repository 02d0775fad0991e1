//! Fading: how the power between two stations varies about its mean while something moves.
//!
//! The gain is continuous in time, and follows from the seed and the time alone, so it does not depend on who sends when. It has no edges and no
//! period.

use super::spec::Fading;
use lastmile_units::{Seed, random};
use rand_core::Rng as _;
use std::f64::consts::TAU;
use std::sync::LazyLock;
use std::time::Duration;

/// The gain of one pair of antennas.
///
/// Clarke's model: waves come from all around a station that moves, each with the Doppler shift of its direction. It is simulated by a sum of
/// sinusoids (C. Xiao, Y. R. Zheng and N. C. Beaulieu, Novel sum-of-sinusoids simulation models for Rayleigh and Rician fading channels,
/// IEEE Transactions on Wireless Communications 5(12), 2006): h(t) is the sum over n of exp(j (2 pi f_m t cos a_n + p_n)) / sqrt(N), with
/// a_n = (2 pi n + u_n) / N, and u_n and p_n uniform in a circle; the gain is |h|^2. Its mean is 1 and, for many waves, it is exponentially
/// distributed, and h has the autocorrelation J0(2 pi f_m t). A line of sight is one wave more, K times as strong as all others together; its
/// direction is uniform, too.
#[derive(Debug, Clone)]
pub(super) struct FadingGain {
    waves: Vec<Wave>,
}

#[derive(Debug, Clone, Copy)]
struct Wave {
    amplitude: f64,
    /// The Doppler shift in 2^-64 turns per nanosecond, so that whole turns vanish and no time is too late to be exact.
    shift: i64,
    /// In 2^-64 turns.
    phase: u64,
}

/// The waves without the line of sight. Our own choice: the chance of a deep fade is then within 2 % of that of the exponential distribution.
const WAVES: u32 = 32;

/// The coherence time in terms of the greatest Doppler shift f_m: 0.423 / f_m (Rappaport, Wireless Communications, 2nd ed., 5.40c).
const COHERENCE: f64 = 0.423;

impl FadingGain {
    /// A gain with the choices of `seed`; none where nothing fades.
    pub(super) fn new(fading: Fading, coherence_time: Duration, seed: Seed) -> Option<Self> {
        let line_of_sight = match fading {
            Fading::None => return None,
            Fading::Rayleigh => 0.0,
            Fading::Rician(line_of_sight) => line_of_sight.ratio(),
        };
        let shift_max = COHERENCE / coherence_time.as_nanos().max(1) as f64;
        let mut rng = seed.rng();
        let mut wave = |power: f64, sector: u32, sectors: u32| {
            let angle = (f64::from(sector) + random::unit_fraction(&mut rng)) / f64::from(sectors);
            Wave {
                amplitude: (power / (line_of_sight + 1.0)).sqrt(),
                shift: (shift_max * libm::cos(TAU * angle) * TURN) as i64,
                phase: rng.next_u64(),
            }
        };
        let mut waves: Vec<Wave> = (0..WAVES)
            .map(|sector| wave(1.0 / f64::from(WAVES), sector, WAVES))
            .collect();
        if line_of_sight > 0.0 {
            waves.push(wave(line_of_sight, 0, 1));
        }
        Some(Self { waves })
    }

    /// The factor by which the power differs from its mean.
    pub(super) fn at(&self, nanos: u64) -> f64 {
        let cosines: &[f64] = &COSINES;
        let (mut real, mut imaginary) = (0.0, 0.0);
        for wave in &self.waves {
            let phase = wave.phase.wrapping_add(nanos.wrapping_mul(wave.shift as u64));
            real += wave.amplitude * cosine(cosines, phase);
            imaginary += wave.amplitude * cosine(cosines, phase.wrapping_sub(QUARTER));
        }
        real * real + imaginary * imaginary
    }
}

const TURN: f64 = (1_u128 << 64) as f64;
const QUARTER: u64 = 1 << 62;

/// A turn has 2^10 cosines. A straight line between two of them is off by at most (2 pi / 2^10)^2 / 8, which is 5e-6.
const COSINE_BITS: u32 = 10;

static COSINES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let count = 1 << COSINE_BITS;
    (0..=count)
        .map(|step| libm::cos(TAU * f64::from(step) / f64::from(count)))
        .collect()
});

/// The cosine of a phase in 2^-64 turns.
#[inline]
fn cosine(cosines: &[f64], phase: u64) -> f64 {
    let index = (phase >> (64 - COSINE_BITS)) as usize;
    // The upper 53 bits of the rest, which a float holds.
    let beyond = ((phase << COSINE_BITS) >> 11) as i64 as f64 / (1_i64 << 53) as f64;
    cosines[index] + beyond * (cosines[index + 1] - cosines[index])
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::Decibels;

    const COHERENCE_TIME: Duration = Duration::from_millis(52);

    fn gain(fading: Fading, seed: u64) -> FadingGain {
        FadingGain::new(fading, COHERENCE_TIME, Seed::new(seed)).unwrap()
    }

    /// One gain of each of `count` pairs of stations, so that all are independent.
    fn independent(fading: Fading, count: u64) -> Vec<f64> {
        (0..count).map(|seed| gain(fading, seed).at(seed * 1_000_003)).collect()
    }

    fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = values.len() as f64;
        values.sum::<f64>() / count
    }

    /// Five standard errors of a share `expected` of `count`, and what is due to the number of waves.
    fn tolerance(expected: f64, count: usize) -> f64 {
        5.0 * (expected * (1.0 - expected) / count as f64).sqrt() + expected / f64::from(WAVES)
    }

    #[test]
    fn without_a_line_of_sight_powers_are_exponentially_distributed_with_a_mean_of_one() {
        let gains = independent(Fading::Rayleigh, 40_000);
        let mean = mean(gains.iter().copied());
        assert!((mean - 1.0).abs() < 5.0 / (gains.len() as f64).sqrt(), "{mean}");
        for bound in [0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0] {
            let share = gains.iter().filter(|gain| **gain > bound).count() as f64 / gains.len() as f64;
            let expected = (-bound).exp();
            let tolerance = tolerance(expected.min(1.0 - expected), gains.len());
            assert!(
                (share - expected).abs() < tolerance,
                "{share} above {bound}, not {expected}"
            );
        }
    }

    #[test]
    fn a_line_of_sight_narrows_the_spread_of_powers() {
        let gains = independent(Fading::Rician(Decibels::new(10.0)), 40_000);
        let count = gains.len() as f64;
        // (2 K + 1) / (K + 1)^2 with K = 10.
        let expected: f64 = 21.0 / 121.0;
        let mean_gain = mean(gains.iter().copied());
        let variance = mean(gains.iter().map(|gain| (gain - mean_gain) * (gain - mean_gain)));
        assert!((mean_gain - 1.0).abs() < 5.0 * (expected / count).sqrt(), "{mean_gain}");
        assert!((variance / expected - 1.0).abs() < 0.05, "{variance}");
    }

    /// J0 by its integral, (1 / pi) times that of cos(x sin a) from 0 to pi, which shares nothing with the sum of waves.
    fn bessel_j0(x: f64) -> f64 {
        const STEPS: u32 = 2000;
        let at = |step: u32| (x * (std::f64::consts::PI * (f64::from(step) + 0.5) / f64::from(STEPS)).sin()).cos();
        (0..STEPS).map(at).sum::<f64>() / f64::from(STEPS)
    }

    /// Of a complex Gaussian process with the autocorrelation J0, powers have the correlation J0^2 (Siegert's relation).
    #[test]
    fn powers_are_correlated_as_the_doppler_shift_of_the_coherence_time_says() {
        const PAIRS: u64 = 20_000;
        let gains: Vec<FadingGain> = (0..PAIRS).map(|seed| gain(Fading::Rayleigh, seed)).collect();
        for lag in [1.0, 5.0, 15.0, 26.0, 52.0, 81.0, 200.0] {
            let nanos = |milliseconds: f64| (milliseconds * 1e6) as u64;
            let both = gains
                .iter()
                .map(|gain| (gain.at(nanos(1000.0)) - 1.0) * (gain.at(nanos(1000.0 + lag)) - 1.0));
            let correlation = mean(both);
            let shift = 0.423 / 0.052;
            let expected = bessel_j0(TAU * shift * lag / 1e3).powi(2);
            // The product of two such powers has a variance of at most 8.
            let tolerance = 5.0 * (8.0 / PAIRS as f64).sqrt() + 1.0 / f64::from(WAVES);
            assert!(
                (correlation - expected).abs() < tolerance,
                "{correlation} after {lag} ms, not {expected}"
            );
        }
    }

    #[test]
    fn cosines_are_those_of_the_library() {
        for step in 0..100_000_u64 {
            let phase = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let expected = (phase as f64 / TURN * TAU).cos();
            assert!((cosine(&COSINES, phase) - expected).abs() < 5e-6);
        }
    }

    #[test]
    fn powers_never_jump() {
        let gain = gain(Fading::Rayleigh, 1);
        let step = 10_000;
        // |h| moves by at most 2 pi f_m sqrt(N) in a second.
        let most = 1.01 * TAU * 0.423 / 0.052 * f64::from(WAVES).sqrt() * step as f64 / 1e9;
        for nanos in (0..1_000_000_000).step_by(step) {
            let (one, next) = (gain.at(nanos).sqrt(), gain.at(nanos + step as u64).sqrt());
            assert!((next - one).abs() <= most, "{one} {next} at {nanos}");
        }
    }
}
