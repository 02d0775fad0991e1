//! What does an endpoint do, from the first octet of the handshake to the last close frame? Octets and wishes in, octets and events out.
//!
//! A session opens no socket and keeps no time: whoever has the connection gives it what arrives ([`Session::receive`]), carries what it
//! wants sent ([`Session::take_output`]), asks what happened ([`Session::next_event`]), and ends the connection once it
//! [is over](Session::is_over). The same session serves the simulated world and real sockets.

use super::close::{Close, CloseCode};
use super::frame::{FrameHeader, Opcode};
use super::handshake::{Asked, HEAD_MAX, HandshakeError, Key, Opened, Request, head_length};
use super::negotiation::{Agreement, Compressor, accept_offer};
use super::receiver::{Received, ReceivedMessage, Receiver, Violation};
use super::sender::{Form, Sender};
use crate::message_codec::{CodecError, Deflate, DeflateLibrary, WindowBits};
use crate::transcript::Kind;
use lastmile_units::{Bytes, Seed};
use std::collections::VecDeque;

/// Which side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The one that connected: it masks.
    Client,
    /// The one that was connected to.
    Server,
}

/// What a client is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSettings {
    /// What it asks for; its offers are what permessage-deflate may become.
    pub request: Request,
    /// How it compresses, within what is agreed on.
    pub deflate: Deflate,
    /// By which library.
    pub library: DeflateLibrary,
    /// The largest message that it takes.
    pub message_limit: Bytes,
    /// Where its nonce and masks come from.
    pub seed: Seed,
}

/// What a server is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// permessage-deflate; none declines every offer.
    pub deflate: Option<ServerDeflate>,
    /// Subprotocols that it speaks; of those asked for it chooses the first that is among them.
    pub protocols: Vec<String>,
    /// The largest message that it takes.
    pub message_limit: Bytes,
}

/// How a server would have permessage-deflate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerDeflate {
    /// How it compresses, within what is agreed on: takeover and window are what it answers an offer that leaves them open with.
    pub own: Deflate,
    /// By which library.
    pub library: DeflateLibrary,
    /// What it would have its clients do.
    pub client: Compressor,
}

impl Default for ServerDeflate {
    /// zlib's own settings, and clients that may do anything.
    fn default() -> Self {
        Self {
            own: Deflate::default(),
            library: DeflateLibrary::default(),
            client: Compressor {
                takeover: true,
                window_bits: WindowBits::MAX,
            },
        }
    }
}

/// The largest message that is taken where nothing else is said: our own choice, what many servers default to.
pub const MESSAGE_LIMIT: Bytes = Bytes::new(64 << 20);

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The handshake is done: messages can be sent.
    Opened(Opened),
    /// A message came.
    Message(ReceivedMessage),
    /// A ping came; its pong is in the output.
    Ping(Vec<u8>),
    /// A pong came.
    Pong(Vec<u8>),
    /// The other side's close frame came; ours is sent or in the output. Nothing comes after this.
    Closed(Close),
    /// The connection failed. Nothing comes after this.
    Failed(Failure),
}

/// Why a connection failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It did not begin.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The other side broke a rule, or passed a limit; it is told which in a close frame.
    #[error(transparent)]
    Violation(#[from] Violation),
    /// The transport ended before the closing handshake did (close code 1006).
    #[error("the connection ended without a close frame")]
    CutOff,
    /// No compressor could be made for what was agreed on.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

/// What cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The handshake is not done, or a close frame was sent.
    #[error("the connection is not open: wait for its handshake, and send nothing after a close frame")]
    NotOpen,
    /// Text that is not UTF-8.
    #[error("a text message must be UTF-8; send it as binary")]
    NotUtf8,
    /// A ping or pong with more than 125 octets.
    #[error("a control frame's payload of {0} octets is longer than 125 (RFC 6455 section 5.5)")]
    LongControl(usize),
}

/// One end of a connection.
pub struct Session {
    role: Role,
    state: State,
    output: Vec<u8>,
    events: VecDeque<Event>,
    passed_over: Bytes,
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

    /// A server, which waits for a request.
    pub fn server(settings: ServerSettings) -> Self {
        Self::new(
            Role::Server,
            State::Listening(Box::new(settings), Vec::new()),
            Vec::new(),
        )
    }

