//! deflate for messages as permessage-deflate has it (RFC 7692 section 7.2), by anything with zlib's interface.
//!
//! Stock zlib is here; `zlib_rs` adds the other. Each message is flushed to a whole octet, and goes without the 4 octets that each
//! flush ends in.
#![allow(unsafe_code)]

use super::decoder::{Decompress, Fault};
use super::encoder::Compress;
use super::tally::{self, Tally};
use super::{CodecError, Deflate, Dictionary};
use libz_rs_sys::{Z_BLOCK, Z_BUF_ERROR, Z_FULL_FLUSH, Z_NO_FLUSH, Z_OK, Z_STREAM_END, Z_SYNC_FLUSH, z_stream};
use std::ffi::{CStr, c_int, c_uint, c_ulong};
use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};
use std::ptr::NonNull;

/// What a flush ends in: the length of an empty stored block and its complement (RFC 7692 section 7.2.1).
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// An empty message: the header of an empty stored block, without its tail (RFC 7692 section 7.2.3.6).
const EMPTY: u8 = 0x00;

/// What a flush may add to `deflateBound`: the header of a block, up to a whole octet, and its tail; and more than six octets have
/// to be free where it begins, lest it is repeated (zlib.h, `deflate`). Rounded up.
const FLUSH_ROOM: usize = 16;

/// As far back as any deflate stream can refer (RFC 1951 section 2): 2^15 B.
const WINDOW_MAX: usize = 1 << 15;

/// The least that is reserved for decoded output at a time: our own choice, a few short messages.
const ROOM_MIN: usize = 1024;

/// `data_type` where a block has just ended, it was not the last, and no bits wait (zlib.h, `inflate`).
const BETWEEN_BLOCKS: c_int = 128;

/// As much as one call is given at a time, since zlib counts in 32 bits.
const CALL: usize = 1 << 30;

/// zlib's functions, under whichever name. zlib.h says what they do, and what they ask.
pub(super) trait Api: Send + 'static {
    fn version() -> &'static CStr;
    unsafe fn deflate_init(stream: *mut z_stream, level: c_int, window: c_int, memory: c_int, strategy: c_int)
    -> c_int;
    unsafe fn deflate(stream: *mut z_stream, flush: c_int) -> c_int;
    unsafe fn deflate_bound(stream: *mut z_stream, length: c_ulong) -> c_ulong;
    unsafe fn deflate_set_dictionary(stream: *mut z_stream, start: *const u8, length: c_uint) -> c_int;
    unsafe fn deflate_reset(stream: *mut z_stream) -> c_int;
    unsafe fn deflate_end(stream: *mut z_stream) -> c_int;
    unsafe fn inflate_init(stream: *mut z_stream, window: c_int) -> c_int;
    unsafe fn inflate(stream: *mut z_stream, flush: c_int) -> c_int;
    unsafe fn inflate_set_dictionary(stream: *mut z_stream, start: *const u8, length: c_uint) -> c_int;
    unsafe fn inflate_reset(stream: *mut z_stream) -> c_int;
    unsafe fn inflate_reset_keep(stream: *mut z_stream) -> c_int;
    unsafe fn inflate_end(stream: *mut z_stream) -> c_int;
}

