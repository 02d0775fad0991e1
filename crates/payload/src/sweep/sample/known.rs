//! What is known of every shard before any is drawn? How large it becomes at a few settings, roughly.

use super::super::pool::{Pool, Share};
use super::super::shard::Shard;
use super::super::{Connection, Interrupted};
use crate::message_codec::{Deflate, Strategy, WindowBits};

/// With takeover: the least effort, with a window among the others, and what zlib does unless told otherwise.
const TAKEOVER: [Deflate; 2] = [
    Deflate {
        takeover: true,
        window_bits: SMALL,
        level: 1,
        mem_level: 5,
        strategy: Strategy::Default,
    },
    Deflate {
        takeover: true,
        window_bits: LARGE,
        level: 6,
        mem_level: 8,
        strategy: Strategy::Default,
    },
];

/// Without: two windows, of which the larger need not be tried where the smaller holds all of a message.
const ALONE: [Deflate; 2] = [
    Deflate {
        takeover: false,
        window_bits: SMALL,
        ..TAKEOVER[1]
    },
    Deflate {
        takeover: false,
        ..TAKEOVER[1]
    },
];

const SMALL: WindowBits = WindowBits::new(12).expect("12 is between 8 and 15");
const LARGE: WindowBits = WindowBits::MAX;

/// Octets of a shard, roughly, at the smaller window and at the larger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    takeover: [f64; 2],
    alone: [f64; 2],
}

impl Known {
    /// Of every shard.
    pub(super) fn of_all(
        shards: &[Shard],
        connections: &[Connection<'_>],
        pool: &Pool<'_>,
        share: Share,
    ) -> Result<Vec<Self>, Interrupted> {
        let of_shard = |shard: &Shard| {
            let size = |setting| shard.rough_size(connections, setting);
            let [least, by_default] = TAKEOVER.map(size);
            let small = size(ALONE[0]);
            let is_held = shard.longest_message(connections) <= 1 << SMALL.get();
            let large = if is_held { small } else { size(ALONE[1]) };
            [least, by_default, small, large]
        };
        let find = || Ok(pool.map(shards, share, of_shard)?.concat());
        let name = format!("known of {} shards", shards.len());
        let figures = pool.part(&name, shards.len() * 4, find)?;
        let known = figures.chunks_exact(4).map(|figures| Self {
            takeover: [figures[0] as f64, figures[1] as f64],
            alone: [figures[2] as f64, figures[3] as f64],
        });
        Ok(known.collect())
    }

    /// What a setting is compared with: what is known at the windows, or between them as far as its own is.
    pub(super) fn at(&self, setting: Deflate) -> f64 {
        let [small, large] = if setting.takeover { self.takeover } else { self.alone };
        let [bits, from, to] = [setting.window_bits, SMALL, LARGE].map(|window| f64::from(window.get()));
        let between = ((bits - from) / (to - from)).clamp(0.0, 1.0);
        small + between * (large - small)
    }
}

/// How much each shard is worth looking at: half as every other; half by how far its octets at the larger window are from what those at the
/// smaller one let expect, with takeover and without. Our own choice: so none counts more than twice what it would if all were worth
/// the same.
pub(super) fn worth(known: &[Known]) -> Vec<f64> {
    let even = 1.0 / known.len() as f64;
    let takeover = shares_off(known.iter().map(|shard| shard.takeover));
    let alone = shares_off(known.iter().map(|shard| shard.alone));
    let worth = |(takeover, alone): (f64, f64)| even + f64::midpoint(takeover, alone);
    takeover.into_iter().zip(alone).map(worth).collect()
}

/// How far the second figure of each pair is from what the first lets expect, as shares of how far all are together.
fn shares_off(pairs: impl Iterator<Item = [f64; 2]> + Clone) -> Vec<f64> {
    let sum = |place: usize| pairs.clone().map(|pair| pair[place]).sum::<f64>();
    let expected = sum(1) / sum(0);
    let off: Vec<f64> = pairs.map(|[one, other]| (other - expected * one).abs()).collect();
    let all: f64 = off.iter().sum();
    // It may be that none is.
    off.into_iter()
        .map(|off| if all > 0.0 { off / all } else { 0.0 })
        .collect()
}
