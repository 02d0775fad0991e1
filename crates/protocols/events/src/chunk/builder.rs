//! Makes chunks of events.

use super::{CHUNK_SIZE_MAX, Chunk, HEADER, MAGIC, checksum};
use crate::event::{FIELDS_MAX, NAME_LENGTH_MAX, TEXT_LENGTH_MAX};
use crate::{Loss, Source, Timestamp, Value, loss, varint};
use std::collections::{BTreeMap, HashMap};
use thiserror::Error;

/// Why an event is not in a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// The chunk is full: finish it and begin the next.
    #[error("the chunk is full")]
    Full,
    /// No chunk could hold the event.
    #[error(
        "the event passes a limit: {FIELDS_MAX} fields, names of 1 to {NAME_LENGTH_MAX} bytes, texts of {TEXT_LENGTH_MAX} bytes"
    )]
    TooLarge,
}

/// Collects consecutive events of a source.
#[derive(Debug)]
pub struct ChunkBuilder {
    source: Source,
    first: u64,
    span: u64,
    events: u32,
    times: Option<(i64, i64)>,
    last_time: i64,
    strings: Strings,
    bytes: Vec<u8>,
    losses: Vec<Loss>,
    ends_source: bool,
}

/// The strings that a chunk has had. Most chunks have few, and use them in the same order again and again.
#[derive(Debug, Default)]
struct Strings {
    texts: Vec<Box<str>>,
    /// By text, once there are more than a few.
    numbers: HashMap<Box<str>, usize>,
    /// Where the next one is looked for first.
    next: usize,
}

/// Up to so many strings are looked for one by one: our own choice.
const FEW: usize = 16;

impl Strings {
    fn number(&mut self, text: &str) -> Option<usize> {
        let is_there = |at: &usize| self.texts.get(*at).is_some_and(|known| **known == *text);
        let found = Some(self.next).filter(is_there).or_else(|| {
            if self.texts.len() <= FEW {
                self.texts.iter().position(|known| **known == *text)
            } else {
                self.numbers.get(text).copied()
            }
        });
        self.next = found.map_or(0, |at| at + 1);
        found
    }

    fn add(&mut self, text: &str) {
        self.texts.push(text.into());
        self.next = 0;
        match self.texts.len() {
            0..=FEW => {}
            length if length == FEW + 1 => {
                let texts = self.texts.iter().enumerate();
                self.numbers = texts.map(|(at, text)| (text.clone(), at)).collect();
            }
            length => drop(self.numbers.insert(text.into(), length - 1)),
        }
    }

    fn truncate(&mut self, length: usize) {
        self.texts.truncate(length);
        self.numbers.retain(|_, at| *at < length);
        self.next = 0;
    }
}

