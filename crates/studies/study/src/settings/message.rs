//! The settings of message compression, one by one, so that each can be a factor, and the codec that they make together.
//!
//! They apply to every delivery that carries messages.

use super::Settings;
use super::choice::{choice, display_as_content, serialize_as_text};
use lastmile_codec::message::Kind;
use lastmile_codec::message::{self, Deflate, MessageCodec, Policy};
use lastmile_units::{ByteCount, duration};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::time::Duration;

/// Whether a message may refer to those before it: `"on"` or `"off"`; `true` and `false` are read as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takeover(pub bool);

impl fmt::Display for Takeover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 { "on" } else { "off" })
    }
}

impl<'de> Deserialize<'de> for Takeover {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(from)? {
            toml::Value::Boolean(on) => Ok(Self(on)),
            toml::Value::String(text) if text == "on" => Ok(Self(true)),
            toml::Value::String(text) if text == "off" => Ok(Self(false)),
            other => Err(serde::de::Error::custom(format!(
                "{other} is neither \"on\" nor \"off\""
            ))),
        }
    }
}

/// Declares a setting that is a whole number within bounds.
macro_rules! number {
    ($(#[$about:meta])+ $type:ident, $least:literal to $most:literal, $name:literal) => {
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $type(u8);

        impl $type {
            /// The number.
            pub const fn get(self) -> u8 {
                self.0
            }
        }

        display_as_content!($type);

        impl super::SettingType for $type {
            fn domain() -> super::Domain {
                super::Domain::Written {
                    what: concat!("whole number from ", $least, " to ", $most),
                    examples: &[stringify!($most)],
                }
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let found = i64::deserialize(from)?;
                u8::try_from(found)
                    .ok()
                    .filter(|number| ($least..=$most).contains(number))
                    .map(Self)
                    .ok_or_else(|| {
                        serde::de::Error::custom(format!(concat!(
                            "{} is not a valid ", $name, "; use a whole number from ", $least, " to ", $most
                        ), found))
                    })
            }
        }
    };
}

number! {
    /// log2 of deflate's window in bytes, as RFC 7692 negotiates it; 8 runs as 9.
    WindowBits, 8 to 15, "number of window bits"
}

number! {
    /// How hard deflate searches for repetition; 0 only stores.
    Level, 0 to 9, "compression level"
}

number! {
    /// How much memory deflate uses for finding repetition and for the symbols of a block.
    MemLevel, 1 to 9, "mem level"
}

/// The kind of data that deflate expects: `"default"`, `"filtered"`, `"huffman-only"`, `"rle"`, `"fixed"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strategy(pub message::Strategy);

impl<'de> Deserialize<'de> for Strategy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let known = message::Strategy::ALL;
        known
            .into_iter()
            .find(|strategy| strategy.to_string() == name)
            .map(Self)
            .ok_or_else(|| {
                let names = known.map(|strategy| strategy.to_string());
                serde::de::Error::custom(format!("{name:?} is not a strategy; use one of {}", names.join(", ")))
            })
    }
}

/// The number of bytes of a message after which it is flushed, so that they can be sent and read before the rest arrives; `"none"`
/// where each message is one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment(pub Option<ByteCount>);

impl fmt::Display for Fragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(bytes) => bytes.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Fragment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let refused = serde::de::Error::custom::<String>;
        match String::deserialize(from)?.as_str() {
            "none" => Ok(Self(None)),
            text => match ByteCount::parse(text) {
                Ok(ByteCount::ZERO) => Err(refused(
                    "a fragment has at least one byte; write \"none\" for whole messages".into(),
                )),
                Ok(bytes) => Ok(Self(Some(bytes))),
                Err(error) => Err(refused(format!("{error}, or \"none\" for whole messages"))),
            },
        }
    }
}

/// The time without a message after which a compressor resets its context, so that its memory can be freed meanwhile; `"never"` where
/// it is kept for as long as the connection lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetAfterIdle(pub Option<Duration>);

impl fmt::Display for ResetAfterIdle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("never"),
            Some(idle) => f.write_str(&duration::print(idle)),
        }
    }
}

impl<'de> Deserialize<'de> for ResetAfterIdle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "never" => Ok(Self(None)),
            text => match duration::parse(text) {
                Ok(Duration::ZERO) => Err(serde::de::Error::custom(
                    "an idle time of 0 would reset the context at every message; write context_takeover = \"off\" for that",
                )),
                Ok(idle) => Ok(Self(Some(idle))),
                Err(error) => Err(serde::de::Error::custom(format!(
                    "{error}, or \"never\" to keep the context"
                ))),
            },
        }
    }
}

choice! {
    /// The kind of messages that is sent uncompressed.
    Uncompressed {
        /// Every message is compressed.
        None = "none",
        /// Binary messages are not compressed, since they often hold media that are already compressed.
        Binary = "binary",
        /// Text messages are not compressed.
        Text = "text",
    }
}

impl Uncompressed {
    /// The kind.
    pub const fn kind(self) -> Option<Kind> {
        match self {
            Self::None => None,
            Self::Binary => Some(Kind::Binary),
            Self::Text => Some(Kind::Text),
        }
    }
}

