//! Tests that intervals cover the true size as often as they claim, and that shards compress as they do in the whole transcript.

use super::*;
use crate::distinct_outputs::is_exact_in_pieces;
use crate::estimate::ratio;
use crate::tests::{TWO, below, connection, noise, one_by_one, text, windows};
use lastmile_codec::message::Strategy;

/// A few settings of every kind.
fn few() -> Grid {
    Grid {
        takeover: vec![false, true],
        window_bits: windows([9, 11, 15]),
        levels: vec![1, 3, 6],
        mem_levels: vec![3, 8],
        strategies: vec![Strategy::Default],
    }
}

/// A long transcript that changes over time: vocabularies, lengths of messages, and sometimes incompressible content.
fn drifting(seed: u64) -> Vec<Vec<u8>> {
    let rng = &mut Seed::new(seed).rng();
    let part = |n: usize| match n % 5 {
        4 => noise(rng, 20, 400, 256),
        _ => text(rng, 60, 10 + 12 * (n % 7)),
    };
    (0..60).flat_map(part).collect()
}

/// Every shard of a transcript, at each setting.
struct All {
    shards: Vec<Shard>,
    known: Vec<AuxiliarySizes>,
    coded: BTreeMap<Deflate, Vec<f64>>,
}

impl All {
    fn of(connections: &[Connection<'_>], size: usize, settings: &[Deflate]) -> Self {
        let pool = Pool {
            threads: TWO,
            observer: &(),
        };
        let shards = Shard::all(connections, size);
        let drawn = DrawnShards {
            numbers: &(0..shards.len()).collect::<Vec<_>>(),
            shards: &shards,
            connections,
        };
        let coded = drawn.compress(settings, &pool, 0.0..1.0, None);
        let known = AuxiliarySizes::measure_all(&shards, connections, &pool, 0.0..1.0);
        Self {
            coded: coded.unwrap(),
            known: known.unwrap(),
            shards,
        }
    }

    fn draw(&self, seed: u64, parts: usize) -> ShardSampler {
        ShardSampler::new(Seed::new(seed), &draw_weights(&self.known), parts)
    }

    fn found(&self) -> SampleState<'_> {
        SampleState::new(&self.shards, &self.known)
    }

    /// Adds the shards drawn since the last call.
    fn add(&self, settings: &[Deflate], draw: &ShardSampler, found: &mut SampleState<'_>) {
        let new = draw.drawn()[found.count()..].iter();
        let coded = |setting: &Deflate| (*setting, new.clone().map(|shard| self.coded[setting][*shard]).collect());
        found.add(settings.iter().map(coded).collect(), draw);
    }

    /// For how many of 200 seeds the interval of a setting covers its true size. Every second sample is doubled.
    fn held(&self, setting: Deflate, parts: usize, bytes: f64) -> usize {
        let holds = |seed: &u64| {
            let mut draw = self.draw(*seed, parts);
            if seed % 2 == 1 {
                draw.split_strata();
            }
            let mut found = self.found();
            self.add(&[setting], &draw, &mut found);
            contains(found.estimate(setting).interval(UNSEEN), bytes)
        };
        (0..200).filter(holds).count()
    }
}

fn contains([low, high]: [f64; 2], value: f64) -> bool {
    (low..=high).contains(&value)
}

#[test]
fn intervals_of_95_percent_hold_the_truth_for_200_seeds_of_which_no_more_than_10_percent_fail() {
    let messages = drifting(1);
    // With many connections, the shards make up the whole, so the true size is their sum.
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let all = All::of(&connections, 4096, &few().settings());
    assert!(all.shards.len() > 60);
    for (setting, coded) in &all.coded {
        let held = all.held(*setting, 8, coded.iter().sum());
        assert!(held >= 180, "{held} of 200 at {setting:?}");
    }
}

#[test]
fn intervals_hold_the_truth_of_what_is_rare_and_only_the_largest_window_reaches() {
    let rng = &mut Seed::new(21).rng();
    let mut messages = [drifting(21), drifting(22), drifting(23)].concat();
    // Three times among many other messages, a page is sent and sent again at once; only the largest window still holds it.
    for index in [1000, 4000, 5000] {
        let page = noise(rng, 1, 20_000, 64).remove(0);
        messages.splice(index..index, [page.clone(), page]);
    }
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let grid = Grid {
        window_bits: windows([9, 14, 15]),
        mem_levels: vec![5, 8],
        ..few()
    };
    let all = All::of(&connections, 8192, &grid.settings());
    for (setting, coded) in &all.coded {
        let held = all.held(*setting, Sampling::default().first, coded.iter().sum());
        assert!(held >= 180, "{held} of 200 at {setting:?}");
    }
}

