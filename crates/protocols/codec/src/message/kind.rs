//! The type of a message.

/// The type of a message: the opcode of its first frame (RFC 6455 section 11.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text in UTF-8: opcode 1.
    Text,
    /// Arbitrary bytes: opcode 2.
    Binary,
}
