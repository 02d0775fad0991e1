//! Reads the messages to tune for: a transcript in any format, or a capture's WebSocket connections.

use crate::cli::tune::{Input, TuneArgs};
use crate::progress;
use crate::run_store::{command_line, shell_word};
use anyhow::{Context as _, anyhow, bail};
use lastmile_capture::websocket;
use lastmile_report::tune::TranscriptFormat;
use lastmile_traffic::messages::{
    self, Direction, Directions, FieldMapping, Format, LogMapping, Proposal, Reading, Transcript, TranscriptError,
};
use lastmile_tune::{self as tune, Recording};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Reads a transcript whole.
///
/// # Errors
/// When it cannot be read, or a message in it is not understood: the error names the file and the position.
pub(super) fn read(args: &TuneArgs) -> anyhow::Result<Recording> {
    let InputSource {
        source,
        length,
        bytes: octets,
    } = open(&args.transcript)?;
    let bar = progress::bytes();
    bar.set_length(length);
    let mut octets = messages::decompressed(bar.wrap_read(octets), &source)?;
    let head = head(&mut octets).with_context(|| format!("{source} cannot be read"))?;
    let stated = args.input;
    let mapping = log_mapping(args)?;
    let is_capture = match stated {
        _ if mapping.is_some() => false,
        None => begins_as_capture(&head),
        Some(input) => input == Input::Pcap,
    };
    let octets = Cursor::new(head).chain(octets);
    let mut recording = if is_capture {
        read_capture(octets, source)?
    } else {
        read_transcript(octets, source, args, mapping)?
    };
    bar.finish_and_clear();
    recording.recorded_at = args.recorded_at.unwrap_or(recording.recorded_at);
    Ok(recording)
}

/// An opened input.
struct InputSource {
    /// Its name for messages.
    source: String,
    /// Its length in bytes; 0 where that is not known.
    length: u64,
    bytes: Box<dyn Read + Send>,
}

/// Opens a file, or standard input.
fn open(path: &Path) -> anyhow::Result<InputSource> {
    const WANTED: &str = "give a file of messages, a HAR or a capture, or - for standard input";
    if path == Path::new("-") {
        return Ok(InputSource {
            source: "standard input".to_owned(),
            length: 0,
            bytes: Box::new(io::stdin()),
        });
    }
    let source = path.display().to_string();
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
fn head(octets: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    octets.take(4).read_to_end(&mut head)?;
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

/// Where the parts of messages are in the lines of a log, if the caller says so.
fn log_mapping(args: &TuneArgs) -> anyhow::Result<Option<LogMapping>> {
    let (mapping, needed, option) = match (&args.field, &args.extract) {
        (Some(payload), _) => {
            let fields = FieldMapping {
                payload: payload.clone(),
                direction: args.direction_field.clone(),
                connection: args.connection_field.clone(),
                time: args.time_field.clone(),
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
    if args.input.is_some_and(|input| input != needed) {
        bail!("{option}; leave out --input");
    }
    Ok(Some(mapping))
}

fn read_transcript(
    octets: impl std::io::Read + Send,
    source: String,
    args: &TuneArgs,
    mapping: Option<LogMapping>,
) -> anyhow::Result<Recording> {
    let stated = args.input;
    let reading = Reading {
        format: stated.and_then(|input| match input {
            Input::Text => Some(Format::Text),
            Input::Jsonl => Some(Format::JsonLines),
            Input::Binary => Some(Format::LengthPrefixed),
            Input::Har => Some(Format::Har),
            Input::Pcap => None,
        }),
        ..Reading::default()
    };
    let mut transcript = match mapping {
        Some(mapping) => {
            let server_sends = match args.recorded_at {
                None | Some(tune::End::Server) => Direction::Sent,
                Some(tune::End::Client) => Direction::Received,
            };
            Transcript::read_log(octets, &source, reading, mapping, server_sends)?
        }
        None => Transcript::read(octets, &source, reading)?,
    };
    let messages = transcript.by_ref().collect::<Result<Directions, _>>();
    let messages = messages.map_err(|error| match transcript.proposal() {
        Some(proposal) => with_commands(&error, proposal, stated),
        None => error.into(),
    })?;
    let (format, recorded_at) = match transcript.format() {
        Format::Text => (TranscriptFormat::Text, tune::End::Server),
        Format::JsonLines => (TranscriptFormat::Jsonl, tune::End::Server),
        Format::LengthPrefixed => (TranscriptFormat::Binary, tune::End::Server),
        // A browser saved it.
        Format::Har => (TranscriptFormat::Har, tune::End::Client),
    };
    let notes = transcript.notes().iter().map(ToString::to_string).collect();
    Ok(Recording {
        source,
        format,
        notes,
        recorded_at,
        messages,
    })
}

/// The refusal of a log's lines, with the commands that read them.
fn with_commands(error: &TranscriptError, proposal: &Proposal, stated: Option<Input>) -> anyhow::Error {
    let command = command_line();
    let options = mapping_options(&proposal.mapping);
    let meaning = match &proposal.direction {
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
fn mapping_options(mapping: &LogMapping) -> String {
    let options = match mapping {
        LogMapping::Pattern(pattern) => vec![("--extract", Some(pattern.as_str()))],
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

fn read_capture(octets: impl std::io::Read, source: String) -> anyhow::Result<Recording> {
    let largest_message = Reading::default().largest_message;
    let mut captured = websocket::Messages::open(octets, &source, largest_message)?;
    let messages = captured.by_ref().collect::<Result<Directions, _>>()?;
    Ok(Recording {
        source,
        format: TranscriptFormat::Pcap,
        notes: captured.left_out(),
        // What a client sent is Direction::Sent, wherever packets were captured.
        recorded_at: tune::End::Client,
        messages,
    })
}
