//! What does one end of a connection do? It opens it, sends its messages when they are due, takes those of the other end, and closes.
//!
//! The end may be either side's; the server begins to close once it has sent and received everything.

use super::conversation::Outgoing;
use crate::cost::{CostTable, Operation};
use crate::observation::Failure;
use futures_util::future;
use lastmile_payload::message_codec::MessageCodec;
use lastmile_payload::websocket::{CloseCode, Event, Opened, ReceivedMessage, Role, Session, head_length};
use lastmile_units::{Bytes, Instant, Seed};
use lastmile_world::Host;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// What compressing and decompressing cost. A pass over a transcript that is slow is slow at every message.
#[derive(Clone)]
pub(crate) struct Coding {
    costs: Rc<CostTable>,
    codec: MessageCodec,
    encode_rank: f64,
    decode_rank: f64,
}

impl Coding {
    /// What costs nothing.
    pub(crate) fn free() -> Self {
        Self::new(MessageCodec::Identity, &Rc::new(CostTable::free()), Seed::new(0))
    }

    /// Costs of coding by `codec`; `seed` draws how slow it is this time.
    pub(crate) fn new(codec: MessageCodec, costs: &Rc<CostTable>, seed: Seed) -> Self {
        let mut rng = seed.rng();
        Self {
            costs: Rc::clone(costs),
            codec,
            encode_rank: CostTable::rank(&mut rng),
            decode_rank: CostTable::rank(&mut rng),
        }
    }

    /// The operations that cost something.
    pub(crate) const fn operations(&self) -> [Operation; 2] {
        [
            Operation::EncodeMessage(self.codec),
            Operation::DecodeMessage(self.codec),
        ]
    }

    fn encoding(&self, message: &Outgoing) -> Duration {
        self.of(Operation::EncodeMessage(self.codec), message, self.encode_rank)
    }

    fn decoding(&self, message: &Outgoing) -> Duration {
        self.of(Operation::DecodeMessage(self.codec), message, self.decode_rank)
    }

    fn of(&self, operation: Operation, message: &Outgoing, rank: f64) -> Duration {
        let pieces = message.pieces.iter();
        pieces.map(|bytes| self.costs.at_rank(operation, *bytes, rank)).sum()
    }
}

/// An end of a connection, about to open.
pub(crate) struct End<H: Host> {
    pub(crate) host: H,
    pub(crate) stream: H::Stream,
    pub(crate) session: Session,
    pub(crate) coding: Coding,
}

/// How a connection opened at an end.
pub(crate) struct Opening {
    /// What was agreed on.
    pub(crate) agreed: Opened,
    /// When.
    pub(crate) at: Instant,
    /// How long the other end's part of the handshake is.
    pub(crate) head: Bytes,
}

/// What an end saw.
pub(crate) struct Ended {
    pub(crate) opening: Opening,
    /// When each message that came was complete and decompressed.
    pub(crate) complete: Vec<Instant>,
    /// Octets of the messages that came, as they were carried, without headers of frames.
    pub(crate) coded: Bytes,
}

/// What the receiving side of an end tells the sending one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Every message came.
    AllReceived,
    /// The other end's close frame came.
    Closed,
    /// The other end will send nothing more.
    Finished,
}

impl<H: Host> End<H> {
    /// Opens the connection; `received` is what has come of it.
    pub(crate) async fn open(&mut self, mut received: Vec<u8>) -> Result<Opening, Failure> {
        self.session.receive(&received);
        let mut buffer = vec![0; CHUNK];
        loop {
            let output = self.session.take_output();
            self.stream.write_all(&output).await.map_err(failed)?;
            match self.session.next_event() {
                Some(Event::Opened(agreed)) => {
                    return Ok(Opening {
                        agreed,
                        at: self.host.now(),
                        head: Bytes::from(head_length(&received).unwrap_or_default()),
                    });
                }
                Some(Event::Failed(failure)) => return Err(Failure::new(failure.to_string())),
                Some(_) => {}
                None => match self.stream.read(&mut buffer).await.map_err(failed)? {
                    0 => self.session.transport_ended(),
                    read => {
                        received.extend_from_slice(&buffer[..read]);
                        self.session.receive(&buffer[..read]);
                    }
                },
            }
        }
    }

    /// Sends `outgoing` and takes `incoming` over a connection that has opened, and closes it.
    pub(crate) async fn converse(
        self,
        opening: Opening,
        outgoing: &[Outgoing],
        incoming: &[Outgoing],
    ) -> Result<Ended, Failure> {
        let (reading, writing) = tokio::io::split(self.stream);
        let (tell, told) = mpsc::unbounded_channel();
        let talk = Talk {
            host: self.host,
            role: self.session.role(),
            session: RefCell::new(self.session),
            coding: self.coding,
        };
        let opened = opening.at;
        let ended = Ended {
            opening,
            complete: Vec::with_capacity(incoming.len()),
            coded: Bytes::ZERO,
        };
        let sending = talk.send(writing, opened, outgoing, told);
        let receiving = talk.receive(reading, ended, incoming, tell);
        future::try_join(sending, receiving).await.map(|((), ended)| ended)
    }
}

