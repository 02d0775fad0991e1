//! The simulated servers: each sends the bytes of an order after its think time and CPU time, behind a head of the recorded size.

use crate::scripted_response::{PageScript, ScriptedResponse};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderName, HeaderValue};
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame, SizeHint};
use lastmile_codec::content::Coding;
use lastmile_units::ByteCount;
use lastmile_world::Host;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A body that is compressed on request is sent in pieces of this much compressed text, while the rest is compressed: the buffer that
/// servers fill before they send a TLS record (nginx `ssl_buffer_size`, and the largest record by RFC 8446 section 5.1).
pub const PIECE: u64 = 16 * 1024;

/// Uncompressed bodies are sent in pieces of this size.
const READY_PIECE: u64 = 64 * 1024;

/// The path that requests bytes to warm a connection with, followed by their number.
const WARMING: &str = "/warm/";

static ZEROS: [u8; READY_PIECE as usize] = [0; READY_PIECE as usize];

/// The request for an order, by its index.
pub(crate) fn request(index: usize, order: &ScriptedResponse) -> Request<http_body_util::Empty<Bytes>> {
    let mut request = get(&format!("/{index}"));
    // "GET " path " HTTP/1.1" CRLF, "host: " name CRLF, CRLF.
    let written = 4 + request.uri().path().len() + 11 + 8 + HOST.len() + 2;
    pad(request.headers_mut(), order.request_head, written);
    request
}

/// A request for `size` bytes.
pub(crate) fn warming(size: ByteCount) -> Request<http_body_util::Empty<Bytes>> {
    get(&format!("{WARMING}{}", size.get()))
}

/// The name of every server, so that the name does not change the size of a head.
const HOST: &str = "server";

fn get(path: &str) -> Request<http_body_util::Empty<Bytes>> {
    Request::get(format!("https://{HOST}{path}"))
        .header(http::header::HOST, HOST)
        .body(http_body_util::Empty::new())
        .expect("a path of letters and digits makes a request")
}

