//! Writes the page load as a browser saves it: HTTP Archive 1.2, with bodies.

use super::page_load::{CONTENT_LOADED, Initiator, LOADED, Served};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastmile_codec::content::{CodecSpec, Coding, encoded_size};
use serde_json::{Value, json};
use std::time::Duration;

/// The transfer time of the body, at 20 Mbit/s, our own choice. Rounded to a microsecond.
const BITS_PER_MICROSECOND: u64 = 20;

/// The types that the shop's servers compress: the result if an operator switches on gzip at level 6 for pages, styles and scripts, and
/// does nothing else. API responses and drawings are sent uncompressed. Our own choice, so that there is something to advise.
const COMPRESSED_TYPES: [&str; 3] = ["text/html", "text/css", "text/javascript"];

/// Shorter bodies are not compressed.
const COMPRESSED_BYTES_MIN: usize = 1_000;

/// The transferred size of a body, if it was compressed.
fn compressed_size(served: &Served) -> Option<u64> {
    let essence = served.media_type.split(';').next().unwrap_or_default();
    let coded = COMPRESSED_TYPES.contains(&essence) && served.body.len() >= COMPRESSED_BYTES_MIN;
    let gzip = CodecSpec::new(Coding::Gzip, 6).expect("gzip has a level 6");
    coded.then(|| encoded_size(gzip, [served.body.as_ref()]).get())
}

/// The page load as an archive, indented as in browsers.
pub(super) fn har(served: &[Served]) -> String {
    let entries: Vec<_> = served.iter().map(entry).collect();
    let page = json!({
        "startedDateTime": date_time(Duration::ZERO),
        "id": "page_1",
        "title": "https://www.shop.example/",
        "pageTimings": { "onContentLoad": CONTENT_LOADED.as_millis() as u64, "onLoad": LOADED.as_millis() as u64 },
    });
    let archive = json!({
        "log": {
            "version": "1.2",
            "creator": { "name": "lastmile example generator", "version": env!("CARGO_PKG_VERSION") },
            "pages": [page],
            "entries": entries,
        }
    });
    let mut text = serde_json::to_string_pretty(&archive).expect("strings and numbers become JSON");
    text.push('\n');
    text
}

fn entry(served: &Served) -> Value {
    let carried = compressed_size(served).unwrap_or(served.body.len() as u64);
    let receive = (carried * 8).div_ceil(BITS_PER_MICROSECOND);
    let receive = receive as f64 / 1000.0;
    let wait = served.wait.as_millis() as u64;
    let (connecting, timings) = timings(served.connecting, wait, receive);
    json!({
        "_initiator": initiator(served.initiator.as_ref()),
        "pageref": "page_1",
        "startedDateTime": date_time(served.started),
        "time": connecting as f64 + wait as f64 + receive,
        "request": {
            "method": served.method,
            "url": served.url,
            "httpVersion": if served.url.starts_with("https:") { "h2" } else { "HTTP/1.1" },
            "cookies": [],
            "headers": [{ "name": "accept-encoding", "value": "gzip, deflate, br, zstd" }],
            "queryString": [],
            "headersSize": -1,
            "bodySize": 0,
        },
        "response": response(served),
        "cache": {},
        "timings": timings,
    })
}

/// The time before the request was sent, and all times of an entry, in milliseconds.
fn timings(connecting: Duration, wait: u64, receive: f64) -> (u64, Value) {
    let connecting = connecting.as_millis() as u64;
    let mut timings = json!({
        "blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": wait, "receive": receive,
    });
    if connecting > 0 {
        // TLS takes one round trip, TCP and the name one each. The time of TLS is part of that of the connection (HAR 1.2).
        let round_trip = connecting / 3;
        timings["dns"] = (connecting - 2 * round_trip).into();
        timings["connect"] = (2 * round_trip).into();
        timings["ssl"] = round_trip.into();
    }
    (connecting, timings)
}

/// What led to a request, as Chrome writes it: the user, the parser of a document or of a style sheet, or a call in a script.
fn initiator(initiator: Option<&Initiator>) -> Value {
    let Some(Initiator {
        url,
        line,
        column,
        function,
    }) = initiator
    else {
        return json!({ "type": "other" });
    };
    match function {
        None => json!({ "type": "parser", "url": url, "lineNumber": line }),
        Some(function) => {
            let frame = json!({ "functionName": function, "url": url, "lineNumber": line, "columnNumber": column });
            json!({ "type": "script", "stack": { "callFrames": [frame] } })
        }
    }
}

fn response(served: &Served) -> Value {
    let coded = compressed_size(served);
    let carried = coded.unwrap_or(served.body.len() as u64);
    let mut headers = vec![("content-length", carried.to_string())];
    if coded.is_some() {
        headers.push(("content-encoding", "gzip".to_owned()));
        headers.push(("vary", "Accept-Encoding".to_owned()));
    }
    if !served.media_type.is_empty() {
        headers.push(("content-type", served.media_type.to_owned()));
    }
    let kept = if served.dynamic {
        "private, no-store"
    } else {
        "public, max-age=31536000, immutable"
    };
    headers.push(("cache-control", kept.to_owned()));
    // Without it, a browser gives scripts no data of another host, and uses no font of one (Fetch standard, CORS protocol).
    if served.media_type == "font/woff2" || served.url.starts_with("https://api.") {
        headers.push(("access-control-allow-origin", "https://www.shop.example".to_owned()));
    }
    let location = if served.status == 301 {
        "https://www.shop.example/"
    } else {
        ""
    };
    if !location.is_empty() {
        headers.push(("location", location.to_owned()));
    }
    let headers: Vec<_> = headers
        .into_iter()
        .map(|(name, value)| json!({ "name": name, "value": value }))
        .collect();
    let mut content = json!({ "size": served.body.len(), "mimeType": served.media_type });
    if !served.body.is_empty() {
        match std::str::from_utf8(&served.body) {
            Ok(text) => content["text"] = text.into(),
            Err(_) => {
                content["text"] = STANDARD.encode(&served.body).into();
                content["encoding"] = "base64".into();
            }
        }
    }
    json!({
        "status": served.status,
        "statusText": "",
        "httpVersion": if served.url.starts_with("https:") { "h2" } else { "HTTP/1.1" },
        "cookies": [],
        "headers": headers,
        "content": content,
        "redirectURL": location,
        "headersSize": -1,
        "bodySize": carried,
    })
}

/// A time of the page load, which began on a Thursday morning and lasts less than an hour.
fn date_time(since: Duration) -> String {
    let seconds = since.as_secs();
    format!(
        "2026-01-15T09:{:02}:{:02}.{:03}Z",
        seconds / 60,
        seconds % 60,
        since.subsec_millis()
    )
}
