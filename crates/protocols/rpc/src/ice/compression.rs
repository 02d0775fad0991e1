//! Compression of Ice messages by bzip2, as Ice does it, and only where it pays.

use super::header::{CompressionStatus, HEADER_LENGTH, finish, set_status};
use crate::ReadError;
use crate::fields::Fields;
use crate::giop::ByteOrder;
use bzip2::read::{BzDecoder, BzEncoder};
use lastmile_units::ByteCount;
use std::io::Read;

/// Ice compresses messages of at least this length, the header included.
pub const COMPRESSION_THRESHOLD: ByteCount = ByteCount::new(100);

/// Which messages are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionPolicy {
    /// Those of at least [`COMPRESSION_THRESHOLD`], even where they become longer: what Ice does.
    AboveThreshold,
    /// Those that become shorter.
    IfSmaller,
}

/// Compresses the encoded message in `message` by bzip2 at `level` (1 to 9, times 100 kB of block size), where the policy wants it.
///
/// A message that stays as it is says that its sender accepts compressed ones.
pub fn compress(mut message: Vec<u8>, level: u32, policy: CompressionPolicy) -> Vec<u8> {
    let plain = |mut message: Vec<u8>| {
        set_status(&mut message, CompressionStatus::AcceptsCompressed);
        message
    };
    if policy == CompressionPolicy::AboveThreshold && ByteCount::from(message.len()) < COMPRESSION_THRESHOLD {
        return plain(message);
    }
    set_status(&mut message, CompressionStatus::Compressed);
    let mut out = message[..HEADER_LENGTH].to_vec();
    let length = i32::try_from(message.len()).expect("a message is shorter than 2 GiB");
    out.extend(length.to_le_bytes());
    let mut encoder = BzEncoder::new(&message[HEADER_LENGTH..], bzip2::Compression::new(level.clamp(1, 9)));
    encoder.read_to_end(&mut out).expect("bytes in memory can be read");
    if policy == CompressionPolicy::IfSmaller && out.len() >= message.len() {
        return plain(message);
    }
    finish(&mut out);
    out
}

/// Decompresses the body of `message`, which may then have `limit` bytes together with its header. The result has a header of its own.
pub(super) fn decompress(message: &[u8], limit: ByteCount) -> Result<Vec<u8>, ReadError> {
    let size = Fields::new(message, ByteOrder::Little, HEADER_LENGTH).int("the uncompressed size")?;
    let length = usize::try_from(size).ok().filter(|length| *length >= HEADER_LENGTH);
    let length = length.ok_or_else(|| ReadError::invalid("the uncompressed size", HEADER_LENGTH, size.to_string()))?;
    ReadError::check_length(length, limit)?;
    // One byte more than declared shows a message that is too long. Nothing is allocated for what was declared and never comes.
    let mut out = message[..HEADER_LENGTH].to_vec();
    let mut content = BzDecoder::new(&message[HEADER_LENGTH + 4..]).take((length - HEADER_LENGTH + 1) as u64);
    content
        .read_to_end(&mut out)
        .map_err(|error| ReadError::Corrupt(error.to_string()))?;
    if out.len() != length {
        return Err(ReadError::Corrupt(format!(
            "it declares {length} bytes, and has {}{}",
            if out.len() > length { "more than " } else { "" },
            out.len().min(length)
        )));
    }
    finish(&mut out);
    Ok(out)
}
