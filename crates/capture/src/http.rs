//! Which HTTP/1.1 transactions passed over a connection in clear: what was asked for, what came back, and how long did it take?
//!
//! Both directions are followed from the first request on. Content that was not captured (a snap length, a packet missed) is
//! counted by the length that the message states; where a head or a chunk's length is missing, the connection is given up, and
//! [`Dialogue::finish`] says so.

mod message;
#[cfg(test)]
mod tests;

use crate::datagram::Segment;
use crate::stream::{Arrival, Stream};
use crate::tcp::{Listener, Side};
use lastmile_units::{Bytes, Instant};
use message::{Event, Framing, Reader};
use std::collections::VecDeque;

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// `GET`.
    pub method: String,
    /// What was asked for, as in the request's first line; its first 1024 characters.
    pub target: String,
    /// The final response's; none where none was captured.
    pub status: Option<u16>,
    /// The request's content, without its head and framing.
    pub request_bytes: Bytes,
    /// The response's content as it was carried (content codings stay), without its head and framing.
    pub response_bytes: Bytes,
    /// When the request's first octet passed.
    pub began: Instant,
    /// When the final response's first octet passed, in its turn.
    pub first_byte: Option<Instant>,
    /// When the response's last octet passed, in its turn: where a hole had to be filled first, when it was. None where it did not.
    pub ended: Option<Instant>,
}

/// What the two sides of a connection say, if it is HTTP.
#[derive(Debug)]
pub(crate) struct Dialogue {
    state: State,
    done: Vec<Transaction>,
    lost: bool,
}

#[derive(Debug)]
enum State {
    /// No request was seen in so many segments.
    Waiting(u8),
    Following(Box<Following>),
    Over,
}

#[derive(Debug)]
struct Following {
    requester: Side,
    requests: Way,
    responses: Way,
    /// Requests whose responses are not whole, in their order (RFC 9112 section 9.3.2).
    open: VecDeque<Transaction>,
}

/// One direction.
#[derive(Debug)]
struct Way {
    stream: Stream,
    reader: Reader,
    /// Where the direction is closed.
    closed: Option<i64>,
}

/// How a connection goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    On,
    /// To another protocol.
    Elsewhere,
    Astray,
}

/// A connection without a request in so many segments with payload is not HTTP/1.1. Our own choice: what precedes a request is
/// nothing, or the head of a proxy protocol.
const WAITING_MAX: u8 = 8;
/// Requests that wait for a response: a connection with more is given up. Our own choice; nobody pipelines a tenth of it.
const OPEN_MAX: usize = 1024;
const TARGET_MAX: usize = 1024;
/// Header fields that are read: our own choice, above what servers accept.
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

impl Default for Dialogue {
    fn default() -> Self {
        Self {
            state: State::Waiting(0),
            done: Vec::new(),
            lost: false,
        }
    }
}

impl Listener for Dialogue {
    fn payload(&mut self, at: Instant, side: Side, place: i64, segment: &Segment<'_>, other: Option<i64>) {
        if let State::Waiting(segments) = &mut self.state {
            *segments += 1;
            if METHODS.iter().any(|method| segment.payload.starts_with(method)) {
                self.state = State::Following(Box::new(Following::new(side, place, other.unwrap_or(place))));
            } else if *segments == WAITING_MAX {
                self.state = State::Over;
            }
        }
        let until = place + i64::from(segment.length);
        self.follow(at, side, |stream, sink| {
            stream.arrive(place, until, segment.payload, sink);
        });
    }

    fn closed(&mut self, at: Instant, side: Side, place: i64) {
        if let State::Following(following) = &mut self.state {
            following.way(side).closed.get_or_insert(place);
            self.follow(at, side, |_, _| {});
        }
    }

    fn acknowledged(&mut self, at: Instant, side: Side, until: i64) {
        if let State::Following(following) = &mut self.state {
            let way = following.way(side);
            // A FIN takes a number, and is no octet.
            let until = way.closed.map_or(until, |closed| until.min(closed));
            if way.stream.next() < until {
                self.follow(at, side, |stream, sink| stream.pass(until, sink));
            }
        }
    }
}

