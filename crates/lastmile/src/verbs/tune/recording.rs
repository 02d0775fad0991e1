//! Which messages are tuned for? Those of a transcript in any of its forms, or of a capture's WebSocket connections.

use crate::cli::tune::{End, Input, TuneArgs};
use crate::progress;
use anyhow::{Context as _, bail};
use lastmile_capture::websocket;
use lastmile_payload::transcript::{self, Directions, Format, Reading, Transcript};
use lastmile_report::tune::TranscriptFormat;
use lastmile_study::tune::{self, Recording};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Reads a transcript whole.
///
/// # Errors
/// When it cannot be read, or a message of it is not understood: the message names the file and the place.
pub(super) fn read(args: &TuneArgs) -> anyhow::Result<Recording> {
    let Opened { source, length, octets } = open(&args.transcript)?;
    let bar = progress::bytes();
    bar.set_length(length);
    let mut octets = transcript::unpacked(bar.wrap_read(octets), &source)?;
    let head = head(&mut octets).with_context(|| format!("{source} cannot be read"))?;
    let stated = args.input;
    let is_capture = match stated {
        None => begins_as_capture(&head),
        Some(input) => input == Input::Pcap,
    };
    let octets = Cursor::new(head).chain(octets);
    let mut recording = if is_capture {
        captured(octets, source)?
    } else {
        written(octets, source, stated)?
    };
    bar.finish_and_clear();
    recording.recorded_at = match args.recorded_at {
        Some(End::Server) => tune::End::Server,
        Some(End::Client) => tune::End::Client,
        None => recording.recorded_at,
    };
    Ok(recording)
}

/// What is read.
struct Opened {
    /// What it is called.
    source: String,
    /// How many octets it has; 0 where that is not known.
    length: u64,
    octets: Box<dyn Read + Send>,
}

/// Opens a file, or standard input.
fn open(path: &Path) -> anyhow::Result<Opened> {
    const WANTED: &str = "give a file of messages, a HAR or a capture, or - for standard input";
    if path == Path::new("-") {
        return Ok(Opened {
            source: "standard input".to_owned(),
            length: 0,
            octets: Box::new(io::stdin()),
        });
    }
    let source = path.display().to_string();
    let opened = File::open(path).and_then(|opened| Ok((opened.metadata()?, opened)));
    let (metadata, file) = opened.with_context(|| format!("{source} cannot be read; {WANTED}"))?;
    if metadata.is_dir() {
        bail!("{source} is a folder; {WANTED}");
    }
    Ok(Opened {
        source,
        length: metadata.len(),
        octets: Box::new(file),
    })
}

/// The first octets, as many as tell a capture. What they are taken off may be a pipe, in which nothing goes back.
fn head(octets: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    octets.take(4).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether a file begins as pcap or pcapng do.
fn begins_as_capture(head: &[u8]) -> bool {
    // pcap in either order of octets, with times in microseconds or nanoseconds; pcapng's section header.
    const MAGIC: [[u8; 4]; 7] = [
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x4d, 0x3c, 0xb2, 0xa1],
        // With more fields a packet, as some kernels' tcpdump wrote it.
        [0xa1, 0xb2, 0xcd, 0x34],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    MAGIC.iter().any(|magic| magic == head)
}

fn written(octets: impl std::io::Read + Send, source: String, stated: Option<Input>) -> anyhow::Result<Recording> {
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
    let mut transcript = Transcript::read(octets, &source, reading)?;
    let messages = transcript.by_ref().collect::<Result<Directions, _>>()?;
    let (format, recorded_at) = match transcript.format() {
        Format::Text => (TranscriptFormat::Text, tune::End::Server),
        Format::JsonLines => (TranscriptFormat::Jsonl, tune::End::Server),
        Format::LengthPrefixed => (TranscriptFormat::Binary, tune::End::Server),
        // A browser saved it.
        Format::Har => (TranscriptFormat::Har, tune::End::Client),
    };
    let notes = transcript.remarks().iter().map(ToString::to_string).collect();
    Ok(Recording {
        source,
        format,
        notes,
        recorded_at,
        messages,
    })
}

fn captured(octets: impl std::io::Read, source: String) -> anyhow::Result<Recording> {
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
