//! When is each message of a transcript there, over WebSocket?
//!
//! What the transcript's writer sent goes from the server to the client, what it received from the client to the server; each of its
//! connections is a WebSocket connection of its own (`crate::websocket`). `arranged` says what goes over each, and when it is due; `costs`
//! what coding it costs; `peer` what a real server is told. Every message is held against the one that was to come: what is lost or altered
//! fails the repeat.
//!
//! Computing is what coding and decoding cost: masking, frames and the rest of a program are not in the cost table.

mod arranged;
mod costs;
mod peer;

pub(super) use arranged::Arranged;
pub(super) use peer::serve;

use super::plan::WebSocket;
use super::served::Served;
use crate::cost::CostTable;
use crate::figure;
use crate::observation::{Failure, Observation};
use crate::site::{Laboratory, Site};
use crate::websocket::{self, Conversation, Ended, Seen, Server, Terms};
use lastmile_units::{Bytes, Instant, Seed};
use lastmile_world::Host;
use std::rc::Rc;
use std::time::Duration;

/// Runs one repeat; `compute` seeds what computing costs, and the nonces and masks of clients.
pub(super) fn run<W: Laboratory>(
    site: &Site<W>,
    asked: &WebSocket,
    arranged: &Arranged,
    served: &Served,
    costs: &Rc<CostTable>,
    compute: Seed,
) -> Result<Observation, Failure> {
    let conversation = &arranged.conversation;
    let mut observation = Observation::default();
    let terms = Terms {
        coding: asked.coding.clone(),
        pricing: costs::pricing(asked.messages.codec, costs, compute.derive("coding"), &mut observation),
    };
    let (before, worked_before) = (site.tally(), served.cpu_time()?);
    let server = served.port().map_or(Server::Ours, Server::At);
    let start = site.client.now();
    let connections = websocket::converse(site, conversation, &terms, server, compute.derive("clients"))?;
    let done = site.tally().since(before);
    observe(site, conversation, start, &connections, &mut observation);
    observation.sample(figure::LINK_BYTES, done.bytes_down as f64);
    observation.sample(figure::LINK_BYTES_UP, done.bytes_up as f64);
    observation.sample(figure::RETRANSMISSIONS, done.retransmissions as f64);
    observation.sample(figure::QUEUE_DROPS, done.queue_drops as f64);
    observation.sample(figure::LINK_LOSSES, done.link_losses as f64);
    let server_cpu = served.cpu_time_since(worked_before, done.server_cpu)?;
    observation.sample(figure::SERVER_CPU_TIME, server_cpu.as_secs_f64());
    observation.sample(figure::CLIENT_CPU_TIME, done.client_cpu.as_secs_f64());
    observation.doubts.extend(arranged.doubt(&asked.server));
    if !costs.is_free() {
        observation.vary("calibration");
    }
    Ok(observation)
}

/// Adds what both ends saw.
fn observe<W: Laboratory>(
    site: &Site<W>,
    conversation: &Conversation,
    start: Instant,
    connections: &[Seen],
    observation: &mut Observation,
) {
    let mut handshake = Duration::ZERO;
    let mut last = start;
    let mut carried = Bytes::ZERO;
    for (connection, seen) in conversation.connections.iter().zip(connections) {
        let at_client = seen.client.opening.at;
        handshake = handshake.max(at_client.saturating_since(seen.began));
        let mut deliver = |times: &mut dyn Iterator<Item = Duration>, receiver: &Ended| {
            times.for_each(|time| observation.sample(figure::DELIVERY_TIME, time.as_secs_f64()));
            last = receiver.complete.iter().copied().max().unwrap_or(last).max(last);
            carried += receiver.coded;
        };
        match &seen.server {
            Some(server) => {
                deliver(&mut seen.client.delivery_times(server), &seen.client);
                deliver(&mut server.delivery_times(&seen.client), server);
            }
            None => {
                // When a peer's end opened nobody saw: it was as long before ours as its answer takes over a link that carries nothing else.
                let earlier = site.transit_down(seen.client.opening.head);
                let messages = connection.down.iter().zip(&seen.client.complete);
                let mut times = messages
                    .map(|(message, complete)| (*complete + earlier).saturating_since(at_client + message.due.known()));
                deliver(&mut times, &seen.client);
            }
        }
    }
    let plain = conversation.bytes();
    observation.sample(figure::HANDSHAKE_TIME, handshake.as_secs_f64());
    observation.sample(figure::TRANSFER_TIME, last.saturating_since(start).as_secs_f64());
    observation.sample(figure::MESSAGES, conversation.messages() as f64);
    observation.sample(figure::MESSAGE_BYTES, plain.as_f64());
    observation.sample(figure::COMPRESSED_BYTES, carried.as_f64());
    if plain > Bytes::ZERO {
        observation.sample(figure::COMPRESSION_RATIO, carried.as_f64() / plain.as_f64());
    }
}

#[cfg(test)]
mod tests;
