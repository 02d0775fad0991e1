//! The normal distribution, bit for bit the same on every machine.

/// The probability that a standard normal variable lies below `z`.
pub(super) fn below(z: f64) -> f64 {
    0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)
}

/// The quantile of the standard normal distribution, cut off at -8 and 8, by bisection: 60 halvings are below the resolution of a
/// double, and it needs no coefficients.
pub(super) fn quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_well_known_points_are_met_and_the_two_functions_undo_each_other() {
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!(quantile(0.5).abs() < 1e-12);
        for z in [-3.0, -0.5, 0.1, 2.0] {
            assert!((quantile(below(z)) - z).abs() < 1e-9);
        }
        assert!(quantile(0.0) >= -8.0 && quantile(1.0) <= 8.0);
    }
}