/// Implements [`Api`] by the functions of a crate. Pointers to streams are cast, as a stream is the same for all, field by field.
macro_rules! implement_api {
    ($name:ident, $library:ident, $reset_keep:path) => {
        // SAFETY: each function does as its namesake, and asks what that asks.
        impl Api for $name {
            fn version() -> &'static CStr {
                // SAFETY: what it returns is a constant C string.
                #[allow(unused_unsafe)]
                unsafe {
                    CStr::from_ptr($library::zlibVersion())
                }
            }
            unsafe fn deflate_init(
                s: *mut z_stream,
                level: c_int,
                window: c_int,
                memory: c_int,
                strategy: c_int,
            ) -> c_int {
                let (version, size) = (Self::version().as_ptr(), size_of::<z_stream>() as c_int);
                let method = $library::Z_DEFLATED;
                unsafe { $library::deflateInit2_(s.cast(), level, method, window, memory, strategy, version, size) }
            }
            unsafe fn inflate_init(s: *mut z_stream, window: c_int) -> c_int {
                let (version, size) = (Self::version().as_ptr(), size_of::<z_stream>() as c_int);
                unsafe { $library::inflateInit2_(s.cast(), window, version, size) }
            }
            unsafe fn deflate(s: *mut z_stream, flush: c_int) -> c_int {
                unsafe { $library::deflate(s.cast(), flush) }
            }
            unsafe fn deflate_bound(s: *mut z_stream, length: c_ulong) -> c_ulong {
                unsafe { $library::deflateBound(s.cast(), length) }
            }
            unsafe fn deflate_set_dictionary(s: *mut z_stream, start: *const u8, length: c_uint) -> c_int {
                unsafe { $library::deflateSetDictionary(s.cast(), start, length) }
            }
            unsafe fn deflate_reset(s: *mut z_stream) -> c_int {
                unsafe { $library::deflateReset(s.cast()) }
            }
            unsafe fn deflate_end(s: *mut z_stream) -> c_int {
                unsafe { $library::deflateEnd(s.cast()) }
            }
            unsafe fn inflate(s: *mut z_stream, flush: c_int) -> c_int {
                unsafe { $library::inflate(s.cast(), flush) }
            }
            unsafe fn inflate_set_dictionary(s: *mut z_stream, start: *const u8, length: c_uint) -> c_int {
                unsafe { $library::inflateSetDictionary(s.cast(), start, length) }
            }
            unsafe fn inflate_reset(s: *mut z_stream) -> c_int {
                unsafe { $library::inflateReset(s.cast()) }
            }
            unsafe fn inflate_reset_keep(s: *mut z_stream) -> c_int {
                unsafe { $reset_keep(s.cast()) }
            }
            unsafe fn inflate_end(s: *mut z_stream) -> c_int {
                unsafe { $library::inflateEnd(s.cast()) }
            }
        }
    };
}

/// Stock zlib, the one that most servers have.
pub(super) struct Stock;
/// zlib-rs, by its C interface.
pub(super) struct ZlibRs;

unsafe extern "C" {
    /// zlib.h declares it among what is undocumented, and libz-sys not at all.
    #[link_name = "inflateResetKeep"]
    fn stock_inflate_reset_keep(stream: *mut libz_sys::z_stream) -> c_int;
}

implement_api!(Stock, libz_sys, stock_inflate_reset_keep);
implement_api!(ZlibRs, libz_rs_sys, libz_rs_sys::inflateResetKeep);

// The one stream that is used for both, held against the other.
const _: () = {
    assert!(size_of::<z_stream>() == size_of::<libz_sys::z_stream>());
    assert!(align_of::<z_stream>() == align_of::<libz_sys::z_stream>());
    assert!(offset_of!(z_stream, next_out) == offset_of!(libz_sys::z_stream, next_out));
    assert!(offset_of!(z_stream, opaque) == offset_of!(libz_sys::z_stream, opaque));
    assert!(offset_of!(z_stream, data_type) == offset_of!(libz_sys::z_stream, data_type));
};

/// The version of a library, as it says itself.
pub(super) fn version<A: Api>() -> &'static str {
    A::version().to_str().unwrap_or("unknown")
}

fn refused<A: Api>(status: c_int) -> CodecError {
    CodecError::Refused {
        library: format!("zlib {}", version::<A>()),
        problem: format!("status {status}"),
    }
}

/// A stream at a place of its own, since its state points back to it, with the count of what it holds.
struct Stream {
    raw: NonNull<z_stream>,
    held: Tally,
}

impl Stream {
    fn new() -> Self {
        let held = Tally::default();
        let raw = Box::new(z_stream {
            zalloc: Some(tally::allocate),
            zfree: Some(tally::release),
            opaque: held.as_opaque(),
            ..z_stream::default()
        });
        Self {
            raw: NonNull::from(Box::leak(raw)),
            held,
        }
    }

    fn as_ptr(&self) -> *mut z_stream {
        self.raw.as_ptr()
    }

