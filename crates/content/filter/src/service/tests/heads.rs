//! Tests of the heads of compressed responses, and of those that could have been compressed.

use super::*;

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
    let got = ask(
        &streamed(),
        handler,
        get(&[GZIP, ("range", "bytes=0-999"), ("if-none-match", "W/\"x\"")]),
    );
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
fn a_head_response_has_no_content_to_code_even_where_the_handler_sends_some() {
    let got = ask(&streamed(), |_| plain(text()), head(&[GZIP]));
    assert_eq!((got.coding(), got.field(CONTENT_LENGTH)), ("gzip", None));
    assert!(got.body.frames.is_empty());
}

#[test]
fn a_head_response_states_no_length_that_only_coding_would_tell() {
    let handler = |_: &Request<()>| {
        respond_with(
            &[("content-type", "text/plain"), ("content-length", "9000")],
            Full::new(Bytes::new()),
        )
    };
    assert_eq!(ask(&whole(), handler, head(&[GZIP])).field(CONTENT_LENGTH), None);
    assert_eq!(ask(&whole(), handler, head(&[])).field(CONTENT_LENGTH), Some("9000"));
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
    let layer = streamed().with_predicate(|request, response| {
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
