//! The formats of transcripts.

use super::keys;
use std::fmt;
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
            Self::JsonLines => keys::EXAMPLE,
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
