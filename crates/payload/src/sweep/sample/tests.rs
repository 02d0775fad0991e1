//! Do intervals hold the truth as often as they say, and are shards what they are in the whole?

use super::super::estimate::ratio;
use super::super::measure::is_exact_in_pieces;
use super::super::tests::{TWO, connection, noise, one_by_one, text, windows};
use super::*;

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

/// A long transcript that changes on its way: vocabularies, lengths of messages, and now and then what does not compress.
fn drifting(seed: u64) -> Vec<Vec<u8>> {
    let rng = &mut Seed::new(seed).rng();
    let part = |n: usize| match n % 5 {
        4 => noise(rng, 20, 400, 256),
        _ => text(rng, 60, 10 + 12 * (n % 7)),
    };
    (0..60).flat_map(part).collect()
}

/// Every shard that `drawn` names, at each setting.
fn compress(
    drawn: &[usize],
    shards: &[Shard],
    connections: &[Connection<'_>],
    settings: &[Deflate],
) -> BTreeMap<Deflate, Vec<Pair>> {
    let pool = Pool {
        threads: TWO,
        observer: &(),
    };
    let known = Known::of_all(shards, connections, &pool).unwrap();
    let drawn = Drawn {
        numbers: drawn,
        shards,
        known: &known,
        connections,
    };
    drawn
        .compress(settings, &pool, Share { from: 0.0, to: 1.0 }, None)
        .unwrap()
}

/// For how many of 200 seeds the interval of a sample of these shards contains the truth. Every second sample is doubled.
fn held(shards: &[Pair], first: usize, population: usize, truth: f64) -> usize {
    let holds = |seed: &u64| {
        let mut draw = Draw::new(Seed::new(*seed), shards.len(), first);
        let mut drawn = draw.drawn.clone();
        if seed % 2 == 1 {
            draw.halve();
            drawn.extend(&draw.drawn);
        }
        let sample: Vec<_> = drawn.iter().map(|shard| shards[*shard]).collect();
        Estimate::of(&sample, 1.0, population).interval(UNSEEN).contains(truth)
    };
    (0..200).filter(holds).count()
}

#[test]
fn halving_draws_no_shard_twice_and_in_the_end_all() {
    let mut draw = Draw::new(Seed::new(3), 100, 7);
    let mut drawn = draw.drawn.clone();
    assert!(drawn.is_sorted() && drawn.len() == 7);
    for _ in 0..8 {
        draw.halve();
        drawn.extend(&draw.drawn);
    }
    drawn.sort_unstable();
    assert_eq!(drawn, (0..100).collect::<Vec<_>>());
}

#[test]
fn intervals_of_95_percent_hold_the_truth_for_200_seeds_of_which_no_more_than_10_percent_fail() {
    let messages = drifting(1);
    // Of many connections, the shards are the whole, so that the truth is their sum.
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let shards = Shard::all(&connections, 4096);
    let settings: Vec<_> = few().settings().into_iter().collect();
    let every: Vec<_> = (0..shards.len()).collect();
    let pairs = compress(&every, &shards, &connections, &settings);
    assert!(shards.len() > 60);
    for (setting, pairs) in pairs {
        let held = held(&pairs, 8, Shard::population(&shards), ratio(&pairs));
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
            shard: Bytes::new(8192),
            first: 8,
            doublings: 1,
        };
        let points = sampled(&connections, &grid, sampling, TWO, &()).unwrap().points;
        for (point, truth) in points.iter().zip(&truth) {
            assert_eq!((point.setting, point.memory), (truth.setting, truth.memory));
            held += usize::from(point.ratio_ci95.unwrap().contains(truth.ratio));
            all += 1;
        }
    }
    assert!(held * 10 >= all * 9, "{held} of {all}");
}

#[test]
fn what_was_beaten_and_left_behind_is_estimated_no_smaller_than_what_beat_it() {
    let messages = drifting(3);
    let connections: Vec<_> = messages.chunks(15).map(connection).collect();
    let shards = Shard::all(&connections, 4096);
    let settings = few().settings();
    let every: Vec<_> = (0..shards.len()).collect();
    let all = compress(&every, &shards, &connections, &settings);
    let pool = Pool {
        threads: TWO,
        observer: &(),
    };
    let known = Known::of_all(&shards, &connections, &pool).unwrap();
    let mut by_themselves = 0;
    for seed in 0..20 {
        let mut draw = Draw::new(Seed::new(seed), shards.len(), 6);
        let of_drawn = |drawn: &[usize], setting: &Deflate| drawn.iter().map(|shard| all[setting][*shard]).collect();
        let first = |setting: &Deflate| (*setting, of_drawn(&draw.drawn, setting));
        let mut samples: BTreeMap<Deflate, Vec<Pair>> = settings.iter().map(first).collect();
        let beaten = beaten_of(&samples, &settings, &Memory::of(&settings), shards.len());
        assert!(!beaten.is_empty() && beaten.values().any(|better| !beaten.contains_key(better)));
        draw.halve();
        for (setting, sample) in &mut samples {
            if !beaten.contains_key(setting) {
                sample.extend::<Vec<_>>(of_drawn(&draw.drawn, setting));
            }
        }
        let found = Found {
            samples,
            beaten,
            known: &known,
            population: shards.len(),
        };
        for (one, better) in &found.beaten {
            assert!(
                found.estimate(*one).octets >= found.estimate(*better).octets,
                "{one:?} {better:?}"
            );
            let by_itself = |setting| ratio(&found.samples[setting]);
            by_themselves += usize::from(by_itself(one) < by_itself(better));
        }
    }
    assert!(by_themselves > 0, "there is nothing to show here");
}

