//! Estimates the ratio of every setting on a transcript that is too long to compress at all of them.
//!
//! The estimate is from shards: runs of messages, or sections of long ones, each with the history that its windows reach. All settings
//! compress the same shards, so that they are compared on the same messages.
//!
//! In the first round, one shard is drawn from each part of the transcript. Then each part is halved, and a shard is drawn from the half
//! that has none; and so on, for fewer settings in each round: those that may still be on the frontier, as far as the sample can tell
//! (successive halving: Jamieson and Talwalkar, Non-stochastic Best Arm Identification, 2016). The width of an interval does not decide
//! how many shards are drawn: an interval that may stop as soon as it is narrow is often narrow by luck, and then misses the truth.
//!
//! An eliminated setting is estimated relative to a setting that beat it: from the difference on the shards that both have, and from the
//! winner's estimate on all of its shards. Otherwise a setting that was lucky in the first shards would beat those with all shards
//! (double sampling: Cochran, Sampling Techniques, 3rd edition, chapter 12).
//!
//! **The estimate** uses auxiliary sizes that are known of all shards: each shard is compressed with a small window and a large one, with
//! takeover and without. Its size at any setting varies with these sizes, whatever its content, so a sample that lacks some kind
//! of content is off by little.
//!
//! **Unusual shards** are drawn with a higher chance, and get a lower weight for it: those whose size at the large window differs much from
//! what the size at the small one predicts. With equal chances, a client that polls for one minute of a day a page that only the largest
//! window still holds would be in none of the drawn shards, or in one that then stands for many.
//!
//! **Accuracy:** at levels 4 to 9, and without takeover, a shard's messages compress to the same size as in the whole transcript. At levels
//! 1 to 3 with takeover, the contents of zlib's hash depend on the matches it chose before, so two windows of a shard's history are
//! compressed. The messages after it do not always get the same size; nor are a section's blocks quite those of the whole message.
//! Intervals are widened by [`UNSEEN`] for this.

mod auxiliary_sizes;
mod unequal_probability;

use self::auxiliary_sizes::{AuxiliarySizes, draw_weights};
use self::unequal_probability::ShardSampler;
use super::checkpoint::Streams;
use super::distinct_outputs::representative;
use super::estimate::{Estimate, WeightedShard, difference, is_no_smaller};
use super::grid::{Grid, Memory, Point, SweepResult, encoder};
use super::shard::Shard;
use super::workers::{Pool, share_of_part};
use super::{Connection, Interrupted, Observer, exact};
use lastmile_codec::message::Deflate;
use lastmile_units::{ByteCount, Seed};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::ops::Range;

/// How a sample is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Determines which shards are drawn.
    pub seed: Seed,
    /// The approximate length of a shard, without the history before it.
    pub shard: ByteCount,
    /// The number of parts of which one shard each is drawn for every setting: at least 6, for the approximation of Student's t.
    pub first: usize,
    /// How many times the number of parts is doubled for settings that may be on the frontier.
    pub doublings: u32,
}

impl Default for Sampling {
    /// 12 shards of 64 KiB, doubled once: our own choice, for intervals of some 0.2 % of the ratio to either side. That is a tenth of the
    /// difference below which settings count as equally small when one is chosen.
    fn default() -> Self {
        Self {
            seed: Seed::new(1),
            shard: ByteCount::new(64 * 1024),
            first: 12,
            doublings: 1,
        }
    }
}

/// By how much an interval is widened to either side beyond the variation between shards, as a part of the ratio: our own choice. It covers
/// three errors that a sample does not show: contexts at levels 1 to 3 that were warmed up rather than given all of the history, which made
/// a difference of at most 0.00011 in tests; blocks of sections that begin elsewhere than in the whole message; and kinds of content that
/// are in no drawn shard, while in the drawn ones a setting's size follows the auxiliary sizes byte by byte. The last made a difference of
/// 0.001 in most tests, and of 0.004, which this does not cover, where rare noise costs more in the small blocks of mem level 3.
const UNSEEN: f64 = 0.001;

