//! The body of a response behind the layer.

use crate::compute::{CompressionStep, Compute, NoCost, Operation};
use crate::transform_body::{BodyTransform, Recoded, Sink};
use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use lastmile_codec::content::{CodecSpec, Encoder};
use lastmile_units::ByteCount;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The body of a response: compressed while streaming, buffered whole, or unchanged from the handler.
    ///
    /// Data comes as [`Bytes`]; if the handler's body has another type of data, content that is not compressed is copied into it.
    /// Trailers are forwarded, except digests that compression makes wrong. Errors are forwarded, and leave compressed content
    /// without its end.
    pub struct CompressionBody<B: Body, C: Compute = NoCost> {
        #[pin]
        content: Content<B, C>,
    }
}

pin_project! {
    #[project = ContentProjected]
    enum Content<B: Body, C: Compute> {
        AsItIs { #[pin] body: B },
        Coded { #[pin] body: Recoded<B, StreamCompressor, C> },
        Whole { held: BufferedBody<B::Error> },
        Nothing,
    }
}

/// Complete content, buffered until it is polled.
pub(crate) struct BufferedBody<E> {
    pub(crate) data: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
    /// The error of the handler's body, after `data`.
    pub(crate) error: Option<E>,
}

impl<B: Body, C: Compute> CompressionBody<B, C> {
    pub(crate) fn passthrough(body: B) -> Self {
        Self {
            content: Content::AsItIs { body },
        }
    }

    pub(crate) fn compressed(body: B, codec: CodecSpec, flush_chunks: bool, compute: C) -> Self {
        let coder = StreamCompressor {
            codec,
            encoder: Some(Encoder::new(codec)),
            flush_chunks,
            begun: false,
        };
        Self {
            content: Content::Coded {
                body: Recoded::new(body, coder, compute),
            },
        }
    }

    pub(crate) fn buffered(held: BufferedBody<B::Error>) -> Self {
        Self {
            content: Content::Whole { held },
        }
    }

    pub(crate) fn nothing() -> Self {
        Self {
            content: Content::Nothing,
        }
    }
}

impl<B: Body, C: Compute> Body for CompressionBody<B, C> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().content.project() {
            ContentProjected::AsItIs { body } => body
                .poll_frame(cx)
                .map_ok(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))),
            ContentProjected::Coded { body } => body.poll_frame(cx),
            ContentProjected::Whole { held } => Poll::Ready(held.next()),
            ContentProjected::Nothing => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::AsItIs { body } => body.is_end_stream(),
            Content::Coded { body } => body.is_end_stream(),
            Content::Whole { held } => held.data.is_empty() && held.trailers.is_none() && held.error.is_none(),
            Content::Nothing => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::AsItIs { body } => body.size_hint(),
            Content::Coded { body } => body.size_hint(),
            Content::Whole { held } => held.size_hint(),
            Content::Nothing => SizeHint::with_exact(0),
        }
    }
}

impl<E> BufferedBody<E> {
    /// Exact only without trailers and errors: servers turn an exact hint into a `Content-Length`, which rules trailers out and
    /// would make failed content look complete.
    fn size_hint(&self) -> SizeHint {
        let length = self.data.len() as u64;
        if self.trailers.is_none() && self.error.is_none() {
            return SizeHint::with_exact(length);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(length);
        hint
    }

    fn next(&mut self) -> Option<Result<Frame<Bytes>, E>> {
        if !self.data.is_empty() {
            return Some(Ok(Frame::data(std::mem::take(&mut self.data))));
        }
        match self.error.take() {
            Some(error) => Some(Err(error)),
            None => self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))),
        }
    }
}

/// Compresses, and flushes where the policy requires it.
struct StreamCompressor {
    codec: CodecSpec,
    /// None after the end of the stream.
    encoder: Option<Encoder>,
    flush_chunks: bool,
    begun: bool,
}

impl StreamCompressor {
    fn account(&mut self, input: usize, output: usize, last: bool) -> CompressionStep {
        let first = !std::mem::replace(&mut self.begun, true);
        let operation = Operation::Encode(self.codec);
        CompressionStep {
            operation,
            input: ByteCount::from(input),
            output: ByteCount::from(output),
            first,
            last,
        }
    }
}

impl<E> BodyTransform<E> for StreamCompressor {
    type Error = E;

    // Our own choice. Brotli and zstd gather blocks of 64 to 128 KiB and compress each during one of these pieces, so a thread is
    // busy at most as long as one block takes: 1.4 ms for brotli at level 5, the slowest common on-the-fly setting (48 MB/s).
    const PIECE: usize = 1 << 14;

    fn write(&mut self, piece: &[u8], end_of_chunk: bool, to: &mut Sink) -> Result<bool, E> {
        let encoder = self.encoder.as_mut().expect("nothing is written after the end");
        let flush = end_of_chunk && self.flush_chunks;
        let before = to.output.len();
        encoder.write(piece, &mut to.output);
        if flush {
            encoder.flush(&mut to.output);
        }
        let work = self.account(piece.len(), to.output.len() - before, false);
        to.work.push_back(work);
        Ok(flush)
    }

    fn finish(&mut self, to: &mut Sink) -> Result<(), E> {
        let encoder = self.encoder.take().expect("a stream is ended once");
        let before = to.output.len();
        encoder.finish(&mut to.output);
        let work = self.account(0, to.output.len() - before, true);
        to.work.push_back(work);
        Ok(())
    }

    fn body_failed(error: E) -> E {
        error
    }
}
