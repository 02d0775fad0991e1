//! Reads the messages of a file: a transcript in any format, or a capture's WebSocket connections.

use crate::cli::transcript::{Input, TranscriptArgs};
use crate::progress;
use crate::run_store::command_line;
use anyhow::{Context as _, anyhow, bail};
use lastmile_capture::websocket;
use lastmile_report::screen::shell_word;
use lastmile_traffic::messages::{
    self, Direction, Format, LINES_AS_THEY_STAND, Location, LogMapping, Message, Proposal, Reading, Transcript,
};
use lastmile_tune::End;
use lastmile_tune::record::TranscriptFormat;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// How a file is read.
pub(crate) struct Request<'a> {
    pub(crate) args: &'a TranscriptArgs,
    /// Where the parts of messages are in the lines of a log.
    pub(crate) mapping: Option<LogMapping>,
    /// The direction of the server's messages, for logs that name the ends.
    pub(crate) server_sends: Direction,
    pub(crate) purpose: Purpose,
}

/// What a message counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A message of a connection, with its direction and time.
    Message,
    /// A document by itself.
    Document,
}

/// What a file holds.
pub(crate) struct Content<C> {
    /// The file, as it was named.
    pub(crate) source: String,
    pub(crate) format: TranscriptFormat,
    /// What was assumed or left out.
    pub(crate) notes: Vec<String>,
    /// The end that its format is recorded at.
    pub(crate) recorded_at: End,
    pub(crate) messages: C,
}

/// The messages of a file in its order, each with its location.
type Located<'a> = &'a mut dyn Iterator<Item = anyhow::Result<(Location, Message)>>;

