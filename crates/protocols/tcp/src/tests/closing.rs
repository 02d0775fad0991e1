//! Tests of how connections end: in order, by a reset, and by silence.

use super::*;
use crate::timer_wheel;

fn is_fin(segment: &Segment) -> bool {
    segment.flags.has(Flags::FIN)
}

fn is_reset(segment: &Segment) -> bool {
    segment.flags.has(Flags::RST)
}

#[test]
fn the_end_that_closes_first_lingers_for_a_minute_and_the_other_is_gone_at_once() {
    let mut pipe = Pipe::open_by_default();
    pipe.end(Client).shutdown();
    pipe.run_for(60 * MS);
    assert_eq!(pipe.read(Server).unwrap(), (vec![], true));
    pipe.end(Server).shutdown();
    let closing = pipe.now;
    pipe.run_for(100 * MS);
    assert!(pipe.end(Server).is_closed() && !pipe.end(Client).is_closed());
    pipe.run_until_quiet(1000 * S);
    assert_eq!(pipe.now - closing, 50 * MS + 60 * S);
    assert!(pipe.end(Client).is_closed());
    assert_eq!((pipe.end(Client).error(), pipe.end(Server).error()), (None, None));
}

#[test]
fn a_half_closed_connection_still_carries_the_other_half() {
    let mut pipe = Pipe::open_by_default();
    pipe.write(Client, b"question");
    pipe.end(Client).shutdown();
    pipe.run_for(S);
    assert_eq!(pipe.read(Server).unwrap(), (b"question".to_vec(), true));
    pipe.write(Server, &content(3, 20_000));
    pipe.end(Server).shutdown();
    pipe.run_for(S);
    assert_eq!(pipe.read(Client).unwrap(), (content(3, 20_000), true));
    assert_eq!(
        pipe.end(Client).write(b"more").unwrap_err().kind(),
        io::ErrorKind::BrokenPipe
    );
}

#[test]
fn when_both_close_at_once_both_linger() {
    let mut pipe = Pipe::open_by_default();
    pipe.end(Client).shutdown();
    pipe.end(Server).shutdown();
    pipe.run_for(S);
    assert!(!pipe.end(Client).is_closed() && !pipe.end(Server).is_closed());
    assert_eq!(
        (pipe.times(Client, is_fin).len(), pipe.times(Server, is_fin).len()),
        (1, 1)
    );
    pipe.run_until_quiet(1000 * S);
    assert!(pipe.end(Client).is_closed() && pipe.end(Server).is_closed());
}

/// RFC 9293 figure 5: an end whose FIN left before the other's arrived goes through CLOSING, even where its FIN has to be
/// resent.
#[test]
fn an_end_whose_first_fin_was_lost_still_lingers() {
    let mut pipe = Pipe::open_by_default();
    let mut lost = false;
    pipe.judge = Box::new(move |from, segment, _| {
        if from == Client && is_fin(segment) && !lost {
            lost = true;
            return Fate::Lost;
        }
        Fate::Arrives
    });
    pipe.end(Client).shutdown();
    pipe.end(Server).shutdown();
    pipe.run_for(5 * S);
    assert_eq!(pipe.times(Client, is_fin).len(), 2);
    assert!(!pipe.end(Client).is_closed() && !pipe.end(Server).is_closed());
}

#[test]
fn a_fin_rides_on_the_last_data_be_it_a_full_segment_or_not() {
    for length in [100, 1448, 1449, 2 * 1448] {
        let mut pipe = Pipe::open_by_default();
        assert_eq!(pipe.end(Client).write(&content(0, length)).unwrap(), length);
        pipe.end(Client).shutdown();
        pipe.run_for(S);
        assert_eq!(pipe.times(Client, is_fin).len(), 1);
        assert_eq!(
            pipe.times(Client, |segment| segment.sequence_length() > 0).len(),
            length.div_ceil(1448),
            "{length}"
        );
        assert_eq!(pipe.read(Server).unwrap(), (content(0, length), true));
    }
}

