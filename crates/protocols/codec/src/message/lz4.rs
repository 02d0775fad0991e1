//! LZ4 for messages, by the C library. No WebSocket extension defines it; this is how one could.
//!
//! A message is one block (LZ4's block format), which may refer with takeover to the 64 KiB before it. A block ends with its
//! message, and states neither its own length nor the length of its content.
#![allow(unsafe_code)]

mod block;

pub(super) use block::Decompressor;

use super::back_end::Compress;
use super::{Dictionary, Lz4, Lz4Effort};
use lz4_sys::{c_char, c_int};
use std::mem::MaybeUninit;

/// The size of the history: a block can refer to one byte less (LZ4's block format, "Offset").
const HISTORY: usize = 64 * 1024;

/// The size of the buffer of past messages: twice the history, so that it is moved once per 64 KiB of messages.
const BUFFER_SIZE: usize = 2 * HISTORY;

/// `LZ4_MAX_INPUT_SIZE`.
pub(super) const MESSAGE_MAX: usize = 0x7E00_0000;

// lz4.h and lz4hc.h document these and their preconditions. lz4-sys declares none of them.
unsafe extern "C" {
    fn LZ4_sizeofState() -> c_int;
    fn LZ4_sizeofStateHC() -> c_int;
    fn LZ4_initStream(state: *mut u64, size: usize) -> *mut u64;
    fn LZ4_initStreamHC(state: *mut u64, size: usize) -> *mut u64;
    fn LZ4_resetStream_fast(state: *mut u64);
    fn LZ4_resetStreamHC_fast(state: *mut u64, level: c_int);
    fn LZ4_loadDict(state: *mut u64, history: *const u8, length: c_int) -> c_int;
    fn LZ4_loadDictHC(state: *mut u64, history: *const u8, length: c_int) -> c_int;
    fn LZ4_saveDict(state: *mut u64, room: *mut u8, length: c_int) -> c_int;
    fn LZ4_saveDictHC(state: *mut u64, room: *mut u8, length: c_int) -> c_int;
    fn LZ4_attach_dictionary(state: *mut u64, prepared: *const u64);
    fn LZ4_attach_HC_dictionary(state: *mut u64, prepared: *const u64);
    fn LZ4_compress_fast_continue(
        state: *mut u64,
        source: *const u8,
        room: *mut u8,
        length: c_int,
        capacity: c_int,
        acceleration: c_int,
    ) -> c_int;
    fn LZ4_compress_HC_continue(
        state: *mut u64,
        source: *const u8,
        room: *mut u8,
        length: c_int,
        capacity: c_int,
    ) -> c_int;
    fn LZ4_versionString() -> *const c_char;
}

/// The library's version.
pub(super) fn version() -> &'static str {
    // SAFETY: it has no arguments, and returns a constant C string.
    let text = unsafe { std::ffi::CStr::from_ptr(LZ4_versionString()) };
    text.to_str().unwrap_or("unknown")
}

/// The end of a history that a block can refer to.
fn within_reach(history: &[u8]) -> &[u8] {
    &history[history.len().saturating_sub(HISTORY)..]
}

/// LZ4's own state: a hash table, and chains at high effort.
struct State {
    words: Box<[u64]>,
    effort: Lz4Effort,
}

impl State {
    fn new(effort: Lz4Effort) -> Self {
        // SAFETY: both have no arguments, and return a constant.
        let size = unsafe {
            match effort {
                Lz4Effort::Fast { .. } => LZ4_sizeofState(),
                Lz4Effort::High { .. } => LZ4_sizeofStateHC(),
            }
        };
        let words = vec![0; (size as usize).div_ceil(size_of::<u64>())].into();
        let mut state = Self { words, effort };
        let (start, size) = (state.words.as_mut_ptr(), state.size());
        // SAFETY: the memory has the size and alignment that the library requires.
        let made = unsafe {
            match effort {
                Lz4Effort::Fast { .. } => LZ4_initStream(start, size),
                Lz4Effort::High { .. } => LZ4_initStreamHC(start, size),
            }
        };
        assert!(!made.is_null(), "memory for LZ4's state has its size and alignment");
        state.reset();
        state
    }

    fn size(&self) -> usize {
        std::mem::size_of_val(&*self.words)
    }

