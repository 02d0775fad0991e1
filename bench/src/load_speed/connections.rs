//! How requests go over connections, in the comparison of generators.

/// How requests go over connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connections {
    KeepAlive,
    PerRequest,
    /// Over clear text.
    Http2,
}

impl Connections {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::KeepAlive => "keep-alive",
            Self::PerRequest => "a connection per request",
            Self::Http2 => "HTTP/2, 10 streams per connection",
        }
    }

    /// The generator that others are compared with.
    pub(crate) const fn reference(self) -> &'static str {
        match self {
            Self::KeepAlive | Self::PerRequest => "wrk",
            Self::Http2 => "h2load",
        }
    }
}
