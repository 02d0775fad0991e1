//! Events in a ring: bytes that are quick to write, for the flusher of the same process alone.
//!
//! The length of what follows (4 bytes), the time (8), the number of the kind (4), and the values: each one's type (1), and 8 bytes, 1 byte, or
//! a text after its length (2). An event without a kind ([`NO_KIND`]) has its subject and number of fields (1) before the values, and each name
//! before its value; subject and names begin with their length (1).

use crate::event::{LONGEST_NAME, LONGEST_TEXT, MOST_FIELDS};
use crate::{Subject, Timestamp, Value};

/// Stands in the place of a kind's number.
pub(super) const NO_KIND: u32 = u32::MAX;

/// A buffer that is written from its start; it grows, and is used again.
#[derive(Debug)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    length: usize,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; 1024],
            length: 0,
        }
    }

    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Begins an event; there is room for `most` bytes then.
    fn begin(&mut self, time: Timestamp, kind: u32, most: usize) -> Cursor<'_> {
        if self.bytes.len() < HEAD + most {
            self.bytes.resize((HEAD + most).next_power_of_two(), 0);
        }
        let (head, rest) = self.bytes.split_at_mut(HEAD);
        head[4..12].copy_from_slice(&time.unix_nanoseconds().to_le_bytes());
        head[12..16].copy_from_slice(&kind.to_le_bytes());
        Cursor { rest, written: 0 }
    }

    fn end(&mut self, written: usize) {
        self.length = HEAD + written;
        let after = (self.length - 4) as u32;
        self.bytes[..4].copy_from_slice(&after.to_le_bytes());
    }
}

/// The bytes of length, time and kind.
const HEAD: usize = 16;

struct Cursor<'a> {
    rest: &'a mut [u8],
    written: usize,
}

impl Cursor<'_> {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.rest[self.written..self.written + N].copy_from_slice(&bytes);
        self.written += N;
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.rest[self.written..self.written + bytes.len()].copy_from_slice(bytes);
        self.written += bytes.len();
    }

    fn put_value(&mut self, value: &Value<&str>) {
        match value {
            Value::Integer(number) => {
                self.put([1]);
                self.put(number.to_le_bytes());
            }
            Value::Float(number) => {
                self.put([2]);
                self.put(number.to_le_bytes());
            }
            Value::Boolean(truth) => self.put([3, u8::from(*truth)]),
            Value::Text(text) => {
                self.put([4]);
                self.put((text.len() as u16).to_le_bytes());
                self.put_bytes(text.as_bytes());
            }
        }
    }
}

/// The most bytes of a value; `None` where it passes the limit.
fn room(value: &Value<&str>) -> Option<usize> {
    match value {
        Value::Text(text) if text.len() > LONGEST_TEXT => None,
        Value::Text(text) => Some(3 + text.len()),
        _ => Some(9),
    }
}

/// Writes an event; false where it passes a limit.
pub(super) fn write(scratch: &mut Scratch, time: Timestamp, subject: &Subject, fields: &[(&str, Value<&str>)]) -> bool {
    let mut most = 2 + subject.as_str().len();
    for (name, value) in fields {
        let Some(room) = room(value) else { return false };
        if name.is_empty() || name.len() > LONGEST_NAME {
            return false;
        }
        most += 1 + name.len() + room;
    }
    if fields.len() > MOST_FIELDS {
        return false;
    }
    let mut out = scratch.begin(time, NO_KIND, most);
    out.put([subject.as_str().len() as u8]);
    out.put_bytes(subject.as_str().as_bytes());
    out.put([fields.len() as u8]);
    for (name, value) in fields {
        out.put([name.len() as u8]);
        out.put_bytes(name.as_bytes());
        out.put_value(value);
    }
    let written = out.written;
    scratch.end(written);
    true
}

/// Writes the values of an event of a kind; false where one passes a limit.
pub(super) fn write_values(scratch: &mut Scratch, time: Timestamp, kind: u32, values: &[Value<&str>]) -> bool {
    let mut most = 0;
    for value in values {
        let Some(room) = room(value) else { return false };
        most += room;
    }
    let mut out = scratch.begin(time, kind, most);
    for value in values {
        out.put_value(value);
    }
    let written = out.written;
    scratch.end(written);
    true
}

/// An event's bytes without their length.
pub(super) struct RingEvent<'a> {
    pub(super) time: Timestamp,
    pub(super) kind: u32,
    rest: &'a [u8],
}

impl<'a> RingEvent<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let mut rest = bytes;
        let time = Timestamp::from_unix_nanoseconds(i64::from_le_bytes(take(&mut rest)));
        let kind = u32::from_le_bytes(take(&mut rest));
        Self { time, kind, rest }
    }

    /// The subject and the fields of an event without a kind.
    pub(super) fn subject_and_fields(&self) -> (&'a str, impl Iterator<Item = (&'a str, Value<&'a str>)> + 'a) {
        let mut rest = self.rest;
        let [length] = take(&mut rest);
        let subject = take_text(&mut rest, usize::from(length));
        let [count] = take(&mut rest);
        let fields = (0..count).map(move |_| {
            let [length] = take(&mut rest);
            let name = take_text(&mut rest, usize::from(length));
            (name, take_value(&mut rest))
        });
        (subject, fields)
    }

    /// The values of an event of a kind.
    pub(super) fn values(&self) -> impl Iterator<Item = Value<&'a str>> + 'a {
        let mut rest = self.rest;
        std::iter::from_fn(move || (!rest.is_empty()).then(|| take_value(&mut rest)))
    }
}

fn take_value<'a>(rest: &mut &'a [u8]) -> Value<&'a str> {
    match take(rest) {
        [1] => Value::Integer(i64::from_le_bytes(take(rest))),
        [2] => Value::Float(f64::from_le_bytes(take(rest))),
        [3] => Value::Boolean(take::<1>(rest) != [0]),
        _ => {
            let length = u16::from_le_bytes(take(rest));
            Value::Text(take_text(rest, usize::from(length)))
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (taken, after) = rest.split_first_chunk().expect("this process wrote it whole");
    *rest = after;
    *taken
}

fn take_text<'a>(rest: &mut &'a [u8], length: usize) -> &'a str {
    let (taken, after) = rest.split_at(length);
    *rest = after;
    std::str::from_utf8(taken).expect("this process wrote text")
}