#[test]
fn a_sample_of_one_long_connection_holds_the_truth_at_nearly_every_setting() {
    let messages = drifting(2);
    let connections = [connection(&messages)];
    let grid = few();
    let truth = exact(&connections, &grid, TWO, &()).unwrap().points;
    let (mut held, mut all) = (0, 0);
    for seed in 0..8 {
        let sampling = Sampling {
            seed: Seed::new(seed),
            shard: ByteCount::new(8192),
            first: 8,
            doublings: 1,
        };
        let points = sampled(&connections, &grid, sampling, TWO, &()).unwrap().points;
        for (point, truth) in points.iter().zip(&truth) {
            assert_eq!((point.setting, point.memory), (truth.setting, truth.memory));
            held += usize::from(contains(point.ratio_ci95.unwrap(), truth.ratio));
            all += 1;
        }
    }
    assert!(held * 10 >= all * 9, "{held} of {all}");
}

#[test]
fn what_was_beaten_and_left_behind_is_estimated_no_smaller_than_what_beat_it() {
    let messages = drifting(3);
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let settings = few().settings();
    let all = All::of(&connections, 4096, &settings);
    let mut by_themselves = 0;
    for seed in 0..20 {
        let mut draw = all.draw(seed, 6);
        let mut found = all.found();
        all.add(&settings, &draw, &mut found);
        found.beaten = find_beaten(&found.samples_of(&settings), &settings, &Memory::new(&settings));
        let left: Vec<_> = settings
            .iter()
            .copied()
            .filter(|setting| !found.beaten.contains_key(setting))
            .collect();
        assert!(!found.beaten.is_empty() && !left.is_empty());
        draw.split_strata();
        all.add(&left, &draw, &mut found);
        for (one, better) in &found.beaten {
            assert!(
                found.estimate(*one).bytes >= found.estimate(*better).bytes,
                "{one:?} {better:?}"
            );
            let by_itself = |setting| ratio(&found.sample(setting));
            by_themselves += usize::from(by_itself(*one) < by_itself(*better));
        }
    }
    assert!(by_themselves > 0, "there is nothing to show here");
}

#[test]
fn a_sample_of_all_shards_is_the_whole_where_shards_are_exact_and_nearly_so_elsewhere() {
    for (seed, size) in [(3, 32 * 1024), (4, 128 * 1024)] {
        let messages = [drifting(seed), drifting(seed + 10)].concat();
        let connections = [connection(&messages)];
        let grid = Grid {
            takeover: vec![true],
            levels: vec![1, 2, 3, 6],
            ..few()
        };
        for (setting, coded) in All::of(&connections, size, &grid.settings()).coded {
            let sum: f64 = coded.iter().sum();
            let truth = one_by_one(&connections, setting) as f64;
            if is_exact_in_pieces(setting) {
                assert_eq!(sum.to_bits(), truth.to_bits(), "{setting:?}");
            } else {
                assert!((sum / truth - 1.0).abs() <= 0.0003, "{setting:?}: {sum} {truth}");
            }
        }
    }
}

#[test]
fn a_setting_that_costs_more_and_gives_nothing_is_no_contender() {
    let messages = drifting(5);
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let beaten = |connections: &[Connection<'_>], size, settings: &[Deflate]| {
        let all = All::of(connections, size, settings);
        let mut found = all.found();
        all.add(settings, &all.draw(1, 7), &mut found);
        find_beaten(&found.samples_of(settings), settings, &Memory::new(settings))
    };
    let settings = few().settings();
    let of_all = beaten(&connections, 4096, &settings);
    let left: Vec<_> = settings
        .iter()
        .filter(|setting| !of_all.contains_key(setting))
        .collect();
    let cheapest = |setting: &&&Deflate| setting.window_bits.get() == 9 && setting.mem_level == 3 && setting.level == 1;
    assert_eq!(left.iter().filter(cheapest).count(), 2);
    assert!(left.len() < settings.len());
    // Without takeover, messages shorter than the smallest window's reach do not benefit from a larger one.
    let (small, large) = (
        settings[0],
        Deflate {
            window_bits: windows([15])[0],
            ..settings[0]
        },
    );
    let short = text(&mut Seed::new(6).rng(), 200, 20);
    let connections: Vec<_> = short.chunks(10).map(connection).collect();
    assert_eq!(beaten(&connections, 1000, &[small, large]), [(large, small)].into());
}

#[test]
fn few_shards_are_compressed_whole() {
    let messages = drifting(7);
    let connections = [connection(&messages)];
    let points = sampled(&connections, &few(), Sampling::default(), TWO, &())
        .unwrap()
        .points;
    assert!(points.iter().all(|point| point.ratio_ci95.is_none()));
}

#[test]
fn a_seed_draws_the_same_shards_again() {
    let messages = drifting(8);
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let sample = |seed| {
        let sampling = Sampling {
            seed: Seed::new(seed),
            shard: ByteCount::new(4096),
            first: 6,
            doublings: 1,
        };
        sampled(&connections, &few(), sampling, TWO, &()).unwrap()
    };
    assert_eq!(sample(1), sample(1));
    assert_ne!(sample(1), sample(2));
}

