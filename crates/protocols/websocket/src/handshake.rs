//! The opening handshake (RFC 6455 section 4): an HTTP/1.1 request and response, after which both sides speak WebSocket.
//!
//! Pure functions of heads; the caller finds the end of a head with [`head_length`]. Extensions are negotiated in `negotiation`.

use super::extension::{Extension, ExtensionError, is_token_byte, read_extensions};
use super::negotiation::{Agreement, NegotiationError, Offer, Response, accept_response, offers_field};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use lastmile_units::Seed;
use rand_core::Rng as _;
use sha1::{Digest as _, Sha1};

/// A client's request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// `chat.example:8080`.
    pub host: String,
    /// `/updates?room=1`; empty stands for `/`.
    pub target: String,
    /// Subprotocols, in order of preference.
    pub protocols: Vec<String>,
    /// Offers of permessage-deflate, in order of preference; empty if the client offers no compression.
    pub offers: Vec<Offer>,
    /// Further header fields: names and values, written unchanged.
    pub fields: Vec<(String, String)>,
}

/// The nonce of a handshake: 16 bytes in base64 (RFC 6455 section 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

/// A request as parsed by a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRequest {
    /// Its nonce.
    pub key: Key,
    /// The request target.
    pub target: String,
    /// The `Host` field.
    pub host: String,
    /// Subprotocols, in the client's order.
    pub protocols: Vec<String>,
    /// All offered extensions, in the client's order.
    pub extensions: Vec<Extension>,
}

/// A response as parsed by a client, before its extensions are compared with the offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerResponse {
    /// The subprotocol, if one was chosen; it is one that the client requested.
    pub protocol: Option<String>,
    /// All extensions in the response, in the server's order.
    pub extensions: Vec<Extension>,
    /// The server's name for itself (`Server`).
    pub server: Option<String>,
}

/// The result of a completed handshake.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Established {
    /// The subprotocol, if one was chosen.
    pub protocol: Option<String>,
    /// The negotiated compression; none if messages are not compressed.
    pub deflate: Option<Agreement>,
}

/// Why a handshake failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandshakeError {
    /// Not an HTTP/1.1 head.
    #[error("the handshake is not an HTTP/1.1 message: {0}; does the other side speak WebSocket, and without TLS?")]
    NotHttp(String),
    /// A head that is too long.
    #[error("the handshake's head is longer than {HEAD_MAX} bytes, or has more than {FIELDS_MAX} fields")]
    TooLong,
    /// A request with another method.
    #[error("the request method is {0}; a handshake uses GET (RFC 6455 section 4.1)")]
    Method(String),
    /// Another version of HTTP.
    #[error(
        "the handshake uses HTTP/1.{0}; a WebSocket connection begins with HTTP/1.1 (RFC 6455 sections 4.1 and 4.2.2)"
    )]
    HttpVersion(u8),
    /// A version of WebSocket that is not supported here.
    #[error("Sec-WebSocket-Version is {0:?}; only version 13 is supported (RFC 6455 section 4.4)")]
    Version(String),
    /// The server answers with a status other than 101.
    #[error("the server answers with status {0}; a WebSocket connection begins with 101 (RFC 6455 section 4.2.2)")]
    Status(u16),
    /// A field that is missing, repeated, or has the wrong value.
    #[error("{name} is {found}; {expected} (RFC 6455 section 4)")]
    Field {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: String,
        /// The required value.
        expected: String,
    },
    /// A list of extensions with a syntax error.
    #[error(transparent)]
    Extensions(#[from] ExtensionError),
    /// Extensions that do not match the offers.
    #[error(transparent)]
    Negotiation(#[from] NegotiationError),
}

/// The longest accepted head, in bytes: our own choice, similar to what servers accept.
pub(super) const HEAD_MAX: usize = 16 << 10;
const FIELDS_MAX: usize = 128;
/// RFC 6455 section 1.3.
const ACCEPT_SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const VERSION: &str = "13";
/// Decodes nonces. 16 bytes leave four spare bits of base64, which a decoder may ignore (RFC 4648 section 3.5); in the example of RFC 6455
/// section 4.1, `AQIDBAUGBwgJCgsMDQ4PEC==`, they are not all zero.
const NONCE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The length of the head at the start of `bytes`, including the empty line that ends it; none while it is incomplete.
pub fn head_length(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|end| end + 4)
}

impl Key {
    /// A nonce from a seed. RFC 6455 section 4.1 requires a random nonce: with an untrusted server, the seed must be random.
    pub fn from_seed(seed: Seed) -> Self {
        let mut nonce = [0; 16];
        seed.derive("websocket key").rng().fill_bytes(&mut nonce);
        Self(STANDARD.encode(nonce))
    }

    /// The nonce in `text`; none if that is not 16 bytes in base64.
    pub fn read(text: &str) -> Option<Self> {
        let nonce = NONCE.decode(text).ok()?;
        (nonce.len() == 16).then(|| Self(text.to_owned()))
    }

