//! How is a server spoken to, rightly or wrongly? A TCP connection with a WebSocket session on it, and what a case may expect of it.

use super::target::Target;
use lastmile_payload::message_codec::Deflate;
use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::{
    Agreement, CloseCode, Event, Extension, Failure, Form, FrameHeader, Key, MESSAGE_LIMIT, Offer, Opcode,
    PERMESSAGE_DEFLATE, ReceivedMessage, Request, Response, Role, Session, head_length, read_extensions,
};
use lastmile_units::{Bytes, Seed};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Why a case did not end as it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// The server did something else.
    #[error("{0}")]
    Broken(String),
    /// It has not what the case asks about.
    #[error("{0}")]
    NotAsked(String),
}

impl Trouble {
    pub(super) fn broken(found: impl Into<String>) -> Self {
        Self::Broken(found.into())
    }

    pub(super) fn not_asked(why: impl Into<String>) -> Self {
        Self::NotAsked(why.into())
    }
}

/// An open connection.
pub(super) struct Connection {
    stream: TcpStream,
    session: Session,
    server: Option<String>,
    extensions: Vec<Extension>,
    agreement: Option<Agreement>,
}

/// Octets of a response's head that are read. Our own choice.
const HEAD_MAX: usize = 16 << 10;
/// Octets that are read at once.
const PIECE: usize = 64 << 10;

