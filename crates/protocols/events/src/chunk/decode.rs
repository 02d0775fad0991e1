//! Reads chunks, trusting nothing but their checksum.

use super::{Chunk, ChunkError, HEADER, u32_at, u64_at};
use crate::event::{FIELDS_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX};
use crate::{Event, EventView, Loss, Source, Timestamp, Value, loss, subject, varint};
use std::ops::ControlFlow;

/// The header of a chunk whose checksum holds.
pub(super) fn header(bytes: &[u8]) -> Result<Chunk, ChunkError> {
    let refuse = |what, at| ChunkError::Content { what, at };
    if bytes[14..16] != [0, 0] {
        return Err(refuse("compression is unknown to this version", 14));
    }
    let name_length = usize::from(u16::from_le_bytes([bytes[12], bytes[13]]));
    let name = bytes
        .get(HEADER..HEADER + name_length)
        .ok_or(refuse("name of a source passes its end", 12))?;
    let name = std::str::from_utf8(name).map_err(|_| refuse("name of a source is no UTF-8", HEADER))?;
    let source = Source::new(name, u64_at(bytes, 16)).map_err(|_| refuse("name of a source is refused", HEADER))?;
    let (first, span, events) = (u64_at(bytes, 24), u64_at(bytes, 32), u32_at(bytes, 8));
    if first == 0 || events == 0 || span < u64::from(events) || first.checked_add(span).is_none() {
        return Err(refuse("sequence numbers do not add up", 24));
    }
    let time = |at| Timestamp::from_unix_nanoseconds(u64_at(bytes, at) as i64);
    Ok(Chunk {
        source,
        first,
        span,
        events,
        earliest: time(40),
        latest: time(48),
        bytes: bytes.into(),
        losses: [].into(),
        ends_source: false,
    })
}

/// Reads every event once, and holds them against the header; the losses that are stated, and whether the source ends.
pub(super) fn check_events(chunk: &Chunk) -> Result<(Vec<Loss>, bool), ChunkError> {
    let mut reader = Reader::new(chunk);
    let mut span = 0u64;
    let mut times = (i64::MAX, i64::MIN);
    let (mut losses, mut ends) = (Vec::new(), false);
    let mut fields = Vec::new();
    for _ in 0..chunk.events {
        let event = reader.next_event(fields)?;
        span = span.checked_add(event.span).ok_or(reader.refuse("spans overflow"))?;
        let time = event.time.unix_nanoseconds();
        times = (times.0.min(time), times.1.max(time));
        losses.extend(event.loss());
        ends = event.subject == loss::END_SUBJECT;
        fields = event.fields;
    }
    let stated = (chunk.earliest.unix_nanoseconds(), chunk.latest.unix_nanoseconds());
    if span != chunk.span || times != stated || !reader.rest.is_empty() {
        return Err(reader.refuse("events differ from its header"));
    }
    Ok((losses, ends))
}

/// Shows each event until `look` breaks off.
pub(super) fn look_at_events(chunk: &Chunk, mut look: impl FnMut(&EventView<'_>) -> ControlFlow<()>) {
    let mut reader = Reader::new(chunk);
    let mut fields = Vec::new();
    for _ in 0..chunk.events {
        let event = reader.next_event(fields).expect(CHECKED);
        if look(&event).is_break() {
            return;
        }
        fields = event.fields;
    }
}

/// Each subject once.
pub(super) fn subjects(chunk: &Chunk) -> Vec<&str> {
    let mut reader = Reader::new(chunk);
    let mut subjects: Vec<&str> = Vec::new();
    // A string is a subject, or not, whenever it is used: one bit a string.
    let mut is_subject: Vec<bool> = Vec::new();
    let mut fields = Vec::new();
    for _ in 0..chunk.events {
        let event = reader.next_event(fields).expect(CHECKED);
        is_subject.resize(reader.strings.len(), false);
        if !std::mem::replace(&mut is_subject[reader.subject], true) {
            subjects.push(event.subject);
        }
        fields = event.fields;
    }
    subjects
}

const CHECKED: &str = "a chunk's events were checked when it was read";

/// The events of a chunk, in order.
#[derive(Debug)]
pub struct Events<'a> {
    reader: Reader<'a>,
    left: u32,
}

