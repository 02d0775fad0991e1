//! Why a stream or a connection of HTTP/2 failed: the causes of errors that `h2` reports.

use super::Event;
use crate::error_cause::{ErrorCause, RequestFailure};
use h2::Reason;

/// The names of the codes of errors (RFC 9113 section 7).
const CODES: [(Reason, &str); 14] = [
    (Reason::NO_ERROR, "NO_ERROR"),
    (Reason::PROTOCOL_ERROR, "PROTOCOL_ERROR"),
    (Reason::INTERNAL_ERROR, "INTERNAL_ERROR"),
    (Reason::FLOW_CONTROL_ERROR, "FLOW_CONTROL_ERROR"),
    (Reason::SETTINGS_TIMEOUT, "SETTINGS_TIMEOUT"),
    (Reason::STREAM_CLOSED, "STREAM_CLOSED"),
    (Reason::FRAME_SIZE_ERROR, "FRAME_SIZE_ERROR"),
    (Reason::REFUSED_STREAM, "REFUSED_STREAM"),
    (Reason::CANCEL, "CANCEL"),
    (Reason::COMPRESSION_ERROR, "COMPRESSION_ERROR"),
    (Reason::CONNECT_ERROR, "CONNECT_ERROR"),
    (Reason::ENHANCE_YOUR_CALM, "ENHANCE_YOUR_CALM"),
    (Reason::INADEQUATE_SECURITY, "INADEQUATE_SECURITY"),
    (Reason::HTTP_1_1_REQUIRED, "HTTP_1_1_REQUIRED"),
];

fn name(reason: Option<Reason>) -> &'static str {
    let known = CODES.iter().find(|(code, _)| Some(*code) == reason);
    known.map_or("a code that RFC 9113 does not have", |(_, name)| name)
}

/// A stream failed. `is_short` says whether a part of its body was missing; none before its head.
pub(super) fn stream_failure(stream: u32, error: &h2::Error, is_short: Option<bool>) -> Event {
    let mut may_retry = false;
    let cause = match (error.is_remote(), error.is_go_away()) {
        (true, true) => {
            may_retry = error.reason() == Some(Reason::NO_ERROR);
            ErrorCause::Goaway
        }
        (true, false) if error.reason() == Some(Reason::REFUSED_STREAM) => ErrorCause::RefusedStream,
        (true, false) => ErrorCause::StreamReset,
        // The stream ended before its Content-Length was reached.
        (false, false) if is_short == Some(true) && error.is_library() => {
            return Event::Failed {
                stream,
                failure: ErrorCause::ShortBody.into(),
                may_retry,
            };
        }
        (false, _) if error.is_library() => ErrorCause::Malformed,
        (false, _) => ErrorCause::Other,
    };
    Event::Failed {
        stream,
        failure: RequestFailure::new(cause, name(error.reason())),
        may_retry,
    }
}

/// A connection failed.
pub(super) fn connection_failure(error: &h2::Error) -> RequestFailure {
    let cause = if error.is_remote() {
        ErrorCause::Goaway
    } else {
        ErrorCause::Malformed
    };
    RequestFailure::new(cause, name(error.reason()))
}
