//! Can a file be traffic at all, and how is it written?

use super::TrafficError;
use crate::source::opening::{FileKind, Opened};
use std::io::Read;

/// How traffic is written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// One JSON object, `{"log": {"entries": [...]}}`.
    Har,
    /// A JSON object a line.
    JsonLines,
}

/// Looks at the start of a file.
///
/// # Errors
/// When it cannot be read, is empty, or is not text in UTF-8.
pub(super) fn open<R: Read>(from: R, name: &str) -> Result<Opened<R>, TrafficError> {
    let opened = Opened::new(from, name)?.without_mark();
    if opened.is_blank() {
        return Err(TrafficError::new(name, "the file is empty", EXPORT));
    }
    if let Some(signature) = opened.signature() {
        let remedy = match signature.kind {
            FileKind::Gzip | FileKind::Zstd | FileKind::OtherPacked => "unpack it first",
            FileKind::Utf16 => "save it as UTF-8",
            FileKind::Capture => "captures of packets are not traffic to advise on; save a HAR in the browser",
            FileKind::Other => EXPORT,
        };
        return Err(TrafficError::new(
            name,
            format!("it looks like {}", signature.name),
            remedy,
        ));
    }
    let head = opened.head();
    if let Some(offset) = head.iter().position(|octet| matches!(octet, 0..=8 | 11 | 14..=31)) {
        let problem = format!(
            "it is binary: octet {offset} is {:#04x}, which text never holds",
            head[offset]
        );
        return Err(TrafficError::new(name, problem, EXPORT));
    }
    Ok(opened)
}

/// The way to a HAR.
pub(super) const EXPORT: &str =
    "save one from the network panel of a browser's developer tools (\"Save all as HAR with content\")";

/// What the first key says; a HAR where it says nothing.
pub(super) fn format<R>(opened: &Opened<R>) -> Format {
    let known = |key: &[u8]| super::jsonl::KEYS.iter().any(|known| known.as_bytes() == key);
    match opened.first_key() {
        Some(key) if known(key) => Format::JsonLines,
        _ => Format::Har,
    }
}
