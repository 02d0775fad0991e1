//! Inflates untrusted messages through zlib's interface.

use super::super::back_end::{Decompress, Fault};
use super::super::{CodecError, Deflate, Dictionary};
use super::blocks::BlockEnd;
use super::{Api, CALL, Stream, TAIL, WINDOW_MAX, refused};
use libz_rs_sys::{Z_BLOCK, Z_BUF_ERROR, Z_OK, Z_STREAM_END, Z_SYNC_FLUSH};
use std::ffi::CStr;
use std::ffi::{c_int, c_uint};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The minimum reserved for output at a time: our own choice, a few short messages.
const ROOM_MIN: usize = 1024;

/// `data_type` after the end of a block that was not the last, without pending bits (zlib.h, `inflate`).
const BETWEEN_BLOCKS: c_int = 128;

/// The bit of `data_type` that is set after the end of a block, and the bits that count pending bits (zlib.h, `inflate`).
const BLOCK_ENDED: c_int = 128;
const BITS_WAITING: c_int = 63;

/// Decompresses messages.
pub(in crate::message) struct Decompressor<A: Api> {
    stream: Stream,
    takeover: bool,
    dictionary: Option<Dictionary>,
    api: PhantomData<A>,
}

// SAFETY: as for `Compressor`.
unsafe impl<A: Api> Send for Decompressor<A> {}

impl<A: Api> Decompressor<A> {
    /// A decompressor for an encoder with these settings; only window and takeover matter.
    pub(in crate::message) fn new(settings: &Deflate, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        let stream = Stream::new();
        // SAFETY: the stream is at its final address, with its allocator set. zlib refuses a window out of range.
        let status = unsafe { A::inflate_init(stream.as_ptr(), -c_int::from(settings.window_bits.runs_as().get())) };
        if status != Z_OK {
            return Err(refused::<A>(status));
        }
        let mut decompressor = Self {
            stream,
            takeover: settings.takeover,
            dictionary: dictionary.cloned(),
            api: PhantomData,
        };
        decompressor.start_with_dictionary();
        Ok(decompressor)
    }

    fn set_dictionary(&mut self, history: &[u8]) {
        let history = &history[history.len().saturating_sub(WINDOW_MAX)..];
        // SAFETY: an initialised stream, and a slice that lives during the call.
        let status =
            unsafe { A::inflate_set_dictionary(self.stream.as_ptr(), history.as_ptr(), history.len() as c_uint) };
        assert_eq!(status, Z_OK, "raw inflate accepts a dictionary between messages");
    }

    fn start_with_dictionary(&mut self) {
        if let Some(dictionary) = self.dictionary.take() {
            self.set_dictionary(dictionary.content());
            self.dictionary = Some(dictionary);
        }
    }

    fn clear(&mut self) {
        // SAFETY: an initialised stream.
        let status = unsafe { A::inflate_reset(self.stream.as_ptr()) };
        assert_eq!(status, Z_OK, "an initialised stream can be reset");
    }

    /// Inflates `input`, and appends it to `out`, up to `end` bytes of `out` in all. Returns whether it ends with a final block.
    fn inflate(&mut self, mut input: &[u8], flush: c_int, end: usize, out: &mut Vec<u8>) -> Result<bool, Fault> {
        let mut ended = false;
        while !input.is_empty() {
            let part = &input[..input.len().min(CALL)];
            // One byte more than the limit, so that exceeding it is noticed.
            let allowed = (end - out.len()).saturating_add(1).min(CALL);
            // Deflate makes text three to five times smaller: a first guess, after which the buffer doubles.
            out.reserve(allowed.min((4 * part.len()).max(ROOM_MIN)));
            let room = out.spare_capacity_mut();
            let length = room.len().min(allowed);
            self.stream.aim(part, &mut room[..length]);
            // SAFETY: an initialised stream, aimed at an input and at room that nothing else uses.
            let status = unsafe { A::inflate(self.stream.as_ptr(), flush) };
            let (input_left, room_left) = self.stream.release();
            // SAFETY: zlib has written that many bytes.
            unsafe { out.set_len(out.len() + length - room_left) };
            let taken = part.len() - input_left;
            input = &input[taken..];
            if out.len() > end {
                return Err(Fault::TooLarge);
            }
            ended = status == Z_STREAM_END;
            match status {
                Z_STREAM_END => {
                    // A final block ends a deflate stream, not the connection's history (RFC 7692 section 7.2.3.4).
                    // SAFETY: an initialised stream.
                    let status = unsafe { A::inflate_reset_keep(self.stream.as_ptr()) };
                    assert_eq!(status, Z_OK, "an initialised stream can be reset");
                }
                Z_OK | Z_BUF_ERROR if taken > 0 || room_left < length => {}
                _ => return Err(Fault::Corrupt(self.problem())),
            }
        }
        Ok(ended)
    }

