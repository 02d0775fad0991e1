//! Tests of flow control: the receiver's offers, and the sender's use of them.

use super::*;
use lastmile_units::ByteCount;

/// Writes as much of `bytes` from `written` on as there is room for.
fn write_on(pipe: &mut Pipe, end: End, bytes: &[u8], written: &mut usize) {
    *written += pipe.end(end).write(&bytes[*written..]).unwrap();
}

/// 3 MiB need a shift of 6.
const SHIFT: u8 = 6;

#[test]
fn a_reader_that_pauses_closes_the_window_and_opens_it_again() {
    let mut pipe = Pipe::open_by_default();
    let all = content(5, 300_000);
    let (mut written, mut got) = (0, Vec::new());
    for _ in 0..40 {
        write_on(&mut pipe, Server, &all, &mut written);
        pipe.run_for(100 * MS);
    }
    let closed = pipe.sent.iter().rfind(|sighting| sighting.from == Client).unwrap();
    assert_eq!(closed.segment.window, 0);
    while got.len() < all.len() {
        write_on(&mut pipe, Server, &all, &mut written);
        pipe.run_for(100 * MS);
        got.extend(pipe.read(Client).unwrap().0);
        assert!(pipe.now.since_start() < 60 * S);
    }
    assert_eq!(got, all);
}

/// RFC 7323 section 2.4: the edge may seem to move back by less than one unit of the scale.
#[test]
fn the_window_never_shrinks_and_is_never_overrun() {
    let mut pipe = Pipe::open_by_default();
    let all = content(6, 2_000_000);
    let (mut written, mut got, mut turn) = (0, 0, 0);
    while got < all.len() {
        write_on(&mut pipe, Server, &all, &mut written);
        pipe.run_for(7 * MS);
        turn += 1;
        // A reader that reads odd amounts at odd times.
        if turn % 5 != 0 {
            let mut bite = vec![0; 1 + turn * 977 % 30_000];
            let now = pipe.now;
            if let Read::Bytes(read) = pipe.end(Client).read(now, &mut bite).unwrap() {
                assert_eq!(bite[..read], all[got..got + read]);
                got += read;
            }
        }
        assert!(pipe.now.since_start() < 600 * S);
    }
    let (mut furthest, mut offered) = (0, false);
    for sighting in &pipe.sent {
        let segment = &sighting.segment;
        match sighting.from {
            Client => {
                let edge = right_edge(segment);
                assert!(
                    edge + (1 << SHIFT) > furthest,
                    "the edge moves back from {furthest} to {edge}"
                );
                (furthest, offered) = (furthest.max(edge), true);
            }
            Server if offered => {
                let end = u64::from(segment.sequence - 2_000_000) + segment.payload.len() as u64;
                assert!(end <= furthest, "{end} is beyond {furthest}");
            }
            Server => {}
        }
    }
}

/// How far the client lets the server send, as an offset. No edge is known before the first such segment.
fn right_edge(segment: &Segment) -> u64 {
    u64::from(segment.acknowledgement - 2_000_000) + (u64::from(segment.window) << SHIFT)
}

/// RFC 9293 section 3.8.6.2.2: silly window avoidance at both ends.
#[test]
fn a_slow_reader_does_not_bring_about_small_segments() {
    let mut pipe = Pipe::open_by_default();
    let all = content(7, 400_000);
    let (mut written, mut got) = (0, 0);
    while got < all.len() {
        write_on(&mut pipe, Server, &all, &mut written);
        pipe.run_for(10 * MS);
        let now = pipe.now;
        if let Read::Bytes(read) = pipe.end(Client).read(now, &mut [0; 700]).unwrap() {
            got += read;
        }
    }
    let sizes = pipe.sizes(Server);
    let small = sizes.iter().filter(|size| **size < 1448).count();
    assert!(
        small * 20 <= sizes.len(),
        "{small} of {} segments are not full",
        sizes.len()
    );
}

