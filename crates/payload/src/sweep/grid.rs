//! Which settings are swept, and what is found of each?

use super::estimate::Interval;
use crate::message_codec::{Deflate, MessageCodec, MessageEncoder, Strategy, WindowBits};
use lastmile_units::Bytes;
use std::collections::BTreeMap;

/// The settings that are swept: each of every axis with each of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// Whether messages may refer to those before them.
    pub takeover: Vec<bool>,
    /// 8 to 15.
    pub window_bits: Vec<WindowBits>,
    /// 0 to 9.
    pub levels: Vec<u8>,
    /// 1 to 9.
    pub mem_levels: Vec<u8>,
    /// What zlib is told of the data.
    pub strategies: Vec<Strategy>,
}

impl Default for Grid {
    /// The 1,440 settings: all but the strategies other than zlib's own.
    fn default() -> Self {
        Self {
            takeover: vec![false, true],
            window_bits: WindowBits::all().collect(),
            levels: (0..=9).collect(),
            mem_levels: (1..=9).collect(),
            strategies: vec![Strategy::Default],
        }
    }
}

impl Grid {
    /// Every setting: by takeover, then window bits, level, mem level, strategy, each in the order of its axis.
    pub fn settings(&self) -> Vec<Deflate> {
        let mut settings = Vec::new();
        for &takeover in &self.takeover {
            for &window_bits in &self.window_bits {
                for &level in &self.levels {
                    for &mem_level in &self.mem_levels {
                        settings.extend(self.strategies.iter().map(|&strategy| Deflate {
                            takeover,
                            window_bits,
                            level,
                            mem_level,
                            strategy,
                        }));
                    }
                }
            }
        }
        settings
    }
}

/// What is found of a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The setting as it was asked for; [`WindowBits::runs_as`] says what it runs as.
    pub setting: Deflate,
    /// Octets of all messages, coded, without headers of frames; of a sample, what is estimated for the whole.
    pub compressed: Bytes,
    /// Coded by uncoded octets of all messages; 1 where there are none.
    pub ratio: f64,
    /// Where the ratio of the whole lies, with 95 % confidence. None where it was counted, and is exact.
    pub ratio_ci95: Option<Interval>,
    /// Octets that an encoder holds, one direction of one connection.
    pub memory: Bytes,
}

/// What a sweep finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// Every point, in the order of [`Grid::settings`].
    pub points: Vec<Point>,
    /// How many octets of payload were compressed, where points are estimates.
    pub sampled: Option<Bytes>,
    /// How many different streams the points stand for, as far as they are known to be the same without a look at the octets. Of a
    /// sample, in the shards that were compressed at every setting.
    pub distinct_streams: usize,
}

/// What encoders of these settings hold, by window bits and mem level: the level and strategy have no say in what
/// `deflateInit2` allocates.
pub(super) struct Memory(BTreeMap<(WindowBits, u8), Bytes>);

impl Memory {
    pub(super) fn of(settings: &[Deflate]) -> Self {
        let mut memory = BTreeMap::new();
        for setting in settings {
            memory
                .entry((setting.window_bits.runs_as(), setting.mem_level))
                .or_insert_with(|| encoder(*setting).memory());
        }
        Self(memory)
    }

    pub(super) fn at(&self, setting: Deflate) -> Bytes {
        self.0[&(setting.window_bits.runs_as(), setting.mem_level)]
    }
}

/// An encoder of stock zlib.
///
/// # Panics
/// When a setting is out of range.
pub(super) fn encoder(setting: Deflate) -> MessageEncoder {
    MessageEncoder::new(&MessageCodec::Deflate(setting), None).expect("settings of a grid are in range")
}
