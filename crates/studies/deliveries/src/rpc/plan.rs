//! Reads a cell's settings into the calls to deliver, and how.

use super::payload::Values;
use lastmile_codec::content::Coding;
use lastmile_codec::message::MessageCodec;
use lastmile_link::DirectionSpec;
use lastmile_rpc::batch::BatchLimits;
use lastmile_rpc::ice::CompressionPolicy;
use lastmile_study::settings::{Call, Codec, Encoding, Payload, Protocol, Route, RpcCodecKind, ServerName, Settings};
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// Calls, and how they are delivered.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(super) values: Values,
    pub(super) protocol: Protocol,
    pub(super) compression: Compression,
    pub(super) call: Call,
    /// The calls of a transfer.
    pub(super) calls: usize,
    pub(super) warm_up: u32,
    pub(super) batch: BatchLimits,
    /// From one call being due to the next.
    pub(super) interval: Duration,
    pub(super) route: Route,
    pub(super) back_ends: usize,
    pub(super) reconnect_after: Option<usize>,
    /// The direction of the link that calls take.
    pub(super) down: DirectionSpec,
    /// The real programs that make and take the calls; none for ours.
    pub(super) real: Option<RealPeer>,
}

/// A peer, and how it compresses.
#[derive(Debug, Clone)]
pub(super) struct RealPeer {
    pub(super) name: ServerName,
    /// The value of its option `message_compression`.
    pub(super) compression: &'static str,
}

/// The peer of a cell, if it has one.
fn real_peer(settings: &Settings) -> Result<Option<RealPeer>, String> {
    let Some(name) = settings.real_server().cloned() else {
        return Ok(None);
    };
    let compression = match settings.codec {
        None => "identity",
        Some(Codec::Content(codec)) if codec.is_identity() => "identity",
        Some(Codec::Content(codec)) if codec.coding() == Coding::Gzip => "gzip",
        Some(Codec::Rpc(codec)) if matches!(codec.kind, RpcCodecKind::Bzip2(1)) && !codec.if_smaller => "bzip2",
        Some(codec) => {
            return Err(format!(
                "server {name} has no codec {codec}; use identity, bzip2 or gzip:6"
            ));
        }
    };
    let only_ours = ["encoding", "protocol", "request_entries", "route", "reconnect_after"];
    if let Some(setting) = settings.first_set(&only_ours) {
        return Err(format!("server {name} decides on {setting} itself; leave it out"));
    }
    if settings.calls.is_some() && settings.payload != Some(Payload::Ticks) {
        return Err(format!(
            "server {name} makes one call of a document at a time; leave calls out"
        ));
    }
    Ok(Some(RealPeer { name, compression }))
}

/// How calls are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    /// By the Ice protocol itself.
    Ice {
        level: u32,
        policy: CompressionPolicy,
    },
    /// By frames around the protocol's messages.
    Frames {
        codec: MessageCodec,
        if_smaller: bool,
        dictionary: bool,
    },
}

