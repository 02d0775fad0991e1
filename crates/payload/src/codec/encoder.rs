//! How are bytes streamed into a coding, and how many come out?

use super::{CodecSpec, Coding, brotli, deflate, zstd};
use lastmile_units::Bytes;
use std::num::NonZeroUsize;

/// Output is made in pieces of this size: our own choice, a little above what one TLS record or a few segments carry.
pub(super) const CHUNK: usize = 16 * 1024;

/// What is asked of a compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Take the input; output may wait.
    Process,
    /// Take the input, and put out all that a decoder needs to see it.
    Flush,
    /// Take the input, and end the stream.
    Finish,
}

/// What one step of a compressor did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Octets of input taken.
    pub(super) consumed: usize,
    /// Octets of output made.
    pub(super) written: usize,
    /// Whether the operation is complete; otherwise the step is repeated with the rest of the input and fresh room.
    pub(super) done: bool,
}

/// A back end: stepped with the same operation until it is done.
pub(super) trait Compress: Send {
    /// How much input it is given at a time; none where its output does not depend on that.
    fn block(&self) -> Option<NonZeroUsize>;
    fn step(&mut self, input: &[u8], operation: Operation, room: &mut [u8]) -> Step;
}

/// Streams bytes into a coding.
///
/// Output does not depend on how the input was cut into pieces, only on where it was flushed. The length of the input is not
/// told to the back end beforehand, as it is not known to a server that codes on the fly. Running out of memory aborts, as
/// elsewhere in Rust; nothing else can fail.
///
/// ```
/// use lastmile_payload::codec::{Coding, Encoder, decode};
/// use lastmile_units::Bytes;
/// let mut encoder = Encoder::new("br:5".parse().unwrap());
/// let mut coded = Vec::new();
/// encoder.write(b"to be, ", &mut coded);
/// encoder.write(b"or not to be", &mut coded);
/// encoder.finish(&mut coded);
/// assert_eq!(decode(Coding::Brotli, &coded, Bytes::new(100)).unwrap(), b"to be, or not to be");
/// ```
pub struct Encoder {
    back_end: Box<dyn Compress>,
    /// Input that waits until it fills a block. Back ends choose their matches by what lies before them at the time, so
    /// that without blocks a body's size would depend on how it came.
    staged: Vec<u8>,
    /// Whether anything came in since the last flush; a second flush has nothing to say.
    unflushed: bool,
}

impl Encoder {
    /// An encoder at the start of a stream. Its memory is a matter of the coding and level: from 300 kB for gzip to about
    /// 200 MB for the highest levels of zstd.
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

    /// Takes `input`, and appends to `output` what has become ready.
    pub fn write(&mut self, mut input: &[u8], output: &mut Vec<u8>) {
        self.unflushed |= !input.is_empty();
        let Some(block) = self.back_end.block() else {
            // Even an empty write would settle a back end's choices, so none reaches it.
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

    /// Appends all that a decoder needs to see every octet written so far. Costs some octets, and loses some compression;
    /// nothing happens where nothing was written since the last flush.
    pub fn flush(&mut self, output: &mut Vec<u8>) {
        if self.unflushed {
            self.unflushed = false;
            run(&mut *self.back_end, &self.staged, Operation::Flush, output);
            self.staged.clear();
        }
    }

    /// Ends the stream, appending what remains.
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

/// Codes all of `input` at once.
pub fn encode(spec: CodecSpec, input: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut encoder = Encoder::new(spec);
    encoder.write(input, &mut output);
    encoder.finish(&mut output);
    output
}

/// The exact size that `chunks`, one after the other, have when coded, without a content-length header or any framing. No more
/// than a piece of the output is held at a time.
pub fn encoded_size<'a>(spec: CodecSpec, chunks: impl IntoIterator<Item = &'a [u8]>) -> Bytes {
    let mut encoder = Encoder::new(spec);
    let mut piece = Vec::with_capacity(2 * CHUNK);
    let mut size = Bytes::ZERO;
    for part in chunks.into_iter().flat_map(|chunk| chunk.chunks(CHUNK)) {
        encoder.write(part, &mut piece);
        size += Bytes::from(piece.len());
        piece.clear();
    }
    encoder.finish(&mut piece);
    size + Bytes::from(piece.len())
}

/// Identity.
struct Copy;

impl Compress for Copy {
    fn block(&self) -> Option<NonZeroUsize> {
        None
    }

    fn step(&mut self, input: &[u8], _: Operation, room: &mut [u8]) -> Step {
        let count = input.len().min(room.len());
        room[..count].copy_from_slice(&input[..count]);
        Step {
            consumed: count,
            written: count,
            done: count == input.len(),
        }
    }
}
