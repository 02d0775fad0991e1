//! One end of a connection: opens it, sends messages when they are due, receives those of the other end, and closes it.
//!
//! The end may be either side's; the server starts the closing handshake once it has sent and received everything.

use super::ConnectionOptions;
use super::message_schedule::{ClockOrigin, ScheduledMessage, SendTime};
use super::out_of_band::OutOfBand;
use crate::failure::Failure;
use futures_util::future;
use lastmile_codec::message::Kind;
use lastmile_codec::message::{DecodeError, MessageDecoder, MessageEncoder};
use lastmile_units::{ByteCount, Instant};
use lastmile_websocket::{
    CloseCode, Established, Event, MESSAGE_LIMIT, ReceivedMessage, Role, SendOptions, Session, head_length,
};
use lastmile_world::Host;
use std::borrow::Cow;
use std::cell::RefCell;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// Bytes per read.
const CHUNK: usize = 64 << 10;

/// An end of a connection, about to open.
pub(super) struct Endpoint<H: Host> {
    pub(super) host: H,
    pub(super) stream: H::Stream,
    pub(super) session: Session,
}

/// The messages that an end sends and expects, and its settings.
#[derive(Clone, Copy)]
pub(super) struct EndpointPlan<'a> {
    pub(super) outgoing: &'a [ScheduledMessage],
    pub(super) incoming: &'a [ScheduledMessage],
    pub(super) start: ClockOrigin,
    pub(super) options: &'a ConnectionOptions,
    pub(super) out_of_band: &'a OutOfBand,
}

/// The result of the opening handshake at an end.
pub struct HandshakeResult {
    /// The negotiated parameters.
    pub agreed: Established,
    /// When this end opened.
    pub at: Instant,
    /// The size of the other end's part of the handshake.
    pub head: ByteCount,
}

/// The record of an end.
pub struct EndpointResult {
    /// What the handshake gave.
    pub opening: HandshakeResult,
    /// When each of its own messages was due.
    pub due: Vec<Instant>,
    /// When each received message was complete and decompressed.
    pub complete: Vec<Instant>,
    /// The bytes of the received messages as transferred, without frame headers.
    pub compressed_bytes: ByteCount,
}

/// Signals from the receiving side of an end to the sending side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReceiverState {
    /// Every message has been received.
    AllReceived,
    /// The other end's close frame has been received.
    Closed,
    /// The other end has ended its direction of the transport.
    Finished,
}

impl<H: Host> Endpoint<H> {
    /// Opens the connection; `received` are the bytes received so far.
    pub(crate) async fn open(&mut self, mut received: Vec<u8>) -> Result<HandshakeResult, Failure> {
        self.session.receive(&received);
        let mut buffer = vec![0; CHUNK];
        loop {
            let output = self.session.take_output();
            self.stream.write_all(&output).await.map_err(Failure::from_error)?;
            match self.session.next_event() {
                Some(Event::Opened(agreed)) => {
                    return Ok(HandshakeResult {
                        agreed,
                        at: self.host.now(),
                        head: ByteCount::from(head_length(&received).unwrap_or_default()),
                    });
                }
                Some(Event::Failed(failure)) => return Err(Failure::new(failure.to_string())),
                Some(_) => {}
                None => match self.stream.read(&mut buffer).await.map_err(Failure::from_error)? {
                    0 => self.session.transport_ended(),
                    read => {
                        received.extend_from_slice(&buffer[..read]);
                        self.session.receive(&buffer[..read]);
                    }
                },
            }
        }
    }

