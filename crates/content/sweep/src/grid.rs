//! The grid of settings that a sweep covers, and the result for each.

use lastmile_codec::message::{Deflate, MessageCodec, MessageEncoder, Strategy, WindowBits};
use lastmile_units::ByteCount;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The settings of a sweep: the product of all axes.
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
    /// zlib's strategies.
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

/// The result for one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The setting as requested; [`WindowBits::runs_as`] says what it runs as. It is not stored: the grid says it.
    #[serde(skip)]
    pub setting: Deflate,
    /// Compressed size of all messages, without frame headers; from a sample, the estimate for the whole.
    pub compressed: ByteCount,
    /// The compression ratio: compressed size by original size of all messages; 1 where there are none.
    pub ratio: f64,
    /// The 95 % confidence interval of the whole's ratio. None where the ratio is exact.
    pub ratio_ci95: Option<[f64; 2]>,
    /// Memory that an encoder uses, per direction of a connection.
    pub memory: ByteCount,
}

/// The result of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepResult {
    /// Every point, in the order of [`Grid::settings`].
    pub points: Vec<Point>,
    /// The payload that was compressed, where points are estimates.
    pub sampled: Option<ByteCount>,
    /// The number of different streams that the points stand for, as far as streams are known to be equal without comparing bytes. In a
    /// sample, counted over the shards that were compressed at every setting.
    pub distinct_streams: usize,
}

/// Memory of encoders by window bits and mem level: level and strategy do not change what `deflateInit2` allocates.
pub(super) struct Memory(BTreeMap<(WindowBits, u8), ByteCount>);

impl Memory {
    pub(super) fn new(settings: &[Deflate]) -> Self {
        let mut memory = BTreeMap::new();
        for setting in settings {
            memory
                .entry((setting.window_bits.runs_as(), setting.mem_level))
                .or_insert_with(|| encoder(*setting).memory());
        }
        Self(memory)
    }

    pub(super) fn at(&self, setting: Deflate) -> ByteCount {
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
