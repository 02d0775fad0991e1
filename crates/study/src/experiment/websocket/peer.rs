//! What is a real server told to deliver? The messages of its one connection, a line each.

use super::Arranged;
use crate::experiment::plan::WebSocket;
use crate::experiment::served::{Served, Service};
use crate::observation::Failure;
use crate::site::{Laboratory, Site};
use crate::websocket::{Clients, Outgoing, Terms};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lastmile_payload::transcript::Kind;
use lastmile_units::Seed;
use std::time::Duration;

/// How many connections are opened before those that count. Our own choice.
const WARM_UP: usize = 20;

/// What peers deliver.
const FILE: &str = "messages.jsonl";

/// Starts whoever is `asked` for, with the messages to send. To a real server connections are first opened over its own loopback, and
/// dropped: what a compiler at run time makes of a program takes some to settle.
pub(in crate::experiment) fn serve<W: Laboratory>(
    site: &Site<W>,
    asked: &WebSocket,
    arranged: &Arranged,
) -> Result<Served, Failure> {
    let connections = &arranged.conversation.connections;
    let messages = || connections.iter().flat_map(|connection| &connection.down);
    let service = || {
        let is_timed = messages().any(|message| message.due.known() > Duration::ZERO);
        let lines: String = messages()
            .map(|message| line(message, is_timed))
            .collect::<Result<_, _>>()?;
        Ok(Service {
            operation: "deliver",
            file: (FILE, lines.into_bytes()),
            message_compression: asked.messages.codec,
            ..Service::default()
        })
    };
    Served::start(site, &asked.server, service, |address| {
        let clients = Clients {
            host: site.server.clone(),
            address,
            terms: Terms::unpriced(asked.coding.clone()),
            seed: Seed::new(0),
        };
        async move { clients.open_in_turn(WARM_UP).await }
    })
}

/// A message as peers read it.
fn line(message: &Outgoing, is_timed: bool) -> Result<String, Failure> {
    let mut fields = serde_json::Map::new();
    let (opcode, data) = match message.kind {
        Kind::Text => match std::str::from_utf8(&message.payload) {
            Ok(text) => (1, text.to_owned()),
            Err(error) => return Err(Failure::new(format!("a text message is not UTF-8: {error}"))),
        },
        Kind::Binary => (2, STANDARD.encode(&message.payload)),
    };
    fields.insert("opcode".to_owned(), opcode.into());
    fields.insert("data".to_owned(), data.into());
    if is_timed {
        fields.insert("time".to_owned(), message.due.known().as_secs_f64().into());
    }
    Ok(serde_json::Value::Object(fields).to_string() + "\n")
}
