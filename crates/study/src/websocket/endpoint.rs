//! What does one end of a connection do? It opens it, sends its messages when they are due, takes those of the other end, and closes.
//!
//! The end may be either side's; the server begins to close once it has sent and received everything.

use super::Terms;
use super::aside::Aside;
use super::conversation::{Due, Outgoing, Start};
use crate::observation::Failure;
use futures_util::future;
use lastmile_payload::message_codec::{DecodeError, MessageDecoder, MessageEncoder};
use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::{
    CloseCode, Event, Form, MESSAGE_LIMIT, Opened, ReceivedMessage, Role, Session, head_length,
};
use lastmile_units::{Bytes, Instant};
use lastmile_world::Host;
use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// An end of a connection, about to open.
pub(super) struct End<H: Host> {
    pub(super) host: H,
    pub(super) stream: H::Stream,
    pub(super) session: Session,
}

/// What an end has to say and to hear, and what it goes by.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) outgoing: &'a [Outgoing],
    pub(super) incoming: &'a [Outgoing],
    pub(super) start: Start,
    pub(super) terms: &'a Terms,
    pub(super) aside: &'a Aside,
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
    /// When each of its own messages was due.
    pub(crate) due: Vec<Instant>,
    /// When each message that came was complete and decoded.
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

    /// Sends what it has to say and takes what it has to hear over a connection that has opened, and closes it.
    pub(super) async fn converse(self, opening: Opening, part: Part<'_>) -> Result<Ended, Failure> {
        let (reading, writing) = tokio::io::split(self.stream);
        let (tell, told) = mpsc::unbounded_channel();
        let coding = &part.terms.coding;
        let (encoder, decoder) = (coding.encoder()?, coding.decoder()?);
        let talk = Talk {
            host: self.host,
            role: self.session.role(),
            session: RefCell::new(self.session),
            part,
        };
        talk.part.aside.opened();
        let opened = opening.at;
        let ended = Ended {
            opening,
            due: Vec::new(),
            complete: Vec::with_capacity(talk.part.incoming.len()),
            coded: Bytes::ZERO,
        };
        let sending = talk.send(writing, encoder, opened, told);
        let receiving = talk.receive(reading, decoder, ended, tell);
        let (due, ended) = future::try_join(sending, receiving).await?;
        Ok(Ended { due, ..ended })
    }
}

/// An open connection, whose two directions go on side by side.
struct Talk<'a, H> {
    host: H,
    role: Role,
    session: RefCell<Session>,
    part: Part<'a>,
}

impl<H: Host> Talk<'_, H> {
    /// Sends all messages, and says when each was due.
    async fn send(
        &self,
        mut stream: impl AsyncWrite + Unpin,
        mut encoder: Option<MessageEncoder>,
        opened: Instant,
        mut told: mpsc::UnboundedReceiver<Stage>,
    ) -> Result<Vec<Instant>, Failure> {
        let Part {
            outgoing,
            start,
            terms,
            aside,
            ..
        } = self.part;
        let start = match start {
            Start::OwnOpening => opened,
            Start::BothOpenings => {
                aside.both_opened().await;
                self.host.now()
            }
        };
        let mut due = Vec::with_capacity(outgoing.len());
        for (place, message) in outgoing.iter().enumerate() {
            due.push(match message.due {
                Due::After(after) => {
                    self.host.sleep_until(start + after).await;
                    start + after
                }
                Due::OneByOne => {
                    aside.decoded_opposite(self.role, place).await;
                    self.host.now()
                }
            });
            self.host.compute(terms.pricing.encoding(message)).await;
            let (kind, octets) = made(message, encoder.as_mut());
            let form = Form {
                is_compressed: message.is_coded() && !terms.coding.is_applications(),
                fragment: message.fragment,
            };
            if message.afresh {
                self.session.borrow_mut().forget();
            }
            let sent = self.session.borrow_mut().send(kind, &octets, form);
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
        stream.shutdown().await.map_err(failed)?;
        Ok(due)
    }

    async fn flush(&self, stream: &mut (impl AsyncWrite + Unpin)) -> Result<(), Failure> {
        let output = self.session.borrow_mut().take_output();
        stream.write_all(&output).await.map_err(failed)
    }

    async fn receive(
        &self,
        mut stream: impl AsyncRead + Unpin,
        mut decoder: Option<MessageDecoder>,
        mut ended: Ended,
        tell: mpsc::UnboundedSender<Stage>,
    ) -> Result<Ended, Failure> {
        // Where the sending side has failed nobody listens, and both end with its failure.
        let tell = |stage| {
            let _ = tell.send(stage);
        };
        let incoming = self.part.incoming;
        let mut buffer = vec![0; CHUNK];
        let mut is_finished = false;
        if incoming.is_empty() {
            tell(Stage::AllReceived);
        }
        loop {
            while let Some(event) = self.next_event() {
                match event {
                    Event::Message(message) => {
                        self.take(message, decoder.as_mut(), &mut ended).await?;
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

    /// Holds a message, decoded, against the one that was to come.
    async fn take(
        &self,
        message: ReceivedMessage,
        decoder: Option<&mut MessageDecoder>,
        ended: &mut Ended,
    ) -> Result<(), Failure> {
        let Part { incoming, terms, .. } = self.part;
        let number = ended.complete.len() + 1;
        let Some(expected) = incoming.get(number - 1) else {
            let all = incoming.len();
            return Err(Failure::new(format!("message {number} came where {all} were sent")));
        };
        let coded = message.coded_bytes;
        let (kind, payload) = meant(message, expected, decoder)
            .map_err(|error| Failure::new(format!("message {number} cannot be decoded: {error}")))?;
        if kind != expected.kind || payload != expected.payload {
            return Err(Failure::new(format!(
                "message {number} came as {kind:?} of {} octets where {:?} of {} octets was sent, or other ones",
                payload.len(),
                expected.kind,
                expected.payload.len()
            )));
        }
        self.host.compute(terms.pricing.decoding(expected)).await;
        ended.complete.push(self.host.now());
        ended.coded += coded;
        self.part.aside.decoded(self.role);
        Ok(())
    }
}

/// What WebSocket is given to carry: a message, or what the application makes of it, which is no text any more.
fn made<'a>(message: &'a Outgoing, encoder: Option<&mut MessageEncoder>) -> (Kind, Cow<'a, [u8]>) {
    match encoder {
        Some(encoder) if message.is_coded() => {
            let mut coded = Vec::new();
            encoder.encode(&message.payload, &mut coded);
            (Kind::Binary, Cow::Owned(coded))
        }
        _ => (message.kind, Cow::Borrowed(&message.payload)),
    }
}

/// What a message that WebSocket carried says. Of which kind it was before the application coded it, only the application knows.
fn meant(
    message: ReceivedMessage,
    expected: &Outgoing,
    decoder: Option<&mut MessageDecoder>,
) -> Result<(Kind, Vec<u8>), DecodeError> {
    match decoder {
        Some(decoder) if expected.is_coded() && message.kind == Kind::Binary => {
            let mut payload = Vec::new();
            decoder.decode(&message.payload, MESSAGE_LIMIT, &mut payload)?;
            Ok((expected.kind, payload))
        }
        _ => Ok((message.kind, message.payload)),
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
