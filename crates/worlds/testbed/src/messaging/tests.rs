//! Tests of deliveries. Expected times are computed by arithmetic.

use super::*;
use crate::testbed::TwoHostSpec;
use lastmile_codec::message::Kind;
use lastmile_codec::message::{Dictionary, MessageEncoder};
use lastmile_units::ByteCount;
use lastmile_world::sim::{self, CpuSpec};
use std::sync::Arc;

/// The same CPU time for every message.
struct Fixed;

impl CpuCost for Fixed {
    fn encoding(&self, _: &ScheduledMessage) -> Duration {
        Duration::from_millis(2)
    }

    fn decoding(&self, _: &ScheduledMessage) -> Duration {
        Duration::from_millis(3)
    }
}

/// A testbed whose client's CPU is four times slower than the server's.
fn testbed(link: &str) -> TwoHostTestbed<sim::World> {
    let spec = TwoHostSpec {
        client_cpu: CpuSpec {
            slow_down: 4.0,
            ..CpuSpec::default()
        },
        ..TwoHostSpec::with_nodelay(lastmile_link::resolve(link).unwrap())
    };
    TwoHostTestbed::build(&spec, Seed::new(1)).unwrap()
}

/// 10 bytes per millisecond, 50 ms each way.
const SLOW: &str = "t+rate=80kbit/s+one_way_delay=50ms";

fn outgoing(kind: Kind, payload: impl Into<bytes::Bytes>, due: SendTime) -> ScheduledMessage {
    let payload = payload.into();
    ScheduledMessage {
        kind,
        due,
        fragment: None,
        pieces: vec![ByteCount::from(payload.len())],
        payload,
        reset_context: false,
    }
}

/// `count` messages of `length` zeros, each due `every` after the one before, or one by one.
fn zeros(count: u32, length: usize, every: Option<Duration>) -> Vec<ScheduledMessage> {
    let due = |index| every.map_or(SendTime::OneByOne, |every| SendTime::After(every * index));
    (0..count)
        .map(|index| outgoing(Kind::Binary, vec![0; length], due(index)))
        .collect()
}

fn conversation(start: ClockOrigin, down: Vec<ScheduledMessage>, up: Vec<ScheduledMessage>) -> Rc<Conversation> {
    let opened_after = Duration::ZERO;
    Rc::new(Conversation {
        connections: vec![Connection { opened_after, down, up }],
        start,
    })
}

fn seen(link: &str, conversation: &Rc<Conversation>, options: &ConnectionOptions) -> ConnectionResult {
    let seen = run_connections(&testbed(link), conversation, options, None, Seed::new(2));
    seen.unwrap().remove(0)
}

/// Uncompressed, but with CPU time charged.
fn charged() -> ConnectionOptions {
    ConnectionOptions {
        compression: CompressionMode::Identity,
        cpu_cost: Rc::new(Fixed),
    }
}

/// The delivery times of messages that the server sends.
fn times_down(start: ClockOrigin, messages: Vec<ScheduledMessage>) -> Vec<Duration> {
    let seen = seen(SLOW, &conversation(start, messages, Vec::new()), &charged());
    seen.client.delivery_times(&seen.server.unwrap()).collect()
}

#[test]
fn a_message_takes_encoding_serialisation_the_delay_and_decoding_on_the_slow_client() {
    // A frame of 100 B in a segment of 152 B (IPv4 20, TCP with timestamps 32) at 10 B per millisecond.
    let expected = Duration::from_micros(2_000 + 15_200 + 50_000 + 4 * 3_000);
    assert_eq!(times_down(ClockOrigin::BothOpenings, zeros(2, 98, None)), [expected; 2]);
}

#[test]
fn a_client_encodes_as_slowly_as_it_is_and_the_server_decodes() {
    // Four bytes of the frame are the mask.
    let conversation = conversation(ClockOrigin::BothOpenings, Vec::new(), zeros(1, 94, None));
    let seen = seen(SLOW, &conversation, &charged());
    let times: Vec<Duration> = seen.server.unwrap().delivery_times(&seen.client).collect();
    assert_eq!(times, [Duration::from_micros(4 * 2_000 + 15_200 + 50_000 + 3_000)]);
}

