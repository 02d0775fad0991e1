//! How are messages put on the wire? Messages and control frames in, one direction's octets out.

use super::frame::{FrameHeader, MaskKey, Opcode};
use super::negotiation::Compressor;
use crate::message_codec::{CodecError, Deflate, DeflateLibrary, MessageEncoder};
use crate::transcript::Kind;
use lastmile_units::{Bytes, Rng, Seed};
use rand_core::Rng as _;

/// How one message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Whether it is compressed, where that was agreed on (RSV1).
    pub is_compressed: bool,
    /// How much of it goes in a frame, before it is compressed; none sends it in one. Each frame is flushed, as if the rest of the message
    /// were not there yet.
    pub fragment: Option<Bytes>,
}

impl Default for Form {
    /// Compressed where it can be, in one frame.
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
    /// A sender that masks its frames, as a client's must, with keys from `masks` if given; that compresses by `library` with the settings
    /// `deflate` as far as `compressor`, which was agreed on, allows.
    ///
    /// RFC 6455 section 10.3 wants keys that nobody can foresee. Ours follow a seed, so that what is measured can be repeated; where a
    /// proxy between must be kept from being fooled, the seed must be secret.
    ///
    /// # Errors
    /// When the settings are out of range.
    pub fn new(
        masks: Option<Seed>,
        library: DeflateLibrary,
        deflate: &Deflate,
        compressor: Option<Compressor>,
    ) -> Result<Self, CodecError> {
        let encoder = |agreed: Compressor| {
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
    pub fn message(&mut self, kind: Kind, payload: &[u8], form: Form, out: &mut Vec<u8>) {
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
        let octets = if is_compressed { &coded[..] } else { payload };
        if ends.is_empty() {
            ends.push(octets.len());
        }
        let mut start = 0;
        for (place, &end) in ends.iter().enumerate() {
            let opcode = match (place, kind) {
                (0, Kind::Text) => Opcode::Text,
                (0, Kind::Binary) => Opcode::Binary,
                _ => Opcode::Continuation,
            };
            let header = FrameHeader {
                is_final: place + 1 == ends.len(),
                rsv1: is_compressed && place == 0,
                ..FrameHeader::new(opcode, (end - start) as u64)
            };
            self.frame(header, &octets[start..end], out);
            start = end;
        }
        (self.coded, self.ends) = (coded, ends);
    }

    /// Forgets all messages: the next one is compressed as a first one is.
    pub fn forget(&mut self) {
        if let Some(deflate) = &mut self.deflate {
            deflate.prime(&[]);
        }
    }

    /// Appends a control frame to `out`. That its payload is no longer than 125 octets is for the caller to see to.
    pub fn control(&mut self, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
        self.frame(FrameHeader::new(opcode, payload.len() as u64), payload, out);
    }

    /// Appends any frame to `out`, legal or not: the header as it is, save that it gets a mask where this side masks and the header has none.
    pub fn frame(&mut self, mut header: FrameHeader, payload: &[u8], out: &mut Vec<u8>) {
        if let Some(masks) = &mut self.masks
            && header.mask.is_none()
        {
            header.mask = Some(MaskKey(masks.next_u32().to_le_bytes()));
        }
        header.write_with(payload, out);
    }

    /// What this direction's compressor holds.
    pub fn memory(&self) -> Bytes {
        self.deflate.as_ref().map_or(Bytes::ZERO, MessageEncoder::memory)
    }
}
