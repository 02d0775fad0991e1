//! What do the two sides of one TCP connection say, if it becomes a WebSocket connection? The handshake, then frames, each direction
//! in order and with its holes.

use super::Ended;
use crate::datagram::Segment;
use crate::stream::{Arrival, Stream};
use crate::tcp::{Listener, Side};
use lastmile_payload::transcript::Direction;
use lastmile_payload::websocket::{
    Agreement, Asked, HandshakeError, Offer, PERMESSAGE_DEFLATE, Received, ReceivedMessage, Receiver, Request,
    Violation, head_length,
};
use lastmile_units::{Bytes, Instant};

/// What is new.
#[derive(Debug)]
pub(super) enum News {
    /// The handshake is done.
    Opened {
        /// Whether whom TCP calls the client asked for it, as it should be.
        by_client: bool,
        target: String,
        deflate: Result<Option<Agreement>, HandshakeError>,
    },
    Message(Direction, Instant, ReceivedMessage),
    Lost(Direction),
    Ended(Direction, Ended),
}

/// A connection that is listened to.
pub(super) struct Dialogue {
    state: State,
    limit: Bytes,
    news: Vec<News>,
}

enum State {
    /// For a request.
    Waiting,
    Following(Box<Following>),
    Over,
}

struct Following {
    requester: Side,
    requests: Way,
    responses: Way,
    asked: Option<Asked>,
}

/// One direction.
struct Way {
    direction: Direction,
    stream: Stream,
    /// Where it is closed.
    closed: Option<i64>,
    /// What came before the handshake was done; a hole is none of its octets, and how many they were.
    before: Vec<Result<Vec<u8>, u64>>,
    held: usize,
    /// After the handshake.
    receiver: Option<Receiver>,
}

/// Whether to follow on.
#[derive(PartialEq, Eq)]
enum Goes {
    On,
    /// This was no handshake; another may come.
    Elsewhere,
    /// Nothing can come any more.
    Over,
}

/// Octets that are held of a direction while the handshake is not done: our own choice, several times what endpoints read of a
/// head.
const HELD_MAX: usize = 64 << 10;

impl std::fmt::Debug for Dialogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dialogue")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Dialogue {
    pub(super) fn new(limit: Bytes) -> Self {
        Self {
            state: State::Waiting,
            limit,
            news: Vec::new(),
        }
    }

    /// What is new since this was asked last.
    pub(super) fn take_news(&mut self) -> std::vec::Drain<'_, News> {
        self.news.drain(..)
    }

    /// Nothing more was captured: what waited behind holes is told.
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
        let way = following.way(side);
        let Way {
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
                    Arrival::Octets(octets) => Ok(octets.to_vec()),
                    Arrival::Missing(count) => Err(count),
                };
                *held += piece.as_ref().map_or(0, Vec::len);
                before.push(piece);
            }
        });
        match following.go_on(at, self.limit, news) {
            Goes::On => {}
            Goes::Elsewhere => self.state = State::Waiting,
            Goes::Over => self.state = State::Over,
        }
    }
}

impl Listener for Dialogue {
    fn payload(&mut self, at: Instant, side: Side, place: i64, segment: &Segment<'_>, other: Option<i64>) {
        if matches!(self.state, State::Waiting) && segment.payload.starts_with(b"GET ") {
            self.state = State::Following(Box::new(Following {
                requester: side,
                requests: Way::new(Direction::Sent, place),
                responses: Way::new(Direction::Received, other.unwrap_or(place)),
                asked: None,
            }));
        }
        let until = place + i64::from(segment.length);
        self.follow(at, side, |stream, sink| {
            stream.arrive(place, until, segment.payload, sink);
        });
    }

    fn closed(&mut self, at: Instant, side: Side, place: i64) {
        if let State::Following(following) = &mut self.state {
            following.way(side).closed.get_or_insert(place);
            // It stands behind all octets.
            self.follow(at, side, |stream, sink| stream.arrive(place, place, &[], sink));
        }
    }

    fn acknowledged(&mut self, at: Instant, side: Side, until: i64) {
        if let State::Following(following) = &mut self.state {
            let way = following.way(side);
            // A FIN takes a number, and is no octet.
            let until = way.closed.map_or(until, |closed| until.min(closed));
            if way.stream.next() < until {
                self.follow(at, side, |stream, sink| stream.acknowledge(until, sink));
            }
        }
    }
}

impl Following {
    fn way(&mut self, side: Side) -> &mut Way {
        if side == self.requester {
            &mut self.requests
        } else {
            &mut self.responses
        }
    }

