//! Compares the sweep with zlib, one message after the other at each setting, over transcripts of many kinds.

use super::distinct_outputs::{representative, sizes};
use super::work_unit::PiecePlan;
use super::workers::Pool;
use super::*;
use lastmile_codec::message::{Deflate, MessageCodec, MessageEncoder, Strategy, WindowBits};
use lastmile_units::{ByteCount, Rng, Seed};
use rand_core::Rng as _;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

pub(super) const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");

pub(super) fn below(rng: &mut Rng, end: usize) -> usize {
    (rng.next_u64() % end as u64) as usize
}

/// Messages from a vocabulary that recurs, as people and programs write.
pub(super) fn text(rng: &mut Rng, messages: usize, words_max: usize) -> Vec<Vec<u8>> {
    let word = |rng: &mut Rng| -> Vec<u8> { (0..1 + below(rng, 9)).map(|_| b'a' + below(rng, 12) as u8).collect() };
    let vocabulary: Vec<_> = (0..150).map(|_| word(rng)).collect();
    let message = |_| {
        let mut message = b"{\"user\":\"".to_vec();
        for _ in 0..=below(rng, words_max) {
            // The product of two draws prefers the first words.
            let chosen = below(rng, 150) * below(rng, 150) / 150;
            message.extend_from_slice(&vocabulary[chosen]);
            message.push(b" \",:"[below(rng, 4)]);
        }
        message
    };
    (0..messages).map(message).collect()
}

/// Bytes that do not compress, in messages of up to `length_max`.
pub(super) fn noise(rng: &mut Rng, messages: usize, length_max: usize, kinds: usize) -> Vec<Vec<u8>> {
    let message = |_| {
        (0..below(rng, length_max + 1))
            .map(|_| below(rng, kinds) as u8)
            .collect()
    };
    (0..messages).map(message).collect()
}

/// Noise that repeats after exactly `period` bytes, except for a change here and there; cut anywhere.
fn periodic(rng: &mut Rng, period: usize, bytes: usize, length_max: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<u8> = (0..period).map(|_| below(rng, 256) as u8).collect();
    while all.len() < bytes {
        let again = all[all.len() - period];
        all.push(if below(rng, 15) == 0 {
            below(rng, 256) as u8
        } else {
            again
        });
    }
    let (mut messages, mut from) = (Vec::new(), 0);
    while from < all.len() {
        let to = all.len().min(from + 1 + below(rng, length_max));
        messages.push(all[from..to].to_vec());
        from = to;
    }
    messages
}

pub(super) fn connection(messages: &[Vec<u8>]) -> Connection<'_> {
    Connection {
        messages: messages.iter().map(Vec::as_slice).collect(),
    }
}

