//! Claims about whole tunes.

use super::*;
use lastmile_payload::message_codec::WindowBits;
use lastmile_payload::transcript::{Direction, Kind, Message};
use lastmile_payload::workload::WorkloadSpec;
use lastmile_report::tune::{Choice, Scope, TranscriptFormat};
use std::path::Path;
use std::sync::atomic::Ordering;

pub(super) fn message(text: &str) -> Message {
    Message {
        direction: Direction::Sent,
        at: None,
        kind: Kind::Text,
        connection: 0,
        payload: text.as_bytes().to_vec().into(),
    }
}

pub(super) fn recording(messages: &[Message]) -> Recording {
    Recording {
        source: "test.txt".to_owned(),
        format: TranscriptFormat::Text,
        notes: Vec::new(),
        recorded_at: End::Server,
        messages: messages.iter().collect(),
    }
}

/// The messages of a workload, as a study's file describes it.
fn made(workload: &str) -> Recording {
    #[derive(serde::Deserialize)]
    struct File {
        workload: WorkloadSpec,
    }
    let file: File = toml::from_str(&format!("workload = {workload}")).unwrap();
    recording(&file.workload.messages(Seed::new(1)).unwrap())
}

fn chat() -> Recording {
    made("{ kind = \"chat\", messages = 300 }")
}

/// Some of the grid, and as little timing as there can be.
fn options() -> Options {
    let bits = |bits: &[u8]| bits.iter().map(|bits| WindowBits::new(*bits).unwrap()).collect();
    Options {
        grid: Grid {
            window_bits: bits(&[8, 9, 11, 13, 15]),
            levels: vec![1, 6, 9],
            mem_levels: vec![1, 4, 8],
            ..Grid::default()
        },
        timing: Duration::ZERO,
        threads: const { NonZeroUsize::new(2).unwrap() },
        ..Options::default()
    }
}

fn tuned(recording: &Recording, options: &Options) -> Tuning {
    tune(recording, options, &mut Kept::in_memory(), &mut |_| {}).unwrap()
}

fn choice(tuning: &Tuning, scope: Scope) -> &Choice {
    tuning
        .answer
        .choices
        .iter()
        .find(|choice| choice.scope == scope)
        .unwrap()
}

fn holder(connections: u64) -> Holder {
    Holder {
        connections: NonZeroU64::new(connections).unwrap(),
        ..Options::default().holder
    }
}

