//! Our own server: answers each connection of a conversation once, and recognises it by its target.

use super::client::{ServerEndResult, target};
use super::endpoint::{Endpoint, EndpointPlan, EndpointResult};
use super::message_schedule::Conversation;
use super::out_of_band::OutOfBand;
use super::{ConnectionOptions, PORT, compressor};
use crate::failure::Failure;
use lastmile_websocket::{ClientRequest, MESSAGE_LIMIT, ServerDeflate, ServerSettings, Session, head_length};
use lastmile_world::{Host, Listener};
use std::cell::RefCell;
use std::rc::Rc;
use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;

/// Listens, and returns a receiver of each connection's result; `out_of_bands` has one element per connection.
pub(crate) fn serve<H: Host>(
    host: &H,
    conversation: &Rc<Conversation>,
    options: &ConnectionOptions,
    out_of_bands: &Rc<[OutOfBand]>,
) -> Result<Vec<ServerEndResult>, Failure> {
    let mut listener = host
        .listen(PORT)
        .map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
    let (sender, receiver) = conversation.connections.iter().map(|_| oneshot::channel()).unzip();
    let server = Rc::new(Server {
        host: host.clone(),
        conversation: Rc::clone(conversation),
        options: options.clone(),
        out_of_bands: Rc::clone(out_of_bands),
        sender: RefCell::new(Vec::into_iter(sender).map(Some).collect()),
    });
    host.spawn(async move {
        for _ in 0..server.conversation.connections.len() {
            // The client sees an error here as a connection that ends too soon.
            let Ok(stream) = listener.accept().await else { return };
            let server = Rc::clone(&server);
            let host = server.host.clone();
            host.spawn(async move { server.answer(stream).await });
        }
    });
    Ok(receiver)
}

struct Server<H> {
    host: H,
    conversation: Rc<Conversation>,
    options: ConnectionOptions,
    out_of_bands: Rc<[OutOfBand]>,
    /// The sender of each connection's result.
    sender: RefCell<Vec<Option<ServerEndSender>>>,
}

type ServerEndSender = oneshot::Sender<Result<EndpointResult, Failure>>;

impl<H: Host> Server<H> {
    async fn answer(&self, mut stream: H::Stream) {
        // The clients are ours, and request existing connections.
        let Some((received, number)) = self.request(&mut stream).await else {
            return;
        };
        let sender = self.sender.borrow_mut().get_mut(number).and_then(Option::take);
        let ended = self.run_connection(stream, received, number).await;
        if let Some(sender) = sender {
            // The receiver is gone if the client has failed.
            let _ = sender.send(ended);
        }
    }

    /// Reads a request, and returns the received bytes and the number of the requested connection.
    async fn request(&self, stream: &mut H::Stream) -> Option<(Vec<u8>, usize)> {
        let mut received = Vec::new();
        let length = loop {
            if let Some(length) = head_length(&received) {
                break length;
            }
            if stream.read_buf(&mut received).await.ok()? == 0 {
                return None;
            }
        };
        let asked = ClientRequest::read(&received[..length]).ok()?;
        let number = (0..self.conversation.connections.len()).find(|number| target(*number) == asked.target)?;
        Some((received, number))
    }

    async fn run_connection(
        &self,
        stream: H::Stream,
        received: Vec<u8>,
        number: usize,
    ) -> Result<EndpointResult, Failure> {
        let connection = &self.conversation.connections[number];
        let extension = self.options.compression.extension();
        let deflate = extension.map(|(own, library)| ServerDeflate {
            own,
            library,
            client: compressor(&own),
        });
        let mut end = Endpoint {
            host: self.host.clone(),
            stream,
            session: Session::server(ServerSettings {
                deflate,
                protocols: Vec::new(),
                message_limit: MESSAGE_LIMIT,
            }),
        };
        let opening = end.open(received).await?;
        let part = EndpointPlan {
            outgoing: &connection.down,
            incoming: &connection.up,
            start: self.conversation.start,
            options: &self.options,
            out_of_band: &self.out_of_bands[number],
        };
        end.run_connection(opening, part).await
    }
}
