//! Follows a TCP connection: its two directions, its handshake and its gaps.

mod half_connection;
mod round_trip;
pub(crate) mod sequence;
#[cfg(test)]
mod tests;

pub use half_connection::{SentStatistics, TimeSequenceSeries};
pub use round_trip::RoundTrips;

use crate::datagram::{Datagram, Segment};
use half_connection::HalfConnection;
use lastmile_units::Instant;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// A TCP connection, as far as it was captured.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpFlow {
    /// The sender of the SYN; where none was captured, the sender of the first packet.
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
    pub up: SentStatistics,
    /// What the server sent.
    pub down: SentStatistics,
    /// The times without packets.
    pub idle: Idle,
    /// The comments that the capture's writer attached to its packets, and to how many packets each.
    pub comments: BTreeMap<String, u64>,
    /// Whether HTTP began on it and could not be followed to the end: bytes were not captured, or it became another protocol.
    pub http_lost: bool,
}

/// How a connection began, as far as it was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Before the capture did.
    BeforeCapture,
    /// With a SYN; its answer was not captured or never came.
    Unanswered,
    /// With a handshake.
    Handshake {
        /// From the last SYN before the answer to the first acknowledgement of the answer: a whole round trip, wherever it was captured.
        round_trip: Duration,
        /// From that SYN to the answer: from the capture point to the server and back.
        server_side: Duration,
        /// How often the SYN and its answer were retransmitted.
        resent: u64,
    },
}

/// Times at which no packet of a connection passed for a second or longer. One second is the least retransmission timeout of RFC 6298
/// section 2.4: a host that has something to send and may send it has done so by then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Idle {
    /// The number of gaps.
    pub gaps: u64,
    /// Their total length.
    pub time: Duration,
    /// The longest gap.
    pub longest: Duration,
}

const IDLE: Duration = Duration::from_secs(1);

/// The most comment texts that a connection keeps; others are counted under [`OTHER_COMMENTS`]. Our own choice, so that a writer of many
/// texts uses no memory.
const COMMENTS_MAX: usize = 64;
/// Stands for the texts that are not kept.
const OTHER_COMMENTS: &str = "other comments";
/// The comment on a packet that never arrived begins with this.
const DROPPED: &str = "dropped";

/// Observes the payload of both sides.
pub(crate) trait StreamObserver {
    /// A segment with payload passes; `position` is the position of its payload, `other` the position that the other direction has reached.
    fn payload(&mut self, at: Instant, side: Side, position: i64, segment: &Segment<'_>, other: Option<i64>);
    /// A side will send nothing from position `position` on.
    fn closed(&mut self, at: Instant, side: Side, position: i64);
    /// The other side has everything from `side` up to `until`.
    fn acknowledged(&mut self, at: Instant, side: Side, until: i64);
}

/// A connection that is being followed.
#[derive(Debug)]
pub(crate) struct Connection<L> {
    client: SocketAddr,
    server: SocketAddr,
    first: Instant,
    last: Instant,
    up: HalfConnection,
    down: HalfConnection,
    handshake: Handshake,
    idle: Idle,
    comments: BTreeMap<String, u64>,
    listener: L,
}

#[derive(Debug, Clone, Copy, Default)]
struct Handshake {
    /// The client's initial sequence number, and when it was last sent.
    syn: Option<(u32, Instant)>,
    answer: Option<Instant>,
    done: Option<Instant>,
    resent: u64,
}

/// One of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

impl<L: StreamObserver> Connection<L> {
    /// A connection that begins with this packet.
    pub(crate) fn new(at: Instant, datagram: &Datagram<'_>, segment: &Segment<'_>, listener: L) -> Self {
        let (client, server) = datagram.client_and_server(segment);
        Self {
            client,
            server,
            first: at,
            last: at,
            up: HalfConnection::default(),
            down: HalfConnection::default(),
            handshake: Handshake::default(),
            idle: Idle::default(),
            comments: BTreeMap::new(),
            listener,
        }
    }

    /// Whether a segment begins another connection between the same ports: a SYN with a different number.
    pub(crate) fn is_reused_by(&self, from: SocketAddr, segment: &Segment<'_>) -> bool {
        segment.reopens(from == self.client, self.handshake.syn.map(|(number, _)| number))
    }

    /// Accepts one of its packets.
    pub(crate) fn observe(&mut self, at: Instant, datagram: &Datagram<'_>, segment: &Segment<'_>, comments: &[String]) {
        self.account_idle(at);
        for comment in comments {
            count_text(&mut self.comments, comment, COMMENTS_MAX);
        }
        let side = if datagram.from == self.client {
            Side::Client
        } else {
            Side::Server
        };
        let dropped = comments.iter().any(|comment| comment.starts_with(DROPPED));
        self.handshake.observe(at, side, segment);
        let (near, far) = match side {
            Side::Client => (&mut self.up, &mut self.down),
            Side::Server => (&mut self.down, &mut self.up),
        };
        let position = near.observe_sent(at, datagram, segment, dropped);
        near.observe_window(at, segment);
        if far.observe_acknowledgement(at, segment) && !near.is_probe() {
            near.sent.duplicate_acknowledgements += 1;
        }
        if segment.length > 0 && !segment.has(Segment::RST) {
            self.listener.payload(at, side, position.payload, segment, far.newest());
        }
        if segment.has(Segment::FIN) {
            let end = position.payload + i64::from(segment.length);
            self.listener.closed(at, side, end);
        }
        if let Some(acknowledged) = far.acknowledged() {
            self.listener.acknowledged(at, side.other(), acknowledged);
        }
    }

    /// The observer of its payload.
    pub(crate) fn observer_mut(&mut self) -> &mut L {
        &mut self.listener
    }

    /// Client and server.
    pub(crate) fn ends(&self) -> (SocketAddr, SocketAddr) {
        (self.client, self.server)
    }

    fn account_idle(&mut self, at: Instant) {
        let gap = at.saturating_since(self.last);
        if gap >= IDLE {
            self.idle.gaps += 1;
            self.idle.time += gap;
            self.idle.longest = self.idle.longest.max(gap);
        }
        self.last = self.last.max(at);
    }

    /// The figures of the connection, and the observer of its payload. [`TcpFlow::http_lost`] is left to who follows HTTP.
    pub(crate) fn into_parts(self) -> (TcpFlow, L) {
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
            http_lost: false,
        };
        (flow, self.listener)
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
    fn observe(&mut self, at: Instant, side: Side, segment: &Segment<'_>) {
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

/// Counts a text; a new one beyond `most` texts is counted as another.
pub(crate) fn count_text(texts: &mut BTreeMap<String, u64>, text: &str, most: usize) {
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