#[test]
fn points_are_what_the_pinned_zlib_makes_of_our_own_chat() {
    let tuning = tuned(
        &chat(),
        &Options {
            beyond: false,
            ..options()
        },
    );
    assert_eq!(tuning.points.len(), 2 * 5 * 3 * 3);
    // 8 window bits are 9, and messages on their own, some of which are longer than that reaches, have no use for more than 11.
    let streams = tuning.directions[0].distinct_streams.unwrap();
    assert!((4 * 3..=4 * 3 * 3 + 2 * 3 * 3).contains(&streams), "{streams}");
    let told: Vec<String> = tuning
        .points
        .iter()
        .filter(|point| (point.level, point.mem_level) == (6, 8))
        .map(|point| {
            format!(
                "{} w{} {} B {:.6} {} B",
                if point.takeover { "takeover" } else { "alone" },
                point.window_bits,
                point.compressed_bytes,
                point.ratio,
                point.memory_bytes
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "alone w8 30868 B 0.823586 139088 B",
            "alone w9 30868 B 0.823586 139088 B",
            "alone w11 30872 B 0.823693 145232 B",
            "alone w13 30872 B 0.823693 169808 B",
            "alone w15 30872 B 0.823693 268112 B",
            "takeover w8 18856 B 0.503095 139088 B",
            "takeover w9 18856 B 0.503095 139088 B",
            "takeover w11 14843 B 0.396025 145232 B",
            "takeover w13 13043 B 0.347999 169808 B",
            "takeover w15 12273 B 0.327455 268112 B",
        ]
    );
    assert!(
        tuning
            .points
            .iter()
            .all(|point| point.exact && point.ratio_ci95.is_none())
    );
}

#[test]
fn what_is_timed_is_a_few_and_what_runs_as_another_is_timed_as_that() {
    let tuning = tuned(
        &chat(),
        &Options {
            beyond: false,
            ..options()
        },
    );
    let timed: Vec<_> = tuning
        .points
        .iter()
        .filter(|point| point.cpu_seconds.is_some())
        .collect();
    assert!((5..60).contains(&timed.len()), "{}", timed.len());
    assert!(timed.iter().all(|point| point.window_bits > 8));
    assert!(
        tuning
            .points
            .iter()
            .all(|point| !point.frontier || point.cpu_seconds.is_some())
    );
    assert!(tuning.points.iter().any(|point| point.frontier));
}

#[test]
fn a_bound_on_memory_takes_a_setting_that_fits_and_says_what_the_usual_one_would_take() {
    let options = Options {
        holder: holder(50_000),
        memory: Some("2 GiB".parse().unwrap()),
        beyond: false,
        ..options()
    };
    let tuning = tuned(&chat(), &options);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert!(chosen.memory_total_bytes <= 2 << 30, "{chosen:?}");
    assert_eq!(chosen.fits, Some(true));
    assert!(
        tuning.answer.text.contains("which does not fit"),
        "{}",
        tuning.answer.text
    );
    let tight = Options {
        memory: Some(Bytes::new(1000)),
        ..options
    };
    let tuning = tuned(&made("{ kind = \"chat\", messages = 20 }"), &tight);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert_eq!((chosen.setting.as_str(), chosen.fits), ("identity", Some(true)));
}

#[test]
fn noise_is_left_as_it_is_in_the_answer_and_in_every_configuration() {
    let of_noise = |payload: Vec<u8>| Message {
        kind: Kind::Binary,
        payload: payload.into(),
        ..message("")
    };
    let messages: Vec<Message> = noise(120).map(of_noise).collect();
    let tuning = tuned(&recording(&messages), &options());
    assert_eq!(choice(&tuning, Scope::PermessageDeflate).setting, "identity");
    assert_eq!(choice(&tuning, Scope::AnyCodec).setting, "identity");
    assert!(tuning.answer.text.contains("as they are"), "{}", tuning.answer.text);
    assert!(
        tuning
            .snippets
            .iter()
            .any(|snippet| snippet.text.contains("perMessageDeflate: false"))
    );
}

#[test]
fn a_dictionary_is_tried_on_other_messages_than_it_was_learnt_from_beside_the_same_without() {
    let tuning = tuned(&chat(), &options());
    let with: Vec<_> = tuning
        .codecs
        .iter()
        .filter(|point| point.dictionary.is_some() && point.policy.is_none())
        .collect();
    assert!(!with.is_empty());
    for point in with {
        let without = tuning.codecs.iter().find(|other| {
            (&other.dictionary, &other.policy) == (&None, &None)
                && other.codec == point.codec
                && other.measured_on == point.measured_on
        });
        let without = without.expect("beside it stands the same without");
        assert!(point.messages < 300 && point.messages == without.messages, "{point:?}");
        assert!(point.ratio < without.ratio, "{} {}", point.ratio, without.ratio);
    }
}

#[test]
fn a_tune_that_is_interrupted_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(JOURNAL);
    let (recording, options) = (chat(), options());
    let stop = Arc::clone(&options.interrupt);
    let mut phases = Vec::new();
    let interrupted = tune(&recording, &options, &mut Kept::open(&path).unwrap(), &mut |progress| {
        phases.push(progress.phase);
        stop.store(progress.phase == Phase::Timing, Ordering::Relaxed);
    });
    assert!(matches!(interrupted, Err(TuneError::Interrupted)), "{interrupted:?}");
    assert!(phases.contains(&Phase::Sweeping) && phases.contains(&Phase::Beyond));
    options.interrupt.store(false, Ordering::Relaxed);
    let again = |phases: &mut Vec<Phase>| {
        let mut kept = Kept::open(&path).unwrap();
        tune(&recording, &options, &mut kept, &mut |progress| {
            phases.push(progress.phase);
        })
        .unwrap()
    };
    let mut phases = Vec::new();
    let resumed = again(&mut phases);
    let is_left = |phase: &Phase| matches!(phase, Phase::Timing | Phase::Policies);
    assert!(phases.iter().all(is_left), "{phases:?}");
    let mut phases = Vec::new();
    assert_eq!(again(&mut phases), resumed, "timings are kept too");
    assert!(phases.is_empty(), "{phases:?}");
}

