//! Deflates messages through zlib's interface.

use super::super::back_end::Compress;
use super::super::{CodecError, Deflate, Dictionary};
use super::{Api, CALL, Stream, TAIL, WINDOW_MAX, refused, version};
use libz_rs_sys::{Z_BUF_ERROR, Z_FINISH, Z_FULL_FLUSH, Z_NO_FLUSH, Z_OK, Z_STREAM_END, Z_SYNC_FLUSH};
use std::ffi::{c_int, c_uint, c_ulong};
use std::marker::PhantomData;

/// An empty message: the header of an empty stored block, without its tail (RFC 7692 section 7.2.3.6).
const EMPTY: u8 = 0x00;

/// What a flush may add to `deflateBound`: the header of a block, up to a whole byte, and its tail. More than six bytes must be
/// free where the flush begins, or else it is repeated (zlib.h, `deflate`). Rounded up.
const FLUSH_ROOM: usize = 16;

/// The length of the strings in zlib's hash table (deflate.h, `MIN_MATCH`).
const STRING: usize = 3;

/// Compresses messages.
pub(in crate::message) struct Compressor<A: Api> {
    stream: Stream,
    takeover: bool,
    /// In bytes.
    window: usize,
    /// The history of every new context.
    dictionary: Option<Dictionary>,
    api: PhantomData<A>,
}

// SAFETY: a stream owns all that it points to, and zlib has no other state (zlib's FAQ, 21: it is thread safe).
unsafe impl<A: Api> Send for Compressor<A> {}

impl<A: Api> Compressor<A> {
    pub(in crate::message) fn new(settings: &Deflate, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        let window = -c_int::from(settings.window_bits.runs_as().get());
        let mut compressor = Self::with_window(settings, window)?;
        compressor.dictionary = dictionary.cloned();
        compressor.start_with_dictionary();
        Ok(compressor)
    }

    /// Writes gzip members (RFC 1952) instead of messages.
    pub(super) fn gzip(settings: &Deflate) -> Result<Self, CodecError> {
        // zlib.h, `deflateInit2`: 16 more window bits make the format gzip.
        Self::with_window(settings, 16 + c_int::from(settings.window_bits.runs_as().get()))
    }

    /// A compressor of the format that `window` says besides its size (zlib.h, `deflateInit2`).
    fn with_window(settings: &Deflate, window: c_int) -> Result<Self, CodecError> {
        let stream = Stream::new();
        // SAFETY: the stream is at its final address, with its allocator set. zlib refuses settings out of range.
        let status = unsafe {
            A::deflate_init(
                stream.as_ptr(),
                c_int::from(settings.level),
                window,
                c_int::from(settings.mem_level),
                settings.strategy.number(),
            )
        };
        if status != Z_OK {
            return Err(refused::<A>(status));
        }
        Ok(Self {
            stream,
            takeover: settings.takeover,
            window: 1 << settings.window_bits.runs_as().get(),
            dictionary: None,
            api: PhantomData,
        })
    }

    fn set_dictionary(&mut self, history: &[u8]) {
        // Nothing can refer further back than the largest window.
        let history = &history[history.len().saturating_sub(WINDOW_MAX)..];
        // SAFETY: an initialised stream, and a slice that lives during the call.
        let status =
            unsafe { A::deflate_set_dictionary(self.stream.as_ptr(), history.as_ptr(), history.len() as c_uint) };
        assert_eq!(status, Z_OK, "raw deflate accepts a dictionary between messages");
    }

    /// Appends bytes to the window: in parts shorter than the window, since zlib moves a longer part to the window's front; and in
    /// equal parts, since zlib does not enter the string before a part that is shorter than [`STRING`].
    fn append(&mut self, sent: &[u8]) {
        let parts = sent.len().div_ceil(self.window - 1).max(1);
        for part in sent.chunks(sent.len().div_ceil(parts).max(1)) {
            self.set_dictionary(part);
        }
    }

    fn start_with_dictionary(&mut self) {
        if let Some(dictionary) = self.dictionary.take() {
            self.set_dictionary(dictionary.content());
            self.dictionary = Some(dictionary);
        }
    }

