//! LZ4 for messages, by the C library. There is no extension of WebSocket for it; this is how one would be made.
//!
//! A message is one block (LZ4's block format), which refers with takeover to the 64 KiB before it. A block ends with its message,
//! and says neither how long it is nor what comes out.
#![allow(unsafe_code)]

mod block;

pub(super) use block::Decompressor;

use super::encoder::Compress;
use super::{Dictionary, Lz4, Lz4Effort};
use lz4_sys::{c_char, c_int};
use std::mem::MaybeUninit;

/// As far back as a block can refer, less one (LZ4's block format, "Offset").
const HISTORY: usize = 64 * 1024;

/// What is kept of messages: twice the history, so that it is moved once for each 64 KiB of messages.
const KEPT: usize = 2 * HISTORY;

/// `LZ4_MAX_INPUT_SIZE`.
pub(super) const MESSAGE_MAX: usize = 0x7E00_0000;

// lz4.h and lz4hc.h say what these do, and what they ask. lz4-sys declares none of them.
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
    // SAFETY: it takes nothing, and returns a constant C string.
    let text = unsafe { std::ffi::CStr::from_ptr(LZ4_versionString()) };
    text.to_str().unwrap_or("unknown")
}

/// What of a history can be referred to.
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
        // SAFETY: both take nothing, and return a constant.
        let size = unsafe {
            match effort {
                Lz4Effort::Fast { .. } => LZ4_sizeofState(),
                Lz4Effort::High { .. } => LZ4_sizeofStateHC(),
            }
        };
        let words = vec![0; (size as usize).div_ceil(size_of::<u64>())].into();
        let mut state = Self { words, effort };
        let (start, size) = (state.words.as_mut_ptr(), state.size());
        // SAFETY: the memory is as large and aligned as the library asks.
        let made = unsafe {
            match effort {
                Lz4Effort::Fast { .. } => LZ4_initStream(start, size),
                Lz4Effort::High { .. } => LZ4_initStreamHC(start, size),
            }
        };
        assert!(!made.is_null(), "memory for LZ4's state has its size and alignment");
        state.forget();
        state
    }

    fn size(&self) -> usize {
        std::mem::size_of_val(&*self.words)
    }

    /// Drops all references to messages.
    fn forget(&mut self) {
        let start = self.words.as_mut_ptr();
        // SAFETY: an initialised state.
        unsafe {
            match self.effort {
                Lz4Effort::Fast { .. } => LZ4_resetStream_fast(start),
                Lz4Effort::High { level } => LZ4_resetStreamHC_fast(start, level.into()),
            }
        }
    }

    /// Takes `length` octets at `history` as what went before.
    ///
    /// # Safety
    /// They last for as long as the state may refer to them.
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

    /// Moves what went before to `room`, of 64 KiB, and returns how much that is.
    ///
    /// # Safety
    /// What went before still is where it was, and `room` lasts for as long as the state may refer to it.
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

    /// Appends the `length` octets at `source`, coded.
    ///
    /// # Safety
    /// They and what went before are where they are said to be, and last until the state is told to forget or to save.
    unsafe fn compress(&mut self, source: *const u8, length: usize, out: &mut Vec<u8>) {
        // LZ4_COMPRESSBOUND.
        out.reserve(length + length / 255 + 16);
        let room = out.spare_capacity_mut();
        let capacity = c_int::try_from(room.len()).unwrap_or(c_int::MAX);
        let (state, to) = (self.words.as_mut_ptr(), room.as_mut_ptr().cast());
        // SAFETY: an initialised state, room that nobody else uses; and the caller's promise.
        let written = unsafe {
            match self.effort {
                Lz4Effort::Fast { acceleration } => {
                    LZ4_compress_fast_continue(state, source, to, length as c_int, capacity, acceleration.into())
                }
                Lz4Effort::High { .. } => LZ4_compress_HC_continue(state, source, to, length as c_int, capacity),
            }
        };
        assert!(written > 0, "LZ4 fails only for want of room");
        // SAFETY: LZ4 has written what it says.
        unsafe { out.set_len(out.len() + written as usize) };
    }
}

/// A dictionary, looked through once.
struct Prepared {
    state: State,
    /// What the state points to.
    content: Box<[u8]>,
}