#[test]
fn a_sweep_that_is_interrupted_again_and_again_loses_one_part_at_most_and_finds_the_same() {
    let recording = made("{ kind = \"chat\", messages = 4000 }");
    let options = Options {
        grid: Grid {
            window_bits: vec![WindowBits::MAX],
            levels: vec![1, 6],
            mem_levels: vec![4, 8],
            ..Grid::default()
        },
        sampling: Sampling::Exact,
        beyond: false,
        ..options()
    };
    let streams = recording.streams();
    let stream = &streams[0];
    let sweep = |kept: &mut Kept, until: Option<&Path>| {
        options.interrupt.store(false, Ordering::Relaxed);
        let held = kept.len();
        let mut told = 0;
        let mut on_progress = |_: Progress| {
            told += 1;
            let lines = until.map(|path| std::fs::read_to_string(path).unwrap().lines().count());
            if lines.is_some_and(|lines| lines > held) {
                options.interrupt.store(true, Ordering::Relaxed);
            }
        };
        let mut work = Work {
            options: &options,
            kept,
            progress: &mut on_progress,
            workers: Workers {
                threads: NonZeroUsize::MIN,
                interrupt: &options.interrupt,
            },
        };
        let swept = points::points(stream, &mut work);
        (swept, told)
    };
    let mut whole = Kept::in_memory();
    let (expected, told) = sweep(&mut whole, None);
    let expected = expected.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(JOURNAL);
    let mut interrupts = 0;
    let (found, last) = loop {
        let mut kept = Kept::open(&path).unwrap();
        let before = kept.len();
        match sweep(&mut kept, Some(&path)) {
            (Err(TuneError::Interrupted), _) => assert!(kept.len() > before, "what was done is kept"),
            (found, told) => break (found.unwrap(), told),
        }
        interrupts += 1;
    };
    assert!(interrupts > 0);
    assert!(last < told, "the last one had {last} of {told} steps to do");
    assert_eq!(found, expected);
    assert_eq!(Kept::open(&path).unwrap().len(), whole.len(), "no part was found twice");
}

#[test]
fn both_directions_are_answered_and_delivered_each_its_own_way() {
    let recording = made("{ kind = \"chat\", messages = 150, speakers = 2 }");
    let link = |text: &str| (text.to_owned(), lastmile_link::resolve(text).unwrap());
    let options = Options {
        links: vec![link("seeds/dialup-56k")],
        beyond: false,
        ..options()
    };
    let tuning = tuned(&recording, &options);
    let directions: Vec<&str> = tuning.directions.iter().map(|stream| stream.direction.name()).collect();
    assert_eq!(directions, ["sent", "received"]);
    assert_eq!(tuning.transcript.connections, 2);
    let outcomes = &tuning.links[0].outcomes;
    assert_eq!(
        outcomes.iter().filter(|outcome| outcome.setting == "identity").count(),
        2
    );
    for outcome in outcomes {
        assert_eq!(outcome.saving_against_identity.is_none(), outcome.setting == "identity");
        assert!(outcome.delivery_time.quantiles["0.95"] >= outcome.delivery_time.quantiles["0.5"]);
    }
    // At 56 kbit/s, sizes are what counts.
    let saving = outcomes[1].saving_against_identity.as_ref().unwrap();
    assert!(saving.share > 0.02, "{saving:?}");
    let kinds: Vec<&str> = tuning.doubts.iter().map(|doubt| &*doubt.kind).collect();
    assert!(kinds.contains(&"few-messages"), "{kinds:?}");
}