    /// Drops all references to messages.
    fn reset(&mut self) {
        let start = self.words.as_mut_ptr();
        // SAFETY: an initialised state.
        unsafe {
            match self.effort {
                Lz4Effort::Fast { .. } => LZ4_resetStream_fast(start),
                Lz4Effort::High { level } => LZ4_resetStreamHC_fast(start, level.into()),
            }
        }
    }

    /// Sets the history to the `length` bytes at `history`.
    ///
    /// # Safety
    /// The bytes stay valid for as long as the state may refer to them.
    unsafe fn load(&mut self, history: *const u8, length: usize) {
        let start = self.words.as_mut_ptr();
        // SAFETY: an initialised state; and the caller's promise.
        unsafe {
            match self.effort {
                Lz4Effort::Fast { .. } => LZ4_loadDict(start, history, length as c_int),
                Lz4Effort::High { .. } => LZ4_loadDictHC(start, history, length as c_int),
            }
        };
    }

    /// Moves the history to `room`, of 64 KiB, and returns its length.
    ///
    /// # Safety
    /// The history is still valid at its address, and `room` stays valid for as long as the state may refer to it.
    unsafe fn save(&mut self, room: *mut u8) -> usize {
        let start = self.words.as_mut_ptr();
        // SAFETY: an initialised state; and the caller's promise.
        let saved = unsafe {
            match self.effort {
                Lz4Effort::Fast { .. } => LZ4_saveDict(start, room, HISTORY as c_int),
                Lz4Effort::High { .. } => LZ4_saveDictHC(start, room, HISTORY as c_int),
            }
        };
        saved as usize
    }

    /// Compresses the `length` bytes at `source`, and appends them to `out`.
    ///
    /// # Safety
    /// The bytes and the history are valid at their addresses until the state is reset or saved.
    unsafe fn compress(&mut self, source: *const u8, length: usize, out: &mut Vec<u8>) {
        // LZ4_COMPRESSBOUND.
        out.reserve(length + length / 255 + 16);
        let room = out.spare_capacity_mut();
        let capacity = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        let (state, to) = (self.words.as_mut_ptr(), room.as_mut_ptr().cast());
        // SAFETY: an initialised state, room that nothing else uses; and the caller's promise.
        let written = unsafe {
            match self.effort {
                Lz4Effort::Fast { acceleration } => {
                    LZ4_compress_fast_continue(state, source, to, length as c_int, capacity, acceleration.into())
                }
                Lz4Effort::High { .. } => LZ4_compress_HC_continue(state, source, to, length as c_int, capacity),
            }
        };
        assert!(written > 0, "LZ4 fails only for want of room");
        // SAFETY: LZ4 has written that many bytes.
        unsafe { out.set_len(out.len() + written as usize) };
    }
}

/// A dictionary with its hash table, built once.
struct Prepared {
    state: State,
    /// The content that the state points to.
    content: Box<[u8]>,
}

impl Prepared {
    fn new(effort: Lz4Effort, history: &[u8]) -> Self {
        let content: Box<[u8]> = within_reach(history).into();
        let mut state = State::new(effort);
        // SAFETY: the content lives as long as the state, and its address does not change when both are moved.
        unsafe { state.load(content.as_ptr(), content.len()) };
        Self { state, content }
    }

    fn size(&self) -> usize {
        self.state.size() + self.content.len()
    }
}

/// The buffer of past messages, one after the other; the history is moved to the start when the buffer is full.
struct HistoryBuffer {
    /// A box as a pointer, since LZ4's state points into it.
    start: *mut u8,
    filled: usize,
}

impl HistoryBuffer {
    fn new() -> Self {
        let room: Box<[MaybeUninit<u8>]> = Box::new_uninit_slice(BUFFER_SIZE);
        Self {
            start: Box::into_raw(room).cast(),
            filled: 0,
        }
    }

    /// Copies `content` to the end, and returns its address.
    fn push(&mut self, content: &[u8]) -> *const u8 {
        assert!(self.filled + content.len() <= BUFFER_SIZE, "the caller has made room");
        // SAFETY: it is within the box, which `content` is not.
        let at = unsafe {
            let at = self.start.add(self.filled);
            at.copy_from_nonoverlapping(content.as_ptr(), content.len());
            at
        };
        self.filled += content.len();
        at
    }
}

