//! The text form of message codecs: parsing and printing.

use super::{Brotli, Deflate, Lz4, Lz4Effort, MessageCodec, Strategy, WindowBits, Zstd};
use std::fmt;
use std::str::FromStr;

impl fmt::Display for MessageCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => return f.write_str("identity"),
            Self::Deflate(settings) => write!(f, "deflate:{settings}")?,
            Self::ZlibRs(settings) => write!(f, "zlib-rs:{settings}")?,
            Self::Zstd(settings) => write!(f, "zstd:{}/w{}", settings.level, settings.window_log)?,
            Self::Brotli(settings) => write!(f, "brotli:{}/w{}", settings.quality, settings.window_bits)?,
            Self::Lz4(settings) => match settings.effort {
                Lz4Effort::Fast { acceleration } => write!(f, "lz4:{acceleration}")?,
                Lz4Effort::High { level } => write!(f, "lz4hc:{level}")?,
            },
        }
        if self.takeover() {
            Ok(())
        } else {
            f.write_str("/no-takeover")
        }
    }
}

impl fmt::Display for Deflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/w{}/m{}", self.level, self.window_bits.get(), self.mem_level)?;
        match self.strategy {
            Strategy::Default => Ok(()),
            other => write!(f, "/{other}"),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Filtered => "filtered",
            Self::HuffmanOnly => "huffman-only",
            Self::Rle => "rle",
            Self::Fixed => "fixed",
        })
    }
}

impl FromStr for MessageCodec {
    type Err = ParseMessageCodecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let error = |problem: String| ParseMessageCodecError {
            found: text.to_owned(),
            problem,
        };
        let mut parts = text.split('/').map(str::trim);
        let head = parts.next().unwrap_or_default();
        let (name, level) = match head.split_once(':') {
            Some((name, level)) => (name.trim_end(), Some(level.trim_start())),
            None => (head, None),
        };
        let mut codec = match name {
            "identity" => Self::Identity,
            "deflate" => Self::Deflate(Deflate::default()),
            "zlib-rs" => Self::ZlibRs(Deflate::default()),
            "zstd" => Self::Zstd(Zstd::default()),
            "brotli" => Self::Brotli(Brotli::default()),
            "lz4" => Self::Lz4(Lz4::default()),
            // lz4hc.h, LZ4HC_CLEVEL_DEFAULT.
            "lz4hc" => Self::Lz4(Lz4 {
                effort: Lz4Effort::High { level: 9 },
                ..Lz4::default()
            }),
            _ => return Err(error(unknown(name))),
        };
        if let Some(level) = level {
            set_level(&mut codec, level).map_err(error)?;
        }
        for part in parts {
            set(&mut codec, part).map_err(error)?;
        }
        codec.check().map_err(|problem| error(problem.to_string()))?;
        Ok(codec)
    }
}

const NAMES: [&str; 7] = ["identity", "deflate", "zlib-rs", "zstd", "brotli", "lz4", "lz4hc"];

fn unknown(name: &str) -> String {
    let nearest = NAMES
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, _)| *distance <= 2)
        .min();
    let hint = nearest.map_or(String::new(), |(_, known)| format!("; did you mean {known:?}?"));
    format!("no codec is called {name:?}{hint} (one of {})", NAMES.join(", "))
}

fn number<T: FromStr>(text: &str, codec: &MessageCodec) -> Result<T, String> {
    text.parse().map_err(|_| {
        format!(
            "{text:?} is not a number that fits here; write it like {}",
            example(codec)
        )
    })
}

fn example(codec: &MessageCodec) -> &'static str {
    match codec {
        MessageCodec::Identity => "\"identity\"",
        MessageCodec::Deflate(_) => {
            "\"deflate:6/w15/m8\", with /filtered, /huffman-only, /rle or /fixed for a strategy, and /no-takeover"
        }
        MessageCodec::ZlibRs(_) => {
            "\"zlib-rs:6/w15/m8\", with /filtered, /huffman-only, /rle or /fixed for a strategy, and /no-takeover"
        }
        MessageCodec::Zstd(_) => "\"zstd:3/w17\", with /no-takeover",
        MessageCodec::Brotli(_) => "\"brotli:5/w18\", with /no-takeover",
        MessageCodec::Lz4(_) => "\"lz4:1\" by acceleration, \"lz4hc:9\" by level, with /no-takeover",
    }
}

fn set_level(codec: &mut MessageCodec, level: &str) -> Result<(), String> {
    let known = *codec;
    match codec {
        MessageCodec::Identity => return Err(format!("it has no level; write it like {}", example(&known))),
        MessageCodec::Deflate(settings) | MessageCodec::ZlibRs(settings) => settings.level = number(level, &known)?,
        MessageCodec::Zstd(settings) => settings.level = number(level, &known)?,
        MessageCodec::Brotli(settings) => settings.quality = number(level, &known)?,
        MessageCodec::Lz4(settings) => match &mut settings.effort {
            Lz4Effort::Fast { acceleration } => *acceleration = number(level, &known)?,
            Lz4Effort::High { level: effort } => *effort = number(level, &known)?,
        },
    }
    Ok(())
}

/// Applies one of the parts after a slash.
fn set(codec: &mut MessageCodec, part: &str) -> Result<(), String> {
    let known = *codec;
    match (part, part.split_at_checked(1)) {
        ("takeover" | "no-takeover", _) if known != MessageCodec::Identity => {
            *codec = known.with_takeover(part == "takeover");
            return Ok(());
        }
        (_, Some(("w", bits))) => match codec {
            MessageCodec::Deflate(settings) | MessageCodec::ZlibRs(settings) => {
                settings.window_bits = WindowBits::new(number(bits, &known)?)
                    .ok_or_else(|| format!("the window bits {bits} are out of range; use 8 to 15"))?;
                return Ok(());
            }
            MessageCodec::Zstd(settings) => {
                settings.window_log = number(bits, &known)?;
                return Ok(());
            }
            MessageCodec::Brotli(settings) => {
                settings.window_bits = number(bits, &known)?;
                return Ok(());
            }
            MessageCodec::Identity | MessageCodec::Lz4(_) => {}
        },
        (_, parts) => {
            if let MessageCodec::Deflate(settings) | MessageCodec::ZlibRs(settings) = codec {
                if let Some(strategy) = Strategy::ALL.into_iter().find(|known| known.to_string() == part) {
                    settings.strategy = strategy;
                    return Ok(());
                }
                if let Some(("m", level)) = parts {
                    settings.mem_level = number(level, &known)?;
                    return Ok(());
                }
            }
        }
    }
    Err(format!("it has no setting {part:?}; write it like {}", example(&known)))
}

impl serde::Serialize for MessageCodec {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for MessageCodec {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Text that is not a message codec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a message codec: {problem}")]
pub struct ParseMessageCodecError {
    found: String,
    problem: String,
}
