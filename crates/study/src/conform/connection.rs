//! How is a server spoken to, rightly or wrongly? A WebSocket session over a `wire`, and what a case may expect of it.

use super::target::Target;
use super::trouble::{Trouble, closing};
use super::wire::{Answer, Arrival, Deadline, Wire};
use lastmile_payload::message_codec::Deflate;
use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::{
    Agreement, Close, CloseCode, Event, Extension, Failure, Form, FrameHeader, HandshakeError, Key, MESSAGE_LIMIT,
    NegotiationError, Offer, Opcode, PERMESSAGE_DEFLATE, ReceivedMessage, Request, Role, Session, read_extensions,
    take_response,
};
use lastmile_units::{Bytes, Seed};
use std::time::Duration;

/// An open connection.
pub(super) struct Connection {
    wire: Wire,
    session: Session,
    server: Option<String>,
    extensions: Vec<Extension>,
    agreement: Option<Agreement>,
}

impl Connection {
    /// Opens one that offers `extensions`, each a line of its own; `seed` gives its nonce and masks.
    pub(super) fn open(target: &Target, patience: Duration, seed: Seed, extensions: &[&str]) -> Result<Self, Trouble> {
        let mut wire = Wire::connect(target, patience)?;
        let request = request(target, extensions);
        let key = Key::from_seed(seed);
        wire.write(&request.write(&key))?;
        let Answer { head, rest } = wire
            .read_head()?
            .ok_or_else(|| Trouble::not_opened("the server ends the connection within the handshake"))?;
        let answered = request.read_response(&key, &head).map_err(|error| match error {
            HandshakeError::Status(_) | HandshakeError::NotHttp(_) => Trouble::not_opened(error.to_string()),
            _ => Trouble::broken(format!("the handshake's answer is wrong: {error}")),
        })?;
        let agreement = agreement(extensions, &answered.extensions)?;
        let mut session = Session::opened(Role::Client, agreement, &Deflate::default(), MESSAGE_LIMIT, seed)
            .map_err(|error| Trouble::broken(format!("what was agreed on cannot be done: {error}")))?;
        session.receive(&rest);
        Ok(Self {
            wire,
            session,
            server: answered.server,
            extensions: answered.extensions,
            agreement,
        })
    }

    /// What the server calls itself.
    pub(super) fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// What was agreed on; a case that is about compressed messages is not asked where there is nothing.
    pub(super) fn agreement(&self) -> Result<Agreement, Trouble> {
        self.agreement
            .ok_or_else(|| Trouble::not_asked("the server declines this offer of permessage-deflate, as it may"))
    }

    /// Whether the server answered with an extension.
    pub(super) fn has_extension(&self) -> bool {
        !self.extensions.is_empty()
    }

    /// The extensions as the server answered them.
    pub(super) fn answered(&self) -> String {
        let all: Vec<_> = self.extensions.iter().map(ToString::to_string).collect();
        all.join(", ")
    }

    /// The value of a parameter that the server answered.
    pub(super) fn answered_value(&self, parameter: &str) -> Option<&str> {
        let mut parameters = self.extensions.iter().flat_map(|extension| &extension.parameters);
        parameters.find(|found| found.name == parameter)?.value.as_deref()
    }

    /// Sends a message as it should be.
    pub(super) fn send(&mut self, kind: Kind, payload: &[u8], form: Form) -> Result<(), Trouble> {
        self.session
            .send(kind, payload, form)
            .map_err(|error| Trouble::broken(format!("a message could not be sent: {error}")))?;
        self.flush()
    }

    /// Sends a frame, legal or not.
    pub(super) fn frame(&mut self, header: FrameHeader, payload: &[u8]) -> Result<(), Trouble> {
        self.session
            .send_frame(header, payload)
            .map_err(|error| Trouble::broken(format!("a frame could not be sent: {error}")))?;
        self.flush()
    }

    /// Sends octets, whatever they are.
    pub(super) fn octets(&mut self, octets: &[u8]) -> Result<(), Trouble> {
        self.wire.write(octets)
    }

