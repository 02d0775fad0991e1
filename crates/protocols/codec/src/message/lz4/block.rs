//! Decompresses untrusted blocks of LZ4.

use super::super::back_end::{Decompress, Fault};
use super::super::{Dictionary, Lz4};
use super::{BUFFER_SIZE, HISTORY, within_reach};
use lz4_sys::c_int;

// lz4.h documents it and its preconditions. lz4-sys does not declare it.
unsafe extern "C" {
    fn LZ4_decompress_safe_usingDict(
        coded: *const u8,
        room: *mut u8,
        length: c_int,
        capacity: c_int,
        history: *const u8,
        history_length: c_int,
    ) -> c_int;
}

pub(in crate::message) struct Decompressor {
    history: Vec<u8>,
    takeover: bool,
    dictionary: Option<Dictionary>,
    primed: bool,
}

impl Decompressor {
    pub(in crate::message) fn new(settings: &Lz4, dictionary: Option<&Dictionary>) -> Self {
        let mut decompressor = Self {
            history: Vec::new(),
            takeover: settings.takeover,
            dictionary: dictionary.cloned(),
            primed: false,
        };
        if settings.takeover {
            decompressor.history.reserve_exact(BUFFER_SIZE);
        }
        decompressor.reset();
        decompressor
    }

    fn remember(&mut self, message: &[u8]) {
        let message = within_reach(message);
        if self.history.len() + message.len() > BUFFER_SIZE {
            let needed = HISTORY - message.len();
            self.history.drain(..self.history.len() - needed);
        }
        self.history.extend_from_slice(message);
    }
}

impl Decompress for Decompressor {
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        if coded.is_empty() {
            return Ok(());
        }
        let length = decoded_length(coded)?;
        if length > end - out.len() {
            return Err(Fault::TooLarge);
        }
        if coded.len() > c_int::MAX as usize || length > c_int::MAX as usize {
            return Err(Fault::Corrupt("it is larger than any block of LZ4".to_owned()));
        }
        out.reserve(length);
        let history = within_reach(&self.history);
        let room = out.spare_capacity_mut();
        // SAFETY: input, room and history have these lengths, and nothing else uses room. The function checks its input.
        let written = unsafe {
            LZ4_decompress_safe_usingDict(
                coded.as_ptr(),
                room.as_mut_ptr().cast(),
                coded.len() as c_int,
                length as c_int,
                history.as_ptr(),
                history.len() as c_int,
            )
        };
        if usize::try_from(written) != Ok(length) {
            return Err(Fault::Corrupt(
                "it refers to data before its history, or does not end like a block".to_owned(),
            ));
        }
        let before = out.len();
        // SAFETY: LZ4 has written that many bytes.
        unsafe { out.set_len(before + length) };
        if self.takeover {
            self.remember(&out[before..]);
        } else if self.primed {
            self.reset();
        }
        Ok(())
    }

    fn prime(&mut self, history: &[u8]) {
        self.history.clear();
        self.history.extend_from_slice(within_reach(history));
        self.primed = true;
    }

    fn reset(&mut self) {
        self.history.clear();
        if let Some(dictionary) = &self.dictionary {
            self.history.extend_from_slice(within_reach(dictionary.content()));
        }
        self.primed = false;
    }

    fn memory(&self) -> usize {
        self.history.capacity()
    }
}

/// The decompressed size of a block, computed from its lengths alone (LZ4's block format), so that it can be refused or allocated
/// beforehand.
fn decoded_length(block: &[u8]) -> Result<usize, Fault> {
    let mut at = 0;
    let mut total = 0_usize;
    loop {
        let token = *block.get(at).ok_or(Fault::Truncated)?;
        at += 1;
        let literals = length(block, &mut at, token >> 4)?;
        at = at
            .checked_add(literals)
            .filter(|at| *at <= block.len())
            .ok_or(Fault::Truncated)?;
        total = total.saturating_add(literals);
        if at == block.len() {
            return Ok(total);
        }
        at = at
            .checked_add(OFFSET)
            .filter(|at| *at <= block.len())
            .ok_or(Fault::Truncated)?;
        let matched = length(block, &mut at, token & 0x0f)?;
        total = total.saturating_add(matched).saturating_add(MATCH_MIN);
    }
}

/// The size of a match's offset, in bytes.
const OFFSET: usize = 2;

/// The minimum length of a match, which its written length does not include.
const MATCH_MIN: usize = 4;

/// Reads a length: the token gives up to 15, and further bytes add to 15 until one is not 255.
fn length(block: &[u8], at: &mut usize, of_token: u8) -> Result<usize, Fault> {
    let mut length = usize::from(of_token);
    if of_token == 0x0f {
        loop {
            let more = *block.get(*at).ok_or(Fault::Truncated)?;
            *at += 1;
            length = length.saturating_add(more.into());
            if more != 0xff {
                break;
            }
        }
    }
    Ok(length)
}
