//! The fuzz targets of a user's messages: lines, lines of JSON, messages with their lengths, a browser's HAR of WebSockets, and logs.

use super::portions::Portions;
use lastmile_traffic::messages::{
    Direction, FieldMapping, Format, LogMapping, Message, Reading, Transcript, TranscriptError, jsonl,
};
use lastmile_units::ByteCount;
use std::io::Read;

/// The largest message that is read here, small so that small inputs exceed it too.
const MESSAGE_SIZE_MAX: ByteCount = ByteCount::new(200);

/// A file whose format is detected.
pub fn transcript(input: &[u8]) {
    check(input, None);
}

/// Lines of JSON.
pub fn transcript_jsonl(input: &[u8]) {
    check(input, Some(Format::JsonLines));
}

/// Messages with their lengths.
pub fn transcript_lengths(input: &[u8]) {
    check(input, Some(Format::LengthPrefixed));
}

/// A HAR with messages.
pub fn transcript_har(input: &[u8]) {
    check(input, Some(Format::Har));
}

/// The lines of a log, by the mapping that is proposed for them and by two others.
pub fn transcript_log(input: &[u8]) {
    let fields = FieldMapping {
        payload: "data".to_owned(),
        direction: Some("dir".to_owned()),
        connection: Some("conn".to_owned()),
        time: Some("ts".to_owned()),
    };
    let pattern = "^(?<time>\\S+ \\S+) .*(?<direction>send|recv).*payload=(?<payload>.*)$";
    let proposed = Transcript::read(input, "input", reading(None))
        .ok()
        .and_then(|mut transcript| {
            transcript.by_ref().for_each(drop);
            transcript.proposal().map(|proposal| proposal.mapping.clone())
        });
    let fixed = [
        LogMapping::Fields(fields),
        LogMapping::Pattern(pattern.parse().expect("it captures a payload")),
    ];
    for mapping in fixed.into_iter().chain(proposed) {
        let whole = read_log(input, mapping.clone());
        assert_eq!(whole, read_log(Portions::new(input), mapping));
        assert!(!whole.is_empty());
        for message in whole.iter().flatten() {
            assert!(ByteCount::from(message.payload.len()) <= MESSAGE_SIZE_MAX);
        }
    }
}

fn read_log(from: impl Read + Send, mapping: LogMapping) -> Vec<Result<Message, TranscriptError>> {
    match Transcript::read_log(from, "input", reading(None), mapping, Direction::Sent) {
        Ok(transcript) => transcript.collect(),
        Err(error) => vec![Err(error)],
    }
}

/// Checks that reading in portions gives the same as reading the whole, that no message is too large, and that written messages can be read
/// again.
fn check(input: &[u8], format: Option<Format>) {
    let whole = read(input, format);
    assert_eq!(whole, read(Portions::new(input), format));
    assert!(!whole.is_empty());
    let mut messages: Vec<Message> = Vec::new();
    for read in whole {
        match read {
            Err(error) => assert!(error.to_string().starts_with("input: "), "{error}"),
            Ok(message) => {
                assert!(ByteCount::from(message.payload.len()) <= MESSAGE_SIZE_MAX);
                messages.push(message);
            }
        }
    }
    if !messages.is_empty() {
        let mut written = Vec::new();
        jsonl::write(&messages, &mut written).expect("memory takes what is written");
        let again: Result<Vec<_>, _> = read(written.as_slice(), Some(Format::JsonLines)).into_iter().collect();
        assert_eq!(again.as_ref(), Ok(&messages));
    }
}

fn read(from: impl Read + Send, format: Option<Format>) -> Vec<Result<Message, TranscriptError>> {
    match Transcript::read(from, "input", reading(format)) {
        Ok(transcript) => transcript.collect(),
        Err(error) => vec![Err(error)],
    }
}

fn reading(format: Option<Format>) -> Reading {
    Reading {
        format,
        largest_message: MESSAGE_SIZE_MAX,
        ..Reading::default()
    }
}
