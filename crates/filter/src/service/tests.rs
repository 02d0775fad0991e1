use super::*;
use crate::script::{Given, Meter, Script, Step, finish, read};
use crate::{CompressionLayer, MediaTypes, Operation, Policy, recode};
use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CONTENT_ENCODING, ETAG, VARY};
use http::{HeaderMap, Version};
use http_body_util::{Empty, Full};
use lastmile_payload::codec::{Coding, Decoder, decode, encode};
use lastmile_units::Bytes as Length;
use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::rc::Rc;
use tower_layer::Layer;

/// A handler that answers at once.
struct Handler<H>(H);

impl<H: FnMut(&Request<()>) -> Response<B>, B> Service<Request<()>> for Handler<H> {
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Ready<Result<Response<B>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        ready(Ok((self.0)(&request)))
    }
}

/// What a client got.
struct Got<E> {
    status: StatusCode,
    headers: HeaderMap,
    body: Given<E>,
}

impl<E> Got<E> {
    fn field(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn coding(&self) -> &str {
        self.field(CONTENT_ENCODING).unwrap_or("identity")
    }

    /// The content as the handler made it.
    fn content(&self) -> Vec<u8> {
        decode(
            Coding::from_token(self.coding()).unwrap(),
            &self.body.data(),
            Length::new(1 << 30),
        )
        .unwrap()
    }
}

fn ask<C: Compute, B: Body>(
    layer: &CompressionLayer<C>,
    handler: impl FnMut(&Request<()>) -> Response<B>,
    request: Request<()>,
) -> Got<B::Error> {
    let response = finish(layer.layer(Handler(handler)).call(request)).0.unwrap();
    let (head, body) = response.into_parts();
    Got {
        status: head.status,
        headers: head.headers,
        body: read(body),
    }
}

fn get(fields: &[(&str, &str)]) -> Request<()> {
    fields
        .iter()
        .fold(Request::get("/"), |request, (name, value)| {
            request.header(*name, *value)
        })
        .body(())
        .unwrap()
}

fn head(fields: &[(&str, &str)]) -> Request<()> {
    let mut request = get(fields);
    *request.method_mut() = Method::HEAD;
    request
}

const GZIP: (&str, &str) = ("accept-encoding", "gzip");
const ANY: (&str, &str) = ("accept-encoding", "gzip, br, zstd");

/// Text that is worth coding and takes more than one piece.
fn text() -> Vec<u8> {
    (0..6000_u32)
        .flat_map(|line| format!("line {line}, {}\n", line.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

fn plain(body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    respond_with(&[("content-type", "text/plain")], Full::new(body.into()))
}

fn respond_with<B>(fields: &[(&str, &str)], body: B) -> Response<B> {
    fields
        .iter()
        .fold(Response::builder(), |response, (name, value)| {
            response.header(*name, *value)
        })
        .body(body)
        .unwrap()
}

fn streamed() -> CompressionLayer {
    CompressionLayer::new(Policy::default())
}

fn with(change: impl FnOnce(&mut Policy)) -> CompressionLayer {
    let mut policy = Policy::default();
    change(&mut policy);
    CompressionLayer::new(policy)
}

#[test]
fn every_coding_on_offer_gives_the_content_back() {
    let layer = with(|policy| {
        policy.offered = ["gzip:6", "deflate:6", "br:4", "zstd:3"]
            .map(|codec| codec.parse().unwrap())
            .to_vec();
    });
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let got = ask(&layer, |_| plain(text()), get(&[("accept-encoding", coding)]));
        assert_eq!((got.coding(), got.field(CONTENT_LENGTH)), (coding, None));
        assert_eq!(got.content(), text());
        assert!(got.body.data().len() < text().len() / 2);
    }
}

// Accept-Encoding, as servers get it wrong.

#[test]
fn a_second_accept_encoding_line_counts() {
    let request = get(&[("accept-encoding", "compress"), ("accept-encoding", "gzip")]);
    assert_eq!(ask(&streamed(), |_| plain(text()), request).coding(), "gzip");
}

#[test]
fn a_weight_may_be_written_with_a_capital_q() {
    assert_eq!(
        ask(&streamed(), |_| plain(text()), get(&[("accept-encoding", "gzip;Q=1")])).coding(),
        "gzip"
    );
}

#[test]
fn a_star_gets_a_coding_and_a_higher_weight_of_identity_gets_none() {
    assert_eq!(
        ask(&streamed(), |_| plain(text()), get(&[("accept-encoding", "*")])).coding(),
        "zstd"
    );
    assert_eq!(
        ask(
            &streamed(),
            |_| plain(text()),
            get(&[("accept-encoding", "gzip;q=0.5, identity")])
        )
        .coding(),
        "identity"
    );
}

#[test]
fn a_client_of_http_1_0_gets_a_coding_too() {
    let mut request = get(&[GZIP]);
    *request.version_mut() = Version::HTTP_10;
    assert_eq!(ask(&streamed(), |_| plain(text()), request).coding(), "gzip");
}

#[test]
fn identity_among_those_on_offer_changes_nothing() {
    let layer = with(|policy| policy.offered = vec![CodecSpec::IDENTITY, "gzip:6".parse().unwrap()]);
    assert_eq!(ask(&layer, |_| plain(text()), get(&[ANY])).coding(), "gzip");
    assert_eq!(
        ask(&layer, |_| plain(text()), get(&[("accept-encoding", "br")])).coding(),
        "identity"
    );
    let layer = with(|policy| policy.offered = vec![CodecSpec::IDENTITY]);
    assert_eq!(
        ask(&layer, |_| plain(text()), get(&[("accept-encoding", "*")])).coding(),
        "identity"
    );
}

#[test]
fn each_coding_has_its_own_level() {
    let layer = with(|policy| policy.offered = ["gzip:1", "br:9"].map(|codec| codec.parse().unwrap()).to_vec());
    for (coding, codec) in [("gzip", "gzip:1"), ("br", "br:9")] {
        let got = ask(&layer, |_| plain(text()), get(&[("accept-encoding", coding)]));
        assert_eq!(got.body.data(), encode(codec.parse().unwrap(), &text()));
    }
}

#[test]
fn a_request_that_accepts_nothing_is_refused_before_the_handler_runs() {
    let calls = Cell::new(0);
    let handler = |_: &Request<()>| {
        calls.set(calls.get() + 1);
        plain(text())
    };
    let got = ask(&streamed(), handler, get(&[("accept-encoding", "identity;q=0")]));
    assert_eq!((got.status, calls.get()), (StatusCode::NOT_ACCEPTABLE, 0));
    assert_eq!(got.field(VARY), Some("Accept-Encoding"));
    assert!(got.body.frames.is_empty());
}

#[test]
fn a_refusal_of_identity_overrules_the_minimum_size_but_not_a_ban_on_coding() {
    let refusal = [("accept-encoding", "gzip, identity;q=0")];
    let got = ask(&streamed(), |_| plain("short"), get(&refusal));
    assert_eq!((got.coding(), got.content()), ("gzip", b"short".to_vec()));
    let image = |_: &Request<()>| respond_with(&[("content-type", "image/png")], Full::new(Bytes::from(text())));
    let got = ask(&streamed(), image, get(&refusal));
    assert_eq!((got.status, got.coding()), (StatusCode::OK, "identity"));
    let got = ask(
        &streamed(),
        |_| plain(text()),
        get(&[("accept-encoding", "identity;q=0"), ("cache-control", "no-transform")]),
    );
    assert_eq!((got.status, got.coding()), (StatusCode::OK, "identity"));
}

// Vary, entity tags, and what else the head says.

#[test]
fn a_response_that_is_coded_for_some_says_vary_to_all() {
    for fields in [
        &[][..],
        &[GZIP],
        &[("accept-encoding", "identity")],
        &[GZIP, ("cache-control", "no-transform")],
    ] {
        assert_eq!(
            ask(&streamed(), |_| plain(text()), get(fields)).field(VARY),
            Some("Accept-Encoding"),
            "{fields:?}"
        );
        assert_eq!(
            ask(&streamed(), |_| plain("short"), get(fields)).field(VARY),
            Some("Accept-Encoding"),
            "{fields:?}"
        );
    }
    let image = |_: &Request<()>| respond_with(&[("content-type", "image/png")], Full::new(Bytes::from(text())));
    assert_eq!(ask(&streamed(), image, get(&[GZIP])).field(VARY), None);
}

#[test]
fn no_transform_is_obeyed_in_responses_and_in_requests() {
    let handler = |_: &Request<()>| {
        let fields = [
            ("content-type", "text/plain"),
            ("cache-control", "public, no-transform"),
            ("etag", "\"x\""),
        ];
        respond_with(&fields, Full::new(Bytes::from(text())))
    };
    let got = ask(&streamed(), handler, get(&[GZIP]));
    assert_eq!(
        (got.coding(), got.field(ETAG), got.field(VARY)),
        ("identity", Some("\"x\""), None)
    );
    assert_eq!(
        ask(
            &streamed(),
            |_| plain(text()),
            get(&[GZIP, ("cache-control", "no-transform")])
        )
        .coding(),
        "identity"
    );
}

#[test]
fn what_the_handler_coded_itself_is_left_alone() {
    let coded = encode("gzip:6".parse().unwrap(), &text());
    let fields = [
        ("content-type", "text/plain"),
        ("content-encoding", "gzip"),
        ("etag", "\"x\""),
    ];
    let got = ask(
        &streamed(),
        |_| respond_with(&fields, Full::new(Bytes::from(coded.clone()))),
        get(&[ANY]),
    );
    assert_eq!(
        (got.coding(), got.field(ETAG), got.body.data()),
        ("gzip", Some("\"x\""), coded)
    );
}

/// A handler with the entity tag `"x"` that evaluates `If-None-Match` by weak comparison (RFC 9110, section 13.1.2).
fn tagged(request: &Request<()>) -> Response<Full<Bytes>> {
    let mut response = respond_with(
        &[("content-type", "text/plain"), ("etag", "\"x\"")],
        Full::new(Bytes::from(text())),
    );
    let tags = request
        .headers()
        .get_all(IF_NONE_MATCH)
        .iter()
        .flat_map(|line| line.to_str().unwrap().split(','));
    if tags
        .map(str::trim)
        .any(|tag| tag.strip_prefix("W/").unwrap_or(tag) == "\"x\"")
    {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Full::default();
        response.headers_mut().remove("content-type");
    }
    response
}

#[test]
fn a_strong_tag_neither_stops_coding_nor_stays_strong() {
    let tags = [GZIP, ("accept-encoding", "br"), ("accept-encoding", "identity")].map(|accept| {
        let got = ask(&streamed(), tagged, get(&[accept]));
        (got.coding().to_owned(), got.field(ETAG).unwrap().to_owned())
    });
    let expected = [("gzip", "W/\"x\""), ("br", "W/\"x\""), ("identity", "\"x\"")];
    assert_eq!(tags, expected.map(|(coding, tag)| (coding.to_owned(), tag.to_owned())));
}

#[test]
fn the_tag_of_a_coded_response_revalidates_it() {
    let tag = ask(&streamed(), tagged, get(&[GZIP])).field(ETAG).unwrap().to_owned();
    let got = ask(
        &streamed(),
        tagged,
        get(&[GZIP, ("if-none-match", &format!("\"y\", {tag}"))]),
    );
    assert_eq!(got.status, StatusCode::NOT_MODIFIED);
    assert_eq!(
        (got.field(ETAG), got.field(VARY)),
        (Some("W/\"x\""), Some("Accept-Encoding"))
    );
    assert_eq!(got.field(CONTENT_ENCODING), None);
    assert!(got.body.frames.is_empty());
}

#[test]
fn a_304_keeps_the_strong_tag_of_a_client_that_holds_the_uncoded_response() {
    for accept in [GZIP, ("accept-encoding", "identity")] {
        let got = ask(&streamed(), tagged, get(&[accept, ("if-none-match", "\"x\"")]));
        assert_eq!((got.status, got.field(ETAG)), (StatusCode::NOT_MODIFIED, Some("\"x\"")));
    }
}

#[test]
fn a_part_is_not_coded_and_keeps_its_strong_tag() {
    let handler = |_: &Request<()>| {
        let fields = [
            ("content-type", "text/plain"),
            ("content-range", "bytes 0-999/5000"),
            ("etag", "\"x\""),
        ];
        let mut response = respond_with(&fields, Full::new(Bytes::from(vec![b'a'; 1000])));
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        response
    };
    let got = ask(&streamed(), handler, get(&[GZIP, ("range", "bytes=0-999")]));
    assert_eq!(
        (got.coding(), got.field(ETAG), got.field(VARY)),
        ("identity", Some("\"x\""), Some("Accept-Encoding"))
    );
    assert_eq!(got.body.data(), vec![b'a'; 1000]);
}

#[test]
fn digests_ranges_and_length_of_the_uncoded_content_do_not_survive_coding() {
    let fields = [
        ("content-type", "text/plain"),
        ("content-length", "1000"),
        ("accept-ranges", "bytes"),
        ("content-md5", "AAAA"),
        ("digest", "sha-256=AAAA"),
        ("content-digest", "sha-256=:AAAA:"),
        ("repr-digest", "sha-256=:AAAA:"),
    ];
    let handler = |_: &Request<()>| respond_with(&fields, Full::new(Bytes::from(vec![b'a'; 1000])));
    let got = ask(&streamed(), handler, get(&[GZIP]));
    let names: Vec<_> = got.headers.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(
        ["content-type", "content-encoding", "vary"]
            .iter()
            .all(|name| names.contains(name)),
        "{names:?}"
    );
    let got = ask(&streamed(), handler, get(&[]));
    assert_eq!(
        (got.headers.len(), got.field(ACCEPT_RANGES)),
        (fields.len() + 1, Some("bytes"))
    );
}

#[test]
fn a_head_response_has_the_fields_of_the_get_response() {
    let handler = |request: &Request<()>| {
        let length = text().len().to_string();
        let fields = [
            ("content-type", "text/plain"),
            ("content-length", &*length),
            ("etag", "\"x\""),
            ("accept-ranges", "bytes"),
        ];
        let body = if request.method() == Method::HEAD {
            Bytes::new()
        } else {
            text().into()
        };
        respond_with(&fields, Full::new(body))
    };
    for accept in ["gzip", "br", "identity", "compress", "gzip;q=0, *", "identity;q=0"] {
        let accept = [("accept-encoding", accept)];
        let (of_get, of_head) = (
            ask(&streamed(), handler, get(&accept)),
            ask(&streamed(), handler, head(&accept)),
        );
        assert_eq!(
            (of_get.status, &of_get.headers),
            (of_head.status, &of_head.headers),
            "{accept:?}"
        );
        assert!(of_head.body.frames.is_empty(), "{accept:?}");
    }
}

#[test]
fn a_head_response_of_short_content_says_what_the_get_response_says() {
    let handler = |request: &Request<()>| {
        let body = if request.method() == Method::HEAD {
            Bytes::new()
        } else {
            Bytes::from_static(b"short")
        };
        respond_with(
            &[("content-type", "text/plain"), ("content-length", "5")],
            Full::new(body),
        )
    };
    let (of_get, of_head) = (
        ask(&streamed(), handler, get(&[GZIP])),
        ask(&streamed(), handler, head(&[GZIP])),
    );
    assert_eq!(of_get.headers, of_head.headers);
    assert_eq!(of_head.field(CONTENT_LENGTH), Some("5"));
}

#[test]
fn empty_content_stays_empty() {
    let handler = |_: &Request<()>| respond_with(&[("content-type", "text/plain")], Empty::<Bytes>::new());
    for accept in ["gzip", "gzip, identity;q=0"] {
        let got = ask(&streamed(), handler, get(&[("accept-encoding", accept)]));
        assert_eq!((got.coding(), got.body.data()), ("identity", Vec::new()));
    }
}

#[test]
fn the_predicate_sees_the_request_and_the_response() {
    let layer = streamed().only_if(|request, response| {
        !request.headers.contains_key("cookie") && response.headers.get("set-cookie").is_none()
    });
    let got = ask(&layer, |_| plain(text()), get(&[GZIP]));
    assert_eq!((got.coding(), got.field(VARY)), ("gzip", Some("Accept-Encoding")));
    let got = ask(&layer, |_| plain(text()), get(&[GZIP, ("cookie", "secret")]));
    assert_eq!((got.coding(), got.field(VARY)), ("identity", None));
    let cookie = |_: &Request<()>| {
        respond_with(
            &[("content-type", "text/plain"), ("set-cookie", "s")],
            Full::new(Bytes::from(text())),
        )
    };
    assert_eq!(ask(&layer, cookie, get(&[GZIP])).coding(), "identity");
}

#[test]
fn a_policy_may_code_every_type() {
    let layer = with(|policy| policy.media_types = MediaTypes::all());
    assert_eq!(
        ask(
            &layer,
            |_| respond_with(&[], Full::new(Bytes::from(text()))),
            get(&[GZIP])
        )
        .coding(),
        "gzip"
    );
}

// Content as it flows.

fn script(fields: &[(&str, &str)], steps: impl IntoIterator<Item = Step>) -> Response<Script> {
    respond_with(fields, Script::new(steps))
}

const TEXT: [(&str, &str); 1] = [("content-type", "text/plain")];

#[test]
fn a_short_first_chunk_does_not_decide_for_the_whole() {
    let body = || Script::new([Step::Data(b"a".to_vec()), Step::Pause, Step::Data(text())]);
    let got = ask(&streamed(), |_| respond_with(&TEXT, body()), get(&[GZIP]));
    assert_eq!(got.coding(), "gzip");
    assert_eq!(got.content(), [b"a".to_vec(), text()].concat());
}

#[test]
fn known_length_under_the_minimum_is_not_coded_and_at_the_minimum_it_is() {
    let layer = with(|policy| policy.minimum_size = Length::new(500));
    assert_eq!(
        ask(&layer, |_| plain(vec![b'a'; 499]), get(&[GZIP])).coding(),
        "identity"
    );
    assert_eq!(ask(&layer, |_| plain(vec![b'a'; 500]), get(&[GZIP])).coding(), "gzip");
}

/// Whether each of two chunks can be decoded before the handler goes on.
fn chunks_come_through(layer: &CompressionLayer, media_type: &str, coding: &str) -> bool {
    let (first, second) = (b"data: one\n\n", b"data: two\n\n");
    let steps = [
        Step::Data(first.to_vec()),
        Step::Pause,
        Step::Data(second.to_vec()),
        Step::Pause,
    ];
    let got = ask(
        layer,
        |_| script(&[("content-type", media_type)], steps.clone()),
        get(&[("accept-encoding", coding)]),
    );
    assert_eq!(got.content(), [*first, *second].concat());
    // The last two polls that were not ready are the handler's own pauses or come after them.
    [first.len(), first.len() + second.len()].iter().all(|&due| {
        got.body.pauses.iter().any(|&sent| {
            let (mut decoder, mut decoded) = (
                Decoder::new(Coding::from_token(coding).unwrap(), Length::new(1000)),
                Vec::new(),
            );
            decoder.write(&got.body.data()[..sent], &mut decoded).unwrap();
            decoded.len() == due
        })
    })
}

#[test]
fn events_are_not_held_back_whatever_the_policy() {
    for coding in ["gzip", "br", "zstd"] {
        for buffering in [Buffering::Stream, Buffering::WholeResponse] {
            let layer = with(|policy| (policy.buffering, policy.flush) = (buffering, Flush::AtEnd));
            assert!(
                chunks_come_through(&layer, "text/event-stream; charset=utf-8", coding),
                "{coding} {buffering:?}"
            );
        }
    }
}

#[test]
fn chunks_are_flushed_where_the_policy_says_so_and_else_are_not() {
    for coding in ["gzip", "br", "zstd"] {
        assert!(
            chunks_come_through(&with(|policy| policy.flush = Flush::EachChunk), "text/plain", coding),
            "{coding}"
        );
        assert!(!chunks_come_through(&streamed(), "text/plain", coding), "{coding}");
    }
}

#[test]
fn a_body_that_ends_with_its_only_chunk_is_not_flushed_before_its_end() {
    let layer = with(|policy| policy.flush = Flush::EachChunk);
    let got = ask(&layer, |_| plain(vec![b'a'; 1000]), get(&[GZIP]));
    assert_eq!(got.body.data(), encode("gzip:6".parse().unwrap(), &[b'a'; 1000]));
}

#[test]
fn how_the_handler_cuts_its_content_changes_no_octet_of_it() {
    let expected = encode("gzip:6".parse().unwrap(), &text());
    for size in [1, 100, 1 << 14, 1 << 20] {
        let got = ask(
            &streamed(),
            |_| respond_with(&TEXT, Script::chunks(&text(), size)),
            get(&[GZIP]),
        );
        assert_eq!(got.body.data(), expected, "{size}");
    }
}

#[test]
fn trailers_are_passed_on_but_for_digests() {
    let trailers: HeaderMap = [("server-timing", "db"), ("repr-digest", "sha-256=:AAAA:")]
        .into_iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    for buffering in [Buffering::Stream, Buffering::WholeResponse] {
        let layer = with(|policy| policy.buffering = buffering);
        let got = ask(
            &layer,
            |_| script(&TEXT, [Step::Data(text()), Step::Trailers(trailers.clone())]),
            get(&[GZIP]),
        );
        assert_eq!(got.content(), text());
        let names: Vec<_> = got.body.trailers.as_ref().unwrap().keys().collect();
        assert_eq!(names, ["server-timing"]);
        assert_eq!(got.field(CONTENT_LENGTH), None);
    }
}

#[test]
fn a_failed_body_passes_its_error_on_and_is_never_taken_for_whole() {
    for buffering in [Buffering::Stream, Buffering::WholeResponse] {
        let layer = with(|policy| policy.buffering = buffering);
        let got = ask(
            &layer,
            |_| script(&TEXT, [Step::Data(text()), Step::Fail("disk")]),
            get(&[GZIP]),
        );
        assert_eq!((got.body.error, got.field(CONTENT_LENGTH)), (Some("disk"), None));
        assert!(decode(Coding::Gzip, &got.body.data(), Length::new(1 << 30)).is_err());
    }
}

#[test]
fn one_poll_codes_one_piece_at_most() {
    let meter = Meter::default();
    let layer = streamed().with_compute(meter.clone());
    let got = ask(&layer, |_| plain(vec![b'a'; 1 << 20]), get(&[GZIP]));
    let pieces = (1 << 20) / (1 << 14);
    // Every piece but the first waits for another poll.
    assert_eq!(got.body.pauses.len(), pieces - 1);
    assert!(
        meter
            .done
            .borrow()
            .iter()
            .all(|work| work.input <= Length::new(1 << 14))
    );
}

#[test]
fn frames_are_of_reasonable_size_however_small_the_chunks() {
    let noise: Vec<u8> = (0..200_000_u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n % 32).to_le_bytes())
        .collect();
    let got = ask(
        &streamed(),
        |_| respond_with(&TEXT, Script::chunks(&noise, 10)),
        get(&[GZIP]),
    );
    let (last, full) = got.body.frames.split_last().unwrap();
    assert!(full.len() > 10 && full.iter().all(|frame| frame.len() == recode::FRAME) && last.len() <= recode::FRAME);
}

// The whole response at once.

fn whole() -> CompressionLayer {
    with(|policy| policy.buffering = Buffering::WholeResponse)
}

#[test]
fn a_whole_response_states_its_length_coded_or_not() {
    let body = || Script::new([Step::Data(text()), Step::Pause, Step::Data(b"end".to_vec())]);
    let content = [text(), b"end".to_vec()].concat();
    for accept in ["gzip", "br", "zstd", "identity"] {
        let got = ask(
            &whole(),
            |_| respond_with(&TEXT, body()),
            get(&[("accept-encoding", accept)]),
        );
        assert_eq!((got.coding(), got.content()), (accept, content.clone()));
        assert_eq!(got.field(CONTENT_LENGTH), Some(&*got.body.data().len().to_string()));
        assert_eq!(got.body.frames.len(), 1);
    }
}

#[test]
fn the_head_of_a_whole_response_waits_for_its_content_and_of_a_streamed_one_does_not() {
    let handler = || Handler(|_: &Request<()>| script(&TEXT, [Step::Pause, Step::Data(text()), Step::Pause]));
    assert_eq!(finish(streamed().layer(handler()).call(get(&[GZIP]))).1, 0);
    assert!(finish(whole().layer(handler()).call(get(&[GZIP]))).1 >= 2);
}

#[test]
fn streamed_and_whole_responses_have_the_same_content() {
    let of = |layer| ask(&layer, |_| plain(text()), get(&[ANY])).body.data();
    assert_eq!(of(streamed()), of(whole()));
}

// What coding costs.

#[test]
fn the_pieces_of_work_add_up_to_the_body_and_only_the_ends_are_marked() {
    for layer in [streamed(), whole()] {
        let meter = Meter {
            pauses: 3,
            ..Meter::default()
        };
        let got = ask(
            &layer.with_compute(meter.clone()),
            |_| respond_with(&TEXT, Script::chunks(&text(), 5000)),
            get(&[GZIP]),
        );
        let done = meter.done.borrow();
        assert_eq!(
            done.iter().map(|work| work.input).sum::<Length>(),
            Length::from(text().len())
        );
        assert_eq!(
            done.iter().map(|work| work.output).sum::<Length>(),
            Length::from(got.body.data().len())
        );
        assert!(
            done.iter()
                .all(|work| work.operation == Operation::Encode("gzip:6".parse().unwrap()))
        );
        let ends: Vec<_> = done.iter().map(|work| (work.first, work.last)).collect();
        assert_eq!((ends[0], ends[ends.len() - 1]), ((true, false), (false, true)));
        assert!(ends[1..ends.len() - 1].iter().all(|&ends| ends == (false, false)));
    }
}

#[test]
fn nothing_leaves_before_the_work_that_made_it_is_done() {
    let meter = Meter {
        pauses: 7,
        ..Meter::default()
    };
    let done = Rc::clone(&meter.done);
    let layer = streamed().with_compute(meter.clone());
    let body = finish(layer.layer(Handler(|_: &Request<()>| plain(text()))).call(get(&[GZIP])))
        .0
        .unwrap()
        .into_body();
    let mut body = std::pin::pin!(body);
    let mut sent = 0;
    loop {
        match body
            .as_mut()
            .poll_frame(&mut Context::from_waker(std::task::Waker::noop()))
        {
            Poll::Pending => {}
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => {
                sent += frame.unwrap().into_data().unwrap().len();
                assert!(!meter.busy.get());
                assert!(Length::from(sent) <= done.borrow().iter().map(|work| work.output).sum());
            }
        }
    }
    assert!(sent > 0);
}

#[test]
fn a_response_that_is_not_coded_costs_nothing() {
    let meter = Meter::default();
    ask(&whole().with_compute(meter.clone()), |_| plain(text()), get(&[]));
    ask(
        &streamed().with_compute(meter.clone()),
        |_| plain(text()),
        head(&[GZIP]),
    );
    assert!(meter.done.borrow().is_empty());
}