#[test]
fn what_cannot_be_tuned_for_is_refused_with_a_remedy() {
    let refused = |recording: &Recording, options: &Options| {
        tune(recording, options, &mut Kept::in_memory(), &mut |_| {})
            .unwrap_err()
            .to_string()
    };
    let empty = recording(&[message(""), message("")]);
    assert!(refused(&empty, &options()).starts_with("test.txt: none of 2 messages has payload"));
    let one = recording(&[message("a")]);
    let slow = Options {
        slow_client: 0.0,
        ..options()
    };
    assert!(refused(&one, &slow).contains("give a factor above 0"));
    let never = Options {
        pace: Pace::Rate(0.0),
        ..options()
    };
    assert!(refused(&one, &never).contains("0 a second"));
    let none_left = Options {
        ratio: Some(0.0),
        ..options()
    };
    assert!(refused(&one, &none_left).contains("give a ratio above 0"));
    let no_time = Options {
        computing: Some(Duration::ZERO),
        ..options()
    };
    assert!(refused(&one, &no_time).contains("give a time above 0"));
    let nobody = Options {
        receivers: NonZeroU64::new(40),
        ..options()
    };
    assert!(refused(&one, &nobody).contains("40, of 1 connections"));
    let mut nothing = options();
    nothing.grid.levels.clear();
    assert!(refused(&one, &nothing).contains("the grid is empty"));
    let lost = Options {
        links: vec![("t".to_owned(), lastmile_link::resolve("wpt/3g+loss=100%").unwrap())],
        ..options()
    };
    assert!(refused(&one, &lost).contains("over link t messages do not arrive"));
}

#[test]
fn one_message_and_messages_of_one_octet_are_tuned_for_too() {
    for messages in [vec![message("a")], vec![message("a"), message(""), message("b")]] {
        let tuning = tuned(&recording(&messages), &options());
        assert_eq!(choice(&tuning, Scope::PermessageDeflate).setting, "identity");
    }
}

#[test]
fn a_long_transcript_is_sampled_and_says_so_with_intervals_that_hold_what_is_counted() {
    let recording = made("{ kind = \"chat\", messages = 24000 }");
    let options = Options {
        grid: Grid {
            takeover: vec![true],
            window_bits: vec![WindowBits::MAX],
            levels: vec![6],
            mem_levels: vec![8],
            ..Grid::default()
        },
        beyond: false,
        ..options()
    };
    assert!(recording.messages.sent.total() > Bytes::new(2_000_000));
    let sampled = tuned(&recording, &options);
    let counted = tuned(
        &recording,
        &Options {
            sampling: Sampling::Exact,
            ..options
        },
    );
    let rests_on = sampled.directions[0].sampled_bytes.unwrap();
    assert!(rests_on < recording.messages.sent.total().get(), "{rests_on}");
    assert_eq!(counted.directions[0].sampled_bytes, None);
    let (estimate, truth) = (&sampled.points[0], &counted.points[0]);
    assert!(!estimate.exact && truth.exact);
    let [low, high] = estimate.ratio_ci95.unwrap();
    assert!(
        low <= truth.ratio && truth.ratio <= high,
        "{low} {} {high}",
        truth.ratio
    );
    let kinds = |tuning: &Tuning| tuning.doubts.iter().map(|doubt| doubt.kind.clone()).collect::<Vec<_>>();
    assert!(kinds(&sampled).contains(&"sampled".to_owned()));
    assert!(!kinds(&counted).contains(&"sampled".to_owned()));
}

fn noise(count: usize) -> impl Iterator<Item = Vec<u8>> {
    use rand_core::Rng as _;
    let mut rng = Seed::new(3).rng();
    std::iter::repeat_with(move || (0..600).map(|_| rng.next_u64() as u8).collect()).take(count)
}

