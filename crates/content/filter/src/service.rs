//! The service that handles a request on its way to the handler, and the response on its way back.
//!
//! This file has the order of the steps; `negotiate`, `decide` and `headers` have the steps.

use crate::body::{BufferedBody, CompressionBody};
use crate::compute::{Compute, NoCost};
use crate::eligibility::{Verdict, is_worth_compressing, known_length, verdict};
use crate::headers::{apply_coding, asks_for_weakened, forbids_transformation, vary_by_accept_encoding, weaken_etag};
use crate::layer::Settings;
use crate::media_types::is_event_stream;
use crate::negotiate::{AcceptEncoding, Choice};
use crate::policy::{Buffering, Flush};
use crate::transform_body::FRAME;
use http::header::{CONTENT_LENGTH, IF_NONE_MATCH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, request, response};
use http_body::Body;
use lastmile_codec::content::CodecSpec;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_service::Service;

/// A service whose responses are compressed as each client accepts; made by [`CompressionLayer`](crate::CompressionLayer).
///
/// A request that accepts nothing we can send (it refuses `identity` and every coding on offer) gets 406 **before** the handler
/// runs. RFC 9110, section 12.4.1, allows either that or disregarding the field, that is, sending identity. We take the client at its
/// word, and a refused request must not have had an effect: a POST that runs and is then answered with 406 would claim that nothing
/// happened. (415 is for codings of *request* content, section 15.5.16.) If only the handler's head shows that nothing acceptable can
/// be sent (`no-transform`, a media type that is not compressed), its response is sent unchanged: the request has had its effect, and
/// the same section allows disregarding the field.
#[derive(Clone)]
pub struct CompressionService<S, C = NoCost> {
    inner: S,
    settings: Settings<C>,
}

impl<S, C> CompressionService<S, C> {
    pub(crate) fn new(inner: S, settings: Settings<C>) -> Self {
        Self { inner, settings }
    }
}

impl<S, C, Q, B> Service<Request<Q>> for CompressionService<S, C>
where
    S: Service<Request<Q>, Response = Response<B>>,
    B: Body,
    C: Compute,
{
    type Response = Response<CompressionBody<B, C>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, B, C>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let (head, content) = request.into_parts();
        let Some(asked) = RequestFacts::read(&head, &self.settings) else {
            return ResponseFuture { state: State::Refused };
        };
        let future = self.inner.call(Request::from_parts(head, content));
        ResponseFuture {
            state: State::Handled {
                future,
                asked,
                settings: self.settings.clone(),
            },
        }
    }
}

/// The facts of a request that are needed for its response.
struct RequestFacts {
    method: Method,
    chosen: Option<CodecSpec>,
    refuses_identity: bool,
    /// Filled only if a coding is chosen.
    if_none_match: Vec<HeaderValue>,
    /// Kept only if there is a predicate, which reads it.
    head: Option<request::Parts>,
}

impl RequestFacts {
    /// None if nothing we can send is acceptable.
    fn read<C>(head: &request::Parts, settings: &Settings<C>) -> Option<Self> {
        let accept = AcceptEncoding::from_headers(&head.headers);
        let offered = || settings.policy.offered.iter().filter(|codec| !codec.is_identity());
        // A client that forbids transformation has chosen the handler's response, whatever else it sends.
        let wants_transformation = head.method != Method::CONNECT && !forbids_transformation(&head.headers);
        let chosen = match accept.choose(offered().map(|codec| codec.content_coding())) {
            _ if !wants_transformation => None,
            Choice::Coded(index) => offered().nth(index).copied(),
            Choice::Identity => None,
            Choice::Nothing => return None,
        };
        let if_none_match = chosen.map(|_| head.headers.get_all(IF_NONE_MATCH).iter().cloned().collect());
        Some(Self {
            method: head.method.clone(),
            chosen,
            refuses_identity: accept.refuses_identity(),
            if_none_match: if_none_match.unwrap_or_default(),
            head: settings.predicate.is_some().then(|| head.clone()),
        })
    }

    /// Whether the client revalidates a compressed response, with the weakened form of the tag in `headers`.
    fn holds_compressed(&self, headers: &HeaderMap) -> bool {
        self.if_none_match.iter().any(|tags| asks_for_weakened(tags, headers))
    }

    fn allowed_by<C>(&self, settings: &Settings<C>, response: &response::Parts) -> bool {
        settings
            .predicate
            .iter()
            .zip(&self.head)
            .all(|(predicate, head)| predicate(head, response))
    }
}

pin_project! {
    /// The response of a [`CompressionService`].
    pub struct ResponseFuture<F, B: Body, C: Compute = NoCost> {
        #[pin]
        state: State<F, B, C>,
    }
}

