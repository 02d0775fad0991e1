//! May this response be coded, and is it worth it?
//!
//! Pure functions of the request's and the response's head. What the client accepts is read in `negotiate`; what changes in the
//! head is written in `headers`.

use crate::headers::{content_length, forbids_transformation, is_coded};
use crate::media_types::MediaTypes;
use http::header::{CONTENT_RANGE, CONTENT_TYPE};
use http::{Method, StatusCode, response};
use lastmile_units::Bytes;

/// How far content coding applies to a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not at all: every client gets what the handler made.
    AsItIs,
    /// There is nothing here to code (304) or only a part of it (206), but the whole representation is coded for some clients, so
    /// the head must say what that one's would (RFC 9110, sections 15.3.7 and 15.4.5).
    VariesOnly,
    /// It is coded for those clients which accept a coding.
    Negotiated,
}

/// Decides for a response whose content has `length`, where that is known. Of a HEAD request's response, `length` is that of the
/// content a GET would have had.
pub(crate) fn verdict(
    method: &Method,
    response: &response::Parts,
    length: Option<Bytes>,
    media_types: &MediaTypes,
) -> Verdict {
    let (status, headers) = (response.status, &response.headers);
    let without_content =
        status.is_informational() || status == StatusCode::NO_CONTENT || status == StatusCode::RESET_CONTENT;
    if without_content || method == Method::CONNECT || is_coded(headers) || forbids_transformation(headers) {
        return Verdict::AsItIs;
    }
    if status == StatusCode::NOT_MODIFIED {
        // A 304 need not name the media type; where it does not, the whole representation may be one that is coded.
        let may_be_coded = !headers.contains_key(CONTENT_TYPE) || media_types.contain_response(headers);
        return if may_be_coded {
            Verdict::VariesOnly
        } else {
            Verdict::AsItIs
        };
    }
    if !media_types.contain_response(headers) {
        return Verdict::AsItIs;
    }
    if status == StatusCode::PARTIAL_CONTENT {
        return Verdict::VariesOnly;
    }
    // Coding nothing would make something of it: 20 octets of gzip.
    if headers.contains_key(CONTENT_RANGE) || length == Some(Bytes::ZERO) {
        return Verdict::AsItIs;
    }
    Verdict::Negotiated
}

/// Whether content of this length is long enough to be coded. Content of unknown length is: its first chunk says nothing of the
/// rest, and to wait for more would hold back a handler that writes little and seldom.
pub(crate) fn is_worth_coding(length: Option<Bytes>, minimum: Bytes) -> bool {
    length.is_none_or(|length| length >= minimum)
}

/// The length of the content, where it is known: `exact` is the body's own word. The body of a HEAD request's response is empty and
/// says nothing of what a GET would have had; its `Content-Length` does (RFC 9110, section 8.6). A handler that leaves it out of a
/// short HEAD response gets the head of a long one.
pub(crate) fn known_length(method: &Method, response: &response::Parts, exact: Option<u64>) -> Option<Bytes> {
    let stated = content_length(&response.headers);
    let length = if method == Method::HEAD {
        stated.or(exact.filter(|&length| length > 0))
    } else {
        exact.or(stated)
    };
    length.map(Bytes::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Response;

    /// The verdict on a GET's response with this status and these header fields, of 1000 octets.
    fn of(status: u16, fields: &[(&str, &str)]) -> Verdict {
        let mut response = Response::builder().status(status);
        for (name, value) in fields {
            response = response.header(*name, *value);
        }
        let (parts, ()) = response.body(()).unwrap().into_parts();
        verdict(&Method::GET, &parts, Some(Bytes::new(1000)), &MediaTypes::default())
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
            assert_eq!(of(status, fields), Verdict::AsItIs, "{status} {fields:?}");
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
        assert_eq!(verdict(Some(Bytes::ZERO)), Verdict::AsItIs);
        assert_eq!(verdict(None), Verdict::Negotiated);
        assert!(is_worth_coding(None, Bytes::new(256)));
        assert!(is_worth_coding(Some(Bytes::new(256)), Bytes::new(256)));
        assert!(!is_worth_coding(Some(Bytes::new(255)), Bytes::new(256)));
    }

    #[test]
    fn the_length_of_a_head_response_is_what_it_states_and_of_others_what_the_body_says() {
        let (stated, ()) = Response::builder()
            .header("content-length", "700")
            .body(())
            .unwrap()
            .into_parts();
        let (silent, ()) = Response::new(()).into_parts();
        assert_eq!(known_length(&Method::HEAD, &stated, Some(0)), Some(Bytes::new(700)));
        assert_eq!(known_length(&Method::HEAD, &silent, Some(0)), None);
        assert_eq!(known_length(&Method::HEAD, &silent, Some(9)), Some(Bytes::new(9)));
        assert_eq!(known_length(&Method::GET, &stated, Some(9)), Some(Bytes::new(9)));
        assert_eq!(known_length(&Method::GET, &silent, None), None);
    }
}
