//! HTTP's content codings, their levels, and their text form.
//!
//! [`CodecSpec`] is a coding at a level, written like `gzip:6`. [`Encoder`] and [`Decoder`] stream bytes through it.
//! Which coding a response gets, and when, is left to the filter.
//!
//! **Levels are not comparable across back ends**: level 1 of one gzip implementation may take half the time of another's and
//! produce a fifth more bytes. State the [`back_end`] with every figure, and give size and time together.

mod back_end;
mod brotli;
mod decoder;
mod deflate;
mod encoder;
mod whole;
mod zstd;

pub use decoder::{DecodeError, Decoder, decode};
pub use encoder::{Encoder, encode, encoded_size};
pub use whole::WholeEncoder;

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A content coding of HTTP (RFC 9110 section 8.4.1; br is RFC 7932, zstd is RFC 8878).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Coding {
    /// No coding.
    Identity,
    /// The gzip format (RFC 1952). Headers have no name and a modification time of 0, so that the same input gives the same bytes.
    Gzip,
    /// HTTP's deflate, which is the zlib format (RFC 9110 section 8.4.1.2, RFC 1950), not a raw deflate stream.
    Deflate,
    /// Brotli, with a window of 4 MiB less 16 B (2^22 - 16; the default of servers and of the reference encoder).
    Brotli,
    /// Zstandard, at every level with a window of at most 8 MiB, as HTTP requires (RFC 9659 section 3).
    Zstd,
}

impl Coding {
    /// Every coding, identity first.
    pub const ALL: [Self; 5] = [Self::Identity, Self::Gzip, Self::Deflate, Self::Brotli, Self::Zstd];

    /// Its token in `Accept-Encoding` and `Content-Encoding`.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The coding of a token, in upper or lower case; `x-gzip` is gzip (RFC 9110 section 8.4.1.3). None where it is not one of ours.
    pub fn from_token(token: &str) -> Option<Self> {
        if token.eq_ignore_ascii_case("x-gzip") {
            return Some(Self::Gzip);
        }
        Self::ALL
            .into_iter()
            .find(|coding| coding.token().eq_ignore_ascii_case(token))
    }

    /// The levels it has, from fastest to smallest; none for identity. Level 0 of gzip and deflate only stores, and zstd's
    /// negative levels are not offered.
    pub const fn levels(self) -> Option<RangeInclusive<u8>> {
        match self {
            Self::Identity => None,
            Self::Gzip | Self::Deflate => Some(1..=9),
            Self::Brotli => Some(0..=11),
            Self::Zstd => Some(1..=22),
        }
    }

    /// The level where none is written: the defaults of zlib (6), Apache's mod_brotli (5) and zstd (3).
    pub const fn default_level(self) -> u8 {
        match self {
            Self::Identity => 0,
            Self::Gzip | Self::Deflate => 6,
            Self::Brotli => 5,
            Self::Zstd => 3,
        }
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.token())
    }
}

/// A coding at a level, written `identity`, `gzip:6`, `deflate:6`, `br:5`, `zstd:3`; without a level, the coding's default.
///
/// ```
/// use lastmile_codec::content::CodecSpec;
/// let codec: CodecSpec = "gzip".parse().unwrap();
/// assert_eq!(codec.to_string(), "gzip:6");
/// assert_eq!(codec.content_coding(), "gzip");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodecSpec {
    coding: Coding,
    level: u8,
}

impl CodecSpec {
    /// No coding at all.
    pub const IDENTITY: Self = Self {
        coding: Coding::Identity,
        level: 0,
    };

    /// A coding at its default level.
    pub const fn with_default_level(coding: Coding) -> Self {
        Self {
            coding,
            level: coding.default_level(),
        }
    }

    /// A coding at a level; identity has only level 0.
    ///
    /// # Errors
    /// When the coding has no such level.
    pub fn new(coding: Coding, level: u8) -> Result<Self, ParseCodecError> {
        let spec = Self { coding, level };
        let known = coding.levels().map_or(level == 0, |levels| levels.contains(&level));
        if known {
            Ok(spec)
        } else {
            Err(ParseCodecError::level(&format!("{coding}:{level}"), coding))
        }
    }

