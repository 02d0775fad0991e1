//! A WebSocket session over a `timed_socket`, which can also break the protocol, and the expectations that cases have of the server.

use super::case_error::{CaseError, broken, closing};
use super::server_url::Target;
use super::timed_socket::{Arrival, Deadline, HandshakeResponse, TimedSocket};
use lastmile_codec::message::{Deflate, Kind};
use lastmile_units::{ByteCount, Seed};
use lastmile_websocket::{
    Agreement, Close, CloseCode, Event, Extension, Failure, FrameHeader, HandshakeError, Key, MESSAGE_LIMIT,
    NegotiationError, Offer, Opcode, PERMESSAGE_DEFLATE, ReceivedMessage, Request, Role, SendOptions, Session,
    accept_response, read_extensions,
};
use std::time::Duration;

/// An open connection.
pub(super) struct Connection {
    wire: TimedSocket,
    session: Session,
    server: Option<String>,
    extensions: Vec<Extension>,
    agreement: Option<Agreement>,
}

impl Connection {
    /// Opens a connection that offers `extensions`, each on a line of its own; `seed` gives its nonce and masks.
    pub(super) fn open(target: &Target, timeout: Duration, seed: Seed, extensions: &[&str]) -> Result<Self, CaseError> {
        let mut wire = TimedSocket::connect(target, timeout)?;
        let request = request(target, extensions);
        let key = Key::from_seed(seed);
        wire.write(&request.write(&key))?;
        let HandshakeResponse { head, rest } = wire
            .read_head()?
            .ok_or_else(|| CaseError::not_opened("the server ends the connection during the handshake"))?;
        let answered = request.read_response(&key, &head).map_err(|error| match error {
            HandshakeError::Status(_) | HandshakeError::NotHttp(_) => CaseError::not_opened(error.to_string()),
            _ => CaseError::broken(format!("the handshake response is wrong: {error}")),
        })?;
        let agreement = agreement(extensions, &answered.extensions)?;
        let mut session = Session::opened(Role::Client, agreement, &Deflate::default(), MESSAGE_LIMIT, seed)
            .map_err(|error| CaseError::broken(format!("the negotiated parameters cannot be used: {error}")))?;
        session.receive(&rest);
        Ok(Self {
            wire,
            session,
            server: answered.server,
            extensions: answered.extensions,
            agreement,
        })
    }

    /// The server's name for itself (its `Server` field).
    pub(super) fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The negotiated compression. Without one, a case about compressed messages does not apply.
    pub(super) fn agreement(&self) -> Result<Agreement, CaseError> {
        self.agreement.ok_or_else(|| {
            CaseError::not_applicable("the server declines this offer of permessage-deflate, which it may do")
        })
    }

    /// Whether the server answered with an extension.
    pub(super) fn has_extension(&self) -> bool {
        !self.extensions.is_empty()
    }

    /// The extensions as the server answered them.
    pub(super) fn extensions_text(&self) -> String {
        let all: Vec<_> = self.extensions.iter().map(ToString::to_string).collect();
        all.join(", ")
    }

    /// The value of a parameter that the server answered.
    pub(super) fn parameter_value(&self, parameter: &str) -> Option<&str> {
        let mut parameters = self.extensions.iter().flat_map(|extension| &extension.parameters);
        parameters.find(|found| found.name == parameter)?.value.as_deref()
    }

    /// Sends a valid message.
    pub(super) fn send(&mut self, kind: Kind, payload: &[u8], form: SendOptions) -> Result<(), CaseError> {
        self.session
            .send(kind, payload, form)
            .map_err(|error| CaseError::broken(format!("a message could not be sent: {error}")))?;
        self.flush()
    }

    /// Sends a frame, valid or not.
    pub(super) fn send_frame(&mut self, (header, payload): (FrameHeader, &[u8])) -> Result<(), CaseError> {
        self.session
            .send_frame(header, payload)
            .map_err(|error| CaseError::broken(format!("a frame could not be sent: {error}")))?;
        self.flush()
    }

