//! HTTP content coding as a tower layer: which responses are compressed, with which coding, and with which header fields.
//!
//! [`CompressionLayer`] compresses the responses of any service over `http` and `http-body` types, by a [`Policy`]; [`decode()`]
//! decodes them at the client. [`AcceptEncoding`] is the negotiation alone. The codecs themselves are in `lastmile-codec`; where
//! compression must cost virtual time, a [`Compute`] charges it. This crate opens no sockets and reads no clock.
//!
//! Guarantees of the layer, in RFC 9110's terms:
//!
//! - every response that is compressed for some client has `Vary: Accept-Encoding` for all, and so do its 304, 206 and 406;
//! - a strong entity tag becomes weak when the response is compressed, with its opaque part unchanged. `If-None-Match` compares
//!   weakly, so a handler that follows section 13.1.2 answers 304. `If-Match` and `If-Range` compare strongly: a client with a
//!   compressed response has only a weak tag, so it gets 412, or the whole content. It never patches one coding with another;
//! - the response to HEAD has the fields of the GET's, except a `Content-Length` that only compression would reveal;
//! - digests, `Accept-Ranges` and the length of the uncompressed content are removed by compression.

mod body;
mod compute;
mod decode;
mod eligibility;
mod headers;
mod layer;
mod media_types;
mod negotiate;
mod policy;
mod service;
#[cfg(test)]
mod test_bodies;
mod transform_body;

pub use body::CompressionBody;
pub use compute::{CompressionStep, Compute, NoCost, Operation};
pub use decode::{DecodeBodyError, DecodedBody, UnsupportedCoding, decode};
pub use layer::CompressionLayer;
pub use media_types::MediaTypes;
pub use negotiate::{AcceptEncoding, Choice};
pub use policy::{Buffering, Flush, Policy};
pub use service::{CompressionService, ResponseFuture};
