//! What do the settings of a cell ask for? Read once, so that what is missing or contradictory is said before anything runs.

#[cfg(target_os = "linux")]
mod emulated;

use crate::settings::{
    CongestionControl, Delivery, Filter, Hosts, Nagle, Pace, RoundTrip, ServerName, Settings, SlowDown, World, Writes,
};
use crate::site::SiteSpec;
use crate::websocket::Coding;
use lastmile_payload::codec::CodecSpec;
use lastmile_payload::message_codec::{MessageCodec, Policy, Strategy};
use lastmile_payload::workload::{RequestResponse, WorkloadSpec};
use lastmile_units::{Bytes, Probability, Seed};
use lastmile_world::sim::CpuSpec;
use lastmile_world::tcp;
use std::time::Duration;

/// What is done in a cell.
#[derive(Debug, Clone)]
pub(super) enum Task {
    /// Something is delivered over a link.
    Deliver(Box<Plan>),
    /// Messages are coded where they are.
    Code(Messages),
}

/// A delivery's settings, understood.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) site: SiteSpec,
    pub(super) delivered: Delivered,
}

/// What is carried, and how.
#[derive(Debug, Clone)]
pub(super) enum Delivered {
    /// So many bytes over one TCP connection.
    Bytes(Bytes),
    /// Exchanges over one TCP connection that stays open.
    Exchanges(RequestResponse),
    /// Objects in one HTTP/1.1 response.
    Objects(Objects),
    /// Messages over WebSocket.
    Messages(Box<WebSocket>),
}

/// Messages, and how they are coded.
#[derive(Debug, Clone)]
pub(super) struct Messages {
    pub(super) workload: WorkloadSpec,
    pub(super) codec: MessageCodec,
    /// Which of them are, in how many fragments, and for how long a context is kept for nothing.
    pub(super) policy: Policy,
    /// How many times longer coding takes than by the cost table.
    pub(super) slow_down: f64,
}

/// Messages, and how they are delivered.
#[derive(Debug, Clone)]
pub(super) struct WebSocket {
    pub(super) messages: Messages,
    /// Who codes them, WebSocket or the application.
    pub(super) coding: Coding,
    pub(super) pace: Pace,
    pub(super) server: ServerName,
}

/// Objects, and how the server sends them.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    pub(super) workload: WorkloadSpec,
    pub(super) codec: CodecSpec,
    /// Whether the response is complete before its first octet leaves.
    pub(super) whole: bool,
    pub(super) object_time: Duration,
    pub(super) server: ServerName,
}

impl Task {
    /// Understands `settings`; otherwise a message for the writer of the study.
    pub(super) fn of(settings: &Settings) -> Result<Self, String> {
        if settings.delivery == Some(Delivery::InMemory) {
            Messages::in_memory(settings).map(Self::Code)
        } else {
            Plan::of(settings).map(Box::new).map(Self::Deliver)
        }
    }

    /// About how long one repeat keeps a core busy.
    pub(super) fn expected_time(&self) -> Duration {
        match self {
            Self::Deliver(plan) => plan.delivered.expected_time(),
            Self::Code(messages) => messages.expected_time(),
        }
    }
}

impl Messages {
    fn in_memory(settings: &Settings) -> Result<Self, String> {
        if settings.world == Some(World::Emulated) {
            return Err(
                "delivery in-memory sends no packet, so there is nothing to emulate; run it with --world sim"
                    .to_owned(),
            );
        }
        if let Some(link) = &settings.link {
            return Err(format!(
                "delivery in-memory goes over no link, and link is {link}; remove one of them"
            ));
        }
        Self::of(settings)
    }

    /// Understands how messages are coded, whatever carries them; otherwise a message for the writer of the study.
    pub(super) fn of(settings: &Settings) -> Result<Self, String> {
        let workload = settings
            .delivered()
            .ok_or("no workload is set; add workload = { kind = \"chat\", messages = 666 } to [fixed] or [factors]")?;
        Ok(Self {
            workload: workload.content().clone(),
            codec: settings.codec_of_messages()?,
            policy: settings.policy_of_messages(),
            slow_down: settings.cpu_slowdown.unwrap_or(SlowDown::NONE).get(),
        })
    }

    fn expected_time(&self) -> Duration {
        // Any seed will do, as for objects.
        let bytes = self
            .workload
            .messages(Seed::new(0))
            .map_or(0, |messages| messages.iter().map(|message| message.payload.len()).sum());
        A_REPEAT + Duration::from_secs_f64(bytes as f64 * SECONDS_A_MESSAGE_BYTE)
    }
}