    /// Sees whether the handshake is done, or the connection.
    fn go_on(&mut self, at: Instant, limit: Bytes, news: &mut Vec<News>) -> Goes {
        let is_done = |way: &Way| way.receiver.as_ref().is_some_and(Receiver::is_over);
        if self.responses.receiver.is_some() {
            return if is_done(&self.requests) && is_done(&self.responses) {
                Goes::Over
            } else {
                Goes::On
            };
        }
        if self.asked.is_none() {
            match self.requests.take_head() {
                Ok(Some(head)) => match Asked::read(&head) {
                    Ok(asked) => self.asked = Some(asked),
                    Err(_) => return Goes::Elsewhere,
                },
                Ok(None) => {}
                Err(NotAHead) => return Goes::Elsewhere,
            }
        }
        let Some(asked) = &self.asked else {
            return Goes::On;
        };
        if self.requests.held > HELD_MAX {
            return Goes::Elsewhere;
        }
        let request = as_asked(asked);
        loop {
            let head = match self.responses.take_head() {
                Ok(Some(head)) => head,
                Ok(None) => return Goes::On,
                Err(NotAHead) => return Goes::Elsewhere,
            };
            let opened = match request.take_response(&asked.key, &head) {
                // An interim response (RFC 9110 section 15.2).
                Err(HandshakeError::Status(100..200)) => continue,
                Err(HandshakeError::Status(_) | HandshakeError::NotHttp(_)) => return Goes::Elsewhere,
                opened => opened,
            };
            let agreement = opened.map(|opened| opened.deflate);
            news.push(News::Opened {
                by_client: self.requester == Side::Client,
                target: asked.target.clone(),
                deflate: agreement.clone(),
            });
            let Ok(agreement) = agreement else {
                return Goes::Over;
            };
            let (client, server) = (
                agreement.map(|agreed| agreed.client),
                agreement.map(|agreed| agreed.server),
            );
            let (Ok(of_client), Ok(of_server)) =
                (Receiver::new(true, client, limit), Receiver::new(false, server, limit))
            else {
                return Goes::Over;
            };
            self.requests.speak(of_client, at, news);
            self.responses.speak(of_server, at, news);
            return Goes::On;
        }
    }
}

/// What came is no head: a part of it was not captured, or it is far too long.
struct NotAHead;

impl Way {
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

    /// Takes a head off what came before the handshake was done; none while it is not whole.
    fn take_head(&mut self) -> Result<Option<Vec<u8>>, NotAHead> {
        let is_whole = |piece: &Result<Vec<u8>, u64>| piece.is_ok();
        let seen = self.before.iter().take_while(|piece| is_whole(piece)).count();
        let octets: Vec<u8> = self.before[..seen].iter().flatten().flatten().copied().collect();
        match head_length(&octets) {
            Some(length) => {
                let after = octets[length..].to_vec();
                self.before.splice(..seen, [Ok(after)]);
                Ok(Some(octets[..length].to_vec()))
            }
            None if seen < self.before.len() || self.held > HELD_MAX => Err(NotAHead),
            None => {
                self.before = vec![Ok(octets)];
                Ok(None)
            }
        }
    }

    /// From here on there are frames, those among them that came already.
    fn speak(&mut self, mut receiver: Receiver, at: Instant, news: &mut Vec<News>) {
        for piece in std::mem::take(&mut self.before) {
            let arrival = match &piece {
                Ok(octets) => Arrival::Octets(octets),
                Err(count) => Arrival::Missing(*count),
            };
            read(&mut receiver, self.direction, at, arrival, news);
        }
        self.receiver = Some(receiver);
    }
}

/// A request that is answered as the one that was asked.
fn as_asked(asked: &Asked) -> Request {
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

/// Gives a receiver what came next.
fn read(receiver: &mut Receiver, direction: Direction, at: Instant, arrival: Arrival<'_>, news: &mut Vec<News>) {
    if receiver.is_over() {
        return;
    }
    let mut sink = |received| match received {
        Received::Message(message) => news.push(News::Message(direction, at, message)),
        Received::Lost(_) => news.push(News::Lost(direction)),
        Received::Close(close) => news.push(News::Ended(direction, Ended::Closed(close))),
        Received::Ping(_) | Received::Pong(_) => {}
    };
    let outcome: Result<bool, Violation> = match arrival {
        Arrival::Octets(octets) => receiver.receive(octets, &mut sink).map(|()| true),
        Arrival::Missing(count) => receiver.miss(count, &mut sink),
    };
    match outcome {
        Ok(true) => {}
        Ok(false) => news.push(News::Ended(direction, Ended::Hole)),
        Err(violation) => news.push(News::Ended(direction, Ended::Broken(violation))),
    }
}