/// An open connection, whose two directions go on side by side.
struct Talk<H> {
    host: H,
    role: Role,
    session: RefCell<Session>,
    coding: Coding,
}

impl<H: Host> Talk<H> {
    async fn send(
        &self,
        mut stream: impl AsyncWrite + Unpin,
        opened: Instant,
        outgoing: &[Outgoing],
        mut told: mpsc::UnboundedReceiver<Stage>,
    ) -> Result<(), Failure> {
        for message in outgoing {
            self.host.sleep_until(opened + message.after).await;
            self.host.compute(self.coding.encoding(message)).await;
            let sent = self
                .session
                .borrow_mut()
                .send(message.kind, &message.payload, message.form);
            sent.map_err(|error| Failure::new(error.to_string()))?;
            self.flush(&mut stream).await?;
        }
        if self.role == Role::Server {
            reached(&mut told, Stage::AllReceived).await;
            let closing = self.session.borrow_mut().close(CloseCode::NORMAL, "");
            closing.map_err(|error| Failure::new(error.to_string()))?;
            self.flush(&mut stream).await?;
            reached(&mut told, Stage::Closed).await;
        } else {
            reached(&mut told, Stage::Closed).await;
            self.flush(&mut stream).await?;
            // The server ends the transport (RFC 6455 section 7.1.1).
            reached(&mut told, Stage::Finished).await;
        }
        stream.shutdown().await.map_err(failed)
    }

    async fn flush(&self, stream: &mut (impl AsyncWrite + Unpin)) -> Result<(), Failure> {
        let output = self.session.borrow_mut().take_output();
        stream.write_all(&output).await.map_err(failed)
    }

    async fn receive(
        &self,
        mut stream: impl AsyncRead + Unpin,
        mut ended: Ended,
        incoming: &[Outgoing],
        tell: mpsc::UnboundedSender<Stage>,
    ) -> Result<Ended, Failure> {
        // Where the sending side has failed nobody listens, and both end with its failure.
        let tell = |stage| {
            let _ = tell.send(stage);
        };
        let mut buffer = vec![0; CHUNK];
        let mut is_finished = false;
        if incoming.is_empty() {
            tell(Stage::AllReceived);
        }
        loop {
            while let Some(event) = self.next_event() {
                match event {
                    Event::Message(message) => {
                        self.take(&message, &mut ended, incoming).await?;
                        if ended.complete.len() == incoming.len() {
                            tell(Stage::AllReceived);
                        }
                    }
                    Event::Closed(close) if close.code != CloseCode::NORMAL => {
                        let (code, reason) = (close.code.0, close.reason);
                        return Err(Failure::new(format!("it was closed with code {code}: {reason:?}")));
                    }
                    Event::Closed(_) if ended.complete.len() < incoming.len() => {
                        let (came, all) = (ended.complete.len(), incoming.len());
                        return Err(Failure::new(format!("it was closed after {came} of {all} messages")));
                    }
                    Event::Closed(_) => tell(Stage::Closed),
                    Event::Failed(failure) => return Err(Failure::new(failure.to_string())),
                    Event::Opened(_) | Event::Ping(_) | Event::Pong(_) => {}
                }
            }
            if is_finished {
                tell(Stage::Finished);
                return Ok(ended);
            }
            let read = stream.read(&mut buffer).await.map_err(failed)?;
            is_finished = read == 0;
            if is_finished {
                self.session.borrow_mut().transport_ended();
            } else {
                self.session.borrow_mut().receive(&buffer[..read]);
            }
        }
    }

    fn next_event(&self) -> Option<Event> {
        self.session.borrow_mut().next_event()
    }

    /// Holds a message against the one that was to come.
    async fn take(&self, message: &ReceivedMessage, ended: &mut Ended, incoming: &[Outgoing]) -> Result<(), Failure> {
        let number = ended.complete.len() + 1;
        let Some(expected) = incoming.get(number - 1) else {
            let all = incoming.len();
            return Err(Failure::new(format!("message {number} came where {all} were sent")));
        };
        if message.kind != expected.kind || message.payload != expected.payload {
            return Err(Failure::new(format!(
                "message {number} came as {:?} of {} octets where {:?} of {} octets was sent, or other ones",
                message.kind,
                message.payload.len(),
                expected.kind,
                expected.payload.len()
            )));
        }
        self.host.compute(self.coding.decoding(expected)).await;
        ended.complete.push(self.host.now());
        ended.coded += message.coded_bytes;
        Ok(())
    }
}

/// Waits until the receiving side has come to a stage; where it has failed, both end with its failure.
async fn reached(told: &mut mpsc::UnboundedReceiver<Stage>, wanted: Stage) {
    while let Some(stage) = told.recv().await {
        if stage == wanted {
            return;
        }
    }
    future::pending::<()>().await;
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn failed(error: io::Error) -> Failure {
    Failure::new(error.to_string())
}