impl Plan {
    /// Reads `settings`; the error is a message for the author of the study.
    pub(super) fn of(settings: &Settings) -> Result<Self, String> {
        let payload = settings.payload.ok_or(
            "no payload is set; add payload = \"text\", \"bibliography\" or \"ticks\" to [fixed] or [factors]",
        )?;
        let encoding = settings.encoding();
        let protocol = settings.protocol.unwrap_or(match encoding {
            Encoding::Ice => Protocol::Ice,
            Encoding::Cdr => Protocol::Giop,
            _ => Protocol::Raw,
        });
        match (protocol, encoding) {
            (Protocol::Ice, encoding) if encoding != Encoding::Ice => {
                return Err(format!(
                    "protocol ice carries the encoding ice, not {encoding}; use protocol = \"raw\""
                ));
            }
            (Protocol::Giop, encoding) if encoding != Encoding::Cdr => {
                return Err(format!(
                    "protocol giop carries the encoding cdr, not {encoding}; use protocol = \"raw\""
                ));
            }
            _ => {}
        }
        let real = real_peer(settings)?;
        let compression = match real {
            Some(_) => Compression::None,
            None => compression(settings, protocol)?,
        };
        let plan = Self {
            values: Values {
                payload,
                encoding,
                entries: settings.request_entries,
                shuffles: matches!(compression, Compression::Frames { codec, .. } if codec.takeover()),
            },
            protocol,
            compression,
            call: settings.call(),
            calls: settings.calls().get() as usize,
            warm_up: settings.warm_up(),
            batch: BatchLimits {
                calls: batch_calls(settings),
                bytes: settings.batch_bytes,
                delay: settings.batch_time.map(|delay| delay.0),
            },
            interval: settings.interval("calls")?,
            route: settings.route(),
            back_ends: settings.back_ends().get() as usize,
            reconnect_after: settings.reconnect_after.map(|calls| calls.get() as usize),
            down: settings
                .link
                .as_ref()
                .map_or(DirectionSpec::IDEAL, |link| link.0.down.clone()),
            real,
        };
        let gathers = plan.batch != BatchLimits::SINGLE;
        let one_way = plan.call == Call::OneWay;
        let contradictions = [
            (gathers && !one_way, "a batch has one-way calls", "call = \"one-way\""),
            (
                plan.back_ends > 1 && !one_way,
                "several back ends make one-way calls",
                "call = \"one-way\"",
            ),
            (
                plan.route == Route::Router && !one_way,
                "the router gathers one-way calls",
                "call = \"one-way\"",
            ),
            (
                plan.route == Route::Router && plan.protocol == Protocol::Giop,
                "GIOP has no batches for the router to send",
                "encoding = \"ice\", or protocol = \"raw\"",
            ),
            (
                plan.reconnect_after.is_some() && (plan.back_ends > 1 || plan.route == Route::Router),
                "only the direct connection of one back end is lost",
                "route = \"direct\" and back_ends = 1",
            ),
            (
                plan.reconnect_after.is_some() && one_way && matches!(plan.protocol, Protocol::Http1 | Protocol::Http2),
                "a connection that is closed before its responses arrived may lose requests",
                "call = \"two-way\"",
            ),
            (
                plan.back_ends > plan.calls,
                "every back end makes a call",
                "as many calls as back_ends, or more",
            ),
        ];
        match contradictions.iter().find(|(is_there, ..)| *is_there) {
            Some((_, problem, remedy)) => Err(format!("{problem}; use {remedy}")),
            None => Ok(plan),
        }
    }

    /// The time that one call takes by arithmetic, where the link's rate decides it: its bytes and the headers of its packets, at the
    /// link's rate. Delays are left out.
    pub(super) fn predicted_time(&self, message_bytes: u64) -> Option<Duration> {
        let rate = self.down.rate_mean().filter(|_| self.calls == 1)?;
        let packets = message_bytes.div_ceil(SEGMENT);
        let headers = self.down.framing_overhead.get() + SEGMENT_HEADERS;
        Some(lastmile_units::ByteCount::new(message_bytes + packets * headers) / rate)
    }
}

/// The payload of a full segment, and the headers of IPv4 and of TCP with timestamps.
const SEGMENT: u64 = 1448;
const SEGMENT_HEADERS: u64 = 52;

fn batch_calls(settings: &Settings) -> NonZeroUsize {
    let limited_otherwise = settings.batch_bytes.is_some() || settings.batch_time.is_some();
    let default = if limited_otherwise {
        NonZeroUsize::MAX
    } else {
        NonZeroUsize::MIN
    };
    let calls = |calls: NonZeroU32| NonZeroUsize::try_from(calls).unwrap_or(NonZeroUsize::MAX);
    settings.batch.map_or(default, calls)
}

fn compression(settings: &Settings, protocol: Protocol) -> Result<Compression, String> {
    match settings.codec {
        None => Ok(Compression::None),
        Some(Codec::Content(codec)) if codec.is_identity() => Ok(Compression::None),
        Some(Codec::Content(codec)) => Err(format!(
            "codec {codec} is a content coding of HTTP; use bzip2, or a codec for messages such as zstd:3/w17/no-takeover"
        )),
        Some(Codec::Rpc(codec)) => match codec.kind {
            // As with the ORBs of the published comparison: GIOP has no compression of its own, and a study that asks Ice for it compares both.
            RpcCodecKind::Bzip2(_) if protocol == Protocol::Giop => Ok(Compression::None),
            RpcCodecKind::Bzip2(_) if protocol != Protocol::Ice => Err(format!(
                "codec {codec} is that of the Ice protocol; with {protocol} use a codec for messages such as zstd:3/w17/no-takeover"
            )),
            RpcCodecKind::Bzip2(level) => Ok(Compression::Ice {
                level,
                policy: if codec.if_smaller {
                    CompressionPolicy::IfSmaller
                } else {
                    CompressionPolicy::AboveThreshold
                },
            }),
            RpcCodecKind::Message(message) => Ok(Compression::Frames {
                codec: message,
                if_smaller: codec.if_smaller,
                dictionary: codec.dictionary,
            }),
        },
    }
}