#[test]
fn a_policy_that_spares_computing_is_chosen_on_the_setting_that_would_be_used_without_it() {
    // Media among chat: compressing them takes long and leaves all of them.
    let chat = chat().messages.sent;
    let messages: Vec<Message> = (0..150)
        .zip(noise(150))
        .flat_map(|(place, noise)| {
            let text = std::str::from_utf8(chat.payload(place)).unwrap();
            let media = Message {
                kind: Kind::Binary,
                payload: noise.into(),
                ..message("")
            };
            [message(&text.repeat(4)), media]
        })
        .collect();
    let tuning = tuned(&recording(&messages), &options());
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert_eq!(chosen.policy.as_deref(), Some("text only"), "{chosen:?}");
    assert!(
        chosen.deflate.is_some() && chosen.why.contains("Without the policy (text only)"),
        "{}",
        chosen.why
    );
    assert!(
        tuning
            .answer
            .text
            .contains(&format!("use {}, text only", chosen.setting)),
        "{}",
        tuning.answer.text
    );
    let row = tuning
        .codecs
        .iter()
        .find(|row| row.codec == chosen.setting && row.policy == chosen.policy)
        .expect("what is chosen is among what was tried");
    assert_eq!((row.ratio, &row.cpu_seconds), (chosen.ratio, &chosen.cpu_seconds));
    let without = tuning.point(chosen.direction, &chosen.deflate.unwrap()).unwrap();
    assert!(
        chosen.ratio < without.ratio * 1.02,
        "{} {}",
        chosen.ratio,
        without.ratio
    );
}

#[test]
fn where_connections_are_short_a_dictionary_is_chosen_and_said_how_to_come_by() {
    let chat = chat().messages.sent;
    let messages: Vec<Message> = (0..300)
        .map(|place| Message {
            connection: place as u32 / 2,
            ..message(std::str::from_utf8(chat.payload(place)).unwrap())
        })
        .collect();
    let tuning = tuned(&recording(&messages), &options());
    let (own, all) = (
        choice(&tuning, Scope::PermessageDeflate),
        choice(&tuning, Scope::AnyCodec),
    );
    assert_eq!(own.dictionary, None, "permessage-deflate knows none");
    let known = all.dictionary.as_ref().expect("two messages are too few to refer to");
    assert_eq!(all.deflate, None);
    assert!(all.ratio < own.ratio, "{all:?} {own:?}");
    assert!(
        all.why.contains("load the ") || all.why.contains("zstd --train -r MESSAGES"),
        "{}",
        all.why
    );
    // In proportion to the same codec on all messages.
    let row = |dictionary: Option<&String>, part: Option<&str>| {
        let mut rows = tuning.codecs.iter();
        rows.find(|row| {
            row.codec == all.setting
                && row.dictionary.as_ref() == dictionary
                && row.policy.is_none()
                && part.is_none_or(|part| row.measured_on == part)
        })
    };
    let with = row(Some(known), None).unwrap();
    let without = row(None, Some(&with.measured_on)).unwrap();
    let whole = match all.setting.parse().unwrap() {
        lastmile_payload::message_codec::MessageCodec::Deflate(_) => {
            let points = tuning.points.iter();
            let mut of_it = points.filter(|point| point.deflate().setting() == all.setting);
            of_it.next().unwrap().ratio
        }
        _ => row(None, Some("all")).unwrap().ratio,
    };
    let expected = whole * with.ratio / without.ratio;
    assert!((all.ratio - expected).abs() < 1e-12, "{} {expected}", all.ratio);
}

#[test]
fn what_goes_to_many_is_told_as_compressed_once_in_ratio_computing_and_memory() {
    let stated = |receivers| Options {
        holder: holder(1000),
        receivers: NonZeroU64::new(receivers),
        beyond: false,
        ..options()
    };
    let once = |tuning: &Tuning| {
        let mut rows = tuning.codecs.iter();
        rows.find(|row| row.policy.as_deref() == Some("once for a broadcast"))
            .cloned()
    };
    assert_eq!(once(&tuned(&chat(), &stated(1))), None);
    let tuning = tuned(&chat(), &stated(1000));
    let row = once(&tuning).unwrap();
    let mut points = tuning.points.iter();
    let alone = points.find(|point| point.deflate().setting() == row.codec).unwrap();
    assert!(!alone.takeover);
    assert_eq!((row.ratio, row.compressed_bytes), (alone.ratio, alone.compressed_bytes));
    let mean = |figure: &Option<lastmile_report::record::Figure>| figure.as_ref().unwrap().mean;
    let (share, whole) = (mean(&row.cpu_seconds), mean(&alone.cpu_seconds));
    assert!((share * 1000.0 / whole - 1.0).abs() < 1e-9, "{share} {whole}");
    assert_eq!(tuning.directions[0].receivers, Some(1000.0));
    // No connection's own context is ten times as fast as one that forgets each message; a thousandth of that is.
    let fast = Options {
        computing: Some(Duration::from_secs_f64(whole / 10.0)),
        ..stated(1000)
    };
    let tuning = tuned(&chat(), &fast);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert_eq!(
        (chosen.policy.as_deref(), chosen.fits),
        (Some("once for a broadcast"), Some(true))
    );
    let point = tuning.point(chosen.direction, &chosen.deflate.unwrap()).unwrap();
    assert_eq!(
        chosen.memory_total_bytes,
        point.memory_bytes + 4 * point.decompressor_memory_bytes,
        "one context to compress with, and one a core to decompress with"
    );
    let said = "A context for each connection does not fit";
    assert!(tuning.answer.text.contains(said), "{}", tuning.answer.text);
}

