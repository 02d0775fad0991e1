//! Traffic for tests of this crate and of those that use it.

use bytes::Bytes;
use lastmile_traffic::responses::{Body, Origin, Response, Traffic, TrafficFormat};
use lastmile_units::{ByteCount, Seed};
use rand_core::Rng as _;

/// Text that compresses about as documents do: words drawn from a few hundred.
pub fn text(bytes: usize) -> Bytes {
    let mut rng = Seed::new(7).rng();
    let words: Vec<String> = (0..300)
        .map(|_| format!("{:x} ", rng.next_u64() >> (20 + rng.next_u64() % 30)))
        .collect();
    let mut out = String::new();
    while out.len() < bytes {
        out += &words[(rng.next_u64() % 300) as usize];
    }
    out.truncate(bytes);
    out.into()
}

/// A response of one host, without times.
pub fn response(path: &str, media_type: &str, origin: Origin, body: Body) -> Response {
    Response {
        index: 0,
        url: format!("https://a.example{path}"),
        scheme: "https".to_owned(),
        host: "a.example".to_owned(),
        method: "GET".to_owned(),
        status: 200,
        media_type: Some(media_type.to_owned()),
        request_header_bytes: Some(ByteCount::new(400)),
        response_header_bytes: Some(ByteCount::new(300)),
        body,
        origin,
        origin_because: "the test says so",
        ..Response::default()
    }
}

/// These responses, in the order of a file.
pub fn traffic(responses: Vec<Response>) -> Traffic {
    Traffic {
        source: "test.har".to_owned(),
        format: TrafficFormat::Har,
        responses,
        load_event: None,
        dom_content_loaded: None,
        notes: Vec::new(),
        skipped: Vec::new(),
    }
}
