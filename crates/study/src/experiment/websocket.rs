//! When is each message of a transcript there, over WebSocket?
//!
//! What the transcript's writer sent goes from the server to the client, what it received from the client to the server; each of its
//! connections is a WebSocket connection of its own (`crate::websocket`). `arranged` says what goes over each, and when it is due; `served`
//! says who serves. Every message is held against the one that was to come: what is lost or altered fails the repeat.
//!
//! Computing is what compressing and decompressing cost: masking, frames and the rest of a program are not in the cost table.

mod arranged;
mod served;

pub(super) use arranged::Arranged;
pub(super) use served::Served;

use super::plan::WebSocket;
use crate::cost::{CostTable, Coverage};
use crate::doubt;
use crate::figure;
use crate::observation::{Failure, Observation};
use crate::site::{Laboratory, Site};
use crate::websocket::{self, Clients, Coding, Conversation, Seen};
use lastmile_payload::message_codec::MessageCodec;
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
    let coding = coding(asked, costs, compute, &mut observation);
    let (before, worked_before) = (site.tally(), served.cpu_time()?);
    let servers = match served {
        Served::ByUs => websocket::serve(&site.server, asked.deflate, conversation, &coding)?,
        #[cfg(target_os = "linux")]
        Served::ByPeer(_) => Vec::new(),
    };
    let clients = Clients {
        host: site.client.clone(),
        address: site.server.address(served.port()),
        deflate: asked.deflate,
        coding,
        seed: compute.derive("clients"),
    };
    let start = site.client.now();
    let connections = site.run(clients.converse(Rc::clone(conversation), servers))??;
    let done = site.tally().since(before);
    observe(site, conversation, start, &connections, &mut observation);
    observation.sample(figure::LINK_BYTES, done.bytes_down as f64);
    observation.sample(figure::LINK_BYTES_UP, done.bytes_up as f64);
    observation.sample(figure::RETRANSMISSIONS, done.retransmissions as f64);
    observation.sample(figure::QUEUE_DROPS, done.queue_drops as f64);
    observation.sample(figure::LINK_LOSSES, done.link_losses as f64);
    let server_cpu = match served.cpu_time()? {
        Some(worked) => worked.saturating_sub(worked_before.unwrap_or_default()),
        None => done.server_cpu,
    };
    observation.sample(figure::SERVER_CPU_TIME, server_cpu.as_secs_f64());
    observation.sample(figure::CLIENT_CPU_TIME, done.client_cpu.as_secs_f64());
    observation.doubts.extend(arranged.doubt(&asked.server));
    if !costs.is_free() {
        observation.vary("calibration");
    }
    Ok(observation)
}

/// What computing costs this time, with what the table does not know of it said.
fn coding(asked: &WebSocket, costs: &Rc<CostTable>, seed: Seed, observation: &mut Observation) -> Coding {
    let codec = asked.deflate.map_or(MessageCodec::Identity, MessageCodec::Deflate);
    let coding = Coding::new(codec, costs, seed.derive("coding"));
    for operation in coding.operations() {
        match costs.coverage(operation) {
            Coverage::None => {
                observation.doubts.push(doubt::no_cost(costs.name(), &operation));
                return Coding::free();
            }
            Coverage::Estimated => observation.doubts.push(doubt::estimated_cost(&operation)),
            Coverage::Sampled => (),
        }
    }
    coding
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
        // When a peer's end opened nobody saw: it was as long before ours as its answer takes over a link that carries nothing else.
        let (at_server, earlier) = match &seen.server {
            Some(server) => (server.opening.at, Duration::ZERO),
            None => (at_client, site.transit_down(seen.client.opening.head)),
        };
        let down = (at_server, earlier, &connection.down, &seen.client);
        let up = seen
            .server
            .iter()
            .map(|server| (at_client, Duration::ZERO, &connection.up, server));
        for (opened, earlier, messages, receiver) in std::iter::once(down).chain(up) {
            for (message, complete) in messages.iter().zip(&receiver.complete) {
                let time = (*complete + earlier).saturating_since(opened + message.after);
                observation.sample(figure::DELIVERY_TIME, time.as_secs_f64());
                last = last.max(*complete);
            }
            carried += receiver.coded;
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
