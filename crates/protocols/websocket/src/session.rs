//! One endpoint of a connection, from the handshake to the last close frame: bytes and commands in, bytes and events out.
//!
//! A session opens no socket and reads no clock. Its owner gives it the bytes that arrive ([`Session::receive`]), sends its output
//! ([`Session::take_output`]), reads its events ([`Session::next_event`]), and ends the connection once it
//! [is over](Session::is_over). The same session serves the simulated world and real sockets.

use super::close::{Close, CloseCode};
use super::frame::{FrameHeader, Opcode};
use super::handshake::{ClientRequest, Established, HEAD_MAX, HandshakeError, Key, Request, head_length};
use super::negotiation::{Agreement, CompressorParameters, accept_offer};
use super::receiver::{Received, ReceivedMessage, Receiver, Violation};
use super::sender::{SendOptions, Sender};
use lastmile_codec::message::Kind;
use lastmile_codec::message::{CodecError, Deflate, DeflateLibrary, WindowBits};
use lastmile_units::{ByteCount, Seed};
use std::collections::VecDeque;

/// A side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The side that connected; it masks its frames.
    Client,
    /// The side that accepted the connection.
    Server,
}

/// A client's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSettings {
    /// The request; its offers are the acceptable parameters of permessage-deflate.
    pub request: Request,
    /// The client's compression settings, within the negotiated limits.
    pub deflate: Deflate,
    /// The compression library.
    pub library: DeflateLibrary,
    /// The largest message that it accepts.
    pub message_limit: ByteCount,
    /// The seed of its nonce and masks.
    pub seed: Seed,
}

/// A server's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// permessage-deflate; none declines every offer.
    pub deflate: Option<ServerDeflate>,
    /// Supported subprotocols; the server chooses the first of the client's list that is among them.
    pub protocols: Vec<String>,
    /// The largest message that it accepts.
    pub message_limit: ByteCount,
}

/// A server's preferences for permessage-deflate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerDeflate {
    /// The server's compression settings. Where the client's offer leaves context takeover or window size open, these are what the server
    /// answers.
    pub own: Deflate,
    /// The compression library.
    pub library: DeflateLibrary,
    /// The limits that it prefers for its clients.
    pub client: CompressorParameters,
}

impl Default for ServerDeflate {
    /// zlib's defaults, and no limits for clients.
    fn default() -> Self {
        Self {
            own: Deflate::default(),
            library: DeflateLibrary::default(),
            client: CompressorParameters {
                takeover: true,
                window_bits: WindowBits::MAX,
            },
        }
    }
}

/// The default for the largest accepted message: our own choice, the default of many servers.
pub const MESSAGE_LIMIT: ByteCount = ByteCount::new(64 << 20);

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done: messages can be sent.
    Opened(Established),
    /// A message arrived.
    Message(ReceivedMessage),
    /// A ping arrived; its pong is in the output.
    Ping(Vec<u8>),
    /// A pong arrived.
    Pong(Vec<u8>),
    /// The other side's close frame arrived; ours is sent or in the output. This is the last event.
    Closed(Close),
    /// The connection failed. This is the last event.
    Failed(Failure),
}

/// Why a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The handshake failed.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The other side broke a rule or exceeded a limit; our close frame names it.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// The transport ended before the closing handshake did (close code 1006).
    #[error("the connection ended without a close frame")]
    CutOff,
    /// The codec for the negotiated parameters could not be created.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

/// Why something cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The handshake is not done, or a close frame was sent.
    #[error("the connection is not open: wait for its handshake, and send nothing after a close frame")]
    NotOpen,
    /// Text that is not UTF-8.
    #[error("a text message must be UTF-8; send it as binary")]
    NotUtf8,
    /// A ping or pong with more than 125 bytes.
    #[error("a control frame's payload of {0} bytes is longer than 125 (RFC 6455 section 5.5)")]
    LongControl(usize),
}

/// One end of a connection.
pub struct Session {
    role: Role,
    state: State,
    output: Vec<u8>,
    events: VecDeque<Event>,
    bytes_after_close: ByteCount,
}

enum State {
    Connecting(Box<(ClientSettings, Key)>, Vec<u8>),
    Listening(Box<ServerSettings>, Vec<u8>),
    Open(Box<Open>),
    Over,
}

/// After the handshake.
struct Open {
    sender: Sender,
    receiver: Receiver,
    /// Whether our close frame was sent.
    is_closing: bool,
}

impl Session {
    /// A client; its request is in the output.
    pub fn client(settings: ClientSettings) -> Self {
        let key = Key::from_seed(settings.seed);
        let output = settings.request.write(&key);
        let state = State::Connecting(Box::new((settings, key)), Vec::new());
        Self::new(Role::Client, state, output)
    }

    /// A server that waits for a request.
    pub fn server(settings: ServerSettings) -> Self {
        Self::new(
            Role::Server,
            State::Listening(Box::new(settings), Vec::new()),
            Vec::new(),
        )
    }

