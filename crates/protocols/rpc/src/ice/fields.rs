//! The fields of Ice messages: sizes, strings and integers, written and read within the bounds of a message.

use super::IceError;
use lastmile_units::ByteCount;

/// Appends a size: one byte below 255, else 255 and four bytes.
///
/// # Panics
/// Where it is 2^31 or more.
pub(super) fn write_size(size: usize, out: &mut Vec<u8>) {
    match u8::try_from(size) {
        Ok(small) if small < u8::MAX => out.push(small),
        _ => {
            out.push(u8::MAX);
            let size = i32::try_from(size).expect("a size is below 2^31");
            out.extend(size.to_le_bytes());
        }
    }
}

/// The bytes of a size.
pub(super) const fn size_length(size: usize) -> usize {
    if size < u8::MAX as usize { 1 } else { 5 }
}

pub(super) fn write_string(text: &str, out: &mut Vec<u8>) {
    write_size(text.len(), out);
    out.extend(text.as_bytes());
}

/// Reads the fields of one message.
pub(super) struct Fields<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Of `message`, from byte `at` on.
    pub(super) fn new(message: &'a [u8], at: usize) -> Self {
        Self { message, at }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.message.len()
    }

    /// The number of bytes that follow.
    pub(super) fn rest(&self) -> usize {
        self.message.len() - self.at
    }

    pub(super) fn bytes(&mut self, length: usize, field: &'static str) -> Result<&'a [u8], IceError> {
        let rest = &self.message[self.at..];
        let bytes = rest.get(..length).ok_or(IceError::Truncated {
            field,
            at: self.at,
            length: ByteCount::from(self.message.len()),
        })?;
        self.at += length;
        Ok(bytes)
    }

    pub(super) fn byte(&mut self, field: &'static str) -> Result<u8, IceError> {
        Ok(self.bytes(1, field)?[0])
    }

    pub(super) fn int(&mut self, field: &'static str) -> Result<i32, IceError> {
        let bytes = self.bytes(4, field)?;
        Ok(i32::from_le_bytes(bytes.try_into().expect("it has four bytes")))
    }

    /// A number of elements that have at least `smallest` bytes each: no more than fit into the rest of the message.
    pub(super) fn count(&mut self, smallest: usize, field: &'static str) -> Result<usize, IceError> {
        let at = self.at;
        let size = match self.byte(field)? {
            u8::MAX => self.int(field)?,
            small => i32::from(small),
        };
        self.bounded(size, smallest, at, field)
    }

    /// The same, where the number always has four bytes.
    pub(super) fn int_count(&mut self, smallest: usize, field: &'static str) -> Result<usize, IceError> {
        let at = self.at;
        let size = self.int(field)?;
        self.bounded(size, smallest, at, field)
    }

    fn bounded(&self, size: i32, smallest: usize, at: usize, field: &'static str) -> Result<usize, IceError> {
        let fitting = usize::try_from(size)
            .ok()
            .filter(|size| size.saturating_mul(smallest) <= self.rest());
        fitting.ok_or_else(|| IceError::Invalid {
            field,
            at,
            found: format!("{size}, but {} bytes follow", self.rest()),
        })
    }

    pub(super) fn string(&mut self, field: &'static str) -> Result<String, IceError> {
        let at = self.at;
        let length = self.count(1, field)?;
        let bytes = self.bytes(length, field)?;
        let text = std::str::from_utf8(bytes).map_err(|error| IceError::Invalid {
            field,
            at,
            found: format!("not UTF-8: {error}"),
        })?;
        Ok(text.to_owned())
    }
}
