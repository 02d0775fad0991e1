//! What happened on a TCP connection? Its two directions, its handshake, its gaps, and what in it is HTTP.

mod half;
mod round_trip;
pub(crate) mod sequence;
#[cfg(test)]
mod tests;

pub use half::{Drawn, Sent};
pub use round_trip::RoundTrips;

use crate::datagram::{Datagram, Segment};
use crate::http::{Dialogue, Transaction};
use half::Half;
use lastmile_units::Instant;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// A TCP connection, as far as it was captured.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpFlow {
    /// Who sent the SYN; where none was captured, who sent the first packet.
    pub client: SocketAddr,
    /// The other.
    pub server: SocketAddr,
    /// How it began.
    pub opening: Opening,
    /// When its first packet passed.
    pub first: Instant,
    /// When its last packet passed.
    pub last: Instant,
    /// What the client sent.
    pub up: Sent,
    /// What the server sent.
    pub down: Sent,
    /// When nothing passed.
    pub idle: Idle,
    /// What the capture's writer remarks on its packets, and on how many.
    pub comments: BTreeMap<String, u64>,
    /// Whether HTTP began on it and could not be followed to the end: octets were not captured, or it became another protocol.
    pub http_lost: bool,
}

/// How a connection began, as far as it was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Before the capture did.
    BeforeCapture,
    /// With a SYN; what answers it was not captured or never came.
    Unanswered,
    /// With a handshake.
    Handshake {
        /// From the last SYN before the answer to the first acknowledgement of the answer: a whole round trip, wherever it was
        /// captured.
        round_trip: Duration,
        /// From that SYN to the answer: the way to the server and back, from where it was captured.
        server_side: Duration,
        /// How often the SYN and its answer were sent beyond once.
        resent: u64,
    },
}

/// Times at which no packet of a connection passed for a second or longer. One second is the least retransmission timeout of RFC 6298
/// section 2.4: whoever has something to send and is let, has sent it by then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Idle {
    /// How many.
    pub gaps: u64,
    /// How long together.
    pub time: Duration,
    /// The longest.
    pub longest: Duration,
}

const IDLE: Duration = Duration::from_secs(1);

/// Texts of comments that a connection keeps; others are counted under [`OTHER_COMMENTS`]. Our own choice, so that a writer of
/// many texts takes no memory.
const COMMENTS_MAX: usize = 64;
/// What stands for the texts that are not kept.
const OTHER_COMMENTS: &str = "other comments";
/// So begins the comment on a packet that never arrived.
const DROPPED: &str = "dropped";

/// Who listens to what the two sides say.
pub(crate) trait Listener {
    /// A segment with payload passes; `place` is where its payload begins, `other` how far the other direction has come.
    fn payload(&mut self, at: Instant, side: Side, place: i64, segment: &Segment<'_>, other: Option<i64>);
    /// A side will send nothing from `place` on.
    fn closed(&mut self, at: Instant, side: Side, place: i64);
    /// The other side has everything of `side` up to `until`.
    fn acknowledged(&mut self, at: Instant, side: Side, until: i64);
}

/// A connection that is being followed.
#[derive(Debug)]
pub(crate) struct Connection<L> {
    client: SocketAddr,
    server: SocketAddr,
    first: Instant,
    last: Instant,
    up: Half,
    down: Half,
    handshake: Handshake,
    idle: Idle,
    comments: BTreeMap<String, u64>,
    listener: L,
}

#[derive(Debug, Clone, Copy, Default)]
struct Handshake {
    /// The client's initial sequence number, and when it came last.
    syn: Option<(u32, Instant)>,
    answer: Option<Instant>,
    done: Option<Instant>,
    resent: u64,
}

/// Who of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl<L: Listener> Connection<L> {
    /// A connection whose first packet this is.
    pub(crate) fn new(at: Instant, datagram: &Datagram<'_>, segment: &Segment<'_>, listener: L) -> Self {
        let is_answer = segment.has(Segment::SYN) && segment.has(Segment::ACK);
        let (client, server) = if is_answer {
            (datagram.to, datagram.from)
        } else {
            (datagram.from, datagram.to)
        };
        Self {
            client,
            server,
            first: at,
            last: at,
            up: Half::default(),
            down: Half::default(),
            handshake: Handshake::default(),
            idle: Idle::default(),
            comments: BTreeMap::new(),
            listener,
        }
    }

    /// Whether a segment begins another connection between the same ports: a SYN with a number other than this one's.
    pub(crate) fn is_reused_by(&self, from: SocketAddr, segment: &Segment<'_>) -> bool {
        let is_syn = segment.has(Segment::SYN) && !segment.has(Segment::ACK | Segment::RST);
        let same = from == self.client && self.handshake.syn.is_some_and(|(number, _)| number == segment.sequence);
        is_syn && !same
    }