    /// An endpoint whose handshake is done elsewhere. `deflate` is how this side compresses, within what is agreed on; `seed` gives a
    /// client its masks. No [`Event::Opened`] is told.
    ///
    /// # Errors
    /// When the settings are out of range.
    pub fn opened(
        role: Role,
        agreement: Option<Agreement>,
        deflate: &Deflate,
        message_limit: Bytes,
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
            passed_over: Bytes::ZERO,
        }
    }

    /// Which side this is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Takes what arrived. What comes of it are events and output.
    pub fn receive(&mut self, octets: &[u8]) {
        let rest;
        let octets = match &mut self.state {
            State::Connecting(_, head) | State::Listening(_, head) => {
                head.extend_from_slice(octets);
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
            State::Open(_) | State::Over => octets,
        };
        let State::Open(open) = &mut self.state else {
            self.passed_over += Bytes::from(octets.len());
            return;
        };
        let (events, output) = (&mut self.events, &mut self.output);
        let Open {
            sender,
            receiver,
            is_closing,
        } = &mut **open;
        let mut is_over = false;
        let received = receiver.receive(octets, &mut |received| {
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
                        // The code is given back (RFC 6455 section 5.5.1).
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
            self.passed_over += receiver.passed_over();
            self.state = State::Over;
        }
    }

    /// The transport ended: the other side will send nothing more.
    pub fn transport_ended(&mut self) {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Over => {}
            State::Connecting(_, head) | State::Listening(_, head) => {
                let problem = format!("it ended after {} octets", head.len());
                self.events
                    .push_back(Event::Failed(HandshakeError::NotHttp(problem).into()));
            }
            State::Open(_) => self.events.push_back(Event::Failed(Failure::CutOff)),
        }
    }

    /// What happened next, in its order.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What is to be sent now; it is given once.
    #[must_use]
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// When the connection is not open, or text is not UTF-8.
    pub fn send(&mut self, kind: Kind, payload: &[u8], form: Form) -> Result<(), SendError> {
        if kind == Kind::Text && std::str::from_utf8(payload).is_err() {
            return Err(SendError::NotUtf8);
        }
        let (sender, output) = self.sender()?;
        sender.message(kind, payload, form, output);
        Ok(())
    }

    /// Forgets the messages that were sent: the next one is compressed as a first one is. The other side need not know.
    pub fn forget(&mut self) {
        if let State::Open(open) = &mut self.state {
            open.sender.forget();
        }
    }

    /// Sends a ping.
    ///
    /// # Errors
    /// When the connection is not open, or the payload is longer than 125 octets.
    pub fn ping(&mut self, payload: &[u8]) -> Result<(), SendError> {
        if payload.len() > 125 {
            return Err(SendError::LongControl(payload.len()));
        }
        let (sender, output) = self.sender()?;
        sender.control(Opcode::Ping, payload, output);
        Ok(())
    }

    /// Sends any frame, legal or not, masked where this side masks and the header has no mask. What the other side makes of an illegal one
    /// is what a probe asks.
    ///
    /// # Errors
    /// When the connection is not open.
    pub fn send_frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), SendError> {
        let (sender, output) = self.sender()?;
        sender.frame(header, payload, output);
        Ok(())
    }

    /// Begins the closing handshake. Messages go on to come until the other side's close frame, which [`Event::Closed`] tells.
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

    /// Whether nothing more is to be received: with the output sent, the transport can be ended. A server ends it first (RFC 6455 section 7.1.1).
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// What came after the end: after the other side's close frame nothing may (RFC 6455 section 5.5.1).
    pub fn passed_over(&self) -> Bytes {
        self.passed_over
    }

    /// What compressing and decompressing hold for this connection.
    pub fn memory(&self) -> Bytes {
        match &self.state {
            State::Open(open) => open.sender.memory() + open.receiver.memory(),
            _ => Bytes::ZERO,
        }
    }

    fn sender(&mut self) -> Result<(&mut Sender, &mut Vec<u8>), SendError> {
        match &mut self.state {
            State::Open(open) if !open.is_closing => Ok((&mut open.sender, &mut self.output)),
            _ => Err(SendError::NotOpen),
        }
    }

    /// The other side's head is whole.
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

fn connect(settings: &ClientSettings, key: &Key, head: &[u8]) -> Result<(Opened, Open), Failure> {
    let opened = settings.request.take_response(key, head)?;
    let limit = settings.message_limit;
    let own = (settings.library, &settings.deflate);
    let open = Open::new(Role::Client, opened.deflate, own, limit, settings.seed)?;
    Ok((opened, open))
}

fn answer(settings: &ServerSettings, head: &[u8], output: &mut Vec<u8>) -> Result<(Opened, Open), Failure> {
    let asked = Asked::read(head)?;
    let accepted = settings.deflate.and_then(|ServerDeflate { own, client, .. }| {
        let server = Compressor {
            takeover: own.takeover,
            window_bits: own.window_bits,
        };
        accept_offer(&asked.extensions, &Agreement { server, client })
    });
    let (response, agreement) = accepted.unzip();
    let ServerDeflate { own, library, .. } = settings.deflate.unwrap_or_default();
    // Of a server that does not mask, no seed is used.
    let open = Open::new(
        Role::Server,
        agreement,
        (library, &own),
        settings.message_limit,
        Seed::new(0),
    )?;
    let protocol = asked.protocols.iter().find(|asked| settings.protocols.contains(asked));
    output.extend(asked.accept(protocol.map(String::as_str), response.as_ref()));
    let opened = Opened {
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
        limit: Bytes,
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
            receiver: Receiver::by(library, role == Role::Server, other, limit)?,
            is_closing: false,
        })
    }
}

#[cfg(test)]
mod tests;
