//! What a library of a content coding does for the encoder and the decoder, and identity, which does nothing.

use std::num::NonZeroUsize;

/// What a compressor should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Consume the input; output may be delayed.
    Process,
    /// Consume the input, and write all that a decoder needs to read it.
    Flush,
    /// Consume the input, and end the stream.
    Finish,
}

/// The result of one step of a compressor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Bytes of input consumed.
    pub(super) consumed: usize,
    /// Bytes of output written.
    pub(super) written: usize,
    /// Whether the operation is complete; otherwise the step is repeated with the rest of the input and more room.
    pub(super) done: bool,
}

/// A back end: stepped with the same operation until it is done.
pub(super) trait Compress: Send {
    /// How much input it is given at a time; none where its output does not depend on that.
    fn block(&self) -> Option<NonZeroUsize>;
    fn step(&mut self, input: &[u8], operation: Operation, room: &mut [u8]) -> Step;
}

/// The result of one step of a decompressor.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Progress {
    /// Bytes of input consumed.
    pub(super) consumed: usize,
    /// Bytes of output written.
    pub(super) written: usize,
}

/// Why a decompressor cannot go on.
#[derive(Debug)]
pub(super) enum Fault {
    /// The input violates the format.
    Corrupt(String),
    /// The stream is complete, and something follows it.
    Trailing,
    /// The stream needs a window larger than HTTP allows.
    Window,
}

/// A back end: stepped until it has consumed all input and leaves room unused.
pub(super) trait Decompress: Send {
    fn step(&mut self, input: &[u8], room: &mut [u8]) -> Result<Progress, Fault>;
    /// Whether the input so far is a whole stream.
    fn is_complete(&self) -> bool;
}

/// Identity.
pub(super) struct Copy;

impl Compress for Copy {
    fn block(&self) -> Option<NonZeroUsize> {
        None
    }

    fn step(&mut self, input: &[u8], _: Operation, room: &mut [u8]) -> Step {
        let count = copy(input, room);
        Step {
            consumed: count,
            written: count,
            done: count == input.len(),
        }
    }
}

impl Decompress for Copy {
    fn step(&mut self, input: &[u8], room: &mut [u8]) -> Result<Progress, Fault> {
        let count = copy(input, room);
        Ok(Progress {
            consumed: count,
            written: count,
        })
    }

    fn is_complete(&self) -> bool {
        true
    }
}

/// Returns how many bytes were copied.
fn copy(input: &[u8], room: &mut [u8]) -> usize {
    let count = input.len().min(room.len());
    room[..count].copy_from_slice(&input[..count]);
    count
}
