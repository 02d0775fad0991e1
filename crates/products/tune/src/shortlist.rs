//! Selects the points of a grid to time: those for which no cheaper point has nearly the same ratio.
//!
//! Timing all points would take minutes. Sizes and memory are known for every point, and CPU time grows with the level. So a point is left out
//! if another point, with no higher level and no more memory, has a ratio at most [`SLACK`] higher. zlib's default is always timed, with
//! takeover and without. With a limit on the ratio, some points within the limit are timed in addition, since the slack may have replaced
//! them by points just above it.

use super::candidate::ZLIB_DEFAULT;
use super::context_memory::{CompressorCount, ContextMemory};
use super::pareto::pareto_front_within;
use super::select::Constraints;
use lastmile_codec::message::Deflate;
use lastmile_sweep::Point;
use lastmile_units::ByteCount;

/// Our own choice: a quarter of what counts as equally small in the end (see `choose`).
const SLACK: f64 = 0.005;

/// The most points that are timed: our own choice, about 10 s. While there are more, the slack is doubled.
const POINTS_MAX: usize = 28;

/// The most that are added because they are within the limit on the ratio: our own choice.
const EXTRA_POINTS_MAX: usize = 8;

/// The settings to time, in the grid's order.
pub(super) fn shortlist(points: &[Point], limits: &Constraints) -> Vec<Deflate> {
    let mut indices: Vec<usize> = (0..points.len()).collect();
    // zlib runs 8 window bits as 9, so only 9 is timed.
    let runs_as_asked = |index: &usize| {
        let window = points[*index].setting.window_bits;
        window.runs_as() == window
    };
    indices.retain(runs_as_asked);
    let total = |point: &Point| {
        let contexts = ContextMemory {
            takeover: point.setting.takeover,
            compressing: point.memory,
            decompressing: ByteCount::ZERO,
        };
        contexts.total(limits.holder, CompressorCount::PerConnection)
    };
    indices.sort_by_key(|index| {
        (
            points[*index].setting.level,
            total(&points[*index]),
            points[*index].compressed,
        )
    });
    let few = |indices: &[usize], most: usize| -> Vec<usize> {
        let objectives: Vec<_> = indices
            .iter()
            .map(|index| {
                let point = &points[*index];
                [point.ratio, total(point).as_f64(), f64::from(point.setting.level)]
            })
            .collect();
        let mut slack = SLACK;
        let mut kept = pareto_front_within(&objectives, slack);
        while kept.len() > most {
            slack *= 2.0;
            kept = pareto_front_within(&objectives, slack);
        }
        kept.into_iter().map(|kept| indices[kept]).collect()
    };
    let mut chosen = few(&indices, POINTS_MAX);
    if let Some(most) = limits.ratio {
        indices.retain(|index| points[*index].ratio <= most);
        chosen.extend(few(&indices, EXTRA_POINTS_MAX));
    }
    let usual = [
        ZLIB_DEFAULT,
        Deflate {
            takeover: false,
            ..ZLIB_DEFAULT
        },
    ];
    chosen.extend((0..points.len()).filter(|index| usual.contains(&points[*index].setting)));
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|index| points[index].setting).collect()
}