/// Reads a file to its end; `gather` collects its messages.
///
/// # Errors
/// When it cannot be read, or a message in it is not understood: the error names the file and the position.
pub(crate) fn read<C>(
    request: Request<'_>,
    gather: impl FnOnce(TranscriptFormat, Located<'_>) -> anyhow::Result<C>,
) -> anyhow::Result<Content<C>> {
    let InputSource { source, length, bytes } = open(&request.args.transcript)?;
    let bar = progress::bytes();
    bar.set_length(length);
    let mut bytes = messages::decompressed(bar.wrap_read(bytes), &source)?;
    let head = head(&mut bytes).with_context(|| format!("{source} cannot be read"))?;
    let is_capture = match request.args.input {
        _ if request.mapping.is_some() => false,
        None => begins_as_capture(&head),
        Some(input) => input == Input::Pcap,
    };
    let bytes = Cursor::new(head).chain(bytes);
    let content = if is_capture {
        read_capture(bytes, source, gather)
    } else {
        read_transcript(bytes, source, request, gather)
    }?;
    bar.finish_and_clear();
    Ok(content)
}

/// An opened input.
struct InputSource {
    /// Its name for messages.
    source: String,
    /// Its length in bytes; 0 where that is not known.
    length: u64,
    bytes: Box<dyn Read + Send>,
}

/// A file's name for messages: `-` is standard input.
pub(crate) fn name(path: &Path) -> String {
    if path == Path::new("-") {
        lastmile_report::screen::STANDARD_INPUT.to_owned()
    } else {
        path.display().to_string()
    }
}

/// Opens a file, or standard input.
fn open(path: &Path) -> anyhow::Result<InputSource> {
    const WANTED: &str = "give a file of messages, a HAR or a capture, or - for standard input";
    let source = name(path);
    if path == Path::new("-") {
        return Ok(InputSource {
            source,
            length: 0,
            bytes: Box::new(io::stdin()),
        });
    }
    let opened = File::open(path).and_then(|opened| Ok((opened.metadata()?, opened)));
    let (metadata, file) = opened.with_context(|| format!("{source} cannot be read; {WANTED}"))?;
    if metadata.is_dir() {
        bail!("{source} is a folder; {WANTED}");
    }
    Ok(InputSource {
        source,
        length: metadata.len(),
        bytes: Box::new(file),
    })
}

/// The first bytes, as many as identify a capture. The input may be a pipe, which cannot be rewound.
fn head(bytes: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(4).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether a file begins as pcap or pcapng do.
fn begins_as_capture(head: &[u8]) -> bool {
    // pcap in either byte order, with times in microseconds or nanoseconds; pcapng's section header.
    const MAGIC: [[u8; 4]; 7] = [
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x4d, 0x3c, 0xb2, 0xa1],
        // With more fields per packet, as some kernels' tcpdump wrote it.
        [0xa1, 0xb2, 0xcd, 0x34],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    MAGIC.iter().any(|magic| magic == head)
}

fn read_transcript<C>(
    bytes: impl Read + Send,
    source: String,
    request: Request<'_>,
    gather: impl FnOnce(TranscriptFormat, Located<'_>) -> anyhow::Result<C>,
) -> anyhow::Result<Content<C>> {
    let stated = request.args.input;
    let reading = Reading {
        format: stated.and_then(Input::format),
        ..Reading::default()
    };
    let mut transcript = match request.mapping {
        Some(mapping) => Transcript::read_log(bytes, &source, reading, mapping, request.server_sends)?,
        None => Transcript::read(bytes, &source, reading)?,
    };
    let (format, recorded_at) = match transcript.format() {
        Format::Text => (TranscriptFormat::Text, End::Server),
        Format::JsonLines => (TranscriptFormat::Jsonl, End::Server),
        Format::LengthPrefixed => (TranscriptFormat::Binary, End::Server),
        // A browser saved it.
        Format::Har => (TranscriptFormat::Har, End::Client),
    };
    let mut located = std::iter::from_fn(|| {
        let message = transcript.next()?;
        Some(
            message
                .map(|message| (transcript.location(), message))
                .map_err(Into::into),
        )
    });
    let messages = gather(format, &mut located).map_err(|error| match transcript.proposal() {
        Some(proposal) => with_commands(&error, proposal, stated, request.purpose),
        None => error,
    })?;
    // A document a line is what is expected, and worth no note.
    let is_news = |note: &messages::Note| request.purpose == Purpose::Message || note.what != LINES_AS_THEY_STAND;
    let notes = transcript.notes().into_iter().filter(is_news);
    Ok(Content {
        notes: notes.map(|note| note.to_string()).collect(),
        source,
        format,
        recorded_at,
        messages,
    })
}

/// The refusal of a log's lines, with the commands that read them.
fn with_commands(error: &anyhow::Error, proposal: &Proposal, stated: Option<Input>, purpose: Purpose) -> anyhow::Error {
    let command = command_line();
    let options = mapping_options(&proposal.mapping, purpose);
    let meaning = match &proposal.direction {
        _ if purpose == Purpose::Document => String::new(),
        Some((word, Direction::Sent)) => format!(" ({word:?} is sent)"),
        Some((word, Direction::Received)) => format!(" ({word:?} is received)"),
        None => String::new(),
    };
    let mut text = format!("{error}\nTo read the messages out of the lines{meaning}:\n  {command} {options}");
    if stated.is_none() {
        text += &format!("\nTo take each line as it stands:\n  {command} --input text");
    }
    anyhow!(text)
}

/// The options that say where the parts of messages are, as a shell reads them.
fn mapping_options(mapping: &LogMapping, purpose: Purpose) -> String {
    let options = match mapping {
        LogMapping::Pattern(pattern) => vec![("--extract", Some(pattern.as_str()))],
        LogMapping::Fields(fields) if purpose == Purpose::Document => vec![("--field", Some(fields.payload.as_str()))],
        LogMapping::Fields(fields) => vec![
            ("--field", Some(fields.payload.as_str())),
            ("--direction-field", fields.direction.as_deref()),
            ("--connection-field", fields.connection.as_deref()),
            ("--time-field", fields.time.as_deref()),
        ],
    };
    let given = options
        .into_iter()
        .filter_map(|(option, value)| Some(format!("{option} {}", shell_word(value?))));
    given.collect::<Vec<_>>().join(" ")
}

fn read_capture<C>(
    bytes: impl Read,
    source: String,
    gather: impl FnOnce(TranscriptFormat, Located<'_>) -> anyhow::Result<C>,
) -> anyhow::Result<Content<C>> {
    let mut captured = websocket::Messages::open(bytes, &source, Reading::default().largest_message)?;
    let mut located = (1..)
        .zip(captured.by_ref())
        .map(|(number, message)| Ok((Location::Message(number), message?)));
    let messages = gather(TranscriptFormat::Pcap, &mut located)?;
    Ok(Content {
        source,
        format: TranscriptFormat::Pcap,
        notes: captured.left_out(),
        // What a client sent is Direction::Sent, wherever packets were captured.
        recorded_at: End::Client,
        messages,
    })
}
