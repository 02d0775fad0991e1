//! How is a codec for messages written as text?

use super::{Deflate, MessageCodec, Strategy, WindowBits};
use std::fmt;
use std::str::FromStr;

impl fmt::Display for MessageCodec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => return f.write_str("identity"),
            Self::Deflate(settings) => write!(f, "deflate:{settings}")?,
            Self::ZlibRs(settings) => write!(f, "zlib-rs:{settings}")?,
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

const NAMES: [&str; 3] = ["identity", "deflate", "zlib-rs"];

fn unknown(name: &str) -> String {
    let nearest = NAMES
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, _)| *distance <= 2)
        .min();
    let hint = nearest.map_or(String::new(), |(_, known)| format!("; did you mean {known:?}?"));
    format!("none is called {name:?}{hint} (one of {})", NAMES.join(", "))
}

fn number(text: &str) -> Result<u8, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a number from 0 to 255; write it like \"deflate:6/w15/m8\""))
}

fn set_level(codec: &mut MessageCodec, level: &str) -> Result<(), String> {
    match codec {
        MessageCodec::Identity => Err("identity has no level; write it like \"identity\"".to_owned()),
        MessageCodec::Deflate(settings) | MessageCodec::ZlibRs(settings) => {
            settings.level = number(level)?;
            Ok(())
        }
    }
}

/// Sets one of what stands behind the slashes.
fn set(codec: &mut MessageCodec, part: &str) -> Result<(), String> {
    match part {
        "no-takeover" => {
            *codec = codec.with_takeover(false);
            return Ok(());
        }
        "takeover" => {
            *codec = codec.with_takeover(true);
            return Ok(());
        }
        _ => {}
    }
    match codec {
        MessageCodec::Identity => Err(format!("identity has no setting {part:?}; write it like \"identity\"")),
        MessageCodec::Deflate(settings) | MessageCodec::ZlibRs(settings) => set_deflate(settings, part),
    }
}

fn set_deflate(settings: &mut Deflate, part: &str) -> Result<(), String> {
    if let Some(bits) = part.strip_prefix('w') {
        settings.window_bits = WindowBits::new(number(bits)?)
            .ok_or_else(|| format!("the window bits {bits} are out of range; take them from 8 to 15"))?;
    } else if let Some(strategy) = Strategy::ALL.into_iter().find(|known| known.to_string() == part) {
        settings.strategy = strategy;
    } else if let Some(level) = part.strip_prefix('m') {
        settings.mem_level = number(level)?;
    } else {
        return Err(format!(
            "it has no setting {part:?}; write it like \"deflate:6/w15/m8\", with /filtered, /huffman-only, /rle or /fixed for a \
             strategy, and /no-takeover"
        ));
    }
    Ok(())
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

/// Text that names no codec for messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a message codec: {problem}")]
pub struct ParseMessageCodecError {
    found: String,
    problem: String,
}
