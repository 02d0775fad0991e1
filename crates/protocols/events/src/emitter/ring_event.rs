//! Events in a ring: bytes that are quick to write, for the flusher of the same process alone.
//!
//! The length of what follows (4 bytes), the time (8), the number of the kind (4), and the values: each one's type (1), and 8 bytes, 1 byte, or
//! a text after its length (2). An event without a kind ([`NO_KIND`]) has its subject and number of fields (1) before the values, and each name
//! before its value; subject and names begin with their length (1).

use crate::event::{FIELDS_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX};
use crate::{Subject, Timestamp, Value};

/// Marks an event without a registered kind.
pub(super) const NO_KIND: u32 = u32::MAX;

/// A buffer that is written from its start; it grows, and is used again.
#[derive(Debug)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    length: usize,
}

/// The bytes of length, time and kind.
const HEAD: usize = 16;

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

    /// Writes an event whose content `put` writes; false where that passes a limit of the format.
    #[inline]
    fn write(&mut self, time: Timestamp, kind: u32, put: impl Fn(&mut Room<'_>) -> Result<(), Misfit>) -> bool {
        loop {
            let whole = self.bytes.len();
            let Some((head, rest)) = self.bytes.split_first_chunk_mut::<HEAD>() else {
                return false;
            };
            let mut room = Room { rest };
            match put(&mut room) {
                Ok(()) => {
                    self.length = whole - room.rest.len();
                    head[..4].copy_from_slice(&((self.length - 4) as u32).to_le_bytes());
                    head[4..12].copy_from_slice(&time.unix_nanoseconds().to_le_bytes());
                    head[12..].copy_from_slice(&kind.to_le_bytes());
                    return true;
                }
                Err(Misfit::Limit) => return false,
                Err(Misfit::Buffer) => self.bytes.resize(whole * 2, 0),
            }
        }
    }
}

/// Why an event is not written.
enum Misfit {
    /// It passes a limit of the format.
    Limit,
    /// The buffer is too short for it.
    Buffer,
}

/// What is left of a buffer.
struct Room<'a> {
    rest: &'a mut [u8],
}

impl Room<'_> {
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Result<(), Misfit> {
        let rest = std::mem::take(&mut self.rest);
        let (slot, rest) = rest.split_first_chunk_mut().ok_or(Misfit::Buffer)?;
        *slot = bytes;
        self.rest = rest;
        Ok(())
    }

    #[inline]
    fn put_bytes(&mut self, bytes: &[u8]) -> Result<(), Misfit> {
        let rest = std::mem::take(&mut self.rest);
        let (slot, rest) = rest.split_at_mut_checked(bytes.len()).ok_or(Misfit::Buffer)?;
        slot.copy_from_slice(bytes);
        self.rest = rest;
        Ok(())
    }

    /// Puts a type and eight bytes.
    #[inline]
    fn put_number(&mut self, kind: u8, [a, b, c, d, e, f, g, h]: [u8; 8]) -> Result<(), Misfit> {
        self.put([kind, a, b, c, d, e, f, g, h])
    }

    #[inline]
    fn put_value(&mut self, value: &Value<&str>) -> Result<(), Misfit> {
        match value {
            Value::Integer(number) => self.put_number(1, number.to_le_bytes()),
            Value::Float(number) => self.put_number(2, number.to_le_bytes()),
            Value::Boolean(truth) => self.put([3, u8::from(*truth)]),
            Value::Text(text) if text.len() > TEXT_LENGTH_MAX => Err(Misfit::Limit),
            Value::Text(text) => {
                let [low, high] = (text.len() as u16).to_le_bytes();
                self.put([4, low, high])?;
                self.put_bytes(text.as_bytes())
            }
        }
    }

    /// Puts a text of at most 255 bytes after its length.
    fn put_name(&mut self, name: &str) -> Result<(), Misfit> {
        self.put([name.len() as u8])?;
        self.put_bytes(name.as_bytes())
    }
}

/// Writes an event; false where it passes a limit.
pub(super) fn write(scratch: &mut Scratch, time: Timestamp, subject: &Subject, fields: &[(&str, Value<&str>)]) -> bool {
    if fields.len() > FIELDS_MAX {
        return false;
    }
    scratch.write(time, NO_KIND, |room| {
        room.put_name(subject.as_str())?;
        room.put([fields.len() as u8])?;
        fields.iter().try_for_each(|(name, value)| {
            if name.is_empty() || name.len() > NAME_LENGTH_MAX {
                return Err(Misfit::Limit);
            }
            room.put_name(name)?;
            room.put_value(value)
        })
    })
}

/// Writes the values of an event of a kind; false where one passes a limit.
pub(super) fn write_values(scratch: &mut Scratch, time: Timestamp, kind: u32, values: &[Value<&str>]) -> bool {
    scratch.write(time, kind, |room| {
        values.iter().try_for_each(|value| room.put_value(value))
    })
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