/// Answers a request with the order that its path names.
pub(crate) async fn answer<H: Host, B>(
    host: Rc<H>,
    script: Rc<PageScript>,
    request: Request<B>,
) -> Response<SimulatedBody<H>> {
    let path = request.uri().path();
    if let Some(size) = path.strip_prefix(WARMING).and_then(|size| size.parse().ok()) {
        return Response::new(SimulatedBody::zeros(host, ByteCount::new(size)));
    }
    let index: Option<usize> = path.strip_prefix('/').and_then(|index| index.parse().ok());
    let order = index
        .and_then(|index| script.responses.get(index))
        .expect("a client asks for what was ordered");
    if !order.server_think_time.is_zero() {
        host.sleep_until(host.now() + order.server_think_time).await;
    }
    host.compute(order.exchange.serving).await;
    let mut body = SimulatedBody::new(host, order);
    // Servers hold a head back until the body's first bytes are there (nginx's `postpone_output`), and send both in one segment.
    body.make_first_piece().await;
    let mut response = Response::new(body);
    // The status line, `date` and the empty line; then the field that delimits the body.
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

/// The size of the fields that pad a head to its size. They repeat from message to message, so that HTTP/2 can refer to them (RFC 7541
/// section 2.3.2) as it does to the fields that real messages repeat; the rest is new every time.
const PIECE_OF_HEAD: usize = 64;

/// The limits on the number of padding fields (they become longer instead) and on the size of a head. Both are below hyper's limits.
const FIELDS_MAX: usize = 60;
const HEAD_BYTES_MAX: usize = 12_000;

/// Adds fields until a head of `written` bytes has the size `wanted` in HTTP/1.1; a difference smaller than the shortest field remains.
pub(crate) fn pad(headers: &mut HeaderMap, wanted: ByteCount, written: usize) {
    let mut missing = (wanted.get() as usize).min(HEAD_BYTES_MAX).saturating_sub(written);
    let piece = PIECE_OF_HEAD.max(missing.div_ceil(FIELDS_MAX));
    let mut number = 0;
    while missing >= FIELD_BYTES_MIN {
        // Leave no remainder that is too short for a field.
        let rest = missing.saturating_sub(piece);
        let size = if rest > 0 && rest < FIELD_BYTES_MIN {
            missing
        } else {
            missing.min(piece)
        };
        let name = HeaderName::from_bytes(format!("x-{number:02}").as_bytes()).expect("the name is one of a field");
        let value: String = LETTERS
            .chars()
            .cycle()
            .skip(number)
            .take(size - FIELD_BYTES_MIN)
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
const FIELD_BYTES_MIN: usize = 8;

/// The characters of values: HTTP/2's Huffman code (RFC 7541 appendix B) shortens them about as much as text.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

/// A body of zeros that takes CPU time to make. It is made and sent piece by piece, the next while the last is in flight, as servers
/// compress while they send; output is assumed to be proportional to input.
pub(crate) struct SimulatedBody<H> {
    host: Rc<H>,
    size: ByteCount,
    /// Whether it is compressed while the client waits, so that its size is not known beforehand.
    coding: bool,
    /// The CPU time for compressing it and encrypting it into records.
    work: Duration,
    /// The size of all pieces but the last.
    piece: u64,
    /// The bytes made.
    made: u64,
    /// The bytes made but not yet sent.
    waiting: u64,
    sent: u64,
    computing: Option<Pin<Box<dyn Future<Output = ()>>>>,
}

impl<H: Host> SimulatedBody<H> {
    fn new(host: Rc<H>, order: &ScriptedResponse) -> Self {
        let coding = !order.encoding.is_zero();
        Self {
            coding,
            work: order.encoding + order.exchange.sealing,
            piece: if coding { PIECE } else { READY_PIECE },
            ..Self::zeros(host, order.size)
        }
    }

    /// `size` bytes that cost nothing to make.
    fn zeros(host: Rc<H>, size: ByteCount) -> Self {
        Self {
            host,
            size,
            coding: false,
            work: Duration::ZERO,
            piece: READY_PIECE,
            made: 0,
            waiting: 0,
            sent: 0,
            computing: None,
        }
    }

    async fn make_first_piece(&mut self) {
        let work = self.work_of_piece();
        self.host.compute(work).await;
        self.take_piece();
    }

    fn next_piece(&self) -> u64 {
        self.piece.min(self.size.get() - self.made)
    }

    /// The CPU time that the next piece takes: the pieces add up to the whole.
    fn work_of_piece(&self) -> Duration {
        let size = u128::from(self.size.get().max(1));
        let until = |made: u64| u128::from(made) * self.work.as_nanos() / size;
        Duration::from_nanos((until(self.made + self.next_piece()) - until(self.made)) as u64)
    }

    /// The next piece is made, and waits to be sent.
    fn take_piece(&mut self) {
        self.waiting = self.next_piece();
        self.made += self.waiting;
    }
}

impl<H: Host> Body for SimulatedBody<H> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        while this.waiting == 0 {
            if this.made == this.size.get() {
                return Poll::Ready(None);
            }
            if !this.work.is_zero() {
                let work = this.work_of_piece();
                let computing = this.computing.get_or_insert_with(|| Box::pin(this.host.compute(work)));
                ready!(computing.as_mut().poll(context));
                this.computing = None;
            }
            this.take_piece();
        }
        let next = this.waiting.min(READY_PIECE);
        this.waiting -= next;
        this.sent += next;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&ZEROS[..next as usize])))))
    }

    fn is_end_stream(&self) -> bool {
        self.made == self.size.get() && self.waiting == 0
    }

    fn size_hint(&self) -> SizeHint {
        // A server that compresses while it sends does not know the size beforehand.
        if self.coding {
            SizeHint::default()
        } else {
            SizeHint::with_exact(self.size.get() - self.sent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of the fields in HTTP/1.1.
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
            pad(&mut headers, ByteCount::new(wanted), 100);
            assert_eq!(100 + written(&headers) as u64, wanted);
            assert!(headers.len() <= FIELDS_MAX);
        }
    }

    #[test]
    fn a_head_is_never_cut_and_never_too_long() {
        let size = |wanted| {
            let mut headers = HeaderMap::new();
            pad(&mut headers, ByteCount::new(wanted), 100);
            100 + written(&headers)
        };
        assert_eq!((size(0), size(107), size(1_000_000)), (100, 100, HEAD_BYTES_MAX));
    }
}