#[test]
fn messages_that_are_due_sooner_than_the_link_carries_them_wait() {
    // Each takes 15.2 ms of the link, and one is due every 5 ms.
    let times = times_down(ClockOrigin::BothOpenings, zeros(20, 98, Some(Duration::from_millis(5))));
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    // One is due every 100 ms, so that they do not wait for each other.
    let times = times_down(
        ClockOrigin::BothOpenings,
        zeros(20, 98, Some(Duration::from_millis(100))),
    );
    assert!(times.iter().all(|time| *time == times[0]), "{times:?}");
}

#[test]
fn one_by_one_a_message_is_due_when_the_one_before_it_has_been_decoded() {
    let conversation = conversation(ClockOrigin::OwnOpening, zeros(5, 98, None), zeros(5, 400, None));
    let seen = seen(SLOW, &conversation, &charged());
    let server = seen.server.unwrap();
    assert_eq!(server.due[0], server.opening.at);
    assert_eq!(server.due[1..], seen.client.complete[..4]);
    assert_eq!(seen.client.due[1..], server.complete[..4]);
}

#[test]
fn a_server_that_counts_from_its_own_opening_has_its_first_message_wait_for_the_handshake() {
    let messages = || zeros(2, 98, Some(Duration::from_secs(1)));
    let conversation = conversation(ClockOrigin::OwnOpening, messages(), Vec::new());
    let seen = seen(SLOW, &conversation, &charged());
    let times: Vec<Duration> = seen.client.delivery_times(&seen.server.unwrap()).collect();
    // Two segments are on the link before it, the request's acknowledgement and the answer; encoding is done meanwhile.
    let before = Duration::from_micros(100) * (52 + seen.client.opening.head.get() as u32 + 52);
    assert_eq!(times[0], times[1] + before - Duration::from_millis(2));
    let standing = times_down(ClockOrigin::BothOpenings, messages());
    assert_eq!(standing, [times[1]; 2]);
}

/// Lines of a chat in one direction.
fn chat(count: usize) -> Vec<ScheduledMessage> {
    let line = |index| {
        format!(
            "{{\"from\":\"user{}\",\"room\":\"lobby\",\"text\":\"number {index}\"}}",
            index % 7
        )
    };
    let text = |index| {
        outgoing(
            Kind::Text,
            line(index),
            SendTime::After(Duration::from_millis(20) * index as u32),
        )
    };
    (0..count).map(text).collect()
}

/// The bytes to which `coding` compresses a chat in each direction, down and up, over a lossy link; every message arrives unaltered.
fn coded(coding: CompressionMode) -> [u64; 2] {
    let conversation = conversation(ClockOrigin::BothOpenings, chat(60), chat(30));
    let seen = seen(
        "wpt/3g+loss=5%",
        &conversation,
        &ConnectionOptions::without_cpu_cost(coding),
    );
    let server = seen.server.unwrap();
    assert_eq!((seen.client.complete.len(), server.complete.len()), (60, 30));
    [seen.client.compressed_bytes.get(), server.compressed_bytes.get()]
}

/// The bytes to which a codec compresses a chat in memory.
fn wire_payload_size(codec: &str, dictionary: Option<&Dictionary>, count: usize) -> u64 {
    let mut encoder = MessageEncoder::new(&codec.parse().unwrap(), dictionary).unwrap();
    let messages = chat(count);
    messages
        .iter()
        .map(|message| encoder.compressed_size(&message.payload) as u64)
        .sum()
}

