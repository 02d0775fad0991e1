//! What can a study set? The settings of a cell: each key, its type, and how one layer of them lies over another.
//!
//! A new setting is one line in the list below: the study file, the factors, the levels and the refusal of unknown keys follow
//! from it. What a setting does is the experiment's business; the types of single settings are in `settings/`.

mod choice;
mod message;
mod named;
mod pace;

pub use choice::{
    CongestionControl, Delay, Delivery, Filter, Hosts, Nagle, RoundTrip, ServerName, SlowDown, World, Writes,
};
pub use message::{Fragment, Level, MemLevel, ResetAfterIdle, Strategy, Takeover, Uncompressed, WindowBits};
pub use named::{Link, Named};
pub use pace::Pace;

use lastmile_payload::codec::CodecSpec;
use lastmile_payload::message_codec::MessageCodec;
use lastmile_payload::workload::WorkloadSpec;
use lastmile_report::record::Levels;
use lastmile_units::{Bytes, Probability};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::num::NonZeroU32;

/// Declares [`Settings`] (each key at most once) and [`Factors`] (each key with a list of levels), and what both can do.
macro_rules! settings {
    ($($(#[$about:meta])+ $key:ident: $type:ty,)+) => {
        /// The settings of a cell, or one layer of them. What is not given is left to the layer below, and in the end to the
        /// experiment.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($(#[$about])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)+
        }

        /// The factors of a study: settings with a list of levels each.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Factors {
            $($(#[$about])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<LevelsOf<$type>>,)+
        }

        /// Every key, in the order in which factors are varied: the first slowest.
        pub const KEYS: &[&str] = &[$(stringify!($key)),+];

        impl Settings {
            /// These settings with those of `top` over them.
            #[must_use]
            pub fn overlaid(&self, top: &Self) -> Self {
                Self { $($key: top.$key.clone().or_else(|| self.$key.clone()),)+ }
            }

            /// Each setting that is given, as text, by its key.
            pub fn levels(&self) -> Levels {
                let mut levels = Levels::new();
                $(if let Some(value) = &self.$key {
                    levels.insert(stringify!($key).to_owned(), value.to_string());
                })+
                levels
            }

            /// The key of a setting that both give under the same text but with another content, where there is one.
            pub(crate) fn contradiction(&self, other: &Self) -> Option<&'static str> {
                $(if let (Some(ours), Some(theirs)) = (&self.$key, &other.$key)
                    && ours.to_string() == theirs.to_string()
                    && ours != theirs
                {
                    return Some(stringify!($key));
                })+
                None
            }
        }

        impl Factors {
            /// These factors with those of `top` over them; a factor that `fixed` sets is no longer one.
            #[must_use]
            pub fn overlaid(&self, fixed: &Settings, top: &Self) -> Self {
                Self { $($key: top.$key.clone().or_else(|| self.$key.clone().filter(|_| fixed.$key.is_none())),)+ }
            }

            /// Each factor with its levels, a level being the one setting it makes; in the order of [`KEYS`].
            pub fn axes(&self) -> Vec<Axis> {
                let mut axes = Vec::new();
                $(if let Some(LevelsOf(levels)) = &self.$key {
                    let levels = levels.iter().map(|level| Settings { $key: Some(level.clone()), ..Settings::default() });
                    axes.push(Axis { key: stringify!($key), levels: levels.collect() });
                })+
                axes
            }
        }
    };
}

settings! {
    /// In which world it is delivered; in the study's where this is not set.
    world: World,
    /// What is delivered.
    workload: Named<WorkloadSpec>,
    /// The same as `workload`, for studies whose workloads are numbered cases; a cell has one or the other.
    case: Named<WorkloadSpec>,
    /// Over what it is delivered.
    link: Link,
    /// A round trip that replaces the link's delays, half each way.
    round_trip: RoundTrip,
    /// How bytes are carried.
    delivery: Delivery,
    /// Which program serves; ours where this is not set.
    server: ServerName,
    /// Who moves the congestion window, and paces where it does.
    congestion_control: CongestionControl,
    /// The congestion window that a connection starts with, in segments.
    initial_window: NonZeroU32,
    /// Whether a small segment waits for the acknowledgement of the one before.
    nagle: Nagle,
    /// The largest window that a receiver offers; it grows by itself where this is not set.
    receive_window: Bytes,
    /// How long an acknowledgement may wait for a companion; setting it also ends the quick ones at the start.
    delayed_acknowledgement: Delay,
    /// How the server hands a response to TCP, where nothing is coded.
    writes: Writes,
    /// Whether the filter holds a coded response until it is complete.
    filter: Filter,
    /// How long the server takes to make an object, besides writing it.
    object_time: Delay,
    /// Whether each program has a virtual CPU of its own.
    hosts: Hosts,
    /// How much slower than the reference both virtual CPUs are.
    cpu_slowdown: SlowDown,
    /// How much slower than the reference the client's is, where it differs.
    cpu_slowdown_client: SlowDown,
    /// The share of a virtual CPU that other work takes.
    background_load: Probability,
    /// How bytes become fewer.
    codec: CodecSpec,
    /// How messages become fewer bytes: deflate where this is not set, with the settings below.
    message_codec: MessageCodec,
    /// Whether a message may refer to those before it.
    context_takeover: Takeover,
    /// log2 of deflate's window in octets.
    window_bits: WindowBits,
    /// How hard deflate looks for repetition.
    compression_level: Level,
    /// How much memory deflate takes besides its window.
    mem_level: MemLevel,
    /// What kind of data deflate is to expect.
    strategy: Strategy,
    /// After how many octets of a message it is flushed, to be sent as a fragment.
    fragment: Fragment,
    /// Which kind of messages is sent as it is (RSV1 off).
    uncompressed: Uncompressed,
    /// Shorter messages are sent as they are.
    compression_threshold: Bytes,
    /// After how long without a message a compressor forgets, so that its memory can be given back.
    reset_after_idle: ResetAfterIdle,
    /// When messages are due: as recorded where this is not set.
    message_interval: Pace,
}

impl Settings {
    /// What is delivered, under whichever of its two names.
    pub fn delivered(&self) -> Option<&Named<WorkloadSpec>> {
        self.case.as_ref().or(self.workload.as_ref())
    }

    /// When a small segment may leave: at once over WebSocket, whose libraries set TCP_NODELAY, unless it is set otherwise.
    pub(crate) fn nagle_of_delivery(&self) -> Nagle {
        self.nagle.unwrap_or(match self.delivery {
            Some(Delivery::WebSocket) => Nagle::Off,
            _ => Nagle::On,
        })
    }
}

/// The levels of one factor: at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelsOf<T>(Vec<T>);

impl<T: Serialize> Serialize for LevelsOf<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LevelsOf<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let levels = Vec::deserialize(from)?;
        if levels.is_empty() {
            return Err(serde::de::Error::custom(
                "a factor has at least one level; remove it, or give it some",
            ));
        }
        Ok(Self(levels))
    }
}

