//! The record of `lastmile inspect`: a capture's connections, what each side sent, and the HTTP transactions.
//!
//! Every name that ends in a unit holds a plain number of it (`_s` seconds, `_bytes`, `_bit_per_second`); other numbers are counts. Of
//! a connection's two directions, *up* is what the client sent and *down* what the server sent.

use lastmile_report::record::{Chart, Doubt, Figure};
#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `lastmile inspect` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Inspection {
    /// `lastmile/inspect/1`.
    #[cfg_attr(test, schemars(extend("const" = Inspection::SCHEMA)))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// The file, and what is in it.
    pub capture: Capture,
    /// TCP connections, in the order of their first packets.
    pub connections: Vec<Connection>,
    /// UDP flows, in the order of their first packets.
    pub udp: Vec<UdpFlow>,
    /// HTTP/1.1 transactions in clear text.
    pub http: Http,
    /// The frames of 802.11, if the capture has any.
    pub wireless: Wireless,
    /// Time-sequence plots of the connections that carried most bytes.
    pub charts: Vec<Chart>,
    /// What makes the whole suspect.
    pub doubts: Vec<Doubt>,
}

impl Inspection {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/inspect/1";
}

/// A capture file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Capture {
    /// The file, as it was named; `-` is standard input.
    pub source: String,
    /// `pcap` or `pcapng`.
    pub format: String,
    /// How long it is, as far as it was read.
    pub file_bytes: u64,
    /// Packets in it.
    pub packets: u64,
    /// Their bytes on the wire, including the headers before IP.
    pub bytes: u64,
    /// When the first packet passed, since 1970; in captures of a simulated world, since that world began. To 0.2 µs.
    pub began_s: f64,
    /// From the first packet to the last.
    pub duration_s: f64,
    /// Where packets were captured.
    pub interfaces: Vec<Interface>,
    /// Packets that the capture holds only in part.
    pub snapped: u64,
    /// Packets in no flow, by reason: `not IP`, `fragment`, `other protocol`, `broken header`, `unknown link`, `MAC retry`.
    pub set_aside: BTreeMap<String, u64>,
    /// The writer's comments on packets.
    pub comments: Vec<Comment>,
}

/// An interface at which packets were captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Interface {
    /// The link layer of its packets: `Ethernet`, `raw IPv4`.
    pub link_type: String,
    /// The most bytes that were captured per packet; none where there was no limit.
    pub snap_length_bytes: Option<u64>,
}

/// A comment on packets: `dropped: full queue`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Comment {
    /// The comment.
    pub text: String,
    /// On how many packets.
    pub packets: u64,
}

/// A TCP connection, as far as it was captured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Connection {
    /// Address and port of the sender of the SYN, or of the first packet where no SYN was captured.
    pub client: String,
    /// Address and port of the other.
    pub server: String,
    /// When its first packet passed, since the capture's first.
    pub began_s: f64,
    /// From its first packet to its last.
    pub duration_s: f64,
    /// How it began.
    pub opening: Opening,
    /// Its handshake; none where the capture lacks part of it.
    pub handshake: Option<Handshake>,
    /// What the client sent.
    pub up: Sent,
    /// What the server sent.
    pub down: Sent,
    /// Times without a packet.
    pub idle: Idle,
    /// The writer's comments on its packets.
    pub comments: Vec<Comment>,
    /// What makes its figures suspect.
    pub doubts: Vec<Doubt>,
}

/// How a connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// With a handshake.
    Handshake,
    /// With a SYN; its answer was not captured or never came.
    Unanswered,
    /// Before the capture began.
    BeforeCapture,
}

/// A handshake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Handshake {
    /// From the last SYN before the SYN-ACK to the SYN-ACK's acknowledgement: a whole round trip, wherever it was captured.
    pub round_trip_s: f64,
    /// From that SYN to its SYN-ACK: the path from the capture point to the server and back.
    pub server_side_s: f64,
    /// How often SYN and SYN-ACK were retransmitted.
    pub resent: u64,
}

