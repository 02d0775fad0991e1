//! Compression of answers and of posts, as HTTP negotiates it.

use super::POST_SIZE_MAX;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use lastmile_codec::content::{CodecSpec, Coding, Encoder, decode};
use lastmile_units::ByteCount;

/// The codings of answers, the better one first, with the levels that keep up with a log: our own choice.
const OFFERED: [(Coding, u8); 2] = [(Coding::Zstd, 1), (Coding::Gzip, 1)];

/// The coding of an answer: the first of ours that the client takes (RFC 9110 section 12.5.3), else none.
pub(super) fn coding_of_answer(headers: &HeaderMap) -> Coding {
    let accepted = headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let accepted: Vec<&str> = accepted.flat_map(|value| value.split(',')).collect();
    let takes = |coding: Coding| {
        accepted.iter().any(|item| {
            let (token, quality) = item.split_once(';').unwrap_or((item, ""));
            let refused = matches!(quality.trim().strip_prefix("q="), Some(weight) if weight.trim().parse() == Ok(0.0));
            Coding::from_token(token.trim()) == Some(coding) && !refused
        })
    };
    let offered = OFFERED.iter().map(|(coding, _)| *coding).find(|coding| takes(*coding));
    offered.unwrap_or(Coding::Identity)
}

/// A stream's encoder; `None` where the answer is not compressed.
pub(super) fn encoder(coding: Coding) -> Option<Encoder> {
    let (_, level) = OFFERED.iter().find(|(offered, _)| *offered == coding)?;
    let spec = CodecSpec::new(coding, *level).expect("the levels offered are levels of their codings");
    Some(Encoder::new(spec))
}

/// The coding of a post.
pub(super) fn coding_of_body(headers: &HeaderMap) -> Result<Coding, String> {
    let Some(coding) = headers.get(CONTENT_ENCODING) else {
        return Ok(Coding::Identity);
    };
    let known = coding.to_str().ok().and_then(Coding::from_token);
    known.ok_or_else(|| format!("Content-Encoding {coding:?} is unknown; send zstd, gzip or none"))
}

/// The body that was meant.
pub(super) fn decode_body(coding: Coding, body: Bytes) -> Result<Bytes, String> {
    if coding == Coding::Identity {
        return Ok(body);
    }
    let decoded = decode(coding, &body, ByteCount::new(POST_SIZE_MAX as u64));
    decoded
        .map(Bytes::from)
        .map_err(|error| format!("the body is no {coding}: {error}; nothing was taken"))
}
