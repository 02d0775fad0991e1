//! The reasons for which bytes are refused as a message of Ice or GIOP.

use lastmile_units::ByteCount;

/// Why bytes are no message. The connection that they came over cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("this is not {protocol}: a message begins with {found:02x?} instead of \"{}\"", expected.escape_ascii())]
    Magic {
        protocol: &'static str,
        expected: [u8; 4],
        found: [u8; 4],
    },
    /// Another protocol version, or another version of the protocol's encoding.
    #[error("{what} {}.{} is not read; use {}.{}", found.0, found.1, supported.0, supported.1)]
    Version {
        what: &'static str,
        found: (u8, u8),
        supported: (u8, u8),
    },
    #[error("there is no message of type {found}; types are 0 to {max}")]
    Type { found: u8, max: u8 },
    /// A compression status of Ice that does not exist.
    #[error("there is no compression status {0}; it is 0, 1 or 2")]
    Status(u8),
    /// A message is above the limit, with all its fragments or once it is decompressed.
    #[error("a message of {length} exceeds the limit of {limit}; raise the limit if that is intended")]
    TooLarge { length: ByteCount, limit: ByteCount },
    /// Too many messages whose fragments have not all arrived.
    #[error("{0} messages are incomplete at the same time, which is the limit")]
    Unfinished(usize),
    /// A message, or a field of it, is shorter than its declared size.
    #[error("{field} is cut off at byte {at} of a message of {length}")]
    Truncated {
        field: &'static str,
        at: usize,
        /// The length of the message.
        length: ByteCount,
    },
    /// A field has a value that it cannot have, or that is not read.
    #[error("{field} at byte {at} is {found}")]
    Invalid {
        field: &'static str,
        at: usize,
        found: String,
    },
    /// Compressed data that bzip2 cannot read.
    #[error("a compressed message is corrupt: {0}")]
    Corrupt(String),
}

impl ReadError {
    pub(crate) fn invalid(field: &'static str, at: usize, found: impl Into<String>) -> Self {
        let found = found.into();
        Self::Invalid { field, at, found }
    }

    /// Refuses a message that does not begin with `expected`, as soon as its first bytes show that: a peer that does not speak the protocol
    /// shall not be waited for.
    pub(crate) fn check_magic(bytes: &[u8], protocol: &'static str, expected: [u8; 4]) -> Result<(), Self> {
        let known = bytes.len().min(4);
        if bytes[..known] == expected[..known] {
            return Ok(());
        }
        let mut found = [0; 4];
        found[..known].copy_from_slice(&bytes[..known]);
        Err(Self::Magic {
            protocol,
            expected,
            found,
        })
    }

    /// Refuses a message of `length` bytes above the limit.
    pub(crate) fn check_length(length: usize, limit: ByteCount) -> Result<(), Self> {
        let length = ByteCount::from(length);
        if length > limit {
            return Err(Self::TooLarge { length, limit });
        }
        Ok(())
    }
}