impl Settings {
    /// The codec that the settings of messages make together.
    ///
    /// # Errors
    /// A message for the writer of the study, where a setting of deflate is given for another codec.
    pub fn resolve_message_codec(&self) -> Result<MessageCodec, String> {
        let mut codec = self.message_codec.unwrap_or(MessageCodec::Deflate(Deflate::default()));
        if let Some(Takeover(takeover)) = self.context_takeover {
            codec = codec.with_takeover(takeover);
        }
        match &mut codec {
            MessageCodec::Deflate(deflate) | MessageCodec::ZlibRs(deflate) => {
                if let Some(bits) = self.window_bits.and_then(|bits| message::WindowBits::new(bits.get())) {
                    deflate.window_bits = bits;
                }
                deflate.level = self.compression_level.map_or(deflate.level, Level::get);
                deflate.mem_level = self.mem_level.map_or(deflate.mem_level, MemLevel::get);
                deflate.strategy = self.strategy.map_or(deflate.strategy, |strategy| strategy.0);
            }
            other => {
                if let Some(key) = self.first_set(&["window_bits", "compression_level", "mem_level", "strategy"]) {
                    return Err(format!(
                        "{key} is a setting of deflate, but message_codec is {other}; remove it, or write it into message_codec"
                    ));
                }
            }
        }
        Ok(codec)
    }

    /// The sender's policy, which decides message by message.
    pub fn sender_policy(&self) -> Policy {
        Policy {
            skip: self.uncompressed().kind(),
            threshold: self.compression_threshold(),
            fragment: self.fragment().0,
            reset_after_idle: self.reset_after_idle().0,
        }
    }
}

display_as_content!(Strategy);
serialize_as_text!(Takeover, Strategy, Fragment, ResetAfterIdle);

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(toml: &str) -> Settings {
        toml::from_str(toml).unwrap()
    }

    fn refusal(toml: &str) -> String {
        toml::from_str::<Settings>(toml).unwrap_err().to_string()
    }

    #[test]
    fn single_settings_lie_over_those_of_the_codec_as_it_is_written() {
        let codec = |toml| settings(toml).resolve_message_codec().unwrap().to_string();
        assert_eq!(codec(""), "deflate:6/w15/m8");
        assert_eq!(
            codec("message_codec = 'zlib-rs:1'\nwindow_bits = 11"),
            "zlib-rs:1/w11/m8"
        );
        assert_eq!(
            codec("context_takeover = 'off'\ncompression_level = 9\nmem_level = 4\nstrategy = 'rle'"),
            "deflate:9/w15/m4/rle/no-takeover"
        );
        assert_eq!(
            codec("message_codec = 'deflate/no-takeover'\ncontext_takeover = true"),
            "deflate:6/w15/m8"
        );
    }

    #[test]
    fn a_setting_of_deflate_is_refused_for_another_codec() {
        let error = settings("message_codec = 'identity'\nmem_level = 4")
            .resolve_message_codec()
            .unwrap_err();
        assert!(
            error.contains("mem_level is a setting of deflate, but message_codec is identity"),
            "{error}"
        );
    }

    #[test]
    fn every_setting_prints_as_it_is_written() {
        let written = "compression_threshold = '128 B'\ncontext_takeover = 'off'\nfragment = '1000 B'\nmem_level = 9\n\
                       reset_after_idle = '1 min'\nstrategy = 'huffman-only'\nuncompressed = 'binary'\nwindow_bits = 8";
        let levels = settings(written).levels();
        let printed: Vec<_> = levels.values().map(String::as_str).collect();
        assert_eq!(
            printed,
            ["128 B", "off", "1 kB", "9", "60 s", "huffman-only", "binary", "8"]
        );
        assert_eq!(settings("fragment = 'none'").levels()["fragment"], "none");
        assert_eq!(
            settings("reset_after_idle = 'never'").levels()["reset_after_idle"],
            "never"
        );
    }

    #[test]
    fn a_wrong_value_is_refused_with_what_would_be_right() {
        assert!(
            refusal("window_bits = 7")
                .contains("7 is not a valid number of window bits; use a whole number from 8 to 15")
        );
        assert!(refusal("mem_level = 0").contains("from 1 to 9"));
        assert!(refusal("compression_level = -1").contains("from 0 to 9"));
        assert!(refusal("strategy = 'fast'").contains("default, filtered, huffman-only, rle, fixed"));
        assert!(refusal("context_takeover = 'yes'").contains("neither \"on\" nor \"off\""));
        assert!(refusal("fragment = '0 B'").contains("\"none\" for whole messages"));
        assert!(refusal("fragment = '5'").contains("\"none\" for whole messages"));
        assert!(refusal("reset_after_idle = '5'").contains("\"never\" to keep the context"));
        assert!(refusal("reset_after_idle = '0 s'").contains("context_takeover = \"off\""));
    }

    #[test]
    fn what_a_sender_decides_is_set_one_by_one_and_left_alone_otherwise() {
        assert_eq!(settings("").sender_policy(), Policy::default());
        let given =
            "uncompressed = 'binary'\ncompression_threshold = '128 B'\nfragment = '1 kB'\nreset_after_idle = '60 s'";
        assert_eq!(
            settings(given).sender_policy().to_string(),
            "text only, from 128 B, fragments of 1 kB, resets after 60 s idle"
        );
        let taken_back = "fragment = 'none'\nreset_after_idle = 'never'";
        assert_eq!(settings(taken_back).sender_policy(), Policy::default());
    }
}
