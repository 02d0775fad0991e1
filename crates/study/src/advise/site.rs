//! What does a server send? As many octets as an order says, after as much thinking and computing, behind a head of the recorded size.

use super::order::Order;
use bytes::Bytes as Octets;
use http::header::{CONTENT_ENCODING, HeaderName, HeaderValue};
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame, SizeHint};
use lastmile_payload::codec::Coding;
use lastmile_units::Bytes;
use lastmile_world::Host;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A body is coded in pieces of this much plain text, each sent as soon as it is made: our own choice, about what a server reads from
/// a file or an upstream at a time.
pub(super) const PIECE: u64 = 16 * 1024;

/// What is not coded is handed over in pieces of this size.
const READY_PIECE: u64 = 64 * 1024;

/// The path that asks for octets to warm a connection with, and how their number follows.
const WARMING: &str = "/warm/";

static ZEROS: [u8; READY_PIECE as usize] = [0; READY_PIECE as usize];

/// The request for an order, by its place.
pub(super) fn request(place: usize, order: &Order) -> Request<http_body_util::Empty<Octets>> {
    let mut request = get(&format!("/{place}"));
    // "GET " path " HTTP/1.1" CRLF, "host: " name CRLF, CRLF.
    let written = 4 + request.uri().path().len() + 11 + 8 + HOST.len() + 2;
    pad(request.headers_mut(), order.request_head, written);
    request
}

/// A request for so many octets.
pub(super) fn warming(size: Bytes) -> Request<http_body_util::Empty<Octets>> {
    get(&format!("{WARMING}{}", size.get()))
}

/// The name of every server, so that no head is longer for a longer name.
const HOST: &str = "server";

fn get(path: &str) -> Request<http_body_util::Empty<Octets>> {
    Request::get(format!("https://{HOST}{path}"))
        .header(http::header::HOST, HOST)
        .body(http_body_util::Empty::new())
        .expect("a path of letters and digits makes a request")
}

/// Answers a request: with the order that its path names.
pub(super) async fn answer<H: Host, B>(host: Rc<H>, orders: Rc<[Order]>, request: Request<B>) -> Response<Coded<H>> {
    let path = request.uri().path();
    if let Some(size) = path.strip_prefix(WARMING).and_then(|size| size.parse().ok()) {
        return Response::new(Coded::of_zeros(host, Bytes::new(size)));
    }
    let place: Option<usize> = path.strip_prefix('/').and_then(|place| place.parse().ok());
    let order = place
        .and_then(|place| orders.get(place))
        .expect("a client asks for what was ordered");
    if !order.think.is_zero() {
        host.sleep_until(host.now() + order.think).await;
    }
    host.compute(order.exchange.serving).await;
    let mut response = Response::new(Coded::new(host, order));
    // The status line, `date` and the empty line; then what tells how the body ends.
    let mut written = 17 + 37 + 2;
    written += match response.body().size_hint().exact() {
        Some(size) => "content-length: \r\n".len() + size.to_string().len(),
        None => "transfer-encoding: chunked\r\n".len(),
    };
    let headers = response.headers_mut();
    if order.coding != Coding::Identity {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(order.coding.token()));
        written += "content-encoding: \r\n".len() + order.coding.token().len();
    }
    pad(headers, order.response_head, written);
    response
}

/// Of what the fields that bring a head to its size are made: pieces that repeat from message to message, so that HTTP/2 can refer to
/// them (RFC 7541 section 2.3.2) as it does to the fields that real messages repeat; the rest is new every time.
const PIECE_OF_HEAD: usize = 64;

/// More fields than that are not sent, in longer pieces; a head is no longer than that. Both are below what hyper accepts.
const MOST_FIELDS: usize = 60;
const LONGEST_HEAD: usize = 12_000;

/// Adds fields until a head of `written` octets has the size `wanted`, as HTTP/1.1 writes it; what is short by less than the shortest
/// field stays so.
fn pad(headers: &mut HeaderMap, wanted: Bytes, written: usize) {
    let mut missing = (wanted.get() as usize).min(LONGEST_HEAD).saturating_sub(written);
    let piece = PIECE_OF_HEAD.max(missing.div_ceil(MOST_FIELDS));
    let mut number = 0;
    while missing >= SHORTEST_FIELD {
        // Leave no rest that is too short to be a field.
        let rest = missing.saturating_sub(piece);
        let size = if rest > 0 && rest < SHORTEST_FIELD {
            missing
        } else {
            missing.min(piece)
        };
        let name = HeaderName::from_bytes(format!("x-{number:02}").as_bytes()).expect("the name is one of a field");
        let value: String = LETTERS
            .chars()
            .cycle()
            .skip(number)
            .take(size - SHORTEST_FIELD)
            .collect();
        headers.insert(
            name,
            HeaderValue::from_str(&value).expect("letters and digits make a value"),
        );
        missing -= size;
        number += 1;
    }
}

