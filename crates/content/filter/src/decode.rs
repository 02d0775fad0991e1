//! Decodes the content of a response at the client.

use crate::compute::{CompressionStep, Compute, Operation};
use crate::headers::{has_content_coding, members, remove_digests};
use crate::negotiate::same_coding;
use crate::transform_body::{BodyTransform, Recoded, Sink};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, Response};
use http_body::{Body, Frame, SizeHint};
use lastmile_codec::content::{Coding, DecodeError, Decoder};
use lastmile_units::ByteCount;
use pin_project_lite::pin_project;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The most codings of one response, one on top of the other. Our own choice: more than one is rare, and each costs a decoder.
const CODINGS_MAX: usize = 4;

/// Decodes the `Content-Encoding` of a response incrementally, its codings in the reverse of the order in which the field lists
/// them (RFC 9110, section 8.4). The field is removed, and so are the length and the digests, which were true only of the encoded
/// content. The entity tag stays: it is the server's name for the encoded response.
///
/// No stage may output more than `limit`, encoded or not. `compute` is charged and awaited, as on the server's side.
///
/// # Errors
/// When a coding is unknown, or there are more than four. Damage in the content is an error of the body.
pub fn decode<B: Body, C: Compute>(
    response: Response<B>,
    limit: ByteCount,
    compute: C,
) -> Result<Response<DecodedBody<B, C>>, UnsupportedCoding> {
    let (mut head, body) = response.into_parts();
    let codings = codings(&head.headers)?;
    if has_content_coding(&head.headers) {
        head.headers.remove(CONTENT_LENGTH);
        remove_digests(&mut head.headers);
    }
    head.headers.remove(CONTENT_ENCODING);
    // The limit also holds for a body that is not encoded.
    let codings = if codings.is_empty() {
        vec![Coding::Identity]
    } else {
        codings
    };
    let stage = |&coding: &Coding| DecodingStep {
        coding,
        decoder: Some(Decoder::new(coding, limit)),
        begun: false,
    };
    let chain = Chain {
        stages: codings.iter().rev().map(stage).collect(),
    };
    Ok(Response::from_parts(
        head,
        DecodedBody {
            recoded: Recoded::new(body, chain, compute),
        },
    ))
}

/// A `Content-Encoding` that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Content-Encoding {found:?} cannot be decoded: {problem}; leave it out of Accept-Encoding")]
pub struct UnsupportedCoding {
    found: String,
    problem: String,
}

/// Why a [`DecodedBody`] failed.
#[derive(Debug, thiserror::Error)]
pub enum DecodeBodyError<E> {
    /// The encoded body failed.
    #[error("the encoded body failed: {0}")]
    Body(E),
    /// Its content could not be decoded.
    #[error(transparent)]
    Decode(DecodeError),
}

/// The codings of a response in the order in which they were applied, without `identity`.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, UnsupportedCoding> {
    let listed = members(headers, &CONTENT_ENCODING).filter(|token| !same_coding(token, b"identity"));
    let mut codings = Vec::new();
    for token in listed {
        let unsupported = |problem| UnsupportedCoding {
            found: String::from_utf8_lossy(token).into_owned(),
            problem,
        };
        let coding = std::str::from_utf8(token).ok().and_then(Coding::from_token);
        codings.push(coding.ok_or_else(|| unsupported("it is not one of gzip, deflate, br and zstd".to_owned()))?);
        if codings.len() > CODINGS_MAX {
            return Err(unsupported(format!("it is one of more than {CODINGS_MAX} codings")));
        }
    }
    Ok(codings)
}

pin_project! {
    /// The decoded content of a response; made by [`decode()`].
    ///
    /// Its content is valid only once it ends without an error: some codings have their checksum at the end. An empty body (in the
    /// response to a HEAD request, or a 304) is accepted, whatever its head says.
    pub struct DecodedBody<B: Body, C: Compute> {
        #[pin]
        recoded: Recoded<B, Chain, C>,
    }
}

impl<B: Body, C: Compute> Body for DecodedBody<B, C> {
    type Data = Bytes;
    type Error = DecodeBodyError<B::Error>;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.project().recoded.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.recoded.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.recoded.size_hint()
    }
}

/// The decoders of a response, the outermost coding's first.
struct Chain {
    stages: Vec<DecodingStep>,
}

struct DecodingStep {
    coding: Coding,
    /// None after the end of the stream.
    decoder: Option<Decoder>,
    begun: bool,
}

impl Chain {
    /// Runs `input` through all stages; if it is the last, each stage is ended in turn.
    fn run(&mut self, input: &[u8], last: bool, to: &mut Sink) -> Result<(), DecodeError> {
        let (innermost, outer) = self
            .stages
            .split_last_mut()
            .expect("a chain has a stage, if only identity");
        let mut between = Cow::Borrowed(input);
        for stage in outer {
            let mut output = Vec::new();
            stage.run(&between, last, &mut output, &mut to.work)?;
            between = Cow::Owned(output);
        }
        innermost.run(&between, last, &mut to.output, &mut to.work)
    }
}

impl DecodingStep {
    fn run(
        &mut self,
        input: &[u8],
        last: bool,
        output: &mut Vec<u8>,
        account: &mut VecDeque<CompressionStep>,
    ) -> Result<(), DecodeError> {
        let decoder = self.decoder.as_mut().expect("nothing is written after the end");
        let (first, before) = (!self.begun, output.len());
        decoder.write(input, output)?;
        self.begun |= !input.is_empty();
        if last {
            let decoder = self.decoder.take().expect("a stream is ended once");
            if self.begun {
                decoder.finish()?;
            }
        }
        if self.coding != Coding::Identity && self.begun && (last || !input.is_empty()) {
            let (input, output) = (ByteCount::from(input.len()), ByteCount::from(output.len() - before));
            account.push_back(CompressionStep {
                operation: Operation::Decode(self.coding),
                input,
                output,
                first,
                last,
            });
        }
        Ok(())
    }
}

impl<E> BodyTransform<E> for Chain {
    type Error = DecodeBodyError<E>;

    // Our own choice: deflate expands a byte to at most 1032 (zlib's technical notes), so a piece to at most 4 MB. zstd and brotli
    // have no such bound; there `limit` bounds the output.
    const PIECE: usize = 1 << 12;

    fn write(&mut self, piece: &[u8], end_of_chunk: bool, to: &mut Sink) -> Result<bool, Self::Error> {
        // Everything that can be decoded of a chunk is due with it, so the output shows whether the server flushed.
        self.run(piece, false, to)
            .map(|()| end_of_chunk)
            .map_err(DecodeBodyError::Decode)
    }

    fn finish(&mut self, to: &mut Sink) -> Result<(), Self::Error> {
        self.run(&[], true, to).map_err(DecodeBodyError::Decode)
    }

    fn body_failed(error: E) -> Self::Error {
        DecodeBodyError::Body(error)
    }
}

#[cfg(test)]
mod tests;
