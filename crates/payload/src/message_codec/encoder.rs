//! How does one message after the other become fewer bytes?

use super::policy::cut;
use super::zlib::{Stock, ZlibRs};
use super::{CodecError, Dictionary, MessageCodec, brotli, lz4, zlib, zstd};
use lastmile_units::Bytes;

/// A back end: one direction of one connection. What it is given is never empty, save the whole of an empty message.
pub(super) trait Compress: Send {
    /// Appends a part of a message, flushed so that a receiver sees all of it.
    fn encode_part(&mut self, part: &[u8], last: bool, out: &mut Vec<u8>);
    /// Whether it can do so; otherwise it is given whole messages alone.
    fn flushes_parts(&self) -> bool {
        true
    }
    /// A fresh context after `history`.
    fn prime(&mut self, history: &[u8]);
    /// Takes octets as sent after all that was, without coding them; says whether it can.
    fn follow(&mut self, sent: &[u8]) -> bool {
        let _ = sent;
        false
    }
    /// A fresh context, after the dictionary where there is one.
    fn reset(&mut self);
    /// Octets held.
    fn memory(&self) -> usize;
}

/// Codes the messages that one end of a connection sends.
///
/// Running out of memory aborts, as elsewhere in Rust; once made, nothing else can fail.
///
/// ```
/// use lastmile_payload::message_codec::{MessageDecoder, MessageEncoder};
/// use lastmile_units::Bytes;
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
    /// Where messages go of which only the size is asked.
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

    /// Appends `message`, coded, to `out`.
    ///
    /// # Panics
    /// With LZ4, when the message is above its limit of 2,113,929,216 B.
    pub fn encode(&mut self, message: &[u8], out: &mut Vec<u8>) {
        self.back_end.encode_part(message, true, out);
    }

    /// Codes `message` as [`Self::encode`] does, and tells only how many octets it became.
    pub fn coded_size(&mut self, message: &[u8]) -> usize {
        self.scratch.clear();
        self.back_end.encode_part(message, true, &mut self.scratch);
        self.scratch.len()
    }

    /// Appends `message`, coded so that each `fragment` octets of it can be sent and read before the rest is there. To `ends` goes
    /// where in `out` each fragment ends; the last is the message's end. What is appended decodes as one message.
    ///
    /// LZ4 has no such flush: its message is coded whole, and then cut into fragments of that many coded octets, which costs it
    /// nothing but the wait. A fragment of no octets is taken as one.
    pub fn encode_fragmented(&mut self, message: &[u8], fragment: Bytes, out: &mut Vec<u8>, ends: &mut Vec<usize>) {
        let length = usize::try_from(fragment.get()).unwrap_or(usize::MAX).max(1);
        if !self.back_end.flushes_parts() {
            let start = out.len();
            self.encode(message, out);
            cut(start, out.len(), fragment, ends);
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

    /// Forgets all messages: the next one is coded as if `history` had gone before, as a dictionary does. Where each message stands
    /// alone, only the next one is.
    ///
    /// For deflate at levels 4 to 9 the same bytes follow as if the history had been coded; below, zlib enters what it skips over
    /// in a match into its hash only where it is a dictionary's (`deflate_fast`), and they may differ.
    pub fn prime(&mut self, history: &[u8]) {
        self.back_end.prime(history);
    }

    /// Goes on as if `sent`, messages one behind the other, had been coded now, of which nobody wants to know what they became. What
    /// follows is the same for deflate at levels 4 to 9, as with [`Self::prime`], and had with less work.
    pub(crate) fn follow(&mut self, sent: &[u8]) {
        if !sent.is_empty() && !self.back_end.follow(sent) {
            self.coded_size(sent);
        }
    }

    /// Forgets all messages: the next one is coded as the first was.
    pub fn reset(&mut self) {
        self.back_end.reset();
    }

    /// What its allocator handed out and has not got back.
    pub fn memory(&self) -> Bytes {
        Bytes::from(self.back_end.memory())
    }
}

/// Identity.
struct Copy;

impl Compress for Copy {
    fn encode_part(&mut self, part: &[u8], _: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(part);
    }

    fn prime(&mut self, _: &[u8]) {}

    fn reset(&mut self) {}

    fn memory(&self) -> usize {
        0
    }
}