    fn flush(&mut self) -> Result<(), Trouble> {
        let output = self.session.take_output();
        self.wire.write(&output)
    }

    /// What happens next, until the deadline; none where nothing does. Pings are answered on the way, and win nobody time.
    fn next(&mut self, deadline: Deadline) -> Result<Option<Event>, Trouble> {
        loop {
            if let Some(event) = self.session.next_event() {
                return Ok(Some(event));
            }
            match self.wire.read(deadline)? {
                Arrival::Octets(octets) => self.session.receive(&octets),
                Arrival::End if self.session.is_over() => return Ok(None),
                Arrival::End => self.session.transport_ended(),
                Arrival::Silence => return Ok(None),
            }
            self.flush()?;
        }
    }

    /// What happens next where something must.
    fn due(&mut self, deadline: Deadline) -> Result<Event, Trouble> {
        self.next(deadline)?
            .ok_or_else(|| Trouble::broken(format!("no answer is whole within {}", self.wire.patience())))
    }

    /// The next message, control frames passed over.
    pub(super) fn message(&mut self) -> Result<ReceivedMessage, Trouble> {
        let deadline = self.wire.deadline();
        loop {
            match self.due(deadline)? {
                Event::Message(message) => return Ok(message),
                Event::Closed(close) => return Err(Trouble::Closed(close)),
                Event::Failed(failure) => return Err(Trouble::broken(failure.to_string())),
                Event::Opened(_) | Event::Ping(_) | Event::Pong(_) => {}
            }
        }
    }

    /// The next message, which must be this one.
    pub(super) fn expect(&mut self, kind: Kind, payload: &[u8]) -> Result<ReceivedMessage, Trouble> {
        let message = self.message()?;
        if message.payload != payload {
            let (sent, came) = (payload.len(), message.payload.len());
            return Err(Trouble::broken(format!(
                "a message of {sent} octets came back as another, of {came}; the probe wants a server that sends every message back"
            )));
        }
        if message.kind != kind {
            return Err(Trouble::broken(format!(
                "a {kind:?} message came back as {:?}",
                message.kind
            )));
        }
        Ok(message)
    }

    /// Sends text, which must come back.
    pub(super) fn echoes(&mut self, text: &str) -> Result<ReceivedMessage, Trouble> {
        self.send(Kind::Text, text.as_bytes(), Form::default())?;
        self.expect(Kind::Text, text.as_bytes())
    }

    /// Sends binary, which must come back.
    pub(super) fn echoes_octets(&mut self, octets: &[u8]) -> Result<ReceivedMessage, Trouble> {
        self.send(Kind::Binary, octets, Form::default())?;
        self.expect(Kind::Binary, octets)
    }

    /// The pong to a ping that was sent with this payload.
    pub(super) fn expect_pong(&mut self, payload: &[u8]) -> Result<(), Trouble> {
        let deadline = self.wire.deadline();
        loop {
            match self.due(deadline)? {
                Event::Pong(answer) if answer == payload => return Ok(()),
                Event::Pong(_) => return Err(Trouble::broken("a pong has another payload than its ping")),
                Event::Closed(close) => {
                    let found = format!("the server {} instead of a pong", closing(&close));
                    return Err(Trouble::broken(found));
                }
                Event::Failed(failure) => {
                    return Err(Trouble::broken(format!("where a pong is due: {failure}")));
                }
                Event::Message(_) | Event::Opened(_) | Event::Ping(_) => {}
            }
        }
    }

    /// The server must fail the connection (RFC 6455 section 7.1.7). It should send a close frame first, and in it one of these codes: one
    /// with another code says something that is not so; one without a code, like none at all, leaves out what only should be there.
    pub(super) fn expect_failure(&mut self, codes: &[CloseCode]) -> Result<String, Trouble> {
        self.failure_or(codes, None)
    }

