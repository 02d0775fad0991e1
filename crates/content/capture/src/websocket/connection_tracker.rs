//! Follows one TCP connection that may become a WebSocket connection.
//!
//! It reads the handshake, then the frames of each direction, in order and with their holes.

use super::ReadingEnd;
use crate::datagram::Segment;
use crate::stream::{Arrival, Stream};
use crate::tcp::{Side, StreamObserver};
use lastmile_traffic::messages::Direction;
use lastmile_units::{ByteCount, Instant};
use lastmile_websocket::{
    Agreement, ClientRequest, HandshakeError, Offer, PERMESSAGE_DEFLATE, Received, ReceivedMessage, Receiver, Request,
    Violation, head_length,
};

/// An event of a connection.
#[derive(Debug)]
pub(super) enum TrackerEvent {
    /// The handshake is complete.
    Opened {
        /// Whether the side that TCP calls the client sent the request, as it should.
        by_client: bool,
        target: String,
        deflate: Result<Option<Agreement>, HandshakeError>,
    },
    Message(Direction, Instant, ReceivedMessage),
    Lost(Direction),
    Ended(Direction, ReadingEnd),
}

/// The observer of one TCP connection.
pub(super) struct WebSocketTracker {
    state: State,
    limit: ByteCount,
    news: Vec<TrackerEvent>,
}

enum State {
    /// Waiting for a request.
    Waiting,
    Following(Box<ActiveWebSocket>),
    Over,
}

struct ActiveWebSocket {
    requester: Side,
    requests: DirectionState,
    responses: DirectionState,
    asked: Option<ClientRequest>,
}

/// One direction.
struct DirectionState {
    direction: Direction,
    stream: Stream,
    /// The position at which it is closed.
    closed: Option<i64>,
    /// Its bytes before the handshake was complete; `Err` is a hole with the number of missing bytes.
    before: Vec<Result<Vec<u8>, u64>>,
    held: usize,
    /// Present after the handshake.
    receiver: Option<Receiver>,
}

/// How to go on with a connection.
#[derive(PartialEq, Eq)]
enum Continue {
    On,
    /// This was not a handshake; another may come.
    Elsewhere,
    /// Nothing more can come.
    Over,
}

/// The most bytes of a direction that are held until the handshake is complete: our own choice, several times the largest head that
/// endpoints read.
const HELD_MAX: usize = 64 << 10;

