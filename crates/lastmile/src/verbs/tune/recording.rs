//! Which messages are tuned for? Those of a transcript in any of its forms, or of a capture's WebSocket connections.

use crate::cli::tune::{End, Input, TuneArgs};
use crate::progress;
use anyhow::{Context as _, bail};
use lastmile_capture::websocket;
use lastmile_payload::transcript::{Directions, Format, Reading, Transcript};
use lastmile_report::tune::TranscriptFormat;
use lastmile_study::tune::{self, Recording};
use std::fs::File;
use std::io::{Read as _, Seek as _};

/// Reads a transcript whole.
///
/// # Errors
/// When it cannot be read, or a message of it is not understood: the message names the file and the place.
pub(super) fn read(args: &TuneArgs) -> anyhow::Result<Recording> {
    let source = args.transcript.display().to_string();
    let opened = File::open(&args.transcript).and_then(|opened| Ok((opened.metadata()?, opened)));
    let (metadata, mut file) =
        opened.with_context(|| format!("{source} cannot be read; give a file of messages, a HAR or a capture"))?;
    if metadata.is_dir() {
        bail!("{source} is a folder; give a file of messages, a HAR or a capture");
    }
    let stated = args.input;
    let is_capture = match stated {
        None => begins_as_capture(&mut file).with_context(|| format!("{source} cannot be read"))?,
        Some(input) => input == Input::Pcap,
    };
    let bar = progress::bytes();
    bar.set_length(metadata.len());
    let octets = bar.wrap_read(file);
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

/// Whether a file begins as pcap or pcapng do; it is at its beginning again afterwards.
fn begins_as_capture(file: &mut File) -> std::io::Result<bool> {
    // pcap in either order of octets, with times in microseconds or nanoseconds; pcapng's section header.
    const MAGIC: [[u8; 4]; 5] = [
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    let mut head = Vec::new();
    file.take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(MAGIC.iter().any(|magic| magic == head.as_slice()))
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
    let conversations = captured.conversations();
    let mut notes = Vec::new();
    if let Some(octet) = captured.cut_off() {
        notes.push(format!(
            "the capture is cut off at octet {octet}; what stands before it is read"
        ));
    }
    let lost: u64 = conversations
        .iter()
        .map(|conversation| conversation.sent.lost + conversation.received.lost)
        .sum();
    if lost > 0 {
        notes.push(format!(
            "{lost} messages were not captured whole, or refer to what was not captured, and are left out"
        ));
    }
    let refused = conversations
        .iter()
        .filter(|conversation| conversation.deflate.is_err())
        .count();
    if refused > 0 {
        notes.push(format!(
            "{refused} connections are left out: their servers answered what their clients had to refuse"
        ));
    }
    Ok(Recording {
        source,
        format: TranscriptFormat::Pcap,
        notes,
        // What a client sent is Direction::Sent, wherever packets were captured.
        recorded_at: tune::End::Client,
        messages,
    })
}
