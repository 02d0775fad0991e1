//! The settings of a cell: each key, its type, and how layers of settings are merged.
//!
//! A new setting is one line in the list below, in the group of its field: the study file, the factors, the levels, its default and the
//! refusal of unknown keys follow from it. The order of the list is that in which factors are varied, so records depend on it.
//! Deliveries name the groups that they have, and apply the settings; the types of single settings are in `settings/`.

mod choice;
mod domain;
mod events;
mod load;
mod message;
mod named;
mod rpc;
mod send_schedule;
mod values;

pub use domain::{Domain, SettingType};
pub use events::{Durability, EventChannel, EventTest, FullBuffer};
pub use lastmile_testbed::settings::{Hosts, World};
pub use load::{ArrivalPattern, Label, Persistent, Phases, Rate, RateOf, TransmitPower};
pub use message::{Fragment, Level, MemLevel, ResetAfterIdle, Strategy, Takeover, Uncompressed, WindowBits};
pub use named::{Link, Named};
pub use rpc::{Call, Codec, Encoding, Payload, Protocol, Route, RpcCodec, RpcCodecKind};
pub use send_schedule::Pace;
pub use values::{CongestionControl, Delay, DeliveryName, Filter, Nagle, RoundTrip, ServerName, SlowDown, Writes};

use lastmile_codec::message::MessageCodec;
use lastmile_link::radio::{RadioChanges, RadioSpec};
use lastmile_report::record::Levels;
use lastmile_units::{ByteCount, Metres, Probability};
use lastmile_workload::WorkloadSpec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::num::NonZeroU32;
use std::time::Duration;

