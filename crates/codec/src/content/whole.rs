//! Encodes many inputs, each whole and by itself, with memory that is used again.
//!
//! A new compressor touches megabytes before the first byte; for inputs of a hundred bytes that takes longer than compressing them. Streaming
//! is left to [`Encoder`](super::Encoder).

use super::{CodecSpec, Coding, Encoder};
use flate2::{Compress, Compression, FlushCompress, Status};

/// Encodes inputs one by one. Unlike [`Encoder`], it knows the length of each beforehand, as a client that sends messages does: zstd then
/// chooses smaller tables, and writes the length into the frame.
///
/// ```
/// use lastmile_codec::content::{Coding, WholeEncoder, decode};
/// use lastmile_units::Bytes;
/// let mut encoder = WholeEncoder::new("zstd:3".parse().unwrap());
/// for text in [b"to be, or", b"not to be"] {
///     assert_eq!(decode(Coding::Zstd, &encoder.encode(text), Bytes::new(100)).unwrap(), text);
/// }
/// ```
pub struct WholeEncoder {
    spec: CodecSpec,
    reused: Reused,
}

enum Reused {
    Gzip(Compress),
    Zstd(Box<::zstd::bulk::Compressor<'static>>),
    Nothing,
}

/// log2 of the window of gzip.
const GZIP_WINDOW_BITS: u8 = 15;

impl WholeEncoder {
    /// An encoder.
    pub fn new(spec: CodecSpec) -> Self {
        let reused = match spec.coding() {
            Coding::Gzip => Reused::Gzip(Compress::new_gzip(
                Compression::new(u32::from(spec.level())),
                GZIP_WINDOW_BITS,
            )),
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
            Reused::Gzip(compressor) => {
                compressor.reset();
                let mut output = Vec::with_capacity(input.len() / 2 + 64);
                loop {
                    let rest = &input[compressor.total_in() as usize..];
                    let status = compressor.compress_vec(rest, &mut output, FlushCompress::Finish);
                    if status.expect("a deflate stream that was reset takes input") == Status::StreamEnd {
                        return output;
                    }
                    output.reserve(output.capacity());
                }
            }
            Reused::Zstd(compressor) => compressor.compress(input).expect("memory can be written"),
            Reused::Nothing => {
                let mut output = Vec::new();
                let mut encoder = Encoder::new(self.spec);
                encoder.write(input, &mut output);
                encoder.finish(&mut output);
                output
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;
    use lastmile_units::Bytes;

    #[test]
    fn every_input_is_encoded_by_itself() {
        let inputs: [&[u8]; 4] = [b"", b"to be, or not to be", &[7; 100_000], b"to be, or not to be"];
        for spec in ["gzip:6", "gzip:1", "zstd:3", "zstd:12", "br:5", "deflate:6", "identity"] {
            let spec: CodecSpec = spec.parse().unwrap();
            let mut encoder = WholeEncoder::new(spec);
            let encoded = inputs.map(|input| encoder.encode(input));
            for (input, encoded) in inputs.iter().zip(&encoded) {
                assert_eq!(
                    decode(spec.coding(), encoded, Bytes::new(100_000)).unwrap(),
                    *input,
                    "{spec}"
                );
            }
            assert_eq!(encoded[1], encoded[3], "{spec}: nothing is remembered");
        }
    }
}
