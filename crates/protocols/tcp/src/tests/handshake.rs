//! Tests of opening a connection.

use super::*;
use crate::timer_wheel;

fn is_syn(segment: &Segment) -> bool {
    segment.flags.has(Flags::SYN)
}

fn is_syn_ack(segment: &Segment) -> bool {
    segment.flags.has(Flags::SYN.and(Flags::ACK))
}

/// As in Linux since 6.5: four repetitions a second apart come before the six that double.
#[test]
fn a_syn_is_repeated_each_second_five_times_and_then_ever_more_rarely_until_ten_were_in_vain() {
    let mut pipe = Pipe::new(Config::default(), Config::default());
    pipe.judge = Box::new(|_, _, _| Fate::Lost);
    let ended = pipe.run_until_quiet(1000 * S);
    let waits = [1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 64].map(|seconds| timer_wheel::expected(seconds * S));
    let mut sent = vec![Duration::ZERO];
    sent.extend(waits.iter().scan(Duration::ZERO, |at, wait| {
        *at += *wait;
        Some(*at)
    }));
    assert_eq!(Some(ended), sent.pop());
    assert_eq!(pipe.times(Client, is_syn), sent);
    assert_eq!(pipe.end(Client).error(), Some(io::ErrorKind::TimedOut));
    assert!(pipe.end(Client).is_closed() && pipe.end(Client).is_readable() && pipe.end(Client).is_writable());
}

/// As in Linux 2.4.
#[test]
fn a_timeout_of_its_own_is_doubled_by_each_repetition() {
    let config = Config {
        syn_timeout: 3 * S,
        syn_linear_repetitions: 0,
        ..Config::default()
    };
    let mut pipe = Pipe::new(config, Config::default());
    pipe.judge = Box::new(|_, _, _| Fate::Lost);
    pipe.run_for(25 * S);
    let waits = [3, 6, 12].map(|seconds| timer_wheel::expected(seconds * S));
    let sent = [Duration::ZERO, waits[0], waits[0] + waits[1], waits.iter().sum()];
    assert_eq!(pipe.times(Client, is_syn), sent);
}