#[test]
fn copies_to_several_connections_are_found_in_a_transcript() {
    let messages: Vec<Message> = (0..60)
        .map(|place: u32| Message {
            connection: place % 3,
            at: Some(Duration::from_secs(u64::from(place / 3))),
            ..message(&format!("to all three, message {}", place / 3))
        })
        .collect();
    let tuning = tuned(
        &recording(&messages),
        &Options {
            beyond: false,
            holder: holder(3),
            ..options()
        },
    );
    let stream = &tuning.directions[0];
    assert_eq!((stream.copied_messages, stream.receivers), (40, Some(3.0)));
    assert_eq!(stream.copied_bytes * 3, stream.bytes * 2);
    let finding = tuning
        .findings
        .iter()
        .find(|finding| finding.title.starts_with("What a broadcast costs"));
    let text = &finding.unwrap().text;
    assert!(
        text.starts_with("66.7 % of the messages and 66.7 % of their octets are copies"),
        "{text}"
    );
}

#[test]
fn the_cheapest_setting_that_leaves_little_enough_is_chosen_or_it_is_said_by_how_much_none_does() {
    let bounded = |ratio| {
        let options = Options {
            ratio: Some(ratio),
            beyond: false,
            ..options()
        };
        tuned(&chat(), &options)
    };
    let tuning = bounded(0.45);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert!(chosen.ratio <= 0.45 && chosen.fits == Some(true), "{chosen:?}");
    let median = |figure: &lastmile_report::record::Figure| figure.quantiles["0.5"];
    let fitting = tuning.points.iter().filter(|point| point.ratio <= 0.45);
    let fastest = fitting.filter_map(|point| point.cpu_seconds.as_ref()).map(median);
    let fastest = fastest.fold(f64::INFINITY, f64::min);
    assert!(
        median(chosen.cpu_seconds.as_ref().unwrap()) <= 1.05 * fastest,
        "{chosen:?}"
    );
    assert_eq!(tuning.options.ratio, Some(0.45));
    let tuning = bounded(0.1);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert_eq!(chosen.fits, Some(false));
    // Nothing else was limited, so the smallest comes nearest.
    let least = tuning
        .points
        .iter()
        .filter(|point| point.cpu_seconds.is_some())
        .map(|point| point.ratio);
    assert_eq!(chosen.ratio, least.fold(1.0, f64::min));
    let too_much = lastmile_report::number::percent(chosen.ratio / 0.1 - 1.0);
    let said = format!("where 10 % was allowed, {too_much} too much.");
    assert!(
        tuning.answer.text.contains(&said) && chosen.why.contains(&said),
        "{}",
        tuning.answer.text
    );
}

#[test]
fn every_point_has_what_decompressing_it_takes() {
    let tuning = tuned(
        &chat(),
        &Options {
            beyond: false,
            ..options()
        },
    );
    for point in &tuning.points {
        // zlib's window, and its state (inflate.h), 64 bits.
        assert_eq!(
            point.decompressor_memory_bytes,
            (1 << point.runs_as_window_bits) + 7_160
        );
    }
}
