//! Parses `Accept-Encoding` and chooses a content coding for the client.
//!
//! Pure functions of the `Accept-Encoding` field (RFC 9110, section 12.5.3). Whether the response may be compressed at all is
//! decided in `decide`.

use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

/// The content codings that a request accepts: all its `Accept-Encoding` lines, parsed as one list.
///
/// Malformed members are skipped, as if the client had not sent them: one bad member must not cost a client the good ones. A
/// coding named twice gets the lower of its weights, so that a refusal always stands.
///
/// ```
/// use lastmile_filter::{AcceptEncoding, Choice};
/// let accept = AcceptEncoding::parse([b"gzip;q=0.5, br".as_slice(), b"zstd;q=0"]);
/// assert_eq!(accept.choose(["zstd", "gzip", "br"]), Choice::Coded(2));
/// assert_eq!(accept.choose(["zstd"]), Choice::Identity);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcceptEncoding<'a> {
    /// In the order sent, repetitions included: a hostile list of any length costs no more than one pass per coding.
    named: Vec<(&'a [u8], Weight)>,
    /// The weight of `*`, if it was sent.
    others: Option<Weight>,
}

/// The answer to an [`AcceptEncoding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The offered coding at this index of the list.
    Coded(usize),
    /// No coding: the client prefers `identity`, or accepts none of those offered.
    Identity,
    /// The client refuses `identity` too (`identity;q=0`, or `*;q=0`): nothing we can send is acceptable.
    Nothing,
}

/// A `qvalue` in thousandths; zero is a refusal (RFC 9110, section 12.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Weight(u16);

impl Weight {
    const REFUSED: Weight = Weight(0);
    const FULL: Weight = Weight(1000);
}

impl<'a> AcceptEncoding<'a> {
    /// Parses all `Accept-Encoding` lines of a request.
    pub fn from_headers(headers: &'a HeaderMap) -> Self {
        Self::parse(headers.get_all(ACCEPT_ENCODING).iter().map(http::HeaderValue::as_bytes))
    }

    /// Parses the field's lines, in order. Any bytes are accepted; nothing panics.
    pub fn parse(lines: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut accept = Self::default();
        // No quoted string is allowed anywhere in this field, so every comma separates two members.
        for (coding, weight) in lines
            .into_iter()
            .flat_map(|line| line.split(|&byte| byte == b','))
            .filter_map(member)
        {
            if coding == b"*" {
                accept.others = Some(accept.others.map_or(weight, |before| before.min(weight)));
            } else {
                accept.named.push((coding, weight));
            }
        }
        accept
    }

    /// Chooses the offered coding with the highest weight; among equals, the one offered first.
    ///
    /// `identity` is one of the candidates: it is chosen if the client gives it a higher weight than every coding offered. If it is not
    /// named, it is acceptable but comes last (RFC 9110, section 12.5.3). An absent field would allow any coding; like an empty one, we
    /// treat it as from a client that cannot decode, which costs bytes but never breaks.
    pub fn choose<'o>(&self, offered: impl IntoIterator<Item = &'o str>) -> Choice {
        let mut best = None;
        for (index, coding) in offered.into_iter().enumerate() {
            let weight = self.weight(coding.as_bytes()).unwrap_or(Weight::REFUSED);
            if weight > best.map_or(Weight::REFUSED, |(_, best)| best) {
                best = Some((index, weight));
            }
        }
        match (best, self.weight(b"identity")) {
            (Some((index, coded)), identity) if identity.is_none_or(|identity| coded >= identity) => {
                Choice::Coded(index)
            }
            (None, Some(Weight::REFUSED)) => Choice::Nothing,
            _ => Choice::Identity,
        }
    }

    /// Whether an uncompressed response would be unacceptable.
    pub fn refuses_identity(&self) -> bool {
        self.weight(b"identity") == Some(Weight::REFUSED)
    }

    /// The weight given to a coding, by its name or by `*`.
    fn weight(&self, coding: &[u8]) -> Option<Weight> {
        let named = self.named.iter().filter(|(named, _)| same_coding(named, coding));
        named.map(|(_, weight)| *weight).min().or(self.others)
    }
}

/// Parses `codings [ weight ]`; none if it is empty or malformed.
fn member(text: &[u8]) -> Option<(&[u8], Weight)> {
    let text = trim(text);
    let Some(semicolon) = text.iter().position(|&byte| byte == b';') else {
        return is_token(text).then_some((text, Weight::FULL));
    };
    let coding = trim(&text[..semicolon]);
    let weight = match trim(&text[semicolon + 1..]) {
        // Literal strings of the grammar are case-insensitive (RFC 5234, section 2.3): `Q=1` is as good as `q=1`.
        [b'q' | b'Q', b'=', value @ ..] => weight(value)?,
        _ => return None,
    };
    is_token(coding).then_some((coding, weight))
}

/// Parses a `qvalue`: 0 to 1 with at most three decimals.
fn weight(text: &[u8]) -> Option<Weight> {
    let (whole, decimals) = match text {
        [whole] => (whole, &[][..]),
        [whole, b'.', decimals @ ..] if decimals.len() <= 3 && decimals.iter().all(u8::is_ascii_digit) => {
            (whole, decimals)
        }
        _ => return None,
    };
    let thousandths = [100, 10, 1]
        .into_iter()
        .zip(decimals)
        .map(|(scale, digit)| scale * u16::from(digit - b'0'))
        .sum();
    match whole {
        b'0' => Some(Weight(thousandths)),
        b'1' if thousandths == 0 => Some(Weight::FULL),
        _ => None,
    }
}

/// Coding names are case-insensitive, and `x-gzip` is `gzip` by another name (RFC 9110, sections 8.4.1 and 8.4.1.3).
pub(crate) fn same_coding(one: &[u8], other: &[u8]) -> bool {
    plain_name(one).eq_ignore_ascii_case(plain_name(other))
}

fn plain_name(coding: &[u8]) -> &[u8] {
    if coding.eq_ignore_ascii_case(b"x-gzip") {
        b"gzip"
    } else {
        coding
    }
}

/// Drops optional white space (RFC 9110, section 5.6.3) from both ends.
pub(crate) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// Whether this is a `token` (RFC 9110, section 5.6.2).
fn is_token(text: &[u8]) -> bool {
    !text.is_empty()
        && text
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

#[cfg(test)]
mod tests;
