//! The header of an Ice message, and the types of messages.

use crate::ReadError;
use lastmile_units::ByteCount;

/// The length of a header in bytes.
pub const HEADER_LENGTH: usize = 14;

const MAGIC: [u8; 4] = *b"IceP";
/// The versions of the protocol and of its encoding.
const VERSIONS: [u8; 4] = [1, 0, 1, 0];
/// The offset of the message's size.
const SIZE_AT: usize = 10;

/// What is compressed, and what its sender accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionStatus {
    /// Not compressed; a reply must not be either.
    Plain,
    /// Not compressed; a reply may be.
    AcceptsCompressed,
    /// Compressed; a reply may be, too.
    Compressed,
}

/// The type of a message, as its header has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageType {
    Request = 0,
    Batch = 1,
    Reply = 2,
    Validate = 3,
    Close = 4,
}

/// A header that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: MessageType,
    pub(super) status: CompressionStatus,
    /// The length of the message with its header.
    pub(super) length: usize,
}

impl Header {
    /// Appends a header whose size [`finish`] writes.
    pub(super) fn begin(kind: MessageType, out: &mut Vec<u8>) {
        out.extend(MAGIC);
        out.extend(VERSIONS);
        out.extend([kind as u8, CompressionStatus::Plain as u8, 0, 0, 0, 0]);
    }

    /// Reads the header at the start of `bytes`, whose message may be `limit` long; none where it is not complete yet.
    pub(super) fn read(bytes: &[u8], limit: ByteCount) -> Result<Option<Self>, ReadError> {
        ReadError::check_magic(bytes, "the Ice protocol", MAGIC)?;
        let Some(header) = bytes.first_chunk::<HEADER_LENGTH>() else {
            return Ok(None);
        };
        for (what, at) in [("Ice protocol", 4), ("Ice protocol encoding", 6)] {
            let (found, supported) = ((header[at], header[at + 1]), (1, 0));
            if found != supported {
                return Err(ReadError::Version { what, found, supported });
            }
        }
        let kind = match header[8] {
            0 => MessageType::Request,
            1 => MessageType::Batch,
            2 => MessageType::Reply,
            3 => MessageType::Validate,
            4 => MessageType::Close,
            found => return Err(ReadError::Type { found, max: 4 }),
        };
        let status = match header[9] {
            0 => CompressionStatus::Plain,
            1 => CompressionStatus::AcceptsCompressed,
            2 => CompressionStatus::Compressed,
            other => return Err(ReadError::Status(other)),
        };
        let size = i32::from_le_bytes(*header.last_chunk().expect("a header has 14 bytes"));
        let length = usize::try_from(size).ok().filter(|length| *length >= HEADER_LENGTH);
        let length = length.ok_or_else(|| {
            let found = format!("{size}, but a header has {HEADER_LENGTH} bytes");
            ReadError::invalid("the size of a message", SIZE_AT, found)
        })?;
        ReadError::check_length(length, limit)?;
        Ok(Some(Self { kind, status, length }))
    }
}

/// Writes the size of the message in `out` into its header.
///
/// # Panics
/// Where it has 2 GiB or more.
pub(super) fn finish(out: &mut [u8]) {
    let size = i32::try_from(out.len()).expect("a message is shorter than 2 GiB");
    out[SIZE_AT..HEADER_LENGTH].copy_from_slice(&size.to_le_bytes());
}

/// Sets the compression status of a message.
pub(super) fn set_status(out: &mut [u8], status: CompressionStatus) {
    out[9] = status as u8;
}
