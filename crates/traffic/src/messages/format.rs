//! The formats of transcripts, and how a file's format is detected.

use super::{TranscriptError, WANTED, detect_json_log, jsonl, length_prefixed};
use crate::reading::note::NoteCounter;
use crate::reading::sniff::{FileKind, OpenedFile};
use flate2::read::MultiGzDecoder;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

/// The file format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Each line is a message.
    Text,
    /// Each line is a JSON object that describes a message.
    JsonLines,
    /// Each message follows its length: 4 bytes, big endian.
    LengthPrefixed,
    /// HTTP Archive with `_webSocketMessages`.
    Har,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Text, Self::JsonLines, Self::LengthPrefixed, Self::Har];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::JsonLines => "json-lines",
            Self::LengthPrefixed => "length-prefixed",
            Self::Har => "har",
        }
    }

    /// The remedy for a file without messages.
    pub(super) const fn remedy(self) -> &'static str {
        match self {
            Self::Text => "write one message per line",
            Self::JsonLines => jsonl::EXAMPLE,
            Self::LengthPrefixed => "write the length of each message before it, in 4 bytes, big endian",
            Self::Har => {
                "open the network panel of Chrome before the page connects, then save (\"Save all as HAR with content\"); \
                 other browsers leave messages out"
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of an unknown format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a transcript format; use text, json-lines, length-prefixed or har")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// The second remedy for a file that looks like another kind of file.
pub(super) const OR_TEXT: &str = "or set the input format to text, if each line as it stands is a message";

/// A file, decompressed if it was compressed.
type Decompressed<'a> = OpenedFile<Box<dyn Read + Send + 'a>>;

/// Detects the format of a file, and returns it with the file at its start.
///
/// # Errors
/// When it cannot be read, is empty, or is another kind of file.
pub(super) fn detect<'a>(
    from: Box<dyn Read + Send + 'a>,
    name: &str,
    stated: Option<Format>,
    remarks: &mut NoteCounter,
) -> Result<(Format, Decompressed<'a>), TranscriptError> {
    let opened = decompressed(OpenedFile::new(from, name)?, name)?;
    if opened.head().is_empty() {
        return Err(TranscriptError::new(name, "the file is empty", WANTED));
    }
    if let Some(format) = stated {
        return Ok((format, opened));
    }
    if let Some(signature) = opened.signature() {
        // Some signatures are letters, which lines of text may begin with.
        let remedy = match signature.kind {
            FileKind::Gzip | FileKind::Zstd => "it is compressed twice; decompress it first".to_owned(),
            FileKind::OtherPacked => format!("unpack it first, or compress it with gzip or zstd, {OR_TEXT}"),
            FileKind::Utf16 => "save it as UTF-8".to_owned(),
            FileKind::Capture => "read it as a capture, not as a transcript".to_owned(),
            FileKind::Other => format!("{WANTED}, {OR_TEXT}"),
        };
        let problem = format!("it looks like {}", signature.name);
        return Err(TranscriptError::new(name, problem, remedy));
    }
    let head = opened.head();
    if let Some(offset) = head.iter().position(|octet| *octet == 0) {
        if opened.alternates_with_zeros() {
            let remedy = "save it as UTF-8, or set the input format if it is another";
            return Err(TranscriptError::new(name, "it looks like text in UTF-16", remedy));
        }
        if length_prefixed::starts(head) {
            return Ok((Format::LengthPrefixed, opened));
        }
        let problem =
            format!("the file is binary: byte {offset} is 0, and it does not start with a length-prefixed message");
        return Err(TranscriptError::new(name, problem, format!("{WANTED}, {OR_TEXT}")));
    }
    let opened = opened.without_mark();
    let extension = extension(name);
    if extension.as_deref() == Some("har") {
        return Ok((Format::Har, opened));
    }
    let detected = detect_json_log::detect(opened.first_key(), opened.head());
    let (format, doubt) = detected.map_err(|detect_json_log::OneValue| {
        let problem = "the file starts with a JSON list, or an object over several lines, not with one object per line";
        let remedy =
            format!("write each object on a line of its own, as `jq -c '.[]'` does with those of a list, {OR_TEXT}");
        TranscriptError::new(name, problem, remedy)
    })?;
    let is_named_json_lines = matches!(extension.as_deref(), Some("jsonl" | "ndjson"));
    if let Some(doubt) = doubt {
        remarks.count(doubt, name);
    } else if format == Format::Text && is_named_json_lines {
        remarks.count(
            "JSON Lines file does not start with a key of a transcript, so each line as it stands is a message",
            name,
        );
    }
    Ok((format, opened))
}

/// The extension of a name in lower case, without a `.gz` or `.zst` at its end.
fn extension(name: &str) -> Option<String> {
    let extension = |name: &Path| name.extension()?.to_str().map(str::to_ascii_lowercase);
    let path = Path::new(name);
    match extension(path).as_deref() {
        Some("gz" | "zst") => extension(Path::new(path.file_stem()?)),
        other => other.map(str::to_owned),
    }
}

pub(super) fn decompressed<'a>(opened: Decompressed<'a>, name: &str) -> Result<Decompressed<'a>, TranscriptError> {
    let content: Box<dyn Read + Send + 'a> = match opened.signature().map(|signature| signature.kind) {
        Some(FileKind::Gzip) => Box::new(MultiGzDecoder::new(opened.content())),
        Some(FileKind::Zstd) => {
            let decoder = zstd::stream::read::Decoder::with_buffer(opened.content());
            Box::new(decoder.map_err(|error| TranscriptError::io(name, &error))?)
        }
        _ => return Ok(opened),
    };
    OpenedFile::new(content, name)
}
