//! The reasons for which bytes are refused as an Ice message.

use lastmile_units::ByteCount;

/// Why bytes are no Ice message. The connection that they came over cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IceError {
    /// The first four bytes are not `IceP`.
    #[error("this is not the Ice protocol: a message begins with {found:02x?} instead of \"IceP\"")]
    Magic {
        /// The bytes there.
        found: [u8; 4],
    },
    /// Another protocol, or another version of its encoding.
    #[error("Ice {what} {major}.{minor} is not read; use 1.0")]
    Version {
        /// `protocol` or `protocol encoding`.
        what: &'static str,
        /// Its major version.
        major: u8,
        /// Its minor version.
        minor: u8,
    },
    /// A message type that does not exist.
    #[error("there is no message of type {0}; types are 0 to 4")]
    Type(u8),
    /// A compression status that does not exist.
    #[error("there is no compression status {0}; it is 0, 1 or 2")]
    Status(u8),
    /// A message, or what it decompresses to, is above the limit.
    #[error("a message of {length} exceeds the limit of {limit}; raise the limit if that is intended")]
    TooLarge {
        /// Its length, as declared.
        length: ByteCount,
        /// The limit.
        limit: ByteCount,
    },
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
    /// A field has a value that it cannot have.
    #[error("{field} at byte {at} is {found}")]
    Invalid {
        /// What was read.
        field: &'static str,
        /// Where.
        at: usize,
        /// What is wrong with it.
        found: String,
    },
    /// Compressed data that bzip2 cannot read.
    #[error("a compressed message is corrupt: {0}")]
    Corrupt(String),
}