/// What one side of a connection sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// IP packets, including headers.
    pub bytes: u64,
    /// Headers of IP and TCP in them.
    pub header_bytes: u64,
    /// `header_bytes / bytes`; none where nothing was sent.
    pub header_share: Option<f64>,
    /// Payload, including retransmissions.
    pub payload_bytes: u64,
    /// Payload, each byte counted once.
    pub payload_once_bytes: u64,
    /// `payload_once_bytes` over the connection's duration; none where that is 0.
    pub goodput_bit_per_second: Option<f64>,
    /// Segments that hold a byte that passed before, SYN and FIN counting as one byte each.
    pub retransmissions: u64,
    /// Those among them whose payload was already acknowledged in full.
    pub spurious_retransmissions: u64,
    /// Bytes that passed before.
    pub retransmitted_bytes: u64,
    /// Segments that fill a hole. Wireshark divides `retransmissions + out_of_order` by time rather than by bytes.
    pub out_of_order: u64,
    /// Segments beyond a hole.
    pub after_hole: u64,
    /// Acknowledgements that repeat the last one (RFC 5681 section 2).
    pub duplicate_acknowledgements: u64,
    /// Keep-alives (RFC 9293 section 3.8.4).
    pub keep_alives: u64,
    /// Window probes (RFC 9293 section 3.8.6.1).
    pub window_probes: u64,
    /// Segments that announce a window of zero.
    pub zero_windows: u64,
    /// How long its window was zero.
    pub zero_window_time_s: f64,
    /// The maximum segment size that its SYN announced.
    pub maximum_segment_size_bytes: Option<u64>,
    /// Whether it sent a FIN.
    pub fin: bool,
    /// Whether it reset the connection.
    pub reset: bool,
    /// From its segments to their acknowledgements at the capture point, except acknowledgements of retransmitted data
    /// (Karn's rule). Quantiles are within 0.6 %. None where there are no samples.
    pub round_trip_karn: Option<Figure>,
    /// The same with every acknowledgement, from the first time that a segment passed.
    pub round_trip: Option<Figure>,
    /// Bytes sent and not yet acknowledged, after each segment with payload. Quantiles are within 0.6 %.
    pub in_flight: Option<Figure>,
    /// The most bytes in flight.
    pub in_flight_max_bytes: Option<u64>,
}

/// Times of a second or longer in which no packet of a connection passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Idle {
    /// How many.
    pub gaps: u64,
    /// Their total length.
    pub time_s: f64,
    /// The longest.
    pub longest_s: f64,
}

/// The packets between two UDP ports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct UdpFlow {
    /// Address and port of the sender of the first packet.
    pub client: String,
    /// Address and port of the other.
    pub server: String,
    /// When its first packet passed, since the capture's first.
    pub began_s: f64,
    /// From its first packet to its last.
    pub duration_s: f64,
    /// What the client sent.
    pub up: UdpSent,
    /// What the server sent.
    pub down: UdpSent,
}

/// What one side of a UDP flow sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct UdpSent {
    /// Packets.
    pub packets: u64,
    /// IP packets, including headers.
    pub bytes: u64,
    /// Headers of IP and UDP in them.
    pub header_bytes: u64,
}

/// HTTP/1.1 in clear text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Http {
    /// Requests seen.
    pub transactions: u64,
    /// Those whose response is complete.
    pub whole: u64,
    /// From a request's first byte to its response's first, over the complete ones.
    pub time_to_first_byte: Option<Figure>,
    /// From a request's first byte to its response's last, over the complete ones.
    pub time_to_last_byte: Option<Figure>,
    /// The first 10,000 that ended, in the order of their beginning.
    pub listed: Vec<Transaction>,
}

/// The frames of 802.11, as a monitor heard them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Wireless {
    /// All frames.
    pub total: FrameCounts,
    /// The airtime of all frames over the capture's duration; above 1 where frames overlap. None where there are no frames, or the duration is 0.
    pub airtime_share: Option<f64>,
    /// The frames of each kind at each rate.
    pub kinds: Vec<FramesOfKind>,
    /// The frames of each sender that is stated: ACKs and CTSs state none.
    pub stations: Vec<FramesOfStation>,
}

/// Numbers of frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct FrameCounts {
    /// Frames.
    pub frames: u64,
    /// Those that the MAC sends again.
    pub retries: u64,
    /// From the 802.11 header to the frame check sequence.
    pub bytes: u64,
    /// Their time on the air, preambles included.
    pub airtime_s: f64,
}

/// The frames of a kind at a rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct FramesOfKind {
    /// `data`, `ACK`, `RTS`, `CTS`, `beacon`, `management`, `control`.
    pub kind: String,
    /// The rate; none where it was not captured.
    pub rate_bit_per_second: Option<u64>,
    /// How many.
    #[serde(flatten)]
    pub counts: FrameCounts,
}

/// The frames that a station sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct FramesOfStation {
    /// Its hardware address.
    pub address: String,
    /// How many.
    #[serde(flatten)]
    pub counts: FrameCounts,
    /// The mean of their signal powers in dBm; none where none was captured.
    pub signal_mean_dbm: Option<f64>,
}

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Transaction {
    /// The index of its connection in `connections`, from 0.
    pub connection: u64,
    /// `GET`.
    pub method: String,
    /// The request target; its first 1024 characters.
    pub target: String,
    /// The response's status; none where no response was captured.
    pub status: Option<u16>,
    /// The request's content.
    pub request_bytes: u64,
    /// The response's content, as transferred.
    pub response_bytes: u64,
    /// When the request's first byte passed, since the capture's first packet.
    pub began_s: f64,
    /// From there to the response's first byte.
    pub time_to_first_byte_s: Option<f64>,
    /// From there to the response's last byte; none where the response is incomplete.
    pub time_to_last_byte_s: Option<f64>,
}