    /// An endpoint whose handshake is done elsewhere. `deflate` has this side's compression settings, within the negotiated limits; `seed`
    /// gives a client its masks. There is no [`Event::Opened`].
    ///
    /// # Errors
    /// When the settings are out of range.
    pub fn opened(
        role: Role,
        agreement: Option<Agreement>,
        deflate: &Deflate,
        message_limit: ByteCount,
        seed: Seed,
    ) -> Result<Self, CodecError> {
        let open = Open::new(
            role,
            agreement,
            (DeflateLibrary::default(), deflate),
            message_limit,
            seed,
        )?;
        Ok(Self::new(role, State::Open(Box::new(open)), Vec::new()))
    }

    fn new(role: Role, state: State, output: Vec<u8>) -> Self {
        Self {
            role,
            state,
            output,
            events: VecDeque::new(),
            bytes_after_close: ByteCount::ZERO,
        }
    }

    /// Which side this is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Processes bytes that arrived, which may cause events and output.
    pub fn receive(&mut self, bytes: &[u8]) {
        let rest;
        let bytes = match &mut self.state {
            State::Connecting(_, head) | State::Listening(_, head) => {
                head.extend_from_slice(bytes);
                match head_length(head) {
                    Some(length) if length <= HEAD_MAX => {
                        let mut head = std::mem::take(head);
                        rest = head.split_off(length);
                        self.open(&head);
                        &rest[..]
                    }
                    None if head.len() < HEAD_MAX => return,
                    _ => return self.refuse(HandshakeError::TooLong.into()),
                }
            }
            State::Open(_) | State::Over => bytes,
        };
        let State::Open(open) = &mut self.state else {
            self.bytes_after_close += ByteCount::from(bytes.len());
            return;
        };
        let (events, output) = (&mut self.events, &mut self.output);
        let Open {
            sender,
            receiver,
            is_closing,
        } = &mut **open;
        let mut is_over = false;
        let received = receiver.receive(bytes, &mut |received| {
            events.push_back(match received {
                Received::Message(message) => Event::Message(message),
                Received::Ping(payload) => {
                    if !*is_closing {
                        sender.control(Opcode::Pong, &payload, output);
                    }
                    Event::Ping(payload)
                }
                Received::Pong(payload) => Event::Pong(payload),
                Received::Close(close) => {
                    if !*is_closing {
                        // The code is echoed (RFC 6455 section 5.5.1).
                        let answer = Close::new(close.code, "");
                        sender.control(Opcode::Close, &answer.payload(), output);
                    }
                    is_over = true;
                    Event::Closed(close)
                }
                Received::Lost(_) => unreachable!("an endpoint misses nothing"),
            });
        });
        if let Err(violation) = received {
            if !*is_closing {
                let close = Close::new(violation.close_code(), &violation.to_string());
                sender.control(Opcode::Close, &close.payload(), output);
            }
            events.push_back(Event::Failed(violation.into()));
            is_over = true;
        }
        if is_over {
            self.bytes_after_close += receiver.bytes_after_close();
            self.state = State::Over;
        }
    }