impl Drop for HistoryBuffer {
    fn drop(&mut self) {
        let room = std::ptr::slice_from_raw_parts_mut(self.start.cast::<MaybeUninit<u8>>(), BUFFER_SIZE);
        // SAFETY: it came from such a box, and is freed once.
        drop(unsafe { Box::from_raw(room) });
    }
}

pub(super) struct Compressor {
    state: State,
    /// Only with takeover.
    buffer: Option<HistoryBuffer>,
    /// Only without takeover: the history that each message may refer to.
    prepared: Option<Prepared>,
    dictionary: Option<Dictionary>,
    primed: bool,
}

// SAFETY: the pointers are to memory that it owns, and LZ4 has no other state.
unsafe impl Send for Compressor {}

impl Compressor {
    pub(super) fn new(settings: &Lz4, dictionary: Option<&Dictionary>) -> Self {
        let mut compressor = Self {
            state: State::new(settings.effort),
            buffer: settings.takeover.then(HistoryBuffer::new),
            prepared: None,
            dictionary: dictionary.cloned(),
            primed: false,
        };
        compressor.reset();
        compressor
    }

    fn start_after(&mut self, history: &[u8]) {
        self.state.reset();
        match &mut self.buffer {
            Some(kept) => {
                kept.filled = 0;
                let history = within_reach(history);
                let at = kept.push(history);
                // SAFETY: it lies in the buffer, which is not moved without LZ4_saveDict or a reset.
                unsafe { self.state.load(at, history.len()) };
            }
            None => {
                self.prepared = (!history.is_empty()).then(|| Prepared::new(self.state.effort, history));
            }
        }
    }

    fn encode_independent(&mut self, message: &[u8], out: &mut Vec<u8>) {
        self.state.reset();
        let state = self.state.words.as_mut_ptr();
        if let Some(prepared) = &self.prepared {
            let prepared = prepared.state.words.as_ptr();
            // SAFETY: both are initialised, and the prepared one lives until the state is reset.
            unsafe {
                match self.state.effort {
                    Lz4Effort::Fast { .. } => LZ4_attach_dictionary(state, prepared),
                    Lz4Effort::High { .. } => LZ4_attach_HC_dictionary(state, prepared),
                }
            }
        }
        // SAFETY: the message lives during the call, and the state is reset after it.
        unsafe { self.state.compress(message.as_ptr(), message.len(), out) };
        self.state.reset();
    }
}

impl Compress for Compressor {
    fn encode_part(&mut self, message: &[u8], _: bool, out: &mut Vec<u8>) {
        if message.is_empty() {
            return;
        }
        assert!(
            message.len() <= MESSAGE_MAX,
            "LZ4 takes messages of up to 2,113,929,216 B"
        );
        let Some(kept) = &mut self.buffer else {
            self.encode_independent(message, out);
            if self.primed {
                self.reset();
            }
            return;
        };
        if message.len() <= HISTORY {
            if kept.filled + message.len() > BUFFER_SIZE {
                // SAFETY: the history lies in the buffer, and stays there.
                kept.filled = unsafe { self.state.save(kept.start) };
            }
            let at = kept.push(message);
            // SAFETY: it lies in the buffer, which is not moved without LZ4_saveDict or a reset.
            unsafe { self.state.compress(at, message.len(), out) };
        } else {
            // SAFETY: the message lives during the calls, and the second one moves its end to the buffer.
            unsafe {
                self.state.compress(message.as_ptr(), message.len(), out);
                kept.filled = self.state.save(kept.start);
            }
        }
    }

    fn flushes_parts(&self) -> bool {
        false
    }

    fn prime(&mut self, history: &[u8]) {
        self.start_after(history);
        self.primed = true;
    }

    fn reset(&mut self) {
        let dictionary = self.dictionary.take();
        if self.buffer.is_some() || self.primed || self.prepared.is_none() {
            self.start_after(dictionary.as_ref().map_or(&[], Dictionary::content));
        }
        self.dictionary = dictionary;
        self.primed = false;
    }

    fn memory(&self) -> usize {
        let kept = if self.buffer.is_some() { BUFFER_SIZE } else { 0 };
        self.state.size() + kept + self.prepared.as_ref().map_or(0, Prepared::size)
    }
}