#[test]
fn a_sample_of_all_shards_is_the_whole_where_shards_are_exact_and_nearly_so_elsewhere() {
    for (seed, size) in [(3, 32 * 1024), (4, 128 * 1024)] {
        let messages = [drifting(seed), drifting(seed + 10)].concat();
        let connections = [connection(&messages)];
        let shards = Shard::all(&connections, size);
        let grid = Grid {
            takeover: vec![true],
            levels: vec![1, 2, 3, 6],
            ..few()
        };
        let every: Vec<_> = (0..shards.len()).collect();
        for (setting, pairs) in compress(&every, &shards, &connections, &grid.settings()) {
            let sum: f64 = pairs.iter().map(|pair| pair.coded).sum();
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
    let shards = Shard::all(&connections, 4096);
    let settings = few().settings();
    let samples = compress(&[3, 9, 14, 22, 31, 40, 52], &shards, &connections, &settings);
    let beaten = beaten_of(&samples, &settings, &Memory::of(&settings), shards.len());
    let left: Vec<_> = settings
        .iter()
        .filter(|setting| !beaten.contains_key(setting))
        .collect();
    let cheapest = |setting: &&&Deflate| setting.window_bits.get() == 9 && setting.mem_level == 3 && setting.level == 1;
    assert_eq!(left.iter().filter(cheapest).count(), 2);
    assert!(left.len() < settings.len());
    // Without takeover, messages shorter than the smallest window reaches have no use for a larger one.
    let (small, large) = (
        settings[0],
        Deflate {
            window_bits: windows([15])[0],
            ..settings[0]
        },
    );
    let short = text(&mut Seed::new(6).rng(), 200, 20);
    let connections: Vec<_> = short.chunks(10).map(connection).collect();
    let shards = Shard::all(&connections, 1000);
    let samples = compress(&[0, 2, 4, 6, 8, 10], &shards, &connections, &[small, large]);
    assert_eq!(
        beaten_of(&samples, &[small, large], &Memory::of(&[small, large]), shards.len()),
        [(large, small)].into()
    );
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
            shard: Bytes::new(4096),
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
        shard: Bytes::new(4096),
        first: 6,
        doublings: 1,
        ..Sampling::default()
    };
    let points = sampled(&connections, &few(), sampling, TWO, &Half).unwrap().points;
    assert!(points.iter().all(|point| point.ratio_ci95.is_some()));
    assert_eq!(sampled(&connections, &few(), sampling, TWO, &AtOnce), Err(Interrupted));
}

/// Lines much like one another, as a log or an export has them.
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
    let shards = Shard::all(&connections, 8192);
    let sections = |shard: &&Shard| matches!(shard, Shard::Section(_));
    assert!(shards.iter().filter(sections).count() > 10);
    let grid = Grid {
        mem_levels: vec![9],
        ..few()
    };
    let every: Vec<_> = (0..shards.len()).collect();
    for (setting, pairs) in compress(&every, &shards, &connections, &grid.settings()) {
        let sum: f64 = pairs.iter().map(|pair| pair.coded).sum();
        let truth = one_by_one(&connections, setting) as f64;
        // Each section is rounded to an octet.
        let allowed = if is_exact_in_pieces(setting) {
            shards.len() as f64 / 2.0
        } else {
            truth * 0.0003
        };
        assert!((sum - truth).abs() <= allowed, "{setting:?}: {sum} {truth}");
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
        let shards = Shard::all(&connections, 64 * 1024);
        assert!(shards.len() > 12 && Shard::population(&shards) > shards.len());
        let every: Vec<_> = (0..shards.len()).collect();
        for (setting, pairs) in compress(&every, &shards, &connections, &grid.settings()) {
            let known: f64 = pairs.iter().map(|pair| pair.known).sum();
            let truth = one_by_one(&connections, setting) as f64 / known;
            let held = held(&pairs, 6, Shard::population(&shards), truth);
            assert!(held >= 180, "{held} of 200 at {setting:?}");
        }
    }
}
