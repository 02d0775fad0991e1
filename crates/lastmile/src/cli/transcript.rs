//! How messages are read from a file: the options that `tune` and `encode` share.

use anyhow::bail;
use clap::{Args, ValueEnum};
use lastmile_traffic::messages::{FieldMapping, Format, LogMapping, Pattern};
use std::path::PathBuf;

/// A file of messages, and where they are in it.
#[derive(Debug, Args)]
pub(crate) struct TranscriptArgs {
    /// The messages: text with one message per line, JSON lines, length-prefixed binary, a HAR, or a capture; - is standard input
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,

    /// The transcript's format [default: by its name or its first bytes]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) input: Option<Input>,

    /// Read messages out of the JSON lines of a log: the field that holds the payload, as a dotted path, like data or ws.data
    ///
    /// A text is the message itself; of any other value, an object for instance, its JSON is, as it stands in the line. Lines without the field
    /// are left out and counted.
    #[arg(long, value_name = "FIELD", conflicts_with = "extract")]
    pub(crate) field: Option<String>,

    /// Read messages out of the lines of a text log: a regular expression whose one group is the payload, like 'payload=(.*)$'
    ///
    /// Groups named payload, direction, connection and time capture the other parts too: `(?<direction>send|recv) (?<payload>.*)$`. Lines that
    /// do not match are left out and counted.
    #[arg(long, value_name = "REGEX")]
    pub(crate) extract: Option<Pattern>,
}

/// The format of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Input {
    /// One message per line
    Text,
    /// One JSON object per line
    Jsonl,
    /// Each message after its length in four bytes, big-endian
    Binary,
    /// An HTTP archive with WebSocket messages
    Har,
    /// A packet capture, pcap or pcapng
    Pcap,
}

impl Input {
    /// The format of a transcript; none for a capture, which has a reader of its own.
    pub(crate) fn format(self) -> Option<Format> {
        match self {
            Self::Text => Some(Format::Text),
            Self::Jsonl => Some(Format::JsonLines),
            Self::Binary => Some(Format::LengthPrefixed),
            Self::Har => Some(Format::Har),
            Self::Pcap => None,
        }
    }
}

impl TranscriptArgs {
    /// Where the payload is in the lines of a log, if the caller says so.
    ///
    /// # Errors
    /// When the format that is named has no such lines.
    pub(crate) fn log_mapping(&self) -> anyhow::Result<Option<LogMapping>> {
        let (mapping, needed, option) = match (&self.field, &self.extract) {
            (Some(payload), _) => {
                let fields = FieldMapping {
                    payload: payload.clone(),
                    direction: None,
                    connection: None,
                    time: None,
                };
                (LogMapping::Fields(fields), Input::Jsonl, "--field reads JSON lines")
            }
            (None, Some(pattern)) => (
                LogMapping::Pattern(pattern.clone()),
                Input::Text,
                "--extract reads lines of text",
            ),
            (None, None) => return Ok(None),
        };
        if self.input.is_some_and(|input| input != needed) {
            bail!("{option}; leave out --input");
        }
        Ok(Some(mapping))
    }
}
