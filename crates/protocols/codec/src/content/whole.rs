//! Encodes many inputs, each whole and by itself, with memory that is used again.
//!
//! A new compressor touches megabytes before the first byte; for inputs of a hundred bytes that takes longer than compressing them. Streaming
//! is left to [`Encoder`](super::Encoder). gzip is that of stock zlib here, the library of deflate for messages.

use super::{CodecSpec, Coding, encode};
use crate::message::GzipEncoder;

/// Encodes inputs one by one. Unlike [`Encoder`](super::Encoder), it knows the length of each beforehand, as a client that sends messages does: zstd then
/// chooses smaller tables, and writes the length into the frame.
///
/// ```
/// use lastmile_codec::content::{Coding, WholeEncoder, decode};
/// use lastmile_units::ByteCount;
/// let mut encoder = WholeEncoder::new("zstd:3".parse().unwrap());
/// for text in [b"to be, or", b"not to be"] {
///     assert_eq!(decode(Coding::Zstd, &encoder.encode(text), ByteCount::new(100)).unwrap(), text);
/// }
/// ```
pub struct WholeEncoder {
    spec: CodecSpec,
    reused: Reused,
}

enum Reused {
    Gzip(GzipEncoder),
    Zstd(Box<::zstd::bulk::Compressor<'static>>),
    Nothing,
}

impl WholeEncoder {
    /// An encoder.
    pub fn new(spec: CodecSpec) -> Self {
        let reused = match spec.coding() {
            Coding::Gzip => Reused::Gzip(GzipEncoder::new(spec.level())),
            Coding::Zstd => Reused::Zstd(Box::new(
                ::zstd::bulk::Compressor::new(i32::from(spec.level()))
                    .expect("a level of libzstd's own range is accepted"),
            )),
            _ => Reused::Nothing,
        };
        Self { spec, reused }
    }

    /// Encodes an input.
    pub fn encode(&mut self, input: &[u8]) -> Vec<u8> {
        match &mut self.reused {
            Reused::Gzip(encoder) => encoder.encode(input),
            Reused::Zstd(compressor) => compressor.compress(input).expect("memory can be written"),
            Reused::Nothing => encode(self.spec, input),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;
    use lastmile_units::ByteCount;

    /// The sizes are those of `zlib.compressobj(level, zlib.DEFLATED, 31)` of Python 3.11 with zlib 1.2.13.
    #[test]
    fn gzip_is_that_of_stock_zlib() {
        let line = |n: u64| {
            let draw = n.wrapping_mul(6_364_136_223_846_793_005) >> 33;
            format!(
                "{{\"id\":{n},\"value\":{},\"name\":\"item {}\"}}\n",
                draw % 100_000,
                draw % 37
            )
        };
        let text: String = (0..2_000).map(line).collect();
        let sizes = ["gzip:1", "gzip:6", "gzip:9"].map(|spec| {
            let mut encoder = WholeEncoder::new(spec.parse().unwrap());
            [&text[..], &text[..100], ""].map(|text| encoder.encode(text.as_bytes()).len())
        });
        assert_eq!(sizes, [[17838, 79, 20], [14394, 77, 20], [13993, 77, 20]]);
    }

    #[test]
    fn every_input_is_encoded_by_itself() {
        let inputs: [&[u8]; 4] = [b"", b"to be, or not to be", &[7; 100_000], b"to be, or not to be"];
        for spec in ["gzip:6", "gzip:1", "zstd:3", "zstd:12", "br:5", "deflate:6", "identity"] {
            let spec: CodecSpec = spec.parse().unwrap();
            let mut encoder = WholeEncoder::new(spec);
            let encoded = inputs.map(|input| encoder.encode(input));
            for (input, encoded) in inputs.iter().zip(&encoded) {
                assert_eq!(
                    decode(spec.coding(), encoded, ByteCount::new(100_000)).unwrap(),
                    *input,
                    "{spec}"
                );
            }
            assert_eq!(encoded[1], encoded[3], "{spec}: nothing is remembered");
        }
    }
}
