//! The compressed size of a section of a long message, so that a sample need not compress a message of megabytes whole.
//!
//! A long message is a sequence of deflate blocks. Each ends where zlib's buffer of symbols is full (`deflate_state`, `sym_end`), and
//! begins with a description of its codes, whose cost all of the block shares. A section is charged for the blocks that it overlaps,
//! each in proportion to the bytes of the block that lie in the section.
//!
//! The start of the first block determines all others. Near the beginning of a message, the first block starts where the message starts,
//! as in the whole stream. Far into it, blocks may start anywhere, and start at the section. Near its end, blocks start some way
//! before the section; otherwise each of the last sections would be charged for a block of its own that the message's end cuts short.

use super::distinct_outputs::{OutputSize, is_primed};
use super::grid::encoder;
use super::work_unit::{WINDOW_MAX, history_length};
use super::workers::Pool;
use super::{Connection, Interrupted};
use lastmile_codec::message::{BlockEncoder, BlockEnd, Deflate};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// A section of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    /// Index in the list of connections.
    pub(super) connection: usize,
    /// Index in the list of its messages.
    pub(super) message: usize,
    from: usize,
    to: usize,
    /// Length of the whole message.
    length: usize,
    /// Bytes of its connection before the message.
    before: usize,
}

/// The distance that counts as near, in bytes per symbol of a block: our own choice. A symbol stands for fewer bytes in content that
/// compresses to no less than a seventh.
const BYTES_PER_SYMBOL: usize = 8;

/// The least distance before a section at which blocks start, where a primed context differs from a compressed one: our own choice, two
/// of the largest windows. A flush after the warm-up would not do, as the message has none there: it breaks a match, after which levels
/// that enter few strings into their hash need some bytes to find another.
const WARM_UP: usize = 2 * WINDOW_MAX;

/// How many bytes zlib is given between two checks for block ends: our own choice.
const STEP: usize = 4096;