    /// Appends where the blocks of `input` end, which is zlib's output since the last reset.
    pub(super) fn block_ends(&mut self, mut input: &[u8], ends: &mut Vec<BlockEnd>) {
        let mut room = [MaybeUninit::uninit(); WINDOW_MAX];
        loop {
            let part = &input[..input.len().min(CALL)];
            self.stream.aim(part, &mut room);
            // SAFETY: an initialised stream, aimed at an input and at room that nothing else uses.
            let status = unsafe { A::inflate(self.stream.as_ptr(), Z_BLOCK) };
            assert!(
                status == Z_OK || status == Z_BUF_ERROR,
                "zlib's own output is valid: {status}"
            );
            let (input_left, room_left) = self.stream.release();
            let fields = self.stream.fields();
            if status == Z_OK && fields.data_type & BLOCK_ENDED != 0 {
                ends.push(BlockEnd {
                    bytes: fields.total_out,
                    bits: 8 * fields.total_in - (fields.data_type & BITS_WAITING) as u64,
                });
            }
            input = &input[part.len() - input_left..];
            if input.is_empty() && room_left > 0 {
                return;
            }
        }
    }

    /// zlib's message on its last failure.
    fn problem(&mut self) -> String {
        let message = self.stream.fields().msg;
        if message.is_null() {
            return "it violates the deflate format".to_owned();
        }
        // SAFETY: zlib's messages are constant C strings.
        unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
    }
}

impl<A: Api> Decompress for Decompressor<A> {
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        let ended = self.inflate(coded, Z_SYNC_FLUSH, end, out)?;
        if !ended {
            // Z_BLOCK, to stop where the empty stored block has ended and say so.
            self.inflate(&TAIL, Z_BLOCK, end, out)?;
            if self.stream.fields().data_type != BETWEEN_BLOCKS {
                return Err(Fault::Truncated);
            }
        }
        if !self.takeover {
            self.reset();
        }
        Ok(())
    }

    fn prime(&mut self, history: &[u8]) {
        self.clear();
        if !history.is_empty() {
            self.set_dictionary(history);
        }
    }

    fn reset(&mut self) {
        self.clear();
        self.start_with_dictionary();
    }

    fn memory(&self) -> usize {
        self.stream.held.bytes()
    }
}

impl<A: Api> Drop for Decompressor<A> {
    fn drop(&mut self) {
        // SAFETY: an initialised stream, ended once.
        unsafe { A::inflate_end(self.stream.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Compressor, Stock, ZlibRs};
    use super::*;

    fn assert_all_comes_back<A: Api>() {
        let dictionary = Dictionary::raw(*b"a dictionary that both have");
        let settings = Deflate::default();
        let mut compressor = Compressor::<A>::new(&settings, Some(&dictionary)).unwrap();
        let mut decompressor = Decompressor::<A>::new(&settings, Some(&dictionary)).unwrap();
        let (mut coded, mut decoded) = (Vec::new(), Vec::new());
        crate::message::back_end::Compress::encode_part(&mut compressor, b"that both have", true, &mut coded);
        decompressor.decode(&coded, 100, &mut decoded).unwrap();
        let (of_compressor, of_decompressor) = (compressor.held(), decompressor.stream.held.clone());
        assert!(of_compressor.bytes() > 0 && of_decompressor.bytes() > 0);
        drop((compressor, decompressor));
        assert_eq!((of_compressor.bytes(), of_decompressor.bytes()), (0, 0));
    }

    #[test]
    fn every_byte_that_the_hooks_handed_out_comes_back() {
        assert_all_comes_back::<Stock>();
        assert_all_comes_back::<ZlibRs>();
    }
}
