//! What is asked of a server: how requests arrive, over how many connections, and how long each may take.

use crate::request::Request;
use crate::schedule::Arrivals;
use crate::session::Session;
use lastmile_testbed::http::Version;
use std::num::NonZeroU32;
use std::time::Duration;

/// A load: the demand, and how it is carried.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// How requests arrive.
    pub demand: Demand,
    /// How long requests arrive. Responses are awaited after that, each up to its timeout.
    pub duration: Duration,
    /// Requests that start earlier than this are sent, and not measured.
    pub warm_up: Duration,
    /// Independent clients, each with its own connections. Open arrivals go to them in turn.
    pub clients: NonZeroU32,
    /// The maximum number of open connections of each client.
    pub connections_per_client: NonZeroU32,
    /// The version of HTTP.
    pub http: HttpVersion,
    /// The number of requests per connection; none for as many as the server allows. 1 is a connection per request.
    pub requests_per_connection: Option<NonZeroU32>,
    /// The longest time from when a request should be sent to the end of its response.
    pub timeout: Duration,
    /// Whether connections are secured by TLS.
    pub tls: bool,
    /// The longest time that a connection may take to be established, TLS included.
    pub connect_timeout: Duration,
    /// The request.
    pub request: Request,
    /// Whether the time of each connection is kept, one by one, and that of each response: 32 bytes each.
    pub keeps_times: bool,
}

/// The version of HTTP that is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpVersion {
    /// RFC 9112: one request at a time over a connection.
    Http11,
    /// RFC 9113: many at a time. Without TLS, the server is known to speak it (section 3.3).
    Http2 {
        /// The maximum number of concurrent streams of a connection; fewer where the server allows fewer.
        streams: NonZeroU32,
    },
}

impl HttpVersion {
    /// The version by itself.
    pub const fn version(self) -> Version {
        match self {
            Self::Http11 => Version::Http11,
            Self::Http2 { .. } => Version::H2,
        }
    }

    /// The maximum number of concurrent requests of a connection.
    pub const fn streams(self) -> NonZeroU32 {
        match self {
            Self::Http11 => NonZeroU32::MIN,
            Self::Http2 { streams } => streams,
        }
    }
}

/// How requests arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// At times of their own, whatever the server does.
    Open {
        /// The times.
        arrivals: Arrivals,
        /// What each arrival begins.
        session: Session,
    },
    /// Each user sends a request, awaits the response, thinks, and sends the next.
    Closed {
        /// The users. Each belongs to one of the clients, and they share its connections.
        users: NonZeroU32,
        /// The time between a response and the next request.
        think_time: Duration,
    },
}

impl Plan {
    /// A plan with one client whose connections stay open, and default limits.
    pub fn new(demand: Demand, duration: Duration, request: Request) -> Self {
        Self {
            demand,
            duration,
            warm_up: Duration::ZERO,
            clients: NonZeroU32::MIN,
            connections_per_client: CONNECTIONS,
            http: HttpVersion::Http11,
            requests_per_connection: None,
            tls: false,
            timeout: TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            request,
            keeps_times: false,
        }
    }
}

impl Demand {
    /// Requests one by one, at times of their own.
    pub const fn open(arrivals: Arrivals) -> Self {
        Self::Open {
            arrivals,
            session: Session::SINGLE,
        }
    }
}

/// The default limit of concurrent streams: the lowest that a server should have (RFC 9113 section 6.5.2).
pub const STREAMS: NonZeroU32 = NonZeroU32::new(100).expect("it is above 0");

/// Default limits: our own choice. A SYN is sent again after 1, 3 and 7 s (RFC 6298 section 2), so a connection may lose two.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The default limit of the time that a connection takes.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The default limit of connections.
pub const CONNECTIONS: NonZeroU32 = NonZeroU32::new(10_000).expect("it is above 0");
