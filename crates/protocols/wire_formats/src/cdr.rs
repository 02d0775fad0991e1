//! CDR as GIOP 1.2 sends it: numbers aligned to their size from the start of the message, in either byte order.
//!
//! Section 9.3 of the CORBA specification, part 2. Sizes are unsigned numbers of 32 bits; a string counts its terminating zero
//! byte; structs are their members in order; enumerators are numbers of 32 bits, unions an enumerator and its value; a dictionary is
//! a sequence of pairs. Strings are UTF-8, which both sides agree on by code sets. Padding is written as zeros and read as anything, since the
//! specification leaves it open. Value types and wide strings are absent on purpose. GIOP messages are left to a crate of their own.
//!
//! ```
//! use lastmile_wire_formats::cdr;
//! let bytes = cdr::to_vec(&("tick", 7_i16)).unwrap();
//! assert_eq!(bytes, b"\x05\x00\x00\x00tick\x00\x00\x07\x00");
//! assert_eq!(cdr::from_slice::<(String, i16)>(&bytes), Ok(("tick".to_owned(), 7)));
//! ```

use crate::positional::{self, ByteOrder, EnumeratorSize, Error, Format};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// CDR with the least significant byte first, as most implementations send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LittleEndian;

/// CDR with the most significant byte first, as implementations in Java send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BigEndian;

impl Format for LittleEndian {
    const NAME: &'static str = "CDR";
    const BYTE_ORDER: ByteOrder = ByteOrder::Little;
    const ALIGNED: bool = true;
    const COMPACT_SIZES: bool = false;
    const TERMINATED_STRINGS: bool = true;
    const ENUMERATORS: EnumeratorSize = EnumeratorSize::FourBytes;
    const UNSIGNED: bool = true;
    const UNIONS: bool = true;
}

impl Format for BigEndian {
    const NAME: &'static str = LittleEndian::NAME;
    const BYTE_ORDER: ByteOrder = ByteOrder::Big;
    const ALIGNED: bool = LittleEndian::ALIGNED;
    const COMPACT_SIZES: bool = LittleEndian::COMPACT_SIZES;
    const TERMINATED_STRINGS: bool = LittleEndian::TERMINATED_STRINGS;
    const ENUMERATORS: EnumeratorSize = LittleEndian::ENUMERATORS;
    const UNSIGNED: bool = LittleEndian::UNSIGNED;
    const UNIONS: bool = LittleEndian::UNIONS;
}

/// Appends a value to a message whose first byte is `message[start]`; alignment counts from there, header included.
///
/// # Errors
/// When CDR has no form for the value; the message is then as it was.
pub fn append<T: Serialize + ?Sized>(message: &mut Vec<u8>, start: usize, value: &T) -> Result<(), Error> {
    positional::append::<LittleEndian, T>(message, start, value)
}

/// Pads a message whose first byte is `message[start]` with zeros to a multiple of `alignment` bytes.
///
/// # Panics
/// When `alignment` is zero, or `start` lies beyond the message.
pub fn align(message: &mut Vec<u8>, start: usize, alignment: usize) {
    let length = (message.len() - start).next_multiple_of(alignment);
    message.resize(start + length, 0);
}

/// A value as bytes, aligned from their first.
///
/// # Errors
/// When CDR has no form for the value.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    positional::to_vec::<LittleEndian, T>(value)
}

/// Reads a value that takes all the bytes, aligned from their first.
///
/// # Errors
/// When the bytes are no value of the type, or some are left.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    positional::from_slice::<LittleEndian, T>(bytes)
}

/// Reads a value at `message[offset..]`, aligned from the message's first byte, and returns where its bytes end.
///
/// # Errors
/// When the bytes are no value of the type.
pub fn read_at<T: DeserializeOwned>(message: &[u8], offset: usize, order: ByteOrder) -> Result<(T, usize), Error> {
    match order {
        ByteOrder::Little => positional::read_at::<LittleEndian, T>(message, offset),
        ByteOrder::Big => positional::read_at::<BigEndian, T>(message, offset),
    }
}