pin_project! {
    #[project = StateProjected]
    enum State<F, B: Body, C: Compute> {
        Refused,
        Handled { #[pin] future: F, asked: RequestFacts, settings: Settings<C> },
        Collecting { head: Option<response::Parts>, data: Vec<u8>, #[pin] body: CompressionBody<B, C> },
    }
}

impl<F, B, C, E> Future for ResponseFuture<F, B, C>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body,
    C: Compute,
{
    type Output = Result<Response<CompressionBody<B, C>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            match state.as_mut().project() {
                StateProjected::Refused => return Poll::Ready(Ok(not_acceptable())),
                StateProjected::Handled {
                    future,
                    asked,
                    settings,
                } => {
                    let response = ready!(future.poll(cx))?;
                    let (response, hold) = respond(asked, settings, response);
                    if !hold {
                        return Poll::Ready(Ok(response));
                    }
                    let (head, body) = response.into_parts();
                    state.set(State::Collecting {
                        head: Some(head),
                        data: Vec::new(),
                        body,
                    });
                }
                StateProjected::Collecting { head, data, mut body } => {
                    let (trailers, error) = match ready!(body.as_mut().poll_frame(cx)) {
                        Some(Ok(frame)) => match frame.into_data() {
                            Ok(more) => {
                                data.extend_from_slice(&more);
                                if more.len() < FRAME {
                                    continue;
                                }
                                // The codec may have more to do at once; other tasks get their turn first.
                                cx.waker().wake_by_ref();
                                return Poll::Pending;
                            }
                            Err(frame) => match frame.into_trailers() {
                                Ok(trailers) => (Some(trailers), None),
                                Err(_unknown) => continue,
                            },
                        },
                        Some(Err(error)) => (None, Some(error)),
                        None => (None, None),
                    };
                    let held = BufferedBody {
                        data: std::mem::take(data).into(),
                        trailers,
                        error,
                    };
                    let head = head.take().expect("a response future is not polled after it is ready");
                    return Poll::Ready(Ok(complete(head, held)));
                }
            }
        }
    }
}

/// The response to a request that accepts nothing on offer. It has no content, since none would be acceptable.
fn not_acceptable<B: Body, C: Compute>() -> Response<CompressionBody<B, C>> {
    let mut response = Response::new(CompressionBody::nothing());
    *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
    vary_by_accept_encoding(response.headers_mut());
    response
}

/// Turns the handler's response into the client's, and returns whether it must be buffered until it is complete.
fn respond<B: Body, C: Compute>(
    asked: &RequestFacts,
    settings: &Settings<C>,
    response: Response<B>,
) -> (Response<CompressionBody<B, C>>, bool) {
    let policy = &settings.policy;
    let (mut head, body) = response.into_parts();
    let length = known_length(&asked.method, &head, body.size_hint().exact());
    let mut verdict = verdict(&asked.method, &head, length, &policy.media_types);
    if verdict != Verdict::Passthrough && !asked.allowed_by(settings, &head) {
        verdict = Verdict::Passthrough;
    }
    if verdict != Verdict::Passthrough {
        vary_by_accept_encoding(&mut head.headers);
    }
    if verdict == Verdict::VariesOnly
        && head.status == StatusCode::NOT_MODIFIED
        && asked.holds_compressed(&head.headers)
    {
        // A strong tag in the 304 would not select the client's stored response for update (RFC 9111, section 4.3.4).
        weaken_etag(&mut head.headers);
    }
    if verdict != Verdict::Negotiated {
        return (Response::from_parts(head, CompressionBody::passthrough(body)), false);
    }

    let event_stream = is_event_stream(&head.headers);
    let is_head = asked.method == Method::HEAD;
    let worth = asked.refuses_identity || is_worth_compressing(length, policy.minimum_size);
    let body = match asked.chosen.filter(|_| worth) {
        None => CompressionBody::passthrough(body),
        Some(codec) => {
            apply_coding(&mut head.headers, codec.content_coding());
            if is_head {
                // The head is that of a GET; there is no content to compress.
                CompressionBody::nothing()
            } else {
                let flush_chunks = event_stream || policy.flush == Flush::EachChunk;
                CompressionBody::compressed(body, codec, flush_chunks, settings.compute.clone())
            }
        }
    };
    let hold = policy.buffering == Buffering::WholeResponse && !event_stream && !is_head;
    (Response::from_parts(head, body), hold)
}

/// A response whose content is complete, or failed.
fn complete<B: Body, C: Compute>(
    mut head: response::Parts,
    held: BufferedBody<B::Error>,
) -> Response<CompressionBody<B, C>> {
    // A message has a length or is chunked, never both (RFC 9112, section 6.2); trailers need chunks.
    let chunked = held.trailers.is_some() || head.headers.contains_key(TRANSFER_ENCODING);
    if held.error.is_none() && !chunked {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(held.data.len()));
    }
    Response::from_parts(head, CompressionBody::buffered(held))
}

#[cfg(test)]
mod tests;
