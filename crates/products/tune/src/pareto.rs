//! The Pareto front: settings such that no other is as good in ratio, CPU time and memory and better in one.

/// The figures that settings are compared by; less is better in each.
pub(super) type Objectives = [f64; 3];

/// For each setting, whether no other is at least as good in all three and better in one. Equals do not beat each other.
pub(super) fn pareto_front(settings: &[Objectives]) -> Vec<bool> {
    let beats = |a: &Objectives, b: &Objectives| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
    settings
        .iter()
        .map(|own| !settings.iter().any(|other| beats(other, own)))
        .collect()
}

/// The indices of the settings on the front with a tolerance: a setting is left out if one before it is as good in the last two figures, and
/// in the first to within the share `slack`. The order matters: put cheap settings first.
pub(super) fn pareto_front_within(settings: &[Objectives], slack: f64) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for (index, own) in settings.iter().enumerate() {
        let beaten = kept.iter().any(|other| {
            let other = &settings[*other];
            other[0] <= own[0] * (1.0 + slack) && other[1] <= own[1] && other[2] <= own[2]
        });
        if !beaten {
            kept.push(index);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_beaten_by_one_as_good_in_all_and_better_in_one() {
        let settings = [
            [0.30, 10.0, 256.0],
            [0.30, 12.0, 256.0],
            [0.38, 9.0, 16.0],
            [0.30, 10.0, 256.0],
            [0.40, 20.0, 15.0],
        ];
        assert_eq!(pareto_front(&settings), [true, false, true, true, true]);
    }

    #[test]
    fn within_a_slack_the_cheaper_one_that_comes_first_stays_and_no_chain_of_slacks_builds_up() {
        let settings = [
            [1.000, 1.0, 1.0],
            [0.996, 2.0, 2.0],
            [0.992, 3.0, 3.0],
            [0.988, 4.0, 0.5],
        ];
        assert_eq!(pareto_front_within(&settings, 0.005), [0, 2, 3]);
        assert_eq!(pareto_front_within(&settings, 0.0), [0, 1, 2, 3]);
    }
}
