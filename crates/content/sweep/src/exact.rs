//! The exact compressed size of all messages at every setting.

use super::checkpoint::Streams;
use super::distinct_outputs::{is_exact_in_pieces, representative, sizes};
use super::grid::{Grid, Memory, Point, SweepResult};
use super::work_unit::PiecePlan;
use super::workers::{Pool, share_of_part};
use super::{Connection, Interrupted, Observer, grid};
use lastmile_codec::message::{Deflate, MessageCodec};
use lastmile_units::ByteCount;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

/// The size of a piece: our own choice, so that a thread's tables stay in a second-level cache.
pub(super) const PIECE: usize = 256 * 1024;

/// Compresses all messages at every setting of a grid, by stock zlib.
///
/// Deterministic: the result does not depend on the number of threads or their scheduling.
///
/// # Errors
/// When the observer interrupts the sweep.
///
/// # Panics
/// When an axis of the grid has a value out of range.
///
/// ```
/// use lastmile_sweep::{Connection, Grid, exact};
/// let messages: Vec<_> = (0..100).map(|n| format!("{{\"price\": {n}}}")).collect();
/// let connection = Connection { messages: messages.iter().map(String::as_bytes).collect() };
/// let swept = exact(&[connection], &Grid::default(), std::num::NonZeroUsize::MIN, &()).unwrap();
/// let best = swept.points.iter().min_by(|one, other| one.ratio.total_cmp(&other.ratio)).unwrap();
/// assert!(swept.points.len() == 1440 && best.setting.takeover);
/// ```
pub fn exact(
    connections: &[Connection<'_>],
    grid: &Grid,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Result<SweepResult, Interrupted> {
    let settings = grid.settings();
    let memory = Memory::new(&settings);
    let pool = Pool { threads, observer };
    let representatives: BTreeSet<Deflate> = settings.iter().copied().map(representative).collect();
    let cuts = PiecePlan::all(connections, PIECE);
    // Settings that are not exact in pieces run over whole connections, unless each connection lies in one piece.
    let one_piece = cuts.iter().all(PiecePlan::is_whole);
    let (in_pieces, whole): (Vec<_>, Vec<_>) = representatives
        .into_iter()
        .partition(|setting| one_piece || is_exact_in_pieces(*setting));
    // Runs over whole connections take most of the time, where there are any.
    let whole_share = if whole.is_empty() { 0.0 } else { 0.6 };
    let mut totals: BTreeMap<Deflate, u64> = BTreeMap::new();
    let run = |setting: &Deflate| {
        let name = format!("all messages at {}", MessageCodec::Deflate(*setting));
        let figures = pool.part(&name, 1, || Ok(vec![total_size(connections, *setting)]))?;
        Ok((*setting, figures[0]))
    };
    for found in pool.map(&whole, 0.0..whole_share, run)? {
        totals.extend([found?]);
    }
    let mut streams = Streams::default();
    for (number, cut) in cuts.iter().enumerate() {
        let share = share_of_part(&(whole_share..1.0), number, cuts.len());
        let find = || sizes(&cut.piece(connections), &in_pieces, &pool, share);
        let made = pool.part_sizes(&format!("piece {number} of {}", cuts.len()), &in_pieces, find)?;
        streams.refine(&made);
        for (setting, made) in made {
            *totals.entry(setting).or_default() += made.size;
        }
    }
    let raw: usize = connections.iter().map(Connection::payload_bytes).sum();
    let point = |setting: Deflate| {
        let compressed = totals.get(&representative(setting)).copied().unwrap_or(0);
        Point {
            setting,
            compressed: ByteCount::new(compressed),
            ratio: if raw == 0 { 1.0 } else { compressed as f64 / raw as f64 },
            ratio_ci95: None,
            memory: memory.at(setting),
        }
    };
    Ok(SweepResult {
        points: settings.into_iter().map(point).collect(),
        sampled: None,
        distinct_streams: whole.len() + streams.count(),
    })
}

/// The compressed size of all messages, each connection from its beginning.
pub(super) fn total_size(connections: &[Connection<'_>], setting: Deflate) -> u64 {
    let mut encoder = grid::encoder(setting);
    let mut size = 0;
    for connection in connections {
        encoder.reset();
        size += connection
            .messages
            .iter()
            .map(|message| encoder.compressed_size(message) as u64)
            .sum::<u64>();
    }
    size
}
