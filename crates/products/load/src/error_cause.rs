//! The causes why a request fails, and what is known beside the cause.

use crate::http1::ResponseError;
use std::fmt;
use std::io;

/// Declares the causes with their names and explanations, and the list of them all.
macro_rules! causes {
    ($($(#[$about:meta])+ $cause:ident = $name:literal: $explanation:literal;)+) => {
        /// Why a request failed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCause {
            $($(#[$about])+ $cause,)+
        }

        impl ErrorCause {
            /// Every cause.
            pub const ALL: &[Self] = &[$(Self::$cause),+];

            /// As written in records: `refused`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$cause => $name,)+ }
            }

            /// What happened, in words.
            pub const fn explanation(self) -> &'static str {
                match self { $(Self::$cause => $explanation,)+ }
            }
        }
    };
}

causes! {
    /// Nothing listens.
    Refused = "refused": "the server refused the connection";
    /// There is no route.
    Unreachable = "unreachable": "the network has no route to the server";
    /// The handshake was not answered in time.
    SynLost = "syn-lost": "the connection was not established before its timeout: SYN or SYN-ACK were lost, or the server's backlog was full";
    /// TLS was refused, by either side.
    Tls = "tls": "the TLS handshake failed, or what came over TLS was not valid";
    /// The TLS handshake was not complete in time.
    SlowTls = "slow-tls": "the TLS handshake was not complete before the timeout";
    /// This machine has no port left.
    LocalPorts = "local-ports": "this machine has no local port left for the connection";
    /// This machine has no descriptor or memory left.
    LocalDescriptors = "local-descriptors": "this machine has no file descriptor or socket memory left";
    /// No connection was free in time.
    LocalQueue = "local-queue": "no connection of the client was free before the request's timeout";
    /// The server reset the connection.
    Reset = "reset": "the connection was reset";
    /// The connection ended before the response.
    ClosedBeforeResponse = "closed-before-response": "the server closed the connection before the first byte of the response";
    /// It ended within the head.
    ShortHead = "short-head": "the server closed the connection within the head of the response";
    /// It ended within the body.
    ShortBody = "short-body": "the server closed the connection within the body of the response";
    /// No byte of the response came in time.
    NoResponse = "no-response": "no byte of the response came before the timeout";
    /// The head was not complete in time.
    SlowHead = "slow-head": "the head of the response was not complete before the timeout";
    /// The body was not complete in time.
    SlowBody = "slow-body": "the body of the response was not complete before the timeout";
    /// The server ended the connection by GOAWAY.
    Goaway = "goaway": "the server ended the HTTP/2 connection by GOAWAY before the response";
    /// The server refused the stream.
    RefusedStream = "refused-stream": "the server refused the HTTP/2 stream";
    /// The server ended the stream by RST_STREAM.
    StreamReset = "stream-reset": "the server ended the HTTP/2 stream by RST_STREAM";
    /// The response is not HTTP/1.1, or not HTTP/2.
    Malformed = "malformed": "the response is malformed";
    /// The head does not end.
    HeadTooLong = "head-too-long": "the head of the response does not end";
    /// A status of 400 or above.
    Status = "status": "the status of the response was 400 or above";
    /// Another error of the operating system.
    Other = "other": "another error of the operating system";
}

impl ErrorCause {
    /// Whether a server that fails every request for this cause does so at any rate.
    pub const fn is_of_any_rate(self) -> bool {
        matches!(self, Self::Refused | Self::Unreachable | Self::Tls | Self::Malformed)
    }

    /// The cause of an error of a socket.
    pub fn of_io(error: &io::Error) -> Self {
        // Linux: EMFILE 24, ENFILE 23, ENOMEM 12, ENOBUFS 105.
        if matches!(error.raw_os_error(), Some(12 | 23 | 24 | 105)) {
            return Self::LocalDescriptors;
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => Self::Unreachable,
            io::ErrorKind::TimedOut => Self::SynLost,
            io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => Self::LocalPorts,
            io::ErrorKind::OutOfMemory => Self::LocalDescriptors,
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Self::Reset
            }
            io::ErrorKind::UnexpectedEof => Self::ClosedBeforeResponse,
            _ => Self::Other,
        }
    }
}

/// What is known about a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestFailure {
    /// Its cause.
    pub cause: ErrorCause,
    /// What tells failures of one cause apart, where that is known.
    pub reason: Option<Reason>,
}

/// What tells failures of one cause apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// In words, or by the name that a protocol has for it: `INTERNAL_ERROR`.
    Text(&'static str),
    /// The status code of a response.
    Status(u16),
}

impl RequestFailure {
    /// A failure with a reason in words.
    pub const fn new(cause: ErrorCause, reason: &'static str) -> Self {
        Self {
            cause,
            reason: Some(Reason::Text(reason)),
        }
    }

    /// A response with a status of 400 or above.
    pub const fn status(status: u16) -> Self {
        Self {
            cause: ErrorCause::Status,
            reason: Some(Reason::Status(status)),
        }
    }
}

impl From<ErrorCause> for RequestFailure {
    fn from(cause: ErrorCause) -> Self {
        Self { cause, reason: None }
    }
}

impl From<ResponseError> for RequestFailure {
    fn from(error: ResponseError) -> Self {
        match error {
            ResponseError::HeadTooLong => ErrorCause::HeadTooLong.into(),
            ResponseError::Malformed(why) => Self::new(ErrorCause::Malformed, why),
            ResponseError::ClosedBeforeResponse => ErrorCause::ClosedBeforeResponse.into(),
            ResponseError::ShortHead => ErrorCause::ShortHead.into(),
            ResponseError::ShortBody => ErrorCause::ShortBody.into(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Status(status) => status.fmt(f),
        }
    }
}

impl fmt::Display for ErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn an_error_of_the_system_has_its_cause() {
        use nix::errno::Errno;
        let causes = [
            (Errno::ECONNREFUSED, ErrorCause::Refused),
            (Errno::ENETUNREACH, ErrorCause::Unreachable),
            (Errno::EHOSTUNREACH, ErrorCause::Unreachable),
            (Errno::ETIMEDOUT, ErrorCause::SynLost),
            (Errno::EADDRNOTAVAIL, ErrorCause::LocalPorts),
            (Errno::EMFILE, ErrorCause::LocalDescriptors),
            (Errno::ENFILE, ErrorCause::LocalDescriptors),
            (Errno::ENOBUFS, ErrorCause::LocalDescriptors),
            (Errno::ENOMEM, ErrorCause::LocalDescriptors),
            (Errno::ECONNRESET, ErrorCause::Reset),
            (Errno::EPIPE, ErrorCause::Reset),
            (Errno::EIO, ErrorCause::Other),
        ];
        for (number, cause) in causes {
            assert_eq!(ErrorCause::of_io(&number.into()), cause, "{number}");
        }
    }

    #[test]
    fn each_cause_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = ErrorCause::ALL.iter().map(|cause| cause.name()).collect();
        assert_eq!(names.len(), ErrorCause::ALL.len());
    }
}