#[test]
fn a_lost_syn_ack_is_repeated() {
    let mut pipe = Pipe::new(Config::default(), Config::default());
    let mut lost = 0;
    pipe.judge = Box::new(move |_, segment, _| {
        lost += u32::from(is_syn_ack(segment));
        if is_syn_ack(segment) && lost == 1 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pipe.run_for(10 * S);
    assert!(pipe.end(Client).is_open() && pipe.end(Server).is_open());
    // Both the client's second SYN and the server's timer cause it to be sent again.
    assert!(pipe.times(Server, is_syn_ack).len() >= 2);
    assert_eq!(pipe.end(Client).counters().retransmissions, 1);
    assert_eq!(pipe.end(Server).counters().retransmissions, 1);
}

/// RFC 6298 section 5.7 where there are no timestamps, RFC 7323 section 4 where there are: three round trips of 100 ms.
#[test]
fn after_a_repeated_handshake_the_timeout_is_three_seconds_unless_timestamps_tell_better() {
    for (timestamps, timeout, first) in [(false, 3 * S, S), (true, 300 * MS, 300 * MS)] {
        let config = Config {
            timestamps,
            ..Config::default()
        };
        let mut pipe = Pipe::new(config.clone(), config);
        pipe.judge = Box::new(|_, _, now| {
            if now.since_start() < 100 * MS {
                Fate::Lost
            } else {
                Fate::Arrives
            }
        });
        pipe.run_for(10 * S);
        pipe.judge = Box::new(|_, _, _| Fate::Lost);
        pipe.sent.clear();
        let from = pipe.now.since_start();
        pipe.write(Client, b"x");
        pipe.run_for(10 * S);
        // A probe comes first, after a second where no round trip is known, and at the timeout at the latest.
        let probe = from + timer_wheel::expected(first);
        let times = pipe.times(Client, |segment| !segment.payload.is_empty());
        assert_eq!(times[..3], [from, probe, probe + timer_wheel::expected(timeout)]);
    }
}

#[test]
fn data_that_comes_before_the_last_acknowledgement_of_the_handshake_opens_the_connection() {
    let mut pipe = Pipe::new(Config::default(), Config::default());
    pipe.judge = Box::new(|from, segment, _| {
        let bare = segment.flags == Flags::ACK && segment.payload.is_empty();
        if from == Client && bare {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pipe.run_for(110 * MS);
    assert!(pipe.end(Client).is_open() && !pipe.end(Server).is_open());
    pipe.write(Client, b"hello");
    pipe.run_for(60 * MS);
    assert!(pipe.end(Server).is_open());
    assert_eq!(pipe.read(Server).unwrap(), (b"hello".to_vec(), false));
}

#[test]
fn a_server_that_hears_nothing_more_repeats_its_syn_ack_and_the_client_answers_each() {
    let mut pipe = Pipe::new(Config::default(), Config::default());
    pipe.judge = Box::new(|from, segment, now| {
        let early = now.since_start() < 2 * S;
        if from == Client && !is_syn(segment) && early {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pipe.run_for(10 * S);
    assert!(pipe.end(Server).is_open());
    let first = 50 * MS;
    let second = first + timer_wheel::expected(S);
    assert_eq!(
        pipe.times(Server, is_syn_ack),
        [first, second, second + timer_wheel::expected(2 * S)]
    );
    assert_eq!(pipe.times(Client, |segment| !is_syn(segment)).len(), 3);
}

#[test]
fn where_nobody_listens_the_connection_is_refused_after_a_round_trip() {
    let mut pipe = Pipe::new(Config::default(), Config::default());
    pipe.listening = None;
    assert_eq!(pipe.run_until_quiet(10 * S), 100 * MS);
    assert_eq!(pipe.end(Client).error(), Some(io::ErrorKind::ConnectionRefused));
}

/// RFC 9293 section 3.10.7.3: a reset that does not acknowledge the SYN is not for this connection.
#[test]
fn a_reset_of_something_else_does_not_refuse_a_connection() {
    let mut pipe = Pipe::new(Config::default(), Config::default());
    let now = pipe.now;
    let syn = pipe.end(Client).next_transmit(now).unwrap();
    let mut reset = Connection::refuse(&syn).unwrap();
    reset.acknowledgement = reset.acknowledgement.wrapping_add(1);
    pipe.end(Client).on_segment(now, &reset);
    assert!(!pipe.end(Client).is_closed());
    reset.acknowledgement = reset.acknowledgement.wrapping_sub(1);
    pipe.end(Client).on_segment(now, &reset);
    assert!(pipe.end(Client).is_closed());
}

/// RFC 9293 section 3.10.7.3: the other end assumes a connection that this end does not know; the reset clears it.
#[test]
fn an_acknowledgement_of_something_else_is_answered_with_a_reset() {
    let mut pipe = Pipe::new(Config::default(), Config::default());
    let now = pipe.now;
    let syn = pipe.end(Client).next_transmit(now).unwrap();
    let mut stray = Connection::refuse(&syn).unwrap();
    stray.flags = Flags::ACK;
    stray.acknowledgement = 77;
    pipe.end(Client).on_segment(now, &stray);
    let answer = pipe.end(Client).next_transmit(now).unwrap();
    assert!(answer.flags.has(Flags::RST));
    assert_eq!(answer.sequence, 77);
    assert!(pipe.end(Client).next_transmit(now).is_none() && !pipe.end(Client).is_closed());
}

#[test]
fn what_both_ends_offer_is_used_and_what_one_does_not_is_not() {
    let without = Config {
        timestamps: false,
        ..Config::default()
    };
    for (client, server, segment_size) in [
        (Config::default(), Config::default(), 1448),
        (without.clone(), Config::default(), 1460),
        (Config::default(), without, 1460),
    ] {
        let mut pipe = Pipe::open(client, server);
        for end in [Client, Server] {
            pipe.sent.clear();
            pipe.write(end, &content(1, 5000));
            pipe.run_for(S);
            assert_eq!(pipe.sizes(end)[0], segment_size);
            let marked = pipe
                .sent
                .iter()
                .filter(|sighting| sighting.segment.timestamps.is_some())
                .count();
            assert_eq!(marked, if segment_size == 1448 { pipe.sent.len() } else { 0 });
        }
    }
}

#[test]
fn the_smaller_packet_size_of_the_two_ends_counts_in_both_directions() {
    let mut pipe = Pipe::open(
        Config {
            mtu: 576,
            ..Config::default()
        },
        Config::default(),
    );
    for end in [Client, Server] {
        pipe.write(end, &content(1, 5000));
        pipe.run_for(S);
        assert_eq!(pipe.sizes(end)[0], 576 - 40 - 12);
        assert_eq!(pipe.read(end.other()).unwrap().0, content(1, 5000));
    }
}