    /// The same where it may as well send a message back that it need not take.
    pub(super) fn failure_or(&mut self, codes: &[CloseCode], message: Option<&[u8]>) -> Result<String, Trouble> {
        let deadline = self.wire.deadline();
        loop {
            let Some(event) = self.next(deadline)? else {
                return Err(Trouble::broken(format!(
                    "it neither closes nor ends the connection within {}",
                    self.wire.patience()
                )));
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
                    return Err(Trouble::broken(found));
                }
                Event::Failed(Failure::CutOff) => return Ok("it ends the connection without a close frame".to_owned()),
                Event::Failed(failure) => return Err(Trouble::broken(failure.to_string())),
                Event::Message(came) if message == Some(&came.payload) => {
                    return Ok("it reads it all the same".to_owned());
                }
                Event::Message(_) => {
                    return Err(Trouble::broken("the server takes it for a message, and sends one back"));
                }
                Event::Pong(_) => return Err(Trouble::broken("the server answers it with a pong")),
                Event::Opened(_) | Event::Ping(_) => {}
            }
        }
    }

    /// Octets that this frame would be, unmasked.
    pub(super) fn bare(opcode: Opcode, payload: &[u8]) -> Vec<u8> {
        let mut octets = Vec::new();
        FrameHeader::new(opcode, payload.len() as u64).write_with(payload, &mut octets);
        octets
    }

    /// Closes as an endpoint should, and wants the answer.
    pub(super) fn close(&mut self, code: CloseCode) -> Result<Close, Trouble> {
        self.session
            .close(code, "")
            .map_err(|error| Trouble::broken(format!("a close frame could not be sent: {error}")))?;
        self.flush()?;
        let deadline = self.wire.deadline();
        loop {
            match self.due(deadline)? {
                Event::Closed(close) => return Ok(close),
                Event::Failed(failure) => return Err(Trouble::broken(failure.to_string())),
                _ => {}
            }
        }
    }

    /// Reads on, after the close frames, until the server ends the TCP connection; whether it does in time.
    pub(super) fn ends(&mut self) -> Result<bool, Trouble> {
        let deadline = self.wire.deadline();
        loop {
            match self.wire.read(deadline)? {
                Arrival::Octets(octets) => self.session.receive(&octets),
                Arrival::End => return Ok(true),
                Arrival::Silence => return Ok(false),
            }
        }
    }

    /// The server must end the TCP connection now (RFC 6455 section 5.5.1).
    pub(super) fn expect_end(&mut self) -> Result<(), Trouble> {
        if self.ends()? {
            return Ok(());
        }
        let patience = self.wire.patience();
        Err(Trouble::broken(format!(
            "after the close frames it leaves the TCP connection open for {patience}"
        )))
    }

    /// What came after the server's close frame.
    pub(super) fn passed_over(&self) -> Bytes {
        self.session.passed_over()
    }
}

/// A request that offers `extensions`, each on a line of its own, as they are.
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

/// What an answer to these lines of offers amounts to. An offer that must be declined is none.
fn agreement(lines: &[&str], answered: &[Extension]) -> Result<Option<Agreement>, Trouble> {
    let offered = read_extensions(lines.iter().map(|line| line.as_bytes())).unwrap_or_default();
    let offers: Vec<_> = offered.iter().filter_map(|offer| Offer::read(offer).ok()).collect();
    take_response(&offers, answered).map_err(|error| match (error, answered) {
        (NegotiationError::FitsNoOffer { .. }, [answer]) => Trouble::Misfit(answer.to_string()),
        (NegotiationError::NotOffered(name), [answer]) if name == PERMESSAGE_DEFLATE => {
            Trouble::Misfit(answer.to_string())
        }
        (error, _) => Trouble::broken(format!("its answer is wrong: {error}")),
    })
}

/// Octets that no compressor can shorten; the same for the same name.
pub(super) fn incompressible(name: &str, length: Bytes) -> Vec<u8> {
    use rand_core::Rng as _;
    let mut octets = vec![0; length.get() as usize];
    Seed::new(1).derive(name).rng().fill_bytes(&mut octets);
    octets
}
