//! A sample tuning: a whole grid in one direction, three points in the other, with made-up, orderly figures.

use crate::record::*;
use lastmile_report::link_description::LinkDescription;
use lastmile_report::record::{Doubt, DoubtKind, Finding, Levels, Threshold};
use lastmile_report::testing::{figure, saving};

const BYTES: u64 = 87_904;

/// Better by window, a little by level and mem level; far worse without takeover.
fn ratio(deflate: &Deflate) -> f64 {
    let window = f64::from(15 - deflate.window_bits.max(9)) * 0.03;
    let effort = f64::from(9 - deflate.level) * 0.002 + f64::from(9 - deflate.mem_level) * 0.001;
    match (deflate.takeover, deflate.level) {
        (_, 0) => 1.006,
        (true, _) => 0.3 + window + effort,
        (false, _) => 0.83 + window / 30.0 + effort,
    }
}

/// The memory of stock zlib (zconf.h), with its five small allocations.
fn memory(deflate: &Deflate) -> u64 {
    (1 << (deflate.window_bits.max(9) + 2)) + (1 << (deflate.mem_level + 9)) + 5_968
}

fn point(direction: Direction, deflate: Deflate) -> Point {
    let ratio = ratio(&deflate);
    let frontier = deflate.takeover && deflate.level == 6 && deflate.mem_level + 7 == deflate.window_bits;
    Point {
        direction,
        takeover: deflate.takeover,
        window_bits: deflate.window_bits,
        runs_as_window_bits: deflate.window_bits.max(9),
        level: deflate.level,
        mem_level: deflate.mem_level,
        strategy: deflate.strategy,
        compressed_bytes: (ratio * BYTES as f64).round() as u64,
        ratio,
        ratio_ci95: (direction == Direction::Received).then_some([ratio - 0.003, ratio + 0.003]),
        exact: direction == Direction::Sent,
        memory_bytes: memory(&deflate),
        decompressor_memory_bytes: (1 << deflate.window_bits.max(9)) + 7_160,
        cpu_seconds: frontier.then(|| figure("s", "message", 5.4e-6 + f64::from(deflate.window_bits) * 1e-7, 2e-7)),
        frontier,
    }
}

fn grid(direction: Direction) -> Vec<Point> {
    let mut points = Vec::new();
    for takeover in [false, true] {
        for window_bits in 8..=15 {
            for level in 0..=9 {
                for mem_level in 1..=9 {
                    let strategy = Strategy::Default;
                    let deflate = Deflate {
                        takeover,
                        window_bits,
                        level,
                        mem_level,
                        strategy,
                    };
                    points.push(point(direction, deflate));
                }
            }
        }
    }
    points
}

fn few() -> Vec<Point> {
    let off = Deflate {
        takeover: false,
        ..Deflate::DEFAULT
    };
    let small = Deflate {
        window_bits: 11,
        mem_level: 4,
        ..Deflate::DEFAULT
    };
    [off, small, Deflate::DEFAULT]
        .map(|deflate| point(Direction::Received, deflate))
        .to_vec()
}

fn stream(direction: Direction) -> Stream {
    Stream {
        direction,
        messages: 666,
        text_messages: 666,
        empty_messages: 0,
        bytes: BYTES,
        length_min_bytes: 41,
        length_median_bytes: 118,
        length_p95_bytes: 240,
        length_max_bytes: 514,
        copied_messages: 0,
        copied_bytes: 0,
        receivers: None,
        sampled_bytes: (direction == Direction::Received).then_some(20_000),
        distinct_streams: Some(414),
    }
}

fn codec(codec: &str, dictionary: Option<&str>, ratio: f64, memory_bytes: u64, seconds: f64) -> CodecPoint {
    CodecPoint {
        direction: Direction::Sent,
        codec: codec.to_owned(),
        dictionary: dictionary.map(ToOwned::to_owned),
        policy: None,
        measured_on: if dictionary.is_some() { "the second half" } else { "all" }.to_owned(),
        messages: if dictionary.is_some() { 333 } else { 666 },
        bytes: if dictionary.is_some() { 44_000 } else { BYTES },
        compressed_bytes: (ratio * BYTES as f64) as u64,
        ratio,
        ratio_ci95: None,
        exact: true,
        memory_bytes,
        decompressor_memory_bytes: memory_bytes / 4,
        cpu_seconds: Some(figure("s", "message", seconds, seconds * 0.04)),
        frontier: codec.starts_with("lz4"),
    }
}

fn choice(scope: Scope, setting: &str, deflate: Option<Deflate>, ratio: f64, memory_bytes: u64) -> Choice {
    Choice {
        direction: Direction::Sent,
        scope,
        setting: setting.to_owned(),
        deflate,
        dictionary: None,
        policy: None,
        ratio,
        ratio_ci95: None,
        memory_bytes,
        memory_total_bytes: memory_bytes * 50_000,
        cpu_seconds: Some(figure("s", "message", 6.7e-6, 2e-7)),
        fits: Some(true),
        why: "It needs the least memory of the settings whose ratio is within a tenth of the best.".to_owned(),
    }
}

