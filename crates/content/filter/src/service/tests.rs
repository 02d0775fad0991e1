//! The harness for tests of what clients get from various handlers; the claims are in the files below.

mod content;
mod cost;
mod heads;
mod negotiation;

use super::*;
use crate::test_bodies::{BodyOutput, Meter, ScriptedBody, Step, finish, read};
use crate::{CompressionLayer, MediaTypes, Operation, Policy, transform_body};
use bytes::Bytes;
use http::Version;
use http::header::{ACCEPT_RANGES, CONTENT_ENCODING, ETAG, VARY};
use http_body_util::{Empty, Full};
use lastmile_codec::content::{Coding, Decoder, Encoder, decode, encode};
use lastmile_units::ByteCount;
use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::rc::Rc;
use tower_layer::Layer;

/// A handler that answers at once.
struct Handler<H>(H);

impl<H: FnMut(&Request<()>) -> Response<B>, B> Service<Request<()>> for Handler<H> {
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Ready<Result<Response<B>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        ready(Ok((self.0)(&request)))
    }
}

/// A response as the client got it.
struct Got<E> {
    status: StatusCode,
    headers: HeaderMap,
    body: BodyOutput<E>,
}

impl<E> Got<E> {
    fn field(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    fn coding(&self) -> &str {
        self.field(CONTENT_ENCODING).unwrap_or("identity")
    }

    /// The content, decoded, as the handler made it.
    fn content(&self) -> Vec<u8> {
        decode(
            Coding::from_token(self.coding()).unwrap(),
            &self.body.data(),
            ByteCount::new(1 << 30),
        )
        .unwrap()
    }
}

fn ask<C: Compute, B: Body>(
    layer: &CompressionLayer<C>,
    handler: impl FnMut(&Request<()>) -> Response<B>,
    request: Request<()>,
) -> Got<B::Error> {
    let response = finish(layer.layer(Handler(handler)).call(request)).0.unwrap();
    let (head, body) = response.into_parts();
    Got {
        status: head.status,
        headers: head.headers,
        body: read(body),
    }
}

fn get(fields: &[(&str, &str)]) -> Request<()> {
    fields
        .iter()
        .fold(Request::get("/"), |request, (name, value)| {
            request.header(*name, *value)
        })
        .body(())
        .unwrap()
}

fn head(fields: &[(&str, &str)]) -> Request<()> {
    let mut request = get(fields);
    *request.method_mut() = Method::HEAD;
    request
}

const GZIP: (&str, &str) = ("accept-encoding", "gzip");
const ANY: (&str, &str) = ("accept-encoding", "gzip, br, zstd");

/// Text that is worth compressing and longer than one piece.
fn text() -> Vec<u8> {
    (0..6000_u32)
        .flat_map(|line| format!("line {line}, {}\n", line.wrapping_mul(2_654_435_761)).into_bytes())
        .collect()
}

fn plain(body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    respond_with(&[("content-type", "text/plain")], Full::new(body.into()))
}

fn respond_with<B>(fields: &[(&str, &str)], body: B) -> Response<B> {
    fields
        .iter()
        .fold(Response::builder(), |response, (name, value)| {
            response.header(*name, *value)
        })
        .body(body)
        .unwrap()
}

fn streamed() -> CompressionLayer {
    CompressionLayer::new(Policy::default())
}

fn with(change: impl FnOnce(&mut Policy)) -> CompressionLayer {
    let mut policy = Policy::default();
    change(&mut policy);
    CompressionLayer::new(policy)
}

fn whole() -> CompressionLayer {
    with(|policy| policy.buffering = Buffering::WholeResponse)
}

const TEXT: [(&str, &str); 1] = [("content-type", "text/plain")];
