//! A monitor's client: submits chunks, and reads lines of events.

use crate::event_json::AnswerEnd;
use crate::runtime::{Runtime, TokioRuntime, within};
use crate::sensor::pace::longest_answer;
pub use crate::service::encode_parameter;
use crate::service::reply;
use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HOST};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use lastmile_codec::content::{CodecSpec, Coding, Decoder, encode};
use lastmile_events::Chunk;
use lastmile_events::uplink::{Durability, Reply, Uplink};
use lastmile_units::ByteCount;
use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::time::Duration;
use thiserror::Error;

/// Where a monitor is: `http://HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorUrl {
    authority: String,
}

/// Why a monitor did not answer as asked.
#[derive(Debug, Error)]
pub enum ClientError {
    /// A text that is no address of a monitor.
    #[error("{0:?}: write a monitor's address like http://127.0.0.1:7878; for TLS put a proxy before it")]
    Url(String),
    /// Nothing answers there.
    #[error("http://{address}: no monitor answers there: {error}; start one with lastmile monitor DIR")]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// The connection broke.
    #[error("http://{address}: the connection broke: {error}")]
    Broken {
        /// Where.
        address: String,
        /// Why.
        error: hyper::Error,
    },
    /// It took too long.
    #[error("http://{address}: there was no answer within {} s", .timeout.as_secs())]
    Timeout {
        /// Where.
        address: String,
        /// The limit.
        timeout: Duration,
    },
    /// It refuses.
    #[error("http://{address}: {status}: {message}")]
    Refused {
        /// Where.
        address: String,
        /// The status.
        status: http::StatusCode,
        /// Its reason.
        message: String,
    },
}

impl ClientError {
    fn broken(address: &str, error: hyper::Error) -> Self {
        let address = address.to_owned();
        Self::Broken { address, error }
    }

    /// Whether no answer came, or the connection broke before the answer's end: asking again may help.
    pub const fn has_no_answer(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Broken { .. } | Self::Timeout { .. }
        )
    }
}

impl FromStr for MonitorUrl {
    type Err = ClientError;

    fn from_str(text: &str) -> Result<Self, ClientError> {
        let refused = || ClientError::Url(text.to_owned());
        let authority = text.strip_prefix("http://").ok_or_else(refused)?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let parsed: http::uri::Authority = authority.parse().map_err(|_| refused())?;
        if parsed.port_u16().is_none() || authority.contains('@') {
            return Err(refused());
        }
        Ok(Self {
            authority: authority.to_owned(),
        })
    }
}

/// A connection to a monitor, made when it is needed and again when it broke.
#[derive(Debug)]
pub struct Client<R = TokioRuntime> {
    runtime: R,
    url: MonitorUrl,
    token: Option<String>,
    sender: Option<SendRequest<Full<Bytes>>>,
    /// How it compresses chunks, and asks for answers to be compressed.
    codec: CodecSpec,
}

/// An answer of lines, as they come.
pub struct Lines {
    authority: String,
    body: Incoming,
    decoder: Decoder,
    /// What was decoded; its first `taken` bytes are lines that were taken.
    decoded: Vec<u8>,
    taken: usize,
}

/// Chunks as the body of a request.
#[derive(Debug, Clone)]
pub struct EncodedChunks {
    body: Bytes,
    coding: Coding,
}

impl EncodedChunks {
    /// The chunks one after the other, compressed where that makes them smaller.
    pub fn new(chunks: &[Chunk], codec: CodecSpec) -> Self {
        let mut body = Vec::new();
        for chunk in chunks {
            body.extend_from_slice(chunk.bytes());
        }
        let mut coding = Coding::Identity;
        if !codec.is_identity() {
            let coded = encode(codec, &body);
            if coded.len() < body.len() {
                (body, coding) = (coded, codec.coding());
            }
        }
        Self {
            body: body.into(),
            coding,
        }
    }

    /// The bytes of the body.
    pub fn byte_count(&self) -> u64 {
        self.body.len() as u64
    }

    /// Whether it is compressed.
    pub const fn is_compressed(&self) -> bool {
        !matches!(self.coding, Coding::Identity)
    }
}

/// How chunks are compressed for a link that is slower than computing.
pub(crate) const SLOW_LINK_CODEC: CodecSpec = CodecSpec::with_default_level(Coding::Zstd);

/// The longest line that a client reads.
const LINE_LENGTH_MAX: usize = 16 << 20;

impl Client {
    /// A client of this monitor, with its token where it has one.
    pub fn new(url: MonitorUrl, token: Option<String>) -> Self {
        Self::with_runtime(TokioRuntime::default(), url, token)
    }
}

impl<R: Runtime> Client<R> {
    /// A client that runs there.
    pub const fn with_runtime(runtime: R, url: MonitorUrl, token: Option<String>) -> Self {
        Self {
            runtime,
            url,
            token,
            sender: None,
            codec: CodecSpec::IDENTITY,
        }
    }

