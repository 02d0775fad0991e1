//! How small does each setting make messages that are too many to compress at every setting? An estimate from shards: runs of
//! messages, or sections of long ones, each with the history that its windows reach, compressed at all settings alike, so that settings
//! are compared on the same messages.
//!
//! The first shards are drawn from as many parts of the transcript. Then each part is halved, and a shard drawn from the half that has
//! none; and so on, for ever fewer settings: those that may still be on the frontier, as far as the sample can tell (successive
//! halving: Jamieson and Talwalkar, Non-stochastic Best Arm Identification, 2016). How wide an interval is has no say in how many are
//! drawn: one that may stop as soon as it is narrow is often narrow by luck, and then misses the truth.
//!
//! Settings that were left behind are estimated by one that beat them, on the shards which both have, and what that one makes of all: or
//! one that was lucky in the first shards would beat those that all were drawn for (double sampling: Cochran, Sampling Techniques,
//! 3rd edition, chapter 12).
//!
//! **The estimate** is by comparison with what is known of all shards: each is compressed with a small window and a large one, with
//! takeover and without. What a setting makes of a shard goes up and down with that, whatever the shard holds, so that a sample in
//! which some kind of content is missing misses little.
//!
//! **What is out of the ordinary** is likelier to be drawn, and counts the less for it: a shard of which the large window makes far more
//! or less than the small one lets expect. A client that for a minute of a day polls a page which only the largest window still holds is
//! in no shard out of hundreds, or in one that then stands for many.
//!
//! **How true it is:** at levels 4 to 9, and without takeover, a shard's messages become what they become in the whole. At levels 1
//! to 3 with takeover, what zlib has in its hash depends on what it chose before, so there a shard's history is compressed,
//! two windows of it. What follows is not always the same; nor are a section's blocks quite those of the whole message. Intervals are
//! wider by [`UNSEEN`] for it.

mod draw;
mod known;

use self::draw::Draw;
use self::known::{Known, worth};
use super::estimate::{Estimate, Interval, Pair, difference, is_no_smaller};
use super::grid::{Grid, Memory, Point, Swept, encoder};
use super::measure::representative;
use super::part::Streams;
use super::pool::{Pool, Share};
use super::shard::Shard;
use super::{Connection, Interrupted, Observer, exact};
use crate::message_codec::Deflate;
use lastmile_units::{Bytes, Seed};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;

/// How a sample is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Decides which shards are drawn.
    pub seed: Seed,
    /// How long a shard is, about; the history before it comes on top of this.
    pub shard: Bytes,
    /// Of how many parts one shard each is drawn for every setting: 6 or more, or Student's t is not what is taken for it.
    pub first: usize,
    /// How often the number of parts is doubled for settings that may be on the frontier.
    pub doublings: u32,
}

impl Default for Sampling {
    /// 12 shards of 64 KiB, doubled once: our own choice, for intervals of some 0.2 % of the ratio to either side, a tenth of what counts
    /// as equally small where settings are chosen.
    fn default() -> Self {
        Self {
            seed: Seed::new(1),
            shard: Bytes::new(64 * 1024),
            first: 12,
            doublings: 1,
        }
    }
}

/// By which part of a ratio its interval is wider than what shards vary by, to either side: our own choice. It stands for three
/// things that a sample does not show: contexts at levels 1 to 3 that were warmed up rather than had all of the history, which made
/// a difference of 0.00011 at most in tests; blocks of sections that begin elsewhere than in the whole message; and kinds of content that
/// are in no shard, while in those that are there a setting goes with what is known, octet by octet. That made one of 0.001 in most
/// tests, and of 0.004, which this does not cover, where rare noise costs more in the small blocks of mem level 3.
const UNSEEN: f64 = 0.001;

