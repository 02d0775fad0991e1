//! HTTP/2 as a client speaks it, sans-IO: the crate `h2` over a pipe in memory.
//!
//! Bytes that arrived are given to [`Http2::receive`], which makes [`Event`]s of them; what is to be written is in [`Http2::unsent`]. Nothing
//! sleeps: `h2` is polled where something may have changed, and its wakers only note which streams have news.

mod failure;
mod pipe;

use crate::error_cause::{ErrorCause, RequestFailure};
use crate::http1::HEAD_MAX;
use bytes::Bytes;
use failure::{connection_failure, stream_failure};
use h2::RecvStream;
use h2::client::{Connection, ResponseFuture, SendRequest};
use pipe::Pipe;
use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A connection. Its streams are numbered by the caller, with small numbers that are used again.
#[derive(Debug)]
pub(crate) struct Http2 {
    pipe: Pipe,
    /// None once the connection has ended.
    connection: Option<Connection<Pipe, Bytes>>,
    sender: SendRequest<Bytes>,
    request: http::Request<()>,
    /// The maximum number of concurrent streams of this side.
    streams_max: usize,
    streams: Vec<Stream>,
    ready: Arc<ReadyStreams>,
    /// What `h2` wrote, and how much of it was sent.
    unsent: Vec<u8>,
    sent: usize,
    /// Set where `h2` may have something to write.
    needs_poll: Arc<NeedsPoll>,
    /// Sets it.
    waker: Waker,
    is_draining: bool,
    /// Why the server ends the connection, where that is an error.
    goaway: Option<RequestFailure>,
    /// Whether anything was received.
    has_received: bool,
    events: VecDeque<Event>,
}

/// What became of a request, or of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The head of a response has arrived.
    Head(u32),
    /// A response has arrived.
    Complete {
        /// The stream.
        stream: u32,
        /// The status code.
        status: u16,
        /// The size of its body.
        body_bytes: u64,
    },
    /// A request failed; the connection goes on.
    Failed {
        /// The stream.
        stream: u32,
        /// Why.
        failure: RequestFailure,
        /// Whether the server says that it has not begun with the request, and nothing is wrong: it may be sent again (RFC 9113 section 8.7).
        may_retry: bool,
    },
    /// The connection takes no further request.
    Draining,
    /// The connection is broken, with every request that is still under way.
    Broken(RequestFailure),
}

/// A stream, or a vacant number.
#[derive(Debug)]
struct Stream {
    waker: Waker,
    state: StreamState,
}

#[derive(Debug, Default)]
enum StreamState {
    #[default]
    Vacant,
    Head(ResponseFuture),
    Body {
        body: RecvStream,
        status: u16,
        /// What the head says about the size of the body.
        length: Option<u64>,
        received: u64,
    },
}

/// Streams that were woken, oldest first.
#[derive(Debug, Default)]
struct ReadyStreams(Mutex<VecDeque<u32>>);

/// Whether the connection is to be polled.
#[derive(Debug)]
struct NeedsPoll(AtomicBool);

#[derive(Debug)]
struct StreamWaker {
    stream: u32,
    ready: Arc<ReadyStreams>,
}

/// The window of a stream and of a connection: so large that a server never waits for this client, as h2load's (2^30 - 1).
const WINDOW: u32 = (1 << 30) - 1;