impl Plan {
    /// Understands `settings`; otherwise a message for the writer of the study.
    pub(super) fn of(settings: &Settings) -> Result<Self, String> {
        let missing =
            |key: &str, example: &str| format!("no {key} is set; add {key} = {example} to [fixed] or [factors]");
        let link = settings
            .link
            .as_ref()
            .ok_or_else(|| missing("link", "\"wpt/3g\""))?
            .0
            .clone();
        let link = match settings.round_trip {
            Some(RoundTrip::Of(round_trip)) => link.with_round_trip(round_trip),
            Some(RoundTrip::OfLink) | None => link,
        };
        Self::check_world(settings)?;
        let slow_down = settings.cpu_slowdown.unwrap_or(SlowDown::NONE);
        let cpu = |slow_down: SlowDown| CpuSpec {
            slow_down: slow_down.get(),
            background_load: settings.background_load.map_or(0.0, Probability::get),
            ..CpuSpec::default()
        };
        Ok(Self {
            site: SiteSpec {
                link,
                tcp: Self::tcp(settings),
                #[cfg(target_os = "linux")]
                kernel: emulated::kernel(settings),
                server_cpu: cpu(slow_down),
                client_cpu: cpu(settings.cpu_slowdown_client.unwrap_or(slow_down)),
                hosts: settings.hosts.unwrap_or(Hosts::Two),
            },
            delivered: Delivered::of(settings)?,
        })
    }

    /// Whether the cell's world can do what is asked of it.
    fn check_world(settings: &Settings) -> Result<(), String> {
        match settings.world.unwrap_or_default() {
            World::Simulated => match settings.server.as_ref().filter(|server| !server.is_ours()) {
                Some(server) => Err(format!(
                    "server {server} is a real program, and those run in the emulated world alone; set world = \"emu\" for this part"
                )),
                None => Ok(()),
            },
            #[cfg(target_os = "linux")]
            World::Emulated => emulated::check(settings),
            #[cfg(not(target_os = "linux"))]
            World::Emulated => {
                Err("the emulated world is made of what Linux alone has; set world = \"sim\"".to_owned())
            }
        }
    }

    fn tcp(settings: &Settings) -> tcp::Config {
        let mut config = tcp::Config::default();
        if let Some(segments) = settings.initial_window {
            config.initial_window = segments.get();
        }
        config.nagle = match settings.nagle_of_delivery() {
            Nagle::Off => tcp::Nagle::Off,
            Nagle::Classic => tcp::Nagle::Classic,
            Nagle::On => tcp::Nagle::Minshall,
        };
        if let Some(window) = settings.receive_window {
            (config.receive_window, config.receive_window_maximum) = (window, window);
        }
        if let Some(delay) = settings.delayed_acknowledgement {
            (config.delayed_acknowledgement, config.quick_acknowledgements) = (delay.0, 0);
        }
        config.congestion_control = match settings.congestion_control {
            Some(CongestionControl::Reno) => tcp::CongestionControl::Reno,
            Some(CongestionControl::Bbr) => tcp::CongestionControl::Bbr,
            Some(CongestionControl::Cubic) | None => tcp::CongestionControl::Cubic,
        };
        config
    }
}

/// What a repeat keeps a core busy with whatever it delivers, and what each octet adds: of bulk, a full packet of which (1,448 octets)
/// takes 0.6 us; and of objects, which are made, written, coded, carried and decoded. Measured with 200 repeats of 1 kB to 10 MB of
/// bulk and of cases A to H, on the machine of the reference cost table: 12 to 37 ns an octet of objects, the most where they are
/// small. Losses and the codec are left out; gzip:6 adds less than a third.
const A_REPEAT: Duration = Duration::from_micros(50);
const SECONDS_A_BULK_BYTE: f64 = 0.6e-6 / 1448.0;
const SECONDS_AN_OBJECT_BYTE: f64 = 25e-9;

/// What an octet of messages adds, which are made, coded and decoded: that of short ones of a chat, which deflate takes longest for.
const SECONDS_A_MESSAGE_BYTE: f64 = 80e-9;

