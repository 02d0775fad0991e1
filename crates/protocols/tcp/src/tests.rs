//! Tests of two connected ends with a pipe between them that can be arbitrarily bad, without a world.
//!
//! [`Pipe`] carries segments between two [`Connection`]s in virtual time: each takes the one-way delay, and a judge decides
//! which are lost or late. The segments that each end sends are recorded for the tests.

mod adversity;
mod closing;
mod handshake;
mod pace;
mod recovery;
mod window;

use super::{Config, Connection, Flags, Read, Segment};
use lastmile_units::Instant;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

/// Which end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Client,
    Server,
}
use End::{Client, Server};

impl End {
    fn other(self) -> Self {
        match self {
            Client => Server,
            Server => Client,
        }
    }

    fn address(self) -> SocketAddrV4 {
        match self {
            Client => SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 40_000),
            Server => SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), 80),
        }
    }
}

/// The fate of a segment.
enum Fate {
    Arrives,
    Late(Duration),
    Lost,
}

type Judge = Box<dyn FnMut(End, &Segment, Instant) -> Fate>;

/// A segment that was sent, and when.
struct Sighting {
    at: Instant,
    from: End,
    segment: Segment,
}

struct Pipe {
    now: Instant,
    ends: [Option<Connection>; 2],
    /// The server's settings and initial number, for when a SYN arrives; none where nobody listens.
    listening: Option<(Config, u32)>,
    one_way_delay: Duration,
    judge: Judge,
    under_way: BTreeMap<(Instant, u64), (End, Segment)>,
    sent: Vec<Sighting>,
}

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

impl Pipe {
    /// A client that has just begun to connect, 50 ms from a server.
    fn new(client: Config, server: Config) -> Self {
        Self::with_numbers(client, server, [1000, 2_000_000])
    }

    /// As [`Pipe::new`], with the initial sequence numbers of client and server.
    fn with_numbers(client: Config, server: Config, initial: [u32; 2]) -> Self {
        let connection = Connection::connect(client, Client.address(), Server.address(), initial[0], Instant::START);
        Self {
            now: Instant::START,
            ends: [Some(connection), None],
            listening: Some((server, initial[1])),
            one_way_delay: 50 * MS,
            judge: Box::new(|_, _, _| Fate::Arrives),
            under_way: BTreeMap::new(),
            sent: Vec::new(),
        }
    }

    /// Both ends open and idle.
    fn open(client: Config, server: Config) -> Self {
        let mut pipe = Self::new(client, server);
        pipe.run_for(S);
        assert!(pipe.end(Client).is_open() && pipe.end(Server).is_open());
        pipe.sent.clear();
        pipe
    }

    fn open_by_default() -> Self {
        Self::open(Config::default(), Config::default())
    }

    fn end(&mut self, end: End) -> &mut Connection {
        self.ends[end as usize].as_mut().expect("a SYN has reached the server")
    }

    /// Sends everything that both ends have to send.
    fn flush(&mut self) {
        for end in [Client, Server] {
            let Some(connection) = &mut self.ends[end as usize] else {
                continue;
            };
            while let Some(segment) = connection.next_transmit(self.now) {
                self.sent.push(Sighting {
                    at: self.now,
                    from: end,
                    segment: segment.clone(),
                });
                let late = match (self.judge)(end, &segment, self.now) {
                    Fate::Arrives => Duration::ZERO,
                    Fate::Late(late) => late,
                    Fate::Lost => continue,
                };
                let order = self.sent.len() as u64;
                self.under_way
                    .insert((self.now + self.one_way_delay + late, order), (end.other(), segment));
            }
        }
    }

    fn deadline(&self, end: End) -> Option<Instant> {
        self.ends[end as usize].as_ref().and_then(Connection::next_deadline)
    }

    /// Does the next thing, if it happens by `until`.
    fn step(&mut self, until: Instant) -> bool {
        self.flush();
        let arrival = self.under_way.keys().next().map(|(at, _)| *at);
        let deadlines = [Client, Server].map(|end| self.deadline(end));
        let next = deadlines.into_iter().chain([arrival]).flatten().min();
        let Some(at) = next.filter(|at| *at <= until) else {
            return false;
        };
        assert!(at >= self.now, "time never goes back");
        self.now = at;
        if arrival == Some(at)
            && let Some((_, (to, segment))) = self.under_way.pop_first()
        {
            self.arrive(to, &segment);
            return true;
        }
        for end in [Client, Server] {
            if self.deadline(end).is_some_and(|deadline| deadline <= at) {
                self.end(end).on_timer(at);
            }
        }
        true
    }

    fn arrive(&mut self, to: End, segment: &Segment) {
        // A closed connection is one that the host does not know.
        if let Some(connection) = self.ends[to as usize]
            .as_mut()
            .filter(|connection| !connection.is_closed())
        {
            return connection.on_segment(self.now, segment);
        }
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        match self
            .listening
            .clone()
            .filter(|_| opens && self.ends[to as usize].is_none())
        {
            Some((config, initial)) => {
                self.ends[to as usize] = Some(Connection::accept(config, to.address(), initial, segment, self.now));
            }
            None => {
                let answer = Connection::refuse(segment);
                if let Some(reset) = answer {
                    self.under_way
                        .insert((self.now + self.one_way_delay, u64::MAX), (to.other(), reset));
                }
            }
        }
    }

    /// Lets `duration` pass.
    fn run_for(&mut self, duration: Duration) {
        let until = self.now + duration;
        while self.step(until) {}
        self.now = until;
    }

    /// Lets time pass until nothing more will happen, or until `limit`; returns how long that took.
    fn run_until_quiet(&mut self, limit: Duration) -> Duration {
        let (begun, until) = (self.now, self.now + limit);
        while self.step(until) {}
        self.now - begun
    }

    /// Writes all of `bytes`, which must fit into the buffer.
    fn write(&mut self, end: End, bytes: &[u8]) {
        assert_eq!(self.end(end).write(bytes).unwrap(), bytes.len(), "the buffer has room");
        self.flush();
    }

    /// Everything there is to read now, and whether the stream has ended.
    fn read(&mut self, end: End) -> io::Result<(Vec<u8>, bool)> {
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        let now = self.now;
        loop {
            match self.end(end).read(now, &mut buffer)? {
                Read::Bytes(read) => all.extend_from_slice(&buffer[..read]),
                Read::Empty => return Ok((all, false)),
                Read::End => return Ok((all, true)),
            }
        }
    }

    /// When the segments left that `end` sent and that `wanted` selects.
    fn times(&self, end: End, wanted: impl Fn(&Segment) -> bool) -> Vec<Duration> {
        let picked = self
            .sent
            .iter()
            .filter(|sighting| sighting.from == end && wanted(&sighting.segment));
        picked.map(|sighting| sighting.at.since_start()).collect()
    }

    /// The payload sizes of the data that `end` sent.
    fn sizes(&self, end: End) -> Vec<usize> {
        let sent = self.sent.iter().filter(|sighting| sighting.from == end);
        sent.map(|sighting| sighting.segment.payload.len())
            .filter(|length| *length > 0)
            .collect()
    }
}

/// Bytes that encode their position, and `salt`.
fn content(salt: u8, length: usize) -> Vec<u8> {
    (0..length as u64)
        .map(|index| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 ^ salt)
        .collect()
}
