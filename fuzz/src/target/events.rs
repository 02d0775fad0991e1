//! Events: chunks, lines, subjects with patterns and conditions, and the parameters of a query.

use lastmile_events::line::{self, Line};
use lastmile_events::{Chunk, Pattern, Subject, chunk};
use lastmile_monitor::filter::Predicate;
use lastmile_monitor::service::{check_parameters, encode_parameter};
use std::ops::ControlFlow;

/// A chunk whose checksum is right, from a sender that may be faulty: it is refused, or its events are what its header says.
pub fn event_chunk(input: &[u8]) {
    let mut bytes = input.to_vec();
    if let Ok(Some(length)) = Chunk::length(&bytes)
        && length <= bytes.len()
    {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..60]);
        hasher.update(&bytes[chunk::HEADER..length]);
        bytes[60..64].copy_from_slice(&hasher.finalize().to_le_bytes());
    }
    let Ok((chunk, length)) = Chunk::read(&bytes) else {
        return;
    };
    assert_eq!(chunk.bytes()[..], bytes[..length]);
    let (mut events, mut span) = (0, 0);
    chunk.look_at_events(|event| {
        assert_eq!(event.sequence, chunk.first() + span);
        assert!(chunk.subjects().contains(&event.subject));
        events += 1;
        span += event.span;
        ControlFlow::Continue(())
    });
    assert_eq!((events, span), (chunk.event_count(), chunk.end() - chunk.first()));
    let lost: u64 = chunk.losses().iter().map(|loss| loss.count).sum();
    assert!(lost <= span);
}

/// A line is refused, or is read again as it is written.
pub fn event_line(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for text in text.lines() {
        let Ok(line) = Line::parse(text) else { continue };
        let written = line::write(line.time, &line.subject, &line.fields);
        let again = Line::parse(&written).expect("what is written is a line");
        // A number that is none is not equal to itself; as text it is.
        assert_eq!(format!("{again:?}"), format!("{line:?}"), "{written}");
    }
}

/// A subject on the first line, and patterns or conditions on the others.
pub fn event_pattern(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.lines();
    let subject = lines.next().and_then(|subject| Subject::new(subject).ok());
    for text in lines {
        let _ = text.parse::<Predicate>();
        let Ok(pattern) = text.parse::<Pattern>() else { continue };
        assert_eq!(pattern.as_str().parse::<Pattern>().as_ref(), Ok(&pattern));
        if let Some(subject) = &subject {
            let matches = pattern.matches(subject.as_str());
            assert!(!matches || text.contains(['*', '>']) || text == subject.as_str());
        }
    }
}

/// A query string is refused with a message, or understood; encoded as a value it is always decoded.
pub fn event_query(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Err(message) = check_parameters(&text) {
        assert!(message.starts_with("parameter "), "{message}");
    }
    let encoded = encode_parameter(&text);
    assert!(encoded.is_ascii());
    let refused = text.is_empty() || text.chars().any(char::is_control);
    assert_eq!(check_parameters(&format!("client={encoded}")).is_err(), refused);
}
