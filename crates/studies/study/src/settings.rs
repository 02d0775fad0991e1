//! The settings of a cell: each key, its type, and how layers of settings are merged.
//!
//! A new setting is one line in the list below, in the section of its field: the study file, the factors, the levels and the refusal of
//! unknown keys follow from it. The order of the list is that in which factors are varied, so records depend on it.
//! Experiments apply the settings; the types of single settings are in `settings/`.

mod choice;
mod events;
mod load;
mod message;
mod named;
mod rpc;
mod send_schedule;
mod values;

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

/// Declares [`Settings`] (each key at most once) and [`Factors`] (each key with a list of levels), with their methods.
macro_rules! settings {
    ($($(#[$about:meta])+ $key:ident: $type:ty,)+) => {
        /// The settings of a cell, or one layer of them. A missing setting is taken from the layer below, and in the end from the
        /// experiment's default.
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
            /// These settings, overridden by those of `top`.
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

            /// The key of a setting that has the same text in both but different contents, where there is one.
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
            /// These factors, overridden by those of `top`; a key that `fixed` sets is no longer a factor.
            #[must_use]
            pub fn overlaid(&self, fixed: &Settings, top: &Self) -> Self {
                Self { $($key: top.$key.clone().or_else(|| self.$key.clone().filter(|_| fixed.$key.is_none())),)+ }
            }

            /// Each factor with its levels, in the order of [`KEYS`]; a level is a layer with one setting.
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
    // The run: its world and its workload.
    /// The world; the study's where this is not set.
    world: World,
    /// The workload that is delivered.
    workload: Named<WorkloadSpec>,
    /// The same as `workload`, for studies whose workloads are numbered cases; a cell has one or the other.
    case: Named<WorkloadSpec>,

    // The link.
    /// The link.
    link: Link,
    /// A round trip that replaces the link's delays, half each way.
    round_trip: RoundTrip,

    // The run: its programs.
    /// How the workload is carried; `http/1.1` where this is not set.
    delivery: DeliveryName,
    /// The server program; ours where this is not set.
    server: ServerName,
    /// The program that sends the requests of a load; ours where this is not set.
    generator: ServerName,

    // TCP.
    /// The congestion control.
    congestion_control: CongestionControl,
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

    // HTTP and objects.
    /// How the server writes a response to TCP, where nothing is compressed.
    writes: Writes,
    /// Whether the filter holds a compressed response until it is complete.
    filter: Filter,
    /// The time that the server needs to make an object, besides writing it.
    object_time: Delay,

    // The run: its machines.
    /// Whether client and server have a virtual CPU each.
    hosts: Hosts,
    /// The slow-down of both virtual CPUs relative to the reference.
    cpu_slowdown: SlowDown,
    /// The slow-down of the client's virtual CPU, where it differs.
    cpu_slowdown_client: SlowDown,
    /// The share of a virtual CPU that other work uses.
    background_load: Probability,

    // HTTP and objects: the content coding.
    /// The content coding of responses, or the compression of calls.
    codec: Codec,

    // Messages.
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
    fragment: Fragment,
    /// The kind of messages that is sent uncompressed (RSV1 off).
    uncompressed: Uncompressed,
    /// Shorter messages are sent uncompressed.
    compression_threshold: ByteCount,
    /// The time without a message after which a compressor resets its context, so that its memory can be freed.
    reset_after_idle: ResetAfterIdle,
    /// When messages are due; as recorded where this is not set.
    message_interval: Pace,

    // Calls.
    /// The values that calls carry.
    payload: Payload,
    /// How they are encoded; `ice` where this is not set.
    encoding: Encoding,
    /// The protocol of calls; that of the encoding where this is not set, or else frames of our own.
    protocol: Protocol,
    /// The number of lines, entries or ticks of a call; the whole payload where this is not set.
    request_entries: NonZeroU32,
    /// Whether a call waits for a reply; `two-way` where this is not set.
    call: Call,
    /// The number of calls of a transfer; 1 where this is not set.
    calls: NonZeroU32,
    /// The number of transfers before the first that counts; 0 where this is not set.
    warm_up: u32,
    /// The number of one-way calls that are gathered into a batch; 1 where this is not set.
    batch: NonZeroU32,
    /// The bytes of a batch's calls, after which it is sent.
    batch_bytes: ByteCount,
    /// The time that the first call of a batch waits for others.
    batch_time: Delay,
    /// Whether calls go to the client directly, or through a router that gathers them.
    route: Route,
    /// The number of programs that call, each over a connection of its own, or through the router; 1 where this is not set.
    back_ends: NonZeroU32,
    /// The number of calls after which the connection is lost, and opened again; it stays open where this is not set.
    reconnect_after: NonZeroU32,

    // Load: requests at a rate of their own.
    /// The experiment that a cell belongs to: a name for reports.
    experiment: Label,
    /// Requests per second, of all clients together unless `rate_of` says so.
    rate: Rate,
    /// Whose rate that is: of `all` clients together, or of `each`; `all` where this is not set.
    rate_of: RateOf,
    /// How the requests of a client follow each other: at `constant` intervals, or by `poisson`; `constant` where this is not set.
    arrivals: ArrivalPattern,
    /// Where in its interval each client begins: at `random`, all at `equal` times, or `even`ly one after the other; `random` where this is
    /// not set.
    phases: Phases,
    /// How much later than the client before each client begins; not at all where this is not set.
    stagger: Delay,
    /// The number of clients, each on a host of its own; 1 where this is not set.
    clients: NonZeroU32,
    /// Whether connections stay open for further requests; `off` where this is not set.
    persistent: Persistent,
    /// The maximum number of open connections of each client; 10,000 where this is not set.
    connections: NonZeroU32,
    /// The size of a response's body.
    transfer_size: ByteCount,
    /// The objects of a page besides its document, each requested after the response before it; `rate` is then of pages. Where this is not
    /// set, requests do not depend on each other.
    page_objects: NonZeroU32,
    /// How long requests are sent; 30 s where this is not set.
    load_time: Delay,
    /// The longest time to the end of a response, and to the end of a handshake; 5 s where this is not set.
    timeout: Delay,
    /// The time that the server's CPU needs for a request, one request at a time; none where this is not set.
    service_time: Delay,

    // Events.
    /// What is measured of a monitoring system.
    test: EventTest,
    /// The channel that has the link; the others are ideal.
    channel: EventChannel,
    /// The events of each application in a repeat, dropped ones included; 1,000 where this is not set.
    events: NonZeroU32,
    /// The bytes of an event's text; as short as it can be where this is not set.
    event_size: ByteCount,
    /// The number of sensors, each on a host of its own; 1 where this is not set.
    sensors: NonZeroU32,
    /// The number of applications of each sensor; 1 where this is not set.
    applications: NonZeroU32,
    /// The probability that a step of an application submits an event, while the others are work; 1 where this is not set.
    event_ratio: Probability,
    /// The CPU time of a step that is work; none where this is not set.
    work_time: Delay,
    /// The events that an application keeps while the sensor has not acknowledged them; 10,000 where this is not set.
    event_buffer: NonZeroU32,
    /// What happens when that buffer is full; `block` where this is not set.
    full_buffer: FullBuffer,
    /// What an event survives once the monitor has acknowledged it; `memory` where this is not set.
    durability: Durability,
    /// The time of a commit up to the operating system's memory, in the simulated world, which has no disk; none where this is not set.
    write_time: Delay,
    /// The further time of a commit up to the disk, likewise.
    sync_time: Delay,
    /// The CPU time of creating an event, in the simulated world; none where this is not set.
    create_cpu_time: Delay,
    /// The CPU time of a sensor for what an application sends at a time, before it acknowledges, likewise.
    sensor_cpu_time: Delay,
    /// The CPU time of the monitor for each chunk of events that it keeps, and for each piece of an answer, likewise.
    monitor_cpu_time: Delay,
    /// The further CPU time for each event of whoever takes it or answers with it: sensors and the monitor, likewise.
    event_cpu_time: Delay,
    /// The CPU time of a client for each event, likewise.
    client_cpu_time: Delay,

    // The radio of a load.
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

impl Settings {
    /// The workload, under either of its two names.
    pub fn delivered(&self) -> Option<&Named<WorkloadSpec>> {
        self.case.as_ref().or(self.workload.as_ref())
    }

    /// The name of the delivery: `http/1.1` where it is not set.
    pub fn delivery_name(&self) -> DeliveryName {
        self.delivery.clone().unwrap_or_default()
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