    /// Sends raw bytes.
    pub(super) fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), CaseError> {
        self.wire.write(bytes)
    }

    fn flush(&mut self) -> Result<(), CaseError> {
        let output = self.session.take_output();
        self.wire.write(&output)
    }

    /// The next event; none if none happens before the deadline. Pings are answered meanwhile, and do not extend the deadline.
    fn next(&mut self, deadline: Deadline) -> Result<Option<Event>, CaseError> {
        loop {
            if let Some(event) = self.session.next_event() {
                return Ok(Some(event));
            }
            match self.wire.read(deadline)? {
                Arrival::Bytes(bytes) => self.session.receive(&bytes),
                Arrival::End if self.session.is_over() => return Ok(None),
                Arrival::End => self.session.transport_ended(),
                Arrival::Silence => return Ok(None),
            }
            self.flush()?;
        }
    }

    /// The next event, where there must be one.
    fn due(&mut self, deadline: Deadline) -> Result<Event, CaseError> {
        self.next(deadline)?
            .ok_or_else(|| CaseError::broken(format!("no complete answer within {}", self.wire.timeout_text())))
    }

    /// The next message; control frames are skipped.
    pub(super) fn receive_message(&mut self) -> Result<ReceivedMessage, CaseError> {
        let deadline = self.wire.deadline();
        loop {
            match self.due(deadline)? {
                Event::Message(message) => return Ok(message),
                Event::Closed(close) => return Err(CaseError::Closed(close)),
                Event::Failed(failure) => return broken(failure.to_string()),
                Event::Opened(_) | Event::Ping(_) | Event::Pong(_) => {}
            }
        }
    }

    /// The next message, which must be this one.
    pub(super) fn expect(&mut self, kind: Kind, payload: &[u8]) -> Result<ReceivedMessage, CaseError> {
        let message = self.receive_message()?;
        if message.payload != payload {
            let (sent, came) = (payload.len(), message.payload.len());
            return broken(format!(
                "a message of {sent} bytes came back as another, of {came}; the probe needs a server that sends every message back"
            ));
        }
        if message.kind != kind {
            return broken(format!("a {kind:?} message came back as {:?}", message.kind));
        }
        Ok(message)
    }

    /// Sends text, which must come back.
    pub(super) fn echo_text(&mut self, text: &str) -> Result<ReceivedMessage, CaseError> {
        self.send(Kind::Text, text.as_bytes(), SendOptions::default())?;
        self.expect(Kind::Text, text.as_bytes())
    }

    /// Sends binary, which must come back.
    pub(super) fn echo_bytes(&mut self, bytes: &[u8]) -> Result<ReceivedMessage, CaseError> {
        self.send(Kind::Binary, bytes, SendOptions::default())?;
        self.expect(Kind::Binary, bytes)
    }

    /// The pong to a ping that was sent with this payload.
    pub(super) fn expect_pong(&mut self, payload: &[u8]) -> Result<(), CaseError> {
        let deadline = self.wire.deadline();
        loop {
            match self.due(deadline)? {
                Event::Pong(answer) if answer == payload => return Ok(()),
                Event::Pong(_) => return broken("the payload of a pong differs from that of its ping"),
                Event::Closed(close) => {
                    let found = format!("the server {} instead of a pong", closing(&close));
                    return broken(found);
                }
                Event::Failed(failure) => {
                    return broken(format!("where a pong is due: {failure}"));
                }
                Event::Message(_) | Event::Opened(_) | Event::Ping(_) => {}
            }
        }
    }

    /// The server must fail the connection (RFC 6455 section 7.1.7). It should first send a close frame with one of these codes. Another
    /// code is a false statement, and breaks the rule; a missing code or close frame is only the lack of a "should", and does not.
    pub(super) fn expect_failure(&mut self, codes: &[CloseCode]) -> Result<String, CaseError> {
        self.expect_failure_or(codes, None)
    }

    /// Like [`Self::expect_failure`], except that the server may also accept the frame and send `message` back.
    pub(super) fn expect_failure_or(
        &mut self,
        codes: &[CloseCode],
        message: Option<&[u8]>,
    ) -> Result<String, CaseError> {
        let deadline = self.wire.deadline();
        loop {
            let Some(event) = self.next(deadline)? else {
                return broken(format!(
                    "it neither closes nor ends the connection within {}",
                    self.wire.timeout_text()
                ));
            };
            match event {
                Event::Closed(close) if close.code == CloseCode::NONE || codes.contains(&close.code) => {
                    return Ok(format!(
                        "it {}",
                        closing(&Close {
                            reason: String::new(),
                            ..close
                        })
                    ));
                }
                Event::Closed(close) => {
                    let wanted: Vec<_> = codes.iter().map(|code| code.0.to_string()).collect();
                    let found = format!("it closes with {} instead of {}", close.code.0, wanted.join(" or "));
                    return broken(found);
                }
                Event::Failed(Failure::CutOff) => return Ok("it ends the connection without a close frame".to_owned()),
                Event::Failed(failure) => return broken(failure.to_string()),
                Event::Message(came) if message == Some(&came.payload) => {
                    return Ok("it accepts it, and sends the message back".to_owned());
                }
                Event::Message(_) => {
                    return broken("the server accepts it as a message, and sends a message back");
                }
                Event::Pong(_) => return broken("the server answers it with a pong"),
                Event::Opened(_) | Event::Ping(_) => {}
            }
        }
    }

    /// The bytes of this frame without a mask.
    pub(super) fn unmasked_frame(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        FrameHeader::new(opcode, payload.len() as u64).write_with(payload, &mut bytes);
        bytes
    }

    /// Closes properly, and expects the server's close frame.
    pub(super) fn close(&mut self, code: CloseCode) -> Result<Close, CaseError> {
        self.session
            .close(code, "")
            .map_err(|error| CaseError::broken(format!("a close frame could not be sent: {error}")))?;
        self.flush()?;
        let deadline = self.wire.deadline();
        loop {
            match self.due(deadline)? {
                Event::Closed(close) => return Ok(close),
                Event::Failed(failure) => return broken(failure.to_string()),
                _ => {}
            }
        }
    }

    /// Reads on after the close frames, and returns whether the server ends the TCP connection in time.
    pub(super) fn wait_for_end(&mut self) -> Result<bool, CaseError> {
        let deadline = self.wire.deadline();
        loop {
            match self.wire.read(deadline)? {
                Arrival::Bytes(bytes) => self.session.receive(&bytes),
                Arrival::End => return Ok(true),
                Arrival::Silence => return Ok(false),
            }
        }
    }

    /// The server must end the TCP connection now (RFC 6455 section 5.5.1).
    pub(super) fn expect_end(&mut self) -> Result<(), CaseError> {
        if self.wait_for_end()? {
            return Ok(());
        }
        broken(format!(
            "after the close frames it leaves the TCP connection open for {}",
            self.wire.timeout_text()
        ))
    }

    /// The number of bytes that came after the server's close frame.
    pub(super) fn bytes_after_close(&self) -> ByteCount {
        self.session.bytes_after_close()
    }
}

