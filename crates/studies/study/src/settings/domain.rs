//! The values that can be written for a setting, in words and examples for those who write a study.
//!
//! Settings that are one of a few words, and numbers within bounds, say it where they are declared (`choice!`, `number!`); the others say it here.

use super::{
    Codec, Delay, DeliveryName, Fragment, Hosts, Label, Link, Nagle, Named, Pace, Rate, ResetAfterIdle, RoundTrip,
    ServerName, SlowDown, Strategy, Takeover, TransmitPower, World,
};
use lastmile_codec::message::MessageCodec;
use lastmile_link::radio::{RadioChanges, RadioSpec};
use lastmile_units::{ByteCount, Metres, Probability};
use lastmile_workload::WorkloadSpec;
use std::fmt;
use std::num::NonZeroU32;

/// What can be written for a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Domain {
    /// One of these words, in quotes.
    Words(Vec<String>),
    /// A value of a kind.
    Written {
        /// The kind, with its bounds: `whole number from 8 to 15`.
        what: &'static str,
        /// Values of it in TOML, one of each form: `"40 ms"`.
        examples: &'static [&'static str],
    },
}

impl Domain {
    /// One of these words.
    pub(super) fn words(words: impl IntoIterator<Item = impl ToString>) -> Self {
        Self::Words(words.into_iter().map(|word| word.to_string()).collect())
    }

    /// Values in TOML: every word, or one value of each form.
    pub fn examples(&self) -> Vec<String> {
        match self {
            Self::Words(words) => words.iter().map(|word| format!("{word:?}")).collect(),
            Self::Written { examples, .. } => examples.iter().map(|&example| example.to_owned()).collect(),
        }
    }
}

impl fmt::Display for Domain {
    /// `cubic, reno, bbr`, or `time: "40 ms"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(&words.join(", ")),
            Self::Written { what, examples } => write!(f, "{what}: {}", examples.join(", ")),
        }
    }
}

/// The type of a setting.
pub trait SettingType {
    /// What can be written for it.
    fn domain() -> Domain;
}

/// Declares the domains of types: words, or the kind of a value with examples.
macro_rules! domains {
    ($($type:ty: $what:literal like $($example:literal),+;)+) => {
        $(impl SettingType for $type {
            fn domain() -> Domain {
                Domain::Written { what: $what, examples: &[$($example),+] }
            }
        })+
    };
    ($($type:ty: $words:expr;)+) => {
        $(impl SettingType for $type {
            fn domain() -> Domain {
                Domain::words($words)
            }
        })+
    };
}

domains! {
    World: [World::Simulated, World::Emulated];
    Hosts: [Hosts::Two, Hosts::One];
    Nagle: [Nagle::On, Nagle::Classic, Nagle::Off];
    Takeover: [Takeover(true), Takeover(false)];
    Strategy: lastmile_codec::message::Strategy::ALL;
}

domains! {
    Named<WorkloadSpec>: "table; `lastmile studies keys workloads` names the kinds" like r#"{ kind = "bulk", bytes = "1 MB" }"#;
    Named<RadioChanges>: "table of a radio's settings" like r#"{ name = "office", path_loss_exponent = 3 }"#;
    Link: "link" like r#""wpt/3g""#, r#""wpt/3g+loss=1%""#, r#"{ name = "mine", rate = "1 Mbit/s", one_way_delay = "20 ms" }"#;
    RadioSpec: "radio" like r#""802.11b""#, r#""802.11b+fading=rayleigh""#;
    RoundTrip: "time, or link" like r#""250 ms""#, r#""link""#;
    Delay: "time" like r#""40 ms""#;
    Pace: "time, recorded or one-by-one" like r#""100 ms""#, r#""recorded""#, r#""one-by-one""#;
    ResetAfterIdle: "time, or never" like r#""1 min""#, r#""never""#;
    DeliveryName: "delivery; `lastmile studies keys deliveries` names them" like r#""http/1.1""#;
    ServerName: "lastmile, or a program that is installed" like r#""lastmile""#, r#""nginx""#;
    Label: "text" like r#""A""#;
    NonZeroU32: "whole number from 1" like "10";
    u32: "whole number from 0" like "1";
    Rate: "number above 0, at most 10000000" like "85", "0.5";
    SlowDown: "number from 0.01 to 1000000" like "4";
    ByteCount: "size" like r#""1 kB""#;
    Fragment: "size, or none" like r#""1 kB""#, r#""none""#;
    Probability: "share" like r#""5 %""#;
    Metres: "length" like r#""10 m""#;
    TransmitPower: "power" like r#""20 mW""#, r#""13 dBm""#;
    Codec: "content coding of responses, or codec of calls" like r#""identity""#, r#""gzip:6""#, r#""bzip2""#, r#""zstd:3/w17""#;
    MessageCodec: "codec of messages" like r#""deflate:6/w15/m8""#, r#""zstd:3/w17""#;
}