impl<'a> Events<'a> {
    pub(super) fn new(chunk: &'a Chunk) -> Self {
        Self {
            reader: Reader::new(chunk),
            left: chunk.events,
        }
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.left = self.left.checked_sub(1)?;
        Some(self.reader.next_event(Vec::new()).expect(CHECKED).to_event())
    }
}

#[derive(Debug)]
struct Reader<'a> {
    chunk: &'a Chunk,
    rest: &'a [u8],
    strings: Vec<&'a str>,
    /// The strings that were found to be subjects.
    checked: Vec<bool>,
    /// Which string the last subject is.
    subject: usize,
    sequence: u64,
    time: i64,
}

impl<'a> Reader<'a> {
    fn new(chunk: &'a Chunk) -> Self {
        Self {
            chunk,
            rest: &chunk.bytes[HEADER + chunk.source.name().len()..],
            strings: Vec::new(),
            checked: Vec::new(),
            subject: 0,
            sequence: chunk.first,
            time: 0,
        }
    }

    fn refuse(&self, what: &'static str) -> ChunkError {
        let at = self.chunk.bytes.len() - self.rest.len();
        ChunkError::Content { what, at }
    }

    /// The next event, with its fields in `fields`, which is emptied first.
    fn next_event(&mut self, mut fields: Vec<(&'a str, Value<&'a str>)>) -> Result<EventView<'a>, ChunkError> {
        fields.clear();
        let difference = self.varint()?;
        self.time = self.time.wrapping_add(varint::unzigzag(difference));
        let span = self.varint()?;
        if span == 0 {
            return Err(self.refuse("event spans nothing"));
        }
        self.subject = self.string()?;
        let subject = self.strings[self.subject];
        self.checked.resize(self.strings.len(), false);
        if !self.checked[self.subject] {
            if !subject::is_subject(subject) {
                return Err(self.refuse("event has no valid subject"));
            }
            self.checked[self.subject] = true;
        }
        if span > 1 && subject != loss::SUBJECT {
            return Err(self.refuse("event spans several numbers and is no loss"));
        }
        let count = usize::from(self.byte()?);
        if count > FIELDS_MAX {
            return Err(self.refuse("event has too many fields"));
        }
        for _ in 0..count {
            let name = self.string()?;
            let name = self.strings[name];
            if name.is_empty() || name.len() > NAME_LENGTH_MAX {
                return Err(self.refuse("name of a field has no valid length"));
            }
            fields.push((name, self.value()?));
        }
        let sequence = self.sequence;
        self.sequence = sequence
            .checked_add(span)
            .ok_or_else(|| self.refuse("spans overflow"))?;
        Ok(EventView {
            source: &self.chunk.source,
            sequence,
            span,
            time: Timestamp::from_unix_nanoseconds(self.time),
            subject,
            fields,
        })
    }

    fn varint(&mut self) -> Result<u64, ChunkError> {
        varint::take(&mut self.rest).ok_or_else(|| self.refuse("event is cut off"))
    }

    fn byte(&mut self) -> Result<u8, ChunkError> {
        Ok(self.take(1)?[0])
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], ChunkError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| self.refuse("event is cut off"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn text(&mut self) -> Result<&'a str, ChunkError> {
        let length = self.varint()?;
        if length > TEXT_LENGTH_MAX as u64 {
            return Err(self.refuse("text is too long"));
        }
        let bytes = self.take(length as usize)?;
        std::str::from_utf8(bytes).map_err(|_| self.refuse("text is no UTF-8"))
    }

    /// The number of the next string, from 0.
    fn string(&mut self) -> Result<usize, ChunkError> {
        let number = self.varint()?;
        if number == 0 {
            let text = self.text()?;
            self.strings.push(text);
            return Ok(self.strings.len() - 1);
        }
        let known = usize::try_from(number - 1).ok().filter(|at| *at < self.strings.len());
        known.ok_or_else(|| self.refuse("string is one that was never written"))
    }

    fn value(&mut self) -> Result<Value<&'a str>, ChunkError> {
        Ok(match self.byte()? {
            1 => Value::Integer(varint::unzigzag(self.varint()?)),
            2 => Value::Float(f64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes"))),
            3 => Value::Boolean(self.byte()? != 0),
            4 => Value::Text(self.text()?),
            _ => return Err(self.refuse("field has an unknown type")),
        })
    }
}
