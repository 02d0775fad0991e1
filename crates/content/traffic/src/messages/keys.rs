//! The keys of transcripts in JSON Lines, and the remedies that several readers name.

/// The keys of a line.
pub(super) const KEYS: [&str; 6] = [
    "direction",
    "time_ms",
    "opcode",
    "connection",
    "payload",
    "payload_base64",
];

/// The keys for the payload; every line has exactly one of them.
pub(super) const PAYLOADS: [&str; 2] = ["payload", "payload_base64"];

pub(super) const EXAMPLE: &str = r#"write a line like {"direction": "sent", "time_ms": 12.5, "opcode": "text", "connection": 0, "payload": "…"}, or set the input format to text, if each line as it stands is a message"#;

/// The second remedy for a file that looks like another kind of file.
pub(super) const OR_TEXT: &str = "or set the input format to text, if each line as it stands is a message";
