//! The header of an Ice message, and the types of messages.

use super::IceError;
use lastmile_units::ByteCount;

/// The length of a header in bytes.
pub const HEADER_LENGTH: usize = 14;

/// The magic bytes, and the versions of the protocol and of its encoding.
const START: [u8; 8] = *b"IceP\x01\x00\x01\x00";
/// The place of the message's size.
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
        out.extend(START);
        out.extend([kind as u8, CompressionStatus::Plain as u8, 0, 0, 0, 0]);
    }

    /// Reads the header at the start of `bytes`, whose message may be `limit` long; none where it is not complete yet.
    pub(super) fn read(bytes: &[u8], limit: ByteCount) -> Result<Option<Self>, IceError> {
        // What is there is judged at once: who does not speak the protocol shall not be waited for.
        let known = bytes.len().min(4);
        if bytes[..known] != START[..known] {
            let mut found = [0; 4];
            found[..known].copy_from_slice(&bytes[..known]);
            return Err(IceError::Magic { found });
        }
        let Some(header) = bytes.first_chunk::<HEADER_LENGTH>() else {
            return Ok(None);
        };
        for (what, at) in [("protocol", 4), ("protocol encoding", 6)] {
            let (major, minor) = (header[at], header[at + 1]);
            if (major, minor) != (1, 0) {
                return Err(IceError::Version { what, major, minor });
            }
        }
        let kind = match header[8] {
            0 => MessageType::Request,
            1 => MessageType::Batch,
            2 => MessageType::Reply,
            3 => MessageType::Validate,
            4 => MessageType::Close,
            other => return Err(IceError::Type(other)),
        };
        let status = match header[9] {
            0 => CompressionStatus::Plain,
            1 => CompressionStatus::AcceptsCompressed,
            2 => CompressionStatus::Compressed,
            other => return Err(IceError::Status(other)),
        };
        let size = i32::from_le_bytes(*header.last_chunk().expect("a header has 14 bytes"));
        let length = usize::try_from(size).ok().filter(|length| *length >= HEADER_LENGTH);
        let length = length.ok_or_else(|| IceError::Invalid {
            field: "the size of a message",
            at: SIZE_AT,
            found: format!("{size}, but a header has {HEADER_LENGTH} bytes"),
        })?;
        if ByteCount::from(length) > limit {
            return Err(IceError::TooLarge {
                length: ByteCount::from(length),
                limit,
            });
        }
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