    /// Sends all outgoing messages, receives all expected ones, and closes the connection.
    pub(super) async fn run_connection(
        self,
        opening: HandshakeResult,
        part: EndpointPlan<'_>,
    ) -> Result<EndpointResult, Failure> {
        let (reading, writing) = tokio::io::split(self.stream);
        let (sender, receiver) = mpsc::unbounded_channel();
        let coding = &part.options.compression;
        let (encoder, decoder) = (coding.encoder()?, coding.decoder()?);
        let talk = OpenConnection {
            host: self.host,
            role: self.session.role(),
            session: RefCell::new(self.session),
            part,
        };
        talk.part.out_of_band.opened();
        let opened = opening.at;
        let ended = EndpointResult {
            opening,
            due: Vec::new(),
            complete: Vec::with_capacity(talk.part.incoming.len()),
            compressed_bytes: ByteCount::ZERO,
        };
        let sending = talk.send(writing, encoder, opened, receiver);
        let receiving = talk.receive(reading, decoder, ended, sender);
        let (due, ended) = future::try_join(sending, receiving).await?;
        Ok(EndpointResult { due, ..ended })
    }
}

/// An open connection, whose two directions run concurrently.
struct OpenConnection<'a, H> {
    host: H,
    role: Role,
    session: RefCell<Session>,
    part: EndpointPlan<'a>,
}

