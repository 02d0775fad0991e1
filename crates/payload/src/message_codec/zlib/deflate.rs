//! How is a message deflated?

use super::super::encoder::Compress;
use super::super::{CodecError, Deflate, Dictionary};
use super::{Api, CALL, Stream, TAIL, WINDOW_MAX, refused, version};
use libz_rs_sys::{Z_BUF_ERROR, Z_FULL_FLUSH, Z_NO_FLUSH, Z_OK, Z_SYNC_FLUSH};
use std::ffi::{c_int, c_uint, c_ulong};
use std::marker::PhantomData;

/// An empty message: the header of an empty stored block, without its tail (RFC 7692 section 7.2.3.6).
const EMPTY: u8 = 0x00;

/// What a flush may add to `deflateBound`: the header of a block, up to a whole octet, and its tail; and more than six octets have
/// to be free where it begins, lest it is repeated (zlib.h, `deflate`). Rounded up.
const FLUSH_ROOM: usize = 16;

/// As many octets as zlib enters into its hash together (deflate.h, `MIN_MATCH`).
const STRING: usize = 3;

/// Compresses messages.
pub(in super::super) struct Compressor<A: Api> {
    stream: Stream,
    takeover: bool,
    /// In octets.
    window: usize,
    /// What every fresh context starts with.
    dictionary: Option<Dictionary>,
    api: PhantomData<A>,
}

// SAFETY: all that a stream points to is its own, and zlib keeps nothing elsewhere (zlib's FAQ, 21: it is thread safe).
unsafe impl<A: Api> Send for Compressor<A> {}

impl<A: Api> Compressor<A> {
    pub(in super::super) fn new(settings: &Deflate, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        let stream = Stream::new();
        // SAFETY: the stream is at its place, with its allocator set. zlib refuses settings out of range.
        let status = unsafe {
            A::deflate_init(
                stream.as_ptr(),
                c_int::from(settings.level),
                -c_int::from(settings.window_bits.runs_as().get()),
                c_int::from(settings.mem_level),
                settings.strategy.number(),
            )
        };
        if status != Z_OK {
            return Err(refused::<A>(status));
        }
        let mut compressor = Self {
            stream,
            takeover: settings.takeover,
            window: 1 << settings.window_bits.runs_as().get(),
            dictionary: dictionary.cloned(),
            api: PhantomData,
        };
        compressor.start_with_dictionary();
        Ok(compressor)
    }

    fn set_dictionary(&mut self, history: &[u8]) {
        // What lies further back than the largest window cannot be referred to.
        let history = &history[history.len().saturating_sub(WINDOW_MAX)..];
        // SAFETY: an initialised stream, and a slice that lasts for the call.
        let status =
            unsafe { A::deflate_set_dictionary(self.stream.as_ptr(), history.as_ptr(), history.len() as c_uint) };
        assert_eq!(status, Z_OK, "raw deflate takes a dictionary between messages");
    }

    /// Puts octets behind those that the window holds: in parts shorter than the window, since a longer one is put to its front; and in
    /// equal ones, since of one that is shorter than a string zlib forgets to enter the string before it.
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

    /// Takes a part of a message without a flush; appends what is written by now, which is whole blocks.
    pub(super) fn take_part(&mut self, part: &[u8], out: &mut Vec<u8>) {
        self.flush(part, Z_NO_FLUSH, out);
    }

    /// Appends `input` coded, and flushed as is asked for, with the tail.
    fn flush(&mut self, input: &[u8], flush: c_int, out: &mut Vec<u8>) {
        let mut calls = input.chunks(CALL).peekable();
        while let Some(mut part) = calls.next() {
            let flush = if calls.peek().is_some() { Z_NO_FLUSH } else { flush };
            loop {
                // SAFETY: an initialised stream.
                let bound = unsafe { A::deflate_bound(self.stream.as_ptr(), part.len() as c_ulong) } as usize;
                out.reserve(bound + FLUSH_ROOM);
                let room = out.spare_capacity_mut();
                let length = room.len().min(CALL);
                self.stream.aim(part, &mut room[..length]);
                // SAFETY: an initialised stream, aimed at an input and at room that nobody else uses.
                let status = unsafe { A::deflate(self.stream.as_ptr(), flush) };
                assert!(
                    status == Z_OK || status == Z_BUF_ERROR,
                    "{} fails on a sound stream: {status}",
                    version::<A>()
                );
                let (input_left, room_left) = self.stream.release();
                // SAFETY: zlib has written what it says that it has.
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
        // Its place in the buffer, modulo the window, decides on what is dropped when (`fill_window`), and thereby on the odd match
        // or stored block. So what is kept ends where all of the history would.
        let kept = history.len().min(self.window + history.len() % self.window);
        self.append(&history[history.len() - kept..]);
    }

    fn follow(&mut self, sent: &[u8]) -> bool {
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
        self.stream.held.held()
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
    pub(super) fn held(&self) -> super::Tally {
        self.stream.held.clone()
    }
}
