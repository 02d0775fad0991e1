//! Reads lines of JSON, one response per line. They are read strictly, since they are written for lastmile.
//!
//! | key | value |
//! | --- | --- |
//! | `url` | an absolute URL of http or https; required |
//! | `body` or `body_base64` or `size` | the content as text, as base64, or its length in bytes; one of them is required |
//! | `content_type` | the Content-Type |
//! | `method` | `GET` where absent |
//! | `status` | 200 where absent |
//! | `started_ms` | when its request began, from any common zero; that of the previous line where absent |
//! | `wait_ms` | how long the server took to send its first byte |
//! | `static` | whether it can be compressed once and served many times; false where absent |
//!
//! Empty lines are skipped.

use super::TrafficError;
use super::detect_format;
use super::{Body, NoteCounter, Origin, Response, Traffic, TrafficFormat, media_type, url};
use crate::reading::json_lines::{self, JsonLine};
use crate::reading::sniff::OpenedFile;
use crate::reading::strict::{explain_line, set};
use base64::Engine;
use lastmile_units::ByteCount;
use serde::de::MapAccess;
use std::io::{BufRead, Read};
use std::time::Duration;

/// The keys of a line.
pub(super) const KEYS: [&str; 10] = [
    "url",
    "body",
    "body_base64",
    "size",
    "content_type",
    "method",
    "status",
    "started_ms",
    "wait_ms",
    "static",
];

const EXAMPLE: &str = r#"write a line like {"url": "https://example.org/", "content_type": "text/html", "body": "…"}"#;

/// Reads lines of JSON; `name` is used in errors and as [`Traffic::source`].
///
/// # Errors
/// When they cannot be read, there is none, or one of them is wrong: the error names the line.
pub fn read(from: impl Read, name: &str) -> Result<Traffic, TrafficError> {
    read_opened(detect_format::open(from, name)?, name)
}

pub(super) fn read_opened<R: Read>(opened: OpenedFile<R>, name: &str) -> Result<Traffic, TrafficError> {
    let mut content = opened.content();
    let mut responses: Vec<Response> = Vec::new();
    let mut notes = NoteCounter::default();
    let (mut bytes, mut number) = (Vec::new(), 0);
    loop {
        bytes.clear();
        let length = content
            .read_until(b'\n', &mut bytes)
            .map_err(|error| TrafficError::io(name, &error))?;
        if length == 0 {
            break;
        }
        number += 1;
        let line = json_lines::parse::<Line>(&bytes).map_err(|error| explain_line(&error, name, number, EXAMPLE))?;
        let Some(line) = line else {
            continue;
        };
        let before = responses.last().map_or(Duration::ZERO, |response| response.started);
        let refuse = |problem: String| TrafficError::new(name, problem, EXAMPLE).at(number, 1);
        let response = line.into_response(responses.len(), before).map_err(refuse)?;
        match &response.body {
            Body::SizeOnly(_) => notes.count("have no body in the file, only its size", &response.url),
            Body::Present(_) | Body::Missing => {}
        }
        responses.push(response);
    }
    let Some(first) = responses.iter().map(|response| response.started).min() else {
        return Err(TrafficError::new(name, "the file contains no response", EXAMPLE));
    };
    for response in &mut responses {
        response.started -= first;
    }
    Ok(Traffic {
        source: name.to_owned(),
        format: TrafficFormat::JsonLines,
        responses,
        load_event: None,
        dom_content_loaded: None,
        notes: notes.into_notes(),
        skipped: Vec::new(),
    })
}

/// A line as written.
#[derive(Default)]
struct Line {
    url: Option<String>,
    body: Option<String>,
    body_base64: Option<String>,
    size: Option<u64>,
    content_type: Option<String>,
    method: Option<String>,
    status: Option<u16>,
    started_ms: Option<f64>,
    wait_ms: Option<f64>,
    is_static: Option<bool>,
}

impl JsonLine for Line {
    const KEYS: &'static [&'static str] = &KEYS;
    const EXPECTED: &'static str = "an object, one response";

    fn read_key<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "url" => set(&mut self.url, key, map)?,
            "body" => set(&mut self.body, key, map)?,
            "body_base64" => set(&mut self.body_base64, key, map)?,
            "size" => set(&mut self.size, key, map)?,
            "content_type" => set(&mut self.content_type, key, map)?,
            "method" => set(&mut self.method, key, map)?,
            "status" => set(&mut self.status, key, map)?,
            "started_ms" => set(&mut self.started_ms, key, map)?,
            "wait_ms" => set(&mut self.wait_ms, key, map)?,
            "static" => set(&mut self.is_static, key, map)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Line {
    fn into_response(self, index: usize, started_before: Duration) -> Result<Response, String> {
        let url = self.url.ok_or("the key \"url\" is missing")?;
        let url::HttpUrl { scheme, host, whole } =
            url::read(url.clone()).map_err(|_| format!("{url:?} is not an absolute URL of http or https"))?;
        let body = match (self.body, self.body_base64, self.size) {
            (Some(text), None, None) => Body::Present(text.into_bytes().into()),
            (None, Some(text), None) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text);
                Body::Present(
                    bytes
                        .map_err(|error| format!("\"body_base64\" is not base64: {error}"))?
                        .into(),
                )
            }
            (None, None, Some(size)) => Body::SizeOnly(ByteCount::new(size)),
            (None, None, None) => return Err("one of \"body\", \"body_base64\" or \"size\" is required".to_owned()),
            _ => return Err("only one of \"body\", \"body_base64\" and \"size\" is allowed".to_owned()),
        };
        let media_type = match self.content_type {
            None => None,
            Some(text) => {
                let essence = media_type::essence(&text);
                Some(essence.ok_or_else(|| format!("\"content_type\" is {text:?}, which is not a media type"))?)
            }
        };
        let status = self.status.unwrap_or(200);
        if !(100..1000).contains(&status) {
            return Err(format!("\"status\" is {status}, but status codes have three digits"));
        }
        let (origin, origin_because) = match self.is_static {
            Some(true) => (Origin::Static, "\"static\" is true"),
            Some(false) => (Origin::Dynamic, "\"static\" is false"),
            None => (Origin::Dynamic, "nothing says that it can be cached"),
        };
        Ok(Response {
            index,
            url: whole,
            scheme,
            host,
            method: self
                .method
                .map_or_else(|| "GET".to_owned(), |method| method.to_ascii_uppercase()),
            status,
            media_type,
            body,
            started: milliseconds("started_ms", self.started_ms)?.unwrap_or(started_before),
            wait: milliseconds("wait_ms", self.wait_ms)?,
            origin,
            origin_because,
            ..Response::default()
        })
    }
}

fn milliseconds(key: &str, value: Option<f64>) -> Result<Option<Duration>, String> {
    let Some(value) = value else { return Ok(None) };
    let length = Duration::try_from_secs_f64(value / 1e3);
    length
        .map(Some)
        .map_err(|_| format!("{key:?} is {value}, which is not a time of 0 or more"))
}
