//! The clients: each opens its connection when its first message is due, and exchanges messages until the server closes it.

use super::endpoint::{Endpoint, EndpointPlan, EndpointResult, HandshakeResult};
use super::message_schedule::Conversation;
use super::out_of_band::OutOfBand;
use super::{ConnectionOptions, ConnectionResult, compressor};
use crate::failure::Failure;
use futures_util::future;
use lastmile_codec::message::{Deflate, WindowBits};
use lastmile_units::Seed;
use lastmile_websocket::{Agreement, ClientSettings, ClientWindow, MESSAGE_LIMIT, Offer, Request, Session};
use lastmile_world::Host;
use std::net::SocketAddrV4;
use std::rc::Rc;
use tokio::sync::oneshot;

/// All clients, which run on one host.
pub struct Clients<H> {
    /// The host that they run on.
    pub host: H,
    /// The address of the server.
    pub address: SocketAddrV4,
    /// The options of every connection.
    pub options: ConnectionOptions,
    /// The seed of nonces and masks.
    pub seed: Seed,
}

/// The result of a server's end of a connection.
pub(crate) type ServerEndResult = oneshot::Receiver<Result<EndpointResult, Failure>>;

impl<H: Host> Clients<H> {
    /// Runs the whole conversation, with one of `out_of_bands` per connection; `servers` are the results of our own server's ends, if it is ours.
    pub async fn run_connections(
        self,
        conversation: Rc<Conversation>,
        out_of_bands: Rc<[OutOfBand]>,
        servers: Vec<ServerEndResult>,
    ) -> Result<Vec<ConnectionResult>, Failure> {
        let start = self.host.now();
        let mut servers = servers.into_iter();
        let clients = conversation.connections.iter().enumerate().map(|(number, connection)| {
            let (clients, server) = (&self, servers.next());
            let part = EndpointPlan {
                outgoing: &connection.up,
                incoming: &connection.down,
                start: conversation.start,
                options: &clients.options,
                out_of_band: &out_of_bands[number],
            };
            async move {
                clients.host.sleep_until(start + connection.opened_after).await;
                clients.run_connection(number, part, server).await
            }
        });
        future::try_join_all(clients).await
    }

    async fn run_connection(
        &self,
        number: usize,
        part: EndpointPlan<'_>,
        server: Option<ServerEndResult>,
    ) -> Result<ConnectionResult, Failure> {
        let began = self.host.now();
        let client = self.client(number, part).await;
        let of_connection =
            |side: &str, failure: &Failure| Failure::new(format!("connection {}, {side}: {failure}", number + 1));
        match (client, server) {
            (Ok(client), None) => Ok(ConnectionResult {
                began,
                client,
                server: None,
            }),
            (Ok(client), Some(server)) => match server.await {
                Ok(Ok(server)) => Ok(ConnectionResult {
                    began,
                    client,
                    server: Some(server),
                }),
                Ok(Err(failure)) => Err(of_connection("server", &failure)),
                Err(_) => Err(of_connection("server", &Failure::new("its program was stopped"))),
            },
            // If the server failed first, the client's failure is a consequence.
            (Err(failure), server) => match server.and_then(|mut receiver| receiver.try_recv().ok()) {
                Some(Err(first)) => Err(of_connection("server", &first)),
                _ => Err(of_connection("client", &failure)),
            },
        }
    }

    async fn client(&self, number: usize, part: EndpointPlan<'_>) -> Result<EndpointResult, Failure> {
        let (end, opening) = self.open(number).await?;
        end.run_connection(opening, part).await
    }

    /// Opens this number of connections one after another, and drops them.
    pub async fn open_sequentially(&self, connections: usize) -> Result<(), Failure> {
        for number in 0..connections {
            self.open(number).await?;
        }
        Ok(())
    }

    /// Opens a connection with the compression that is set.
    async fn open(&self, number: usize) -> Result<(Endpoint<H>, HandshakeResult), Failure> {
        let extension = self.options.compression.extension();
        let (deflate, library) = extension.unwrap_or_default();
        let seed = self.seed.derive_index(number as u64);
        let stream = self.host.connect(self.address).await;
        let mut end = Endpoint {
            host: self.host.clone(),
            stream: stream.map_err(|error| Failure::new(format!("the connection could not be opened: {error}")))?,
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
                "the server agreed to {}, but {} is set",
                describe(opening.agreed.deflate),
                describe(wanted)
            )));
        }
        Ok((end, opening))
    }
}

/// The target of a connection's request, by which our server recognises the connection.
pub(crate) fn target(number: usize) -> String {
    format!("/{number}")
}

/// The offer of such a compressor on both sides; without a limit, it is a browser's offer.
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
    let side = |name, compressor: lastmile_websocket::CompressorParameters| {
        let takeover = if compressor.takeover { "" } else { " without takeover" };
        format!("{} window bits{takeover} for the {name}", compressor.window_bits.get())
    };
    format!("{}, {}", side("server", server), side("client", client))
}
