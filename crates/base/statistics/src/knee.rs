//! The knee of a load curve.

/// A rate counts for the knee where at most this share of its requests fails: our own choice.
const ERRORS_MAX: f64 = 0.01;
/// A curve has at least this many rates: our own choice.
const CURVE_MIN: usize = 3;

/// A point of a load curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// What was completed per second.
    pub throughput: f64,
    /// The mean response time of what was completed; none where nothing was.
    pub response_time: Option<f64>,
    /// The share of requests that failed, from 0 to 1.
    pub error_rate: f64,
}

impl LoadPoint {
    fn power(&self) -> Option<f64> {
        let time = self.response_time.filter(|time| *time > 0.0)?;
        Some(self.throughput / time)
    }

    /// Whether few enough requests fail that the point says what the server carries.
    pub fn is_sound(&self) -> bool {
        self.error_rate <= ERRORS_MAX && self.response_time.is_some()
    }
}

/// Which point of a curve is its knee. The points are in the order of their rates.
///
/// The knee is where the power is greatest: the ratio of throughput to mean response time (Kleinrock, "Power and deterministic rules of thumb
/// for probabilistic problems in computer communications", ICC 1979). Rates from the first on at which more than 1 % of the requests fail do not
/// count: errors that come fast would look like a fast server. None where the curve has fewer than three points, and where the power is greatest at
/// its last one, since what lies beyond is unknown.
pub fn knee(points: &[LoadPoint]) -> Option<usize> {
    if points.len() < CURVE_MIN {
        return None;
    }
    let sound = points.iter().take_while(|point| point.is_sound());
    let powers = sound.enumerate().filter_map(|(at, point)| Some((at, point.power()?)));
    let (knee, _) = powers.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    (knee + 1 < points.len()).then_some(knee)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knee_of(points: &[(f64, f64, f64)]) -> Option<usize> {
        let points: Vec<LoadPoint> = points
            .iter()
            .map(|(throughput, time, error_rate)| LoadPoint {
                throughput: *throughput,
                response_time: Some(*time),
                error_rate: *error_rate,
            })
            .collect();
        knee(&points)
    }

    #[test]
    fn the_knee_has_the_greatest_power() {
        assert_eq!(
            knee_of(&[(50.0, 0.010, 0.0), (100.0, 0.012, 0.0), (110.0, 0.080, 0.0)]),
            Some(1)
        );
    }

    #[test]
    fn a_curve_that_still_rises_has_no_knee() {
        assert_eq!(
            knee_of(&[(50.0, 0.010, 0.0), (100.0, 0.010, 0.0), (150.0, 0.009, 0.0)]),
            None
        );
        assert_eq!(knee_of(&[(50.0, 0.010, 0.0), (100.0, 0.080, 0.0)]), None);
    }

    #[test]
    fn rates_at_which_requests_fail_are_beyond_the_knee() {
        let failing = [
            (100.0, 0.001, 0.0),
            (200.0, 0.001, 0.0),
            (300.0, 0.001, 0.0),
            (319.0, 0.0005, 0.2),
            (306.0, 0.0002, 0.39),
        ];
        assert_eq!(knee_of(&failing), Some(2));
        assert_eq!(knee_of(&[(0.0, 0.1, 1.0), (0.0, 0.1, 1.0), (0.0, 0.1, 1.0)]), None);
    }
}
