//! Decides whether a response may be compressed, and whether it is worth it.
//!
//! Pure functions of the request's and the response's head. `negotiate` parses what the client accepts; `headers` changes the head.

use crate::headers::{content_length, forbids_transformation, has_content_coding};
use crate::media_types::MediaTypes;
use http::header::{CONTENT_RANGE, CONTENT_TYPE};
use http::{Method, StatusCode, response};
use lastmile_units::ByteCount;

/// How far content coding applies to a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not at all: every client gets the handler's response.
    Passthrough,
    /// The response has no content (304) or only a part of it (206), but the whole representation is compressed for some clients, so
    /// the head must have the fields that the whole response would have (RFC 9110, sections 15.3.7 and 15.4.5).
    VariesOnly,
    /// It is compressed for clients that accept a coding.
    Negotiated,
}

/// Decides for a response whose content has `length`, if that is known. For a HEAD request, `length` is that of the content that a
/// GET would have had.
pub(crate) fn verdict(
    method: &Method,
    response: &response::Parts,
    length: Option<ByteCount>,
    media_types: &MediaTypes,
) -> Verdict {
    let (status, headers) = (response.status, &response.headers);
    let without_content =
        status.is_informational() || status == StatusCode::NO_CONTENT || status == StatusCode::RESET_CONTENT;
    if without_content || method == Method::CONNECT || has_content_coding(headers) || forbids_transformation(headers) {
        return Verdict::Passthrough;
    }
    if status == StatusCode::NOT_MODIFIED {
        // A 304 need not name the media type; without one, the whole representation may be one that is compressed.
        let may_be_coded = !headers.contains_key(CONTENT_TYPE) || media_types.contain_response(headers);
        return if may_be_coded {
            Verdict::VariesOnly
        } else {
            Verdict::Passthrough
        };
    }
    if !media_types.contain_response(headers) {
        return Verdict::Passthrough;
    }
    if status == StatusCode::PARTIAL_CONTENT {
        return Verdict::VariesOnly;
    }
    // Compressing empty content would enlarge it: to 20 bytes of gzip.
    if headers.contains_key(CONTENT_RANGE) || length == Some(ByteCount::ZERO) {
        return Verdict::Passthrough;
    }
    Verdict::Negotiated
}

/// Whether content of this length is long enough to be compressed. Content of unknown length is: its first chunk says nothing about
/// the rest, and waiting for more would delay a handler that writes little and seldom.
pub(crate) fn is_worth_compressing(length: Option<ByteCount>, minimum: ByteCount) -> bool {
    length.is_none_or(|length| length >= minimum)
}

/// The length of the content, if known; `exact` is the body's exact size hint. The body of a response to HEAD is empty and says
/// nothing about the content of a GET; its `Content-Length` does (RFC 9110, section 8.6). A handler that leaves it out of a short
/// HEAD response gets the head of a long one.
pub(crate) fn known_length(method: &Method, response: &response::Parts, exact: Option<u64>) -> Option<ByteCount> {
    let stated = content_length(&response.headers);
    let length = if method == Method::HEAD {
        stated.or(exact.filter(|&length| length > 0))
    } else {
        exact.or(stated)
    };
    length.map(ByteCount::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Response;

    /// The verdict on a GET's response with this status and these header fields, of 1000 bytes.
    fn of(status: u16, fields: &[(&str, &str)]) -> Verdict {
        let mut response = Response::builder().status(status);
        for (name, value) in fields {
            response = response.header(*name, *value);
        }
        let (parts, ()) = response.body(()).unwrap().into_parts();
        verdict(&Method::GET, &parts, Some(ByteCount::new(1000)), &MediaTypes::default())
    }

    const TEXT: (&str, &str) = ("content-type", "text/plain");

    #[test]
    fn responses_of_any_status_that_has_content_are_negotiated() {
        for status in [200, 201, 203, 301, 404, 500] {
            assert_eq!(of(status, &[TEXT]), Verdict::Negotiated, "{status}");
        }
    }

    #[test]
    fn what_has_no_content_or_must_not_change_goes_as_it_is() {
        for (status, fields) in [
            (101, &[TEXT][..]),
            (204, &[TEXT]),
            (205, &[TEXT]),
            (200, &[TEXT, ("content-encoding", "br")]),
            (200, &[TEXT, ("content-encoding", "identity, br")]),
            (200, &[TEXT, ("cache-control", "max-age=60, no-transform")]),
            (416, &[TEXT, ("content-range", "bytes */1000")]),
            (200, &[("content-type", "image/png")]),
            (200, &[]),
            (304, &[("content-type", "image/png")]),
        ] {
            assert_eq!(of(status, fields), Verdict::Passthrough, "{status} {fields:?}");
        }
    }

    #[test]
    fn identity_as_content_encoding_is_no_coding() {
        assert_eq!(of(200, &[TEXT, ("content-encoding", "identity")]), Verdict::Negotiated);
    }

    #[test]
    fn a_part_and_a_304_only_say_that_the_whole_varies() {
        assert_eq!(
            of(206, &[TEXT, ("content-range", "bytes 0-999/5000")]),
            Verdict::VariesOnly
        );
        assert_eq!(of(304, &[]), Verdict::VariesOnly);
        assert_eq!(of(304, &[TEXT]), Verdict::VariesOnly);
    }

    #[test]
    fn empty_content_is_not_coded_but_unknown_content_is() {
        let (parts, ()) = Response::builder()
            .header("content-type", "text/html")
            .body(())
            .unwrap()
            .into_parts();
        let verdict = |length| verdict(&Method::GET, &parts, length, &MediaTypes::default());
        assert_eq!(verdict(Some(ByteCount::ZERO)), Verdict::Passthrough);
        assert_eq!(verdict(None), Verdict::Negotiated);
        assert!(is_worth_compressing(None, ByteCount::new(256)));
        assert!(is_worth_compressing(Some(ByteCount::new(256)), ByteCount::new(256)));
        assert!(!is_worth_compressing(Some(ByteCount::new(255)), ByteCount::new(256)));
    }

    #[test]
    fn the_length_of_a_head_response_is_what_it_states_and_of_others_what_the_body_says() {
        let (stated, ()) = Response::builder()
            .header("content-length", "700")
            .body(())
            .unwrap()
            .into_parts();
        let (silent, ()) = Response::new(()).into_parts();
        assert_eq!(known_length(&Method::HEAD, &stated, Some(0)), Some(ByteCount::new(700)));
        assert_eq!(known_length(&Method::HEAD, &silent, Some(0)), None);
        assert_eq!(known_length(&Method::HEAD, &silent, Some(9)), Some(ByteCount::new(9)));
        assert_eq!(known_length(&Method::GET, &stated, Some(9)), Some(ByteCount::new(9)));
        assert_eq!(known_length(&Method::GET, &silent, None), None);
    }
}