    fn clear(&mut self) {
        // SAFETY: an initialised stream.
        let status = unsafe { A::deflate_reset(self.stream.as_ptr()) };
        assert_eq!(status, Z_OK, "an initialised stream can be reset");
    }

    /// Compresses a part of a message without a flush; appends the output so far, which is whole blocks.
    pub(super) fn take_part(&mut self, part: &[u8], out: &mut Vec<u8>) {
        self.flush(part, Z_NO_FLUSH, out);
    }

    /// Compresses a whole input from a new start, and appends it to its end.
    pub(super) fn encode_whole(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.clear();
        self.flush(input, Z_FINISH, out);
    }

    /// Compresses `input` with this kind of flush, and appends it with the tail.
    fn flush(&mut self, input: &[u8], flush: c_int, out: &mut Vec<u8>) {
        // An empty input is one call, too.
        let (first, rest) = input.split_at(input.len().min(CALL));
        let mut calls = std::iter::once(first).chain(rest.chunks(CALL)).peekable();
        while let Some(mut part) = calls.next() {
            let flush = if calls.peek().is_some() { Z_NO_FLUSH } else { flush };
            loop {
                // SAFETY: an initialised stream.
                let bound = unsafe { A::deflate_bound(self.stream.as_ptr(), part.len() as c_ulong) } as usize;
                out.reserve(bound + FLUSH_ROOM);
                let room = out.spare_capacity_mut();
                let length = room.len().min(CALL);
                self.stream.aim(part, &mut room[..length]);
                // SAFETY: an initialised stream, aimed at an input and at room that nothing else uses.
                let status = unsafe { A::deflate(self.stream.as_ptr(), flush) };
                assert!(
                    [Z_OK, Z_BUF_ERROR, Z_STREAM_END].contains(&status),
                    "{} fails on a sound stream: {status}",
                    version::<A>()
                );
                let (input_left, room_left) = self.stream.release();
                // SAFETY: zlib has written that many bytes.
                unsafe { out.set_len(out.len() + length - room_left) };
                part = &part[part.len() - input_left..];
                if room_left > 0 && part.is_empty() {
                    break;
                }
            }
        }
    }
}

impl<A: Api> Compress for Compressor<A> {
    fn encode_part(&mut self, part: &[u8], last: bool, out: &mut Vec<u8>) {
        if part.is_empty() {
            out.push(EMPTY);
            return;
        }
        let forget = last && !self.takeover;
        let flush = if forget && self.dictionary.is_none() {
            Z_FULL_FLUSH
        } else {
            Z_SYNC_FLUSH
        };
        self.flush(part, flush, out);
        if last {
            assert!(out.ends_with(&TAIL), "a flush ends in an empty stored block");
            out.truncate(out.len() - TAIL.len());
        }
        if forget && self.dictionary.is_some() {
            self.reset();
        }
    }

    fn prime(&mut self, history: &[u8]) {
        self.clear();
        // The position in the buffer, modulo the window, decides when old data is dropped (`fill_window`), which may change a match
        // or a stored block. So the part of the history that is used ends at the position where the whole history would.
        let kept = history.len().min(self.window + history.len() % self.window);
        self.append(&history[history.len() - kept..]);
    }

    fn append_history(&mut self, sent: &[u8]) -> bool {
        let can = self.takeover && sent.len() >= STRING;
        if can {
            self.append(sent);
        }
        can
    }

    fn reset(&mut self) {
        self.clear();
        self.start_with_dictionary();
    }

    fn memory(&self) -> usize {
        self.stream.held.bytes()
    }
}

impl<A: Api> Drop for Compressor<A> {
    fn drop(&mut self) {
        // SAFETY: an initialised stream, ended once.
        unsafe { A::deflate_end(self.stream.as_ptr()) };
    }
}

#[cfg(test)]
impl<A: Api> Compressor<A> {
    pub(super) fn held(&self) -> super::AllocationCount {
        self.stream.held.clone()
    }
}