impl Http2 {
    /// A connection for one request again and again, whose preface waits to be written.
    ///
    /// # Errors
    /// When `h2` refuses its own settings, which would be a fault of this file.
    pub(crate) fn new(request: http::Request<()>, streams_max: u32) -> Result<Self, RequestFailure> {
        let streams_max = usize::try_from(streams_max).unwrap_or(usize::MAX);
        let pipe = Pipe::default();
        let opening = h2::client::Builder::new()
            .enable_push(false)
            .initial_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_header_list_size(HEAD_MAX as u32)
            .initial_max_send_streams(streams_max)
            .handshake(pipe.clone());
        // The pipe takes everything at once.
        let opened = match pin!(opening).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(opened)) => Ok(opened),
            Poll::Ready(Err(_)) | Poll::Pending => Err(RequestFailure::new(
                ErrorCause::Other,
                "the connection of HTTP/2 cannot be set up",
            )),
        };
        let (sender, connection) = opened?;
        let needs_poll = Arc::new(NeedsPoll(AtomicBool::new(true)));
        Ok(Self {
            waker: Arc::clone(&needs_poll).into(),
            needs_poll,
            pipe,
            connection: Some(connection),
            sender,
            request,
            streams_max,
            streams: Vec::new(),
            ready: Arc::default(),
            unsent: Vec::new(),
            sent: 0,
            is_draining: false,
            goaway: None,
            has_received: false,
            events: VecDeque::new(),
        })
    }

    /// The number of concurrent streams that this side and the server allow.
    pub(crate) fn streams_max(&self) -> usize {
        self.streams_max.min(self.sender.current_max_send_streams())
    }

    /// Whether no further request can be sent over it.
    pub(crate) const fn is_draining(&self) -> bool {
        self.is_draining
    }

    /// Sends the request on the stream of that number, which is vacant.
    pub(crate) fn send(&mut self, stream: u32) {
        while self.streams.len() <= stream as usize {
            let waker = StreamWaker {
                stream: self.streams.len() as u32,
                ready: Arc::clone(&self.ready),
            };
            self.streams.push(Stream {
                waker: Arc::new(waker).into(),
                state: StreamState::Vacant,
            });
        }
        match self.sender.send_request(self.request.clone(), true) {
            Ok((response, _)) => {
                self.streams[stream as usize].state = StreamState::Head(response);
                // Polled once, it tells of its news.
                self.poll_stream(stream);
            }
            Err(error) => self.events.push_back(stream_failure(stream, &error, None)),
        }
    }

    /// Gives a request up (RST_STREAM with CANCEL). Nothing more is heard of it.
    pub(crate) fn cancel(&mut self, stream: u32) {
        if let Some(known) = self.streams.get_mut(stream as usize) {
            known.state = StreamState::Vacant;
        }
    }

    /// Whether the head of the response has been read.
    pub(crate) fn has_head(&self, stream: u32) -> bool {
        let known = self.streams.get(stream as usize);
        known.is_some_and(|known| matches!(known.state, StreamState::Body { .. }))
    }

    /// Bytes arrived.
    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        if !self.has_received && bytes.starts_with(b"HTTP/") {
            let why = "the server answers in HTTP/1";
            self.events
                .push_back(Event::Broken(RequestFailure::new(ErrorCause::Malformed, why)));
            return;
        }
        self.has_received = true;
        self.pipe.receive(bytes);
        self.advance();
    }

    /// Why requests fail that are under way when the server closes the connection.
    pub(crate) fn end(&self) -> RequestFailure {
        self.goaway.unwrap_or(ErrorCause::ClosedBeforeResponse.into())
    }

    /// What has happened; none when there is nothing more.
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The bytes that are still to be written.
    pub(crate) fn unsent(&mut self) -> &[u8] {
        if self.needs_poll.is_set() {
            self.advance();
        }
        if self.sent == self.unsent.len() {
            self.sent = 0;
            self.unsent.clear();
            self.pipe.take_written(&mut self.unsent);
        }
        &self.unsent[self.sent..]
    }

    /// Whether there is anything to be written.
    pub(crate) fn has_unsent(&self) -> bool {
        self.needs_poll.is_set() || self.sent < self.unsent.len() || self.pipe.has_written()
    }

    /// Whether everything of [`Self::unsent`] was written.
    pub(crate) const fn is_all_written(&self) -> bool {
        self.sent == self.unsent.len()
    }

    /// That many bytes of [`Self::unsent`] were written.
    pub(crate) fn on_written(&mut self, bytes: usize) {
        self.sent = (self.sent + bytes).min(self.unsent.len());
    }

    /// Lets `h2` read and write, and looks at the streams that have news.
    fn advance(&mut self) {
        self.needs_poll.clear();
        let waker = self.waker.clone();
        let mut context = Context::from_waker(&waker);
        let polled = match &mut self.connection {
            Some(connection) => Pin::new(connection).poll(&mut context),
            None => return,
        };
        while let Some(stream) = self.ready.next() {
            self.poll_stream(stream);
        }
        if let Poll::Ready(ended) = polled {
            self.connection = None;
            self.events.push_back(match ended {
                // It waits for no response, and the server wants no further request.
                Ok(()) => Event::Broken(ErrorCause::ClosedBeforeResponse.into()),
                Err(error) => Event::Broken(connection_failure(&error)),
            });
        } else if !self.is_draining
            && let Poll::Ready(Err(error)) = self.sender.poll_ready(&mut context)
        {
            self.is_draining = true;
            let is_error = error.reason() != Some(h2::Reason::NO_ERROR);
            self.goaway = is_error.then(|| connection_failure(&error));
            self.events.push_back(Event::Draining);
        }
    }

    /// Reads what a stream has.
    fn poll_stream(&mut self, stream: u32) {
        let Some(known) = self.streams.get_mut(stream as usize) else {
            return;
        };
        let mut context = Context::from_waker(&known.waker);
        let event = loop {
            match &mut known.state {
                // It was cancelled, or has ended.
                StreamState::Vacant => return,
                StreamState::Head(response) => match Pin::new(response).poll(&mut context) {
                    Poll::Pending => return,
                    Poll::Ready(Err(error)) => break stream_failure(stream, &error, None),
                    Poll::Ready(Ok(response)) => {
                        let length = response.headers().get(http::header::CONTENT_LENGTH);
                        known.state = StreamState::Body {
                            status: response.status().as_u16(),
                            length: length.and_then(|length| length.to_str().ok()?.parse().ok()),
                            received: 0,
                            body: response.into_body(),
                        };
                        self.events.push_back(Event::Head(stream));
                    }
                },
                StreamState::Body {
                    body,
                    status,
                    length,
                    received,
                } => match body.poll_data(&mut context) {
                    Poll::Pending => return,
                    Poll::Ready(Some(Ok(data))) => {
                        *received += data.len() as u64;
                        // What has arrived is within the window.
                        let _ = body.flow_control().release_capacity(data.len());
                    }
                    Poll::Ready(Some(Err(error))) => {
                        let missing = length.is_some_and(|length| length > *received);
                        break stream_failure(stream, &error, Some(missing));
                    }
                    Poll::Ready(None) => {
                        break Event::Complete {
                            stream,
                            status: *status,
                            body_bytes: *received,
                        };
                    }
                },
            }
        };
        known.state = StreamState::Vacant;
        self.events.push_back(event);
    }
}

impl ReadyStreams {
    fn next(&self) -> Option<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl NeedsPoll {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Wake for NeedsPoll {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Wake for StreamWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut ready = self.ready.0.lock().unwrap_or_else(PoisonError::into_inner);
        ready.push_back(self.stream);
    }
}