/// The first probe is answered; it is sent after one timeout (300 ms, see `closing`).
#[test]
fn a_lost_window_update_is_found_by_a_probe() {
    let mut pipe = Pipe::open_by_default();
    let all = content(8, 64_240 * 5 / 4 + 10_000);
    let mut written = 0;
    for _ in 0..40 {
        write_on(&mut pipe, Server, &all, &mut written);
        pipe.run_for(40 * MS);
    }
    assert_eq!(written, all.len());
    let now = pipe.now;
    pipe.judge = Box::new(move |from, _, at| {
        if from == Client && at <= now {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    let mut got = pipe.read(Client).unwrap().0;
    pipe.flush();
    assert_eq!(pipe.sent.last().unwrap().from, Client, "an update left, in vain");
    pipe.run_for(5 * S);
    got.extend(pipe.read(Client).unwrap().0);
    assert_eq!(got, all);
}

/// Linux continues probing for as long as the other end answers.
#[test]
fn a_window_may_stay_closed_for_days_as_long_as_probes_are_answered() {
    let mut pipe = Pipe::open_by_default();
    let all = content(9, 64_240 * 5 / 4 + 10_000);
    let mut written = 0;
    for _ in 0..40 {
        write_on(&mut pipe, Server, &all, &mut written);
        pipe.run_for(40 * MS);
    }
    pipe.sent.clear();
    pipe.run_for(2 * 86_400 * S);
    assert!(pipe.end(Server).is_open());
    let probes = pipe.times(Server, |_| true);
    let gaps = probes.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    assert!(gaps.windows(2).all(|pair| pair[0] <= pair[1]), "probes become rarer");
    assert_eq!(gaps.last(), Some(&(120 * S)));
    let mut got = pipe.read(Client).unwrap().0;
    pipe.run_for(S);
    got.extend(pipe.read(Client).unwrap().0);
    assert_eq!(got, all);
}

#[test]
fn probes_that_nobody_answers_end_the_connection() {
    let mut pipe = Pipe::open_by_default();
    let all = content(9, 64_240 * 5 / 4 + 10_000);
    let mut written = 0;
    for _ in 0..40 {
        write_on(&mut pipe, Server, &all, &mut written);
        pipe.run_for(40 * MS);
    }
    pipe.judge = Box::new(|_, _, _| Fate::Lost);
    pipe.run_until_quiet(100_000 * S);
    assert_eq!(pipe.end(Server).error(), Some(io::ErrorKind::TimedOut));
}

/// At 100 Mbit/s, 1.25 MB are in flight in 100 ms, so the window has to grow beyond that.
#[test]
fn the_window_grows_to_what_a_long_fast_link_needs() {
    for timestamps in [true, false] {
        let config = Config {
            timestamps,
            ..Config::default()
        };
        let mut pipe = Pipe::open(config.clone(), config);
        let all = content(10, 60_000_000);
        let (mut written, mut got) = (0, 0);
        while pipe.now.since_start() < 6 * S {
            write_on(&mut pipe, Server, &all, &mut written);
            pipe.run_for(5 * MS);
            got += pipe.read(Client).unwrap().0.len();
        }
        let window = pipe
            .sent
            .iter()
            .filter(|sighting| sighting.from == Client)
            .map(|it| it.segment.window)
            .max();
        let window = u64::from(window.unwrap()) << SHIFT;
        assert!(
            window > 1_250_000,
            "{window} B with timestamps {timestamps}, {got} B read"
        );
        assert!(window <= Config::default().receive_window_maximum.get());
    }
}

#[test]
fn windows_of_any_size_carry_the_stream() {
    for receive_window in [64, 100, 536, 1000, 1448, 2000, 5000, 70_000, 1_000_000] {
        for maximum in [64, 3_000, 65_535, 3 << 20] {
            let (receive_window, receive_window_maximum) = (ByteCount::new(receive_window), ByteCount::new(maximum));
            let config = Config {
                receive_window,
                receive_window_maximum,
                ..Config::default()
            };
            let mut pipe = Pipe::open(config.clone(), config);
            let all = content(11, 20_000);
            let (mut written, mut got) = (0, Vec::new());
            while got.len() < all.len() {
                write_on(&mut pipe, Client, &all, &mut written);
                pipe.run_for(50 * MS);
                got.extend(pipe.read(Server).unwrap().0);
                let (at, have) = (pipe.now, got.len());
                assert!(at.since_start() < 1000 * S, "{receive_window} to {maximum}: {have} B");
            }
            assert_eq!(got, all);
        }
    }
}
