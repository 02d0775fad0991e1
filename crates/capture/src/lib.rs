//! What does a capture say? pcap and pcapng bytes to packets, to flows, to figures. Sans-IO: any reader will do, nothing reads a clock.
//!
//! [`analyse`] reads a capture in one pass, in memory that the number of flows bounds and not the file's size. [`Segments`] lists
//! every TCP segment, [`websocket`] the messages of WebSocket connections. [`Packets`] is the reader alone.
//!
//! ```no_run
//! let file = std::fs::File::open("client.pcapng").unwrap();
//! let analysis = lastmile_capture::analyse(file, "client.pcapng").unwrap();
//! for flow in &analysis.tcp {
//!     println!("{} {:?} {}", flow.server, flow.duration(), flow.down.retransmissions);
//! }
//! ```

mod analysis;
mod container;
#[cfg(test)]
mod crafted;
mod datagram;
mod distribution;
mod error;
mod http;
mod link_layer;
pub mod published;
mod segments;
mod stream;
mod tcp;
mod trace;
mod udp;
pub mod websocket;

pub use analysis::{Analysis, LISTED_MAX, Transactions, analyse};
pub use container::{Format, Interface, LinkType, Packet, Packets};
pub use datagram::SetAside;
pub use distribution::Distribution;
pub use error::{CaptureError, Problem};
pub use http::Transaction;
pub use link_layer::link_type_name;
pub use segments::Segments;
pub use tcp::{Drawn, Idle, Opening, RoundTrips, Sent, TcpFlow};
pub use trace::Trace;
pub use udp::{UdpFlow, UdpSent};
