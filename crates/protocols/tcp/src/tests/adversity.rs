//! Tests on bad networks: whatever is lost, late, duplicated or limited, both streams arrive complete and both ends close.

use super::*;
use crate::{CongestionControl, Nagle};
use lastmile_units::{Rng, Seed};
use rand_core::Rng as _;

/// A random network from a seed: up to a fifth of the segments is lost and up to a third is late, by up to two round trips.
fn judge(mut rng: Rng) -> Judge {
    let (loss, late) = (rng.next_u32() % 205, rng.next_u32() % 340);
    Box::new(move |_, _, _| {
        let draw = rng.next_u32() % 1000;
        if draw < loss {
            Fate::Lost
        } else if draw < loss + late {
            Fate::Late(Duration::from_micros(u64::from(rng.next_u32() % 200_000)))
        } else {
            Fate::Arrives
        }
    })
}

fn config(rng: &mut Rng) -> Config {
    let pick = |rng: &mut Rng, of: u32| rng.next_u32() % of;
    Config {
        mtu: [1500, 576, 1280][pick(rng, 3) as usize],
        nagle: [Nagle::Off, Nagle::Minshall, Nagle::Classic][pick(rng, 3) as usize],
        congestion_control: [CongestionControl::Cubic, CongestionControl::Reno][pick(rng, 2) as usize],
        timestamps: pick(rng, 4) > 0,
        receive_window: lastmile_units::ByteCount::new(u64::from(2000 + pick(rng, 62_000))),
        ..Config::default()
    }
}

/// The program of one end: it writes `out` in odd pieces, reads in odd pieces with pauses, and closes when all is written.
struct Program {
    out: Vec<u8>,
    written: usize,
    got: Vec<u8>,
    ended: bool,
}

impl Program {
    fn new(salt: u8, length: usize) -> Self {
        Self {
            out: content(salt, length),
            written: 0,
            got: Vec::new(),
            ended: false,
        }
    }

    fn turn(&mut self, pipe: &mut Pipe, end: End, rng: &mut Rng) -> io::Result<()> {
        let now = pipe.now;
        if pipe.ends[end as usize]
            .as_ref()
            .is_none_or(|it| !it.is_open() && !it.is_closed() && self.got.is_empty())
        {
            return Ok(());
        }
        let connection = pipe.end(end);
        if self.written < self.out.len() {
            let bite = (1 + rng.next_u32() as usize % 9000).min(self.out.len() - self.written);
            self.written += connection.write(&self.out[self.written..self.written + bite])?;
            if self.written == self.out.len() {
                connection.shutdown();
            }
        }
        if !rng.next_u32().is_multiple_of(4) && !self.ended {
            let mut bite = vec![0; 1 + rng.next_u32() as usize % 20_000];
            match connection.read(now, &mut bite)? {
                Read::Bytes(read) => self.got.extend_from_slice(&bite[..read]),
                Read::Empty => {}
                Read::End => self.ended = true,
            }
        }
        Ok(())
    }
}

/// Two programs that write to each other until both have everything. The initial numbers are about to wrap.
fn converse(seed: u64, lengths: [usize; 2]) -> Pipe {
    let seed = Seed::new(seed);
    let mut rng = seed.derive("programs").rng();
    let numbers = [u32::MAX - rng.next_u32() % 20_000, u32::MAX - rng.next_u32() % 20_000];
    let (client, server) = (config(&mut rng), config(&mut rng));
    let mut pipe = Pipe::with_numbers(client, server, numbers);
    pipe.one_way_delay = Duration::from_micros(u64::from(100 + rng.next_u32() % 100_000));
    pipe.judge = judge(seed.derive("network").rng());
    let mut programs = [Program::new(1, lengths[0]), Program::new(2, lengths[1])];
    while !programs.iter().all(|program| program.ended) {
        for (program, end) in programs.iter_mut().zip([Client, Server]) {
            program
                .turn(&mut pipe, end, &mut rng)
                .unwrap_or_else(|error| panic!("{seed:?}, {end:?}: {error}"));
        }
        pipe.run_for(Duration::from_micros(u64::from(1 + rng.next_u32() % 50_000)));
        let got = [programs[0].got.len(), programs[1].got.len()];
        assert!(
            pipe.now.since_start() < 7200 * S,
            "{seed:?} hangs: of {lengths:?} read {got:?}"
        );
    }
    assert!(
        programs[0].got == programs[1].out && programs[1].got == programs[0].out,
        "{seed:?}: the streams are whole"
    );
    pipe
}

