//! The monitor's HTTP interface, over any connection: it opens no socket, reads no clock and needs no runtime.
//!
//! | request | answer |
//! | --- | --- |
//! | `POST /v1/chunks?durability=` | one reply a chunk, after the commit |
//! | `GET /v1/events?subject=&since=&until=&where=&limit=&from=` | events as JSON, one a line; the last line says where and whether it ended whole |
//! | `GET /v1/subscribe?...&mode=lossless\|latest` | backlog, then live; with `Accept: text/event-stream` as server-sent events |
//! | `GET /v1/audit` | what became of every number of every source, and what each client got |
//! | `POST /v1/sensors`, `GET /v1/sensors` | a sensor is alive; those that are |
//! | `GET /metrics` | Prometheus' text format |
//! | `GET /` | a page that follows the events in a browser |
//!
//! Times are nanoseconds of Unix time. Where a token is set, every request must bear it, but for the page, which holds no event and asks for
//! the token. Answers of lines are compressed as `Accept-Encoding` asks (zstd, gzip), and chunks may be (`Content-Encoding`). `client=NAME`
//! names who asks; without it, it is the address.

mod answer_stream;
mod clients;
mod compression;
mod live;
mod metrics;
mod parameters;
mod rendering;
pub mod reply;
mod sensors;

use crate::log::{Log, SourceAudit};
use answer_stream::AnswerStream;
use bytes::Bytes;
use clients::Clients;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use lastmile_codec::content::Coding;
use lastmile_events::uplink::{Durability, Reply};
use lastmile_events::{Chunk, Timestamp, chunk};
use parameters::Parameters;
pub use parameters::encode_parameter;
use rendering::RenderedPages;
use sensors::Sensors;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use tokio::sync::{Semaphore, SemaphorePermit};

/// A log behind HTTP.
#[derive(Debug)]
pub struct Monitor {
    log: Arc<Log>,
    token: Option<String>,
    delivered: AtomicU64,
    subscribers: AtomicU64,
    requests: AtomicU64,
    clients: Clients,
    sensors: Sensors,
    rendered: RenderedPages,
    /// Room for the bodies of posts, in KiB. It is taken as their bytes arrive.
    posts: Semaphore,
    /// Posts that are complete and taken into the log at a time, each of which may be decompressed.
    appends: Semaphore,
    /// The time of the last tick.
    now: AtomicI64,
}

/// Who is at the other end of a request's connection, as an extension of the request.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// The body of an answer.
pub type AnswerBody = UnsyncBoxBody<Bytes, Infallible>;

/// An answer, or a refusal.
type Answer = Result<Response<AnswerBody>, Response<AnswerBody>>;

/// The most bytes of a POST.
pub const POST_SIZE_MAX: usize = 8 << 20;
/// The most bytes of all posts that have arrived and are not taken yet; others wait: our own choice.
const POSTS_SIZE_MAX: usize = 64 << 20;
/// The most posts that are taken into the log at a time: our own choice.
const APPENDS_MAX: usize = 8;

impl Monitor {
    /// A monitor of this log; where there is a token, requests must bear it.
    pub fn new(log: Arc<Log>, token: Option<String>) -> Self {
        Self {
            log,
            token,
            delivered: AtomicU64::new(0),
            subscribers: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            clients: Clients::default(),
            sensors: Sensors::default(),
            rendered: RenderedPages::default(),
            posts: Semaphore::new(POSTS_SIZE_MAX >> 10),
            appends: Semaphore::new(APPENDS_MAX),
            now: AtomicI64::new(0),
        }
    }

    /// Whether requests must bear a token.
    pub const fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Tells the time, and deletes what is not kept any longer. Whoever serves calls it every second or so.
    pub async fn tick(&self, now: Timestamp) {
        self.now.store(now.unix_nanoseconds(), Ordering::Relaxed);
        self.log.expire().await;
        self.rendered.release(self.log.start().await);
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_unix_nanoseconds(self.now.load(Ordering::Relaxed))
    }

