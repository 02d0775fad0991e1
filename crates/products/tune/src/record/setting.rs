//! The parameters of permessage-deflate (RFC 7692), and how they are named in text.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parameters of permessage-deflate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Deflate {
    /// Whether a message may refer to earlier ones (context takeover, RFC 7692 section 7.1.1).
    pub takeover: bool,
    /// The window requested, as a power of two bytes: 8 to 15.
    pub window_bits: u8,
    /// How hard to search: 0 (stored) to 9.
    pub level: u8,
    /// The size of hash table and symbol buffer: 1 to 9.
    pub mem_level: u8,
    /// What kind of matches to look for.
    pub strategy: Strategy,
}

impl Deflate {
    /// zlib's default: takeover, 15 window bits, level 6, mem level 8.
    pub const DEFAULT: Self = Self {
        takeover: true,
        window_bits: 15,
        level: 6,
        mem_level: 8,
        strategy: Strategy::Default,
    };

    /// The setting as text: `deflate:6/w15/m8`, `deflate:6/w11/m4/filtered/no-takeover`.
    pub fn setting(&self) -> String {
        let strategy = match self.strategy {
            Strategy::Default => String::new(),
            other => format!("/{}", other.name()),
        };
        let takeover = if self.takeover { "" } else { "/no-takeover" };
        format!(
            "deflate:{}/w{}/m{}{strategy}{takeover}",
            self.level, self.window_bits, self.mem_level
        )
    }
}

/// zlib's strategies (zlib.h, `deflateInit2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// For most data.
    Default,
    /// For data from a filter: more Huffman coding, fewer matches.
    Filtered,
    /// No matches.
    HuffmanOnly,
    /// Matches at distance one only.
    Rle,
    /// Fixed Huffman codes, none made for the data.
    Fixed,
}

impl Strategy {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Filtered => "filtered",
            Self::HuffmanOnly => "huffman-only",
            Self::Rle => "rle",
            Self::Fixed => "fixed",
        }
    }
}
