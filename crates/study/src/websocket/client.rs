//! What do the clients do? Each opens its connection when its first message is due, and talks until the server closes it.

use super::aside::Aside;
use super::conversation::Conversation;
use super::endpoint::{End, Ended, Opening, Part};
use super::{Seen, Terms, compressor};
use crate::observation::Failure;
use futures_util::future;
use lastmile_payload::message_codec::{Deflate, WindowBits};
use lastmile_payload::websocket::{Agreement, ClientSettings, ClientWindow, MESSAGE_LIMIT, Offer, Request, Session};
use lastmile_units::Seed;
use lastmile_world::Host;
use std::net::SocketAddrV4;
use std::rc::Rc;
use tokio::sync::oneshot;

/// All clients, which one host runs.
pub(crate) struct Clients<H> {
    pub(crate) host: H,
    pub(crate) address: SocketAddrV4,
    pub(crate) terms: Terms,
    /// Of nonces and masks.
    pub(crate) seed: Seed,
}

/// What a server tells of its end.
pub(crate) type Told = oneshot::Receiver<Result<Ended, Failure>>;

impl<H: Host> Clients<H> {
    /// Has the whole conversation, with an aside a connection; `servers` tell what they saw of each, where they are ours.
    pub(crate) async fn converse(
        self,
        conversation: Rc<Conversation>,
        asides: Rc<[Aside]>,
        servers: Vec<Told>,
    ) -> Result<Vec<Seen>, Failure> {
        let start = self.host.now();
        let mut servers = servers.into_iter();
        let clients = conversation.connections.iter().enumerate().map(|(number, connection)| {
            let (clients, server) = (&self, servers.next());
            let part = Part {
                outgoing: &connection.up,
                incoming: &connection.down,
                start: conversation.start,
                terms: &clients.terms,
                aside: &asides[number],
            };
            async move {
                clients.host.sleep_until(start + connection.opened_after).await;
                clients.converse_over(number, part, server).await
            }
        });
        future::try_join_all(clients).await
    }

    async fn converse_over(&self, number: usize, part: Part<'_>, server: Option<Told>) -> Result<Seen, Failure> {
        let began = self.host.now();
        let client = self.client(number, part).await;
        let of_connection =
            |side: &str, failure: &Failure| Failure::new(format!("connection {}, {side}: {failure}", number + 1));
        match (client, server) {
            (Ok(client), None) => Ok(Seen {
                began,
                client,
                server: None,
            }),
            (Ok(client), Some(server)) => match server.await {
                Ok(Ok(server)) => Ok(Seen {
                    began,
                    client,
                    server: Some(server),
                }),
                Ok(Err(failure)) => Err(of_connection("server", &failure)),
                Err(_) => Err(of_connection("server", &Failure::new("its program was stopped"))),
            },
            // Where the server failed first, the client's failure is what came of that.
            (Err(failure), server) => match server.and_then(|mut told| told.try_recv().ok()) {
                Some(Err(first)) => Err(of_connection("server", &first)),
                _ => Err(of_connection("client", &failure)),
            },
        }
    }

    async fn client(&self, number: usize, part: Part<'_>) -> Result<Ended, Failure> {
        let (end, opening) = self.open(number).await?;
        end.converse(opening, part).await
    }

    /// Opens so many connections one after the other, and drops them.
    pub(crate) async fn open_in_turn(&self, connections: usize) -> Result<(), Failure> {
        for number in 0..connections {
            self.open(number).await?;
        }
        Ok(())
    }

    /// Opens a connection, compressed as it is set.
    async fn open(&self, number: usize) -> Result<(End<H>, Opening), Failure> {
        let extension = self.terms.coding.extension();
        let (deflate, library) = extension.unwrap_or_default();
        let seed = self.seed.derive_index(number as u64);
        let stream = self.host.connect(self.address).await;
        let mut end = End {
            host: self.host.clone(),
            stream: stream.map_err(|error| Failure::new(format!("no connection: {error}")))?,
            session: Session::client(ClientSettings {
                request: Request {
                    host: self.address.to_string(),
                    target: target(number),
                    offers: extension.iter().map(|(deflate, _)| offer(deflate)).collect(),
                    ..Request::default()
                },
                deflate,
                library,
                message_limit: MESSAGE_LIMIT,
                seed,
            }),
        };
        let opening = end.open(Vec::new()).await?;
        let wanted = extension.map(|(deflate, _)| Agreement {
            server: compressor(&deflate),
            client: compressor(&deflate),
        });
        if opening.agreed.deflate != wanted {
            return Err(Failure::new(format!(
                "the server agreed to {}, where {} is set",
                describe(opening.agreed.deflate),
                describe(wanted)
            )));
        }
        Ok((end, opening))
    }
}

/// Where a connection leads, so that our server knows which it is.
pub(crate) fn target(number: usize) -> String {
    format!("/{number}")
}

/// What asks for such a compressor on both sides, as a browser would where nothing is limited.
fn offer(deflate: &Deflate) -> Offer {
    let limit = Some(deflate.window_bits).filter(|bits| *bits < WindowBits::MAX);
    Offer {
        server_no_context_takeover: !deflate.takeover,
        client_no_context_takeover: !deflate.takeover,
        server_max_window_bits: limit,
        client_max_window_bits: limit.map_or(ClientWindow::Any, ClientWindow::AtMost),
    }
}

fn describe(agreement: Option<Agreement>) -> String {
    let Some(Agreement { server, client }) = agreement else {
        return "no compression".to_owned();
    };
    let side = |name, compressor: lastmile_payload::websocket::Compressor| {
        let takeover = if compressor.takeover { "" } else { " and no takeover" };
        format!("{} window bits{takeover} for the {name}", compressor.window_bits.get())
    };
    format!("{}, {}", side("server", server), side("client", client))
}