    /// Answers a request.
    pub async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<AnswerBody>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let get = request.method() == Method::GET;
        if let Some(page) = live::find(request.uri().path()).filter(|_| get) {
            return page;
        }
        if !self.is_allowed(&request) {
            return refusal(
                StatusCode::UNAUTHORIZED,
                "send the monitor's token: Authorization: Bearer TOKEN",
            );
        }
        let answer = match request.uri().path() {
            "/v1/chunks" if request.method() == Method::POST => self.take_chunks(request).await,
            "/v1/sensors" if request.method() == Method::POST => self.register(request).await,
            "/v1/sensors" if get => Ok(text(StatusCode::OK, JSON, self.sensors.to_json(self.now()).to_string())),
            "/v1/events" if get => self.read(&request, false),
            "/v1/subscribe" if get => self.read(&request, true),
            "/v1/audit" if get => self.audit().await,
            "/metrics" if get => Ok(text(StatusCode::OK, "text/plain; version=0.0.4", metrics::write(&self))),
            _ => Err(refusal(
                StatusCode::NOT_FOUND,
                "there are GET /, POST /v1/chunks, GET /v1/events, /v1/subscribe, /v1/audit and /metrics",
            )),
        };
        answer.unwrap_or_else(|refusal| refusal)
    }

    fn is_allowed<B>(&self, request: &Request<B>) -> bool {
        let Some(token) = &self.token else { return true };
        let given = request.headers().get(AUTHORIZATION).map(http::HeaderValue::as_bytes);
        let given = given.and_then(|given| given.strip_prefix(b"Bearer "));
        given.is_some_and(|given| {
            // Every byte is compared, so that the time tells nothing of where they differ.
            let differing = given.iter().zip(token.as_bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
            given.len() == token.len() && differing == 0
        })
    }

    async fn take_chunks<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let parameters = Parameters::parse(request.uri().query().unwrap_or_default())
            .map_err(|error| refusal(StatusCode::BAD_REQUEST, &error.to_string()))?;
        let coding = compression::coding_of_body(request.headers())
            .map_err(|message| refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &message))?;
        let (body, _room) = self.collect_post(request.into_body()).await?;
        let _append = self.appends.acquire().await;
        let unprocessable = |message: String| refusal(StatusCode::UNPROCESSABLE_ENTITY, &message);
        let body = compression::decode_body(coding, body).map_err(unprocessable)?;
        let chunks = read_chunks(&body)
            .map_err(|(at, error)| unprocessable(format!("at byte {at} of the request: {error}; nothing was taken")))?;
        let durability = parameters.durability.unwrap_or(Durability::Memory);
        let replies = self.log.append(chunks, durability).await;
        let any = |wanted: fn(&Reply) -> bool| replies.iter().any(wanted);
        let status = if any(|reply| matches!(reply, Reply::Full)) {
            StatusCode::INSUFFICIENT_STORAGE
        } else if any(|reply| matches!(reply, Reply::Gap { .. })) {
            StatusCode::CONFLICT
        } else if any(|reply| matches!(reply, Reply::Refused)) {
            StatusCode::UNPROCESSABLE_ENTITY
        } else {
            StatusCode::OK
        };
        Ok(text(status, JSON, reply::to_json(&replies).to_string()))
    }

    /// The body of a post, and the room that it takes. A post waits for room before its first byte alone: if posts waited with what they hold, all of
    /// them might wait for each other.
    async fn collect_post<B>(&self, body: B) -> Result<(Bytes, Option<SemaphorePermit<'_>>), Response<AnswerBody>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let mut body = std::pin::pin!(Limited::new(body, POST_SIZE_MAX));
        let (mut bytes, mut room) = (Vec::new(), None::<SemaphorePermit<'_>>);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| body_refusal(&*error))?;
            let Ok(data) = frame.into_data() else { continue };
            let wanted = (data.len() >> 10) as u32 + 1;
            match &mut room {
                None => room = self.posts.acquire_many(wanted).await.ok(),
                Some(room) => match self.posts.try_acquire_many(wanted) {
                    Ok(more) => room.merge(more),
                    Err(_) => {
                        let message = "too many posts arrive at a time; send it again later";
                        return Err(refusal(StatusCode::SERVICE_UNAVAILABLE, message));
                    }
                },
            }
            bytes.extend_from_slice(&data);
        }
        Ok((bytes.into(), room))
    }

    #[expect(clippy::result_large_err, reason = "a refusal is an answer like the others")]
    fn read<B>(self: Arc<Self>, request: &Request<B>, live: bool) -> Answer {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let server_sent = live && header(ACCEPT.as_str()).is_some_and(|accept| accept.contains(EVENT_STREAM));
        let parameters = Parameters::parse(request.uri().query().unwrap_or_default()).and_then(|mut parameters| {
            if let Some(last) = header("last-event-id") {
                parameters.set("from", last)?;
            }
            Ok(parameters)
        });
        let parameters = parameters.map_err(|error| refusal(StatusCode::BAD_REQUEST, &error.to_string()))?;
        let client = self
            .clients
            .name(parameters.client.as_deref(), request.extensions().get::<Peer>());
        let Some(slot) = self.clients.begin(&client, live) else {
            let message = format!(
                "client {client} has {} subscriptions; end one, or name clients with client=NAME",
                clients::OPEN_MAX
            );
            return Err(refusal(StatusCode::TOO_MANY_REQUESTS, &message));
        };
        let coding = compression::coding_of_answer(request.headers());
        let stream = AnswerStream::begin(self, parameters, slot, live, server_sent)
            .map_err(|error| refusal(StatusCode::GONE, &error.to_string()))?;
        let kind = if server_sent { EVENT_STREAM } else { NDJSON };
        let response = Response::builder()
            .header(CONTENT_TYPE, kind)
            .header("cache-control", "no-store")
            .header("vary", "accept-encoding");
        let response = match coding {
            Coding::Identity => response,
            coding => response.header("content-encoding", coding.token()),
        };
        let response = response.body(stream.into_body(coding));
        Ok(response.expect("these headers are valid"))
    }

    async fn register<B>(&self, request: Request<B>) -> Answer
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let peer = request.extensions().get::<Peer>().copied();
        let body = Limited::new(request.into_body(), sensors::STATE_SIZE_MAX)
            .collect()
            .await;
        let body = body.map_err(|error| body_refusal(&*error))?.to_bytes();
        let registered = self.sensors.register(&body, peer, self.now());
        registered.map_err(|message| refusal(StatusCode::UNPROCESSABLE_ENTITY, &message))?;
        Ok(text(StatusCode::OK, JSON, "{}".to_owned()))
    }

    async fn audit(&self) -> Answer {
        let audit = self.log.audit().await;
        let audit = audit.map_err(|error| refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()))?;
        let sources = audit.sources.iter().map(|SourceAudit { source, account }| {
            let lost = account.lost.iter();
            let lost = lost.map(|((place, cause), count)| json!({"place": place, "cause": cause, "count": count}));
            json!({
                "source": source.to_string(),
                "numbered": account.next - 1,
                "stored": account.stored,
                "released": account.released,
                "lost": Value::from_iter(lost),
                "ended": account.ended,
                "adds_up": account.adds_up(),
            })
        });
        let deletions = audit.deletions.iter().map(|deletion| {
            json!({
                "why": deletion.why,
                "events": deletion.events,
                "until": self.log.cursor(deletion.until).to_string(),
                "time_ns": deletion.time.unix_nanoseconds(),
            })
        });
        let json = json!({
            "schema": "lastmile/audit/1",
            "first": self.log.cursor(audit.extent.0).to_string(),
            "end": self.log.cursor(audit.extent.1).to_string(),
            "sources": Value::from_iter(sources),
            "deleted": Value::from_iter(deletions),
            "clients": self.clients.to_json(),
            "sensors": self.sensors.to_json(self.now()),
            "problems": audit.problems,
        });
        Ok(text(StatusCode::OK, JSON, json.to_string()))
    }
}

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const EVENT_STREAM: &str = "text/event-stream";