#[test]
fn a_sweep_that_is_broken_off_after_the_first_shards_has_points() {
    use std::ops::ControlFlow;
    struct Half;
    impl Observer for Half {
        fn progress(&self, done: f64) -> ControlFlow<()> {
            if done <= 0.85 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        }
    }
    struct AtOnce;
    impl Observer for AtOnce {
        fn progress(&self, _: f64) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let messages = drifting(9);
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let sampling = Sampling {
        shard: ByteCount::new(4096),
        first: 6,
        doublings: 1,
        ..Sampling::default()
    };
    let points = sampled(&connections, &few(), sampling, TWO, &Half).unwrap().points;
    assert!(points.iter().all(|point| point.ratio_ci95.is_some()));
    assert_eq!(sampled(&connections, &few(), sampling, TWO, &AtOnce), Err(Interrupted));
}

/// Lines that resemble each other, as in a log or an export.
fn lines(count: u32) -> Vec<u8> {
    let line = |n: u32| {
        let (id, user, at) = (n * 7, n % 13, 1_000_000 + n * 37 % 977);
        format!("{{\"id\":{id},\"user\":\"u{user}\",\"text\":\"hello there\",\"at\":{at}}}\n")
    };
    (0..count).map(line).collect::<String>().into_bytes()
}

#[test]
fn sections_of_messages_that_begin_near_are_exactly_what_the_messages_become() {
    let messages = [
        drifting(11)[..300].concat(),
        drifting(12)[..40].concat(),
        drifting(13)[..400].concat(),
    ];
    let connections = [connection(&messages)];
    let grid = Grid {
        mem_levels: vec![9],
        ..few()
    };
    let All { shards, coded, .. } = All::of(&connections, 8192, &grid.settings());
    let sections = |shard: &&Shard| matches!(shard, Shard::Section(_));
    assert!(shards.iter().filter(sections).count() > 10);
    for (setting, coded) in coded {
        let sum: f64 = coded.iter().sum();
        let truth = one_by_one(&connections, setting) as f64;
        // Each section's size is rounded to a byte.
        let allowed = if is_exact_in_pieces(setting) {
            shards.len() as f64 / 2.0
        } else {
            truth * 0.0003
        };
        assert!((sum - truth).abs() <= allowed, "{setting:?}: {sum} {truth}");
    }
}

#[test]
fn sections_far_into_a_message_do_not_show_how_their_contexts_were_made() {
    // Random words of a large vocabulary: which strings are in the hash matters for a long time.
    let rng = &mut Seed::new(16).rng();
    let words = noise(rng, 2700, 9, 12);
    let messages = [(0..200_000)
        .flat_map(|_| [words[below(rng, words.len())].as_slice(), b" "].concat())
        .collect::<Vec<u8>>()];
    let connections = [connection(&messages)];
    let grid = Grid {
        takeover: vec![true],
        window_bits: windows([15]),
        levels: vec![1, 2, 3],
        mem_levels: vec![8],
        ..few()
    };
    for (setting, coded) in All::of(&connections, 64 * 1024, &grid.settings()).coded {
        let truth = one_by_one(&connections, setting) as f64;
        let off = coded.iter().sum::<f64>() / truth - 1.0;
        assert!(off.abs() <= 0.0005, "{setting:?}: {off}");
    }
}

#[test]
fn intervals_from_sections_of_long_messages_hold_the_truth_for_200_seeds_of_which_no_more_than_10_percent_fail() {
    let rng = &mut Seed::new(15).rng();
    let long = [drifting(31), drifting(32), drifting(33)].concat().concat();
    let mut mixed = text(rng, 2000, 20);
    mixed.insert(700, lines(6000));
    mixed.insert(1400, lines(5000));
    let grid = Grid {
        takeover: vec![true],
        window_bits: windows([9, 15]),
        levels: vec![1, 6],
        mem_levels: vec![1, 5, 9],
        ..few()
    };
    for messages in [vec![long], vec![lines(20_000)], mixed] {
        let connections = [connection(&messages)];
        let all = All::of(&connections, 64 * 1024, &grid.settings());
        let sections = |shard: &Shard| matches!(shard, Shard::Section(_));
        assert!(all.shards.len() > 12 && all.shards.iter().any(sections));
        for setting in all.coded.keys() {
            let truth = one_by_one(&connections, *setting) as f64;
            // The default number of parts halves the number of failures.
            for (parts, least) in [(6, 180), (Sampling::default().first, 190)] {
                let held = all.held(*setting, parts, truth);
                assert!(held >= least, "{held} of 200 from {parts} parts at {setting:?}");
            }
        }
    }
}
