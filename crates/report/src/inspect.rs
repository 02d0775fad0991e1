//! What is published by `lastmile inspect`? What a capture says: its connections, what each side sent, and what was asked and answered.
//!
//! Every name that ends in a unit holds a plain number of it (`_s` seconds, `_bytes`, `_bit_per_second`); other numbers are counts. Of
//! a connection's two directions, *up* is what the client sent and *down* what the server sent.

use crate::record::{Chart, Doubt, Figure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `lastmile inspect` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// `lastmile/inspect/1`.
    #[schemars(extend("const" = Inspection::SCHEMA))]
    pub schema: String,
    /// The version of lastmile.
    pub version: String,
    /// The file, and what is in it.
    pub capture: Capture,
    /// TCP connections, in the order of their first packets.
    pub connections: Vec<Connection>,
    /// UDP flows, in the order of their first packets.
    pub udp: Vec<UdpFlow>,
    /// What was asked and answered in clear HTTP/1.1.
    pub http: Http,
    /// Time-sequence plots of the connections that carried most.
    pub charts: Vec<Chart>,
    /// What makes the whole suspect.
    pub doubts: Vec<Doubt>,
}

impl Inspection {
    /// The name of this schema.
    pub const SCHEMA: &str = "lastmile/inspect/1";
}

/// A capture file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// The file, as it was named; `-` is standard input.
    pub source: String,
    /// `pcap` or `pcapng`.
    pub format: String,
    /// How long it is, as far as it was read.
    pub file_bytes: u64,
    /// Packets in it.
    pub packets: u64,
    /// Their octets on the wire, whatever stands before IP packets included.
    pub bytes: u64,
    /// When the first packet passed, since 1970; since the world began in captures of a simulated one. To 0.2 µs.
    pub began_s: f64,
    /// From the first packet to the last.
    pub duration_s: f64,
    /// Where packets were captured.
    pub interfaces: Vec<Interface>,
    /// Packets of which less was kept than passed.
    pub snapped: u64,
    /// Packets in no flow, by why: `not IP`, `fragment`, `other protocol`, `broken header`, `unknown link`.
    pub set_aside: BTreeMap<String, u64>,
    /// What the writer remarks on packets.
    pub comments: Vec<Comment>,
}

/// What packets were captured at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// What packets begin with: `Ethernet`, `raw IPv4`.
    pub link_type: String,
    /// How many octets of a packet were kept at most; none where all were.
    pub snap_length_bytes: Option<u64>,
}

/// A remark on packets: `dropped: full queue`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    /// The remark.
    pub text: String,
    /// On how many packets.
    pub packets: u64,
}

/// A TCP connection, as far as it was captured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Connection {
    /// Address and port of who sent the SYN; of who sent the first packet where none was captured.
    pub client: String,
    /// Address and port of the other.
    pub server: String,
    /// When its first packet passed, since the capture's first.
    pub began_s: f64,
    /// From its first packet to its last.
    pub duration_s: f64,
    /// How it began.
    pub opening: Opening,
    /// Its handshake; none where it was not captured whole.
    pub handshake: Option<Handshake>,
    /// What the client sent.
    pub up: Sent,
    /// What the server sent.
    pub down: Sent,
    /// Times without a packet.
    pub idle: Idle,
    /// What the writer remarks on its packets.
    pub comments: Vec<Comment>,
    /// What makes its figures suspect.
    pub doubts: Vec<Doubt>,
}

/// How a connection began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Handshake {
    /// From the last SYN before the answer to the answer's acknowledgement: a whole round trip, wherever it was captured.
    pub round_trip_s: f64,
    /// From that SYN to its answer: the way from the place of capture to the server and back.
    pub server_side_s: f64,
    /// How often SYN and answer were sent again.
    pub resent: u64,
}

