//! What a library does for the messages of one direction of a connection, and identity, which does nothing.

/// A back end: one direction of one connection. Its input is never empty, except for an empty message.
pub(super) trait Compress: Send {
    /// Compresses a part of a message, flushed so that a receiver can read all of it, and appends it to `out`.
    fn encode_part(&mut self, part: &[u8], last: bool, out: &mut Vec<u8>);
    /// Whether it can flush parts; otherwise it is given only whole messages.
    fn flushes_parts(&self) -> bool {
        true
    }
    /// Replaces the context by one whose history is `history`.
    fn prime(&mut self, history: &[u8]);
    /// Appends bytes to the history without compressing them; returns whether it can.
    fn append_history(&mut self, sent: &[u8]) -> bool {
        let _ = sent;
        false
    }
    /// Resets the context to the dictionary, if there is one.
    fn reset(&mut self);
    /// Bytes allocated.
    fn memory(&self) -> usize;
}

/// Why a back end cannot go on.
#[derive(Debug)]
pub(super) enum Fault {
    Corrupt(String),
    Truncated,
    TooLarge,
}

/// A back end: one direction of one connection.
pub(super) trait Decompress: Send {
    /// Decompresses the message in `coded` to the end of `out`, which may then be at most `end` bytes long, or one more with
    /// [`Fault::TooLarge`]. After an error, it is not called again before it is reset or primed.
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault>;
    /// Replaces the context by one whose history is `history`.
    fn prime(&mut self, history: &[u8]);
    /// Resets the context to the dictionary, if there is one.
    fn reset(&mut self);
    /// Bytes allocated.
    fn memory(&self) -> usize;
}

/// Identity.
pub(super) struct Copy;

impl Compress for Copy {
    fn encode_part(&mut self, part: &[u8], _: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(part);
    }

    fn prime(&mut self, _: &[u8]) {}

    fn reset(&mut self) {}

    fn memory(&self) -> usize {
        0
    }
}

impl Decompress for Copy {
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        if coded.len() > end - out.len() {
            return Err(Fault::TooLarge);
        }
        out.extend_from_slice(coded);
        Ok(())
    }

    fn prime(&mut self, _: &[u8]) {}

    fn reset(&mut self) {}

    fn memory(&self) -> usize {
        0
    }
}
