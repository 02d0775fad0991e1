//! Where heads and bodies of HTTP/1.1 messages end (RFC 9112), sans-IO and in constant memory.
//!
//! Fields and what they mean are left to the users: a client refuses what a recording must put up with.

mod message_body;

pub use message_body::{BodyError, BodyPart, Framing, MessageBody};

/// The index behind the empty line that ends a head; `from` is where the search begins. Lines may end in LF alone (RFC 9112 section 2.2).
pub fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\n') {
        let line_end = at + found;
        match &bytes[line_end + 1..] {
            [b'\n', ..] => return Some(line_end + 2),
            [b'\r', b'\n', ..] => return Some(line_end + 3),
            _ => at = line_end + 1,
        }
    }
    None
}