    /// Identity, then every level of every coding.
    pub fn all() -> impl Iterator<Item = Self> {
        Coding::ALL.into_iter().flat_map(|coding| {
            coding
                .levels()
                .unwrap_or(0..=0)
                .map(move |level| Self { coding, level })
        })
    }

    /// The coding.
    pub const fn coding(self) -> Coding {
        self.coding
    }

    /// The level, on the coding's own scale; 0 for identity.
    pub const fn level(self) -> u8 {
        self.level
    }

    /// The coding's token in HTTP.
    pub const fn content_coding(self) -> &'static str {
        self.coding.token()
    }

    /// Whether it is identity, which does not change the bytes.
    pub const fn is_identity(self) -> bool {
        matches!(self.coding, Coding::Identity)
    }
}

impl fmt::Display for CodecSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.coding.levels() {
            None => write!(f, "{}", self.coding),
            Some(_) => write!(f, "{}:{}", self.coding, self.level),
        }
    }
}

impl FromStr for CodecSpec {
    type Err = ParseCodecError;

    fn from_str(text: &str) -> Result<Self, ParseCodecError> {
        let (name, level) = match text.trim().split_once(':') {
            Some((name, level)) => (name.trim_end(), Some(level.trim_start())),
            None => (text.trim(), None),
        };
        let coding = Coding::from_token(name).ok_or_else(|| ParseCodecError::name(text, name))?;
        match level {
            None => Ok(Self::with_default_level(coding)),
            Some(level) => match (level.parse::<u8>(), coding) {
                (Ok(level), Coding::Gzip | Coding::Deflate | Coding::Brotli | Coding::Zstd) => {
                    Self::new(coding, level).map_err(|_| ParseCodecError::level(text, coding))
                }
                _ => Err(ParseCodecError::level(text, coding)),
            },
        }
    }
}

impl serde::Serialize for CodecSpec {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for CodecSpec {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Text that is not a codec.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not a codec: {problem}")]
pub struct ParseCodecError {
    found: String,
    problem: String,
}

impl ParseCodecError {
    fn name(found: &str, name: &str) -> Self {
        let names = Coding::ALL.map(Coding::token);
        // Other names in use for a coding, and its token in HTTP.
        let said_otherwise = [
            ("brotli", "br"),
            ("gz", "gzip"),
            ("zlib", "deflate"),
            ("zst", "zstd"),
            ("none", "identity"),
        ];
        let near = said_otherwise.into_iter().chain(names.map(|name| (name, name)));
        let nearest = near
            .map(|(said, token)| (strsim::damerau_levenshtein(said, &name.to_ascii_lowercase()), token))
            .filter(|(distance, _)| *distance <= 2)
            .min_by_key(|(distance, _)| *distance);
        let hint = nearest.map_or(String::new(), |(_, token)| format!("; did you mean {token:?}?"));
        let problem = format!(
            "no content coding is called {name:?}{hint} (one of {})",
            names.join(", ")
        );
        Self {
            found: found.to_owned(),
            problem,
        }
    }

    fn level(found: &str, coding: Coding) -> Self {
        let problem = match coding.levels() {
            None => format!("{coding} has no levels; write it like \"{coding}\""),
            Some(levels) => format!(
                "{coding} has the levels {} to {}; write it like \"{}\"",
                levels.start(),
                levels.end(),
                CodecSpec::with_default_level(coding)
            ),
        };
        Self {
            found: found.to_owned(),
            problem,
        }
    }
}

/// The library behind a coding, as named in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BackEnd {
    /// The library: `zlib-rs`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl fmt::Display for BackEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// The library behind a coding; none for identity.
pub fn back_end(coding: Coding) -> Option<BackEnd> {
    match coding {
        Coding::Identity => None,
        Coding::Gzip | Coding::Deflate => Some(BackEnd {
            name: "zlib-rs",
            version: deflate::VERSION,
        }),
        Coding::Brotli => Some(BackEnd {
            name: "rust-brotli",
            version: brotli::VERSION,
        }),
        Coding::Zstd => Some(BackEnd {
            name: "libzstd",
            version: zstd::version(),
        }),
    }
}

#[cfg(test)]
mod tests;
