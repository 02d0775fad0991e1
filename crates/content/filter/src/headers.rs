//! The header fields that content coding reads or changes.
//!
//! Pure functions of header fields; `decide` says when they apply.

use crate::negotiate::{same_coding, trim};
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Digests of the content or of the representation from the handler. Both include the content coding, so both are wrong once it
/// changes: `Content-Digest` and `Repr-Digest` (RFC 9530, sections 2 and 3), `Digest` (RFC 3230) and `Content-MD5` (RFC 2616,
/// section 14.15), which are obsolete but still sent.
const DIGESTS: [&str; 4] = ["content-digest", "repr-digest", "digest", "content-md5"];

/// Adds `Accept-Encoding` to `Vary`: another value might have had another response (RFC 9110, section 12.5.5). The field is kept as
/// one line, because some caches read only one; `*` includes it already.
pub(crate) fn vary_by_accept_encoding(headers: &mut HeaderMap) {
    let said = |member: &[u8]| member == b"*" || member.eq_ignore_ascii_case(b"accept-encoding");
    if members(headers, &VARY).any(said) {
        return;
    }
    let mut line = headers
        .get_all(VARY)
        .iter()
        .map(HeaderValue::as_bytes)
        .collect::<Vec<_>>()
        .join(&b", "[..]);
    if !line.is_empty() {
        line.extend_from_slice(b", ");
    }
    line.extend_from_slice(b"Accept-Encoding");
    headers.insert(
        VARY,
        HeaderValue::from_bytes(&line).expect("header values joined by commas are a header value"),
    );
}

/// Turns the header fields of an uncompressed response into those of the same response under `coding`.
pub(crate) fn apply_coding(headers: &mut HeaderMap, coding: &'static str) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    headers.remove(CONTENT_LENGTH);
    // The ranges that the handler would serve are those of the uncompressed representation.
    headers.remove(ACCEPT_RANGES);
    remove_digests(headers);
    weaken_etag(headers);
}

/// Removes digests from a header or trailer section.
pub(crate) fn remove_digests(headers: &mut HeaderMap) {
    for name in DIGESTS {
        headers.remove(name);
    }
}

/// Makes a strong entity tag weak. A strong tag identifies one sequence of bytes (RFC 9110, section 8.8.1), and now there is one
/// per coding. The opaque part is unchanged, so `If-None-Match`, which compares weakly, still matches it.
pub(crate) fn weaken_etag(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(ETAG).map(HeaderValue::as_bytes) else {
        return;
    };
    if tag.starts_with(b"W/") {
        return;
    }
    if tag.starts_with(b"\"") {
        let weak = HeaderValue::from_bytes(&weak(tag)).expect("a header value after W/ is a header value");
        headers.insert(ETAG, weak);
    } else {
        // Not an entity tag, so it cannot be made weak; unchanged, it would be the same for every coding.
        headers.remove(ETAG);
    }
}

/// Whether `if_none_match` has the strong tag of `headers` in its weak form: then the client has a compressed response.
pub(crate) fn asks_for_weakened(if_none_match: &HeaderValue, headers: &HeaderMap) -> bool {
    headers
        .get(ETAG)
        .map(HeaderValue::as_bytes)
        .filter(|tag| tag.starts_with(b"\""))
        .is_some_and(|tag| {
            let weak = weak(tag);
            if_none_match.as_bytes().windows(weak.len()).any(|found| found == weak)
        })
}

fn weak(tag: &[u8]) -> Vec<u8> {
    [b"W/", tag].concat()
}

/// Whether the handler compressed the response itself. `identity` does not count, although some send it against RFC 9110, section 8.4.
pub(crate) fn has_content_coding(headers: &HeaderMap) -> bool {
    members(headers, &CONTENT_ENCODING).any(|coding| !same_coding(coding, b"identity"))
}

/// Whether `Cache-Control: no-transform` is among the fields, of a request or of a response (RFC 9111, sections 5.2.1.6 and
/// 5.2.2.6).
pub(crate) fn forbids_transformation(headers: &HeaderMap) -> bool {
    headers.get_all(CACHE_CONTROL).iter().any(|line| {
        directives(line.as_bytes()).any(|directive| {
            let name = directive.split(|&byte| byte == b'=').next().unwrap_or_default();
            trim(name).eq_ignore_ascii_case(b"no-transform")
        })
    })
}

/// The value of `Content-Length`, if it has one.
pub(crate) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// The non-empty members of a list without quoted strings, over all lines of the field.
pub(crate) fn members<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    let lines = headers.get_all(name).into_iter();
    lines
        .flat_map(|line| line.as_bytes().split(|&byte| byte == b','))
        .map(trim)
        .filter(|member| !member.is_empty())
}

/// The members of a list in which a quoted string may hold commas.
fn directives(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    line.split(move |&byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
        byte == b',' && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields<const N: usize>(fields: [(&'static str, &str); N]) -> HeaderMap {
        fields
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()))
            .into_iter()
            .fold(HeaderMap::new(), |mut headers, (name, value)| {
                headers.append(name, value);
                headers
            })
    }

    #[test]
    fn vary_gains_accept_encoding_once_and_keeps_what_it_had() {
        for (before, after) in [
            (fields([]), "Accept-Encoding"),
            (fields([("vary", "")]), "Accept-Encoding"),
            (fields([("vary", "Origin")]), "Origin, Accept-Encoding"),
            (
                fields([("vary", "Origin"), ("vary", "Cookie")]),
                "Origin, Cookie, Accept-Encoding",
            ),
            (fields([("vary", "Origin, accept-encoding")]), "Origin, accept-encoding"),
            (fields([("vary", "*")]), "*"),
        ] {
            let mut headers = before;
            vary_by_accept_encoding(&mut headers);
            vary_by_accept_encoding(&mut headers);
            assert_eq!(headers.get_all(VARY).iter().collect::<Vec<_>>(), [after]);
        }
    }

    #[test]
    fn a_strong_tag_becomes_weak_with_its_opaque_part_unchanged() {
        for (before, after) in [
            ("\"x\"", Some("W/\"x\"")),
            ("W/\"x\"", Some("W/\"x\"")),
            ("\"\"", Some("W/\"\"")),
            ("no tag", None),
        ] {
            let mut headers = fields([("etag", before)]);
            weaken_etag(&mut headers);
            assert_eq!(headers.get(ETAG).map(|tag| tag.to_str().unwrap()), after, "{before}");
        }
    }

    #[test]
    fn no_transform_is_found_in_any_line_and_case_but_not_inside_a_quoted_string() {
        for (value, forbidden) in [
            ("no-transform", true),
            ("public, No-Transform", true),
            ("max-age=1,no-transform,", true),
            ("private=\"a, b\", no-transform", true),
            ("private=\"no-transform\"", false),
            ("private=\"a, no-transform, \\\", no-transform\"", false),
            ("no-transformation", false),
            ("", false),
        ] {
            let headers = fields([("cache-control", "max-age=60"), ("cache-control", value)]);
            assert_eq!(forbids_transformation(&headers), forbidden, "{value}");
        }
    }

    #[test]
    fn identity_is_no_coding() {
        assert!(!has_content_coding(&fields([])));
        assert!(!has_content_coding(&fields([("content-encoding", "Identity")])));
        assert!(has_content_coding(&fields([
            ("content-encoding", "identity"),
            ("content-encoding", "br")
        ])));
        assert!(has_content_coding(&fields([("content-encoding", "aes128gcm")])));
    }
}
