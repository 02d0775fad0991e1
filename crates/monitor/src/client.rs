//! A monitor's client: submits chunks, and reads lines of events.

pub use crate::service::encode_parameter;
use crate::service::reply;
use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HOST};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use lastmile_codec::content::{CodecSpec, Coding, Decoder, encode};
use lastmile_events::Chunk;
use lastmile_events::uplink::{Durability, Reply, Uplink};
use lastmile_units::Bytes as ByteCount;
use std::io;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpStream;

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
pub struct Client {
    url: MonitorUrl,
    token: Option<String>,
    sender: Option<SendRequest<Full<Bytes>>>,
    /// Whether it asks for compressed answers.
    compress: bool,
}

/// Chunks as the body of a request.
#[derive(Debug, Clone)]
pub struct EncodedChunks {
    body: Bytes,
    compressed: bool,
}

impl EncodedChunks {
    /// The chunks one after the other, compressed where that is wanted and makes them smaller.
    pub fn new(chunks: &[Chunk], compress: bool) -> Self {
        let mut body = Vec::new();
        for chunk in chunks {
            body.extend_from_slice(chunk.bytes());
        }
        let coded = compress
            .then(|| encode(zstd(), &body))
            .filter(|coded| coded.len() < body.len());
        let compressed = coded.is_some();
        Self {
            body: coded.unwrap_or(body).into(),
            compressed,
        }
    }

    /// The bytes of the body.
    pub fn byte_count(&self) -> u64 {
        self.body.len() as u64
    }

    /// Whether it is compressed.
    pub const fn is_compressed(&self) -> bool {
        self.compressed
    }
}

fn zstd() -> CodecSpec {
    CodecSpec::new(Coding::Zstd, Coding::Zstd.default_level()).expect("a coding has its default level")
}

/// How long an answer to chunks may take: a disk can be slow.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest line that a client reads.
const LONGEST_LINE: usize = 16 << 20;

impl Client {
    /// A client of this monitor, with its token where it has one.
    pub const fn new(url: MonitorUrl, token: Option<String>) -> Self {
        Self {
            url,
            token,
            sender: None,
            compress: false,
        }
    }

    /// The same client with a connection of its own.
    pub fn again(&self) -> Self {
        let mut again = Self::new(self.url.clone(), self.token.clone());
        again.compress = self.compress;
        again
    }

    /// The client, asking for compressed answers: for links that are slower than computing.
    #[must_use]
    pub const fn compressing(mut self) -> Self {
        self.compress = true;
        self
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
        let broken = |error| ClientError::Broken {
            address: address(),
            error,
        };
        if self.sender.as_ref().is_none_or(SendRequest::is_closed) {
            let unreachable = |error| ClientError::Unreachable {
                address: address(),
                error,
            };
            let stream = TcpStream::connect(&self.url.authority).await.map_err(unreachable)?;
            let _ = stream.set_nodelay(true);
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
            tokio::spawn(connection);
            self.sender = Some(sender);
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
        sender.ready().await.map_err(broken)?;
        sender.send_request(request).await.map_err(broken)
    }

    /// Submits chunks, and waits until they are kept so well; one reply a chunk.
    ///
    /// # Errors
    /// When there is no answer; the chunks may have been taken all the same.
    pub async fn submit(&mut self, chunks: &[Chunk], durability: Durability) -> Result<Vec<Reply>, ClientError> {
        let encoded = EncodedChunks::new(chunks, false);
        self.submit_encoded(&encoded, chunks.len(), durability).await
    }

    /// As [`Self::submit`], with `count` chunks that are encoded already.
    ///
    /// # Errors
    /// When there is no answer; the chunks may have been taken all the same.
    pub async fn submit_encoded(
        &mut self,
        chunks: &EncodedChunks,
        count: usize,
        durability: Durability,
    ) -> Result<Vec<Reply>, ClientError> {
        let answer = tokio::time::timeout(TIMEOUT, self.submit_patiently(chunks, count, durability)).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(ClientError::Timeout {
                address: self.url.authority.clone(),
                timeout: TIMEOUT,
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
        if chunks.compressed {
            request = request.header(CONTENT_ENCODING, Coding::Zstd.token());
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

    /// Asks for lines, and gives each to `take` until it breaks off or they end.
    ///
    /// # Errors
    /// When there is no answer, a refusal, or the connection breaks.
    pub async fn lines(
        &mut self,
        path: &str,
        mut take: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), ClientError> {
        let mut request = Request::get(path).header(ACCEPT, "application/x-ndjson");
        if self.compress {
            request = request.header(ACCEPT_ENCODING, "zstd");
        }
        let mut response = self.request(request, Bytes::new()).await?;
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
        // A subscription has no end, and is read as it comes.
        let mut decoder = Decoder::new(coding.ok_or_else(unknown)?, ByteCount::new(u64::MAX));
        let mut rest = Vec::new();
        while let Some(frame) = response.frame().await {
            let frame = frame.map_err(|error| ClientError::Broken {
                address: self.url.authority.clone(),
                error,
            })?;
            let Ok(bytes) = frame.into_data() else { continue };
            decoder
                .write(&bytes, &mut rest)
                .map_err(|error| self.refusal(http::StatusCode::OK, error.to_string().as_bytes()))?;
            let mut start = 0;
            while let Some(end) = rest[start..].iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&rest[start..start + end]);
                start += end + 1;
                if take(&line).is_break() {
                    self.sender = None;
                    return Ok(());
                }
            }
            rest.drain(..start);
            if rest.len() > LONGEST_LINE {
                return Err(self.refusal(http::StatusCode::OK, b"a line is too long"));
            }
        }
        Ok(())
    }

    async fn text(&self, response: Response<Incoming>) -> Result<(http::StatusCode, Bytes), ClientError> {
        let status = response.status();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|error| ClientError::Broken {
                address: self.url.authority.clone(),
                error,
            })?;
        Ok((status, body.to_bytes()))
    }

    fn refusal(&self, status: http::StatusCode, text: &[u8]) -> ClientError {
        let json: Option<serde_json::Value> = serde_json::from_slice(text).ok();
        let message = json.and_then(|json| Some(json.get("error")?.as_str()?.to_owned()));
        ClientError::Refused {
            address: self.url.authority.clone(),
            status,
            message: message.unwrap_or_else(|| String::from_utf8_lossy(text).chars().take(200).collect()),
        }
    }
}

/// An emitter's uplink that submits straight to a monitor.
#[derive(Debug)]
pub struct MonitorUplink {
    client: Client,
    durability: Durability,
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
            runtime,
        })
    }
}

impl Uplink for MonitorUplink {
    fn submit(&mut self, chunk: &Chunk) -> io::Result<Reply> {
        let chunks = [chunk.clone()];
        let replies = self.runtime.block_on(self.client.submit(&chunks, self.durability));
        let replies = replies.map_err(io::Error::other)?;
        Ok(replies[0])
    }
}