#[test]
fn streams_arrive_whole_and_ends_close_whatever_the_network_does() {
    for seed in 0..3000 {
        let lengths = [
            (seed * 7919 % 30_000) as usize + 1,
            (seed * 104_729 % 60_000) as usize + 1,
        ];
        let mut pipe = converse(seed, lengths);
        pipe.run_until_quiet(7200 * S);
        for end in [Client, Server] {
            // Where the last acknowledgement is lost, the end in TIME-WAIT may be gone before the other has given up, and the
            // other's segments are then answered with a reset.
            let (closed, error) = (pipe.end(end).is_closed(), pipe.end(end).error());
            let is_late = |error| matches!(error, io::ErrorKind::TimedOut | io::ErrorKind::ConnectionReset);
            assert!(closed && error.is_none_or(is_late), "{seed}, {end:?}: {error:?}");
        }
    }
}

/// A long transfer: the usual way to hang is a sender that waits for nothing.
#[test]
fn a_sender_with_something_to_send_always_waits_for_something() {
    for seed in 0..300 {
        let mut pipe = Pipe::open_by_default();
        pipe.judge = judge(Seed::new(seed).rng());
        let all = content(1, 200_000);
        let (mut written, mut got) = (0, 0);
        while got < all.len() {
            written += pipe.end(Client).write(&all[written..]).unwrap();
            pipe.flush();
            let waits = pipe.deadline(Client).is_some() || !pipe.under_way.is_empty();
            assert!(waits, "seed {seed}: nothing will ever happen, with {got} B read");
            pipe.step(Instant::from_nanos(u64::MAX));
            got += pipe.read(Server).unwrap().0.len();
        }
    }
}

#[test]
fn two_runs_send_the_same_segments_at_the_same_times() {
    let trace = |seed| {
        let pipe = converse(seed, [20_000, 50_000]);
        let lines = pipe
            .sent
            .iter()
            .map(|it| format!("{:?} {:?} {:?}", it.at, it.from, it.segment));
        lines.collect::<Vec<_>>()
    };
    for seed in 0..5 {
        assert!(trace(seed) == trace(seed));
    }
}

/// RFC 9293 section 3.4: numbers are compared modulo 2^32.
#[test]
fn a_stream_may_cross_the_wrap_of_its_numbers_at_any_byte() {
    for distance in 0..3000 {
        let initial = [u32::MAX - distance, u32::MAX - 3000 + distance];
        let mut pipe = Pipe::with_numbers(Config::default(), Config::default(), initial);
        pipe.run_for(S);
        for end in [Client, Server] {
            pipe.write(end, &content(distance as u8, 4000));
            pipe.end(end).shutdown();
        }
        pipe.run_for(S);
        for end in [Client, Server] {
            assert_eq!(pipe.read(end).unwrap(), (content(distance as u8, 4000), true));
        }
    }
}

/// The three segments that arrive after the loss show it: no timeout expires.
#[test]
fn one_lost_segment_is_sent_again_once_and_before_any_timeout() {
    for lost in 0..7 {
        let mut pipe = Pipe::open_by_default();
        let mut data = 0;
        pipe.judge = Box::new(move |_, segment, _| {
            data += u32::from(!segment.payload.is_empty());
            if !segment.payload.is_empty() && data == lost + 1 {
                Fate::Lost
            } else {
                Fate::Arrives
            }
        });
        pipe.write(Client, &content(1, 10 * 1448));
        pipe.run_for(250 * MS);
        assert_eq!(pipe.read(Server).unwrap().0, content(1, 10 * 1448), "segment {lost}");
        let counters = pipe.end(Client).counters();
        assert_eq!((counters.retransmissions, counters.timeouts), (1, 0));
    }
}

/// Segments that arrive twice are answered, and change nothing; no storm of acknowledgements follows.
#[test]
fn segments_that_come_again_later_are_harmless() {
    let mut pipe = Pipe::open_by_default();
    pipe.write(Client, &content(1, 20_000));
    pipe.write(Server, &content(2, 20_000));
    pipe.run_for(S);
    let old = pipe
        .sent
        .iter()
        .map(|it| (it.from, it.segment.clone()))
        .collect::<Vec<_>>();
    pipe.sent.clear();
    for (from, segment) in &old {
        pipe.arrive(from.other(), segment);
        pipe.flush();
    }
    pipe.run_for(10 * S);
    assert!(
        pipe.sent.len() <= 2 * old.len(),
        "{} answers to {} segments",
        pipe.sent.len(),
        old.len()
    );
    assert_eq!(pipe.read(Server).unwrap().0, content(1, 20_000));
    assert_eq!(pipe.read(Client).unwrap().0, content(2, 20_000));
    assert!(pipe.end(Client).is_open() && pipe.end(Server).is_open());
}
