//! The Ice encoding, versions 1.0 and 1.1: little-endian, nothing aligned, sizes of one byte or five.
//!
//! Chapter "Data Encoding" of the Ice manual. Strings are UTF-8 without a terminator; structs are their members in order;
//! dictionaries are a size and pairs of key and value; classes, exceptions and optional members are absent on purpose. The protocol
//! that carries such bytes is left to its own crate.
//!
//! ```
//! use lastmile_wire_formats::ice;
//! let bytes = ice::to_vec(&("tick", 7_i16)).unwrap();
//! assert_eq!(bytes, b"\x04tick\x07\x00");
//! assert_eq!(ice::from_slice::<(String, i16)>(&bytes), Ok(("tick".to_owned(), 7)));
//! ```

use crate::positional::{self, ByteOrder, EnumeratorSize, Error, Format};
use serde::{Deserialize, Serialize};

/// Encoding 1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ice11;

/// Encoding 1.0, which differs in the size of enumerators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ice10;

impl Format for Ice11 {
    const NAME: &'static str = "Ice encoding 1.1";
    const BYTE_ORDER: ByteOrder = ByteOrder::Little;
    const ALIGNED: bool = false;
    const COMPACT_SIZES: bool = true;
    const TERMINATED_STRINGS: bool = false;
    const ENUMERATORS: EnumeratorSize = EnumeratorSize::Size;
    const UNSIGNED: bool = false;
    const UNIONS: bool = false;
}

impl Format for Ice10 {
    const NAME: &'static str = "Ice encoding 1.0";
    const BYTE_ORDER: ByteOrder = Ice11::BYTE_ORDER;
    const ALIGNED: bool = Ice11::ALIGNED;
    const COMPACT_SIZES: bool = Ice11::COMPACT_SIZES;
    const TERMINATED_STRINGS: bool = Ice11::TERMINATED_STRINGS;
    const ENUMERATORS: EnumeratorSize = EnumeratorSize::Byte;
    const UNSIGNED: bool = Ice11::UNSIGNED;
    const UNIONS: bool = Ice11::UNIONS;
}

/// A value as bytes, in encoding 1.1.
///
/// # Errors
/// When Ice has no form for the value.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    positional::to_vec::<Ice11, T>(value)
}

/// Reads a value that takes all the bytes, in encoding 1.1.
///
/// # Errors
/// When the bytes are no value of the type, or some are left.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    positional::from_slice::<Ice11, T>(bytes)
}