/// `x-00: ` and the end of the line.
const SHORTEST_FIELD: usize = 8;

/// What values are made of: HTTP/2's Huffman code (RFC 7541 appendix B) shortens it about as much as text.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// A body of zeros that takes time to make. It is made and sent piece by piece, the next while the last is on its way, as servers code
/// what they send; output is taken to come in proportion to input.
pub(super) struct Coded<H> {
    host: Rc<H>,
    size: Bytes,
    /// Whether it is coded while the client waits: then its size is not known beforehand.
    coding: bool,
    /// Coding it and sealing it into records.
    work: Duration,
    pieces: u64,
    /// How many pieces were made.
    made: u64,
    /// How much of them is not handed over yet.
    waiting: u64,
    computing: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl<H: Host> Coded<H> {
    fn new(host: Rc<H>, order: &Order) -> Self {
        let coding = !order.encoding.is_zero();
        let pieces = if coding {
            order.plain.get().div_ceil(PIECE)
        } else {
            order.size.get().div_ceil(READY_PIECE)
        };
        Self {
            coding,
            work: order.encoding + order.exchange.sealing,
            pieces: pieces.max(1),
            ..Self::of_zeros(host, order.size)
        }
    }

    /// So many octets that cost nothing to make.
    fn of_zeros(host: Rc<H>, size: Bytes) -> Self {
        Self {
            host,
            size,
            coding: false,
            work: Duration::ZERO,
            pieces: 1,
            made: 0,
            waiting: 0,
            computing: None,
        }
    }

    /// The `number`th part of a total: the parts add up to it exactly.
    fn part(&self, total: u64) -> u64 {
        let until = |made: u64| (u128::from(total) * u128::from(made) / u128::from(self.pieces)) as u64;
        until(self.made + 1) - until(self.made)
    }
}

impl<H: Host> Body for Coded<H> {
    type Data = Octets;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Octets>, Infallible>>> {
        let this = self.get_mut();
        while this.waiting == 0 {
            if this.made == this.pieces {
                return Poll::Ready(None);
            }
            if !this.work.is_zero() {
                let work = Duration::from_nanos(this.part(this.work.as_nanos() as u64));
                let computing = this.computing.get_or_insert_with(|| Box::pin(this.host.compute(work)));
                ready!(computing.as_mut().poll(context));
                this.computing = None;
            }
            this.waiting = this.part(this.size.get());
            this.made += 1;
        }
        let next = this.waiting.min(READY_PIECE);
        this.waiting -= next;
        Poll::Ready(Some(Ok(Frame::data(Octets::from_static(&ZEROS[..next as usize])))))
    }

    fn is_end_stream(&self) -> bool {
        self.made == self.pieces && self.waiting == 0 || self.size == Bytes::ZERO
    }

    fn size_hint(&self) -> SizeHint {
        // A server that codes as it sends does not know how much it will be.
        if !self.coding && self.made == 0 {
            SizeHint::with_exact(self.size.get())
        } else {
            SizeHint::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What HTTP/1.1 writes for the fields.
    fn written(headers: &HeaderMap) -> usize {
        headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum()
    }

    #[test]
    fn a_head_is_brought_to_its_size_exactly() {
        for wanted in [108, 163, 164, 165, 171, 172, 173, 500, 4_000, 11_999] {
            let mut headers = HeaderMap::new();
            pad(&mut headers, Bytes::new(wanted), 100);
            assert_eq!(100 + written(&headers) as u64, wanted);
            assert!(headers.len() <= MOST_FIELDS);
        }
    }

    #[test]
    fn a_head_is_never_cut_and_never_too_long() {
        let size = |wanted| {
            let mut headers = HeaderMap::new();
            pad(&mut headers, Bytes::new(wanted), 100);
            100 + written(&headers)
        };
        assert_eq!((size(0), size(107), size(1_000_000)), (100, 100, LONGEST_HEAD));
    }
}