impl Dialogue {
    fn follow(&mut self, at: Instant, side: Side, run: impl FnOnce(&mut Stream, &mut dyn FnMut(Arrival<'_>))) {
        let State::Following(following) = &mut self.state else {
            return;
        };
        match following.run(at, side, &mut self.done, run) {
            Goes::On => {}
            ended => {
                self.lost |= ended == Goes::Astray;
                self.give_up();
            }
        }
    }

    fn give_up(&mut self) {
        if let State::Following(following) = std::mem::replace(&mut self.state, State::Over) {
            self.done.extend(following.open);
        }
    }

    /// The transactions that came to an end since this was asked last.
    pub(crate) fn take_done(&mut self) -> std::vec::Drain<'_, Transaction> {
        self.done.drain(..)
    }

    /// The transactions left, whole or not, and whether the connection was lost sight of.
    pub(crate) fn finish(mut self) -> (Vec<Transaction>, bool) {
        self.give_up();
        (self.done, self.lost)
    }
}

impl Following {
    fn new(requester: Side, requests: i64, responses: i64) -> Self {
        let way = |next| Way {
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

    fn way(&mut self, side: Side) -> &mut Way {
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
    ) -> Goes {
        let is_request = side == self.requester;
        let way = if is_request {
            &mut self.requests
        } else {
            &mut self.responses
        };
        let (reader, open) = (&mut way.reader, &mut self.open);
        let mut goes = Goes::On;
        run(&mut way.stream, &mut |mut arrival| {
            while goes == Goes::On {
                let Some(event) = reader.read(&mut arrival, at) else {
                    break;
                };
                goes = if is_request {
                    request(event, reader, open)
                } else {
                    response(event, at, reader, open, done)
                };
            }
        });
        if goes == Goes::On
            && way.closed.is_some_and(|closed| way.stream.next() >= closed)
            && way.reader.close()
            && !is_request
        {
            end(at, open, done);
        }
        goes
    }
}

/// What a request's reader came upon.
fn request(event: Event, reader: &mut Reader, open: &mut VecDeque<Transaction>) -> Goes {
    match event {
        Event::Head(head) => {
            let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
            let mut request = httparse::Request::new(&mut fields);
            if !matches!(request.parse(&head), Ok(httparse::Status::Complete(_))) || open.len() == OPEN_MAX {
                return Goes::Astray;
            }
            open.push_back(Transaction {
                method: request.method.unwrap_or_default().to_owned(),
                target: request.path.unwrap_or_default().chars().take(TARGET_MAX).collect(),
                status: None,
                request_bytes: Bytes::ZERO,
                response_bytes: Bytes::ZERO,
                began: reader.began,
                first_byte: None,
                ended: None,
            });
            // A request without a length has no content (RFC 9112 section 6.3).
            match framing(request.headers) {
                Some(Framing::UntilClose) => return Goes::Astray,
                framing => reader.frame(framing.unwrap_or(Framing::Length(0))),
            }
            Goes::On
        }
        Event::Content(count) => {
            if let Some(transaction) = open.back_mut() {
                transaction.request_bytes += Bytes::new(count);
            }
            Goes::On
        }
        Event::End => Goes::On,
        Event::Lost => Goes::Astray,
    }
}

/// What a response's reader came upon.
fn response(
    event: Event,
    at: Instant,
    reader: &mut Reader,
    open: &mut VecDeque<Transaction>,
    done: &mut Vec<Transaction>,
) -> Goes {
    match event {
        Event::Head(head) => {
            let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
            let mut response = httparse::Response::new(&mut fields);
            let is_whole = matches!(response.parse(&head), Ok(httparse::Status::Complete(_)));
            let (true, Some(transaction), Some(status)) = (is_whole, open.front_mut(), response.code) else {
                return Goes::Astray;
            };
            if (100..200).contains(&status) && status != 101 {
                reader.pass_over();
                return Goes::On;
            }
            transaction.status = Some(status);
            transaction.first_byte = Some(reader.began);
            let is_tunnel = transaction.method == "CONNECT" && (200..300).contains(&status);
            if status == 101 || is_tunnel {
                end(at, open, done);
                return Goes::Elsewhere;
            }
            let has_none = transaction.method == "HEAD" || matches!(status, 204 | 304);
            reader.frame(if has_none {
                Framing::Length(0)
            } else {
                framing(response.headers).unwrap_or(Framing::UntilClose)
            });
            Goes::On
        }
        Event::Content(count) => {
            if let Some(transaction) = open.front_mut() {
                transaction.response_bytes += Bytes::new(count);
            }
            Goes::On
        }
        Event::End => {
            end(at, open, done);
            Goes::On
        }
        Event::Lost => Goes::Astray,
    }
}

fn end(at: Instant, open: &mut VecDeque<Transaction>, done: &mut Vec<Transaction>) {
    if let Some(mut transaction) = open.pop_front() {
        transaction.ended = Some(at);
        done.push(transaction);
    }
}

/// How a message's fields say that its content is framed (RFC 9112 section 6.3); none where they do not say.
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
    // Several that are alike count as one.
    let length = values("content-length").next()?;
    let first = length.split(',').next().unwrap_or_default().trim();
    Some(first.parse().map_or(Framing::UntilClose, Framing::Length))
}
