//! gzip by stock zlib, which most servers and programs link: each input whole, with memory that is used again.

use super::super::Deflate;
use super::{Compressor, Stock};

/// Encodes inputs one by one, each as a member (RFC 1952) without a name, whose time is 0.
pub struct GzipEncoder(Compressor<Stock>);

impl GzipEncoder {
    /// An encoder of a level, from 0 to 9, with zlib's default window and memory.
    ///
    /// # Panics
    /// At any other level.
    pub fn new(level: u8) -> Self {
        let settings = Deflate {
            level,
            ..Deflate::default()
        };
        Self(Compressor::gzip(&settings).expect("zlib has the levels from 0 to 9"))
    }

    /// Encodes an input.
    pub fn encode(&mut self, input: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        self.0.encode_whole(input, &mut output);
        output
    }
}
