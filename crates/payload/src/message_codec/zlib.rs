//! deflate for messages as permessage-deflate has it (RFC 7692 section 7.2), by anything with zlib's interface.
//!
//! Which is stock zlib and zlib-rs: one set of functions, one kind of stream. Each message is flushed to a whole octet, and goes
//! without the 4 octets that each flush ends in.
#![allow(unsafe_code)]

mod blocks;
mod deflate;
mod inflate;

pub(crate) use blocks::{BlockEncoder, BlockEnd};
pub(super) use deflate::Compressor;
pub(super) use inflate::Decompressor;

use super::CodecError;
use super::tally::{self, Tally};
use libz_rs_sys::z_stream;
use std::ffi::{CStr, c_int, c_uint, c_ulong};
use std::mem::{MaybeUninit, offset_of};
use std::ptr::NonNull;

/// What a flush ends in: the length of an empty stored block and its complement (RFC 7692 section 7.2.1).
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// As far back as any deflate stream can refer (RFC 1951 section 2): 2^15 B.
const WINDOW_MAX: usize = 1 << 15;

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
