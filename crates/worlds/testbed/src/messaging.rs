//! Delivers messages over WebSocket in both directions, in either world.
//!
//! `message_schedule` is the schedule of messages per connection; `compression_mode` is their compression; `cpu_cost` is the simulated CPU
//! time of that. `endpoint` is either end of a connection; `client` opens connections, and `server`, ours, answers; `out_of_band` signals between
//! the ends outside the link. Every message is compared with the expected one: a lost or altered message is a failure.

mod client;
mod compression_mode;
mod cpu_cost;
mod endpoint;
mod message_schedule;
mod out_of_band;
mod server;

pub use client::Clients;
pub use compression_mode::CompressionMode;
pub use cpu_cost::{CpuCost, NoCpuCost};
pub use endpoint::EndpointResult;
pub use message_schedule::{ClockOrigin, Connection, Conversation, ScheduledMessage, SendTime};

use crate::failure::Failure;
use crate::testbed::{TestbedWorld, TwoHostTestbed};
use lastmile_codec::message::Deflate;
use lastmile_units::{Instant, Seed};
use lastmile_websocket::CompressorParameters;
use lastmile_world::Host;
use out_of_band::OutOfBand;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

/// The port of our own server.
pub const PORT: u16 = 80;

/// The settings that both ends of every connection share.
#[derive(Clone)]
pub struct ConnectionOptions {
    /// How messages are compressed.
    pub compression: CompressionMode,
    /// The simulated CPU time of compression.
    pub cpu_cost: Rc<dyn CpuCost>,
}

impl ConnectionOptions {
    /// No simulated CPU time is charged for compression.
    pub fn without_cpu_cost(coding: CompressionMode) -> Self {
        Self {
            compression: coding,
            cpu_cost: Rc::new(NoCpuCost),
        }
    }
}

/// The record of a connection.
pub struct ConnectionResult {
    /// When the client started to open it.
    pub began: Instant,
    /// The end of the client.
    pub client: EndpointResult,
    /// The end of our own server; none for a real server, whose end is not observed.
    pub server: Option<EndpointResult>,
}

/// Runs a conversation over a testbed's link, and returns the record of each connection; `seed` gives nonces and masks. The server is our own,
/// or a real one on the server's host that listens on the port `real_server`.
pub fn run_connections<W: TestbedWorld>(
    testbed: &TwoHostTestbed<W>,
    conversation: &Rc<Conversation>,
    options: &ConnectionOptions,
    real_server: Option<u16>,
    seed: Seed,
) -> Result<Vec<ConnectionResult>, Failure> {
    let out_of_bands: Rc<[OutOfBand]> = OutOfBand::one_per_connection(conversation.connections.len()).into();
    let servers = match real_server {
        None => server::serve(&testbed.server, conversation, options, &out_of_bands)?,
        Some(_) => Vec::new(),
    };
    let clients = Clients {
        host: testbed.client.clone(),
        address: testbed.server.address(real_server.unwrap_or(PORT)),
        options: options.clone(),
        seed,
    };
    let limit = testbed.limit(conversation.messages(), conversation.bytes());
    testbed.run_within(
        limit.saturating_add(conversation.latest_send_time()),
        clients.run_connections(Rc::clone(conversation), out_of_bands, servers),
    )?
}

impl EndpointResult {
    /// For each of `sender`'s messages, the time from when it was due until it was decompressed here.
    pub fn delivery_times(&self, sender: &Self) -> impl Iterator<Item = Duration> {
        self.deliveries(sender)
            .map(|delivery| delivery.end.saturating_since(delivery.start))
    }

    /// For each of `sender`'s messages, when it was due and when it was decompressed here.
    pub fn deliveries(&self, sender: &Self) -> impl Iterator<Item = Range<Instant>> {
        let pairs = sender.due.iter().zip(&self.complete);
        pairs.map(|(due, complete)| *due..*complete)
    }
}

/// A side's compressor with these settings.
const fn compressor(deflate: &Deflate) -> CompressorParameters {
    CompressorParameters {
        takeover: deflate.takeover,
        window_bits: deflate.window_bits,
    }
}

#[cfg(test)]
mod tests;
