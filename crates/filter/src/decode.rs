//! How does a client get back what was coded?

use crate::compute::{Compute, Operation, Work};
use crate::headers::{is_coded, members, remove_digests};
use crate::negotiate::same_coding;
use crate::recode::{Recode, Recoded, Sink};
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, Response};
use http_body::{Body, Frame, SizeHint};
use lastmile_payload::codec::{Coding, DecodeError, Decoder};
use lastmile_units::Bytes as Length;
use pin_project_lite::pin_project;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Codings one response may have, one over the other. Our own choice: more than one is rare, and each costs a decoder.
const CODINGS_MAX: usize = 4;

/// Undoes the `Content-Encoding` of a response, incrementally: codings are undone in the reverse of the order in which the field
/// lists them (RFC 9110, section 8.4). The field is removed, and with it the length and the digests that were true of the coded
/// content alone. The entity tag stays: it is what the server knows the coded response by.
///
/// No coding may put out more than `limit`, coded or not. `compute` is charged, and awaited, as on the coding side.
///
/// # Errors
/// When a coding is unknown, or there are more than four. Damage in the content is an error of the body.
pub fn decode<B: Body, C: Compute>(
    response: Response<B>,
    limit: Length,
    compute: C,
) -> Result<Response<DecodedBody<B, C>>, UnsupportedCoding> {
    let (mut head, body) = response.into_parts();
    let codings = codings(&head.headers)?;
    if is_coded(&head.headers) {
        head.headers.remove(CONTENT_LENGTH);
        remove_digests(&mut head.headers);
    }
    head.headers.remove(CONTENT_ENCODING);
    // A body that is not coded is held to the limit too.
    let codings = if codings.is_empty() {
        vec![Coding::Identity]
    } else {
        codings
    };
    let stage = |&coding: &Coding| Stage {
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

/// A `Content-Encoding` that cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Content-Encoding {found:?} cannot be undone: {problem}; leave it out of Accept-Encoding")]
pub struct UnsupportedCoding {
    found: String,
    problem: String,
}

/// Why a [`DecodedBody`] failed.
#[derive(Debug, thiserror::Error)]
pub enum DecodeBodyError<E> {
    /// The coded body failed.
    #[error("the coded body failed: {0}")]
    Body(E),
    /// What it held could not be decoded.
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
    /// The content of a response as it was before it was coded; made by [`decode()`].
    ///
    /// What it yields is only good once it ends without an error: some codings carry their checksum at the end. A body of no
    /// octets at all (of a HEAD request's response, or a 304) is taken as it is, whatever its head says.
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
    stages: Vec<Stage>,
}

struct Stage {
    coding: Coding,
    /// None once the stream is ended.
    decoder: Option<Decoder>,
    begun: bool,
}

impl Chain {
    /// Puts `input` through all stages; where it is the last, each stage is ended as it is passed.
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

impl Stage {
    fn run(
        &mut self,
        input: &[u8],
        last: bool,
        output: &mut Vec<u8>,
        account: &mut VecDeque<Work>,
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
            let (input, output) = (Length::from(input.len()), Length::from(output.len() - before));
            account.push_back(Work {
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

impl<E> Recode<E> for Chain {
    type Error = DecodeBodyError<E>;

    // Our own choice: deflate makes at most 1032 octets of one (zlib's technical notes), so at most 4 MB of a piece. zstd and
    // brotli know no such bound; there the limit is the bound.
    const PIECE: usize = 1 << 12;

    fn write(&mut self, piece: &[u8], end_of_chunk: bool, to: &mut Sink) -> Result<bool, Self::Error> {
        // What can be decoded of a chunk is due with it: whether the server flushed is seen in what comes out.
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