/// The chunks of a request, or the first byte of the one that is none.
fn read_chunks(mut bytes: &[u8]) -> Result<Vec<Chunk>, (usize, chunk::ChunkError)> {
    let all = bytes.len();
    let mut chunks = Vec::new();
    while !bytes.is_empty() {
        let (chunk, length) = Chunk::read(bytes).map_err(|error| (all - bytes.len(), error))?;
        chunks.push(chunk);
        bytes = &bytes[length..];
    }
    Ok(chunks)
}

fn text(status: StatusCode, kind: &str, text: String) -> Response<AnswerBody> {
    let response = Response::builder().status(status).header(CONTENT_TYPE, kind);
    let body = Full::new(Bytes::from(text)).boxed_unsync();
    response.body(body).expect("these headers are valid")
}

/// The refusal of a body that is too large, stood still, or broke off.
fn body_refusal(error: &(dyn std::error::Error + 'static)) -> Response<AnswerBody> {
    let status = if error.is::<LengthLimitError>() {
        StatusCode::PAYLOAD_TOO_LARGE
    } else {
        StatusCode::REQUEST_TIMEOUT
    };
    refusal(status, &error.to_string())
}

pub(crate) fn refusal(status: StatusCode, message: &str) -> Response<AnswerBody> {
    text(status, JSON, json!({"error": message}).to_string())
}

/// Whether a query string is understood; for those who test what it takes.
///
/// # Errors
/// The message of the refusal.
pub fn check_parameters(query: &str) -> Result<(), String> {
    Parameters::parse(query).map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
