//! How are messages delivered over WebSocket, both ways, in either world?
//!
//! `conversation` says what goes over each connection, and when it is due; `endpoint` is either end of one; `client` opens them, and
//! `server` answers, where it is ours. Every message is held against the one that was to come.

mod client;
mod conversation;
mod endpoint;
mod server;

pub(crate) use client::Clients;
pub(crate) use conversation::{Connection, Conversation, Outgoing};
pub(crate) use endpoint::{Coding, Ended};
pub(crate) use server::serve;

use lastmile_payload::message_codec::Deflate;
use lastmile_payload::websocket::Compressor;
use lastmile_units::Instant;

/// Where our own server listens.
pub(crate) const PORT: u16 = 80;

/// What was seen of a connection.
pub(crate) struct Seen {
    /// When it was begun to be opened.
    pub(crate) began: Instant,
    pub(crate) client: Ended,
    /// Of our own server; none of one that is not, whose end nobody sees.
    pub(crate) server: Option<Ended>,
}

/// What each side's compressor may do where it is to be set so.
const fn compressor(deflate: &Deflate) -> Compressor {
    Compressor {
        takeover: deflate.takeover,
        window_bits: deflate.window_bits,
    }
}