impl Delivered {
    /// About how long one repeat keeps a core busy.
    pub(super) fn expected_time(&self) -> Duration {
        let seconds = match self {
            Self::Bytes(bytes) => bytes.as_f64() * SECONDS_A_BULK_BYTE,
            Self::Exchanges(exchanges) => exchanges.total().as_f64() * SECONDS_A_BULK_BYTE,
            // Any seed will do: their sizes depend little on it. A workload that cannot be made fails at once.
            Self::Objects(objects) => objects.workload.generate(Seed::new(0)).map_or(0.0, |stream| {
                let bytes: usize = stream.objects.iter().map(bytes::Bytes::len).sum();
                bytes as f64 * SECONDS_AN_OBJECT_BYTE
            }),
            Self::Messages(asked) => return asked.messages.expected_time(),
        };
        A_REPEAT + Duration::from_secs_f64(seconds)
    }

    fn of(settings: &Settings) -> Result<Self, String> {
        let workload = settings.delivered().ok_or(
            "no workload is set; add workload = { kind = \"bulk\", bytes = \"1 MB\" } to [fixed] or [factors]",
        )?;
        match (settings.delivery.unwrap_or(Delivery::Http1), workload.content()) {
            (Delivery::Tcp, WorkloadSpec::Bulk(bulk)) => Ok(Self::Bytes(bulk.bytes)),
            (Delivery::Tcp, WorkloadSpec::RequestResponse(exchanges)) => Ok(Self::Exchanges(exchanges.clone())),
            (Delivery::Http1, content @ (WorkloadSpec::TestExecutions(_) | WorkloadSpec::TmPackets(_))) => {
                Ok(Self::Objects(Objects::of(content, settings)))
            }
            (Delivery::WebSocket, content) if content.decoder().is_none() => {
                WebSocket::of(settings).map(Box::new).map(Self::Messages)
            }
            (delivery, content) => Err(format!(
                "delivery {delivery} does not carry {} here; bulk and request-response go over \"tcp\", objects over \"http/1.1\", messages over \"websocket\" or \"in-memory\"",
                content.kind()
            )),
        }
    }
}

impl WebSocket {
    fn of(settings: &Settings) -> Result<Self, String> {
        let messages = Messages::of(settings)?;
        let policy = &messages.policy;
        let coding = Coding::of(messages.codec);
        let told_by_rsv1 = [
            ("uncompressed", policy.skip.is_some()),
            ("compression_threshold", policy.threshold > Bytes::ZERO),
            ("reset_after_idle", policy.reset_after_idle.is_some()),
        ];
        if let Some((key, _)) = told_by_rsv1.iter().find(|(_, is_set)| *is_set)
            && coding.is_applications()
        {
            return Err(format!(
                "message_codec is {}, which the application codes every message by, and {key} codes some otherwise: only permessage-deflate's \
                 receiver need not be told which; leave it out, or take deflate",
                messages.codec
            ));
        }
        let server = settings.server.clone().unwrap_or_default();
        let pace = settings.message_interval.unwrap_or_default();
        let other_codec = format!("message_codec = \"{}\"", messages.codec);
        let only_ours = [
            ("fragment", policy.fragment.is_some()),
            ("uncompressed", policy.skip.is_some()),
            ("compression_threshold", policy.threshold > Bytes::ZERO),
            ("reset_after_idle", policy.reset_after_idle.is_some()),
            (
                "strategy",
                coding
                    .extension()
                    .is_some_and(|(deflate, _)| deflate.strategy != Strategy::Default),
            ),
            (
                other_codec.as_str(),
                !matches!(messages.codec, MessageCodec::Identity | MessageCodec::Deflate(_)),
            ),
            ("message_interval = \"one-by-one\"", pace == Pace::OneByOne),
        ];
        match only_ours.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) if !server.is_ours() => Err(format!(
                "server {server} cannot be told {key}; leave it out for this part, or set server = \"lastmile\""
            )),
            _ => Ok(Self {
                messages,
                coding,
                pace,
                server,
            }),
        }
    }

    /// Whether the messages are the same whatever the seed.
    pub(super) const fn is_recorded(&self) -> bool {
        matches!(self.messages.workload, WorkloadSpec::Transcript(_))
    }
}

impl Objects {
    fn of(workload: &WorkloadSpec, settings: &Settings) -> Self {
        let codec = settings.codec.unwrap_or(CodecSpec::IDENTITY);
        let whole = if codec.is_identity() {
            settings.writes == Some(Writes::Buffered)
        } else {
            settings.filter != Some(Filter::Stream)
        };
        let object_time = settings.object_time.map_or(Duration::ZERO, |time| time.0);
        Self {
            workload: workload.clone(),
            codec,
            whole,
            object_time,
            server: settings.server.clone().unwrap_or_default(),
        }
    }
}