impl Section {
    /// Divides all messages above `longest` bytes into sections of `size` bytes, or little less.
    pub(super) fn all(connections: &[Connection<'_>], size: usize, longest: usize) -> Vec<Self> {
        let mut sections = Vec::new();
        for (connection, Connection { messages }) in connections.iter().enumerate() {
            let mut before = 0;
            for (message, bytes) in messages.iter().enumerate() {
                let length = bytes.len();
                if length > longest {
                    let count = length.div_ceil(size);
                    sections.extend((0..count).map(|number| Self {
                        connection,
                        message,
                        from: length * number / count,
                        to: length * (number + 1) / count,
                        length,
                        before,
                    }));
                }
                before += length;
            }
        }
        sections
    }

    pub(super) const fn len(&self) -> usize {
        self.to - self.from
    }

    /// Length of the whole message.
    pub(super) const fn message_len(&self) -> usize {
        self.length
    }

    /// Its bytes.
    pub(super) fn bytes<'a>(&self, connections: &[Connection<'a>]) -> &'a [u8] {
        &self.whole_message(connections)[self.from..self.to]
    }

    /// The message that it is a section of.
    fn whole_message<'a>(&self, connections: &[Connection<'a>]) -> &'a [u8] {
        connections[self.connection].messages[self.message]
    }

    /// Its compressed size at each setting.
    pub(super) fn sizes(
        &self,
        connections: &[Connection<'_>],
        settings: &[Deflate],
        pool: &Pool<'_>,
        share: Range<f64>,
    ) -> Result<BTreeMap<Deflate, OutputSize>, Interrupted> {
        let mut runs: Vec<Deflate> = settings
            .iter()
            .map(|setting| self.equivalent_setting(*setting))
            .collect();
        // The slowest first, so that no thread ends with one.
        runs.sort_by_key(|setting| Reverse((setting.level, setting.window_bits, *setting)));
        runs.dedup();
        let history = self.history(connections);
        let run = |setting: &Deflate| self.size(self.whole_message(connections), &history, *setting);
        let sizes = pool.map(&runs, share, run)?;
        let numbered = (0..).zip(sizes).map(|(stream, size)| OutputSize { size, stream });
        let made: BTreeMap<Deflate, OutputSize> = runs.into_iter().zip(numbered).collect();
        let of_setting = |setting: &Deflate| (*setting, made[&self.equivalent_setting(*setting)]);
        Ok(settings.iter().map(of_setting).collect())
    }

    /// A setting with the same result on this section: earlier messages do not matter where no window reaches them.
    fn equivalent_setting(&self, setting: Deflate) -> Deflate {
        let takeover = setting.takeover && self.before > 0 && self.begin(setting) < WINDOW_MAX;
        Deflate { takeover, ..setting }
    }

    /// Where in the message its first block begins.
    fn begin(&self, setting: Deflate) -> usize {
        let near = BYTES_PER_SYMBOL << (setting.mem_level + 6);
        let is_far = self.from > near && self.length - self.from > near;
        let warming = if is_primed(setting) { 0 } else { WARM_UP };
        self.from
            .saturating_sub(if is_far { warming } else { warming.max(near) })
    }

    /// The history before the message on its connection, as far as any window reaches, cut as a piece's history is.
    fn history(&self, connections: &[Connection<'_>]) -> Vec<u8> {
        let mut wanted = history_length(self.before);
        let mut parts = Vec::new();
        for message in connections[self.connection].messages[..self.message].iter().rev() {
            let part = &message[message.len().saturating_sub(wanted)..];
            wanted -= part.len();
            parts.push(part);
            if wanted == 0 {
                break;
            }
        }
        parts.into_iter().rev().flatten().copied().collect()
    }

    /// Its approximate compressed size at a setting, which is cheaper to compute: as a message of its own, with its history.
    pub(super) fn rough_size(&self, connections: &[Connection<'_>], setting: Deflate) -> u64 {
        let before = self.history(connections);
        let mut encoder = encoder(setting);
        encoder.prime(&history_before(
            self.whole_message(connections),
            self.from,
            &before,
            setting,
        ));
        encoder.compressed_size(self.bytes(connections)) as u64
    }

    fn size(&self, message: &[u8], before: &[u8], setting: Deflate) -> u64 {
        let begin = self.begin(setting);
        let history = history_before(message, begin, before, setting);
        let mut encoder = BlockEncoder::new(setting).expect("settings of a grid are in range");
        if is_primed(setting) {
            encoder.prime(&history);
        } else {
            encoder.warm_up(&history);
        }
        self.share_of_blocks(&mut encoder, &message[begin..], begin).round() as u64
    }

    /// Its compressed size: the sum over blocks, each weighted by the part of it that lies in the section. Blocks start at `begin` in the
    /// message, with `rest`.
    fn share_of_blocks(&self, encoder: &mut BlockEncoder, rest: &[u8], begin: usize) -> f64 {
        let (mut ends, mut bits, mut given) = (Vec::new(), 0.0, 0);
        let mut last = BlockEnd { bytes: 0, bits: 0 };
        for step in rest.chunks(STEP) {
            given += step.len();
            encoder.encode_part(step, given == rest.len(), &mut ends);
            for end in ends.drain(..) {
                bits += (end.bits - last.bits) as f64
                    * self.part_of(begin + last.bytes as usize..begin + end.bytes as usize);
                last = end;
            }
            if begin + last.bytes as usize >= self.to {
                break;
            }
        }
        bits / 8.0
    }

    /// The part of a block that lies in the section. An empty block belongs to the bytes before it.
    fn part_of(&self, block: Range<usize>) -> f64 {
        if block.is_empty() {
            return f64::from(u8::from(self.from < block.end && block.end <= self.to));
        }
        let own = block.end.min(self.to).saturating_sub(block.start.max(self.from));
        own as f64 / block.len() as f64
    }
}

/// The history before a position in a message, as far as any window reaches; `before` is the history of the message.
fn history_before<'a>(message: &'a [u8], position: usize, before: &[u8], setting: Deflate) -> Cow<'a, [u8]> {
    let within = &message[position - history_length(position)..position];
    if setting.takeover {
        Cow::Owned([before, within].concat())
    } else {
        Cow::Borrowed(within)
    }
}
