//! Encodes bytes with a content coding, as a stream, and measures the exact encoded size.

use super::back_end::{Compress, Copy, Operation};
use super::{CodecSpec, Coding, brotli, deflate, zstd};
use lastmile_units::ByteCount;

/// The size of the pieces of output: our own choice, about what one TLS record carries.
pub(super) const CHUNK: usize = 16 * 1024;

/// Encodes a stream of bytes with a content coding.
///
/// Output does not depend on how the input was cut into pieces, only on where it was flushed. The back end does not get the length
/// of the input beforehand, as a server that compresses on the fly does not know it. Running out of memory aborts, as elsewhere in
/// Rust; nothing else can fail.
///
/// ```
/// use lastmile_codec::content::{Coding, Encoder, decode};
/// use lastmile_units::ByteCount;
/// let mut encoder = Encoder::new("br:5".parse().unwrap());
/// let mut coded = Vec::new();
/// encoder.write(b"to be, ", &mut coded);
/// encoder.write(b"or not to be", &mut coded);
/// encoder.finish(&mut coded);
/// assert_eq!(decode(Coding::Brotli, &coded, ByteCount::new(100)).unwrap(), b"to be, or not to be");
/// ```
pub struct Encoder {
    back_end: Box<dyn Compress>,
    /// Input that waits until it fills a block. Back ends choose matches from the input that they have so far, so that without blocks
    /// a body's size would depend on how it arrives.
    staged: Vec<u8>,
    /// Whether there was input since the last flush; otherwise another flush writes nothing.
    unflushed: bool,
}

impl Encoder {
    /// An encoder at the start of a stream. Its memory depends on coding and level: from 300 kB for gzip to about 200 MB for the
    /// highest levels of zstd.
    pub fn new(spec: CodecSpec) -> Self {
        let level = spec.level();
        let back_end: Box<dyn Compress> = match spec.coding() {
            Coding::Identity => Box::new(Copy),
            Coding::Gzip => Box::new(deflate::Compressor::gzip(level)),
            Coding::Deflate => Box::new(deflate::Compressor::zlib(level)),
            Coding::Brotli => Box::new(brotli::Compressor::new(level)),
            Coding::Zstd => Box::new(zstd::Compressor::new(level)),
        };
        Self {
            back_end,
            staged: Vec::new(),
            unflushed: false,
        }
    }

    /// Encodes `input`, and appends to `output` what is ready.
    pub fn write(&mut self, mut input: &[u8], output: &mut Vec<u8>) {
        self.unflushed |= !input.is_empty();
        let Some(block) = self.back_end.block() else {
            // Even an empty write would fix a back end's choices, so it gets none.
            if !input.is_empty() {
                run(&mut *self.back_end, input, Operation::Process, output);
            }
            return;
        };
        if !self.staged.is_empty() {
            let (head, rest) = input.split_at(input.len().min(block.get() - self.staged.len()));
            self.staged.extend_from_slice(head);
            input = rest;
            if self.staged.len() == block.get() {
                run(&mut *self.back_end, &self.staged, Operation::Process, output);
                self.staged.clear();
            }
        }
        let blocks = input.chunks_exact(block.get());
        self.staged.extend_from_slice(blocks.remainder());
        for whole in blocks {
            run(&mut *self.back_end, whole, Operation::Process, output);
        }
    }

    /// Appends all that a decoder needs to read every byte written so far. This adds some bytes, and loses some compression;
    /// it does nothing if nothing was written since the last flush.
    pub fn flush(&mut self, output: &mut Vec<u8>) {
        if self.unflushed {
            self.unflushed = false;
            run(&mut *self.back_end, &self.staged, Operation::Flush, output);
            self.staged.clear();
        }
    }

    /// Ends the stream, and appends the remaining output.
    pub fn finish(mut self, output: &mut Vec<u8>) {
        run(&mut *self.back_end, &self.staged, Operation::Finish, output);
    }
}

fn run(back_end: &mut dyn Compress, mut input: &[u8], operation: Operation, output: &mut Vec<u8>) {
    loop {
        let start = output.len();
        output.resize(start + CHUNK, 0);
        let step = back_end.step(input, operation, &mut output[start..]);
        output.truncate(start + step.written);
        input = &input[step.consumed..];
        if step.done {
            return;
        }
    }
}

/// Encodes all of `input` at once.
pub fn encode(spec: CodecSpec, input: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut encoder = Encoder::new(spec);
    encoder.write(input, &mut output);
    encoder.finish(&mut output);
    output
}

/// The exact encoded size of the concatenated `chunks`, without a content-length header or any framing. Only one piece of the output
/// is in memory at a time.
pub fn encoded_size<'a>(spec: CodecSpec, chunks: impl IntoIterator<Item = &'a [u8]>) -> ByteCount {
    let mut encoder = Encoder::new(spec);
    let mut piece = Vec::with_capacity(2 * CHUNK);
    let mut size = ByteCount::ZERO;
    for part in chunks.into_iter().flat_map(|chunk| chunk.chunks(CHUNK)) {
        encoder.write(part, &mut piece);
        size += ByteCount::from(piece.len());
        piece.clear();
    }
    encoder.finish(&mut piece);
    size + ByteCount::from(piece.len())
}
