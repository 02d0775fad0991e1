//! The reasons for which bytes are refused as a GIOP message.

use lastmile_units::ByteCount;

/// Why bytes are no GIOP message. The connection that they came over cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GiopError {
    /// The first four bytes are not `GIOP`.
    #[error("this is not GIOP: a message begins with {found:02x?} instead of \"GIOP\"")]
    Magic {
        /// The bytes there.
        found: [u8; 4],
    },
    /// Another version.
    #[error("GIOP {major}.{minor} is not read; use 1.2")]
    Version {
        /// Its major version.
        major: u8,
        /// Its minor version.
        minor: u8,
    },
    /// A message type that does not exist.
    #[error("there is no message of type {0}; types are 0 to 7")]
    Type(u8),
    /// A message, with all its fragments, is above the limit.
    #[error("a message of {length} exceeds the limit of {limit}; raise the limit if that is intended")]
    TooLarge {
        /// Its length, as declared.
        length: ByteCount,
        /// The limit.
        limit: ByteCount,
    },
    /// Too many messages whose fragments have not all arrived.
    #[error("{0} messages are incomplete at the same time, which is the limit")]
    Unfinished(usize),
    /// A message, or a field of it, is shorter than its declared size.
    #[error("{field} is cut off at byte {at} of a message of {length}")]
    Truncated {
        /// What was being read.
        field: &'static str,
        /// Where.
        at: usize,
        /// The length of the message.
        length: ByteCount,
    },
    /// A field has a value that it cannot have, or that is not read.
    #[error("{field} at byte {at} is {found}")]
    Invalid {
        /// What was read.
        field: &'static str,
        /// Where.
        at: usize,
        /// What is wrong with it.
        found: String,
    },
}
