//! How much memory does a codec hold? Allocators that count what they handed out and have not got back.
//!
//! zlib and zlib-rs ask for memory through a pair of hooks (zlib.h, `zalloc` and `zfree`), which are here.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A count of octets that are held, shared by an allocator and whoever asks.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Arc<AtomicUsize>);

impl Tally {
    /// Octets that are held.
    pub(super) fn held(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts what is handed out.
    pub(super) fn take(&self, octets: usize) {
        self.0.fetch_add(octets, Ordering::Relaxed);
    }

    /// Counts what has come back.
    pub(super) fn give_back(&self, octets: usize) {
        self.0.fetch_sub(octets, Ordering::Relaxed);
    }

    /// What the hooks take as their `opaque`: valid for as long as this tally is, wherever that is moved to.
    pub(super) fn as_opaque(&self) -> *mut c_void {
        Arc::as_ptr(&self.0).cast_mut().cast()
    }
}

/// What stands before each piece of memory, which keeps it aligned as malloc would (for any type without an alignment of its own).
const HEADER: Layout = Layout::new::<Header>();

/// The length of a piece, without this.
#[repr(C, align(16))]
struct Header(usize);

fn layout(length: usize) -> Option<Layout> {
    let size = length.checked_add(HEADER.size())?;
    Layout::from_size_align(size, HEADER.align()).ok()
}

/// `zalloc`: `items` times `size` octets, or null.
///
/// # Safety
/// `opaque` is that of a [`Tally`] that lives.
pub(super) unsafe extern "C" fn allocate(opaque: *mut c_void, items: c_uint, size: c_uint) -> *mut c_void {
    let length = items as usize * size as usize;
    let Some(layout) = layout(length) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the layout has at least the header's size, which is not 0.
    let start = unsafe { alloc(layout) };
    if start.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's promise; an atomic is shared.
    let held = unsafe { &*opaque.cast::<AtomicUsize>() };
    held.fetch_add(length, Ordering::Relaxed);
    // SAFETY: `start` is as large and aligned as a header and `length` octets after it.
    unsafe {
        start.cast::<Header>().write(Header(length));
        start.add(HEADER.size()).cast()
    }
}

/// `zfree`: gives back what [`allocate`] gave.
///
/// # Safety
/// `opaque` is that of a [`Tally`] that lives, and `address` came from [`allocate`] with it, or is null.
pub(super) unsafe extern "C" fn release(opaque: *mut c_void, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    // SAFETY: `allocate` put a header there, and left it to us alone.
    let (start, length) = unsafe {
        let start = address.cast::<u8>().sub(HEADER.size());
        (start, start.cast::<Header>().read().0)
    };
    // SAFETY: the caller's promise; an atomic is shared.
    let held = unsafe { &*opaque.cast::<AtomicUsize>() };
    held.fetch_sub(length, Ordering::Relaxed);
    let layout = layout(length).expect("this length was allocated once");
    // SAFETY: it was allocated with this layout, and is given back once.
    unsafe { dealloc(start, layout) };
}
