//! How are messages delivered over WebSocket, both ways, in either world?
//!
//! `conversation` says what goes over each connection, and when it is due; `coding` who codes it, and how; `pricing` what that costs where
//! computing is simulated. `endpoint` is either end of a connection; `client` opens them, and `server` answers, where it is ours; `aside` is
//! what ends hear of each other past the link. Every message is held against the one that was to come: what is lost or altered is a failure.

mod aside;
mod client;
mod coding;
mod conversation;
mod endpoint;
mod pricing;
mod server;

pub(crate) use client::Clients;
pub(crate) use coding::Coding;
pub(crate) use conversation::{Connection, Conversation, Due, Outgoing, Start};
pub(crate) use endpoint::Ended;
pub(crate) use pricing::{Free, Pricing};

use crate::observation::Failure;
use crate::site::{Laboratory, Site};
use aside::Aside;
use lastmile_payload::message_codec::Deflate;
use lastmile_payload::websocket::Compressor;
use lastmile_units::{Instant, Seed};
use lastmile_world::Host;
use std::rc::Rc;
use std::time::Duration;

/// Where our own server listens.
pub(crate) const PORT: u16 = 80;

/// What both ends of every connection go by.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) coding: Coding,
    pub(crate) pricing: Rc<dyn Pricing>,
}

impl Terms {
    /// Coding so costs what it really takes, and nothing of simulated time.
    pub(crate) fn unpriced(coding: Coding) -> Self {
        Self {
            coding,
            pricing: Rc::new(Free),
        }
    }
}

/// Who serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// A server of ours.
    Ours,
    /// Somebody else, on the server's host, who listens at this port.
    At(u16),
}

/// What was seen of a connection.
pub(crate) struct Seen {
    /// When it was begun to be opened.
    pub(crate) began: Instant,
    pub(crate) client: Ended,
    /// Of our own server; none of one that is not, whose end nobody sees.
    pub(crate) server: Option<Ended>,
}

/// Has a conversation over a site's link, and says what was seen of each connection; `seed` gives nonces and masks.
pub(crate) fn converse<W: Laboratory>(
    site: &Site<W>,
    conversation: &Rc<Conversation>,
    terms: &Terms,
    server: Server,
    seed: Seed,
) -> Result<Vec<Seen>, Failure> {
    let asides: Rc<[Aside]> = Aside::each(conversation.connections.len()).into();
    let (port, servers) = match server {
        Server::Ours => (PORT, server::serve(&site.server, conversation, terms, &asides)?),
        Server::At(port) => (port, Vec::new()),
    };
    let clients = Clients {
        host: site.client.clone(),
        address: site.server.address(port),
        terms: terms.clone(),
        seed,
    };
    let limit = site.limit(conversation.messages(), conversation.bytes());
    site.run_within(
        limit.saturating_add(conversation.longest_wait()),
        clients.converse(Rc::clone(conversation), asides, servers),
    )?
}

impl Ended {
    /// From when each of `sender`'s messages was due until it was decoded here.
    pub(crate) fn delivery_times(&self, sender: &Self) -> impl Iterator<Item = Duration> {
        let pairs = sender.due.iter().zip(&self.complete);
        pairs.map(|(due, complete)| complete.saturating_since(*due))
    }
}

/// What each side's compressor may do where it is to be set so.
const fn compressor(deflate: &Deflate) -> Compressor {
    Compressor {
        takeover: deflate.takeover,
        window_bits: deflate.window_bits,
    }
}

#[cfg(test)]
mod tests;
