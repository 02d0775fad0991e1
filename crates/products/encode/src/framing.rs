//! The bytes that carry a batch: a length, or a request of HTTP/1.1 or HTTP/2 on a connection that is open.

use crate::codecs::Compression;

/// What carries a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Its length in four bytes.
    LengthPrefix,
    /// A request of HTTP/1.1 with the headers that a client cannot leave out.
    Http1,
    /// A request of HTTP/2 whose headers the other side knows from earlier ones.
    Http2,
}

impl Framing {
    /// Every framing.
    pub const ALL: [Self; 3] = [Self::LengthPrefix, Self::Http1, Self::Http2];

    /// As it is called in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LengthPrefix => "length-prefix",
            Self::Http1 => "http/1.1",
            Self::Http2 => "http/2",
        }
    }

    /// The bytes around a batch.
    ///
    /// HTTP/2 needs a frame header of 9 bytes for the headers and one for each 16,384 bytes of data (RFC 9113, section 4.1). A header that
    /// was sent before is one byte (RFC 7541, section 6.1): method, scheme, authority, path, type and coding; the length alone is written anew, as an
    /// indexed name, a length and its digits (section 6.2.2).
    pub fn overhead(self, batch_bytes: usize, compression: Compression) -> usize {
        let coded = compression != Compression::None;
        match self {
            Self::LengthPrefix => 4,
            Self::Http1 => request_head(batch_bytes, coded).len(),
            Self::Http2 => {
                let digits = batch_bytes.to_string().len();
                let headers = 5 + usize::from(coded) + 2 + digits;
                9 + headers + 9 * batch_bytes.div_ceil(16_384).max(1)
            }
        }
    }
}

fn request_head(batch_bytes: usize, coded: bool) -> String {
    let coding = if coded { "content-encoding: zstd\r\n" } else { "" };
    format!(
        "POST /messages HTTP/1.1\r\nhost: collector.example\r\ncontent-type: application/octet-stream\r\n{coding}content-length: {batch_bytes}\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_costs_a_little_more_for_a_longer_length() {
        let overhead = |framing: Framing, bytes| framing.overhead(bytes, Compression::None);
        assert_eq!(overhead(Framing::LengthPrefix, 10), 4);
        assert_eq!(overhead(Framing::Http1, 100) - overhead(Framing::Http1, 10), 1);
        assert_eq!(overhead(Framing::Http2, 10), 9 + 9 + 9);
        assert_eq!(overhead(Framing::Http2, 20_000), 9 + 12 + 18);
    }
}