fn delivery() -> LinkDelivery {
    let outcome = |setting: &str, seconds: f64, bytes: f64| DeliveryOutcome {
        direction: Direction::Sent,
        setting: setting.to_owned(),
        delivery_time: figure("s", "message", seconds, seconds * 0.1),
        link_bytes: figure("B", "run", bytes, 0.0),
        saving_against_identity: (setting != "identity").then(|| saving(0.4, 0.212 - seconds)),
    };
    LinkDelivery {
        name: "published/dialup-56k".to_owned(),
        description: LinkDescription {
            rate_down_bit_per_second: Some(53_000.0),
            rate_up_bit_per_second: Some(33_600.0),
            round_trip_s: 0.12,
            loss: 0.0,
            queue: "drop-tail, 50 packets".to_owned(),
            source: "made up".to_owned(),
        },
        world: "sim".to_owned(),
        summary: "On published/dialup-56k a message arrives 40 % sooner.".to_owned(),
        outcomes: vec![
            outcome("identity", 0.212, 130_000.0),
            outcome("deflate:6/w15/m8", 0.127, 66_000.0),
            outcome("deflate:6/w11/m4", 0.134, 71_000.0),
        ],
        doubts: vec![Doubt {
            kind: DoubtKind::FewRuns,
            text: "5 runs per setting".to_owned(),
        }],
    }
}

/// A tuning with one of everything.
pub(crate) fn tuning() -> Tuning {
    let recommended = Deflate {
        window_bits: 13,
        mem_level: 6,
        ..Deflate::DEFAULT
    };
    Tuning {
        schema: Tuning::SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        transcript: Transcript {
            source: "examples/chat.jsonl".to_owned(),
            format: TranscriptFormat::Jsonl,
            messages: 1332,
            bytes: 2 * BYTES,
            connections: 3,
            duration_seconds: Some(61.5),
            notes: vec!["2 lines without an opcode are taken as text".to_owned()],
        },
        options: Options {
            connections: 50_000,
            memory_bytes: Some(8 << 30),
            cpu_seconds: Some(20e-6),
            ratio: None,
            receivers: None,
            rate_per_second: None,
            sampling: Sampling::Auto,
        },
        seed: 1,
        zlib: "1.3.1".to_owned(),
        libraries: [("lz4".to_owned(), "1.10.0".to_owned())].into(),
        cpu_machine: Some("2 cores of a Xeon at 2.5 GHz, Linux 6.1".to_owned()),
        directions: vec![stream(Direction::Sent), stream(Direction::Received)],
        points: [grid(Direction::Sent), few()].concat(),
        codecs: vec![
            codec("lz4:1", None, 0.3995, 147_456, 2e-7),
            codec("zstd:3/w17", None, 0.3857, 1_697_792, 1.2e-6),
            codec(
                "zstd:3/w17",
                Some("trained on the first half, 16 KiB"),
                0.34,
                1_697_792,
                1.1e-6,
            ),
        ],
        answer: Answer {
            text:
                "For the 666 messages sent (87.9 kB) use deflate:6/w13/m6: ratio 36.9 %, 6.70 µs CPU per message, 71.5 kB of compression \
                 state per connection, 3.58 GB for 50,000 connections."
                    .to_owned(),
            choices: vec![
                choice(
                    Scope::PermessageDeflate,
                    "deflate:6/w13/m6",
                    Some(recommended),
                    ratio(&recommended),
                    memory(&recommended),
                ),
                choice(Scope::AnyCodec, "lz4:1", None, 0.3995, 147_456),
            ],
        },
        links: vec![delivery()],
        snippets: vec![Snippet {
            implementation: Implementation::PythonWebsockets,
            text: "ServerPerMessageDeflateFactory(\n    server_max_window_bits=13,\n    compress_settings={\"memLevel\": 6},\n)\n".to_owned(),
            note: "In the extensions that serve() is given.".to_owned(),
        }],
        findings: vec![Finding {
            title: "Window bits matter most".to_owned(),
            text: "From 15 to 9 the ratio grows from 0.307 to 0.487.".to_owned(),
            inferred: false,
        }],
        thresholds: vec![Threshold {
            rule: "ratio <= 0.35".to_owned(),
            part: None,
            levels: Levels::from([
                ("direction".to_owned(), "sent".to_owned()),
                ("setting".to_owned(), "deflate:6/w13/m6".to_owned()),
            ]),
            found: 0.363,
            held: false,
        }],
        doubts: vec![Doubt {
            kind: DoubtKind::OneConnection,
            text: "messages of 3 connections were compressed as 3 streams".to_owned(),
        }],
    }
}