impl std::fmt::Debug for WebSocketTracker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialogue")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl WebSocketTracker {
    pub(super) fn new(limit: ByteCount) -> Self {
        Self {
            state: State::Waiting,
            limit,
            news: Vec::new(),
        }
    }

    /// The events since the last call.
    pub(super) fn drain_events(&mut self) -> std::vec::Drain<'_, TrackerEvent> {
        self.news.drain(..)
    }

    /// The capture ends: what waits behind holes is reported.
    pub(super) fn end(&mut self, at: Instant) {
        for side in [Side::Client, Side::Server] {
            self.follow(at, side, |stream, sink| stream.end(sink));
        }
        self.state = State::Over;
    }

    fn follow(&mut self, at: Instant, side: Side, run: impl FnOnce(&mut Stream, &mut dyn FnMut(Arrival<'_>))) {
        let State::Following(following) = &mut self.state else {
            return;
        };
        let news = &mut self.news;
        let way = following.direction_mut(side);
        let DirectionState {
            direction,
            stream,
            before,
            held,
            receiver,
            ..
        } = way;
        run(stream, &mut |arrival| match receiver {
            Some(receiver) => read(receiver, *direction, at, arrival, news),
            None => {
                let piece = match arrival {
                    Arrival::Bytes(bytes) => Ok(bytes.to_vec()),
                    Arrival::Missing(count) => Err(count),
                };
                *held += piece.as_ref().map_or(0, Vec::len);
                before.push(piece);
            }
        });
        match following.advance(at, self.limit, news) {
            Continue::On => {}
            Continue::Elsewhere => self.state = State::Waiting,
            Continue::Over => self.state = State::Over,
        }
    }
}

impl StreamObserver for WebSocketTracker {
    fn payload(&mut self, at: Instant, side: Side, position: i64, segment: &Segment<'_>, other: Option<i64>) {
        if matches!(self.state, State::Waiting) && segment.payload.starts_with(b"GET ") {
            self.state = State::Following(Box::new(ActiveWebSocket {
                requester: side,
                requests: DirectionState::new(Direction::Sent, position),
                responses: DirectionState::new(Direction::Received, other.unwrap_or(position)),
                asked: None,
            }));
        }
        let until = position + i64::from(segment.length);
        self.follow(at, side, |stream, sink| {
            stream.arrive(position, until, segment.payload, sink);
        });
    }

    fn closed(&mut self, at: Instant, side: Side, position: i64) {
        if let State::Following(following) = &mut self.state {
            following.direction_mut(side).closed.get_or_insert(position);
            // It follows all bytes.
            self.follow(at, side, |stream, sink| stream.arrive(position, position, &[], sink));
        }
    }

    fn acknowledged(&mut self, at: Instant, side: Side, until: i64) {
        if let State::Following(following) = &mut self.state {
            let way = following.direction_mut(side);
            // A FIN uses a sequence number, but is not a byte.
            let until = way.closed.map_or(until, |closed| until.min(closed));
            if way.stream.next() < until {
                self.follow(at, side, |stream, sink| stream.acknowledge(until, sink));
            }
        }
    }
}

impl ActiveWebSocket {
    fn direction_mut(&mut self, side: Side) -> &mut DirectionState {
        if side == self.requester {
            &mut self.requests
        } else {
            &mut self.responses
        }
    }

    /// Checks whether the handshake is complete, or the connection has ended.
    fn advance(&mut self, at: Instant, limit: ByteCount, news: &mut Vec<TrackerEvent>) -> Continue {
        let is_done = |way: &DirectionState| way.receiver.as_ref().is_some_and(Receiver::is_over);
        if self.responses.receiver.is_some() {
            return if is_done(&self.requests) && is_done(&self.responses) {
                Continue::Over
            } else {
                Continue::On
            };
        }
        if self.asked.is_none() {
            match self.requests.take_head() {
                Ok(Some(head)) => match ClientRequest::read(&head) {
                    Ok(asked) => self.asked = Some(asked),
                    Err(_) => return Continue::Elsewhere,
                },
                Ok(None) => {}
                Err(InvalidHead) => return Continue::Elsewhere,
            }
        }
        let Some(asked) = &self.asked else {
            return Continue::On;
        };
        if self.requests.held > HELD_MAX {
            return Continue::Elsewhere;
        }
        let request = equivalent_request(asked);
        loop {
            let head = match self.responses.take_head() {
                Ok(Some(head)) => head,
                Ok(None) => return Continue::On,
                Err(InvalidHead) => return Continue::Elsewhere,
            };
            let opened = match request.accept_response(&asked.key, &head) {
                // An interim response (RFC 9110 section 15.2).
                Err(HandshakeError::Status(100..200)) => continue,
                Err(HandshakeError::Status(_) | HandshakeError::NotHttp(_)) => return Continue::Elsewhere,
                opened => opened,
            };
            let agreement = opened.map(|opened| opened.deflate);
            news.push(TrackerEvent::Opened {
                by_client: self.requester == Side::Client,
                target: asked.target.clone(),
                deflate: agreement.clone(),
            });
            let Ok(agreement) = agreement else {
                return Continue::Over;
            };
            let (client, server) = (
                agreement.map(|agreed| agreed.client),
                agreement.map(|agreed| agreed.server),
            );
            let (Ok(of_client), Ok(of_server)) =
                (Receiver::new(true, client, limit), Receiver::new(false, server, limit))
            else {
                return Continue::Over;
            };
            self.requests.begin_frames(of_client, at, news);
            self.responses.begin_frames(of_server, at, news);
            return Continue::On;
        }
    }
}

/// These bytes are no head: a part of it was not captured, or it is far too long.
struct InvalidHead;

impl DirectionState {
    fn new(direction: Direction, next: i64) -> Self {
        Self {
            direction,
            stream: Stream::new(next),
            closed: None,
            before: Vec::new(),
            held: 0,
            receiver: None,
        }
    }

    /// Removes a head from the bytes before the handshake; none while it is incomplete.
    fn take_head(&mut self) -> Result<Option<Vec<u8>>, InvalidHead> {
        let is_whole = |piece: &Result<Vec<u8>, u64>| piece.is_ok();
        let seen = self.before.iter().take_while(|piece| is_whole(piece)).count();
        let bytes: Vec<u8> = self.before[..seen].iter().flatten().flatten().copied().collect();
        match head_length(&bytes) {
            Some(length) => {
                let after = bytes[length..].to_vec();
                self.before.splice(..seen, [Ok(after)]);
                Ok(Some(bytes[..length].to_vec()))
            }
            None if seen < self.before.len() || self.held > HELD_MAX => Err(InvalidHead),
            None => {
                self.before = vec![Ok(bytes)];
                Ok(None)
            }
        }
    }

    /// From here on there are frames, including those that have already arrived.
    fn begin_frames(&mut self, mut receiver: Receiver, at: Instant, news: &mut Vec<TrackerEvent>) {
        for piece in std::mem::take(&mut self.before) {
            let arrival = match &piece {
                Ok(bytes) => Arrival::Bytes(bytes),
                Err(count) => Arrival::Missing(*count),
            };
            read(&mut receiver, self.direction, at, arrival, news);
        }
        self.receiver = Some(receiver);
    }
}

/// A request that a server answers as it answered the captured one.
fn equivalent_request(asked: &ClientRequest) -> Request {
    let deflate = asked
        .extensions
        .iter()
        .filter(|extension| extension.name == PERMESSAGE_DEFLATE);
    let offers = deflate.filter_map(|extension| Offer::read(extension).ok());
    Request {
        host: asked.host.clone(),
        target: asked.target.clone(),
        protocols: asked.protocols.clone(),
        offers: offers.collect(),
        fields: Vec::new(),
    }
}

/// Gives the next bytes to a receiver.
fn read(
    receiver: &mut Receiver,
    direction: Direction,
    at: Instant,
    arrival: Arrival<'_>,
    news: &mut Vec<TrackerEvent>,
) {
    if receiver.is_over() {
        return;
    }
    let mut sink = |received| match received {
        Received::Message(message) => news.push(TrackerEvent::Message(direction, at, message)),
        Received::Lost(_) => news.push(TrackerEvent::Lost(direction)),
        Received::Close(close) => news.push(TrackerEvent::Ended(direction, ReadingEnd::Closed(close))),
        Received::Ping(_) | Received::Pong(_) => {}
    };
    let outcome: Result<bool, Violation> = match arrival {
        Arrival::Bytes(bytes) => receiver.receive(bytes, &mut sink).map(|()| true),
        Arrival::Missing(count) => receiver.skip_unseen(count, &mut sink),
    };
    match outcome {
        Ok(true) => {}
        Ok(false) => news.push(TrackerEvent::Ended(direction, ReadingEnd::Hole)),
        Err(violation) => news.push(TrackerEvent::Ended(direction, ReadingEnd::Broken(violation))),
    }
}
