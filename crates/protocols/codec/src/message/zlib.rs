//! Deflate for messages as in permessage-deflate (RFC 7692 section 7.2), by libraries with zlib's interface.
//!
//! These are stock zlib and zlib-rs, with the same functions and the same stream. Each message is flushed to a whole byte, and sent
//! without the 4 bytes that each flush ends in.
#![allow(unsafe_code)]

mod blocks;
mod deflate;
mod gzip;
mod inflate;

pub use blocks::{BlockEncoder, BlockEnd};
pub(super) use deflate::Compressor;
pub use gzip::GzipEncoder;
pub(super) use inflate::Decompressor;

use super::CodecError;
use super::counting_allocator::{self, AllocationCount};
use libz_rs_sys::z_stream;
use std::ffi::{CStr, c_int, c_uint, c_ulong};
use std::mem::{MaybeUninit, offset_of};
use std::ptr::NonNull;

/// The last bytes of a flush: the length of an empty stored block and its complement (RFC 7692 section 7.2.1).
const TAIL: [u8; 4] = [0x00, 0x00, 0xff, 0xff];

/// The farthest that any deflate stream can refer back (RFC 1951 section 2): 2^15 B.
const WINDOW_MAX: usize = 1 << 15;

/// The largest input or output of one call, since zlib counts in 32 bits.
const CALL: usize = 1 << 30;

/// zlib's functions. zlib.h documents them and their preconditions.
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

/// Implements [`Api`] with the functions of a crate. Pointers to streams are cast, as the streams have the same fields.
macro_rules! implement_api {
    ($name:ident, $library:ident, $reset_keep:path) => {
        // SAFETY: each function only calls its namesake, with the same preconditions.
        impl Api for $name {
            fn version() -> &'static CStr {
                // SAFETY: it returns a constant C string.
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

/// Stock zlib, which most servers use.
pub(super) struct Stock;
/// zlib-rs, through its C interface.
pub(super) struct ZlibRs;

unsafe extern "C" {
    /// zlib.h declares it among its undocumented functions, and libz-sys not at all.
    #[link_name = "inflateResetKeep"]
    fn stock_inflate_reset_keep(stream: *mut libz_sys::z_stream) -> c_int;
}

implement_api!(Stock, libz_sys, stock_inflate_reset_keep);
implement_api!(ZlibRs, libz_rs_sys, libz_rs_sys::inflateResetKeep);

// The stream type that is used for both has the layout of the other.
const _: () = {
    assert!(size_of::<z_stream>() == size_of::<libz_sys::z_stream>());
    assert!(align_of::<z_stream>() == align_of::<libz_sys::z_stream>());
    assert!(offset_of!(z_stream, next_out) == offset_of!(libz_sys::z_stream, next_out));
    assert!(offset_of!(z_stream, opaque) == offset_of!(libz_sys::z_stream, opaque));
    assert!(offset_of!(z_stream, data_type) == offset_of!(libz_sys::z_stream, data_type));
};

/// The version that a library reports.
pub(super) fn version<A: Api>() -> &'static str {
    A::version().to_str().unwrap_or("unknown")
}

fn refused<A: Api>(status: c_int) -> CodecError {
    CodecError::Refused {
        library: format!("zlib {}", version::<A>()),
        problem: format!("status {status}"),
    }
}

/// A stream at a fixed address, since its state points back to it, with the count of its memory.
struct Stream {
    raw: NonNull<z_stream>,
    held: AllocationCount,
}

impl Stream {
    fn new() -> Self {
        let held = AllocationCount::default();
        let raw = Box::new(z_stream {
            zalloc: Some(counting_allocator::allocate),
            zfree: Some(counting_allocator::release),
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
        // SAFETY: it is valid from `new` to `drop`, and nothing else refers to it between calls.
        unsafe { self.raw.as_mut() }
    }

    /// Lets the next call read `input` and write to `room`; both must live until then, and be no longer than [`CALL`].
    fn aim(&mut self, input: &[u8], room: &mut [MaybeUninit<u8>]) {
        let fields = self.fields();
        fields.next_in = input.as_ptr();
        fields.avail_in = input.len() as c_uint;
        fields.next_out = room.as_mut_ptr().cast();
        fields.avail_out = room.len() as c_uint;
    }

    /// Removes the pointers again; returns how many bytes of input and of room are left.
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
        // SAFETY: it came from a box in `new`, and the code that initialised the stream has ended it.
        drop(unsafe { Box::from_raw(self.raw.as_ptr()) });
    }
}
