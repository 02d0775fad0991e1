//! Follows the unencrypted HTTP/1.1 transactions of a connection: request, response and their times.
//!
//! Both directions are followed from the first request on. Content that was not captured (a snap length, a missed packet) is counted by the
//! length that the message states; where a head or a chunk's length is missing, the connection is abandoned, and [`HttpTracker::into_unfinished`]
//! reports that.

mod message;
#[cfg(test)]
mod tests;

use crate::datagram::Segment;
use crate::stream::{Arrival, Stream};
use crate::tcp::{Side, StreamObserver};
use lastmile_http::Framing;
use lastmile_units::{ByteCount, Instant};
use message::{Event, Reader};
use std::collections::VecDeque;

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// `GET`.
    pub method: String,
    /// The request target, as in the request line; its first 1024 characters.
    pub target: String,
    /// The final response's status; none where none was captured.
    pub status: Option<u16>,
    /// Bytes of the request's content, without its head and framing.
    pub request_bytes: ByteCount,
    /// Bytes of the response's content as transferred (content codings stay), without its head and framing.
    pub response_bytes: ByteCount,
    /// When the request's first byte passed.
    pub began: Instant,
    /// When the final response's first byte passed, in stream order.
    pub first_byte: Option<Instant>,
    /// When the response's last byte was available in stream order: where a hole had to be filled first, when it was. None where it never
    /// was.
    pub ended: Option<Instant>,
}

/// The HTTP of one connection, if it carries any.
#[derive(Debug)]
pub(crate) struct HttpTracker {
    state: State,
    done: Vec<Transaction>,
    lost: bool,
}

#[derive(Debug)]
enum State {
    /// This many segments passed without a request.
    Waiting(u8),
    Following(Box<ActiveHttp>),
    Over,
}

#[derive(Debug)]
struct ActiveHttp {
    requester: Side,
    requests: DirectionState,
    responses: DirectionState,
    /// Requests whose responses are not complete, in order (RFC 9112 section 9.3.2).
    open: VecDeque<Transaction>,
}

/// One direction.
#[derive(Debug)]
struct DirectionState {
    stream: Stream,
    reader: Reader,
    /// The position at which the direction is closed.
    closed: Option<i64>,
}

/// How to go on with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Continue {
    On,
    /// It switched to another protocol.
    Elsewhere,
    Astray,
}

/// A connection without a request in this many segments with payload is not HTTP/1.1. Our own choice: nothing precedes a request but
/// perhaps the header of a proxy protocol.
const WAITING_MAX: u8 = 8;
/// The most requests without a response: a connection with more is abandoned. Our own choice; nobody pipelines a tenth of this.
const OPEN_MAX: usize = 1024;
const TARGET_MAX: usize = 1024;
/// The most header fields that are read: our own choice, above what servers accept.
const FIELDS_MAX: usize = 128;

/// The methods of RFC 9110 section 9.3, and PATCH (RFC 5789).
const METHODS: [&[u8]; 9] = [
    b"GET ",
    b"HEAD ",
    b"POST ",
    b"PUT ",
    b"DELETE ",
    b"CONNECT ",
    b"OPTIONS ",
    b"TRACE ",
    b"PATCH ",
];

impl Default for HttpTracker {
    fn default() -> Self {
        Self {
            state: State::Waiting(0),
            done: Vec::new(),
            lost: false,
        }
    }
}

impl StreamObserver for HttpTracker {
    fn payload(&mut self, at: Instant, side: Side, position: i64, segment: &Segment<'_>, other: Option<i64>) {
        if let State::Waiting(segments) = &mut self.state {
            *segments += 1;
            if METHODS.iter().any(|method| segment.payload.starts_with(method)) {
                self.state = State::Following(Box::new(ActiveHttp::new(side, position, other.unwrap_or(position))));
            } else if *segments == WAITING_MAX {
                self.state = State::Over;
            }
        }
        let until = position + i64::from(segment.length);
        self.follow(at, side, |stream, sink| {
            stream.arrive(position, until, segment.payload, sink);
        });
    }

    fn closed(&mut self, at: Instant, side: Side, position: i64) {
        if let State::Following(following) = &mut self.state {
            following.direction_mut(side).closed.get_or_insert(position);
            self.follow(at, side, |_, _| {});
        }
    }

    fn acknowledged(&mut self, at: Instant, side: Side, until: i64) {
        if let State::Following(following) = &mut self.state {
            let way = following.direction_mut(side);
            // A FIN uses a sequence number, but is not a byte.
            let until = way.closed.map_or(until, |closed| until.min(closed));
            if way.stream.next() < until {
                self.follow(at, side, |stream, sink| stream.skip_to(until, sink));
            }
        }
    }
}

impl HttpTracker {
    fn follow(&mut self, at: Instant, side: Side, run: impl FnOnce(&mut Stream, &mut dyn FnMut(Arrival<'_>))) {
        let State::Following(following) = &mut self.state else {
            return;
        };
        match following.run(at, side, &mut self.done, run) {
            Continue::On => {}
            ended => {
                self.lost |= ended == Continue::Astray;
                self.give_up();
            }
        }
    }

    fn give_up(&mut self) {
        if let State::Following(following) = std::mem::replace(&mut self.state, State::Over) {
            self.done.extend(following.open);
        }
    }

    /// The transactions that ended since the last call.
    pub(crate) fn drain_completed(&mut self) -> std::vec::Drain<'_, Transaction> {
        self.done.drain(..)
    }

    /// The remaining transactions, complete or not, and whether the connection was abandoned.
    pub(crate) fn into_unfinished(mut self) -> (Vec<Transaction>, bool) {
        self.give_up();
        (self.done, self.lost)
    }
}

impl ActiveHttp {
    fn new(requester: Side, requests: i64, responses: i64) -> Self {
        let way = |next| DirectionState {
            stream: Stream::new(next),
            reader: Reader::new(),
            closed: None,
        };
        Self {
            requester,
            requests: way(requests),
            responses: way(responses),
            open: VecDeque::new(),
        }
    }