    /// A packet of it passes.
    pub(crate) fn pass(&mut self, at: Instant, datagram: &Datagram<'_>, segment: &Segment<'_>, comments: &[String]) {
        self.rest(at);
        for comment in comments {
            count(&mut self.comments, comment, COMMENTS_MAX);
        }
        let side = if datagram.from == self.client {
            Side::Client
        } else {
            Side::Server
        };
        let dropped = comments.iter().any(|comment| comment.starts_with(DROPPED));
        self.handshake.pass(at, side, segment);
        let (near, far) = match side {
            Side::Client => (&mut self.up, &mut self.down),
            Side::Server => (&mut self.down, &mut self.up),
        };
        let place = near.send(at, datagram, segment, dropped);
        near.announce(at, segment);
        if far.acknowledge(at, segment) && !near.is_asking() {
            near.sent.duplicate_acknowledgements += 1;
        }
        if segment.length > 0 && !segment.has(Segment::RST) {
            self.listener.payload(at, side, place.payload, segment, far.newest());
        }
        if segment.has(Segment::FIN) {
            let end = place.payload + i64::from(segment.length);
            self.listener.closed(at, side, end);
        }
        if let Some(acknowledged) = far.acknowledged() {
            self.listener.acknowledged(at, side.other(), acknowledged);
        }
    }

    /// Who listens.
    pub(crate) fn listener(&mut self) -> &mut L {
        &mut self.listener
    }

    /// Client and server.
    pub(crate) fn ends(&self) -> (SocketAddr, SocketAddr) {
        (self.client, self.server)
    }

    fn rest(&mut self, at: Instant) {
        let gap = at.saturating_since(self.last);
        if gap >= IDLE {
            self.idle.gaps += 1;
            self.idle.time += gap;
            self.idle.longest = self.idle.longest.max(gap);
        }
        self.last = self.last.max(at);
    }
}

impl Connection<Dialogue> {
    /// The transactions that came to an end since this was asked last.
    pub(crate) fn take_transactions(&mut self) -> impl Iterator<Item = Transaction> {
        self.listener.take_done()
    }

    /// What there is to say of it, with its transactions.
    pub(crate) fn finish(self) -> (TcpFlow, Vec<Transaction>) {
        let (transactions, http_lost) = self.listener.finish();
        let flow = TcpFlow {
            client: self.client,
            server: self.server,
            opening: self.handshake.opening(),
            first: self.first,
            last: self.last,
            up: self.up.sent,
            down: self.down.sent,
            idle: self.idle,
            comments: self.comments,
            http_lost,
        };
        (flow, transactions)
    }
}

impl Side {
    pub(crate) fn other(self) -> Self {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
}

impl Handshake {
    fn pass(&mut self, at: Instant, side: Side, segment: &Segment<'_>) {
        let (syn, ack) = (segment.has(Segment::SYN), segment.has(Segment::ACK));
        match side {
            _ if segment.has(Segment::RST) => {}
            Side::Client if syn && !ack => {
                self.resent += u64::from(self.syn.is_some());
                if self.answer.is_none() {
                    self.syn = Some((segment.sequence, at));
                }
            }
            Side::Server if syn && ack => {
                self.resent += u64::from(self.answer.is_some());
                self.answer = self.answer.or(Some(at));
            }
            Side::Client if ack && self.answer.is_some() && self.done.is_none() => self.done = Some(at),
            _ => {}
        }
    }

    fn opening(self) -> Opening {
        match (self.syn, self.answer, self.done) {
            (Some((_, syn)), Some(answer), Some(done)) => Opening::Handshake {
                round_trip: done.saturating_since(syn),
                server_side: answer.saturating_since(syn),
                resent: self.resent,
            },
            (Some(_), ..) => Opening::Unanswered,
            (None, ..) => Opening::BeforeCapture,
        }
    }
}

/// Counts a text; one that is new where `most` are known already is counted as another.
pub(crate) fn count(texts: &mut BTreeMap<String, u64>, text: &str, most: usize) {
    if let Some(times) = texts.get_mut(text) {
        *times += 1;
    } else if texts.len() < most {
        texts.insert(text.to_owned(), 1);
    } else {
        *texts.entry(OTHER_COMMENTS.to_owned()).or_default() += 1;
    }
}

impl TcpFlow {
    /// From its first packet to its last.
    pub fn duration(&self) -> Duration {
        self.last.saturating_since(self.first)
    }
}
