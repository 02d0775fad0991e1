//! The `br` content coding, by rust-brotli.

use super::back_end::{Compress, Decompress, Fault, Operation, Progress, Step};
use brotli::enc::StandardAlloc;
use brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use std::num::NonZeroUsize;

/// A test compares it with the lock file, since the library only reports the C version that it follows.
pub(super) const VERSION: &str = "9.1.1";

/// log2 of the window size before 16 B are subtracted (RFC 7932 section 9.1).
const WINDOW_BITS: u32 = 22;

/// How much input qualities 0 and 1 get at a time, since each write ends a metablock at these qualities: the largest piece that
/// the encoder's two-pass mode works on at once.
const FAST_BLOCK: usize = 1 << 17;

pub(super) struct Compressor {
    state: BrotliEncoderStateStruct<StandardAlloc>,
    block: Option<NonZeroUsize>,
}

impl Compressor {
    pub(super) fn new(quality: u8) -> Self {
        let mut state = BrotliEncoderStateStruct::new(StandardAlloc::default());
        let quality_set = state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_QUALITY, u32::from(quality));
        let window_set = state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, WINDOW_BITS);
        assert!(
            quality_set && window_set,
            "parameters can be set before the first input"
        );
        // At the other qualities, the match finder would depend on the length of the first write.
        let block = NonZeroUsize::new(if quality < 2 {
            FAST_BLOCK
        } else {
            state.input_block_size()
        });
        Self { state, block }
    }
}

impl Compress for Compressor {
    fn block(&self) -> Option<NonZeroUsize> {
        self.block
    }

    fn step(&mut self, input: &[u8], operation: Operation, room: &mut [u8]) -> Step {
        let (mut waiting, mut consumed) = (input.len(), 0);
        let (mut room_left, mut written) = (room.len(), 0);
        let accepted = self.state.compress_stream(
            match operation {
                Operation::Process => BrotliEncoderOperation::BROTLI_OPERATION_PROCESS,
                Operation::Flush => BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
                Operation::Finish => BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
            },
            &mut waiting,
            input,
            &mut consumed,
            &mut room_left,
            room,
            &mut written,
            &mut None,
            &mut |_, _, _, _| (),
        );
        assert!(
            accepted,
            "a brotli stream refuses input only after its end, which finish(self) rules out"
        );
        let ended = operation != Operation::Finish || self.state.is_finished();
        Step {
            consumed,
            written,
            done: waiting == 0 && !self.state.has_more_output() && ended,
        }
    }
}

pub(super) struct Decompressor {
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    ended: bool,
}

impl Decompressor {
    /// Accepts windows up to 2^24 B, the largest of the format; the large-window extension is not part of the br coding.
    pub(super) fn new() -> Self {
        let alloc = StandardAlloc::default;
        Self {
            state: Box::new(BrotliState::new_strict(alloc(), alloc(), alloc())),
            ended: false,
        }
    }
}

impl Decompress for Decompressor {
    fn step(&mut self, input: &[u8], room: &mut [u8]) -> Result<Progress, Fault> {
        if self.ended {
            return if input.is_empty() {
                Ok(Progress::default())
            } else {
                Err(Fault::Trailing)
            };
        }
        let (mut waiting, mut consumed) = (input.len(), 0);
        let (mut room_left, mut written) = (room.len(), 0);
        let result = BrotliDecompressStream(
            &mut waiting,
            &mut consumed,
            input,
            &mut room_left,
            &mut written,
            room,
            &mut 0,
            &mut self.state,
        );
        match result {
            BrotliResult::ResultFailure => return Err(Fault::Corrupt("it violates the brotli format".to_owned())),
            BrotliResult::ResultSuccess => self.ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(Progress { consumed, written })
    }

    fn is_complete(&self) -> bool {
        self.ended
    }
}
