//! Finds where stock zlib ends the blocks of a message, without flushes. zlib does not report it, so its output is inflated.

use super::super::back_end::{Compress, Decompress};
use super::super::{CodecError, Deflate};
use super::{Compressor, Decompressor, Stock};

/// The end of a block, counted from the start of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEnd {
    /// Bytes of the message up to the end of the block.
    pub bytes: u64,
    /// Compressed size of these bytes, in bits.
    pub bits: u64,
}

/// Compresses one message, part by part, and reports its blocks.
pub struct BlockEncoder {
    compressor: Compressor<Stock>,
    decompressor: Decompressor<Stock>,
    compressed: Vec<u8>,
    bytes: u64,
    compressed_bytes: u64,
}

impl BlockEncoder {
    /// An encoder without history.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(settings: Deflate) -> Result<Self, CodecError> {
        // With takeover, the flush that ends a message does not reset the context.
        let settings = Deflate {
            takeover: true,
            ..settings
        };
        Ok(Self {
            compressor: Compressor::new(&settings, None)?,
            decompressor: Decompressor::new(&settings, None)?,
            compressed: Vec::new(),
            bytes: 0,
            compressed_bytes: 0,
        })
    }

    /// Starts after a history, which is set as a dictionary.
    pub fn prime(&mut self, history: &[u8]) {
        self.compressor.prime(history);
        self.begin_after(history);
    }

    /// Starts after a history, which is compressed as a message.
    pub fn warm_up(&mut self, history: &[u8]) {
        self.compressor.reset();
        self.compressor.encode_part(history, true, &mut self.compressed);
        self.begin_after(history);
    }

    fn begin_after(&mut self, history: &[u8]) {
        self.decompressor.prime(history);
        (self.bytes, self.compressed_bytes) = (0, 0);
    }

    /// Compresses a part, and appends the ends of finished blocks. The last part is flushed, which ends the last block.
    pub fn encode_part(&mut self, part: &[u8], last: bool, ends: &mut Vec<BlockEnd>) {
        self.compressed.clear();
        if last {
            self.compressor.encode_part(part, true, &mut self.compressed);
        } else {
            self.compressor.take_part(part, &mut self.compressed);
        }
        self.bytes += part.len() as u64;
        self.compressed_bytes += self.compressed.len() as u64;
        self.decompressor.block_ends(&self.compressed, ends);
        if last {
            ends.push(BlockEnd {
                bytes: self.bytes,
                bits: 8 * self.compressed_bytes,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_long_as_the_buffer_of_symbols_and_all_of_a_message() {
        // No string repeats within a window of 2^9 bytes, so each symbol is a byte.
        let message: Vec<u8> = (0..100_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let settings = Deflate {
            mem_level: 4,
            strategy: crate::message::Strategy::HuffmanOnly,
            ..Deflate::default()
        };
        let mut encoder = BlockEncoder::new(settings).unwrap();
        for begin in [BlockEncoder::prime, BlockEncoder::warm_up] {
            let mut ends = Vec::new();
            begin(&mut encoder, b"what went before");
            for (number, part) in message.chunks(7000).enumerate() {
                encoder.encode_part(part, number == 100_000 / 7000, &mut ends);
            }
            // 2^(4 + 6) symbols less one (deflate.c, `deflateInit2_`).
            let full: Vec<u64> = (1..=97).map(|n| n * 1023).collect();
            let bytes: Vec<u64> = ends.iter().map(|end| end.bytes).collect();
            assert_eq!(bytes[..97], full);
            assert_eq!(bytes.last(), Some(&100_000));
            assert!(ends.is_sorted_by_key(|end| end.bits));
            let mut whole = Vec::new();
            let mut compressor = Compressor::<Stock>::new(&settings, None).unwrap();
            compressor.encode_part(&message, true, &mut whole);
            assert_eq!(ends.last().unwrap().bits, 8 * whole.len() as u64);
        }
    }
}
