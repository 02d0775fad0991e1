//! Whether values at known times depend on the phase of a period that is known beforehand: epoch folding.
//!
//! It finds what a periodogram misses: rare, short pulses, and a period that the intervals of the series only sample. The times are folded
//! into bins of phase, and the bins compared by their ranks (Kruskal and Wallis, Use of ranks in one-criterion variance analysis, Journal of
//! the American Statistical Association 47, 1952). Neighbours that are alike are prewhitened, as for the periodogram. The chance is that of
//! chi-square, by Wilson and Hilferty's transformation (Proceedings of the National Academy of Sciences 17, 1931).

use crate::periodogram::prewhitened;
use crate::ranks::ranks;

/// The bins of phase: our own choice, a twentieth of a period.
const BINS: usize = 20;
/// A bin with fewer values does not count: below that, chi-square is a poor approximation.
const VALUES_PER_BIN_MIN: usize = 5;

/// The chance that the values of a series in random order depend this much on the phase of `period`; none where fewer than two bins of phase
/// have five values or more, or all values are equal. `times` are those of the values, in ascending order.
pub fn chance(times: &[f64], values: &[f64], period: f64) -> Option<f64> {
    let count = times.len().min(values.len());
    if count < 2 || !crate::varies(&values[..count]) {
        return None;
    }
    let whitened = prewhitened(&ranks(&values[..count]));
    let mut bins = vec![Vec::new(); BINS];
    for (time, value) in times[1..count].iter().zip(whitened) {
        let turns = time / period;
        let bin = ((turns - turns.floor()) * BINS as f64) as usize;
        bins[bin.min(BINS - 1)].push(value);
    }
    bins.retain(|bin| bin.len() >= VALUES_PER_BIN_MIN);
    if bins.len() < 2 {
        return None;
    }
    let all = ranks(&bins.concat());
    let mean = crate::mean(&all)?;
    let square = |value: f64| value * value;
    let total: f64 = all.iter().map(|rank| square(rank - mean)).sum();
    let (mut between, mut first) = (0.0, 0);
    for bin in &bins {
        let own = crate::mean(&all[first..first + bin.len()])?;
        between += bin.len() as f64 * square(own - mean);
        first += bin.len();
    }
    // H with the correction for equal ranks.
    let statistic = (all.len() as f64 - 1.0) * between / total;
    Some(chi_square_above(statistic, bins.len() as f64 - 1.0))
}

/// The chance that chi-square with `degrees` degrees of freedom is above `value`.
fn chi_square_above(value: f64, degrees: f64) -> f64 {
    let variance = 2.0 / (9.0 * degrees);
    let normal = (libm::cbrt(value / degrees) - (1.0 - variance)) / variance.sqrt();
    libm::erfc(normal / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::periodogram::{greatest_peak, tests::noise};

    /// A request each 100 ms; a beacon each 102.4 ms delays those that begin within 5 ms of it.
    fn beacons(delay: f64) -> (Vec<f64>, Vec<f64>) {
        let times: Vec<f64> = (0..600).map(|index| f64::from(index) * 0.1).collect();
        let delayed = |time: &f64| time.rem_euclid(0.1024) < 0.005;
        let values = times
            .iter()
            .zip(noise(600))
            .map(|(time, noise)| noise + if delayed(time) { delay } else { 0.0 });
        (times.clone(), values.collect())
    }

    #[test]
    fn a_rare_pulse_of_a_known_period_is_found_where_a_periodogram_finds_none() {
        let (times, values) = beacons(0.5);
        assert!(greatest_peak(&values).unwrap().chance > 0.001);
        assert!(chance(&times, &values, 0.1024).unwrap() < 1e-6);
        assert!(
            chance(&times, &values, 1.0 / 60.0 * 1.37).unwrap() > 0.001,
            "another period"
        );
    }

    #[test]
    fn noise_and_a_walk_depend_on_no_phase() {
        let (times, values) = beacons(0.0);
        assert!(chance(&times, &values, 0.1024).unwrap() > 0.01);
        let mut sum = 0.0;
        let walk: Vec<f64> = values
            .iter()
            .map(|step| {
                sum += step - 0.5;
                sum
            })
            .collect();
        assert!(chance(&times, &walk, 0.1024).unwrap() > 0.001);
    }

    /// All at one phase: nothing can be said.
    #[test]
    fn times_in_step_with_the_period_have_no_answer() {
        let (mut times, values) = beacons(0.0);
        // The middle of a bin: rounding does not part them.
        times.iter_mut().for_each(|time| *time += 0.0525);
        assert_eq!(chance(&times, &values, 0.1), None);
        assert_eq!(chance(&times, &[1.0; 600], 0.1024), None);
    }

    /// Of a table: 5 % of chi-square are above 3.841 with 1 degree, and above 30.144 with 19.
    #[test]
    fn the_chance_is_that_of_a_table() {
        for (value, degrees) in [(3.841, 1.0), (30.144, 19.0)] {
            let chance = chi_square_above(value, degrees);
            assert!((chance - 0.05).abs() < 0.003, "{chance}");
        }
    }
}