/// A factor with its levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its key.
    pub key: &'static str,
    /// Its levels, in the order written; each holds that one setting.
    pub levels: Vec<Settings>,
}

/// The key of a setting, as charts and ratios name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Key(pub &'static str);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        KEYS.iter()
            .find(|key| **key == name)
            .map(|key| Self(key))
            .ok_or_else(|| {
                let suggestion = crate::nearest::suggestion(&name, KEYS.iter().copied());
                serde::de::Error::custom(format!("unknown setting {name:?}{suggestion}"))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(toml: &str) -> Settings {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn the_top_layer_wins_and_the_rest_shows_through() {
        let below = settings("codec = 'identity'\nnagle = true");
        let both = below.overlaid(&settings("codec = 'gzip:6'"));
        assert_eq!(
            both.levels(),
            Levels::from([("codec".into(), "gzip:6".into()), ("nagle".into(), "on".into())])
        );
    }

    #[test]
    fn what_a_part_fixes_is_no_factor_of_that_part() {
        let factors: Factors = toml::from_str("codec = ['identity', 'gzip:6']\nnagle = ['on', 'off']").unwrap();
        let axes = factors
            .overlaid(&settings("codec = 'identity'"), &Factors::default())
            .axes();
        assert_eq!(axes.len(), 1);
        assert_eq!(axes[0].key, "nagle");
        assert_eq!(axes[0].levels, [settings("nagle = 'on'"), settings("nagle = 'off'")]);
    }

    #[test]
    fn a_factor_without_levels_is_refused() {
        let error = toml::from_str::<Factors>("codec = []").unwrap_err().to_string();
        assert!(error.contains("at least one level"), "{error}");
    }

    #[test]
    fn one_name_for_two_contents_is_noticed() {
        let link = |delay| {
            settings(&format!(
                "link = {{ name = 'short', rate = '1 Mbit/s', one_way_delay = '{delay}' }}"
            ))
        };
        let short = link("10 ms");
        assert_eq!(short.contradiction(&link("20 ms")), Some("link"));
        assert_eq!(short.contradiction(&short), None);
    }
}