/// Estimates the ratio of every setting of a grid. If a transcript has no more shards than the first round draws, all of it is compressed,
/// and points are exact.
///
/// Deterministic for a seed, unless it is interrupted. An interrupt after the first round ends it with the completed rounds.
///
/// # Errors
/// When the observer interrupts before the first round is done.
///
/// # Panics
/// When an axis of the grid has a value out of range, or fewer than 6 shards are requested.
pub fn sampled(
    connections: &[Connection<'_>],
    grid: &Grid,
    sampling: Sampling,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Result<SweepResult, Interrupted> {
    assert!(
        sampling.first >= 6,
        "Student's t is approximated from 5 degrees of freedom on"
    );
    let size = usize::try_from(sampling.shard.get()).unwrap_or(usize::MAX).max(1);
    let shards = Shard::all(connections, size);
    let raw = connections.iter().map(Connection::payload_bytes).sum::<usize>() as f64;
    if shards.len() <= sampling.first || raw == 0.0 {
        return exact(connections, grid, threads, observer);
    }
    let settings = grid.settings();
    let memory = Memory::new(&settings);
    let pool = Pool { threads, observer };
    let representatives: BTreeSet<Deflate> = settings.iter().copied().map(representative).collect();
    // The size of stored messages needs no sample.
    let (only_stored, mut wanted): (Vec<_>, Vec<_>) =
        representatives.into_iter().partition(|setting| setting.level == 0);
    let counted: BTreeMap<_, _> = only_stored
        .into_iter()
        .map(|setting| (setting, stored(connections, setting)))
        .collect();
    let known = AuxiliarySizes::measure_all(&shards, connections, &pool, 0.0..AUXILIARY_SHARE)?;
    let mut draw = ShardSampler::new(sampling.seed, &draw_weights(&known), sampling.first);
    let mut found = SampleState::new(&shards, &known);
    let mut streams = Streams::default();
    let mut bytes = 0;
    for round in 0..=sampling.doublings {
        if round > 0 {
            let beaten = find_beaten(&found.samples_of(&wanted), &wanted, &memory);
            wanted.retain(|setting| !beaten.contains_key(setting));
            found.beaten.extend(beaten);
            draw.split_strata();
        }
        let drawn = DrawnShards {
            numbers: &draw.drawn()[found.count()..],
            shards: &shards,
            connections,
        };
        let streams = (round == 0).then_some(&mut streams);
        match drawn.compress(&wanted, &pool, share_of(round, sampling.doublings), streams) {
            Ok(coded) => {
                bytes += drawn.payload_bytes();
                found.add(coded, &draw);
            }
            Err(interrupted) if round == 0 => return Err(interrupted),
            Err(_) => break,
        }
    }
    let point = |setting: Deflate| {
        let same = representative(setting);
        let (compressed, ratio_ci95) = match counted.get(&same) {
            Some(counted) => (*counted as f64, None),
            None => {
                let estimate = found.estimate(same);
                (estimate.bytes, Some(estimate.interval(UNSEEN).map(|end| end / raw)))
            }
        };
        Point {
            setting,
            compressed: ByteCount::new(compressed.round() as u64),
            ratio: compressed / raw,
            ratio_ci95,
            memory: memory.at(setting),
        }
    };
    Ok(SweepResult {
        points: settings.into_iter().map(point).collect(),
        sampled: Some(ByteCount::from(bytes)),
        distinct_streams: counted.len() + streams.count(),
    })
}

/// The shares of the work for the auxiliary sizes of every shard, and for the first round: our own choice, roughly as measured at 100 MB.
const AUXILIARY_SHARE: f64 = 0.35;
const FIRST_SHARE: f64 = 0.45;

fn share_of(round: u32, doublings: u32) -> Range<f64> {
    let (first, all) = (AUXILIARY_SHARE + FIRST_SHARE, f64::from(doublings.max(1)));
    let end = |round: u32| first + (1.0 - first) * f64::from(round) / all;
    round.checked_sub(1).map_or(AUXILIARY_SHARE, end)..end(round)
}

/// The size of all messages in stored blocks, which depends only on their lengths (RFC 1951 section 3.2.4): one message of each length is
/// compressed.
fn stored(connections: &[Connection<'_>], setting: Deflate) -> u64 {
    let mut encoder = encoder(setting);
    let mut sizes: HashMap<usize, u64> = HashMap::new();
    let messages = connections.iter().flat_map(|connection| &connection.messages);
    messages
        .map(|message| {
            *sizes
                .entry(message.len())
                .or_insert_with(|| encoder.compressed_size(message) as u64)
        })
        .sum()
}

/// The sizes of the shards drawn so far.
struct SampleState<'a> {
    shards: &'a [Shard],
    /// Auxiliary sizes of all shards.
    auxiliary_sizes: &'a [AuxiliarySizes],
    /// Compressed sizes of the drawn shards, in the order drawn: of those drawn before a setting was eliminated.
    compressed: BTreeMap<Deflate, Vec<f64>>,
    /// After each round, all shards drawn so far, with their chances.
    rounds: Vec<Vec<DrawnShard>>,
    /// Eliminated settings, each with the setting that beat it.
    beaten: BTreeMap<Deflate, Deflate>,
}

/// A shard that was drawn.
#[derive(Debug, Clone, Copy)]
struct DrawnShard {
    shard: usize,
    /// The chance that it was drawn.
    chance: f64,
}

impl<'a> SampleState<'a> {
    fn new(shards: &'a [Shard], known: &'a [AuxiliarySizes]) -> Self {
        Self {
            shards,
            auxiliary_sizes: known,
            compressed: BTreeMap::new(),
            rounds: Vec::new(),
            beaten: BTreeMap::new(),
        }
    }

    /// The number of shards measured so far.
    fn count(&self) -> usize {
        self.rounds.last().map_or(0, Vec::len)
    }

    /// Adds the sizes of the shards that were drawn last.
    fn add(&mut self, coded: BTreeMap<Deflate, Vec<f64>>, draw: &ShardSampler) {
        for (setting, coded) in coded {
            self.compressed.entry(setting).or_default().extend(coded);
        }
        let counted = |shard: &usize| DrawnShard {
            shard: *shard,
            chance: draw.chance(*shard),
        };
        self.rounds.push(draw.drawn().iter().map(counted).collect());
    }

    /// The sample of a setting.
    fn sample(&self, setting: Deflate) -> Vec<WeightedShard> {
        let coded = &self.compressed[&setting];
        // The last round that the setting took part in.
        let rounds = self.rounds.iter().rev();
        let round = rounds.filter(|round| round.len() <= coded.len()).take(1).flatten();
        let pair = |(DrawnShard { shard, chance }, coded): (&DrawnShard, &f64)| WeightedShard {
            auxiliary: self.auxiliary_sizes[*shard].at(setting),
            compressed: *coded,
            weight: 1.0 / chance,
            left_out: self.shards[*shard].left_out(*chance),
        };
        round.zip(coded).map(pair).collect()
    }

    fn samples_of(&self, settings: &[Deflate]) -> BTreeMap<Deflate, Vec<WeightedShard>> {
        settings
            .iter()
            .map(|setting| (*setting, self.sample(*setting)))
            .collect()
    }

    /// The estimated size of all shards at a setting.
    fn estimate(&self, setting: Deflate) -> Estimate {
        let known = self.auxiliary_sizes.iter().map(|known| known.at(setting)).sum();
        let sample = self.sample(setting);
        match self.beaten.get(&setting) {
            None => Estimate::from_sample(&sample, known),
            Some(better) => {
                let difference = difference(&sample, &self.sample(*better));
                self.estimate(*better).plus(Estimate::from_sample(&difference, known))
            }
        }
    }
}

/// Drawn shards of a transcript.
struct DrawnShards<'a> {
    numbers: &'a [usize],
    shards: &'a [Shard],
    connections: &'a [Connection<'a>],
}

