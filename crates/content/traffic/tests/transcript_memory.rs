//! Measures the memory for reading a transcript with one huge line, in a process of its own, so that the peak is this reader's.

#![cfg(target_os = "linux")]

use lastmile_traffic::messages::{Format, Reading, Transcript};
use lastmile_units::ByteCount;
use std::io::{self, Read};

/// More bytes than any reader should allocate.
const HUGE: u64 = 1_000_000_000;

const MESSAGE_SIZE_MAX: u64 = 4_000_000;

#[test]
fn a_message_of_a_gigabyte_is_refused_in_the_memory_of_the_largest_that_is_read() {
    let before = resident("VmHWM:");
    for (format, start, end) in [
        (Format::Text, b"".as_slice(), b"\nnext\n".as_slice()),
        (Format::JsonLines, b"{\"payload\":\"", b"\"}\n{\"payload\":\"next\"}\n"),
        (Format::LengthPrefixed, &(HUGE as u32).to_be_bytes(), b"\0\0\0\x04next"),
        (
            Format::Har,
            b"{\"log\":{\"entries\":[{\"_webSocketMessages\":[{\"type\":\"send\",\"opcode\":1,\"data\":\"",
            b"\"},{\"type\":\"send\",\"opcode\":1,\"data\":\"next\"}]}]}}",
        ),
    ] {
        let reading = Reading {
            format: Some(format),
            largest_message: ByteCount::new(MESSAGE_SIZE_MAX),
            ..Reading::default()
        };
        let content = start.chain(io::repeat(b'x').take(HUGE)).chain(end);
        let messages: Vec<_> = Transcript::read(content, "huge", reading).unwrap().collect();
        let [Err(refused), Ok(next)] = messages.as_slice() else {
            panic!("{format}: {} messages", messages.len())
        };
        assert!(refused.to_string().contains(": the message has 10000000"), "{refused}");
        assert_eq!(next.payload.as_ref(), b"next");
    }
    // A line of JSON may be twice as large as its message; a growing vector allocates up to three times its content for a moment.
    let peak = resident("VmHWM:").saturating_sub(before);
    assert!(peak < 8 * MESSAGE_SIZE_MAX, "{peak} B");
}

/// A line of `/proc/self/status`, in bytes.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}
