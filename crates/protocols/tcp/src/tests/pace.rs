//! Tests of when segments leave: acknowledgements, small segments, and data after a pause.

use super::*;
use crate::{Nagle, timer_wheel};

const FULL: usize = 1448;

/// When `end` sent acknowledgements without data.
fn acknowledgements(pipe: &Pipe, end: End) -> Vec<Duration> {
    pipe.times(end, |segment| segment.payload.is_empty())
}

/// Linux's 16 quick acknowledgements. Then each waits for 40 ms, and longer after every wait without an answer, but at most a
/// round trip of 100 ms. The program never reads.
#[test]
fn lone_segments_are_acknowledged_at_once_sixteen_times_and_then_ever_later() {
    let mut pipe = Pipe::open_by_default();
    let mut waits = Vec::new();
    for _ in 0..20 {
        pipe.sent.clear();
        let arrives = pipe.now.since_start() + pipe.one_way_delay;
        pipe.write(Client, b"lone");
        pipe.run_for(250 * MS);
        waits.push(acknowledgements(&pipe, Server)[0] - arrives);
    }
    assert_eq!(waits[..16], [Duration::ZERO; 16]);
    assert_eq!(
        waits[16..],
        [40 * MS, 80 * MS, 100 * MS, 100 * MS].map(timer_wheel::expected)
    );
}

/// RFC 9293 section 3.8.6.3: at least every second segment of a stream of full segments. The last is acknowledged when the
/// program reads it, or after a delay.
#[test]
fn every_second_full_segment_is_acknowledged_once_the_connection_is_warm() {
    let mut pipe = Pipe::open_by_default();
    for _ in 0..4 {
        pipe.write(Client, &content(0, 10 * FULL));
        pipe.run_for(100 * MS);
        pipe.read(Server).unwrap();
    }
    pipe.sent.clear();
    pipe.write(Client, &content(0, 10 * FULL));
    pipe.run_for(100 * MS);
    assert_eq!(
        (pipe.sizes(Client), acknowledgements(&pipe, Server).len()),
        (vec![FULL; 10], 5)
    );
}

#[test]
fn an_end_that_answers_lets_its_acknowledgements_ride_along() {
    let mut pipe = Pipe::open_by_default();
    for _ in 0..10 {
        pipe.write(Client, b"question");
        pipe.run_for(60 * MS);
        pipe.write(Server, b"answer");
        pipe.run_for(60 * MS);
    }
    // The first question is acknowledged before the server is known to answer.
    assert_eq!(acknowledgements(&pipe, Server).len(), 1);
}

/// When the three small writes leave: one round trip of 100 ms, with immediate acknowledgements.
fn small_writes(nagle: Nagle) -> Vec<(Duration, usize)> {
    let mut pipe = Pipe::open(
        Config {
            nagle,
            ..Config::default()
        },
        Config::default(),
    );
    let begun = pipe.now.since_start();
    // A full segment is in flight when the small ones are written.
    pipe.write(Client, &content(0, FULL));
    for length in [100, 200, 300] {
        pipe.write(Client, &content(0, length));
    }
    pipe.run_for(S);
    let data = pipe
        .sent
        .iter()
        .filter(|sighting| sighting.from == Client && !sighting.segment.payload.is_empty());
    data.map(|sighting| (sighting.at.since_start() - begun, sighting.segment.payload.len()))
        .collect()
}

#[test]
fn nagle_holds_small_segments_back_as_its_three_rules_say() {
    let round_trip = 100 * MS;
    let at_once = Duration::ZERO;
    assert_eq!(
        small_writes(Nagle::Off),
        [(at_once, FULL), (at_once, 100), (at_once, 200), (at_once, 300)]
    );
    assert_eq!(
        small_writes(Nagle::Minshall),
        [(at_once, FULL), (at_once, 100), (round_trip, 500)]
    );
    assert_eq!(small_writes(Nagle::Classic), [(at_once, FULL), (round_trip, 600)]);
}

/// RFC 5681 section 4.1 and Linux: each timeout that passes without sending halves the window, down to the initial one.
#[test]
fn after_a_pause_a_sender_starts_from_the_initial_window() {
    let mut pipe = Pipe::open_by_default();
    let burst = content(0, 40 * FULL);
    let mut first_flight = |pause: Duration| {
        pipe.run_for(pause);
        pipe.sent.clear();
        pipe.write(Client, &burst);
        let flight = pipe.sizes(Client).len();
        while !pipe.read(Server).unwrap().0.is_empty() || !pipe.under_way.is_empty() {
            pipe.run_for(10 * MS);
        }
        flight
    };
    assert_eq!(first_flight(S), 10);
    let warm = first_flight(Duration::ZERO);
    assert!(warm > 20, "the first burst left a window of {warm} segments");
    assert_eq!(first_flight(10 * S), 10);
}

#[test]
fn a_write_wakes_when_a_third_of_the_buffer_is_free() {
    let mut pipe = Pipe::open_by_default();
    let written = pipe.end(Client).write(&content(0, 1 << 20)).unwrap();
    assert_eq!(written, 87_040);
    let begun = pipe.now;
    while !pipe.end(Client).is_writable() {
        assert!(pipe.step(begun + S));
    }
    assert!(pipe.end(Client).write(&content(0, 1 << 20)).unwrap() >= written / 3);
}
