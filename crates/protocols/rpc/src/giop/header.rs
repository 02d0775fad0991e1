//! The header of a GIOP message.

use crate::ReadError;
use lastmile_units::ByteCount;

/// The length of a header in bytes.
pub const HEADER_LENGTH: usize = 12;

const MAGIC: [u8; 4] = *b"GIOP";
const SIZE_AT: usize = 8;
const FLAGS_AT: usize = 6;
const LITTLE_ENDIAN: u8 = 1;
const MORE_FRAGMENTS: u8 = 2;

/// The order of the bytes of numbers. We write little-endian, as programs on most machines do, and read both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// The most significant byte first.
    Big,
    /// The least significant byte first.
    Little,
}

impl ByteOrder {
    pub(crate) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageType {
    Request = 0,
    Reply = 1,
    CancelRequest = 2,
    LocateRequest = 3,
    LocateReply = 4,
    CloseConnection = 5,
    MessageError = 6,
    Fragment = 7,
}

/// A header that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: MessageType,
    pub(super) order: ByteOrder,
    /// Whether fragments follow.
    pub(super) has_more: bool,
    /// The length of the message with its header.
    pub(super) length: usize,
}

impl Header {
    /// Appends a header whose size [`finish`] writes.
    pub(super) fn begin(kind: MessageType, out: &mut Vec<u8>) {
        out.extend(MAGIC);
        out.extend([1, 2, LITTLE_ENDIAN, kind as u8, 0, 0, 0, 0]);
    }

    /// Reads the header at the start of `bytes`, whose message may be `limit` long; none where it is not complete yet.
    pub(super) fn read(bytes: &[u8], limit: ByteCount) -> Result<Option<Self>, ReadError> {
        ReadError::check_magic(bytes, "GIOP", MAGIC)?;
        let Some(header) = bytes.first_chunk::<HEADER_LENGTH>() else {
            return Ok(None);
        };
        let (what, found, supported) = ("GIOP", (header[4], header[5]), (1, 2));
        if found != supported {
            return Err(ReadError::Version { what, found, supported });
        }
        let kind = match header[7] {
            0 => MessageType::Request,
            1 => MessageType::Reply,
            2 => MessageType::CancelRequest,
            3 => MessageType::LocateRequest,
            4 => MessageType::LocateReply,
            5 => MessageType::CloseConnection,
            6 => MessageType::MessageError,
            7 => MessageType::Fragment,
            found => return Err(ReadError::Type { found, max: 7 }),
        };
        let is_little = header[FLAGS_AT] & LITTLE_ENDIAN != 0;
        let order = if is_little { ByteOrder::Little } else { ByteOrder::Big };
        let size = *header.last_chunk().expect("a header has 12 bytes");
        let length = HEADER_LENGTH.saturating_add(order.u32(size) as usize);
        ReadError::check_length(length, limit)?;
        Ok(Some(Self {
            kind,
            order,
            has_more: header[FLAGS_AT] & MORE_FRAGMENTS != 0,
            length,
        }))
    }
}

/// Writes the size of the message in `out` into its header.
///
/// # Panics
/// Where it has 4 GiB or more.
pub(super) fn finish(out: &mut [u8]) {
    let size = u32::try_from(out.len() - HEADER_LENGTH).expect("a message is shorter than 4 GiB");
    out[SIZE_AT..HEADER_LENGTH].copy_from_slice(&size.to_le_bytes());
}

/// Marks a message as one that fragments follow.
pub(super) fn set_more(out: &mut [u8]) {
    out[FLAGS_AT] |= MORE_FRAGMENTS;
}
