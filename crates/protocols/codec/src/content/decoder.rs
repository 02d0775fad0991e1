//! Decodes content-coded bytes from elsewhere, without trusting them.

use super::back_end::{Copy, Decompress, Fault};
use super::encoder::CHUNK;
use super::{Coding, brotli, deflate, zstd};
use lastmile_units::ByteCount;

/// Input that could not be decoded. Offsets count bytes of the encoded input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The output would exceed the limit: a decompression bomb, or a limit set too low.
    #[error("the {coding} body decompresses to more than {limit}; raise the limit if that is intended")]
    TooLarge {
        /// Its content coding.
        coding: Coding,
        /// The limit.
        limit: ByteCount,
    },
    /// The input ends before the stream does.
    #[error(
        "the {coding} body is cut off: it ends after {length}, before the end of its stream; fetch all of it again"
    )]
    Truncated {
        /// Its content coding.
        coding: Coding,
        /// The size of the input.
        length: ByteCount,
    },
    /// The input violates its format, or its checksum is wrong.
    #[error("the {coding} body is corrupt near byte {offset}: {problem}; is it really {coding}?")]
    Corrupt {
        /// The content coding that was stated.
        coding: Coding,
        /// Roughly where: the start of the piece of input that contains the error.
        offset: u64,
        /// The error of the library.
        problem: String,
    },
    /// Something follows the end of the stream.
    #[error("the {coding} body ends at byte {offset}, but more bytes follow; cut them off if they are padding")]
    TrailingGarbage {
        /// Its content coding.
        coding: Coding,
        /// Where the stream ended.
        offset: u64,
    },
    /// The window is larger than RFC 9659 section 3 allows.
    #[error(
        "the {coding} body needs a window above 8 MiB, which RFC 9659 forbids in HTTP; compress it with a smaller window"
    )]
    WindowTooLarge {
        /// Its content coding.
        coding: Coding,
    },
}

/// Decodes a stream of content-coded bytes, up to a limit.
///
/// A gzip body may have several members (RFC 1952 section 2.2), a zstd body several frames (RFC 8878 section 3). Output is
/// valid only after [`Decoder::finish`] succeeds: gzip and deflate have their checksum at the end. Brotli, and zstd without a
/// checksum (as from our encoder), detect only damage that violates the format.
pub struct Decoder {
    back_end: Box<dyn Decompress>,
    coding: Coding,
    limit: ByteCount,
    consumed: u64,
    produced: u64,
    failed: Option<DecodeError>,
}

impl Decoder {
    /// A decoder at the start of a stream, with no more output than `limit`.
    pub fn new(coding: Coding, limit: ByteCount) -> Self {
        let back_end: Box<dyn Decompress> = match coding {
            Coding::Identity => Box::new(Copy),
            Coding::Gzip => Box::new(deflate::Decompressor::gzip()),
            Coding::Deflate => Box::new(deflate::Decompressor::zlib()),
            Coding::Brotli => Box::new(brotli::Decompressor::new()),
            Coding::Zstd => Box::new(zstd::Decompressor::new()),
        };
        Self {
            back_end,
            coding,
            limit,
            consumed: 0,
            produced: 0,
            failed: None,
        }
    }

    /// Decodes `input`, and appends to `output` what can be decoded so far.
    ///
    /// # Errors
    /// When the input is corrupt, continues after its end, or decodes to more than the limit. `output` is then unchanged, and every
    /// further call fails with the same error.
    pub fn write(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<(), DecodeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let before = output.len();
        self.run(input, output).inspect_err(|error| {
            output.truncate(before);
            self.failed = Some(error.clone());
        })
    }

    /// Ends the input.
    ///
    /// # Errors
    /// When the stream is unfinished, or an earlier call failed.
    pub fn finish(self) -> Result<(), DecodeError> {
        match self.failed {
            Some(error) => Err(error),
            None if self.back_end.is_complete() => Ok(()),
            None => Err(DecodeError::Truncated {
                coding: self.coding,
                length: ByteCount::new(self.consumed),
            }),
        }
    }

    fn run(&mut self, mut input: &[u8], output: &mut Vec<u8>) -> Result<(), DecodeError> {
        if input.is_empty() {
            return Ok(());
        }
        loop {
            // One byte more than the limit, so that exceeding it is noticed.
            let allowed = self.limit.get().saturating_sub(self.produced).saturating_add(1);
            let room = CHUNK.min(usize::try_from(allowed).unwrap_or(CHUNK));
            let start = output.len();
            output.resize(start + room, 0);
            let progress = self
                .back_end
                .step(input, &mut output[start..])
                .map_err(|fault| self.error(fault))?;
            output.truncate(start + progress.written);
            input = &input[progress.consumed..];
            self.consumed += progress.consumed as u64;
            self.produced += progress.written as u64;
            if self.produced > self.limit.get() {
                return Err(DecodeError::TooLarge {
                    coding: self.coding,
                    limit: self.limit,
                });
            }
            if progress.written < room && input.is_empty() {
                return Ok(());
            }
            if progress.written == 0 && progress.consumed == 0 {
                return Err(self.error(Fault::Corrupt("nothing more can be decompressed from it".to_owned())));
            }
        }
    }

    fn error(&self, fault: Fault) -> DecodeError {
        let (coding, offset) = (self.coding, self.consumed);
        match fault {
            Fault::Corrupt(problem) => DecodeError::Corrupt {
                coding,
                offset,
                problem,
            },
            Fault::Trailing => DecodeError::TrailingGarbage { coding, offset },
            Fault::Window => DecodeError::WindowTooLarge { coding },
        }
    }
}

/// Decodes all of `input` at once, up to `limit`.
///
/// # Errors
/// As [`Decoder::write`] and [`Decoder::finish`].
pub fn decode(coding: Coding, input: &[u8], limit: ByteCount) -> Result<Vec<u8>, DecodeError> {
    let mut output = Vec::new();
    let mut decoder = Decoder::new(coding, limit);
    decoder.write(input, &mut output)?;
    decoder.finish()?;
    Ok(output)
}
