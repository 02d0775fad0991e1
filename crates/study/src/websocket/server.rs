//! What does our own server do? It answers each connection of a conversation once, and knows by its target which that is.

use super::aside::Aside;
use super::client::{Told, target};
use super::conversation::Conversation;
use super::endpoint::{End, Ended, Part};
use super::{PORT, Terms, compressor};
use crate::observation::Failure;
use lastmile_payload::websocket::{Asked, MESSAGE_LIMIT, ServerDeflate, ServerSettings, Session, head_length};
use lastmile_world::{Host, Listener};
use std::cell::RefCell;
use std::rc::Rc;
use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;

/// Listens, and tells of each connection, which has an aside, what its end saw.
pub(crate) fn serve<H: Host>(
    host: &H,
    conversation: &Rc<Conversation>,
    terms: &Terms,
    asides: &Rc<[Aside]>,
) -> Result<Vec<Told>, Failure> {
    let mut listener = host
        .listen(PORT)
        .map_err(|error| Failure::new(format!("the server cannot listen: {error}")))?;
    let (tell, told) = conversation.connections.iter().map(|_| oneshot::channel()).unzip();
    let server = Rc::new(Server {
        host: host.clone(),
        conversation: Rc::clone(conversation),
        terms: terms.clone(),
        asides: Rc::clone(asides),
        tell: RefCell::new(Vec::into_iter(tell).map(Some).collect()),
    });
    host.spawn(async move {
        for _ in 0..server.conversation.connections.len() {
            // What fails here is seen by the client, as a connection that ends too soon.
            let Ok(stream) = listener.accept().await else { return };
            let server = Rc::clone(&server);
            let host = server.host.clone();
            host.spawn(async move { server.answer(stream).await });
        }
    });
    Ok(told)
}

struct Server<H> {
    host: H,
    conversation: Rc<Conversation>,
    terms: Terms,
    asides: Rc<[Aside]>,
    /// Who is told of each connection.
    tell: RefCell<Vec<Option<Tell>>>,
}

type Tell = oneshot::Sender<Result<Ended, Failure>>;

impl<H: Host> Server<H> {
    async fn answer(&self, mut stream: H::Stream) {
        // The clients are ours, and ask for what there is.
        let Some((received, number)) = self.request(&mut stream).await else {
            return;
        };
        let tell = self.tell.borrow_mut().get_mut(number).and_then(Option::take);
        let ended = self.converse(stream, received, number).await;
        if let Some(tell) = tell {
            // Nobody listens any more where the client has failed.
            let _ = tell.send(ended);
        }
    }

    /// Reads a request; what came, and which connection it asks for.
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
        let asked = Asked::read(&received[..length]).ok()?;
        let number = (0..self.conversation.connections.len()).find(|number| target(*number) == asked.target)?;
        Some((received, number))
    }

    async fn converse(&self, stream: H::Stream, received: Vec<u8>, number: usize) -> Result<Ended, Failure> {
        let connection = &self.conversation.connections[number];
        let extension = self.terms.coding.extension();
        let deflate = extension.map(|(own, library)| ServerDeflate {
            own,
            library,
            client: compressor(&own),
        });
        let mut end = End {
            host: self.host.clone(),
            stream,
            session: Session::server(ServerSettings {
                deflate,
                protocols: Vec::new(),
                message_limit: MESSAGE_LIMIT,
            }),
        };
        let opening = end.open(received).await?;
        let part = Part {
            outgoing: &connection.down,
            incoming: &connection.up,
            start: self.conversation.start,
            terms: &self.terms,
            aside: &self.asides[number],
        };
        end.converse(opening, part).await
    }
}
