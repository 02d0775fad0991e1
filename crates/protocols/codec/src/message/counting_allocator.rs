//! Counts the memory that codecs have allocated.
//!
//! zlib and zlib-rs allocate memory through a pair of hooks (zlib.h, `zalloc` and `zfree`), which are here.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A count of allocated bytes, shared by an allocator and its readers.
#[derive(Debug, Clone, Default)]
pub(super) struct AllocationCount(Arc<AtomicUsize>);

impl AllocationCount {
    /// The number of bytes allocated.
    pub(super) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds allocated bytes.
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Subtracts freed bytes.
    pub(super) fn subtract(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The `opaque` argument of the hooks: valid for as long as this tally lives, even if it is moved.
    pub(super) fn as_opaque(&self) -> *mut c_void {
        Arc::as_ptr(&self.0).cast_mut().cast()
    }
}

/// The header before each block of memory, which keeps the block aligned as malloc would (for any type without an alignment of its own).
const HEADER: Layout = Layout::new::<Header>();

/// The length of a block, without this header.
#[repr(C, align(16))]
struct Header(usize);

fn layout(length: usize) -> Option<Layout> {
    let size = length.checked_add(HEADER.size())?;
    Layout::from_size_align(size, HEADER.align()).ok()
}

/// `zalloc`: allocates `items` times `size` bytes, or returns null.
///
/// # Safety
/// `opaque` is that of a live [`AllocationCount`].
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
    // SAFETY: `start` is as large and aligned as a header and `length` bytes after it.
    unsafe {
        start.cast::<Header>().write(Header(length));
        start.add(HEADER.size()).cast()
    }
}

/// `zfree`: frees memory of [`allocate`].
///
/// # Safety
/// `opaque` is that of a live [`AllocationCount`], and `address` came from [`allocate`] with it, or is null.
pub(super) unsafe extern "C" fn release(opaque: *mut c_void, address: *mut c_void) {
    if address.is_null() {
        return;
    }
    // SAFETY: `allocate` wrote a header there, and nothing else has changed it.
    let (start, length) = unsafe {
        let start = address.cast::<u8>().sub(HEADER.size());
        (start, start.cast::<Header>().read().0)
    };
    // SAFETY: the caller's promise; an atomic is shared.
    let held = unsafe { &*opaque.cast::<AtomicUsize>() };
    held.fetch_sub(length, Ordering::Relaxed);
    let layout = layout(length).expect("this length was allocated once");
    // SAFETY: it was allocated with this layout, and is freed once.
    unsafe { dealloc(start, layout) };
}