#[test]
fn a_repeated_fin_is_acknowledged_again_while_the_end_lingers() {
    let mut pipe = Pipe::open_by_default();
    let mut lost = 0;
    pipe.end(Client).shutdown();
    pipe.run_for(60 * MS);
    pipe.judge = Box::new(move |from, _, _| {
        lost += u32::from(from == Client);
        if from == Client && lost <= 2 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    pipe.end(Server).shutdown();
    pipe.run_for(10 * S);
    assert_eq!(pipe.times(Server, is_fin).len(), 3);
    assert!(pipe.end(Server).is_closed() && pipe.end(Server).error().is_none());
}

#[test]
fn letting_go_of_unread_data_resets_the_other_end() {
    let mut pipe = Pipe::open_by_default();
    pipe.write(Server, b"never read");
    pipe.run_for(S);
    pipe.end(Client).close();
    pipe.run_for(S);
    assert_eq!(pipe.times(Client, is_reset).len(), 1);
    assert_eq!(pipe.end(Server).error(), Some(io::ErrorKind::ConnectionReset));
    assert_eq!(
        pipe.end(Server).write(b"x").unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
}

#[test]
fn data_for_an_end_that_was_let_go_resets_the_sender() {
    let mut pipe = Pipe::open_by_default();
    pipe.end(Client).close();
    pipe.run_for(S);
    assert!(pipe.end(Server).is_open(), "the other half may still be open");
    pipe.write(Server, b"nobody reads this");
    pipe.run_for(S);
    assert_eq!(pipe.end(Server).error(), Some(io::ErrorKind::ConnectionReset));
}

/// Linux's `tcp_fin_timeout`.
#[test]
fn an_end_that_was_let_go_waits_a_minute_for_the_others_fin() {
    let mut pipe = Pipe::open_by_default();
    pipe.end(Client).close();
    pipe.run_until_quiet(1000 * S);
    assert!(pipe.end(Client).is_closed());
    assert_eq!(pipe.now.since_start(), S + 100 * MS + 60 * S);
}

#[test]
fn a_reset_carries_its_place_in_both_streams() {
    let mut pipe = Pipe::open_by_default();
    pipe.write(Server, b"12345");
    pipe.run_for(S);
    pipe.end(Client).abort();
    pipe.flush();
    let last = &pipe.sent.last().unwrap().segment;
    assert!(last.flags == Flags::RST.and(Flags::ACK) && last.payload.is_empty());
    assert_eq!((last.sequence, last.acknowledgement), (1001, 2_000_006));
}

#[test]
fn what_arrived_before_a_reset_can_still_be_read() {
    let mut pipe = Pipe::open_by_default();
    pipe.write(Server, b"before");
    pipe.run_for(S);
    pipe.end(Server).abort();
    pipe.run_for(S);
    let now = pipe.now;
    let mut buffer = [0; 100];
    assert_eq!(pipe.end(Client).read(now, &mut buffer).unwrap(), Read::Bytes(6));
    assert_eq!(
        pipe.end(Client).read(now, &mut buffer).unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
}

/// RFC 5961 section 3.2: a reset is accepted only at exactly the expected number. One elsewhere in the window is challenged,
/// and the end that sent it, which does not know the connection, resets it at the right number.
#[test]
fn a_reset_at_another_number_is_questioned_first() {
    let mut pipe = Pipe::open_by_default();
    let now = pipe.now;
    let mut reset = Connection::refuse(&Segment {
        acknowledgement: 2_000_001 + 500,
        ..pipe_ack(&mut pipe)
    })
    .unwrap();
    pipe.end(Client).on_segment(now, &reset);
    assert!(pipe.end(Client).is_open());
    let question = pipe.end(Client).next_transmit(now).unwrap();
    assert_eq!(question.acknowledgement, 2_000_001);
    reset.sequence = Connection::refuse(&question).unwrap().sequence;
    pipe.end(Client).on_segment(now, &reset);
    assert!(pipe.end(Client).is_closed());
}

/// An acknowledgement as the client sends them.
fn pipe_ack(pipe: &mut Pipe) -> Segment {
    pipe.write(Client, b"x");
    pipe.sent.last().unwrap().segment.clone()
}

/// The handshake took 100 ms, so the first timeout is three times that (RFC 6298 section 2.2). It would come before the probe
/// of a lone segment, so the probe is sent at that time, and the timeout restarts. It doubles up to 120 s. The connection ends
/// after 15 repetitions, once the last has had its time.
#[test]
fn silence_ends_a_connection_after_fifteen_repetitions() {
    let mut pipe = Pipe::open_by_default();
    pipe.judge = Box::new(|_, _, _| Fate::Lost);
    let begun = pipe.now;
    pipe.write(Client, b"anyone?");
    pipe.run_until_quiet(100_000 * S);
    let timeouts = (0..16).map(|repetition| timer_wheel::expected((300 * MS * (1 << repetition)).min(120 * S)));
    let probe = timer_wheel::expected(300 * MS);
    assert_eq!(pipe.now - begun, probe + timeouts.sum::<Duration>());
    assert_eq!(pipe.end(Client).error(), Some(io::ErrorKind::TimedOut));
    assert_eq!(pipe.sizes(Client).len(), 1 + 1 + 15);
    let now = pipe.now;
    assert_eq!(
        pipe.end(Client).read(now, &mut [0; 10]).unwrap_err().kind(),
        io::ErrorKind::TimedOut
    );
}

#[test]
fn a_lingering_end_that_is_let_go_lingers_on() {
    let mut pipe = Pipe::open_by_default();
    pipe.end(Client).shutdown();
    pipe.run_for(60 * MS);
    pipe.write(Server, b"never read");
    pipe.end(Server).shutdown();
    pipe.run_for(S);
    pipe.end(Client).close();
    assert!(!pipe.end(Client).is_closed());
    pipe.run_until_quiet(1000 * S);
    assert!(pipe.end(Client).is_closed() && pipe.times(Client, is_reset).is_empty());
}

/// RFC 6191, and Linux: a SYN with a later timestamp, or a later number, may replace an end in TIME-WAIT.
#[test]
fn a_lingering_end_gives_way_to_a_new_syn_and_to_nothing_else() {
    let mut pipe = Pipe::open_by_default();
    pipe.end(Server).shutdown();
    pipe.run_for(60 * MS);
    pipe.end(Client).shutdown();
    pipe.run_for(S);
    let (config, now) = (Config::default(), pipe.now);
    let mut again = Connection::connect(config, Client.address(), Server.address(), 5, now);
    let syn = again.next_transmit(now).unwrap();
    assert!(pipe.end(Server).may_be_replaced_by(&syn));
    let old = Segment {
        timestamps: syn.timestamps.map(|stamp| crate::Timestamps { value: 1, ..stamp }),
        ..syn.clone()
    };
    assert!(!pipe.end(Server).may_be_replaced_by(&old));
    assert!(
        !pipe.end(Client).may_be_replaced_by(&syn),
        "the end that is gone is nobody's business"
    );
}
