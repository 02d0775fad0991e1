//! HTTP content coding as a tower layer: which responses are coded, as what, and what their heads then say.
//!
//! [`CompressionLayer`] codes the responses of any service over `http` and `http-body` types, by a [`Policy`]; [`decode()`] undoes
//! it at the client. [`AcceptEncoding`] is the negotiation alone. The codecs themselves are `lastmile-payload`'s; where coding
//! must cost virtual time, it is told to a [`Compute`]. No sockets are opened and no clock is read.
//!
//! What the layer holds to, in RFC 9110's terms:
//!
//! - every response that is coded for some client says `Vary: Accept-Encoding` to all, and so do its 304, 206 and 406;
//! - a strong entity tag becomes weak when the response is coded, with its opaque part unchanged. `If-None-Match` compares weakly,
//!   so a handler that follows section 13.1.2 answers 304. `If-Match` and `If-Range` compare strongly: a client that holds a
//!   coded response gets 412, or the whole content, where it holds only a weak tag. It never patches one coding with another;
//! - a HEAD request's response has the fields of the GET's, except a `Content-Length` that only coding would tell;
//! - digests, `Accept-Ranges` and the length of the uncoded content do not survive coding.

mod body;
mod compute;
mod decide;
mod decode;
mod headers;
mod layer;
mod media_types;
mod negotiate;
mod policy;
mod recode;
#[cfg(test)]
mod script;
mod service;

pub use body::CompressionBody;
pub use compute::{Compute, NoCost, Operation, Work};
pub use decode::{DecodeBodyError, DecodedBody, UnsupportedCoding, decode};
pub use layer::CompressionLayer;
pub use media_types::MediaTypes;
pub use negotiate::{AcceptEncoding, Choice};
pub use policy::{Buffering, Flush, Policy};
pub use service::{CompressionService, ResponseFuture};
