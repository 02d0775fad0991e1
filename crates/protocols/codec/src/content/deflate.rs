//! gzip and HTTP's deflate, by zlib-rs. Both share one compressed format (RFC 1951) and differ in header and checksum.

use super::back_end::{Compress, Decompress, Fault, Operation, Progress, Step};
use flate2::{Compression, FlushCompress, FlushDecompress, Status};
use std::num::NonZeroUsize;

/// A test compares it with the lock file, since the library does not report it.
pub(super) const VERSION: &str = "0.6.8";

/// The largest window that the format has (RFC 1951 section 2): 2^15 B.
const WINDOW_BITS: u8 = 15;

/// How much input zlib-rs gets at a time, which affects the output size. Our own choice: the size of its window.
const BLOCK: usize = 1 << WINDOW_BITS;

pub(super) struct Compressor(flate2::Compress);

impl Compressor {
    pub(super) fn gzip(level: u8) -> Self {
        Self(flate2::Compress::new_gzip(
            Compression::new(u32::from(level)),
            WINDOW_BITS,
        ))
    }

    pub(super) fn zlib(level: u8) -> Self {
        Self(flate2::Compress::new_with_window_bits(
            Compression::new(u32::from(level)),
            true,
            WINDOW_BITS,
        ))
    }
}

impl Compress for Compressor {
    fn block(&self) -> Option<NonZeroUsize> {
        NonZeroUsize::new(BLOCK)
    }

    fn step(&mut self, input: &[u8], operation: Operation, room: &mut [u8]) -> Step {
        let flush = match operation {
            Operation::Process => FlushCompress::None,
            Operation::Flush => FlushCompress::Sync,
            Operation::Finish => FlushCompress::Finish,
        };
        let (in_before, out_before) = (self.0.total_in(), self.0.total_out());
        let status = self.0.compress(input, room, flush);
        let status =
            status.expect("a deflate stream fails only where it is used after its end, which finish(self) rules out");
        let consumed = (self.0.total_in() - in_before) as usize;
        let written = (self.0.total_out() - out_before) as usize;
        let done = match operation {
            Operation::Finish => status == Status::StreamEnd,
            // zlib's contract: if room is left over, there is no pending output.
            Operation::Process | Operation::Flush => consumed == input.len() && written < room.len(),
        };
        Step {
            consumed,
            written,
            done,
        }
    }
}

pub(super) struct Decompressor {
    stream: flate2::Decompress,
    gzip: bool,
    ended: bool,
}

/// The first byte of a gzip member (RFC 1952 section 2.3.1).
const GZIP_ID1: u8 = 0x1f;

impl Decompressor {
    pub(super) fn gzip() -> Self {
        Self {
            stream: flate2::Decompress::new_gzip(WINDOW_BITS),
            gzip: true,
            ended: false,
        }
    }

    pub(super) fn zlib() -> Self {
        Self {
            stream: flate2::Decompress::new_with_window_bits(true, WINDOW_BITS),
            gzip: false,
            ended: false,
        }
    }
}

impl Decompress for Decompressor {
    fn step(&mut self, input: &[u8], room: &mut [u8]) -> Result<Progress, Fault> {
        if self.ended {
            match input.first() {
                None => {
                    return Ok(Progress::default());
                }
                Some(&GZIP_ID1) if self.gzip => *self = Self::gzip(),
                Some(_) => return Err(Fault::Trailing),
            }
        }
        let (in_before, out_before) = (self.stream.total_in(), self.stream.total_out());
        let status = self.stream.decompress(input, room, FlushDecompress::None);
        self.ended = status.map_err(|error| Fault::Corrupt(error.to_string()))? == Status::StreamEnd;
        let consumed = (self.stream.total_in() - in_before) as usize;
        let written = (self.stream.total_out() - out_before) as usize;
        Ok(Progress { consumed, written })
    }

    fn is_complete(&self) -> bool {
        self.ended
    }
}
