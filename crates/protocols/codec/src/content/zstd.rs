//! The `zstd` content coding, by libzstd.

use super::back_end::{Compress, Decompress, Fault, Operation, Progress, Step};
use std::num::NonZeroUsize;
use zstd::stream::raw::{CParameter, DParameter, Decoder, Encoder, InBuffer, Operation as _, OutBuffer};

/// log2 of the largest window that HTTP allows (RFC 9659 section 3: 8 MB, meaning 2^23 B).
const WINDOW_LOG_MAX: u32 = 23;

pub(super) fn version() -> &'static str {
    zstd::zstd_safe::version_string()
}

pub(super) struct Compressor(Encoder<'static>);

impl Compressor {
    /// Levels up to 19 stay within the window by default. Higher levels keep their strategy and search depth; their tables are cut to
    /// the window, as libzstd itself does for input that it knows to be short (`ZSTD_adjustCParams`): chains of at most twice the
    /// window for their binary trees, and a hash table of twice the window.
    pub(super) fn new(level: u8) -> Self {
        let settings: &[CParameter] = match level {
            ..=19 => &[],
            20 | 21 => &[
                CParameter::WindowLog(WINDOW_LOG_MAX),
                CParameter::ChainLog(WINDOW_LOG_MAX + 1),
            ],
            _ => &[
                CParameter::WindowLog(WINDOW_LOG_MAX),
                CParameter::ChainLog(WINDOW_LOG_MAX + 1),
                CParameter::HashLog(WINDOW_LOG_MAX + 1),
            ],
        };
        let mut encoder = Encoder::new(i32::from(level)).expect("a level of libzstd's own range is accepted");
        for setting in settings {
            encoder
                .set_parameter(*setting)
                .expect("settings within libzstd's bounds are accepted before the first input");
        }
        Self(encoder)
    }
}

impl Compress for Compressor {
    /// libzstd collects input into blocks itself.
    fn block(&self) -> Option<NonZeroUsize> {
        None
    }

    fn step(&mut self, input: &[u8], operation: Operation, room: &mut [u8]) -> Step {
        let mut from = InBuffer::around(input);
        let mut to = OutBuffer::around(room);
        let expectation = "a zstd stream fails only if memory runs out, or after its end, which finish(self) rules out";
        if from.pos() < input.len() {
            self.0.run(&mut from, &mut to).expect(expectation);
        }
        let (consumed, whole) = (from.pos(), from.pos() == input.len());
        let done = match operation {
            Operation::Process => whole && to.pos() < to.capacity(),
            Operation::Flush if whole => self.0.flush(&mut to).expect(expectation) == 0,
            Operation::Finish if whole => self.0.finish(&mut to, true).expect(expectation) == 0,
            Operation::Flush | Operation::Finish => false,
        };
        Step {
            consumed,
            written: to.pos(),
            done,
        }
    }
}

pub(super) struct Decompressor {
    decoder: Decoder<'static>,
    /// Whether the input so far ends with a whole frame.
    frame_ended: bool,
    /// Whether there has been a whole frame.
    any_frame: bool,
    /// Bytes consumed since the last whole frame.
    into_frame: usize,
}

impl Decompressor {
    pub(super) fn new() -> Self {
        let mut decoder = Decoder::new().expect("a decoder without a dictionary needs nothing but memory");
        decoder
            .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
            .expect("a window within libzstd's bounds is accepted before the first input");
        Self {
            decoder,
            frame_ended: false,
            any_frame: false,
            into_frame: 0,
        }
    }
}

impl Decompress for Decompressor {
    fn step(&mut self, input: &[u8], room: &mut [u8]) -> Result<Progress, Fault> {
        if self.frame_ended && input.is_empty() {
            return Ok(Progress::default());
        }
        let mut from = InBuffer::around(input);
        let mut to = OutBuffer::around(room);
        match self.decoder.run(&mut from, &mut to) {
            Ok(hint) => {
                self.frame_ended = hint == 0;
                self.any_frame |= self.frame_ended;
                self.into_frame = if self.frame_ended {
                    0
                } else {
                    self.into_frame + from.pos()
                };
                Ok(Progress {
                    consumed: from.pos(),
                    written: to.pos(),
                })
            }
            Err(error) => Err(self.fault(&error.to_string())),
        }
    }

    fn is_complete(&self) -> bool {
        self.frame_ended
    }
}

impl Decompressor {
    fn fault(&self, problem: &str) -> Fault {
        // libzstd's texts, which the tests check. A frame is recognised by its first 4 bytes (RFC 8878 section 3.1.1).
        match problem {
            "Frame requires too much memory for decoding" => Fault::Window,
            "Unknown frame descriptor" if self.any_frame && self.into_frame < 4 => Fault::Trailing,
            _ => Fault::Corrupt(problem.to_owned()),
        }
    }
}