#[test]
fn every_codec_is_carried_both_ways_whoever_codes() {
    for codec in [
        "identity",
        "deflate:6/w15/m8",
        "deflate:6/w11/m4/no-takeover",
        "zlib-rs:6/w15/m8",
        "zstd:3/w17",
        "zstd:3/w17/no-takeover",
        "brotli:5/w16",
        "lz4:1",
    ] {
        let coding = CompressionMode::from_codec(codec.parse().unwrap());
        let is_applications = ["zstd", "brotli", "lz4"].iter().any(|name| codec.starts_with(name));
        assert_eq!(coding.is_application_layer(), is_applications, "{codec}");
        assert_eq!(
            coded(coding),
            [60, 30].map(|count| wire_payload_size(codec, None, count)),
            "{codec}"
        );
    }
}

#[test]
fn a_dictionary_is_the_applications_affair_and_helps_both_ways() {
    let dictionary = Arc::new(Dictionary::raw(chat(1)[0].payload.to_vec()));
    for codec in ["deflate:6/w15/m8/no-takeover", "zstd:3/w17/no-takeover"] {
        let coding = CompressionMode::with_dictionary(codec.parse().unwrap(), Arc::clone(&dictionary));
        assert!(coding.is_application_layer());
        let with = coded(coding);
        assert_eq!(
            with,
            [60, 30].map(|count| wire_payload_size(codec, Some(&dictionary), count)),
            "{codec}"
        );
        let without = coded(CompressionMode::from_codec(codec.parse().unwrap()));
        assert!(with[0] < without[0] && with[1] < without[1], "{codec}");
    }
}

/// The failure of a conversation whose ends have different settings or messages.
fn between(server: (&str, &[&str]), client: (&str, &[&str])) -> String {
    let testbed = testbed("wpt/cable");
    let of = |(codec, texts): (&str, &[&str])| {
        let text = |text: &&str| outgoing(Kind::Text, (*text).to_owned(), SendTime::After(Duration::ZERO));
        let down = texts.iter().map(text).collect();
        let options = ConnectionOptions::without_cpu_cost(CompressionMode::from_codec(codec.parse().unwrap()));
        (conversation(ClockOrigin::OwnOpening, down, Vec::new()), options)
    };
    let out_of_bands: Rc<[OutOfBand]> = OutOfBand::one_per_connection(1).into();
    let (said, options) = of(server);
    let receivers = server::serve(&testbed.server, &said, &options, &out_of_bands).unwrap();
    let (expected, options) = of(client);
    let clients = Clients {
        host: testbed.client.clone(),
        address: testbed.server.address(PORT),
        options,
        seed: Seed::new(2),
    };
    match testbed
        .run(clients.run_connections(expected, out_of_bands, receivers))
        .unwrap()
    {
        Ok(_) => panic!("nothing failed"),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn what_is_lost_altered_or_agreed_on_otherwise_is_a_failure() {
    let whole: (&str, &[&str]) = ("deflate", &["one", "two"]);
    assert_eq!(
        between(("deflate", &["one"]), whole),
        "connection 1, client: the connection was closed after 1 of 2 messages"
    );
    assert!(
        between(("deflate", &["one", "six"]), whole)
            .contains("connection 1, client: message 2 was altered: Text of 3 bytes")
    );
    assert!(
        between(("deflate", &["one", "two", "six"]), whole).contains("message 3 was received, but only 2 were sent")
    );
    assert_eq!(
        between(("identity", &["one", "two"]), whole),
        "connection 1, client: the server agreed to no compression, but 15 window bits for the server, 15 window bits for the client is set"
    );
    // Another codec's output gives an error or another message.
    let applications = between(("zstd:3", &["one"]), ("brotli:5", &["one"]));
    assert!(
        applications.starts_with("connection 1, client: message 1 "),
        "{applications}"
    );
}

#[test]
fn messages_that_are_due_after_a_month_are_waited_for() {
    let month = Duration::from_secs(40 * 24 * 3600);
    let conversation = conversation(ClockOrigin::BothOpenings, zeros(2, 98, Some(month)), Vec::new());
    let seen = seen(SLOW, &conversation, &charged());
    assert_eq!(seen.client.complete.len(), 2);
}