    /// The stream's own fields, between calls.
    fn fields(&mut self) -> &mut z_stream {
        // SAFETY: it is valid from `new` to `drop`, and nobody else holds it between calls.
        unsafe { self.raw.as_mut() }
    }

    /// Lets the next call read `input` and write to `room`; both have to last until then, and be no longer than [`CALL`].
    fn aim(&mut self, input: &[u8], room: &mut [MaybeUninit<u8>]) {
        let fields = self.fields();
        fields.next_in = input.as_ptr();
        fields.avail_in = input.len() as c_uint;
        fields.next_out = room.as_mut_ptr().cast();
        fields.avail_out = room.len() as c_uint;
    }

    /// Takes the pointers away again; returns octets of input and of room that are left.
    fn release(&mut self) -> (usize, usize) {
        let fields = self.fields();
        fields.next_in = std::ptr::null();
        fields.next_out = std::ptr::null_mut();
        (
            std::mem::take(&mut fields.avail_in) as usize,
            std::mem::take(&mut fields.avail_out) as usize,
        )
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: it came from a box in `new`, and whoever initialised the stream has ended it.
        drop(unsafe { Box::from_raw(self.raw.as_ptr()) });
    }
}

/// Compresses messages.
pub(super) struct Compressor<A: Api> {
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
    pub(super) fn new(settings: &Deflate, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
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

    /// Appends `input` coded and flushed, with the tail.
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
        // or stored block. So what is kept ends where all of the history would; and it is given in parts shorter than the window,
        // since a longer one is put to the front.
        let kept = history.len().min(self.window + history.len() % self.window);
        for part in history[history.len() - kept..].chunks(self.window - 1) {
            self.set_dictionary(part);
        }
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

/// Turns messages back.
pub(super) struct Decompressor<A: Api> {
    stream: Stream,
    takeover: bool,
    dictionary: Option<Dictionary>,
    api: PhantomData<A>,
}

// SAFETY: as for `Compressor`.
unsafe impl<A: Api> Send for Decompressor<A> {}

impl<A: Api> Decompressor<A> {
    /// For messages whose encoder has these settings, of which the window and takeover matter.
    pub(super) fn new(settings: &Deflate, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        let stream = Stream::new();
        // SAFETY: the stream is at its place, with its allocator set. zlib refuses a window out of range.
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
        // SAFETY: an initialised stream, and a slice that lasts for the call.
        let status =
            unsafe { A::inflate_set_dictionary(self.stream.as_ptr(), history.as_ptr(), history.len() as c_uint) };
        assert_eq!(status, Z_OK, "raw inflate takes a dictionary between messages");
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

    /// Appends what `input` holds, up to `end` octets of output in all. Returns whether it ends with a final block.
    fn inflate(&mut self, mut input: &[u8], flush: c_int, end: usize, out: &mut Vec<u8>) -> Result<bool, Fault> {
        let mut ended = false;
        while !input.is_empty() {
            let part = &input[..input.len().min(CALL)];
            // One octet more than is allowed, so that passing it is seen.
            let allowed = (end - out.len()).saturating_add(1).min(CALL);
            // What deflate makes of text, three to five times less: a guess that is bettered by doubling.
            out.reserve(allowed.min((4 * part.len()).max(ROOM_MIN)));
            let room = out.spare_capacity_mut();
            let length = room.len().min(allowed);
            self.stream.aim(part, &mut room[..length]);
            // SAFETY: an initialised stream, aimed at an input and at room that nobody else uses.
            let status = unsafe { A::inflate(self.stream.as_ptr(), flush) };
            let (input_left, room_left) = self.stream.release();
            // SAFETY: zlib has written what it says that it has.
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

    /// What zlib says of its last failure.
    fn problem(&mut self) -> String {
        let message = self.stream.fields().msg;
        if message.is_null() {
            return "it breaks the deflate format".to_owned();
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
        self.stream.held.held()
    }
}

impl<A: Api> Drop for Decompressor<A> {
    fn drop(&mut self) {
        // SAFETY: an initialised stream, ended once.
        unsafe { A::inflate_end(self.stream.as_ptr()) };
    }
}