/// A handshake request that offers `extensions` unchanged, each on a line of its own.
pub(super) fn request(target: &Target, extensions: &[&str]) -> Request {
    Request {
        host: target.authority(),
        target: target.path().to_owned(),
        fields: extensions
            .iter()
            .map(|line| ("Sec-WebSocket-Extensions".to_owned(), (*line).to_owned()))
            .collect(),
        ..Request::default()
    }
}

/// The agreement that this answer to these lines of offers makes. An offer that must be declined does not count as one.
fn agreement(lines: &[&str], answered: &[Extension]) -> Result<Option<Agreement>, CaseError> {
    let offered = read_extensions(lines.iter().map(|line| line.as_bytes())).unwrap_or_default();
    let offers: Vec<_> = offered.iter().filter_map(|offer| Offer::read(offer).ok()).collect();
    accept_response(&offers, answered).map_err(|error| match (error, answered) {
        (NegotiationError::FitsNoOffer { .. }, [answer]) => CaseError::Misfit(answer.to_string()),
        (NegotiationError::NotOffered(name), [answer]) if name == PERMESSAGE_DEFLATE => {
            CaseError::Misfit(answer.to_string())
        }
        (error, _) => CaseError::broken(format!("the server's answer is wrong: {error}")),
    })
}

/// Random bytes that no compressor can shorten; the same for the same name.
pub(super) fn incompressible(name: &str, length: ByteCount) -> Vec<u8> {
    use rand_core::Rng as _;
    let mut bytes = vec![0; length.get() as usize];
    Seed::new(1).derive(name).rng().fill_bytes(&mut bytes);
    bytes
}
