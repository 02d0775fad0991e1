//! Claims about whole tunes.

pub(crate) mod fixtures;

use super::*;
use crate::record::{Choice, Scope, TranscriptFormat};
use lastmile_codec::message::Kind;
use lastmile_codec::message::WindowBits;
use lastmile_report::record::DoubtKind;
use lastmile_traffic::messages::{Direction, Message};
use lastmile_workload::WorkloadSpec;

mod answers;
mod doubts;
mod resume;

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
    tune(recording, options, &mut ResultCache::in_memory(), &mut |_| {}).unwrap()
}

fn choice(tuning: &Tuning, scope: Scope) -> &Choice {
    tuning
        .answer
        .choices
        .iter()
        .find(|choice| choice.scope == scope)
        .unwrap()
}

fn holder(connections: u64) -> ServerProfile {
    ServerProfile {
        connections: NonZeroU64::new(connections).unwrap(),
        ..Options::default().server
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
    // 8 window bits run as 9. Without takeover, some messages are longer than a window of 9 bits, but none needs more than 11.
    let streams = tuning.directions[0].distinct_streams.unwrap();
    assert!((4 * 3..=4 * 3 * 3 + 2 * 3 * 3).contains(&streams), "{streams}");
    let phases: Vec<String> = tuning
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
        phases,
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
        server: holder(50_000),
        memory: Some("2 GiB".parse().unwrap()),
        beyond: false,
        ..options()
    };
    let tuning = tuned(&chat(), &options);
    let chosen = choice(&tuning, Scope::PermessageDeflate);
    assert!(chosen.memory_total_bytes <= 2 << 30, "{chosen:?}");
    assert_eq!(chosen.fits, Some(true));
    assert!(
        tuning.answer.text.contains("does not fit the limits"),
        "{}",
        tuning.answer.text
    );
    let tight = Options {
        memory: Some(ByteCount::new(1000)),
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
    assert!(tuning.answer.text.contains("uncompressed"), "{}", tuning.answer.text);
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
        let without = without.expect("the same codec without a dictionary is measured, too");
        assert!(point.messages < 300 && point.messages == without.messages, "{point:?}");
        assert!(point.ratio < without.ratio, "{} {}", point.ratio, without.ratio);
    }
}

#[test]
fn both_directions_are_answered_and_delivered_each_its_own_way() {
    let recording = made("{ kind = \"chat\", messages = 150, speakers = 2 }");
    let link = |text: &str| (text.to_owned(), lastmile_link::resolve(text).unwrap());
    let options = Options {
        links: vec![link("published/dialup-56k")],
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
    // At 56 kbit/s, delivery times depend mostly on sizes.
    let saving = outcomes[1].saving_against_identity.as_ref().unwrap();
    assert!(saving.share > 0.02, "{saving:?}");
    let kinds: Vec<DoubtKind> = tuning.doubts.iter().map(|doubt| doubt.kind).collect();
    assert!(kinds.contains(&DoubtKind::FewMessages), "{kinds:?}");
}

#[test]
fn what_cannot_be_tuned_for_is_refused_with_a_remedy() {
    let refused = |recording: &Recording, options: &Options| {
        tune(recording, options, &mut ResultCache::in_memory(), &mut |_| {})
            .unwrap_err()
            .to_string()
    };
    let empty = recording(&[message(""), message("")]);
    assert!(refused(&empty, &options()).starts_with("test.txt: none of 2 messages has payload"));
    let empty = recording(&[message("")]);
    assert!(refused(&empty, &options()).starts_with("test.txt: its one message has no payload"));
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
    assert!(refused(&one, &never).contains("0 per second"));
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
fn one_message_and_messages_of_one_byte_are_tuned_for_too() {
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
    assert!(recording.messages.sent.total() > ByteCount::new(2_000_000));
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
    let kinds = |tuning: &Tuning| tuning.doubts.iter().map(|doubt| doubt.kind).collect::<Vec<_>>();
    assert!(kinds(&sampled).contains(&DoubtKind::Sampled));
    assert!(!kinds(&counted).contains(&DoubtKind::Sampled));
}

fn noise(count: usize) -> impl Iterator<Item = Vec<u8>> {
    use rand_core::Rng as _;
    let mut rng = Seed::new(3).rng();
    std::iter::repeat_with(move || (0..600).map(|_| rng.next_u64() as u8).collect()).take(count)
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
