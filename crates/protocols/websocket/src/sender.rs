//! Writes one direction of a connection: messages and control frames in, bytes out.

use super::frame::{FrameHeader, MaskKey, Opcode};
use super::negotiation::CompressorParameters;
use lastmile_codec::message::Kind;
use lastmile_codec::message::{CodecError, Deflate, DeflateLibrary, MessageEncoder};
use lastmile_units::{ByteCount, Rng, Seed};
use rand_core::Rng as _;

/// Options for sending one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendOptions {
    /// Whether it is compressed, if compression was negotiated (RSV1).
    pub is_compressed: bool,
    /// The size of a fragment before compression; none sends the message in one frame. Each frame is flushed, as if the rest of the message
    /// were not known yet.
    pub fragment: Option<ByteCount>,
}

impl Default for SendOptions {
    /// Compressed if possible, in one frame.
    fn default() -> Self {
        Self {
            is_compressed: true,
            fragment: None,
        }
    }
}

/// Writes one direction of a connection after its handshake.
pub struct Sender {
    masks: Option<Rng>,
    deflate: Option<MessageEncoder>,
    coded: Vec<u8>,
    ends: Vec<usize>,
}

impl Sender {
    /// A sender that masks its frames, as a client must, with keys from `masks` if given. It compresses by `library` with the settings
    /// `deflate`, within the negotiated `compressor`.
    ///
    /// RFC 6455 section 10.3 requires unpredictable keys. Ours follow from a seed, so that measurements can be repeated; where proxies on the
    /// path must be protected from cache poisoning, the seed must be secret.
    ///
    /// # Errors
    /// When the settings are out of range.
    pub fn new(
        masks: Option<Seed>,
        library: DeflateLibrary,
        deflate: &Deflate,
        compressor: Option<CompressorParameters>,
    ) -> Result<Self, CodecError> {
        let encoder = |agreed: CompressorParameters| {
            let settings = Deflate {
                takeover: deflate.takeover && agreed.takeover,
                window_bits: deflate.window_bits.min(agreed.window_bits),
                ..*deflate
            };
            MessageEncoder::new(&library.codec(settings), None)
        };
        Ok(Self {
            masks: masks.map(|seed| seed.derive("websocket masks").rng()),
            deflate: compressor.map(encoder).transpose()?,
            coded: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// Appends a message's frames to `out`.
    pub fn message(&mut self, kind: Kind, payload: &[u8], form: SendOptions, out: &mut Vec<u8>) {
        let mut coded = std::mem::take(&mut self.coded);
        let mut ends = std::mem::take(&mut self.ends);
        coded.clear();
        ends.clear();
        let deflate = self.deflate.as_mut().filter(|_| form.is_compressed);
        let is_compressed = deflate.is_some();
        match (deflate, form.fragment) {
            (Some(deflate), None) => deflate.encode(payload, &mut coded),
            (Some(deflate), Some(fragment)) => deflate.encode_fragmented(payload, fragment, &mut coded, &mut ends),
            (None, None) => {}
            (None, Some(fragment)) => {
                let step = usize::try_from(fragment.get()).unwrap_or(usize::MAX).max(1);
                ends.extend((0..payload.len()).step_by(step).skip(1));
                ends.push(payload.len());
            }
        }
        let bytes = if is_compressed { &coded[..] } else { payload };
        if ends.is_empty() {
            ends.push(bytes.len());
        }
        let mut start = 0;
        for (index, &end) in ends.iter().enumerate() {
            let opcode = match (index, kind) {
                (0, Kind::Text) => Opcode::Text,
                (0, Kind::Binary) => Opcode::Binary,
                _ => Opcode::Continuation,
            };
            let header = FrameHeader {
                is_final: index + 1 == ends.len(),
                rsv1: is_compressed && index == 0,
                ..FrameHeader::new(opcode, (end - start) as u64)
            };
            self.frame(header, &bytes[start..end], out);
            start = end;
        }
        (self.coded, self.ends) = (coded, ends);
    }

    /// Resets the compression context: the next message is compressed like a first one.
    pub fn reset_compressor(&mut self) {
        if let Some(deflate) = &mut self.deflate {
            deflate.prime(&[]);
        }
    }

    /// Appends a control frame to `out`. The caller ensures that its payload is no longer than 125 bytes.
    pub fn control(&mut self, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
        self.frame(FrameHeader::new(opcode, payload.len() as u64), payload, out);
    }

    /// Appends any frame to `out`, legal or not. The header is written as it is, except that it gets a mask if this side masks and it has none.
    pub fn frame(&mut self, mut header: FrameHeader, payload: &[u8], out: &mut Vec<u8>) {
        if let Some(masks) = &mut self.masks
            && header.mask.is_none()
        {
            header.mask = Some(MaskKey(masks.next_u32().to_le_bytes()));
        }
        header.write_with(payload, out);
    }

    /// Memory of this direction's compressor.
    pub fn memory(&self) -> ByteCount {
        self.deflate.as_ref().map_or(ByteCount::ZERO, MessageEncoder::memory)
    }
}
