//! Which blocks does stock zlib make of a message, as long as nobody asks it for a flush? It says nothing of it, but what it wrote does.

use super::super::decoder::Decompress;
use super::super::encoder::Compress;
use super::super::{CodecError, Deflate};
use super::{Compressor, Decompressor, Stock};

/// Where a block has ended, from where blocks began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockEnd {
    /// Octets of the message up to there.
    pub(crate) octets: u64,
    /// What they have become.
    pub(crate) bits: u64,
}

/// Codes one message, part by part, and tells its blocks.
pub(crate) struct BlockEncoder {
    compressor: Compressor<Stock>,
    decompressor: Decompressor<Stock>,
    coded: Vec<u8>,
    octets: u64,
    coded_octets: u64,
}

impl BlockEncoder {
    /// After no history.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub(crate) fn new(settings: Deflate) -> Result<Self, CodecError> {
        // With takeover, a flush within a message does not make it forget.
        let settings = Deflate {
            takeover: true,
            ..settings
        };
        Ok(Self {
            compressor: Compressor::new(&settings, None)?,
            decompressor: Decompressor::new(&settings, None)?,
            coded: Vec::new(),
            octets: 0,
            coded_octets: 0,
        })
    }

    /// Begins after a history, which is entered as a dictionary is.
    pub(crate) fn prime(&mut self, history: &[u8]) {
        self.compressor.prime(history);
        self.begin_after(history);
    }

    /// Begins after a history, which is coded as a message.
    pub(crate) fn warm_up(&mut self, history: &[u8]) {
        self.compressor.reset();
        self.compressor.encode_part(history, true, &mut self.coded);
        self.begin_after(history);
    }

    fn begin_after(&mut self, history: &[u8]) {
        self.decompressor.prime(history);
        (self.octets, self.coded_octets) = (0, 0);
    }

    /// Takes a part, and appends the blocks that have ended. The last part is flushed, and all that is left ends with it.
    pub(crate) fn encode_part(&mut self, part: &[u8], last: bool, ends: &mut Vec<BlockEnd>) {
        self.coded.clear();
        if last {
            self.compressor.encode_part(part, true, &mut self.coded);
        } else {
            self.compressor.take_part(part, &mut self.coded);
        }
        self.octets += part.len() as u64;
        self.coded_octets += self.coded.len() as u64;
        self.decompressor.block_ends(&self.coded, ends);
        if last {
            ends.push(BlockEnd {
                octets: self.octets,
                bits: 8 * self.coded_octets,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_long_as_the_buffer_of_symbols_and_all_of_a_message() {
        // No string comes again within a window of 2^9 octets, so each symbol is an octet.
        let message: Vec<u8> = (0..100_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let settings = Deflate {
            mem_level: 4,
            strategy: crate::message_codec::Strategy::HuffmanOnly,
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
            let octets: Vec<u64> = ends.iter().map(|end| end.octets).collect();
            assert_eq!(octets[..97], full);
            assert_eq!(octets.last(), Some(&100_000));
            assert!(ends.is_sorted_by_key(|end| end.bits));
            let mut whole = Vec::new();
            let mut compressor = Compressor::<Stock>::new(&settings, None).unwrap();
            compressor.encode_part(&message, true, &mut whole);
            assert_eq!(ends.last().unwrap().bits, 8 * whole.len() as u64);
        }
    }
}