    /// The same client with a connection of its own.
    pub fn again(&self) -> Self {
        Self::with_runtime(self.runtime.clone(), self.url.clone(), self.token.clone()).with_codec(self.codec)
    }

    /// Where it runs.
    pub const fn runtime(&self) -> &R {
        &self.runtime
    }

    /// How it compresses chunks.
    pub const fn codec(&self) -> CodecSpec {
        self.codec
    }

    /// The client, compressing chunks and asking for compressed answers: for links that are slower than computing.
    #[must_use]
    pub fn compressing(self) -> Self {
        self.with_codec(SLOW_LINK_CODEC)
    }

    /// The client, compressing chunks like this, and asking for answers in this coding.
    #[must_use]
    pub fn with_codec(self, codec: CodecSpec) -> Self {
        Self { codec, ..self }
    }

    /// Tells the monitor that a sensor is alive.
    ///
    /// # Errors
    /// When there is no answer, or a refusal.
    pub async fn register(&mut self, state: &serde_json::Value) -> Result<(), ClientError> {
        let request = Request::post("/v1/sensors");
        let response = self.request(request, state.to_string().into()).await?;
        let (status, text) = self.text(response).await?;
        if status.is_success() {
            Ok(())
        } else {
            Err(self.refusal(status, &text))
        }
    }

    async fn request(
        &mut self,
        request: http::request::Builder,
        body: Bytes,
    ) -> Result<Response<Incoming>, ClientError> {
        let address = || self.url.authority.clone();
        if self.sender.as_ref().is_none_or(SendRequest::is_closed) {
            let unreachable = |error| ClientError::Unreachable {
                address: address(),
                error,
            };
            let connected = self.runtime.connect(&self.url.authority).await;
            self.sender = Some(connected.map_err(unreachable)?);
        }
        let mut request = request.header(HOST, &self.url.authority);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let refused = |message: String| ClientError::Refused {
            address: address(),
            status: http::StatusCode::BAD_REQUEST,
            message,
        };
        let request = request
            .body(Full::new(body))
            .map_err(|error| refused(error.to_string()))?;
        let sender = self.sender.as_mut().expect("it was connected");
        let broken = |error| ClientError::broken(&self.url.authority, error);
        sender.ready().await.map_err(broken)?;
        sender.send_request(request).await.map_err(broken)
    }

    /// Submits chunks, and waits until they are kept so well; one reply a chunk.
    ///
    /// # Errors
    /// When there is no answer; the chunks may have been taken all the same.
    pub async fn submit(&mut self, chunks: &[Chunk], durability: Durability) -> Result<Vec<Reply>, ClientError> {
        let encoded = EncodedChunks::new(chunks, self.codec);
        let limit = longest_answer(encoded.byte_count());
        self.submit_encoded(&encoded, chunks.len(), durability, limit).await
    }

    /// As [`Self::submit`], with `count` chunks that are encoded already, and a limit of the time until the answer.
    ///
    /// # Errors
    /// When there is no answer; the chunks may have been taken all the same.
    pub async fn submit_encoded(
        &mut self,
        chunks: &EncodedChunks,
        count: usize,
        durability: Durability,
        limit: Duration,
    ) -> Result<Vec<Reply>, ClientError> {
        let runtime = self.runtime.clone();
        let answer = within(&runtime, limit, self.submit_patiently(chunks, count, durability)).await;
        let answer = answer.unwrap_or_else(|| {
            Err(ClientError::Timeout {
                address: self.url.authority.clone(),
                timeout: limit,
            })
        });
        if answer.is_err() {
            self.sender = None;
        }
        answer
    }

    async fn submit_patiently(
        &mut self,
        chunks: &EncodedChunks,
        count: usize,
        durability: Durability,
    ) -> Result<Vec<Reply>, ClientError> {
        let mut request = Request::post(format!("/v1/chunks?durability={durability}"));
        if chunks.is_compressed() {
            request = request.header(CONTENT_ENCODING, chunks.coding.token());
        }
        let response = self.request(request, chunks.body.clone()).await?;
        let (status, text) = self.text(response).await?;
        let replies = serde_json::from_slice(&text)
            .ok()
            .and_then(|json| reply::from_json(&json));
        match replies {
            Some(replies) if replies.len() == count => Ok(replies),
            _ => Err(self.refusal(status, &text)),
        }
    }

    /// Asks for something that is one JSON text.
    ///
    /// # Errors
    /// When there is no answer, or a refusal.
    pub async fn get(&mut self, path: &str) -> Result<Vec<u8>, ClientError> {
        let response = self.request(Request::get(path), Bytes::new()).await?;
        let (status, text) = self.text(response).await?;
        if status.is_success() {
            Ok(text.into())
        } else {
            Err(self.refusal(status, &text))
        }
    }