/// The compressed size of all messages at a setting, from one encoder per connection.
pub(super) fn one_by_one(connections: &[Connection<'_>], setting: Deflate) -> u64 {
    let mut size = 0;
    for connection in connections {
        let mut encoder = MessageEncoder::new(&MessageCodec::Deflate(setting), None).unwrap();
        let mut coded = Vec::new();
        for message in &connection.messages {
            encoder.encode(message, &mut coded);
        }
        size += coded.len() as u64;
    }
    size
}

/// Compares each point of the grid, except 8 window bits, with zlib.
fn assert_exact(connections: &[Connection<'_>], grid: &Grid) {
    let points = exact(connections, grid, TWO, &()).unwrap().points;
    assert_eq!(points.len(), grid.settings().len());
    let raw: usize = connections.iter().map(Connection::payload_bytes).sum();
    for point in points {
        let expected = one_by_one(connections, point.setting);
        assert_eq!(point.compressed.get(), expected, "{:?}", point.setting);
        let ratio = if raw == 0 { 1.0 } else { expected as f64 / raw as f64 };
        assert_eq!(point.ratio.to_bits(), ratio.to_bits());
    }
}

pub(super) fn windows(bits: impl IntoIterator<Item = u8>) -> Vec<WindowBits> {
    bits.into_iter().map(|bits| WindowBits::new(bits).unwrap()).collect()
}

/// All but 8 window bits, which another test shows to be the same as 9.
fn distinct() -> Grid {
    Grid {
        window_bits: windows(9..=15),
        ..Grid::default()
    }
}

#[test]
fn text_is_exact_at_every_setting() {
    for seed in 0..2 {
        let messages = text(&mut Seed::new(seed).rng(), 150, 40);
        assert_exact(&[connection(&messages)], &distinct());
    }
}

#[test]
fn text_that_slides_out_of_every_window_is_exact_at_every_setting() {
    let messages = text(&mut Seed::new(9).rng(), 900, 40);
    let grid = Grid {
        levels: vec![1, 4, 5, 7, 9],
        mem_levels: vec![1, 2, 3, 5, 8, 9],
        ..distinct()
    };
    assert_exact(&[connection(&messages)], &grid);
}

#[test]
fn bytes_that_do_not_compress_are_exact_at_every_setting() {
    let rng = &mut Seed::new(10).rng();
    let messages = [noise(rng, 12, 3000, 256), noise(rng, 60, 300, 256)].concat();
    assert_exact(&[connection(&messages)], &distinct());
}

#[test]
fn few_kinds_of_bytes_whose_chains_are_long_are_exact_at_every_setting() {
    for kinds in [2, 5] {
        let messages = noise(&mut Seed::new(11).rng(), 60, 500, kinds);
        assert_exact(&[connection(&messages)], &distinct());
    }
}

#[test]
fn tiny_and_empty_messages_are_exact_at_every_setting() {
    let messages = noise(&mut Seed::new(12).rng(), 1200, 5, 7);
    assert_exact(&[connection(&messages)], &distinct());
    assert_exact(&[connection(&[vec![], vec![], b"a".to_vec()])], &distinct());
    assert_exact(&[], &distinct());
}

#[test]
fn strings_at_the_very_greatest_distance_are_exact_at_every_setting() {
    for (bits, bytes) in [(9, 12_000), (10, 12_000), (11, 16_000)] {
        for more in [-1_i32, 0, 1] {
            let period = (1 << bits) - 262 + more;
            let messages = periodic(&mut Seed::new(13).rng(), period as usize, bytes, 90);
            let grid = Grid {
                window_bits: windows([bits, bits + 1]),
                ..Grid::default()
            };
            assert_exact(&[connection(&messages)], &grid);
        }
    }
}

#[test]
fn messages_longer_than_any_window_or_stored_block_are_exact() {
    let rng = &mut Seed::new(14).rng();
    let long: Vec<u8> = text(rng, 700, 60).concat();
    let mut messages = vec![long[..70_000].to_vec(), b"short".to_vec()];
    messages.extend(noise(rng, 1, 90_000, 256));
    messages.push(vec![0; 66_000]);
    messages.push(long[40_000..].to_vec());
    let grid = Grid {
        window_bits: windows([9, 12, 15]),
        levels: vec![0, 1, 3, 4, 6, 9],
        mem_levels: vec![1, 5, 8, 9],
        ..Grid::default()
    };
    assert_exact(&[connection(&messages)], &grid);
}

#[test]
fn a_message_too_long_to_foretell_is_exact() {
    let rng = &mut Seed::new(21).rng();
    let vocabulary = text(rng, 400, 60).concat();
    let mut messages = text(rng, 400, 40);
    let long = (0..4_300_000 / 500).flat_map(|_| vocabulary[below(rng, vocabulary.len() - 500)..][..500].to_vec());
    messages.insert(300, long.collect());
    let grid = Grid {
        window_bits: windows([9, 15]),
        levels: vec![1, 6],
        mem_levels: vec![8],
        ..Grid::default()
    };
    assert_exact(&[connection(&messages)], &grid);
}

#[test]
fn every_strategy_is_exact() {
    let rng = &mut Seed::new(15).rng();
    let messages = [text(rng, 60, 40), noise(rng, 30, 400, 4), noise(rng, 10, 900, 256)].concat();
    let grid = Grid {
        window_bits: windows([9, 11, 15]),
        levels: vec![0, 1, 2, 4, 6, 9],
        mem_levels: vec![1, 3, 8],
        strategies: Strategy::ALL.to_vec(),
        ..Grid::default()
    };
    assert_exact(&[connection(&messages)], &grid);
}

#[test]
fn connections_do_not_share_a_history() {
    let rng = &mut Seed::new(16).rng();
    let all: Vec<_> = (0..12).map(|n| text(rng, 1 + n, 30)).collect();
    let connections: Vec<_> = all.iter().map(|messages| connection(messages)).collect();
    assert_exact(&connections, &distinct());
}

#[test]
fn gathered_messages_keep_their_connections_and_order() {
    use lastmile_codec::message::Kind;
    use lastmile_traffic::messages::{Direction, Directions, Message};
    let message = |connection, direction, payload: &'static [u8]| Message {
        direction,
        at: None,
        kind: Kind::Text,
        connection,
        payload: payload.into(),
    };
    let (sent, received) = (Direction::Sent, Direction::Received);
    let transcript = [
        message(7, sent, b"first"),
        message(2, sent, b"other"),
        message(7, received, b"answer"),
        message(7, sent, b"second"),
    ];
    let directions: Directions = transcript.iter().collect();
    let mut all: Vec<_> = Connection::from_messages(directions.in_direction(sent))
        .into_iter()
        .map(|connection| connection.messages)
        .collect();
    all.sort();
    assert_eq!(all, [vec![b"first".as_slice(), b"second"], vec![b"other".as_slice()]]);
}

#[test]
fn eight_window_bits_run_as_nine() {
    let messages = text(&mut Seed::new(17).rng(), 80, 30);
    let grid = Grid {
        window_bits: windows([8, 9]),
        ..Grid::default()
    };
    let connections = [connection(&messages)];
    let points = exact(&connections, &grid, TWO, &()).unwrap().points;
    let of = |bits| {
        points
            .iter()
            .filter(move |point| point.setting.window_bits.get() == bits)
    };
    assert!(
        of(8)
            .zip(of(9))
            .all(|(eight, nine)| (eight.compressed, eight.memory) == (nine.compressed, nine.memory))
    );
    assert_eq!(of(8).count(), 180);
}

#[test]
fn pieces_add_up_to_the_whole_at_levels_4_to_9_whatever_their_size() {
    let rng = &mut Seed::new(18).rng();
    let messages = [text(rng, 900, 40), noise(rng, 40, 2000, 256), text(rng, 500, 300)].concat();
    let connections = [connection(&messages)];
    let grid = Grid {
        takeover: vec![true],
        window_bits: windows([9, 10, 12, 15]),
        levels: vec![4, 5, 6, 9],
        mem_levels: vec![1, 4, 8, 9],
        ..Grid::default()
    };
    let settings: BTreeSet<_> = grid.settings().into_iter().map(representative).collect();
    let settings: Vec<_> = settings.into_iter().collect();
    let pool = Pool {
        threads: TWO,
        observer: &(),
    };
    for size in [3_000, 20_000, 32_768, 100_000] {
        let cuts = PiecePlan::all(&connections, size);
        let mut totals = BTreeMap::<Deflate, u64>::new();
        for cut in &cuts {
            let made = sizes(&cut.piece(&connections), &settings, &pool, 0.0..1.0).unwrap();
            for (setting, made) in made {
                *totals.entry(setting).or_default() += made.size;
            }
        }
        assert!(cuts.len() > 1);
        for (setting, total) in totals {
            assert_eq!(total, one_by_one(&connections, setting), "{size} {setting:?}");
        }
    }
}

#[test]
fn a_transcript_of_several_pieces_is_exact_at_every_level() {
    let messages = text(&mut Seed::new(19).rng(), 5000, 60);
    assert!(messages.concat().len() > exact::PIECE);
    let grid = Grid {
        window_bits: windows([11, 15]),
        levels: vec![0, 1, 2, 3, 6],
        mem_levels: vec![2, 8],
        ..Grid::default()
    };
    assert_exact(&[connection(&messages)], &grid);
}

#[test]
fn memory_is_what_zlib_allocates() {
    let points = exact(&[], &Grid::default(), TWO, &()).unwrap().points;
    for point in points {
        let (window, memory) = (point.setting.window_bits.runs_as().get(), point.setting.mem_level);
        assert_eq!(
            point.memory,
            ByteCount::new((1 << (window + 2)) + (1 << (memory + 9)) + 5968)
        );
    }
}

#[test]
fn an_observer_sees_progress_up_to_the_end_and_can_break_it() {
    use std::sync::Mutex;
    struct Until(f64, Mutex<Vec<f64>>);
    impl Observer for Until {
        fn progress(&self, done: f64) -> ControlFlow<()> {
            self.1.lock().unwrap().push(done);
            if done < self.0 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        }
    }
    let messages = text(&mut Seed::new(20).rng(), 30, 30);
    let connections = [connection(&messages)];
    let sweep = |until| {
        let observer = Until(until, Mutex::default());
        let result = exact(&connections, &Grid::default(), NonZeroUsize::MIN, &observer);
        (result.map(|swept| swept.points.len()), observer.1.into_inner().unwrap())
    };
    let (all, progress) = sweep(2.0);
    assert_eq!((all, progress.last()), (Ok(1440), Some(&1.0)));
    assert!(progress.is_sorted());
    let (none, progress) = sweep(0.3);
    assert_eq!(none, Err(Interrupted));
    assert!(progress.last().is_some_and(|last| (0.3..0.4).contains(last)));
}

/// Stores parts, and interrupts after a given number of them.
#[derive(Default)]
pub(super) struct Keeper {
    pub(super) kept: BTreeMap<String, Vec<u64>>,
    pub(super) found: std::sync::Mutex<BTreeMap<String, Vec<u64>>>,
    pub(super) most: Option<usize>,
}

impl Observer for Keeper {
    fn progress(&self, _: f64) -> ControlFlow<()> {
        match self.most {
            Some(most) if self.found.lock().unwrap().len() >= most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn cached(&self, part: &str) -> Option<Vec<u64>> {
        self.kept.get(part).cloned()
    }

    fn store(&self, part: &str, figures: &[u64]) {
        let before = self.found.lock().unwrap().insert(part.to_owned(), figures.to_vec());
        assert_eq!(before, None, "{part} is found twice");
    }
}

impl Keeper {
    /// An observer that continues where this one stopped.
    pub(super) fn after(self) -> Self {
        let mut kept = self.kept;
        kept.extend(self.found.into_inner().unwrap());
        Self {
            kept,
            ..Self::default()
        }
    }
}

#[test]
fn a_sweep_that_was_broken_off_leaves_out_what_is_kept_and_finds_the_same() {
    let messages = text(&mut Seed::new(22).rng(), 5000, 60);
    let connections = [connection(&messages)];
    let grid = Grid {
        window_bits: windows([11, 15]),
        levels: vec![0, 1, 6],
        mem_levels: vec![2, 8],
        ..Grid::default()
    };
    let sweep = |keeper: &Keeper| exact(&connections, &grid, NonZeroUsize::MIN, keeper);
    let whole = Keeper::default();
    let expected = sweep(&whole).unwrap();
    let parts = whole.after().kept.len();
    // Level 1 with takeover at each window and mem level, and the pieces.
    assert_eq!(parts, 4 + PiecePlan::all(&connections, exact::PIECE).len());
    let mut keeper = Keeper {
        most: Some(1),
        ..Keeper::default()
    };
    let mut breaks = 0;
    loop {
        let swept = sweep(&keeper);
        let found = keeper.found.lock().unwrap().len();
        keeper = keeper.after();
        if let Ok(swept) = swept {
            assert_eq!(swept, expected);
            break;
        }
        assert_eq!(found, 1);
        breaks += 1;
        keeper.most = Some(1);
    }
    assert_eq!((keeper.kept.len(), breaks), (parts, parts - 1));
}

#[test]
fn streams_are_counted_once_where_settings_are_known_to_make_the_same() {
    let messages = text(&mut Seed::new(23).rng(), 60, 20);
    let connections = [connection(&messages)];
    let swept = |takeover| {
        let grid = Grid {
            takeover: vec![takeover],
            ..Grid::default()
        };
        exact(&connections, &grid, TWO, &()).unwrap()
    };
    for takeover in [false, true] {
        let SweepResult {
            points,
            distinct_streams,
            ..
        } = swept(takeover);
        let sizes: BTreeSet<u64> = points.iter().map(|point| point.compressed.get()).collect();
        assert!(distinct_streams >= sizes.len(), "different sizes are different streams");
        assert!(distinct_streams < points.len() / 2, "{distinct_streams}");
    }
    // Short messages without takeover benefit from neither the window nor the hash.
    assert!(
        swept(false).distinct_streams <= 2 * 10,
        "{}",
        swept(false).distinct_streams
    );
}
