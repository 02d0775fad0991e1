//! How many octets does a part of a long message become, at each of some settings? A sample need not compress all of a message of
//! megabytes to say so.
//!
//! A long message is a row of deflate blocks, each of which ends where zlib's buffer of symbols is full (`deflate_state`,
//! `sym_end`), and begins with a description of its codes that all of it pays for. A section's share of a message is that of
//! the blocks that it lies in: of each, by how many of the block's octets are the section's.
//!
//! Where its first block begins decides on all others. Near the beginning of a message that is where the message begins, as in the
//! whole; far into it, blocks may begin anywhere, and do so at the section. Near its end they are begun some way before the
//! section, or each of the last sections would pay for a block of its own that the message's end cuts short.

use super::grid::encoder;
use super::measure::{Made, is_primed};
use super::piece::{WINDOW_MAX, kept};
use super::pool::{Pool, Share};
use super::{Connection, Interrupted};
use crate::message_codec::{BlockEncoder, BlockEnd, Deflate};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// A part of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    /// In the list of connections.
    pub(super) connection: usize,
    /// In the list of its messages.
    pub(super) message: usize,
    from: usize,
    to: usize,
    /// Octets of the message.
    length: usize,
    /// Octets of its connection before the message.
    before: usize,
}

/// What is near, in octets for each symbol of a block: our own choice. A symbol stands for fewer octets in what is no smaller than
/// a seventh once compressed.
const OCTETS_A_SYMBOL: usize = 8;

/// How far before a section blocks are begun at least where a context is not the same once it is primed: our own choice, two of the
/// largest windows. A flush behind it would not do where there is none in the message: it breaks a match, after which levels that enter
/// few strings into their hash need some octets to find another.
const WARMING: usize = 2 * WINDOW_MAX;

/// How many octets zlib is given before its blocks are looked at: our own choice.
const STEP: usize = 4096;

impl Section {
    /// All messages above `longest` octets, in sections of `size` octets, or little less.
    pub(super) fn all(connections: &[Connection<'_>], size: usize, longest: usize) -> Vec<Self> {
        let mut sections = Vec::new();
        for (connection, Connection { messages }) in connections.iter().enumerate() {
            let mut before = 0;
            for (message, octets) in messages.iter().enumerate() {
                let length = octets.len();
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

    /// Octets of the message.
    pub(super) const fn of_message(&self) -> usize {
        self.length
    }

    /// Its octets.
    pub(super) fn of<'a>(&self, connections: &[Connection<'a>]) -> &'a [u8] {
        &self.whole(connections)[self.from..self.to]
    }

    /// The message that it is a part of.
    fn whole<'a>(&self, connections: &[Connection<'a>]) -> &'a [u8] {
        connections[self.connection].messages[self.message]
    }

    /// What each setting makes of it.
    pub(super) fn sizes(
        &self,
        connections: &[Connection<'_>],
        settings: &[Deflate],
        pool: &Pool<'_>,
        share: Share,
    ) -> Result<BTreeMap<Deflate, Made>, Interrupted> {
        let mut runs: Vec<Deflate> = settings.iter().map(|setting| self.stand_in(*setting)).collect();
        // Those that take the longest first, so that no thread ends with one.
        runs.sort_by_key(|setting| Reverse((setting.level, setting.window_bits, *setting)));
        runs.dedup();
        let history = self.history(connections);
        let run = |setting: &Deflate| self.size(self.whole(connections), &history, *setting);
        let sizes = pool.map(&runs, share, run)?;
        let numbered = (0..).zip(sizes).map(|(stream, size)| Made { size, stream });
        let made: BTreeMap<Deflate, Made> = runs.into_iter().zip(numbered).collect();
        let of_setting = |setting: &Deflate| (*setting, made[&self.stand_in(*setting)]);
        Ok(settings.iter().map(of_setting).collect())
    }

    /// A setting that makes the same of this section: what went before a message has no say where no window reaches it.
    fn stand_in(&self, setting: Deflate) -> Deflate {
        let takeover = setting.takeover && self.before > 0 && self.begin(setting) < WINDOW_MAX;
        Deflate { takeover, ..setting }
    }

    /// Where in the message its first block begins.
    fn begin(&self, setting: Deflate) -> usize {
        let near = OCTETS_A_SYMBOL << (setting.mem_level + 6);
        let is_far = self.from > near && self.length - self.from > near;
        let warming = if is_primed(setting) { 0 } else { WARMING };
        self.from
            .saturating_sub(if is_far { warming } else { warming.max(near) })
    }

    /// As much of what went before the message on its connection as any window reaches, cut as a piece's is.
    fn history(&self, connections: &[Connection<'_>]) -> Vec<u8> {
        let mut wanted = kept(self.before);
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

    /// Roughly what a setting makes of it, which is sooner found: as a message of its own, with what went before it.
    pub(super) fn rough_size(&self, connections: &[Connection<'_>], setting: Deflate) -> u64 {
        let before = self.history(connections);
        let mut encoder = encoder(setting);
        encoder.prime(&preceding(self.whole(connections), self.from, &before, setting));
        encoder.coded_size(self.of(connections)) as u64
    }

    fn size(&self, message: &[u8], before: &[u8], setting: Deflate) -> u64 {
        let begin = self.begin(setting);
        let history = preceding(message, begin, before, setting);
        let mut encoder = BlockEncoder::new(setting).expect("settings of a grid are in range");
        if is_primed(setting) {
            encoder.prime(&history);
        } else {
            encoder.warm_up(&history);
        }
        self.share_of_blocks(&mut encoder, &message[begin..], begin).round() as u64
    }

    /// Its octets, once coded: of each block, by how much of it is the section's. Blocks begin at `begin` in the message, with `rest`.
    fn share_of_blocks(&self, encoder: &mut BlockEncoder, rest: &[u8], begin: usize) -> f64 {
        let (mut ends, mut bits, mut given) = (Vec::new(), 0.0, 0);
        let mut last = BlockEnd { octets: 0, bits: 0 };
        for step in rest.chunks(STEP) {
            given += step.len();
            encoder.encode_part(step, given == rest.len(), &mut ends);
            for end in ends.drain(..) {
                bits += (end.bits - last.bits) as f64
                    * self.part_of(begin + last.octets as usize..begin + end.octets as usize);
                last = end;
            }
            if begin + last.octets as usize >= self.to {
                break;
            }
        }
        bits / 8.0
    }

    /// Which part of a block is the section's. What comes without octets is of those before it.
    fn part_of(&self, block: Range<usize>) -> f64 {
        if block.is_empty() {
            return f64::from(u8::from(self.from < block.end && block.end <= self.to));
        }
        let own = block.end.min(self.to).saturating_sub(block.start.max(self.from));
        own as f64 / block.len() as f64
    }
}

/// What goes before a place in a message, as far as any window reaches: `before` went before the message.
fn preceding<'a>(message: &'a [u8], place: usize, before: &[u8], setting: Deflate) -> Cow<'a, [u8]> {
    let within = &message[place - kept(place)..place];
    if setting.takeover {
        Cow::Owned([before, within].concat())
    } else {
        Cow::Borrowed(within)
    }
}