    /// Notifies the session that the transport ended: the other side will send nothing more.
    pub fn transport_ended(&mut self) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Over => {}
            State::Connecting(_, head) | State::Listening(_, head) => {
                let problem = format!("it ended after {} bytes", head.len());
                self.events
                    .push_back(Event::Failed(HandshakeError::NotHttp(problem).into()));
            }
            State::Open(_) => self.events.push_back(Event::Failed(Failure::CutOff)),
        }
    }

    /// The next event, in order.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Takes the bytes to send now.
    #[must_use]
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// When the connection is not open, or text is not UTF-8.
    pub fn send(&mut self, kind: Kind, payload: &[u8], form: SendOptions) -> Result<(), SendError> {
        if kind == Kind::Text && std::str::from_utf8(payload).is_err() {
            return Err(SendError::NotUtf8);
        }
        let (sender, output) = self.sender()?;
        sender.message(kind, payload, form, output);
        Ok(())
    }

    /// Resets the compression context: the next message is compressed like a first one. The other side need not know.
    pub fn reset_compressor(&mut self) {
        if let State::Open(open) = &mut self.state {
            open.sender.reset_compressor();
        }
    }

    /// Sends a ping.
    ///
    /// # Errors
    /// When the connection is not open, or the payload is longer than 125 bytes.
    pub fn ping(&mut self, payload: &[u8]) -> Result<(), SendError> {
        if payload.len() > 125 {
            return Err(SendError::LongControl(payload.len()));
        }
        let (sender, output) = self.sender()?;
        sender.control(Opcode::Ping, payload, output);
        Ok(())
    }

    /// Sends any frame, legal or not, masked if this side masks and the header has no mask. Probes use this to test the reaction to illegal
    /// frames.
    ///
    /// # Errors
    /// When the connection is not open.
    pub fn send_frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), SendError> {
        let (sender, output) = self.sender()?;
        sender.frame(header, payload, output);
        Ok(())
    }

    /// Begins the closing handshake. Messages may still arrive until the other side's close frame, reported as [`Event::Closed`].
    ///
    /// # Errors
    /// When the connection is not open.
    pub fn close(&mut self, code: CloseCode, reason: &str) -> Result<(), SendError> {
        let (sender, output) = self.sender()?;
        sender.control(Opcode::Close, &Close::new(code, reason).payload(), output);
        if let State::Open(open) = &mut self.state {
            open.is_closing = true;
        }
        Ok(())
    }

    /// Whether messages can be sent.
    pub fn is_open(&self) -> bool {
        matches!(&self.state, State::Open(open) if !open.is_closing)
    }

    /// Whether nothing more will be received: once the output is sent, the transport can be ended. A server ends it first (RFC 6455 section 7.1.1).
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// Bytes that arrived after the end: after the other side's close frame nothing may follow (RFC 6455 section 5.5.1).
    pub fn bytes_after_close(&self) -> ByteCount {
        self.bytes_after_close
    }

    /// Memory of this connection's compressor and decompressor.
    pub fn memory(&self) -> ByteCount {
        match &self.state {
            State::Open(open) => open.sender.memory() + open.receiver.memory(),
            _ => ByteCount::ZERO,
        }
    }

    fn sender(&mut self) -> Result<(&mut Sender, &mut Vec<u8>), SendError> {
        match &mut self.state {
            State::Open(open) if !open.is_closing => Ok((&mut open.sender, &mut self.output)),
            _ => Err(SendError::NotOpen),
        }
    }

    /// Completes the handshake with the other side's head.
    fn open(&mut self, head: &[u8]) {
        let result = match &self.state {
            State::Connecting(client, _) => connect(&client.0, &client.1, head),
            State::Listening(settings, _) => answer(settings, head, &mut self.output),
            State::Open(_) | State::Over => return,
        };
        match result {
            Ok((opened, open)) => {
                self.state = State::Open(Box::new(open));
                self.events.push_back(Event::Opened(opened));
            }
            Err(failure) => self.refuse(failure),
        }
    }

    fn refuse(&mut self, failure: Failure) {
        if let (Role::Server, Failure::Handshake(error)) = (self.role, &failure) {
            self.output.extend(error.refusal());
        }
        self.events.push_back(Event::Failed(failure));
        self.state = State::Over;
    }
}

fn connect(settings: &ClientSettings, key: &Key, head: &[u8]) -> Result<(Established, Open), Failure> {
    let opened = settings.request.accept_response(key, head)?;
    let limit = settings.message_limit;
    let own = (settings.library, &settings.deflate);
    let open = Open::new(Role::Client, opened.deflate, own, limit, settings.seed)?;
    Ok((opened, open))
}

fn answer(settings: &ServerSettings, head: &[u8], output: &mut Vec<u8>) -> Result<(Established, Open), Failure> {
    let asked = ClientRequest::read(head)?;
    let accepted = settings.deflate.and_then(|ServerDeflate { own, client, .. }| {
        let server = CompressorParameters {
            takeover: own.takeover,
            window_bits: own.window_bits,
        };
        accept_offer(&asked.extensions, &Agreement { server, client })
    });
    let (response, agreement) = accepted.unzip();
    let ServerDeflate { own, library, .. } = settings.deflate.unwrap_or_default();
    // A server does not mask, so its seed is not used.
    let open = Open::new(
        Role::Server,
        agreement,
        (library, &own),
        settings.message_limit,
        Seed::new(0),
    )?;
    let protocol = asked.protocols.iter().find(|asked| settings.protocols.contains(asked));
    output.extend(asked.accept(protocol.map(String::as_str), response.as_ref()));
    let opened = Established {
        protocol: protocol.cloned(),
        deflate: agreement,
    };
    Ok((opened, open))
}

impl Open {
    fn new(
        role: Role,
        agreement: Option<Agreement>,
        (library, deflate): (DeflateLibrary, &Deflate),
        limit: ByteCount,
        seed: Seed,
    ) -> Result<Self, CodecError> {
        let (own, other) = match role {
            Role::Client => (
                agreement.map(|agreed| agreed.client),
                agreement.map(|agreed| agreed.server),
            ),
            Role::Server => (
                agreement.map(|agreed| agreed.server),
                agreement.map(|agreed| agreed.client),
            ),
        };
        Ok(Self {
            sender: Sender::new((role == Role::Client).then_some(seed), library, deflate, own)?,
            receiver: Receiver::with_library(library, role == Role::Server, other, limit)?,
            is_closing: false,
        })
    }
}

#[cfg(test)]
mod tests;
