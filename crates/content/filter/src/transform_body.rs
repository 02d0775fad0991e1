//! Streams a body through a compressor or decompressor, a piece at a time, awaiting the cost of each and reading nothing ahead.
//!
//! Which bodies are transformed, and how, is decided elsewhere.

use crate::compute::{CompressionStep, Compute};
use crate::headers::remove_digests;
use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Output leaves in frames of this size, and in smaller ones only where it is due. Our own choice: the payload of one TLS record
/// (RFC 8446, section 5.1: at most 2^14 bytes).
pub(crate) const FRAME: usize = 1 << 14;

/// Transforms the bytes of a body, which may fail with an `E`.
pub(crate) trait BodyTransform<E> {
    /// Why the transformed body failed: the body failed, or its transformation.
    type Error;

    /// The size of a piece, in bytes. After that many bytes without output, the task yields to the executor, so that no body keeps
    /// a thread busy for long, whatever its chunk sizes.
    const PIECE: usize;

    /// Transforms a piece. `end_of_chunk` means that the handler's chunk ends here and the next may be slow to arrive. Returns whether
    /// the output so far is due at once.
    fn write(&mut self, piece: &[u8], end_of_chunk: bool, to: &mut Sink) -> Result<bool, Self::Error>;

    /// Ends the input. Called once.
    fn finish(&mut self, to: &mut Sink) -> Result<(), Self::Error>;

    /// Converts an error of the body.
    fn body_failed(error: E) -> Self::Error;
}

/// Collects a [`BodyTransform`]'s output, and the account of its work.
#[derive(Default)]
pub(crate) struct Sink {
    pub(crate) output: Vec<u8>,
    /// How much of `output` has left in frames.
    sent: usize,
    pub(crate) work: VecDeque<CompressionStep>,
}

impl Sink {
    fn waiting(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Removes a frame from the output. The frame is a copy, so the buffer is reused and a small frame does not keep a large one alive.
    fn frame(&mut self) -> Bytes {
        let end = self.output.len().min(self.sent + FRAME);
        let frame = Bytes::copy_from_slice(&self.output[self.sent..end]);
        self.sent = end;
        if self.waiting() == 0 {
            self.output.clear();
            self.sent = 0;
        }
        frame
    }
}

enum Progress<E> {
    Reading,
    Finished(Option<HeaderMap>),
    Failed(Option<E>),
}

pin_project! {
    /// A body whose bytes all go through `R`. Trailers and errors are forwarded; an error leaves the transformed stream without its
    /// end, so that nobody mistakes it for complete.
    pub(crate) struct Recoded<B: Body, R: BodyTransform<B::Error>, C: Compute> {
        #[pin]
        body: B,
        recoder: R,
        compute: C,
        #[pin]
        spending: Option<C::Spent>,
        chunk: Option<B::Data>,
        sink: Sink,
        // All output so far leaves before more input is read.
        due: bool,
        progress: Progress<R::Error>,
    }
}

impl<B: Body, R: BodyTransform<B::Error>, C: Compute> Recoded<B, R, C> {
    pub(crate) fn new(body: B, recoder: R, compute: C) -> Self {
        let (sink, progress) = (Sink::default(), Progress::Reading);
        Self {
            body,
            recoder,
            compute,
            spending: None,
            chunk: None,
            sink,
            due: false,
            progress,
        }
    }
}

impl<B: Body, R: BodyTransform<B::Error>, C: Compute> Body for Recoded<B, R, C> {
    type Data = Bytes;
    type Error = R::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, R::Error>>> {
        let mut this = self.project();
        let mut left_of_turn = R::PIECE;
        loop {
            if let Some(spent) = this.spending.as_mut().as_pin_mut() {
                ready!(spent.poll(cx));
                this.spending.set(None);
            }
            if let Some(work) = this.sink.work.pop_front() {
                this.spending.set(Some(this.compute.spend(work)));
                continue;
            }

            let waiting = this.sink.waiting();
            if waiting >= FRAME || (*this.due && waiting > 0) {
                return Poll::Ready(Some(Ok(Frame::data(this.sink.frame()))));
            }
            *this.due = false;
            match this.progress {
                Progress::Finished(trailers) => {
                    return Poll::Ready(trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
                }
                Progress::Failed(error) => return Poll::Ready(error.take().map(Err)),
                Progress::Reading => {}
            }

            let outcome = if let Some(chunk) = this.chunk {
                if left_of_turn == 0 {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                let taken = chunk.chunk().len().min(left_of_turn);
                left_of_turn -= taken;
                let last_of_chunk = taken == chunk.remaining();
                let end_of_chunk = last_of_chunk && !this.body.is_end_stream();
                let outcome = this.recoder.write(&chunk.chunk()[..taken], end_of_chunk, this.sink);
                chunk.advance(taken);
                if last_of_chunk {
                    *this.chunk = None;
                }
                outcome.map(|due| *this.due = due)
            } else {
                match this.body.as_mut().poll_frame(cx) {
                    Poll::Pending if waiting > 0 => return Poll::Ready(Some(Ok(Frame::data(this.sink.frame())))),
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(Err(error))) => {
                        (*this.due, *this.progress) = (true, Progress::Failed(Some(R::body_failed(error))));
                        continue;
                    }
                    Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                        Ok(data) => {
                            *this.chunk = data.has_remaining().then_some(data);
                            continue;
                        }
                        Err(frame) => {
                            let Ok(mut trailers) = frame.into_trailers() else {
                                continue;
                            };
                            remove_digests(&mut trailers);
                            (*this.due, *this.progress) = (true, Progress::Finished(Some(trailers)));
                            this.recoder.finish(this.sink)
                        }
                    },
                    Poll::Ready(None) => {
                        (*this.due, *this.progress) = (true, Progress::Finished(None));
                        this.recoder.finish(this.sink)
                    }
                }
            };
            if let Err(error) = outcome {
                (*this.due, *this.progress) = (true, Progress::Failed(Some(error)));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let settled = self.spending.is_none() && self.sink.work.is_empty() && self.sink.waiting() == 0;
        settled && matches!(self.progress, Progress::Finished(None) | Progress::Failed(None))
    }

    fn size_hint(&self) -> SizeHint {
        let waiting = self.sink.waiting() as u64;
        if let Progress::Finished(_) = self.progress {
            return SizeHint::with_exact(waiting);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(waiting);
        hint
    }
}
