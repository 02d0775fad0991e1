//! Log records that OpenTelemetry's SDKs send by OTLP/HTTP become events of a source that the sensor itself is.
//!
//! Where the sensor's log is full and nothing of a request was kept, the SDK is told to try again later. Where part of it was kept, the answer
//! counts the rest, and a loss event states it.

use super::own_source::OwnSource;
use super::spool::PLACE;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use lastmile_events::line::Line;
use lastmile_events::{Chunk, ChunkBuilder, Timestamp};
use lastmile_otlp::{Format, REQUEST_SIZE_MAX};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The path that SDKs send logs to.
const PATH: &str = "/v1/logs";
/// The most connections at a time: our own choice.
const CONNECTIONS_MAX: usize = 256;
/// What a full sensor asks an SDK to wait, in seconds: our own choice.
const RETRY_SECONDS: &str = "1";

impl OwnSource {
    /// Keeps records, and tells how many the full log did not take.
    async fn keep_records(&self, records: &[Line], now: Timestamp) -> u64 {
        let mut turn = self.turn().await;
        let mut builder = turn.begin(now);
        let mut chunks: Vec<Chunk> = Vec::new();
        for record in records {
            if record.push(&mut builder, now).is_err() {
                let next = ChunkBuilder::new(self.source().clone(), builder.next_sequence());
                chunks.extend(std::mem::replace(&mut builder, next).finish());
                if record.push(&mut builder, now).is_err() {
                    let pushed = builder.push_loss(now, 1, PLACE, "event too large");
                    pushed.expect("an empty chunk has room for a loss");
                }
            }
        }
        chunks.extend(builder.finish());
        // Where nothing is kept the SDK sends the same records again.
        turn.keep(chunks).await.unwrap_or(records.len() as u64)
    }

    /// The answer to a request, or the refusal.
    async fn answer<B>(&self, request: Request<B>) -> Result<Response<Full<Bytes>>, Response<Full<Bytes>>>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if request.uri().path() != PATH || request.method() != Method::POST {
            let message = "this sensor takes POST /v1/logs alone: OTLP's logs";
            return Err(refusal(StatusCode::NOT_FOUND, message));
        }
        let header = |name: &HeaderName| text_of(request.headers(), name);
        let content_type = header(&CONTENT_TYPE).unwrap_or_default();
        let content_encoding = header(&CONTENT_ENCODING);
        let format = Format::from_content_type(&content_type)
            .map_err(|error| refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error.to_string()))?;
        let body = Limited::new(request.into_body(), REQUEST_SIZE_MAX.get() as usize);
        let body = body.collect().await;
        let body = body.map_err(|error| refusal(StatusCode::PAYLOAD_TOO_LARGE, &error.to_string()))?;
        let records = format
            .read_request(content_encoding.as_deref(), &body.to_bytes())
            .map_err(|error| refusal(StatusCode::BAD_REQUEST, &error.to_string()))?;
        let rejected = self.keep_records(&records, Timestamp::now()).await;
        if rejected > 0 && rejected == records.len() as u64 {
            let mut full = refusal(
                StatusCode::SERVICE_UNAVAILABLE,
                "the sensor's store is full; try again later",
            );
            full.headers_mut()
                .insert(RETRY_AFTER, RETRY_SECONDS.parse().expect("it is a number"));
            return Err(full);
        }
        let response = Response::builder().header(CONTENT_TYPE, format.content_type());
        let body = Full::new(Bytes::from(format.write_response(rejected)));
        Ok(response.body(body).expect("this header is valid"))
    }
}

/// Answers SDKs until the task is aborted.
pub(super) async fn serve(listener: TcpListener, records: Arc<OwnSource>) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let permit = Arc::clone(&permits).acquire_owned().await.expect("nobody closes it");
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files: those that are open go on.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        let records = Arc::clone(&records);
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let records = Arc::clone(&records);
                async move { Ok::<_, Infallible>(records.answer(request).await.unwrap_or_else(|refusal| refusal)) }
            });
            // The program's going away is its own affair.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
            drop(permit);
        });
    }
}

fn text_of(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

fn refusal(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "text/plain; charset=utf-8");
    let body = Full::new(Bytes::from(format!("{message}\n")));
    response.body(body).expect("this header is valid")
}
