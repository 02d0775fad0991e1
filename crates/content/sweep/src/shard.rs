//! Shards, the units of a sample: runs of messages, and sections of messages that are too long to be compressed whole.

use super::distinct_outputs::{OutputSize, sizes};
use super::section::Section;
use super::work_unit::PiecePlan;
use super::workers::Pool;
use super::{Connection, Interrupted};
use lastmile_codec::message::Deflate;
use std::collections::BTreeMap;
use std::ops::Range;

/// One of the units that a transcript is divided into.
#[derive(Debug)]
pub(super) enum Shard {
    /// Whole messages.
    Messages(PiecePlan),
    /// A section of a long message.
    Section(Section),
}

/// A message longer than this many times a shard's size is divided into sections: our own choice. In shorter messages, blocks lie as they
/// do in the whole stream.
const LONG: usize = 4;

impl Shard {
    /// Divides a transcript, in order, into shards of about `size` bytes.
    pub(super) fn all(connections: &[Connection<'_>], size: usize) -> Vec<Self> {
        let longest = size.saturating_mul(LONG);
        let cuts = PiecePlan::up_to(connections, size, longest)
            .into_iter()
            .map(Self::Messages);
        let sections = Section::all(connections, size, longest).into_iter().map(Self::Section);
        let mut shards: Vec<Self> = cuts.chain(sections).collect();
        shards.sort_by_key(Self::begin);
        shards
    }

    /// How much of the shard's contents a sample leaves out, if the shard is drawn with this chance. The blocks of a section may begin at
    /// many positions, so even the set of all sections is a sample.
    pub(super) fn left_out(&self, chance: f64) -> f64 {
        match self {
            Self::Messages(_) => 1.0 - chance,
            Self::Section(_) => 1.0,
        }
    }

    /// The connection and index of its first message.
    fn begin(&self) -> Option<(usize, usize)> {
        match self {
            Self::Messages(cut) => cut.begin(),
            Self::Section(section) => Some((section.connection, section.message)),
        }
    }

    /// The size of its payload.
    pub(super) fn payload_bytes(&self, connections: &[Connection<'_>]) -> usize {
        match self {
            Self::Messages(cut) => cut.runs(connections).flatten().map(|message| message.len()).sum(),
            Self::Section(section) => section.len(),
        }
    }

    /// The length of its longest message, or of the message that it is a section of.
    pub(super) fn longest_message(&self, connections: &[Connection<'_>]) -> usize {
        match self {
            Self::Messages(cut) => {
                let lengths = cut.runs(connections).flatten().map(|message| message.len());
                lengths.max().unwrap_or(0)
            }
            Self::Section(section) => section.message_len(),
        }
    }

    /// Its approximate compressed size at a setting, which is cheaper to compute.
    pub(super) fn rough_size(&self, connections: &[Connection<'_>], setting: Deflate) -> u64 {
        match self {
            Self::Messages(cut) => cut.piece(connections).rough_size(setting),
            Self::Section(section) => section.rough_size(connections, setting),
        }
    }

    /// Its compressed size within the whole stream, at each setting.
    pub(super) fn sizes(
        &self,
        connections: &[Connection<'_>],
        settings: &[Deflate],
        pool: &Pool<'_>,
        share: Range<f64>,
    ) -> Result<BTreeMap<Deflate, OutputSize>, Interrupted> {
        match self {
            Self::Messages(cut) => sizes(&cut.piece(connections), settings, pool, share),
            Self::Section(section) => section.sizes(connections, settings, pool, share),
        }
    }
}
