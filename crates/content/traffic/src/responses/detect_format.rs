//! Rejects files that cannot be traffic, and detects whether the rest are HAR or JSON Lines.

use super::TrafficError;
use crate::reading::sniff::{FileKind, OpenedFile};
use std::io::Read;

/// The file format of traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// One JSON object, `{"log": {"entries": [...]}}`.
    Har,
    /// One JSON object per line.
    JsonLines,
}

/// Reads and checks the start of a file.
///
/// # Errors
/// When it cannot be read, is empty, or is not text in UTF-8.
pub(super) fn open<R: Read>(from: R, name: &str) -> Result<OpenedFile<R>, TrafficError> {
    let opened = OpenedFile::new(from, name)?.without_mark();
    if opened.is_blank() {
        return Err(TrafficError::new(name, "the file is empty", EXPORT));
    }
    if let Some(signature) = opened.signature() {
        let remedy = match signature.kind {
            FileKind::Gzip | FileKind::Zstd | FileKind::OtherPacked => "unpack it first",
            FileKind::Utf16 => "save it as UTF-8",
            FileKind::Capture => "responses are not read from packet captures; save a HAR in the browser",
            FileKind::Other => EXPORT,
        };
        return Err(TrafficError::new(
            name,
            format!("it looks like {}", signature.name),
            remedy,
        ));
    }
    let head = opened.head();
    if let Some(offset) = head.iter().position(|byte| matches!(byte, 0..=8 | 11 | 14..=31)) {
        let problem = format!(
            "the file is binary: byte {offset} is {:#04x}, which text never contains",
            head[offset]
        );
        return Err(TrafficError::new(name, problem, EXPORT));
    }
    Ok(opened)
}

/// How to get a HAR.
pub(super) const EXPORT: &str =
    "save one from the network panel of a browser's developer tools (\"Save all as HAR with content\")";

/// The format that the first key shows; HAR where it shows none.
pub(super) fn format<R>(opened: &OpenedFile<R>) -> Format {
    let known = |key: &[u8]| super::jsonl::KEYS.iter().any(|known| known.as_bytes() == key);
    match opened.first_key() {
        Some(key) if known(key) => Format::JsonLines,
        _ => Format::Har,
    }
}