impl DrawnShards<'_> {
    /// The compressed size of each of them at each setting; `streams` is refined by equal outputs.
    fn compress(
        &self,
        settings: &[Deflate],
        pool: &Pool<'_>,
        share: Range<f64>,
        mut streams: Option<&mut Streams>,
    ) -> Result<BTreeMap<Deflate, Vec<f64>>, Interrupted> {
        let mut coded: BTreeMap<Deflate, Vec<f64>> = BTreeMap::new();
        for (number, &shard) in self.numbers.iter().enumerate() {
            let share = share_of_part(&share, number, self.numbers.len());
            let find = || self.shards[shard].sizes(self.connections, settings, pool, share);
            let made = pool.part_sizes(&format!("shard {shard} of {}", self.shards.len()), settings, find)?;
            if let Some(streams) = &mut streams {
                streams.refine(&made);
            }
            for (setting, made) in made {
                coded.entry(setting).or_default().push(made.size as f64);
            }
        }
        Ok(coded)
    }

    /// The size of their payload.
    fn payload_bytes(&self) -> usize {
        let bytes = self
            .numbers
            .iter()
            .map(|shard| self.shards[*shard].payload_bytes(self.connections));
        bytes.sum()
    }
}

/// The settings that another one surely beats, each with that one. The better one has the same takeover (which is negotiated separately),
/// messages no larger, no more memory and no higher level, and is strictly lower in memory or level. The level stands for CPU time, which
/// is unknown here.
///
/// Of several that beat a setting, it is preferably one that nothing beats, and among those the most similar one.
fn find_beaten(
    samples: &BTreeMap<Deflate, Vec<WeightedShard>>,
    among: &[Deflate],
    memory: &Memory,
) -> BTreeMap<Deflate, Deflate> {
    let cost = |setting: &Deflate| (memory.at(*setting), setting.level);
    let beats = |other: &&Deflate, one: &Deflate| {
        let (memory, level) = cost(one);
        let (other_memory, other_level) = cost(other);
        other.takeover == one.takeover
            && other_memory <= memory
            && other_level <= level
            && (other_memory, other_level) != (memory, level)
            && is_no_smaller(&samples[one], &samples[*other])
    };
    let better: BTreeMap<Deflate, Vec<Deflate>> = among
        .iter()
        .map(|one| (*one, among.iter().filter(|other| beats(other, one)).copied().collect()))
        .collect();
    let unlike = |one: &Deflate, other: &Deflate| {
        (
            one.strategy != other.strategy,
            one.window_bits.get().abs_diff(other.window_bits.get()),
            one.level.abs_diff(other.level),
            one.mem_level.abs_diff(other.mem_level),
        )
    };
    let nearest = |(one, others): (&Deflate, &Vec<Deflate>)| {
        let nearest = others
            .iter()
            .min_by_key(|other| (!better[other].is_empty(), unlike(one, other)))?;
        Some((*one, *nearest))
    };
    better.iter().filter_map(nearest).collect()
}

#[cfg(test)]
mod tests;
