//! How does a connection begin (RFC 6455 section 4)? A request and a response in HTTP/1.1, after which both sides speak WebSocket.
//!
//! Pure functions of heads; whoever drives them finds where a head ends with [`head_length`]. Extensions are agreed on in `negotiation`.

use super::extension::{Extension, ExtensionError, is_token_octet, read_extensions};
use super::negotiation::{Agreement, NegotiationError, Offer, Response, list, take_response};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use lastmile_units::Seed;
use rand_core::Rng as _;
use sha1::{Digest as _, Sha1};

/// What a client asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// `chat.example:8080`.
    pub host: String,
    /// `/updates?room=1`; empty stands for `/`.
    pub target: String,
    /// Subprotocols, the ones liked best first.
    pub protocols: Vec<String>,
    /// permessage-deflate, as the client would have it, the ways it likes best first; none where it offers no compression.
    pub offers: Vec<Offer>,
    /// Further fields: names and values, written as they are.
    pub fields: Vec<(String, String)>,
}

/// The nonce of a handshake: 16 octets in base64 (RFC 6455 section 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

/// A request as a server reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its nonce.
    pub key: Key,
    /// What it asks for.
    pub target: String,
    /// The host it asks.
    pub host: String,
    /// Subprotocols, in its order.
    pub protocols: Vec<String>,
    /// All extensions that it offers, in its order.
    pub extensions: Vec<Extension>,
}

/// A response as a client reads it, before it asks whether the extensions fit its offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answered {
    /// The subprotocol, where one was chosen; the client asked for it.
    pub protocol: Option<String>,
    /// All extensions that the server answers with, in its order.
    pub extensions: Vec<Extension>,
    /// What the server calls itself (`Server`).
    pub server: Option<String>,
}

/// What a client and a server came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opened {
    /// The subprotocol, where one was chosen.
    pub protocol: Option<String>,
    /// How messages are compressed; none where they are not.
    pub deflate: Option<Agreement>,
}