/// Declares [`Settings`] (each key at most once) and [`Factors`] (each key with a list of levels), with their methods, and the keys of each
/// group. A key with a default has a method of its own name, which returns that where the key is not set.
macro_rules! settings {
    ($($(#[doc = $about_group:literal])+ $group:ident { $($(#[doc = $about:literal])+ $key:ident: $type:ty $(= $default:expr)?,)+ })+) => {
        /// The settings of a cell, or one layer of them. A missing setting is taken from the layer below, and in the end from the
        /// defaults.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($($(#[doc = $about])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)+)+
        }

        /// The factors of a study: settings with a list of levels each.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Factors {
            $($($(#[doc = $about])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<LevelsOf<$type>>,)+)+
        }

        /// The keys of each group: a delivery names the groups that it has.
        pub mod group {
            $($(#[doc = $about_group])+ pub const $group: &[&str] = &[$(stringify!($key)),+];)+
        }

        /// Every key, in the order in which factors are varied: the first slowest.
        pub const KEYS: &[&str] = &[$($(stringify!($key)),+),+];

        /// What each key means, in the order of [`KEYS`].
        pub fn descriptions() -> Vec<Description> {
            vec![$($({
                let defaults: &[String] = &[$({ let default: $type = $default; default.to_string() })?];
                Description {
                    key: stringify!($key),
                    about: concat!($($about),+).trim_ascii(),
                    domain: <$type as SettingType>::domain(),
                    default: defaults.first().cloned(),
                }
            }),+),+]
        }

        impl Settings {
            $($($(
                pub fn $key(&self) -> $type {
                    self.$key.clone().unwrap_or_else(|| $default)
                }
            )?)+)+

            /// These settings, overridden by those of `top`.
            #[must_use]
            pub fn overlaid(&self, top: &Self) -> Self {
                Self { $($($key: top.$key.clone().or_else(|| self.$key.clone()),)+)+ }
            }

            /// Each setting that is given, as text, by its key.
            pub fn levels(&self) -> Levels {
                let mut levels = Levels::new();
                $($(if let Some(value) = &self.$key {
                    levels.insert(stringify!($key).to_owned(), value.to_string());
                })+)+
                levels
            }

            /// The key of a setting that has the same text in both but different contents, where there is one.
            pub(crate) fn contradiction(&self, other: &Self) -> Option<&'static str> {
                $($(if let (Some(ours), Some(theirs)) = (&self.$key, &other.$key)
                    && ours.to_string() == theirs.to_string()
                    && ours != theirs
                {
                    return Some(stringify!($key));
                })+)+
                None
            }
        }

        impl Factors {
            /// These factors, overridden by those of `top`; a key that `fixed` sets is no longer a factor.
            #[must_use]
            pub fn overlaid(&self, fixed: &Settings, top: &Self) -> Self {
                Self { $($($key: top.$key.clone().or_else(|| self.$key.clone().filter(|_| fixed.$key.is_none())),)+)+ }
            }

            /// Each factor with its levels, in the order of [`KEYS`]; a level is a layer with one setting.
            pub fn axes(&self) -> Vec<Axis> {
                let mut axes = Vec::new();
                $($(if let Some(LevelsOf(levels)) = &self.$key {
                    let levels = levels.iter().map(|level| Settings { $key: Some(level.clone()), ..Settings::default() });
                    axes.push(Axis { key: stringify!($key), levels: levels.collect() });
                })+)+
                axes
            }
        }
    };
}

settings! {
    /// The world and the workload.
    WORLD {
        /// The world.
        world: World = World::Simulated,
        /// The workload that is delivered.
        workload: Named<WorkloadSpec>,
        /// The same as `workload`, for studies whose workloads are numbered cases; a cell has one or the other.
        case: Named<WorkloadSpec>,
    }
    /// The link.
    LINK {
        /// The link.
        link: Link,
        /// A round trip that replaces the link's delays, half each way.
        round_trip: RoundTrip,
    }
    /// The delivery and the programs at both ends.
    PROGRAMS {
        /// How the workload is carried.
        delivery: DeliveryName = DeliveryName::default(),
        /// The server program.
        server: ServerName = ServerName::default(),
        /// The program that sends the requests of a load.
        generator: ServerName = ServerName::default(),
    }
    /// TCP.
    TCP {
        /// The congestion control.
        congestion_control: CongestionControl = CongestionControl::Cubic,
        /// The timeout of a first SYN, which each repetition doubles, as before Linux 6.5; where this is not set, it is 1 s, and is doubled after the
        /// fourth.
        syn_timeout: Delay,
        /// The initial congestion window, in segments.
        initial_window: NonZeroU32,
        /// Whether a small segment waits for the acknowledgement of the one before.
        nagle: Nagle,
        /// The largest window that a receiver offers; it is tuned automatically where this is not set.
        receive_window: ByteCount,
        /// The delayed acknowledgement timeout; setting it also disables quick acknowledgements at the start.
        delayed_acknowledgement: Delay,
    }
    /// HTTP and objects.
    OBJECTS {
        /// How the server writes a response to TCP, where nothing is compressed.
        writes: Writes = Writes::PerObject,
        /// Whether the filter holds a compressed response until it is complete.
        filter: Filter = Filter::Whole,
        /// The time that the server needs to make an object, besides writing it.
        object_time: Delay = Delay::ZERO,
    }
    /// The machines.
    MACHINES {
        /// Whether client and server have a virtual CPU each.
        hosts: Hosts = Hosts::Two,
        /// The slow-down of both virtual CPUs relative to the reference.
        cpu_slowdown: SlowDown = SlowDown::NONE,
        /// The slow-down of the client's virtual CPU, where it differs.
        cpu_slowdown_client: SlowDown,
        /// The share of a virtual CPU that other work uses.
        background_load: Probability = Probability::NEVER,
    }
    /// The content coding.
    CODING {
        /// The content coding of responses, or the compression of calls.
        codec: Codec,
    }
    /// Messages.
    MESSAGES {
        /// The codec of messages: deflate with the settings below where this is not set.
        message_codec: MessageCodec,
        /// Whether a message may refer to those before it.
        context_takeover: Takeover,
        /// log2 of deflate's window in bytes.
        window_bits: WindowBits,
        /// How hard deflate searches for repetition.
        compression_level: Level,
        /// How much memory deflate uses besides its window.
        mem_level: MemLevel,
        /// The kind of data that deflate expects.
        strategy: Strategy,
        /// The number of bytes of a message after which it is flushed and sent as a fragment.
        fragment: Fragment = Fragment(None),
        /// The kind of messages that is sent uncompressed (RSV1 off).
        uncompressed: Uncompressed = Uncompressed::None,
        /// Shorter messages are sent uncompressed.
        compression_threshold: ByteCount = ByteCount::ZERO,
        /// The time without a message after which a compressor resets its context, so that its memory can be freed.
        reset_after_idle: ResetAfterIdle = ResetAfterIdle(None),
        /// When messages are due.
        message_interval: Pace = Pace::Recorded,
    }
    /// Calls.
    CALLS {
        /// The values that calls carry.
        payload: Payload,
        /// How they are encoded.
        encoding: Encoding = Encoding::Ice,
        /// The protocol of calls; that of the encoding where this is not set, or else frames of our own.
        protocol: Protocol,
        /// The number of lines, entries or ticks of a call; the whole payload where this is not set.
        request_entries: NonZeroU32,
        /// Whether a call waits for a reply.
        call: Call = Call::TwoWay,
        /// The number of calls of a transfer.
        calls: NonZeroU32 = NonZeroU32::MIN,
        /// The number of transfers before the first that counts.
        warm_up: u32 = 0,
        /// The number of one-way calls that are gathered into a batch; 1 where this is not set.
        batch: NonZeroU32,
        /// The bytes of a batch's calls, after which it is sent.
        batch_bytes: ByteCount,
        /// The time that the first call of a batch waits for others.
        batch_time: Delay,
        /// Whether calls go to the client directly, or through a router that gathers them.
        route: Route = Route::Direct,
        /// The number of programs that call, each over a connection of its own, or through the router.
        back_ends: NonZeroU32 = NonZeroU32::MIN,
        /// The number of calls after which the connection is lost, and opened again; it stays open where this is not set.
        reconnect_after: NonZeroU32,
    }
    /// Load: requests at a rate of their own.
    LOAD {
        /// The experiment that a cell belongs to: a name for reports.
        experiment: Label,
        /// Requests per second, of all clients together unless `rate_of` says so.
        rate: Rate,
        /// Whose rate that is: of `all` clients together, or of `each`.
        rate_of: RateOf = RateOf::All,
        /// How the requests of a client follow each other: at `constant` intervals, or by `poisson`.
        arrivals: ArrivalPattern = ArrivalPattern::Constant,
        /// Where in its interval each client begins: at `random`, all at `equal` times, or `even`ly one after the other.
        phases: Phases = Phases::Random,
        /// How much later than the client before each client begins.
        stagger: Delay = Delay::ZERO,
        /// The number of clients, each on a host of its own.
        clients: NonZeroU32 = NonZeroU32::MIN,
        /// Whether connections stay open for further requests.
        persistent: Persistent = Persistent::Off,
        /// The maximum number of open connections of each client; 10,000 where this is not set.
        connections: NonZeroU32,
        /// The size of a response's body.
        transfer_size: ByteCount,
        /// The objects of a page besides its document, each requested after the response before it; `rate` is then of pages. Where this is not
        /// set, requests do not depend on each other.
        page_objects: NonZeroU32,
        /// How long requests are sent.
        /// The default is our own choice: 300 requests at the lowest rate of most sweeps.
        load_time: Delay = Delay(Duration::from_secs(30)),
        /// The longest time to the end of a response, and to the end of a handshake.
        /// The default is that in the examples of httperf's manual page; without one, httperf waits for ever.
        timeout: Delay = Delay(Duration::from_secs(5)),
        /// The time that the server's CPU needs for a request, one request at a time.
        service_time: Delay = Delay::ZERO,
    }
    /// Events.
    EVENTS {
        /// What is measured of a monitoring system.
        test: EventTest,
        /// The channel that has the link; the others are ideal.
        channel: EventChannel,
        /// The events of each application in a repeat, dropped ones included.
        /// The default is that of the published tests.
        events: NonZeroU32 = number(1_000),
        /// The bytes of an event's text.
        event_size: ByteCount = ByteCount::ZERO,
        /// The number of sensors, each on a host of its own.
        sensors: NonZeroU32 = NonZeroU32::MIN,
        /// The number of applications of each sensor.
        applications: NonZeroU32 = NonZeroU32::MIN,
        /// The probability that a step of an application submits an event, while the others are work.
        event_ratio: Probability = Probability::ALWAYS,
        /// The CPU time of a step that is work.
        work_time: Delay = Delay::ZERO,
        /// The events that an application keeps while the sensor has not acknowledged them.
        /// The default is about what an emitter's ring of 1 MiB holds.
        event_buffer: NonZeroU32 = number(10_000),
        /// What happens when that buffer is full.
        full_buffer: FullBuffer = FullBuffer::Block,
        /// What an event survives once the monitor has acknowledged it.
        durability: Durability = Durability::Memory,
        /// The time of a commit up to the operating system's memory, in the simulated world, which has no disk.
        write_time: Delay = Delay::ZERO,
        /// The further time of a commit up to the disk, in the simulated world.
        sync_time: Delay = Delay::ZERO,
        /// The CPU time of creating an event, in the simulated world.
        create_cpu_time: Delay = Delay::ZERO,
        /// The CPU time of a sensor for what an application sends at a time, before it acknowledges, in the simulated world.
        sensor_cpu_time: Delay = Delay::ZERO,
        /// The CPU time of the monitor for each chunk of events that it keeps, and for each piece of an answer, in the simulated world.
        monitor_cpu_time: Delay = Delay::ZERO,
        /// The further CPU time for each event of whoever takes it or answers with it: sensors and the monitor, in the simulated world.
        event_cpu_time: Delay = Delay::ZERO,
        /// The CPU time of a client for each event, in the simulated world.
        client_cpu_time: Delay = Delay::ZERO,
    }
    /// The radio of a load.
    RADIO {
        /// The radio that the server and the clients share.
        radio: RadioSpec,
        /// Settings of the radio that belong to the place where it is, by name; the radio's own where this is not set.
        environment: Named<RadioChanges>,
        /// The power of every station; the radio's where this is not set.
        transmit_power: TransmitPower,
        /// From the server to each client; the radio's where this is not set.
        distance: Metres,
        /// From the server to the first client, where it differs from the others.
        first_distance: Metres,
    }
}

/// A setting, for those who write a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its key.
    pub key: &'static str,
    /// What it sets.
    pub about: &'static str,
    /// What can be written for it.
    pub domain: Domain,
    /// Its value where a study does not set it; none where that depends on other settings, or the study has to set it.
    pub default: Option<String>,
}

impl Settings {
    /// The workload, under either of its two names.
    pub fn delivered(&self) -> Option<&Named<WorkloadSpec>> {
        self.case.as_ref().or(self.workload.as_ref())
    }

    /// The server, where it is not ours.
    pub fn real_server(&self) -> Option<&ServerName> {
        self.server.as_ref().filter(|server| !server.is_ours())
    }

    /// Checks that only settings of these groups are set; `what` is delivered, for the message.
    ///
    /// # Errors
    /// The first that is not, with the remedy.
    pub fn check_keys(&self, groups: &[&[&str]], what: &str) -> Result<(), String> {
        let is_known = |key: &str| groups.iter().any(|group| group.contains(&key));
        match self.levels().keys().find(|key| !is_known(key)) {
            Some(key) => Err(format!("{key} has no effect on {what}; remove it from this part")),
            None => Ok(()),
        }
    }

    /// The first of these keys that is set.
    pub fn first_set(&self, keys: &[&'static str]) -> Option<&'static str> {
        let levels = self.levels();
        keys.iter().copied().find(|key| levels.contains_key(*key))
    }

    /// The time from one call or event, which `what` names for the message, being due to the next.
    ///
    /// # Errors
    /// When messages are due at times that only a transcript has.
    pub fn interval(&self, what: &str) -> Result<Duration, String> {
        match self.message_interval {
            None => Ok(Duration::ZERO),
            Some(Pace::Every(interval)) => Ok(interval),
            Some(other) => Err(format!(
                "message_interval = \"{other}\" has no meaning for {what}; use a time"
            )),
        }
    }
}

/// A default.
const fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("a default is not 0")
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
                "a factor has at least one level; remove the factor, or give it levels",
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
    /// Its levels, in the order written; each has that one setting.
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
                let suggestion = lastmile_units::suggest::suggestion(&name, KEYS.iter().copied());
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

    /// Words are those that serde names in its refusal of another word; examples can be read, and print as written or in another unit.
    #[test]
    fn every_key_says_what_can_be_written_for_it() {
        let described = descriptions();
        assert_eq!(described.iter().map(|one| one.key).collect::<Vec<_>>(), KEYS);
        for Description { key, domain, about, .. } in described {
            assert!(!about.contains("[`") && about.contains('.'), "{key}: {about}");
            for written in domain.examples() {
                let read = settings(&format!("{key} = {written}"));
                assert_eq!(read.levels().len(), 1, "{key} = {written}");
            }
            if let Domain::Words(words) = &domain {
                let refusal = toml::from_str::<Settings>(&format!("{key} = 'no such word'"))
                    .unwrap_err()
                    .to_string();
                let (_, expected) = refusal.rsplit_once("no such word").unwrap();
                let named = expected.split(|c: char| !c.is_ascii_alphanumeric() && !"-/.".contains(c));
                let named: Vec<&str> = named.filter(|word| words.iter().any(|known| known == word)).collect();
                assert!(
                    words.iter().all(|word| named.contains(&word.as_str())),
                    "{key}: {refusal}"
                );
                let quoted = expected.matches('`').count() / 2;
                assert!(quoted == 0 || quoted == words.len(), "{key}: {refusal}");
            }
        }
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
