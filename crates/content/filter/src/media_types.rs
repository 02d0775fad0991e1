//! The media types that are worth compressing.
//!
//! A list of patterns, matched against the response's `Content-Type`. All other conditions are in `decide`.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

/// Media types by pattern: `text/html`, `text/*`, `*+json` (a structured suffix, RFC 6838, section 4.2.8), or `*/*`.
///
/// Parameters (`; charset=utf-8`) and case are ignored. A response without a media type is matched only by `*/*`, since it may
/// well be compressed already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaTypes {
    patterns: Vec<String>,
}

/// Types whose content is text or loosely packed. Our own choice; images, audio, video, archives and WOFF fonts are absent
/// because they come compressed.
const COMPRESSIBLE: &[&str] = &[
    "text/*",
    "*+json",
    "*+xml",
    "*+text",
    "*+yaml",
    "*+cbor",
    "application/json",
    "application/x-ndjson",
    "application/jsonl",
    "application/xml",
    "application/javascript",
    "application/x-javascript",
    "application/ecmascript",
    "application/x-www-form-urlencoded",
    "application/graphql",
    "application/yaml",
    "application/toml",
    "application/cbor",
    "application/msgpack",
    "application/protobuf",
    "application/x-protobuf",
    "application/wasm",
    "application/rtf",
    "application/x-java-serialized-object",
    "application/vnd.ms-fontobject",
    "font/otf",
    "font/ttf",
    "image/bmp",
    "image/x-icon",
    "image/vnd.microsoft.icon",
];

impl MediaTypes {
    /// Types that match these patterns.
    pub fn matching<P: Into<String>>(patterns: impl IntoIterator<Item = P>) -> Self {
        Self {
            patterns: patterns.into_iter().map(Into::into).collect(),
        }
    }

    /// All types, and responses without one.
    pub fn all() -> Self {
        Self::matching(["*/*"])
    }

    /// Whether one of the patterns matches `media_type` (`type/subtype`, parameters allowed).
    pub fn contain(&self, media_type: &str) -> bool {
        let essence = without_parameters(media_type);
        self.patterns.iter().any(|pattern| matches(pattern, essence))
    }

    /// As [`contain`](Self::contain), for the response with these header fields.
    pub(crate) fn contain_response(&self, headers: &HeaderMap) -> bool {
        self.contain(content_type(headers))
    }
}

impl Default for MediaTypes {
    /// The types that are compressible and not yet compressed.
    fn default() -> Self {
        Self::matching(COMPRESSIBLE.iter().copied())
    }
}

fn matches(pattern: &str, essence: &str) -> bool {
    if pattern == "*/*" {
        return true;
    }
    if let Some(suffix) = pattern.strip_prefix('*') {
        return essence.len() > suffix.len() && ends_with(essence, suffix);
    }
    match pattern.strip_suffix('*') {
        Some(prefix) => essence.len() > prefix.len() && starts_with(essence, prefix),
        None => essence.eq_ignore_ascii_case(pattern),
    }
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn ends_with(text: &str, suffix: &str) -> bool {
    text.get(text.len() - suffix.len()..)
        .is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

/// Whether the response is a stream of server-sent events (WHATWG HTML, section 9.2), each of which is due when it is written.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    without_parameters(content_type(headers)).eq_ignore_ascii_case("text/event-stream")
}

fn content_type(headers: &HeaderMap) -> &str {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

fn without_parameters(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_loosely_packed_types_are_compressible() {
        let compressible = MediaTypes::default();
        for media_type in [
            "text/html; charset=utf-8",
            "TEXT/Plain",
            "application/json",
            "application/problem+JSON",
            "image/svg+xml",
        ] {
            assert!(compressible.contain(media_type), "{media_type}");
        }
    }

    #[test]
    fn compressed_and_unknown_types_are_not() {
        let compressible = MediaTypes::default();
        for media_type in [
            "image/png",
            "font/woff2",
            "application/zip",
            "application/octet-stream",
            "text/",
            "+json",
            "",
            "é/é",
        ] {
            assert!(!compressible.contain(media_type), "{media_type}");
        }
    }

    #[test]
    fn every_type_includes_none() {
        assert!(MediaTypes::all().contain(""));
        assert!(!MediaTypes::matching(["text/*"]).contain(""));
    }
}
