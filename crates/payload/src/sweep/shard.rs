//! What is a sample drawn from? Shards: runs of messages, and sections of those that are too long to be compressed whole for it.

use super::measure::{Made, sizes};
use super::piece::Cut;
use super::pool::{Pool, Share};
use super::section::Section;
use super::{Connection, Interrupted};
use crate::message_codec::Deflate;
use std::collections::BTreeMap;

/// One of the parts that a transcript is divided into.
#[derive(Debug)]
pub(super) enum Shard {
    /// Messages, whole.
    Messages(Cut),
    /// A part of a long one.
    Section(Section),
}

/// A message is looked at in sections above as many times a shard's size: our own choice. Up to there its blocks lie in a section as they do
/// in the whole.
const LONG: usize = 4;

impl Shard {
    /// All of a transcript, in order, in shards of about `size` octets.
    pub(super) fn all(connections: &[Connection<'_>], size: usize) -> Vec<Self> {
        let longest = size.saturating_mul(LONG);
        let cuts = Cut::up_to(connections, size, longest).into_iter().map(Self::Messages);
        let sections = Section::all(connections, size, longest).into_iter().map(Self::Section);
        let mut shards: Vec<Self> = cuts.chain(sections).collect();
        shards.sort_by_key(Self::begin);
        shards
    }

    /// How much of what it holds a sample leaves out, if it is drawn with this chance. Where the blocks of a section begin is one of many
    /// ways, so that even all sections are a sample.
    pub(super) fn left_out(&self, chance: f64) -> f64 {
        match self {
            Self::Messages(_) => 1.0 - chance,
            Self::Section(_) => 1.0,
        }
    }

    /// The connection and place of its first message.
    fn begin(&self) -> Option<(usize, usize)> {
        match self {
            Self::Messages(cut) => cut.begin(),
            Self::Section(section) => Some((section.connection, section.message)),
        }
    }

    /// Its payload.
    pub(super) fn octets(&self, connections: &[Connection<'_>]) -> usize {
        match self {
            Self::Messages(cut) => cut.runs(connections).flatten().map(|message| message.len()).sum(),
            Self::Section(section) => section.len(),
        }
    }

    /// Octets of the longest of its messages, or of that which it is a section of.
    pub(super) fn longest_message(&self, connections: &[Connection<'_>]) -> usize {
        match self {
            Self::Messages(cut) => {
                let lengths = cut.runs(connections).flatten().map(|message| message.len());
                lengths.max().unwrap_or(0)
            }
            Self::Section(section) => section.of_message(),
        }
    }

    /// Roughly what a setting makes of it, which is sooner found.
    pub(super) fn rough_size(&self, connections: &[Connection<'_>], setting: Deflate) -> u64 {
        match self {
            Self::Messages(cut) => cut.piece(connections).rough_size(setting),
            Self::Section(section) => section.rough_size(connections, setting),
        }
    }

    /// What each setting makes of it within the whole.
    pub(super) fn sizes(
        &self,
        connections: &[Connection<'_>],
        settings: &[Deflate],
        pool: &Pool<'_>,
        share: Share,
    ) -> Result<BTreeMap<Deflate, Made>, Interrupted> {
        match self {
            Self::Messages(cut) => sizes(&cut.piece(connections), settings, pool, share),
            Self::Section(section) => section.sizes(connections, settings, pool, share),
        }
    }
}