impl<H: Host> OpenConnection<'_, H> {
    /// Sends all messages, and returns when each was due.
    async fn send(
        &self,
        mut stream: impl AsyncWrite + Unpin,
        mut encoder: Option<MessageEncoder>,
        opened: Instant,
        mut receiver: mpsc::UnboundedReceiver<ReceiverState>,
    ) -> Result<Vec<Instant>, Failure> {
        let EndpointPlan {
            outgoing,
            start,
            options,
            out_of_band,
            ..
        } = self.part;
        let start = match start {
            ClockOrigin::OwnOpening => opened,
            ClockOrigin::BothOpenings => {
                out_of_band.both_opened().await;
                self.host.now()
            }
        };
        let mut due = Vec::with_capacity(outgoing.len());
        for (index, message) in outgoing.iter().enumerate() {
            due.push(match message.due {
                SendTime::After(after) => {
                    self.host.sleep_until(start + after).await;
                    start + after
                }
                SendTime::OneByOne => {
                    out_of_band.decoded_opposite(self.role, index).await;
                    self.host.now()
                }
            });
            self.host.compute(options.cpu_cost.encoding(message)).await;
            let (kind, bytes) = wire_payload(message, encoder.as_mut());
            let form = SendOptions {
                is_compressed: message.is_compressed() && !options.compression.is_application_layer(),
                fragment: message.fragment,
            };
            if message.reset_context {
                self.session.borrow_mut().reset_compressor();
            }
            let sent = self.session.borrow_mut().send(kind, &bytes, form);
            sent.map_err(Failure::from_error)?;
            self.flush(&mut stream).await?;
        }
        if self.role == Role::Server {
            wait_for_state(&mut receiver, ReceiverState::AllReceived).await;
            let closing = self.session.borrow_mut().close(CloseCode::NORMAL, "");
            closing.map_err(Failure::from_error)?;
            self.flush(&mut stream).await?;
            wait_for_state(&mut receiver, ReceiverState::Closed).await;
        } else {
            wait_for_state(&mut receiver, ReceiverState::Closed).await;
            self.flush(&mut stream).await?;
            // The server ends the transport (RFC 6455 section 7.1.1).
            wait_for_state(&mut receiver, ReceiverState::Finished).await;
        }
        stream.shutdown().await.map_err(Failure::from_error)?;
        Ok(due)
    }

    async fn flush(&self, stream: &mut (impl AsyncWrite + Unpin)) -> Result<(), Failure> {
        let output = self.session.borrow_mut().take_output();
        stream.write_all(&output).await.map_err(Failure::from_error)
    }

    async fn receive(
        &self,
        mut stream: impl AsyncRead + Unpin,
        mut decoder: Option<MessageDecoder>,
        mut ended: EndpointResult,
        sender: mpsc::UnboundedSender<ReceiverState>,
    ) -> Result<EndpointResult, Failure> {
        // If the sending side has failed, the receiver of this channel is gone, and both sides end with its failure.
        let sender = |stage| {
            let _ = sender.send(stage);
        };
        let incoming = self.part.incoming;
        let mut buffer = vec![0; CHUNK];
        let mut is_finished = false;
        if incoming.is_empty() {
            sender(ReceiverState::AllReceived);
        }
        loop {
            while let Some(event) = self.next_event() {
                match event {
                    Event::Message(message) => {
                        self.accept_message(message, decoder.as_mut(), &mut ended).await?;
                        if ended.complete.len() == incoming.len() {
                            sender(ReceiverState::AllReceived);
                        }
                    }
                    Event::Closed(close) if close.code != CloseCode::NORMAL => {
                        let (code, reason) = (close.code.0, close.reason);
                        return Err(Failure::new(format!(
                            "the connection was closed with code {code}: {reason:?}"
                        )));
                    }
                    Event::Closed(_) if ended.complete.len() < incoming.len() => {
                        let (came, all) = (ended.complete.len(), incoming.len());
                        return Err(Failure::new(format!(
                            "the connection was closed after {came} of {all} messages"
                        )));
                    }
                    Event::Closed(_) => sender(ReceiverState::Closed),
                    Event::Failed(failure) => return Err(Failure::new(failure.to_string())),
                    Event::Opened(_) | Event::Ping(_) | Event::Pong(_) => {}
                }
            }
            if is_finished {
                sender(ReceiverState::Finished);
                return Ok(ended);
            }
            let read = stream.read(&mut buffer).await.map_err(Failure::from_error)?;
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

    /// Decompresses a message, and compares it with the expected one.
    async fn accept_message(
        &self,
        message: ReceivedMessage,
        decoder: Option<&mut MessageDecoder>,
        ended: &mut EndpointResult,
    ) -> Result<(), Failure> {
        let EndpointPlan { incoming, options, .. } = self.part;
        let number = ended.complete.len() + 1;
        let Some(expected) = incoming.get(number - 1) else {
            let all = incoming.len();
            return Err(Failure::new(format!(
                "message {number} was received, but only {all} were sent"
            )));
        };
        let coded = message.encoded_bytes;
        let (kind, payload) = original_payload(message, expected, decoder)
            .map_err(|error| Failure::new(format!("message {number} cannot be decompressed: {error}")))?;
        if kind != expected.kind || payload != expected.payload {
            return Err(Failure::new(format!(
                "message {number} was altered: {kind:?} of {} bytes was received, {:?} of {} bytes was sent",
                payload.len(),
                expected.kind,
                expected.payload.len()
            )));
        }
        self.host.compute(options.cpu_cost.decoding(expected)).await;
        ended.complete.push(self.host.now());
        ended.compressed_bytes += coded;
        self.part.out_of_band.decoded(self.role);
        Ok(())
    }
}

/// The message that WebSocket carries: the original, or the application's compressed one, which is binary.
fn wire_payload<'a>(message: &'a ScheduledMessage, encoder: Option<&mut MessageEncoder>) -> (Kind, Cow<'a, [u8]>) {
    match encoder {
        Some(encoder) if message.is_compressed() => {
            let mut coded = Vec::new();
            encoder.encode(&message.payload, &mut coded);
            (Kind::Binary, Cow::Owned(coded))
        }
        _ => (message.kind, Cow::Borrowed(&message.payload)),
    }
}

/// The original of a message that WebSocket carried. If the application compressed it, only the application knows the original kind.
fn original_payload(
    message: ReceivedMessage,
    expected: &ScheduledMessage,
    decoder: Option<&mut MessageDecoder>,
) -> Result<(Kind, Vec<u8>), DecodeError> {
    match decoder {
        Some(decoder) if expected.is_compressed() && message.kind == Kind::Binary => {
            let mut payload = Vec::new();
            decoder.decode(&message.payload, MESSAGE_LIMIT, &mut payload)?;
            Ok((expected.kind, payload))
        }
        _ => Ok((message.kind, message.payload)),
    }
}

/// Waits until the receiving side has reached a stage; if it has failed, both sides end with its failure.
async fn wait_for_state(receiver: &mut mpsc::UnboundedReceiver<ReceiverState>, wanted: ReceiverState) {
    while let Some(stage) = receiver.recv().await {
        if stage == wanted {
            return;
        }
    }
    future::pending::<()>().await;
}