/// Estimates the ratio of every setting of a grid. Where a transcript has not more than the first shards, all of it is compressed, and
/// points are exact.
///
/// Deterministic, given a seed, unless it is interrupted. That ends it with the shards that were done, once the first are.
///
/// # Errors
/// When the observer asks for a break before the first shards are done.
///
/// # Panics
/// When an axis of the grid holds a value out of its range, or fewer than 6 shards are asked for.
pub fn sampled(
    connections: &[Connection<'_>],
    grid: &Grid,
    sampling: Sampling,
    threads: NonZeroUsize,
    observer: &dyn Observer,
) -> Result<Swept, Interrupted> {
    assert!(
        sampling.first >= 6,
        "Student's t is approximated from 5 degrees of freedom on"
    );
    let size = usize::try_from(sampling.shard.get()).unwrap_or(usize::MAX).max(1);
    let shards = Shard::all(connections, size);
    let raw = connections.iter().map(Connection::octets).sum::<usize>() as f64;
    if shards.len() <= sampling.first || raw == 0.0 {
        return exact(connections, grid, threads, observer);
    }
    let settings = grid.settings();
    let memory = Memory::of(&settings);
    let pool = Pool { threads, observer };
    let representatives: BTreeSet<Deflate> = settings.iter().copied().map(representative).collect();
    // What is only stored costs nothing to know.
    let (only_stored, mut wanted): (Vec<_>, Vec<_>) =
        representatives.into_iter().partition(|setting| setting.level == 0);
    let counted: BTreeMap<_, _> = only_stored
        .into_iter()
        .map(|setting| (setting, stored(connections, setting)))
        .collect();
    let share = Share {
        from: 0.0,
        to: KNOWN_SHARE,
    };
    let known = Known::of_all(&shards, connections, &pool, share)?;
    let mut draw = Draw::new(sampling.seed, &worth(&known), sampling.first);
    let mut found = Found::new(&shards, &known);
    let mut streams = Streams::default();
    let mut octets = 0;
    for round in 0..=sampling.doublings {
        if round > 0 {
            let beaten = beaten_of(&found.samples_of(&wanted), &wanted, &memory);
            wanted.retain(|setting| !beaten.contains_key(setting));
            found.beaten.extend(beaten);
            draw.halve();
        }
        let drawn = Drawn {
            numbers: &draw.drawn()[found.count()..],
            shards: &shards,
            connections,
        };
        let streams = (round == 0).then_some(&mut streams);
        match drawn.compress(&wanted, &pool, share_of(round, sampling.doublings), streams) {
            Ok(coded) => {
                octets += drawn.octets();
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
                let Interval { low, high } = estimate.interval(UNSEEN);
                let ends = Interval {
                    low: low / raw,
                    high: high / raw,
                };
                (estimate.octets, Some(ends))
            }
        };
        Point {
            setting,
            compressed: Bytes::new(compressed.round() as u64),
            ratio: compressed / raw,
            ratio_ci95,
            memory: memory.at(setting),
        }
    };
    Ok(Swept {
        points: settings.into_iter().map(point).collect(),
        sampled: Some(Bytes::from(octets)),
        distinct_streams: counted.len() + streams.count(),
    })
}

/// How much of the work it is to know something of every shard, and to compress the first: our own choice, roughly as measured at 100 MB.
const KNOWN_SHARE: f64 = 0.35;
const FIRST_SHARE: f64 = 0.45;

fn share_of(round: u32, doublings: u32) -> Share {
    let (first, all) = (KNOWN_SHARE + FIRST_SHARE, f64::from(doublings.max(1)));
    let end = |round: u32| first + (1.0 - first) * f64::from(round) / all;
    Share {
        from: round.checked_sub(1).map_or(KNOWN_SHARE, end),
        to: end(round),
    }
}

/// The octets of all messages where they are only stored, which goes by their lengths alone (RFC 1951 section 3.2.4): a message of each
/// length is.
fn stored(connections: &[Connection<'_>], setting: Deflate) -> u64 {
    let mut encoder = encoder(setting);
    let mut sizes: HashMap<usize, u64> = HashMap::new();
    let messages = connections.iter().flat_map(|connection| &connection.messages);
    messages
        .map(|message| {
            *sizes
                .entry(message.len())
                .or_insert_with(|| encoder.coded_size(message) as u64)
        })
        .sum()
}

/// What was found in the shards that were drawn.
struct Found<'a> {
    shards: &'a [Shard],
    /// Of all shards.
    known: &'a [Known],
    /// Octets of the shards that were drawn, in that order: of as many as were drawn before a setting was left behind.
    coded: BTreeMap<Deflate, Vec<f64>>,
    /// After each round, all shards drawn by then, and how they count.
    rounds: Vec<Vec<Counted>>,
    /// Settings that were left behind, with what beat them.
    beaten: BTreeMap<Deflate, Deflate>,
}

/// A shard that was drawn.
#[derive(Debug, Clone, Copy)]
struct Counted {
    shard: usize,
    /// How likely that was.
    chance: f64,
}

impl<'a> Found<'a> {
    fn new(shards: &'a [Shard], known: &'a [Known]) -> Self {
        Self {
            shards,
            known,
            coded: BTreeMap::new(),
            rounds: Vec::new(),
            beaten: BTreeMap::new(),
        }
    }

    /// Of how many shards something was found.
    fn count(&self) -> usize {
        self.rounds.last().map_or(0, Vec::len)
    }

    /// Adds what settings make of the shards that were drawn last.
    fn add(&mut self, coded: BTreeMap<Deflate, Vec<f64>>, draw: &Draw) {
        for (setting, coded) in coded {
            self.coded.entry(setting).or_default().extend(coded);
        }
        let counted = |shard: &usize| Counted {
            shard: *shard,
            chance: draw.chance(*shard),
        };
        self.rounds.push(draw.drawn().iter().map(counted).collect());
    }

    /// The sample that a setting has.
    fn sample(&self, setting: Deflate) -> Vec<Pair> {
        let coded = &self.coded[&setting];
        // The last of those that drew no more.
        let rounds = self.rounds.iter().rev();
        let round = rounds.filter(|round| round.len() <= coded.len()).take(1).flatten();
        let pair = |(Counted { shard, chance }, coded): (&Counted, &f64)| Pair {
            known: self.known[*shard].at(setting),
            coded: *coded,
            weight: 1.0 / chance,
            left_out: self.shards[*shard].left_out(*chance),
        };
        round.zip(coded).map(pair).collect()
    }

    fn samples_of(&self, settings: &[Deflate]) -> BTreeMap<Deflate, Vec<Pair>> {
        settings
            .iter()
            .map(|setting| (*setting, self.sample(*setting)))
            .collect()
    }

    /// What a setting makes of all shards.
    fn estimate(&self, setting: Deflate) -> Estimate {
        let known = self.known.iter().map(|known| known.at(setting)).sum();
        let sample = self.sample(setting);
        match self.beaten.get(&setting) {
            None => Estimate::of(&sample, known),
            Some(better) => {
                let difference = difference(&sample, &self.sample(*better));
                self.estimate(*better).plus(Estimate::of(&difference, known))
            }
        }
    }
}

/// Shards of a transcript that were drawn.
struct Drawn<'a> {
    numbers: &'a [usize],
    shards: &'a [Shard],
    connections: &'a [Connection<'a>],
}