impl Connection {
    /// Opens one that offers `extensions`, each a line of its own.
    pub(super) fn open(target: &Target, patience: Duration, extensions: &[&str]) -> Result<Self, Trouble> {
        let mut stream = connect(target, patience)?;
        let request = Request {
            host: target.authority(),
            target: target.path().to_owned(),
            fields: extensions
                .iter()
                .map(|line| ("Sec-WebSocket-Extensions".to_owned(), (*line).to_owned()))
                .collect(),
            ..Request::default()
        };
        // The same nonce every time: the server is asked, not distrusted.
        let key = Key::from_seed(Seed::new(1));
        stream
            .write_all(&request.write(&key))
            .map_err(|error| told("the handshake", &error))?;
        let (head, rest) = read_head(&mut stream)?;
        let head = Head::read(&head)?;
        if head.accept.as_deref() != Some(&key.accept()) {
            return Err(Trouble::broken(
                "the handshake's Sec-WebSocket-Accept is not that of its key",
            ));
        }
        let agreement = agreement(extensions, &head.extensions)?;
        let (deflate, seed) = (Deflate::default(), Seed::new(1));
        let mut session = Session::opened(Role::Client, agreement, &deflate, MESSAGE_LIMIT, seed)
            .map_err(|error| Trouble::broken(format!("what was agreed on cannot be done: {error}")))?;
        session.receive(&rest);
        Ok(Self {
            stream,
            session,
            server: head.server,
            extensions: head.extensions,
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

    /// Sends octets, whatever they are. That they are not taken any more is seen by who waits for an answer.
    pub(super) fn octets(&mut self, octets: &[u8]) {
        let _ = self.stream.write_all(octets);
    }

    fn flush(&mut self) -> Result<(), Trouble> {
        let output = self.session.take_output();
        match self.stream.write_all(&output) {
            // A server that closed early has said something first; whoever expects an answer reads it.
            Err(error) if is_closed(&error) => Ok(()),
            Err(error) => Err(told("sending", &error)),
            Ok(()) => Ok(()),
        }
    }

    /// What happens next.
    fn next(&mut self) -> Result<Event, Trouble> {
        let mut piece = vec![0; PIECE];
        loop {
            if let Some(event) = self.session.next_event() {
                return Ok(event);
            }
            match self.stream.read(&mut piece) {
                Ok(0) => self.session.transport_ended(),
                Ok(count) => self.session.receive(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_closed(&error) => self.session.transport_ended(),
                Err(error) if is_silence(&error) => return Err(Trouble::broken("the server says nothing more")),
                Err(error) => return Err(told("receiving", &error)),
            }
            self.flush()?;
        }
    }

    /// The next message, control frames passed over.
    pub(super) fn message(&mut self) -> Result<ReceivedMessage, Trouble> {
        loop {
            match self.next()? {
                Event::Message(message) => return Ok(message),
                Event::Closed(close) => {
                    let reason = if close.reason.is_empty() { "" } else { ": " };
                    let text = format!("the server closes with {}{reason}{}", close.code.0, close.reason);
                    return Err(Trouble::broken(text));
                }
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
                "a message of {sent} octets came back as another, of {came}"
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
        loop {
            match self.next()? {
                Event::Pong(answer) if answer == payload => return Ok(()),
                Event::Pong(_) => return Err(Trouble::broken("a pong has another payload than its ping")),
                Event::Closed(_) | Event::Failed(_) => {
                    return Err(Trouble::broken("the server ends instead of a pong"));
                }
                Event::Message(_) | Event::Opened(_) | Event::Ping(_) => {}
            }
        }
    }

    /// The server must fail the connection, with a close code of these where it sends one (RFC 6455 section 7.1.7).
    pub(super) fn expect_failure(&mut self, codes: &[CloseCode]) -> Result<String, Trouble> {
        loop {
            match self.next()? {
                Event::Closed(close) if codes.contains(&close.code) => {
                    return Ok(format!("it closes with {}", close.code.0));
                }
                Event::Closed(close) => {
                    let wanted: Vec<_> = codes.iter().map(|code| code.0.to_string()).collect();
                    let found = format!("it closes with {} instead of {}", close.code.0, wanted.join(" or "));
                    return Err(Trouble::broken(found));
                }
                Event::Failed(Failure::CutOff) => return Ok("it ends the connection without a close frame".to_owned()),
                Event::Failed(failure) => return Err(Trouble::broken(failure.to_string())),
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
    pub(super) fn close(&mut self, code: CloseCode) -> Result<CloseCode, Trouble> {
        self.session
            .close(code, "")
            .map_err(|error| Trouble::broken(format!("a close frame could not be sent: {error}")))?;
        self.flush()?;
        loop {
            match self.next()? {
                Event::Closed(close) => return Ok(close.code),
                Event::Failed(failure) => return Err(Trouble::broken(failure.to_string())),
                _ => {}
            }
        }
    }
}

fn connect(target: &Target, patience: Duration) -> Result<TcpStream, Trouble> {
    let refused = |error: &io::Error| told("connecting", error);
    let mut last = Trouble::broken("the host has no address");
    for address in target.addresses().map_err(|error| refused(&error))? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                let set = stream
                    .set_read_timeout(Some(patience))
                    .and_then(|()| stream.set_write_timeout(Some(patience)))
                    .and_then(|()| stream.set_nodelay(true));
                return set.map(|()| stream).map_err(|error| refused(&error));
            }
            Err(error) => last = refused(&error),
        }
    }
    Err(last)
}

/// The response's head, and what came behind it.
fn read_head(stream: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>), Trouble> {
    let mut head = Vec::new();
    let mut piece = vec![0; PIECE];
    loop {
        if let Some(length) = head_length(&head) {
            let rest = head.split_off(length);
            return Ok((head, rest));
        }
        if head.len() > HEAD_MAX {
            return Err(Trouble::broken(format!(
                "the answer's head is longer than {HEAD_MAX} octets"
            )));
        }
        match stream.read(&mut piece) {
            Ok(0) => return Err(Trouble::broken("the server ends the connection within the handshake")),
            Ok(count) => head.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(told("the handshake's answer", &error)),
        }
    }
}

/// What of a response's head is asked for.
struct Head {
    accept: Option<String>,
    server: Option<String>,
    extensions: Vec<Extension>,
}

impl Head {
    fn read(head: &[u8]) -> Result<Self, Trouble> {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap_or_default();
        if status.split(' ').nth(1) != Some("101") || !status.starts_with("HTTP/1.1 ") {
            return Err(Trouble::broken(format!("the handshake is answered with {status:?}")));
        }
        let fields: Vec<_> = lines.filter_map(|line| line.split_once(':')).collect();
        let values = |name: &'static str| {
            let named = fields.iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name));
            named.map(|(_, value)| value.trim())
        };
        let lines = values("Sec-WebSocket-Extensions").map(str::as_bytes);
        Ok(Self {
            accept: values("Sec-WebSocket-Accept").next().map(str::to_owned),
            server: values("Server").next().map(str::to_owned),
            extensions: read_extensions(lines).map_err(|error| Trouble::broken(error.to_string()))?,
        })
    }
}

/// What an answer to these lines of offers amounts to.
fn agreement(lines: &[&str], answered: &[Extension]) -> Result<Option<Agreement>, Trouble> {
    let [answer] = answered else {
        if answered.is_empty() {
            return Ok(None);
        }
        return Err(Trouble::broken("the server answers with more than one extension"));
    };
    if answer.name != PERMESSAGE_DEFLATE {
        let found = format!("the server answers with {}, which was not offered", answer.name);
        return Err(Trouble::broken(found));
    }
    let response = Response::read(answer).map_err(|error| Trouble::broken(format!("its answer is wrong: {error}")))?;
    let offered = read_extensions(lines.iter().map(|line| line.as_bytes())).unwrap_or_default();
    let offers = offered.iter().filter_map(|offer| Offer::read(offer).ok());
    let agreed = offers.filter_map(|offer| offer.agree(&response)).next();
    match agreed {
        Some(agreement) => Ok(Some(agreement)),
        None => Err(Trouble::broken(format!(
            "its answer {answer} fits no offer that it may accept"
        ))),
    }
}

fn told(doing: &str, error: &io::Error) -> Trouble {
    if is_silence(error) {
        Trouble::broken(format!("{doing}: the server is silent for too long"))
    } else {
        Trouble::broken(format!("{doing}: {error}"))
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted
    )
}

/// Octets that no compressor can shorten; the same for the same name.
pub(super) fn incompressible(name: &str, length: Bytes) -> Vec<u8> {
    use rand_core::Rng as _;
    let mut octets = vec![0; length.get() as usize];
    Seed::new(1).derive(name).rng().fill_bytes(&mut octets);
    octets
}
