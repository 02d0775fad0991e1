//! Compresses the messages of one direction of a connection, one after the other.

use super::back_end::{Compress, Copy};
use super::sender_policy::fragment_ends;
use super::zlib::{Stock, ZlibRs};
use super::{CodecError, Dictionary, MessageCodec, brotli, lz4, zlib, zstd};
use lastmile_units::ByteCount;

/// Compresses the messages that one end of a connection sends.
///
/// Running out of memory aborts, as elsewhere in Rust; after [`MessageEncoder::new`], nothing else can fail.
///
/// ```
/// use lastmile_codec::message::{MessageDecoder, MessageEncoder};
/// use lastmile_units::ByteCount;
/// let codec = "deflate:6/w15/m8".parse().unwrap();
/// let mut encoder = MessageEncoder::new(&codec, None).unwrap();
/// let (mut first, mut again) = (Vec::new(), Vec::new());
/// encoder.encode(b"Hello", &mut first);
/// encoder.encode(b"Hello", &mut again);
/// // The two messages of RFC 7692 section 7.2.3.2: the second is a reference to the first.
/// assert_eq!(first, [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]);
/// assert_eq!(again, [0xf2, 0x00, 0x11, 0x00, 0x00]);
/// ```
pub struct MessageEncoder {
    back_end: Box<dyn Compress>,
    /// The output buffer for measuring compressed sizes; its content is discarded.
    scratch: Vec<u8>,
}

impl MessageEncoder {
    /// An encoder before its first message. Both ends have to have the same codec and dictionary.
    ///
    /// # Errors
    /// When the codec has a setting out of its range.
    pub fn new(codec: &MessageCodec, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        codec.check()?;
        let back_end: Box<dyn Compress> = match codec {
            MessageCodec::Identity => Box::new(Copy),
            MessageCodec::Deflate(settings) => Box::new(zlib::Compressor::<Stock>::new(settings, dictionary)?),
            MessageCodec::ZlibRs(settings) => Box::new(zlib::Compressor::<ZlibRs>::new(settings, dictionary)?),
            MessageCodec::Zstd(settings) => Box::new(zstd::Compressor::new(settings, dictionary)?),
            MessageCodec::Brotli(settings) => Box::new(brotli::Compressor::new(settings, dictionary)),
            MessageCodec::Lz4(settings) => Box::new(lz4::Compressor::new(settings, dictionary)),
        };
        Ok(Self {
            back_end,
            scratch: Vec::new(),
        })
    }

    /// Compresses `message`, and appends it to `out`.
    ///
    /// # Panics
    /// With LZ4, when the message is above its limit of 2,113,929,216 B.
    pub fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) {
        self.back_end.encode_part(message, true, out);
    }

    /// Compresses `message` as [`Self::encode`] does, and returns only its compressed size in bytes.
    pub fn compressed_size(&mut self, message: &[u8]) -> usize {
        self.scratch.clear();
        self.back_end.encode_part(message, true, &mut self.scratch);
        self.scratch.len()
    }

    /// Compresses `message` so that every `fragment` bytes of it can be sent and read before the rest arrives, and appends it to
    /// `out`. Appends to `ends` where in `out` each fragment ends; the last is the message's end. All of it decodes as one message.
    ///
    /// LZ4 has no such flush: it compresses the whole message, which is then cut into fragments of that many compressed bytes. This
    /// delays the reader, but adds no bytes. A fragment size of 0 is treated as 1.
    pub fn encode_fragmented(&mut self, message: &[u8], fragment: ByteCount, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
        let length = usize::try_from(fragment.get()).unwrap_or(usize::MAX).max(1);
        if !self.back_end.flushes_parts() {
            let start = out.len();
            self.encode(message, out);
            fragment_ends(start, out.len(), fragment, ends);
            return;
        }
        let mut rest = message;
        loop {
            let (part, after) = rest.split_at(rest.len().min(length));
            self.back_end.encode_part(part, after.is_empty(), out);
            ends.push(out.len());
            if after.is_empty() {
                return;
            }
            rest = after;
        }
    }

    /// Resets the context: the next message is compressed as if `history` preceded it, as a dictionary does. Without takeover, this
    /// holds for the next message only.
    ///
    /// For deflate at levels 4 to 9, the output is the same as if the history had been compressed. At lower levels it may differ:
    /// `deflate_fast` does not enter the inside of long matches into the hash, while all of a dictionary is entered.
    pub fn prime(&mut self, history: &[u8]) {
        self.back_end.prime(history);
    }

    /// Appends `sent`, a sequence of messages, to the history as if they had been compressed, without producing output. For deflate
    /// at levels 4 to 9, later output is the same as if they had been, as with [`Self::prime`], for less work.
    pub fn append_history(&mut self, sent: &[u8]) {
        if !sent.is_empty() && !self.back_end.append_history(sent) {
            self.compressed_size(sent);
        }
    }

    /// Resets the context: the next message is compressed like the first.
    pub fn reset(&mut self) {
        self.back_end.reset();
    }

    /// The memory that it has allocated and not freed.
    pub fn memory(&self) -> ByteCount {
        ByteCount::from(self.back_end.memory())
    }
}