    fn direction_mut(&mut self, side: Side) -> &mut DirectionState {
        if side == self.requester {
            &mut self.requests
        } else {
            &mut self.responses
        }
    }

    fn run(
        &mut self,
        at: Instant,
        side: Side,
        done: &mut Vec<Transaction>,
        run: impl FnOnce(&mut Stream, &mut dyn FnMut(Arrival<'_>)),
    ) -> Continue {
        let is_request = side == self.requester;
        let way = if is_request {
            &mut self.requests
        } else {
            &mut self.responses
        };
        let (reader, open) = (&mut way.reader, &mut self.open);
        let mut goes = Continue::On;
        run(&mut way.stream, &mut |mut arrival| {
            while goes == Continue::On {
                let Some(event) = reader.read(&mut arrival, at) else {
                    break;
                };
                goes = if is_request {
                    on_request_event(event, reader, open)
                } else {
                    on_response_event(event, at, reader, open, done)
                };
            }
        });
        if goes == Continue::On
            && way.closed.is_some_and(|closed| way.stream.next() >= closed)
            && way.reader.close()
            && !is_request
        {
            complete_transaction(at, open, done);
        }
        goes
    }
}

/// Handles an event of the request direction.
fn on_request_event(event: Event, reader: &mut Reader, open: &mut VecDeque<Transaction>) -> Continue {
    match event {
        Event::Head(head) => {
            let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
            let mut request = httparse::Request::new(&mut fields);
            if !matches!(request.parse(&head), Ok(httparse::Status::Complete(_))) || open.len() == OPEN_MAX {
                return Continue::Astray;
            }
            open.push_back(Transaction {
                method: request.method.unwrap_or_default().to_owned(),
                target: request.path.unwrap_or_default().chars().take(TARGET_MAX).collect(),
                status: None,
                request_bytes: ByteCount::ZERO,
                response_bytes: ByteCount::ZERO,
                began: reader.began,
                first_byte: None,
                ended: None,
            });
            // A request without a length has no content (RFC 9112 section 6.3).
            match framing(request.headers) {
                Some(Framing::UntilClose) => return Continue::Astray,
                framing => reader.frame(framing.unwrap_or(Framing::Length(0))),
            }
            Continue::On
        }
        Event::Content(count) => {
            if let Some(transaction) = open.back_mut() {
                transaction.request_bytes += ByteCount::new(count);
            }
            Continue::On
        }
        Event::End => Continue::On,
        Event::Lost => Continue::Astray,
    }
}

/// Handles an event of the response direction.
fn on_response_event(
    event: Event,
    at: Instant,
    reader: &mut Reader,
    open: &mut VecDeque<Transaction>,
    done: &mut Vec<Transaction>,
) -> Continue {
    match event {
        Event::Head(head) => {
            let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
            let mut response = httparse::Response::new(&mut fields);
            let is_whole = matches!(response.parse(&head), Ok(httparse::Status::Complete(_)));
            let (true, Some(transaction), Some(status)) = (is_whole, open.front_mut(), response.code) else {
                return Continue::Astray;
            };
            if (100..200).contains(&status) && status != 101 {
                reader.pass_over();
                return Continue::On;
            }
            transaction.status = Some(status);
            transaction.first_byte = Some(reader.began);
            let is_tunnel = transaction.method == "CONNECT" && (200..300).contains(&status);
            if status == 101 || is_tunnel {
                complete_transaction(at, open, done);
                return Continue::Elsewhere;
            }
            let has_none = transaction.method == "HEAD" || matches!(status, 204 | 304);
            reader.frame(if has_none {
                Framing::Length(0)
            } else {
                framing(response.headers).unwrap_or(Framing::UntilClose)
            });
            Continue::On
        }
        Event::Content(count) => {
            if let Some(transaction) = open.front_mut() {
                transaction.response_bytes += ByteCount::new(count);
            }
            Continue::On
        }
        Event::End => {
            complete_transaction(at, open, done);
            Continue::On
        }
        Event::Lost => Continue::Astray,
    }
}

fn complete_transaction(at: Instant, open: &mut VecDeque<Transaction>, done: &mut Vec<Transaction>) {
    if let Some(mut transaction) = open.pop_front() {
        transaction.ended = Some(at);
        done.push(transaction);
    }
}

/// The content framing that a message's fields state (RFC 9112 section 6.3); none where they state none.
fn framing(fields: &[httparse::Header<'_>]) -> Option<Framing> {
    let values = |name: &'static str| {
        let named = fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
        named.map(|field| String::from_utf8_lossy(field.value))
    };
    if let Some(codings) = values("transfer-encoding").next_back() {
        let last = codings.rsplit(',').next().unwrap_or_default().trim();
        return Some(if last.eq_ignore_ascii_case("chunked") {
            Framing::Chunked
        } else {
            Framing::UntilClose
        });
    }
    // Several equal values count as one.
    let length = values("content-length").next()?;
    let first = length.split(',').next().unwrap_or_default().trim();
    Some(first.parse().map_or(Framing::UntilClose, Framing::Length))
}
