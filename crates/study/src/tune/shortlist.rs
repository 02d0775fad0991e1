//! Which points of a grid are worth timing? Those that no cheaper one comes near.
//!
//! Timing all of them would take minutes. Sizes and memory are known of every point, and computing grows with the level; so a point is left
//! out of which another, of no higher level and with no more memory, leaves at most [`SLACK`] more octets. zlib's usual setting is timed
//! in any case, with takeover and without. Where it is said how much may be left, some of those that leave no more are timed besides: what
//! the slack lets pass leaves a little more.

use super::candidate::USUAL;
use super::choose::Limits;
use super::frontier::unbeaten_within;
use super::memory::{Compressors, Contexts};
use lastmile_payload::message_codec::Deflate;
use lastmile_payload::sweep::Point;
use lastmile_units::Bytes;

/// Our own choice: a quarter of what counts as equally small in the end (see `choose`).
const SLACK: f64 = 0.005;

/// More points are not timed: our own choice, some 10 s. Where more are left the slack is doubled.
const POINTS_MOST: usize = 28;

/// And no more than these because they leave little enough: our own choice.
const WITHIN_MOST: usize = 8;

/// The settings to time, in the grid's order.
pub(super) fn shortlist(points: &[Point], limits: &Limits) -> Vec<Deflate> {
    let mut places: Vec<usize> = (0..points.len()).collect();
    // What is the same at 8 window bits and at 9 is timed as what it runs as.
    let runs_as_asked = |place: &usize| {
        let window = points[*place].setting.window_bits;
        window.runs_as() == window
    };
    places.retain(runs_as_asked);
    let total = |point: &Point| {
        let contexts = Contexts {
            takeover: point.setting.takeover,
            compressing: point.memory,
            decompressing: Bytes::ZERO,
        };
        contexts.total(limits.holder, Compressors::All)
    };
    places.sort_by_key(|place| {
        (
            points[*place].setting.level,
            total(&points[*place]),
            points[*place].compressed,
        )
    });
    let few = |places: &[usize], most: usize| -> Vec<usize> {
        let objectives: Vec<_> = places
            .iter()
            .map(|place| {
                let point = &points[*place];
                [point.ratio, total(point).as_f64(), f64::from(point.setting.level)]
            })
            .collect();
        let mut slack = SLACK;
        let mut kept = unbeaten_within(&objectives, slack);
        while kept.len() > most {
            slack *= 2.0;
            kept = unbeaten_within(&objectives, slack);
        }
        kept.into_iter().map(|kept| places[kept]).collect()
    };
    let mut chosen = few(&places, POINTS_MOST);
    if let Some(most) = limits.ratio {
        places.retain(|place| points[*place].ratio <= most);
        chosen.extend(few(&places, WITHIN_MOST));
    }
    let usual = [
        USUAL,
        Deflate {
            takeover: false,
            ..USUAL
        },
    ];
    chosen.extend((0..points.len()).filter(|place| usual.contains(&points[*place].setting)));
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|place| points[place].setting).collect()
}
