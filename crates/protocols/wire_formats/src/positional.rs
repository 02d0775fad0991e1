//! Positional encodings: structs are their members in order, without names or types, so both sides know the types already.
//!
//! One serde serializer and one deserializer serve every [`Format`]; a format says how sizes, strings and enumerators are written
//! and whether primitives are aligned. [`ice`](crate::ice) and [`cdr`](crate::cdr) are formats.
//!
//! What such an encoding cannot hold is refused by name: options, units, characters, 128-bit integers. Decoding trusts nothing: a
//! size is compared with the bytes that are left before anything is allocated, and nesting is limited to [`DEPTH_MAX`].

mod deserializer;
mod format;
mod serializer;

pub use deserializer::Deserializer;
pub use format::{ByteOrder, EnumeratorSize, Format};
pub use serializer::Serializer;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The deepest nesting of structs, sequences, dictionaries and unions that is read or written: our own choice.
pub const DEPTH_MAX: usize = 64;

/// Why a value could not be written, or bytes could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The encoding has no form for this kind of value.
    #[error("{format} cannot hold {what}; {remedy}")]
    NoMapping {
        /// The format's name.
        format: &'static str,
        /// The kind of value.
        what: &'static str,
        /// What to use instead.
        remedy: &'static str,
    },
    /// A sequence or a text is longer than its size field can say.
    #[error("{format} cannot hold {size} elements or bytes in one value: the most is {max}")]
    TooLong {
        /// The format's name.
        format: &'static str,
        /// The size.
        size: usize,
        /// The greatest size.
        max: usize,
    },
    /// Nested too deeply.
    #[error("values are nested more than {DEPTH_MAX} deep")]
    TooDeep,
    /// The bytes end too early.
    #[error("at byte {offset}: {needed} bytes are needed, and {left} are left")]
    Truncated {
        /// Where it was, in bytes from the start of the message.
        offset: usize,
        /// The number of bytes that the value needs.
        needed: usize,
        /// The number of bytes that are left.
        left: usize,
    },
    /// The bytes are no value of the type.
    #[error("at byte {offset}: {problem}")]
    Malformed {
        /// Where it was, in bytes from the start of the message.
        offset: usize,
        /// What is wrong.
        problem: String,
    },
    /// Bytes are left after the value.
    #[error("{left} bytes are left after the value")]
    Surplus {
        /// Their number.
        left: usize,
    },
    /// What a type's own `Serialize` or `Deserialize` says.
    #[error("{0}")]
    Custom(String),
}

impl serde::ser::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Custom(message.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Custom(message.to_string())
    }
}

/// Appends a value to a message whose first byte is `message[start]`: alignment counts from there.
///
/// # Errors
/// When the format cannot hold the value; the message is then as it was.
pub fn append<F: Format, T: Serialize + ?Sized>(message: &mut Vec<u8>, start: usize, value: &T) -> Result<(), Error> {
    let end = message.len();
    let written = value.serialize(&mut Serializer::<F>::new(message, start));
    if written.is_err() {
        message.truncate(end);
    }
    written
}

/// A value as bytes, aligned from their first.
///
/// # Errors
/// When the format cannot hold the value.
pub fn to_vec<F: Format, T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    append::<F, T>(&mut bytes, 0, value)?;
    Ok(bytes)
}

/// Reads a value that takes all the bytes.
///
/// # Errors
/// When the bytes are no value of the type, or some are left.
pub fn from_slice<'de, F: Format, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut reader = Deserializer::<F>::new(bytes, 0);
    let value = T::deserialize(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Reads a value at `bytes[offset..]` of a message, and returns where its bytes end.
///
/// # Errors
/// When the bytes are no value of the type.
pub fn read_at<F: Format, T: DeserializeOwned>(message: &[u8], offset: usize) -> Result<(T, usize), Error> {
    let rest = message.get(offset..).ok_or_else(|| Error::Truncated {
        offset: message.len(),
        needed: offset - message.len(),
        left: 0,
    })?;
    let mut reader = Deserializer::<F>::new(rest, offset);
    let value = T::deserialize(&mut reader)?;
    Ok((value, reader.offset()))
}

#[cfg(test)]
mod tests;
