//! How is a transcript written?

use super::{TranscriptError, WANTED, json_start, jsonl, length_prefixed};
use crate::source::opening::{FileKind, Opened};
use crate::source::remark::Tally;
use flate2::read::MultiGzDecoder;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::str::FromStr;

/// How a transcript is written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A line is a message.
    Text,
    /// A line is a JSON object that describes a message.
    JsonLines,
    /// Before each message stands its length: 4 octets, big endian.
    LengthPrefixed,
    /// HTTP Archive with `_webSocketMessages`.
    Har,
}

impl Format {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::Text, Self::JsonLines, Self::LengthPrefixed, Self::Har];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::JsonLines => "json-lines",
            Self::LengthPrefixed => "length-prefixed",
            Self::Har => "har",
        }
    }

    /// What to give where there is nothing in a file.
    pub(super) const fn wanted(self) -> &'static str {
        match self {
            Self::Text => "write a message a line",
            Self::JsonLines => jsonl::EXAMPLE,
            Self::LengthPrefixed => "write the length of each message before it, in 4 octets, big endian",
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

/// A format that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no format of transcripts; there are text, json-lines, length-prefixed and har")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.into_iter().find(|format| format.name() == text);
        found.ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}

/// What else to do with a file that is taken for something else.
const OR_TEXT: &str = "or say that the format is text, if each line as it stands is a message";

/// A file whose packing, if it had one, is taken off.
type Unpacked<'a> = Opened<Box<dyn Read + Send + 'a>>;

/// Says how a file is written, if it can be a transcript at all, and gives it from its start.
///
/// # Errors
/// When it cannot be read, is empty, or is something else.
pub(super) fn find<'a>(
    from: Box<dyn Read + Send + 'a>,
    name: &str,
    stated: Option<Format>,
    remarks: &mut Tally,
) -> Result<(Format, Unpacked<'a>), TranscriptError> {
    let opened = unpacked(Opened::new(from, name)?, name)?;
    if opened.head().is_empty() {
        return Err(TranscriptError::new(name, "the file is empty", WANTED));
    }
    if let Some(format) = stated {
        return Ok((format, opened));
    }
    if let Some(signature) = opened.signature() {
        // Lines of text may begin as a file with a signature of letters does.
        let remedy = match signature.kind {
            FileKind::Gzip | FileKind::Zstd => "it is packed twice; unpack it first".to_owned(),
            FileKind::OtherPacked => format!("unpack it first, or pack it with gzip or zstd, {OR_TEXT}"),
            FileKind::Utf16 => "save it as UTF-8".to_owned(),
            FileKind::Capture => "read it as a capture, and not as a transcript".to_owned(),
            FileKind::Other => format!("{WANTED}, {OR_TEXT}"),
        };
        let problem = format!("it looks like {}", signature.name);
        return Err(TranscriptError::new(name, problem, remedy));
    }
    let head = opened.head();
    if let Some(offset) = head.iter().position(|octet| *octet == 0) {
        if opened.alternates_with_zeros() {
            let remedy = "save it as UTF-8, or say the format, if it is another";
            return Err(TranscriptError::new(name, "it looks like text in UTF-16", remedy));
        }
        if length_prefixed::starts(head) {
            return Ok((Format::LengthPrefixed, opened));
        }
        let problem =
            format!("it is binary: octet {offset} is 0, and its start is no message with its length before it");
        return Err(TranscriptError::new(name, problem, format!("{WANTED}, {OR_TEXT}")));
    }
    let opened = opened.without_mark();
    let extension = extension(name);
    if extension.as_deref() == Some("har") {
        return Ok((Format::Har, opened));
    }
    let (format, doubt) = json_start::format(opened.first_key(), opened.head());
    let is_named_json_lines = matches!(extension.as_deref(), Some("jsonl" | "ndjson"));
    if let Some(doubt) = doubt {
        remarks.count(doubt, name);
    } else if format == Format::Text && is_named_json_lines {
        remarks.count(
            "file of JSON Lines whose first key is none of a transcript's, so that each line as it stands is a message",
            name,
        );
    }
    Ok((format, opened))
}

/// The extension of a name in lower case; that of what is packed, where it is.
fn extension(name: &str) -> Option<String> {
    let extension = |name: &Path| name.extension()?.to_str().map(str::to_ascii_lowercase);
    let path = Path::new(name);
    match extension(path).as_deref() {
        Some("gz" | "zst") => extension(Path::new(path.file_stem()?)),
        other => other.map(str::to_owned),
    }
}

pub(super) fn unpacked<'a>(opened: Unpacked<'a>, name: &str) -> Result<Unpacked<'a>, TranscriptError> {
    let content: Box<dyn Read + Send + 'a> = match opened.signature().map(|signature| signature.kind) {
        Some(FileKind::Gzip) => Box::new(MultiGzDecoder::new(opened.content())),
        Some(FileKind::Zstd) => {
            let decoder = zstd::stream::read::Decoder::with_buffer(opened.content());
            Box::new(decoder.map_err(|error| TranscriptError::io(name, &error))?)
        }
        _ => return Ok(opened),
    };
    Opened::new(content, name)
}