impl ChunkBuilder {
    /// An empty chunk whose first event will have the number `first`.
    pub fn new(source: Source, first: u64) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes.extend_from_slice(source.name().as_bytes());
        Self {
            source,
            first,
            span: 0,
            events: 0,
            times: None,
            last_time: 0,
            strings: Strings::default(),
            bytes,
            losses: Vec::new(),
            ends_source: false,
        }
    }

    /// The number of the next event.
    pub const fn next_sequence(&self) -> u64 {
        self.first + self.span
    }

    /// Whether it has no event.
    pub const fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// Its bytes until now.
    pub const fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Appends an event.
    ///
    /// # Errors
    /// When the chunk is full, or the event passes a limit. The chunk is as it was.
    pub fn push<'a>(
        &mut self,
        time: Timestamp,
        subject: &str,
        fields: impl IntoIterator<Item = (&'a str, Value<&'a str>)>,
    ) -> Result<(), EncodeError> {
        self.push_spanning(time, 1, subject, fields)
    }

    /// Appends a loss event of `count` numbers.
    ///
    /// # Errors
    /// When the chunk is full. The chunk is as it was.
    pub fn push_loss(&mut self, time: Timestamp, count: u64, place: &str, cause: &str) -> Result<(), EncodeError> {
        self.push_loss_by_subject(time, count, place, cause, &BTreeMap::new())
    }

    /// Appends a loss event of `count` numbers, which says how many were of each subject. At most 62 subjects can be named.
    ///
    /// # Errors
    /// When the chunk is full, or there are too many subjects. The chunk is as it was.
    pub fn push_loss_by_subject(
        &mut self,
        time: Timestamp,
        count: u64,
        place: &str,
        cause: &str,
        by_subject: &BTreeMap<String, u64>,
    ) -> Result<(), EncodeError> {
        let first = self.next_sequence();
        let counts = by_subject
            .iter()
            .map(|(subject, count)| (subject.as_str(), Value::Integer(*count as i64)));
        self.push_spanning(
            time,
            count,
            loss::SUBJECT,
            Loss::fields(place, cause).into_iter().chain(counts),
        )?;
        self.losses.push(Loss {
            first,
            count,
            place: place.to_owned(),
            cause: cause.to_owned(),
            by_subject: by_subject.clone(),
        });
        Ok(())
    }

    /// Appends the event that says that the source ends here in good order.
    ///
    /// # Errors
    /// When the chunk is full. The chunk is as it was.
    pub fn push_end(&mut self, time: Timestamp) -> Result<(), EncodeError> {
        self.push_spanning(time, 1, loss::END_SUBJECT, [])
    }

    fn push_spanning<'a>(
        &mut self,
        time: Timestamp,
        span: u64,
        subject: &str,
        fields: impl IntoIterator<Item = (&'a str, Value<&'a str>)>,
    ) -> Result<(), EncodeError> {
        let start = self.bytes.len();
        let known = self.strings.texts.len();
        let nanoseconds = time.unix_nanoseconds();
        varint::put(
            &mut self.bytes,
            varint::zigzag(nanoseconds.wrapping_sub(self.last_time)),
        );
        varint::put(&mut self.bytes, span);
        self.put_string(subject);
        let at_count = self.bytes.len();
        self.bytes.push(0);
        let mut count = 0usize;
        let mut within_limits = true;
        for (name, value) in fields {
            count += 1;
            within_limits &= count <= FIELDS_MAX && (1..=NAME_LENGTH_MAX).contains(&name.len());
            if !within_limits {
                break;
            }
            self.put_string(name);
            within_limits &= self.put_value(value);
        }
        let alone = self.bytes.len() - start + HEADER + self.source.name().len() > CHUNK_SIZE_MAX;
        if !within_limits || alone || self.bytes.len() > CHUNK_SIZE_MAX {
            self.bytes.truncate(start);
            self.strings.truncate(known);
            let fits_another = within_limits && !alone && self.events > 0;
            return Err(if fits_another {
                EncodeError::Full
            } else {
                EncodeError::TooLarge
            });
        }
        self.bytes[at_count] = count as u8;
        self.span += span;
        self.events += 1;
        self.last_time = nanoseconds;
        self.ends_source = subject == loss::END_SUBJECT;
        let (earliest, latest) = self.times.unwrap_or((nanoseconds, nanoseconds));
        self.times = Some((earliest.min(nanoseconds), latest.max(nanoseconds)));
        Ok(())
    }

    /// A string that the chunk has had is written as its number from 1; a new one as 0, its length, and its bytes.
    fn put_string(&mut self, string: &str) {
        if let Some(at) = self.strings.number(string) {
            varint::put(&mut self.bytes, at as u64 + 1);
            return;
        }
        self.strings.add(string);
        self.bytes.push(0);
        varint::put(&mut self.bytes, string.len() as u64);
        self.bytes.extend_from_slice(string.as_bytes());
    }

    fn put_value(&mut self, value: Value<&str>) -> bool {
        match value {
            Value::Integer(number) => {
                self.bytes.push(1);
                varint::put(&mut self.bytes, varint::zigzag(number));
            }
            Value::Float(number) => {
                self.bytes.push(2);
                self.bytes.extend_from_slice(&number.to_le_bytes());
            }
            Value::Boolean(truth) => self.bytes.extend([3, u8::from(truth)]),
            Value::Text(text) => {
                if text.len() > TEXT_LENGTH_MAX {
                    return false;
                }
                self.bytes.push(4);
                varint::put(&mut self.bytes, text.len() as u64);
                self.bytes.extend_from_slice(text.as_bytes());
            }
        }
        true
    }

    /// The chunk; `None` where it has no event.
    pub fn finish(mut self) -> Option<Chunk> {
        let (earliest, latest) = self.times?;
        let body = (self.bytes.len() - HEADER) as u32;
        let name = self.source.name().len() as u16;
        self.bytes[..4].copy_from_slice(&MAGIC);
        self.bytes[4..8].copy_from_slice(&body.to_le_bytes());
        self.bytes[8..12].copy_from_slice(&self.events.to_le_bytes());
        self.bytes[12..14].copy_from_slice(&name.to_le_bytes());
        self.bytes[16..24].copy_from_slice(&self.source.incarnation().to_le_bytes());
        self.bytes[24..32].copy_from_slice(&self.first.to_le_bytes());
        self.bytes[32..40].copy_from_slice(&self.span.to_le_bytes());
        self.bytes[40..48].copy_from_slice(&earliest.to_le_bytes());
        self.bytes[48..56].copy_from_slice(&latest.to_le_bytes());
        let sum = checksum(&self.bytes);
        self.bytes[60..64].copy_from_slice(&sum.to_le_bytes());
        Some(Chunk {
            bytes: self.bytes.into(),
            source: self.source,
            first: self.first,
            span: self.span,
            events: self.events,
            earliest: Timestamp::from_unix_nanoseconds(earliest),
            latest: Timestamp::from_unix_nanoseconds(latest),
            losses: self.losses.into(),
            ends_source: self.ends_source,
        })
    }
}
