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
