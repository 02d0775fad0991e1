//! Reads captures: pcap and pcapng bytes to packets, flows and figures. Sans-IO: it reads from any reader, and never reads a clock.
//!
//! [`analyse`] reads a capture in one pass; its memory is bounded by the number of flows and not by the file's size. [`Segments`] lists
//! every TCP segment, [`websocket`] the messages of WebSocket connections. [`Packets`] is the file reader alone.
//!
//! ```no_run
//! let file = std::fs::File::open("client.pcapng").unwrap();
//! let analysis = lastmile_capture::analyse(file, "client.pcapng").unwrap();
//! for flow in &analysis.tcp {
//!     println!("{} {:?} {}", flow.server, flow.duration(), flow.down.retransmissions);
//! }
//! ```

mod analysis;
mod connection_table;
mod container;
mod datagram;
mod downsampled_series;
mod error;
mod http;
mod link_layer;
mod packet_reader;
mod segments;
mod stream;
mod streaming_summary;
mod tcp;
#[cfg(any(test, feature = "testing"))]
pub mod test_packets;
mod udp;
pub mod websocket;
mod wireless;

pub use analysis::{Analysis, LISTED_MAX, Transactions, analyse};
pub use container::{Format, Interface, LinkType, Packet, Packets};
pub use datagram::SkipReason;
pub use downsampled_series::DownsampledSeries;
pub use error::{CaptureError, Problem};
pub use http::Transaction;
pub use link_layer::link_type_name;
pub use segments::Segments;
pub use streaming_summary::StreamingSummary;
pub use tcp::{Idle, Opening, RoundTrips, SentStatistics, TcpFlow, TimeSequenceSeries};
pub use udp::{UdpFlow, UdpSent};
pub use wireless::{FrameCounts, FrameKind, STATIONS_MAX, StationCounts, Wireless, address_text};
