//! Tests of the coding that a client gets. Each covers a fault of a server in use.

use super::*;

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
