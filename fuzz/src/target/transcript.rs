//! A user's messages: lines, lines of JSON, messages with their lengths, and what a browser saved of WebSockets.

use super::portions::Portions;
use lastmile_payload::transcript::{Format, Message, Reading, Transcript, TranscriptError, jsonl};
use lastmile_units::Bytes;
use std::io::Read;

pub(super) const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "\u{0}",
    "\u{1f}",
    "{\"log\"",
    "{\"payload\":\"\"}",
];

pub(super) const JSONL_WORDS: &[&str] = &[
    "\"direction\": \"sent\"",
    "\"direction\": \"receive\"",
    "\"time_ms\": 1e300",
    "\"opcode\": \"text\"",
    "\"opcode\": 2",
    "\"connection\": 4294967295",
    "\"payload\": \"\"",
    "\"payload_base64\": \"/w==\"",
    "\n",
    "\r\n",
    "{",
    "}",
    "\\ud83d\\ude00",
    "null",
    "\u{feff}",
];

pub(super) const HAR_WORDS: &[&str] = &[
    "\"log\"",
    "\"entries\"",
    "\"_webSocketMessages\"",
    "\"type\": \"send\"",
    "\"opcode\": 2",
    "\"data\": \"AA==\"",
    "\"time\": -1",
    "[]",
    "{}",
    "[{",
    "}]",
    "null",
    "\\\"",
    "\\\\",
    ",",
    "\n",
];

/// The largest message that is read here, so that what is beyond one is reached by small inputs.
const LARGEST: Bytes = Bytes::new(200);

/// A file that says itself how it is written.
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

/// What is read in portions is what is read whole, no message is larger than allowed, and what is written is read again.
fn check(input: &[u8], format: Option<Format>) {
    let whole = read(input, format);
    assert_eq!(whole, read(Portions::new(input), format));
    assert!(!whole.is_empty());
    let mut messages: Vec<Message> = Vec::new();
    for read in whole {
        match read {
            Err(error) => assert!(error.to_string().starts_with("input: "), "{error}"),
            Ok(message) => {
                assert!(Bytes::from(message.payload.len()) <= LARGEST);
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
    let reading = Reading {
        format,
        largest_message: LARGEST,
        ..Reading::default()
    };
    match Transcript::read(from, "input", reading) {
        Ok(transcript) => transcript.collect(),
        Err(error) => vec![Err(error)],
    }
}