impl Prepared {
    fn new(effort: Lz4Effort, history: &[u8]) -> Self {
        let content: Box<[u8]> = within_reach(history).into();
        let mut state = State::new(effort);
        // SAFETY: the content is kept beside the state, at the same place wherever that is moved.
        unsafe { state.load(content.as_ptr(), content.len()) };
        Self { state, content }
    }

    fn size(&self) -> usize {
        self.state.size() + self.content.len()
    }
}

/// What went before: messages one after the other, moved to the start where there is no room left.
struct Kept {
    /// Made of a box; a pointer, since LZ4's state points to what is in it.
    start: *mut u8,
    filled: usize,
}

impl Kept {
    fn new() -> Self {
        let room: Box<[MaybeUninit<u8>]> = Box::new_uninit_slice(KEPT);
        Self {
            start: Box::into_raw(room).cast(),
            filled: 0,
        }
    }

    /// Puts `content` at the end, and returns where.
    fn push(&mut self, content: &[u8]) -> *const u8 {
        assert!(
            self.filled + content.len() <= KEPT,
            "there is room, as the caller has seen to"
        );
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

impl Drop for Kept {
    fn drop(&mut self) {
        let room = std::ptr::slice_from_raw_parts_mut(self.start.cast::<MaybeUninit<u8>>(), KEPT);
        // SAFETY: it came from such a box, and is given back once.
        drop(unsafe { Box::from_raw(room) });
    }
}

pub(super) struct Compressor {
    state: State,
    /// With takeover.
    kept: Option<Kept>,
    /// Without takeover: what each message may refer to.
    prepared: Option<Prepared>,
    dictionary: Option<Dictionary>,
    primed: bool,
}

// SAFETY: the pointers are to what it owns itself, and LZ4 keeps nothing elsewhere.
unsafe impl Send for Compressor {}

impl Compressor {
    pub(super) fn new(settings: &Lz4, dictionary: Option<&Dictionary>) -> Self {
        let mut compressor = Self {
            state: State::new(settings.effort),
            kept: settings.takeover.then(Kept::new),
            prepared: None,
            dictionary: dictionary.cloned(),
            primed: false,
        };
        compressor.reset();
        compressor
    }

    fn start_after(&mut self, history: &[u8]) {
        self.state.forget();
        match &mut self.kept {
            Some(kept) => {
                kept.filled = 0;
                let history = within_reach(history);
                let at = kept.push(history);
                // SAFETY: it lies in what is kept, which LZ4 is told of before it moves.
                unsafe { self.state.load(at, history.len()) };
            }
            None => {
                self.prepared = (!history.is_empty()).then(|| Prepared::new(self.state.effort, history));
            }
        }
    }

    fn encode_alone(&mut self, message: &[u8], out: &mut Vec<u8>) {
        self.state.forget();
        let state = self.state.words.as_mut_ptr();
        if let Some(prepared) = &self.prepared {
            let prepared = prepared.state.words.as_ptr();
            // SAFETY: both are initialised, and the prepared one lasts until the state forgets it.
            unsafe {
                match self.state.effort {
                    Lz4Effort::Fast { .. } => LZ4_attach_dictionary(state, prepared),
                    Lz4Effort::High { .. } => LZ4_attach_HC_dictionary(state, prepared),
                }
            }
        }
        // SAFETY: the message lasts for the call, and the state forgets it thereafter.
        unsafe { self.state.compress(message.as_ptr(), message.len(), out) };
        self.state.forget();
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
        let Some(kept) = &mut self.kept else {
            self.encode_alone(message, out);
            if self.primed {
                self.reset();
            }
            return;
        };
        if message.len() <= HISTORY {
            if kept.filled + message.len() > KEPT {
                // SAFETY: what went before lies in what is kept, and stays there.
                kept.filled = unsafe { self.state.save(kept.start) };
            }
            let at = kept.push(message);
            // SAFETY: it lies in what is kept, which LZ4 is told of before it moves.
            unsafe { self.state.compress(at, message.len(), out) };
        } else {
            // SAFETY: the message lasts for the call, and its end is moved to what is kept before that is over.
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
        if self.kept.is_some() || self.primed || self.prepared.is_none() {
            self.start_after(dictionary.as_ref().map_or(&[], Dictionary::content));
        }
        self.dictionary = dictionary;
        self.primed = false;
    }

    fn memory(&self) -> usize {
        let kept = if self.kept.is_some() { KEPT } else { 0 };
        self.state.size() + kept + self.prepared.as_ref().map_or(0, Prepared::size)
    }
}