/// A handshake that fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// No head of HTTP/1.1.
    #[error("the handshake is no head of HTTP/1.1: {0}; does the other side speak WebSocket, and without TLS?")]
    NotHttp(String),
    /// A head that goes on and on.
    #[error("the handshake's head is longer than {HEAD_MAX} octets, or has more than {FIELDS_MAX} fields")]
    TooLong,
    /// A request with another method.
    #[error("the request is {0}; a handshake's is GET (RFC 6455 section 4.1)")]
    Method(String),
    /// Another version of HTTP.
    #[error(
        "the handshake is of HTTP/1.{0} where HTTP/1.1 begins a WebSocket connection (RFC 6455 sections 4.1 and 4.2.2)"
    )]
    HttpVersion(u8),
    /// A version of WebSocket that is not spoken here.
    #[error("Sec-WebSocket-Version is {0:?}; this side speaks 13 (RFC 6455 section 4.4)")]
    Version(String),
    /// The server answers with something else than a switch of protocols.
    #[error("the server answers with status {0} where 101 begins a WebSocket connection (RFC 6455 section 4.2.2)")]
    Status(u16),
    /// A field that is missing, there too often, or has the wrong value.
    #[error("{name} is {found}; {expected} (RFC 6455 section 4)")]
    Field {
        /// Its name.
        name: &'static str,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A list of extensions that breaks the grammar.
    #[error(transparent)]
    Extensions(#[from] ExtensionError),
    /// Extensions that do not fit.
    #[error(transparent)]
    Negotiation(#[from] NegotiationError),
}

/// Octets of a head that are read: our own choice, what servers accept.
pub(super) const HEAD_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 128;
/// RFC 6455 section 1.3.
const ACCEPT_SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const VERSION: &str = "13";
/// Reads nonces. 16 octets leave four bits of base64 over, which a decoder may pass over (RFC 4648 section 3.5); in the example of RFC 6455
/// section 4.1, `AQIDBAUGBwgJCgsMDQ4PEC==`, they are not all zero.
const NONCE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// How long the head is that `octets` begin with, with the empty line that ends it; none while it is not whole.
pub fn head_length(octets: &[u8]) -> Option<usize> {
    octets
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .map(|end| end + 4)
}

impl Key {
    /// A nonce by seed. RFC 6455 section 4.1 wants it chosen at random: against a server that is not trusted, the seed must be.
    pub fn from_seed(seed: Seed) -> Self {
        let mut nonce = [0; 16];
        seed.derive("websocket key").rng().fill_bytes(&mut nonce);
        Self(STANDARD.encode(nonce))
    }

    /// The one sent as `text`; none where that is not 16 octets in base64.
    pub fn read(text: &str) -> Option<Self> {
        let nonce = NONCE.decode(text).ok()?;
        (nonce.len() == 16).then(|| Self(text.to_owned()))
    }

    /// As it is sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the server must answer it with in `Sec-WebSocket-Accept` (RFC 6455 section 4.2.2).
    ///
    /// ```
    /// use lastmile_payload::websocket::Key;
    /// let key = Key::read("dGhlIHNhbXBsZSBub25jZQ==").unwrap();
    /// assert_eq!(key.accept(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    /// ```
    pub fn accept(&self) -> String {
        let mut hash = Sha1::new();
        hash.update(self.0.as_bytes());
        hash.update(ACCEPT_SUFFIX.as_bytes());
        STANDARD.encode(hash.finalize())
    }
}

impl Request {
    /// The request's octets.
    pub fn write(&self, key: &Key) -> Vec<u8> {
        let target = if self.target.is_empty() { "/" } else { &self.target };
        let mut head = format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: {VERSION}\r\n",
            self.host, key.0
        );
        let mut field = |name: &str, value: &str| head.extend([name, ": ", value, "\r\n"]);
        if !self.protocols.is_empty() {
            field("Sec-WebSocket-Protocol", &self.protocols.join(", "));
        }
        if !self.offers.is_empty() {
            field("Sec-WebSocket-Extensions", &list(&self.offers));
        }
        for (name, value) in &self.fields {
            field(name, value);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    /// Reads the server's response to this request, sent with `key`.
    ///
    /// # Errors
    /// When the client must fail the connection (RFC 6455 section 4.1).
    pub fn take_response(&self, key: &Key, head: &[u8]) -> Result<Opened, HandshakeError> {
        let answered = self.read_response(key, head)?;
        Ok(Opened {
            deflate: take_response(&self.offers, &answered.extensions)?,
            protocol: answered.protocol,
        })
    }

    /// The same, but for what the extensions amount to: for whoever offers others than [`Request::offers`].
    ///
    /// # Errors
    /// When the client must fail the connection, whatever it offered (RFC 6455 section 4.1).
    pub fn read_response(&self, key: &Key, head: &[u8]) -> Result<Answered, HandshakeError> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        whole(response.parse(head))?;
        match response.code {
            Some(101) => {}
            other => return Err(HandshakeError::Status(other.unwrap_or_default())),
        }
        match response.version {
            Some(1) => {}
            other => return Err(HandshakeError::HttpVersion(other.unwrap_or_default())),
        }
        let fields = Fields(response.headers);
        // A client may list protocols for the server to choose among; an answer names the one (RFC 6455 section 4.1, step 2).
        fields.is("Upgrade", "websocket", |found| found.eq_ignore_ascii_case("websocket"))?;
        fields.names("Connection", "Upgrade")?;
        let accept = key.accept();
        fields.is("Sec-WebSocket-Accept", &accept, |found| found == accept)?;
        let protocol = fields.once("Sec-WebSocket-Protocol")?;
        if let Some(protocol) = &protocol
            && !self.protocols.contains(protocol)
        {
            return Err(wrong(
                "Sec-WebSocket-Protocol",
                protocol,
                "it must be one that was asked for",
            ));
        }
        Ok(Answered {
            protocol,
            extensions: read_extensions(fields.lines("Sec-WebSocket-Extensions"))?,
            server: fields.once("Server").ok().flatten(),
        })
    }
}

impl Asked {
    /// Reads a client's request.
    ///
    /// # Errors
    /// When it is none (RFC 6455 section 4.2.1); [`HandshakeError::refusal`] is what to answer then.
    pub fn read(head: &[u8]) -> Result<Self, HandshakeError> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut request = httparse::Request::new(&mut fields);
        whole(request.parse(head))?;
        match request.method {
            Some("GET") => {}
            other => return Err(HandshakeError::Method(other.unwrap_or_default().to_owned())),
        }
        match request.version {
            Some(1) => {}
            other => return Err(HandshakeError::HttpVersion(other.unwrap_or_default())),
        }
        let fields = Fields(request.headers);
        let Some(host) = fields.once("Host")? else {
            return Err(wrong("Host", "missing", "a request of HTTP/1.1 has it"));
        };
        fields.names("Upgrade", "websocket")?;
        fields.names("Connection", "Upgrade")?;
        match fields.once("Sec-WebSocket-Version")? {
            Some(version) if version == VERSION => {}
            other => return Err(HandshakeError::Version(other.unwrap_or_default())),
        }
        let key = fields.once("Sec-WebSocket-Key")?.unwrap_or_default();
        let Some(key) = Key::read(&key) else {
            return Err(wrong("Sec-WebSocket-Key", &key, "it must be 16 octets in base64"));
        };
        Ok(Self {
            key,
            target: request.path.unwrap_or_default().to_owned(),
            host,
            protocols: fields.tokens("Sec-WebSocket-Protocol").collect(),
            extensions: read_extensions(fields.lines("Sec-WebSocket-Extensions"))?,
        })
    }

    /// The octets of a response that begins the connection.
    pub fn accept(&self, protocol: Option<&str>, deflate: Option<&Response>) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n",
            self.key.accept()
        );
        if let Some(protocol) = protocol {
            head.extend(["Sec-WebSocket-Protocol: ", protocol, "\r\n"]);
        }
        if let Some(response) = deflate {
            head.extend(["Sec-WebSocket-Extensions: ", &response.to_string(), "\r\n"]);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

impl HandshakeError {
    /// The octets that a server refuses a request with: 400, or where another version was asked for 426 (RFC 6455 section 4.4), with the
    /// reason in words.
    pub fn refusal(&self) -> Vec<u8> {
        let (status, version) = match self {
            Self::Version(_) => ("426 Upgrade Required", "Sec-WebSocket-Version: 13\r\n"),
            Self::TooLong => ("431 Request Header Fields Too Large", ""),
            _ => ("400 Bad Request", ""),
        };
        let words = format!("{self}\n");
        format!(
            "HTTP/1.1 {status}\r\n{version}Content-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{words}",
            words.len()
        )
        .into_bytes()
    }
}

fn whole(parsed: httparse::Result<usize>) -> Result<(), HandshakeError> {
    match parsed {
        Ok(httparse::Status::Complete(_)) => Ok(()),
        Ok(httparse::Status::Partial) => Err(HandshakeError::NotHttp("it is cut off".to_owned())),
        Err(httparse::Error::TooManyHeaders) => Err(HandshakeError::TooLong),
        Err(error) => Err(HandshakeError::NotHttp(error.to_string())),
    }
}

fn wrong(name: &'static str, found: &str, expected: &str) -> HandshakeError {
    HandshakeError::Field {
        name,
        found: format!("{found:?}"),
        expected: expected.to_owned(),
    }
}

struct Fields<'a>(&'a [httparse::Header<'a>]);

impl<'a> Fields<'a> {
    fn lines(&self, name: &'static str) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let fields = self.0.iter();
        fields
            .filter(move |field| field.name.eq_ignore_ascii_case(name))
            .map(|field| field.value)
    }

    /// The value of a field that must not come twice.
    fn once(&self, name: &'static str) -> Result<Option<String>, HandshakeError> {
        let mut lines = self.lines(name);
        let first = lines.next().map(|line| String::from_utf8_lossy(line).trim().to_owned());
        match lines.next() {
            None => Ok(first),
            Some(_) => Err(wrong(name, "there more than once", "it may come once")),
        }
    }

    fn is(&self, name: &'static str, expected: &str, holds: impl Fn(&str) -> bool) -> Result<(), HandshakeError> {
        let found = self.once(name)?;
        match found {
            Some(found) if holds(&found) => Ok(()),
            found => Err(HandshakeError::Field {
                name,
                found: found.map_or("missing".to_owned(), |found| format!("{found:?}")),
                expected: format!("it must be {expected:?}"),
            }),
        }
    }

    fn tokens(&self, name: &'static str) -> impl Iterator<Item = String> + use<'a> {
        let members = self.lines(name).flat_map(|line| line.split(|&octet| octet == b','));
        members
            .map(|member| String::from_utf8_lossy(member).trim().to_owned())
            .filter(|member| !member.is_empty() && member.bytes().all(is_token_octet))
    }

    /// Whether a field that is a list names `token`, beside whatever else.
    fn names(&self, name: &'static str, token: &str) -> Result<(), HandshakeError> {
        if self.tokens(name).any(|found| found.eq_ignore_ascii_case(token)) {
            return Ok(());
        }
        let lines: Vec<_> = self.lines(name).map(String::from_utf8_lossy).collect();
        Err(wrong(name, &lines.join(", "), &format!("it must name {token}")))
    }
}

#[cfg(test)]
mod tests;
