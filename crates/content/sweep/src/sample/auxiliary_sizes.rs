//! Auxiliary sizes: the approximate compressed size of every shard at a few settings, known before any shard is drawn.

use crate::shard::Shard;
use crate::workers::Pool;
use crate::{Connection, Interrupted};
use lastmile_codec::message::{Deflate, Strategy, WindowBits};
use std::ops::Range;

/// With takeover: the fastest level with a medium window, and zlib's defaults.
const TAKEOVER: [Deflate; 2] = [setting(true, SMALL, 1, 5), setting(true, LARGE, 6, 8)];

/// Without takeover: two windows. The larger one need not be tried where the smaller one holds a whole message.
const WITHOUT_TAKEOVER: [Deflate; 2] = [setting(false, SMALL, 6, 8), setting(false, LARGE, 6, 8)];

const fn setting(takeover: bool, window_bits: WindowBits, level: u8, mem_level: u8) -> Deflate {
    Deflate {
        takeover,
        window_bits,
        level,
        mem_level,
        strategy: Strategy::Default,
    }
}

const SMALL: WindowBits = WindowBits::new(12).expect("12 is between 8 and 15");
const LARGE: WindowBits = WindowBits::MAX;

/// The approximate compressed sizes of a shard at the smaller window and at the larger.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuxiliarySizes {
    takeover: [f64; 2],
    without_takeover: [f64; 2],
}

impl AuxiliarySizes {
    /// Computes the sizes of every shard.
    pub(super) fn measure_all(
        shards: &[Shard],
        connections: &[Connection<'_>],
        pool: &Pool<'_>,
        share: Range<f64>,
    ) -> Result<Vec<Self>, Interrupted> {
        let of_shard = |shard: &Shard| {
            let size = |setting| shard.rough_size(connections, setting);
            let [least, by_default] = TAKEOVER.map(size);
            let small = size(WITHOUT_TAKEOVER[0]);
            let is_held = shard.longest_message(connections) <= 1 << SMALL.get();
            let large = if is_held { small } else { size(WITHOUT_TAKEOVER[1]) };
            [least, by_default, small, large]
        };
        let find = || Ok(pool.map(shards, share, of_shard)?.concat());
        let name = format!("known of {} shards", shards.len());
        let figures = pool.part(&name, shards.len() * 4, find)?;
        let known = figures.chunks_exact(4).map(|figures| Self {
            takeover: [figures[0] as f64, figures[1] as f64],
            without_takeover: [figures[2] as f64, figures[3] as f64],
        });
        Ok(known.collect())
    }

    /// The auxiliary size for a setting: interpolated between the two windows by the setting's window bits.
    pub(super) fn at(&self, setting: Deflate) -> f64 {
        let [small, large] = if setting.takeover {
            self.takeover
        } else {
            self.without_takeover
        };
        let [bits, from, to] = [setting.window_bits, SMALL, LARGE].map(|window| f64::from(window.get()));
        let between = ((bits - from) / (to - from)).clamp(0.0, 1.0);
        small + between * (large - small)
    }
}

/// The sampling weight of each shard: half is equal for all; half is proportional to how far its size at the larger window is from what
/// its size at the smaller one predicts, with takeover and without. Our own choice: so no shard counts more than twice what it would
/// with equal weights.
pub(super) fn draw_weights(known: &[AuxiliarySizes]) -> Vec<f64> {
    let even = 1.0 / known.len() as f64;
    let takeover = residuals(known.iter().map(|shard| shard.takeover));
    let alone = residuals(known.iter().map(|shard| shard.without_takeover));
    let worth = |(takeover, alone): (f64, f64)| even + f64::midpoint(takeover, alone);
    takeover.into_iter().zip(alone).map(worth).collect()
}

/// The residual of each pair's second figure from the one that the first predicts, as a share of the sum of all residuals.
fn residuals(pairs: impl Iterator<Item = [f64; 2]> + Clone) -> Vec<f64> {
    let sum = |index: usize| pairs.clone().map(|pair| pair[index]).sum::<f64>();
    let expected = sum(1) / sum(0);
    let off: Vec<f64> = pairs.map(|[one, other]| (other - expected * one).abs()).collect();
    let all: f64 = off.iter().sum();
    // All residuals may be 0.
    off.into_iter()
        .map(|off| if all > 0.0 { off / all } else { 0.0 })
        .collect()
}
