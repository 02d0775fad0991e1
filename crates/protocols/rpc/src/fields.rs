//! Reads the fields of a message within its bounds: numbers, counts and texts of Ice, and the aligned ones of GIOP.

use crate::ReadError;
use crate::giop::ByteOrder;
use lastmile_units::ByteCount;

/// Reads the fields of one message.
pub(crate) struct Fields<'a> {
    message: &'a [u8],
    order: ByteOrder,
    at: usize,
}

impl<'a> Fields<'a> {
    /// Reads `message` from byte `at` on.
    pub(crate) fn new(message: &'a [u8], order: ByteOrder, at: usize) -> Self {
        Self { message, order, at }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The number of bytes that follow.
    pub(crate) fn rest(&self) -> usize {
        self.message.len() - self.at
    }

    pub(crate) fn bytes(&mut self, length: usize, field: &'static str) -> Result<&'a [u8], ReadError> {
        let bytes = self.message[self.at..].get(..length).ok_or(ReadError::Truncated {
            field,
            at: self.at,
            length: ByteCount::from(self.message.len()),
        })?;
        self.at += length;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], ReadError> {
        Ok(self.bytes(N, field)?.try_into().expect("it has the length asked for"))
    }

    pub(crate) fn byte(&mut self, field: &'static str) -> Result<u8, ReadError> {
        self.array(field).map(|[byte]| byte)
    }

    /// Refuses a number of elements, read at `at`, that have at least `element` bytes each and do not fit into the rest of the message.
    fn fitting(&self, count: i64, element: usize, at: usize, field: &'static str) -> Result<usize, ReadError> {
        let fitting = usize::try_from(count)
            .ok()
            .filter(|count| count.saturating_mul(element) <= self.rest());
        fitting.ok_or_else(|| ReadError::invalid(field, at, format!("{count}, but {} bytes follow", self.rest())))
    }

    fn text(bytes: &[u8], at: usize, field: &'static str) -> Result<String, ReadError> {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|error| ReadError::invalid(field, at, format!("not UTF-8: {error}")))?;
        Ok(text.to_owned())
    }
}

/// Fields of Ice: nothing is aligned.
impl Fields<'_> {
    pub(crate) fn int(&mut self, field: &'static str) -> Result<i32, ReadError> {
        self.array(field).map(i32::from_le_bytes)
    }

    /// A number of elements of at least `element` bytes each, in one byte or five.
    pub(crate) fn compact_count(&mut self, element: usize, field: &'static str) -> Result<usize, ReadError> {
        let at = self.at;
        let count = match self.byte(field)? {
            u8::MAX => self.int(field)?,
            small => i32::from(small),
        };
        self.fitting(count.into(), element, at, field)
    }

    /// The same, where the number always has four bytes.
    pub(crate) fn int_count(&mut self, element: usize, field: &'static str) -> Result<usize, ReadError> {
        let at = self.at;
        let count = self.int(field)?;
        self.fitting(count.into(), element, at, field)
    }

    pub(crate) fn compact_string(&mut self, field: &'static str) -> Result<String, ReadError> {
        let at = self.at;
        let length = self.compact_count(1, field)?;
        Self::text(self.bytes(length, field)?, at, field)
    }
}

/// Fields of GIOP: numbers are aligned to their size from the start of the message.
impl<'a> Fields<'a> {
    pub(crate) fn align(&mut self, to: usize, field: &'static str) -> Result<(), ReadError> {
        let padding = self.at.next_multiple_of(to) - self.at;
        self.bytes(padding, field).map(drop)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, ReadError> {
        self.align(2, field)?;
        let bytes = self.array(field)?;
        Ok(match self.order {
            ByteOrder::Little => u16::from_le_bytes(bytes),
            ByteOrder::Big => u16::from_be_bytes(bytes),
        })
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, ReadError> {
        self.align(4, field)?;
        Ok(self.order.u32(self.array(field)?))
    }

    /// A number of elements of at least `element` bytes each.
    pub(crate) fn u32_count(&mut self, element: usize, field: &'static str) -> Result<usize, ReadError> {
        let count = self.u32(field)?;
        self.fitting(count.into(), element, self.at - 4, field)
    }

    pub(crate) fn sequence(&mut self, field: &'static str) -> Result<&'a [u8], ReadError> {
        let length = self.u32_count(1, field)?;
        self.bytes(length, field)
    }

    pub(crate) fn terminated_string(&mut self, field: &'static str) -> Result<String, ReadError> {
        let bytes = self.sequence(field)?;
        match bytes.split_last() {
            Some((0, text)) => Self::text(text, self.at, field),
            _ => Err(ReadError::invalid(field, self.at, "not ended by a NUL")),
        }
    }
}
