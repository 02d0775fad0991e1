//! What does a file begin with, and can it be traffic at all?

use super::TrafficError;
use std::io::{BufReader, Chain, Cursor, Read};

/// How much of a file is looked at: our own choice, more than any signature or first key needs.
const HEAD: u64 = 4096;

/// How much is read from a file at a time: our own choice.
const BUFFER: usize = 1 << 16;

/// A file at its start, past any byte order mark.
pub(super) struct Opened<R> {
    /// Its first octets.
    head: Vec<u8>,
    /// All of it.
    pub(super) content: BufReader<Chain<Cursor<Vec<u8>>, R>>,
}

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
pub(super) fn open<R: Read>(mut from: R, name: &str) -> Result<Opened<R>, TrafficError> {
    let mut head = Vec::new();
    from.by_ref()
        .take(HEAD)
        .read_to_end(&mut head)
        .map_err(|error| TrafficError::io(name, &error))?;
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    if head.iter().all(u8::is_ascii_whitespace) && (head.len() as u64) < HEAD - 3 {
        return Err(TrafficError::new(name, "the file is empty", EXPORT));
    }
    if let Some((looks_like, remedy)) = signature(&head) {
        return Err(TrafficError::new(name, format!("it looks like {looks_like}"), remedy));
    }
    if let Some(offset) = head.iter().position(|octet| matches!(octet, 0..=8 | 11 | 14..=31)) {
        let problem = format!(
            "it is binary: octet {offset} is {:#04x}, which text never holds",
            head[offset]
        );
        return Err(TrafficError::new(name, problem, EXPORT));
    }
    let content = BufReader::with_capacity(BUFFER, Cursor::new(head.clone()).chain(from));
    Ok(Opened { head, content })
}

/// The way to a HAR.
pub(super) const EXPORT: &str =
    "save one from the network panel of a browser's developer tools (\"Save all as HAR with content\")";

impl<R> Opened<R> {
    /// What the first key says; a HAR where it says nothing.
    pub(super) fn format(&self) -> Format {
        let text = self.head.trim_ascii_start();
        let Some(inside) = text.strip_prefix(b"{") else {
            return Format::Har;
        };
        let Some(key) = inside.trim_ascii_start().strip_prefix(b"\"") else {
            return Format::Har;
        };
        let key = key.split(|octet| *octet == b'"').next().unwrap_or_default();
        let known = super::jsonl::KEYS.iter().any(|known| known.as_bytes() == key);
        if known { Format::JsonLines } else { Format::Har }
    }

    /// The first characters other than white space, where the file does not start as a JSON object does.
    pub(super) fn no_object(&self) -> Option<String> {
        let text = self.head.trim_ascii_start();
        let shown = String::from_utf8_lossy(&text[..text.len().min(24)]).into_owned();
        (text.first() != Some(&b'{')).then_some(shown)
    }
}

/// Known by their first octets, with what to do.
fn signature(head: &[u8]) -> Option<(&'static str, &'static str)> {
    const UNPACK: &str = "unpack it first";
    const NOT_YET: &str = "captures of packets are not traffic to advise on; save a HAR in the browser";
    let known: [(&[u8], &str, &str); 13] = [
        (b"\x1f\x8b", "gzip data", UNPACK),
        (b"PK\x03\x04", "a zip archive", UNPACK),
        (b"\x28\xb5\x2f\xfd", "zstd data", UNPACK),
        (b"BZh", "bzip2 data", UNPACK),
        (b"\xfd7zXZ\0", "xz data", UNPACK),
        (b"\xff\xfe", "text in UTF-16", "save it as UTF-8"),
        (b"\xfe\xff", "text in UTF-16", "save it as UTF-8"),
        (b"\x0a\x0d\x0d\x0a", "a packet capture (pcapng)", NOT_YET),
        (b"\xd4\xc3\xb2\xa1", "a packet capture (pcap)", NOT_YET),
        (b"\x89PNG", "a PNG image", EXPORT),
        (b"\xff\xd8\xff", "a JPEG image", EXPORT),
        (b"%PDF", "a PDF", EXPORT),
        (b"\x7fELF", "a program (ELF)", EXPORT),
    ];
    known
        .into_iter()
        .find(|(magic, ..)| head.starts_with(magic))
        .map(|(_, what, remedy)| (what, remedy))
}
