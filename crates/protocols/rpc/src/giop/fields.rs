//! The fields of GIOP messages: aligned numbers, strings and sequences, written and read within the bounds of a message.

use super::{ByteOrder, GiopError};
use lastmile_units::ByteCount;

/// Appends zeros up to a multiple of `to` from the start of the message.
pub(super) fn align(out: &mut Vec<u8>, to: usize) {
    out.resize(out.len().next_multiple_of(to), 0);
}

pub(super) fn write_u32(value: u32, out: &mut Vec<u8>) {
    align(out, 4);
    out.extend(value.to_le_bytes());
}

/// # Panics
/// Where there are 4 GiB or more.
pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_u32(
        u32::try_from(bytes.len()).expect("a sequence is shorter than 4 GiB"),
        out,
    );
    out.extend(bytes);
}

/// A string has a NUL at its end, which its length includes.
pub(super) fn write_string(text: &str, out: &mut Vec<u8>) {
    write_u32(
        u32::try_from(text.len() + 1).expect("a string is shorter than 4 GiB"),
        out,
    );
    out.extend(text.as_bytes());
    out.push(0);
}

/// Reads the fields of one message.
pub(super) struct Fields<'a> {
    message: &'a [u8],
    order: ByteOrder,
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8], order: ByteOrder, at: usize) -> Self {
        Self { message, order, at }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The number of bytes that follow.
    pub(super) fn rest(&self) -> usize {
        self.message.len() - self.at
    }

    pub(super) fn bytes(&mut self, length: usize, field: &'static str) -> Result<&'a [u8], GiopError> {
        let bytes = self.message[self.at..].get(..length).ok_or(GiopError::Truncated {
            field,
            at: self.at,
            length: ByteCount::from(self.message.len()),
        })?;
        self.at += length;
        Ok(bytes)
    }

    pub(super) fn align(&mut self, to: usize, field: &'static str) -> Result<(), GiopError> {
        let padding = self.at.next_multiple_of(to) - self.at;
        self.bytes(padding, field).map(drop)
    }

    pub(super) fn byte(&mut self, field: &'static str) -> Result<u8, GiopError> {
        Ok(self.bytes(1, field)?[0])
    }

    pub(super) fn u16(&mut self, field: &'static str) -> Result<u16, GiopError> {
        self.align(2, field)?;
        let bytes = self.bytes(2, field)?.try_into().expect("it has two bytes");
        Ok(match self.order {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        })
    }

    pub(super) fn u32(&mut self, field: &'static str) -> Result<u32, GiopError> {
        self.align(4, field)?;
        let bytes = self.bytes(4, field)?.try_into().expect("it has four bytes");
        Ok(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// A number of elements that have at least `smallest` bytes each: no more than fit into the rest of the message.
    pub(super) fn count(&mut self, smallest: usize, field: &'static str) -> Result<usize, GiopError> {
        let size = self.u32(field)?;
        let fitting = usize::try_from(size)
            .ok()
            .filter(|size| size.saturating_mul(smallest) <= self.rest());
        fitting.ok_or_else(|| GiopError::Invalid {
            field,
            at: self.at - 4,
            found: format!("{size}, but {} bytes follow", self.rest()),
        })
    }

    pub(super) fn sequence(&mut self, field: &'static str) -> Result<&'a [u8], GiopError> {
        let length = self.count(1, field)?;
        self.bytes(length, field)
    }

    pub(super) fn string(&mut self, field: &'static str) -> Result<String, GiopError> {
        let bytes = self.sequence(field)?;
        let at = self.at;
        let invalid = |found: String| GiopError::Invalid { field, at, found };
        let Some((0, text)) = bytes.split_last() else {
            return Err(invalid("not ended by a NUL".to_owned()));
        };
        let text = std::str::from_utf8(text).map_err(|error| invalid(format!("not UTF-8: {error}")))?;
        Ok(text.to_owned())
    }
}
