//! Looks at the start of a file: signatures, the first JSON key, binary or text. Unpacks gzip and zstd, which a signature tells.

use super::SourceError;
use flate2::read::MultiGzDecoder;
use std::io::{BufReader, Chain, Cursor, Read};
use std::path::Path;

/// How many bytes of a file are examined: our own choice, more than any signature or first key needs.
const HEAD: u64 = 4096;

/// How much is read from a file at a time: our own choice.
const BUFFER: usize = 1 << 16;

/// The byte order mark that UTF-8 text may begin with.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An open file whose first bytes have been read.
pub(crate) struct OpenedFile<R> {
    /// Its first bytes.
    head: Vec<u8>,
    rest: R,
}

/// What a file is, by the signature in its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) kind: FileKind,
    /// Printed after "it looks like".
    pub(crate) name: &'static str,
}

/// Kinds of files that readers treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Gzip,
    Zstd,
    /// Other compressed files, and archives.
    OtherPacked,
    /// Text with two bytes per character.
    Utf16,
    /// A packet capture.
    Capture,
    /// A file that holds neither traffic nor messages.
    Other,
}

impl<R: Read> OpenedFile<R> {
    /// Reads the start of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn new(mut from: R, name: &str) -> Result<Self, SourceError> {
        let mut head = Vec::new();
        from.by_ref()
            .take(HEAD)
            .read_to_end(&mut head)
            .map_err(|error| SourceError::io(name, &error))?;
        Ok(Self { head, rest: from })
    }

    /// The file without its byte order mark.
    pub(crate) fn without_mark(mut self) -> Self {
        if self.head.starts_with(BYTE_ORDER_MARK) {
            self.head.drain(..BYTE_ORDER_MARK.len());
        }
        self
    }

    /// The whole content.
    pub(crate) fn content(self) -> BufReader<Chain<Cursor<Vec<u8>>, R>> {
        BufReader::with_capacity(BUFFER, Cursor::new(self.head).chain(self.rest))
    }
}

impl<R> OpenedFile<R> {
    /// Its first bytes; the whole content where that is short.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether it holds nothing but white space.
    pub(crate) fn is_blank(&self) -> bool {
        let all = (self.head.len() as u64) < HEAD - BYTE_ORDER_MARK.len() as u64;
        all && self.head.iter().all(u8::is_ascii_whitespace)
    }

    /// The first key of the JSON object that it starts with, if any.
    pub(crate) fn first_key(&self) -> Option<&[u8]> {
        let inside = self.head.trim_ascii_start().strip_prefix(b"{")?;
        let key = inside.trim_ascii_start().strip_prefix(b"\"")?;
        key.split(|byte| *byte == b'"').next()
    }

    /// The first characters after white space, where they do not start a JSON object.
    pub(crate) fn no_object(&self) -> Option<String> {
        let text = self.head.trim_ascii_start();
        let shown = String::from_utf8_lossy(&text[..text.len().min(24)]).into_owned();
        (text.first() != Some(&b'{')).then_some(shown)
    }

    /// Whether most bytes alternate between 0 and ASCII text, as in UTF-16.
    pub(crate) fn alternates_with_zeros(&self) -> bool {
        let is_text = |byte: u8| byte == b' ' || byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        let pairs = || self.head.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        let of_text = |is_ascii: &dyn Fn((u8, u8)) -> bool| {
            let starts = pairs().take(2).filter(|pair| is_ascii(*pair)).count() == 2;
            // Our own choice: the share in text that is mostly English.
            starts && pairs().filter(|pair| is_ascii(*pair)).count() * 4 >= pairs().len() * 3
        };
        of_text(&|(high, low)| high == 0 && is_text(low)) || of_text(&|(low, high)| high == 0 && is_text(low))
    }

    /// The known file type, if its first bytes match one.
    pub(crate) fn signature(&self) -> Option<Signature> {
        let known: [(&[u8], FileKind, &str); 15] = [
            (b"\x1f\x8b", FileKind::Gzip, "gzip data"),
            (b"PK\x03\x04", FileKind::OtherPacked, "a zip archive"),
            (b"\x28\xb5\x2f\xfd", FileKind::Zstd, "zstd data"),
            (b"BZh", FileKind::OtherPacked, "bzip2 data"),
            (b"\xfd7zXZ\0", FileKind::OtherPacked, "xz data"),
            (b"\xff\xfe", FileKind::Utf16, "text in UTF-16"),
            (b"\xfe\xff", FileKind::Utf16, "text in UTF-16"),
            (b"\x0a\x0d\x0d\x0a", FileKind::Capture, "a packet capture (pcapng)"),
            (b"\xd4\xc3\xb2\xa1", FileKind::Capture, "a packet capture (pcap)"),
            (b"\xa1\xb2\xc3\xd4", FileKind::Capture, "a packet capture (pcap)"),
            (b"\x4d\x3c\xb2\xa1", FileKind::Capture, "a packet capture (pcap)"),
            (b"\x89PNG", FileKind::Other, "a PNG image"),
            (b"\xff\xd8\xff", FileKind::Other, "a JPEG image"),
            (b"%PDF", FileKind::Other, "a PDF"),
            (b"\x7fELF", FileKind::Other, "a program (ELF)"),
        ];
        let found = known.into_iter().find(|(magic, ..)| self.head.starts_with(magic));
        found.map(|(_, kind, name)| Signature { kind, name })
    }
}

impl<'a> OpenedFile<Box<dyn Read + Send + 'a>> {
    /// The file unpacked, where it is packed with gzip or zstd; otherwise as it is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn unpacked(self, name: &str) -> Result<Self, SourceError> {
        let content: Box<dyn Read + Send + 'a> = match self.signature().map(|signature| signature.kind) {
            Some(FileKind::Gzip) => Box::new(MultiGzDecoder::new(self.content())),
            Some(FileKind::Zstd) => {
                let decoder = zstd::stream::read::Decoder::with_buffer(self.content());
                Box::new(decoder.map_err(|error| SourceError::io(name, &error))?)
            }
            _ => return Ok(self),
        };
        Self::new(content, name)
    }
}

/// The extension of a path in lower case, without a `.gz` or `.zst` at its end.
pub(crate) fn unpacked_extension(path: &Path) -> Option<String> {
    let extension = |path: &Path| path.extension()?.to_str().map(str::to_ascii_lowercase);
    match extension(path).as_deref() {
        Some("gz" | "zst") => extension(Path::new(path.file_stem()?)),
        other => other.map(str::to_owned),
    }
}