    /// Asks for lines, and gives each to `take` until it breaks off or they end; the end that the answer states.
    ///
    /// # Errors
    /// When there is no answer, a refusal, or the connection breaks.
    pub async fn lines(
        &mut self,
        path: &str,
        mut take: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Option<AnswerEnd>, ClientError> {
        let mut lines = self.open_lines(path).await?;
        let mut end = None;
        while let Some(line) = lines.next_line().await? {
            end = AnswerEnd::parse(&line);
            if take(&line).is_break() {
                self.sender = None;
                break;
            }
        }
        Ok(end)
    }

    /// Asks for lines, and waits until the answer begins.
    ///
    /// # Errors
    /// When there is no answer, or a refusal.
    pub async fn open_lines(&mut self, path: &str) -> Result<Lines, ClientError> {
        let mut request = Request::get(path).header(ACCEPT, "application/x-ndjson");
        if !self.codec.is_identity() {
            request = request.header(ACCEPT_ENCODING, self.codec.coding().token());
        }
        let response = self.request(request, Bytes::new()).await?;
        if !response.status().is_success() {
            let (status, text) = self.text(response).await?;
            return Err(self.refusal(status, &text));
        }
        let coding = response
            .headers()
            .get(CONTENT_ENCODING)
            .and_then(|coding| coding.to_str().ok());
        let coding = coding.map_or(Some(Coding::Identity), Coding::from_token);
        let unknown = || {
            self.refusal(
                http::StatusCode::OK,
                b"the answer is compressed in a way that was not asked for",
            )
        };
        Ok(Lines {
            authority: self.url.authority.clone(),
            // A subscription has no end, and is read as it comes.
            decoder: Decoder::new(coding.ok_or_else(unknown)?, ByteCount::new(u64::MAX)),
            body: response.into_body(),
            decoded: Vec::new(),
            taken: 0,
        })
    }

    async fn text(&self, response: Response<Incoming>) -> Result<(http::StatusCode, Bytes), ClientError> {
        let status = response.status();
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| ClientError::broken(&self.url.authority, error))?;
        Ok((status, body.to_bytes()))
    }

    fn refusal(&self, status: http::StatusCode, text: &[u8]) -> ClientError {
        refusal(&self.url.authority, status, text)
    }
}

impl Lines {
    /// The next line; `None` after the last.
    ///
    /// # Errors
    /// When the connection breaks, or what comes is no text in the answer's coding.
    pub async fn next_line(&mut self) -> Result<Option<Cow<'_, str>>, ClientError> {
        let refused = |what: &str| refusal(&self.authority, http::StatusCode::OK, what.as_bytes());
        let end = loop {
            let waiting = &self.decoded[self.taken..];
            if let Some(length) = waiting.iter().position(|byte| *byte == b'\n') {
                break self.taken + length;
            }
            self.decoded.drain(..self.taken);
            self.taken = 0;
            if self.decoded.len() > LINE_LENGTH_MAX {
                return Err(refused("a line is too long"));
            }
            let Some(frame) = self.body.frame().await else {
                return Ok(None);
            };
            let frame = frame.map_err(|error| ClientError::broken(&self.authority, error))?;
            if let Ok(bytes) = frame.into_data() {
                let written = self.decoder.write(&bytes, &mut self.decoded);
                written.map_err(|error| refused(&error.to_string()))?;
            }
        };
        let start = std::mem::replace(&mut self.taken, end + 1);
        Ok(Some(String::from_utf8_lossy(&self.decoded[start..end])))
    }
}

fn refusal(authority: &str, status: http::StatusCode, text: &[u8]) -> ClientError {
    let json: Option<serde_json::Value> = serde_json::from_slice(text).ok();
    let message = json.and_then(|json| Some(json.get("error")?.as_str()?.to_owned()));
    ClientError::Refused {
        address: authority.to_owned(),
        status,
        message: message.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(text);
            let words: Vec<&str> = text.split_whitespace().collect();
            let begin: String = words.join(" ").chars().take(200).collect();
            format!("the answer is not a monitor's: {begin:?}")
        }),
    }
}

/// An emitter's uplink that submits straight to a monitor.
#[derive(Debug)]
pub struct MonitorUplink {
    client: Client,
    durability: Durability,
    timeout: Duration,
    runtime: tokio::runtime::Runtime,
}

impl MonitorUplink {
    /// An uplink that asks for this durability.
    ///
    /// # Errors
    /// When the system gives no runtime.
    pub fn new(client: Client, durability: Durability) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            client,
            durability,
            timeout: Duration::MAX,
            runtime,
        })
    }

    /// An answer that takes longer than `timeout` is an error.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

impl Uplink for MonitorUplink {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        let chunks = [chunk.clone()];
        let submission = self.client.submit(&chunks, self.durability);
        let limited = async { tokio::time::timeout(self.timeout, submission).await };
        let replies = self.runtime.block_on(limited).map_err(|_| io::ErrorKind::TimedOut)?;
        Ok(replies.map_err(io::Error::other)?[0])
    }
}
