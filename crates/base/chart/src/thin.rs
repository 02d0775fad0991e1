//! Leaves out points that could not be seen, so that 100,000 of them make no page of megabytes.

use crate::Point;
use std::collections::{BTreeMap, BTreeSet};

/// The most points of a series that are drawn one by one. Our own choice.
pub(super) const POINTS_MAX: usize = 1000;

/// The largest side of a square of which one point is drawn, in px.
const SIDE_MAX: f64 = 64.0;

type Placed<'a> = (&'a Point, (f64, f64));

/// Points of a line: of each px across, the first, the lowest, the highest and the last, which is all that the line shows there.
pub(super) fn line(placed: Vec<Placed<'_>>) -> Vec<Placed<'_>> {
    if placed.len() <= POINTS_MAX {
        return placed;
    }
    let mut columns: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (at, (_, (x, _))) in placed.iter().enumerate() {
        columns.entry(*x as i64).or_default().push(at);
    }
    let mut kept: Vec<usize> = Vec::new();
    for column in columns.into_values() {
        let y = |at: &usize| placed[*at].1.1;
        let by_y = |one: &usize, other: &usize| y(one).total_cmp(&y(other));
        let ends = [column.first(), column.last()];
        let extremes = [
            column.iter().min_by(|one, other| by_y(one, other)),
            column.iter().max_by(|one, other| by_y(one, other)),
        ];
        kept.extend(ends.into_iter().chain(extremes).flatten());
    }
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|at| placed[at]).collect()
}

/// Points without a line: one of those that lie in the same square. Squares grow until few enough points remain; points with a label stay.
pub(super) fn cloud(placed: Vec<Placed<'_>>) -> Vec<Placed<'_>> {
    if placed.len() <= POINTS_MAX {
        return placed;
    }
    let mut side = 1.0;
    loop {
        side *= 2.0;
        let mut taken = BTreeSet::new();
        let mut is_kept = |(point, (x, y)): &&Placed<'_>| {
            taken.insert(((x / side) as i64, (y / side) as i64)) || point.label.is_some()
        };
        let kept: Vec<Placed<'_>> = placed.iter().filter(&mut is_kept).copied().collect();
        if kept.len() <= POINTS_MAX || side >= SIDE_MAX {
            return kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart, Layout, Scale, Series, Source, svg};

    fn drawn(joined: bool) -> String {
        let at = |n: u32| Point::new(f64::from(n), f64::from(n.wrapping_mul(2_654_435_761) % 1009));
        let chart = Chart {
            x: Axis::new("x", "s", Scale::Linear),
            series: vec![Series {
                name: "points".to_owned(),
                source: Source::Measured,
                joined,
                points: (0..100_000).map(at).collect(),
            }],
            ..Chart::default()
        };
        svg(&chart, Layout::Wide, "a")
    }

    #[test]
    fn a_hundred_thousand_points_are_a_small_drawing_that_says_so() {
        let cloud = drawn(false);
        let marks = cloud.matches("class=\"mark\"").count();
        assert!((100..=POINTS_MAX).contains(&marks), "{marks}");
        assert!(cloud.contains(&format!(">{marks} of 100000 points are drawn;")));
        let sizes = [cloud.len(), drawn(true).len()];
        assert!(sizes.iter().all(|bytes| *bytes < 100_000), "{sizes:?}");
    }

    #[test]
    fn a_thinned_line_keeps_its_peaks_and_its_ends() {
        let points: Vec<Point> = (0..5000).map(|n| Point::new(f64::from(n), 0.0)).collect();
        let place = |(n, point)| (point, (n as f64 / 100.0, if n == 3333 { 99.0 } else { 1.0 }));
        let kept = line(points.iter().enumerate().map(place).collect());
        let xs: Vec<f64> = kept.iter().map(|(point, _)| point.x).collect();
        assert!(kept.len() <= 200, "{}", kept.len());
        assert!(xs.contains(&0.0) && xs.contains(&3333.0) && xs.contains(&4999.0));
        assert!(xs.is_sorted());
    }
}