impl Drawn<'_> {
    /// Octets of each of them at each setting; tells `streams` what is the same.
    fn compress(
        &self,
        settings: &[Deflate],
        pool: &Pool<'_>,
        share: Share,
        mut streams: Option<&mut Streams>,
    ) -> Result<BTreeMap<Deflate, Vec<f64>>, Interrupted> {
        let mut coded: BTreeMap<Deflate, Vec<f64>> = BTreeMap::new();
        let step = (share.to - share.from) / self.numbers.len().max(1) as f64;
        for (number, &shard) in self.numbers.iter().enumerate() {
            let from = share.from + step * number as f64;
            let share = Share { from, to: from + step };
            let find = || self.shards[shard].sizes(self.connections, settings, pool, share);
            let made = pool.made(&format!("shard {shard} of {}", self.shards.len()), settings, find)?;
            if let Some(streams) = &mut streams {
                streams.part_by(&made);
            }
            for (setting, made) in made {
                coded.entry(setting).or_default().push(made.size as f64);
            }
        }
        Ok(coded)
    }

    /// Their payload.
    fn octets(&self) -> usize {
        let octets = self
            .numbers
            .iter()
            .map(|shard| self.shards[*shard].octets(self.connections));
        octets.sum()
    }
}

/// The settings that another one beats for sure, with that one: by messages that are no larger, with no more memory, at a level no higher,
/// one of the latter less; and with the same takeover, which is another matter to negotiate. The level stands for computing, of which
/// nothing is known here.
///
/// Of several that beat a setting it is one that nothing beats, and of those the one most like it, if there is any.
fn beaten_of(samples: &BTreeMap<Deflate, Vec<Pair>>, among: &[Deflate], memory: &Memory) -> BTreeMap<Deflate, Deflate> {
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