/// What one side of a connection sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// IP packets, headers and all.
    pub bytes: u64,
    /// Headers of IP and TCP in them.
    pub header_bytes: u64,
    /// `header_bytes / bytes`; none where nothing was sent.
    pub header_share: Option<f64>,
    /// Payload, what was sent again included.
    pub payload_bytes: u64,
    /// Payload, each octet once.
    pub payload_once_bytes: u64,
    /// `payload_once_bytes` over the connection's duration; none where that is 0.
    pub goodput_bit_per_second: Option<f64>,
    /// Segments that hold an octet that passed before, SYN and FIN counting as octets.
    pub retransmissions: u64,
    /// Those among them that hold payload, and nothing but what was already acknowledged.
    pub spurious_retransmissions: u64,
    /// Octets that passed before.
    pub retransmitted_bytes: u64,
    /// Segments that fill a hole. Wireshark parts `retransmissions + out_of_order` in two by time and not by octets.
    pub out_of_order: u64,
    /// Segments beyond a hole.
    pub after_hole: u64,
    /// Acknowledgements that say once more what the last one said (RFC 5681 section 2).
    pub duplicate_acknowledgements: u64,
    /// Keep-alives (RFC 9293 section 3.8.4).
    pub keep_alives: u64,
    /// Window probes (RFC 9293 section 3.8.6.1).
    pub window_probes: u64,
    /// Segments that announce a window of zero.
    pub zero_windows: u64,
    /// How long its window was zero.
    pub zero_window_time_s: f64,
    /// What its SYN announced.
    pub maximum_segment_size_bytes: Option<u64>,
    /// Whether it said that it will send no more.
    pub fin: bool,
    /// Whether it broke the connection off.
    pub reset: bool,
    /// From its segments to their acknowledgements at the place of capture, without those that acknowledge anything that was sent twice
    /// (Karn's rule). Quantiles are within 0.6 %. None where there are no samples.
    pub round_trip_karn: Option<Figure>,
    /// The same with all of them, from the first time that a segment passed.
    pub round_trip: Option<Figure>,
    /// Octets sent and not acknowledged, after each segment with payload. Quantiles are within 0.6 %.
    pub in_flight: Option<Figure>,
    /// The most octets in flight.
    pub in_flight_max_bytes: Option<u64>,
}

/// Times of a second or longer in which no packet of a connection passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Idle {
    /// How many.
    pub gaps: u64,
    /// How long together.
    pub time_s: f64,
    /// The longest.
    pub longest_s: f64,
}

/// What passed between two UDP ports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UdpFlow {
    /// Address and port of who sent the first packet.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UdpSent {
    /// Packets.
    pub packets: u64,
    /// IP packets, headers and all.
    pub bytes: u64,
    /// Headers of IP and UDP in them.
    pub header_bytes: u64,
}

/// HTTP/1.1 in clear.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Http {
    /// Requests seen.
    pub transactions: u64,
    /// Those whose response is whole.
    pub whole: u64,
    /// From a request's first octet to its response's first, of those that are whole.
    pub time_to_first_byte: Option<Figure>,
    /// From a request's first octet to its response's last, of those that are whole.
    pub time_to_last_byte: Option<Figure>,
    /// The first 10,000 that ended, in the order of their beginning.
    pub listed: Vec<Transaction>,
}

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transaction {
    /// The place of its connection among `connections`, from 0.
    pub connection: u64,
    /// `GET`.
    pub method: String,
    /// What was asked for; its first 1024 characters.
    pub target: String,
    /// The response's; none where none was captured.
    pub status: Option<u16>,
    /// The request's content.
    pub request_bytes: u64,
    /// The response's content, as it was carried.
    pub response_bytes: u64,
    /// When the request's first octet passed, since the capture's first packet.
    pub began_s: f64,
    /// From there to the response's first octet.
    pub time_to_first_byte_s: Option<f64>,
    /// From there to the response's last octet; none where it is not whole.
    pub time_to_last_byte_s: Option<f64>,
}