    /// The nonce as sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value of `Sec-WebSocket-Accept` that the server must answer with (RFC 6455 section 4.2.2).
    ///
    /// ```
    /// use lastmile_websocket::Key;
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
    /// The bytes of the request.
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
            field("Sec-WebSocket-Extensions", &offers_field(&self.offers));
        }
        for (name, value) in &self.fields {
            field(name, value);
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    /// Parses the server's response to this request, which was sent with `key`.
    ///
    /// # Errors
    /// When the client must fail the connection (RFC 6455 section 4.1).
    pub fn accept_response(&self, key: &Key, head: &[u8]) -> Result<Established, HandshakeError> {
        let answered = self.read_response(key, head)?;
        Ok(Established {
            deflate: accept_response(&self.offers, &answered.extensions)?,
            protocol: answered.protocol,
        })
    }

    /// The same without the negotiation of extensions, for callers that offer others than [`Request::offers`].
    ///
    /// # Errors
    /// When the client must fail the connection, whatever it offered (RFC 6455 section 4.1).
    pub fn read_response(&self, key: &Key, head: &[u8]) -> Result<ServerResponse, HandshakeError> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut response = httparse::Response::new(&mut fields);
        require_complete(response.parse(head))?;
        match response.code {
            Some(101) => {}
            other => return Err(HandshakeError::Status(other.unwrap_or_default())),
        }
        match response.version {
            Some(1) => {}
            other => return Err(HandshakeError::HttpVersion(other.unwrap_or_default())),
        }
        let fields = Fields(response.headers);
        // A client's `Upgrade` may list several protocols; the response names exactly one (RFC 6455 section 4.1, step 2).
        fields.require_value("Upgrade", "websocket", |found| found.eq_ignore_ascii_case("websocket"))?;
        fields.require_token("Connection", "Upgrade")?;
        let accept = key.accept();
        fields.require_value("Sec-WebSocket-Accept", &accept, |found| found == accept)?;
        let protocol = fields.single_header("Sec-WebSocket-Protocol")?;
        if let Some(protocol) = &protocol
            && !self.protocols.contains(protocol)
        {
            return Err(field_error(
                "Sec-WebSocket-Protocol",
                protocol,
                "it must be one that the client requested",
            ));
        }
        Ok(ServerResponse {
            protocol,
            extensions: read_extensions(fields.lines("Sec-WebSocket-Extensions"))?,
            server: fields.single_header("Server").ok().flatten(),
        })
    }
}

impl ClientRequest {
    /// Parses a client's request.
    ///
    /// # Errors
    /// When it is not a valid handshake (RFC 6455 section 4.2.1); [`HandshakeError::refusal`] has the response for this case.
    pub fn read(head: &[u8]) -> Result<Self, HandshakeError> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut request = httparse::Request::new(&mut fields);
        require_complete(request.parse(head))?;
        match request.method {
            Some("GET") => {}
            other => return Err(HandshakeError::Method(other.unwrap_or_default().to_owned())),
        }
        match request.version {
            Some(1) => {}
            other => return Err(HandshakeError::HttpVersion(other.unwrap_or_default())),
        }
        let fields = Fields(request.headers);
        let Some(host) = fields.single_header("Host")? else {
            return Err(field_error("Host", "missing", "an HTTP/1.1 request must have it"));
        };
        fields.require_token("Upgrade", "websocket")?;
        fields.require_token("Connection", "Upgrade")?;
        match fields.single_header("Sec-WebSocket-Version")? {
            Some(version) if version == VERSION => {}
            other => return Err(HandshakeError::Version(other.unwrap_or_default())),
        }
        let key = fields.single_header("Sec-WebSocket-Key")?.unwrap_or_default();
        let Some(key) = Key::read(&key) else {
            return Err(field_error("Sec-WebSocket-Key", &key, "it must be 16 bytes in base64"));
        };
        Ok(Self {
            key,
            target: request.path.unwrap_or_default().to_owned(),
            host,
            protocols: fields.tokens("Sec-WebSocket-Protocol").collect(),
            extensions: read_extensions(fields.lines("Sec-WebSocket-Extensions"))?,
        })
    }

    /// The bytes of a response that accepts the connection.
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
    /// The bytes of a response that refuses a request: 400, 426 if another version was requested (RFC 6455 section 4.4), or 431 for a head
    /// that is too long, with the reason in words.
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

fn require_complete(parsed: httparse::Result<usize>) -> Result<(), HandshakeError> {
    match parsed {
        Ok(httparse::Status::Complete(_)) => Ok(()),
        Ok(httparse::Status::Partial) => Err(HandshakeError::NotHttp("it is cut off".to_owned())),
        Err(httparse::Error::TooManyHeaders) => Err(HandshakeError::TooLong),
        Err(error) => Err(HandshakeError::NotHttp(error.to_string())),
    }
}

fn field_error(name: &'static str, found: &str, expected: &str) -> HandshakeError {
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

    /// The value of a field that must not be repeated.
    fn single_header(&self, name: &'static str) -> Result<Option<String>, HandshakeError> {
        let mut lines = self.lines(name);
        let first = lines.next().map(|line| String::from_utf8_lossy(line).trim().to_owned());
        match lines.next() {
            None => Ok(first),
            Some(_) => Err(field_error(name, "repeated", "it may occur only once")),
        }
    }

    fn require_value(
        &self,
        name: &'static str,
        expected: &str,
        holds: impl Fn(&str) -> bool,
    ) -> Result<(), HandshakeError> {
        let found = self.single_header(name)?;
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
        let members = self.lines(name).flat_map(|line| line.split(|&byte| byte == b','));
        members
            .map(|member| String::from_utf8_lossy(member).trim().to_owned())
            .filter(|member| !member.is_empty() && member.bytes().all(is_token_byte))
    }

    /// Checks that a list field contains `token`, among others.
    fn require_token(&self, name: &'static str, token: &str) -> Result<(), HandshakeError> {
        if self.tokens(name).any(|found| found.eq_ignore_ascii_case(token)) {
            return Ok(());
        }
        let lines: Vec<_> = self.lines(name).map(String::from_utf8_lossy).collect();
        Err(field_error(name, &lines.join(", "), &format!("it must name {token}")))
    }
}

#[cfg(test)]
mod tests;
