//! Frames on the wire: headers, masks and lengths (RFC 6455 section 5.2).
//!
//! Headers are parsed strictly and written freely: illegal ones can be written too, so that a probe can test the other side's reaction.
//! The rules for sequences of frames are in `receiver`.

use std::fmt;

/// The kind of a frame (RFC 6455 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Opcode {
    /// More of the message that an earlier frame began.
    Continuation,
    /// Begins a message of UTF-8 text.
    Text,
    /// Begins a message of any bytes.
    Binary,
    /// Begins, or answers, the closing handshake.
    Close,
    /// Asks for a pong with the same payload.
    Ping,
    /// Answers a ping, or is an unsolicited heartbeat.
    Pong,
    /// Reserved by RFC 6455: 3 to 7, and 11 to 15. Only the low four bits count.
    Reserved(u8),
}

impl Opcode {
    /// The opcode in the low four bits; the others are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0x0f {
            0x0 => Self::Continuation,
            0x1 => Self::Text,
            0x2 => Self::Binary,
            0x8 => Self::Close,
            0x9 => Self::Ping,
            0xa => Self::Pong,
            other => Self::Reserved(other),
        }
    }

    /// Its four bits.
    pub const fn bits(self) -> u8 {
        match self {
            Self::Continuation => 0x0,
            Self::Text => 0x1,
            Self::Binary => 0x2,
            Self::Close => 0x8,
            Self::Ping => 0x9,
            Self::Pong => 0xa,
            Self::Reserved(bits) => bits & 0x0f,
        }
    }

    /// Whether it marks a control frame: the highest of the four bits is set, known or reserved (RFC 6455 section 5.5).
    pub const fn is_control(self) -> bool {
        self.bits() & 0x8 != 0
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continuation => f.write_str("continuation"),
            Self::Text => f.write_str("text"),
            Self::Binary => f.write_str("binary"),
            Self::Close => f.write_str("close"),
            Self::Ping => f.write_str("ping"),
            Self::Pong => f.write_str("pong"),
            Self::Reserved(bits) => write!(f, "reserved {bits:#x}"),
        }
    }
}

/// The four bytes that a client's payload is XORed with (RFC 6455 section 5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaskKey(pub [u8; 4]);

impl MaskKey {
    /// Masks or unmasks `bytes`, which is the same operation; `offset` is the index of their first byte in the payload.
    pub fn apply(self, bytes: &mut [u8], offset: u64) {
        let mut key = self.0;
        key.rotate_left((offset % 4) as usize);
        let word = u64::from_ne_bytes([key[0], key[1], key[2], key[3], key[0], key[1], key[2], key[3]]);
        let mut words = bytes.chunks_exact_mut(8);
        for eight in &mut words {
            let mut masked = [0; 8];
            masked.copy_from_slice(eight);
            eight.copy_from_slice(&(u64::from_ne_bytes(masked) ^ word).to_ne_bytes());
        }
        for (byte, key) in words.into_remainder().iter_mut().zip(key.iter().cycle()) {
            *byte ^= key;
        }
    }
}

/// How a frame's length is written (RFC 6455 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthForm {
    /// In the shortest form, as the RFC requires.
    Minimal,
    /// In 16 bits, whatever the length is; higher bits are lost.
    Bits16,
    /// In 64 bits, whatever the length is.
    Bits64,
}

/// The header before a frame's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameHeader {
    /// FIN: whether the message ends with this frame.
    pub is_final: bool,
    /// RSV1: with permessage-deflate, whether the message that begins here is compressed (RFC 7692 section 6).
    pub rsv1: bool,
    /// RSV2: no extension known here uses it.
    pub rsv2: bool,
    /// RSV3: likewise.
    pub rsv3: bool,
    /// The kind of frame.
    pub opcode: Opcode,
    /// The mask key, if the payload is masked.
    pub mask: Option<MaskKey>,
    /// Bytes of payload that follow.
    pub length: u64,
}

/// Why a header is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A length of 64 bits with its highest bit set.
    #[error("a frame's length of 64 bits is {0:#x}, whose highest bit must be 0 (RFC 6455 section 5.2)")]
    LengthTooLarge(u64),
    /// A length that is not in its shortest form.
    #[error(
        "a frame's length of {length} is written in {bits} bits; the shortest form must be used (RFC 6455 section 5.2)"
    )]
    LengthNotMinimal {
        /// The length.
        length: u64,
        /// The bits it was written in, without the first 7.
        bits: u8,
    },
}

impl FrameHeader {
    /// The longest header: 2 bytes, 8 of length and 4 of mask.
    pub const LENGTH_MAX: usize = 14;

    /// The header of a final frame without mask or reserved bits.
    pub const fn new(opcode: Opcode, length: u64) -> Self {
        Self {
            is_final: true,
            rsv1: false,
            rsv2: false,
            rsv3: false,
            opcode,
            mask: None,
            length,
        }
    }

    /// Parses the header at the start of `bytes`, and returns it with its length; none while it is incomplete.
    ///
    /// # Errors
    /// When the length is not written as RFC 6455 section 5.2 requires. Rules that depend on earlier frames are not checked.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, FrameError> {
        let [first, second, rest @ ..] = bytes else {
            return Ok(None);
        };
        let (length, taken) = match second & 0x7f {
            126 => match rest.first_chunk::<2>() {
                Some(wide) => (u64::from(u16::from_be_bytes(*wide)), 2),
                None => return Ok(None),
            },
            127 => match rest.first_chunk::<8>() {
                Some(wide) => (u64::from_be_bytes(*wide), 8),
                None => return Ok(None),
            },
            short => (u64::from(short), 0),
        };
        let bits = 8 * taken as u8;
        if length >> 63 != 0 {
            return Err(FrameError::LengthTooLarge(length));
        }
        if (taken == 2 && length < 126) || (taken == 8 && length <= u64::from(u16::MAX)) {
            return Err(FrameError::LengthNotMinimal { length, bits });
        }
        let (mask, taken) = if second & 0x80 == 0 {
            (None, taken)
        } else if let Some(key) = rest[taken..].first_chunk::<4>() {
            (Some(MaskKey(*key)), taken + 4)
        } else {
            return Ok(None);
        };
        let header = Self {
            is_final: first & 0x80 != 0,
            rsv1: first & 0x40 != 0,
            rsv2: first & 0x20 != 0,
            rsv3: first & 0x10 != 0,
            opcode: Opcode::from_bits(*first),
            mask,
            length,
        };
        Ok(Some((header, 2 + taken)))
    }

    /// Appends the header to `out`, with its fields as they are, legal or not.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_as(LengthForm::Minimal, out);
    }

    /// Appends the header to `out`, its length in the form given.
    pub fn write_as(&self, form: LengthForm, out: &mut Vec<u8>) {
        let bit = |is_set: bool, mask: u8| if is_set { mask } else { 0 };
        out.push(
            bit(self.is_final, 0x80)
                | bit(self.rsv1, 0x40)
                | bit(self.rsv2, 0x20)
                | bit(self.rsv3, 0x10)
                | self.opcode.bits(),
        );
        let masked = bit(self.mask.is_some(), 0x80);
        match (form, self.length) {
            (LengthForm::Minimal, length @ 0..=125) => out.push(masked | length as u8),
            (LengthForm::Bits16, length) | (LengthForm::Minimal, length @ 126..=0xffff) => {
                out.push(masked | 126);
                out.extend((length as u16).to_be_bytes());
            }
            (LengthForm::Bits64 | LengthForm::Minimal, length) => {
                out.push(masked | 127);
                out.extend(length.to_be_bytes());
            }
        }
        if let Some(MaskKey(key)) = self.mask {
            out.extend(key);
        }
    }

    /// Appends a whole frame: this header as it is, then `payload`, masked if the header has a mask. The header's length is not compared with
    /// the payload's.
    pub fn write_with(&self, payload: &[u8], out: &mut Vec<u8>) {
        self.write(out);
        let start = out.len();
        out.extend_from_slice(payload);
        if let Some(mask) = self.mask {
            mask.apply(&mut out[start..], 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> FrameHeader {
        let (header, taken) = FrameHeader::read(bytes).unwrap().unwrap();
        assert_eq!(taken, bytes.len());
        header
    }

    /// RFC 6455 section 5.7.
    #[test]
    fn the_headers_of_the_rfcs_examples_are_read_and_written() {
        let plain = FrameHeader::new(Opcode::Text, 5);
        let masked = FrameHeader {
            mask: Some(MaskKey([0x37, 0xfa, 0x21, 0x3d])),
            ..plain
        };
        let examples: [(&[u8], FrameHeader); 7] = [
            (&[0x81, 0x05], plain),
            (&[0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d], masked),
            (
                &[0x01, 0x03],
                FrameHeader {
                    is_final: false,
                    length: 3,
                    ..plain
                },
            ),
            (&[0x80, 0x02], FrameHeader::new(Opcode::Continuation, 2)),
            (&[0x89, 0x05], FrameHeader::new(Opcode::Ping, 5)),
            (&[0x82, 0x7e, 0x01, 0x00], FrameHeader::new(Opcode::Binary, 256)),
            (
                &[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0],
                FrameHeader::new(Opcode::Binary, 65_536),
            ),
        ];
        for (bytes, header) in examples {
            assert_eq!(read(bytes), header);
            let mut written = Vec::new();
            header.write(&mut written);
            assert_eq!(written, bytes);
        }
    }

    #[test]
    fn the_masked_hello_of_the_rfc_is_hello() {
        let mut bytes = [0x7f, 0x9f, 0x4d, 0x51, 0x58];
        MaskKey([0x37, 0xfa, 0x21, 0x3d]).apply(&mut bytes, 0);
        assert_eq!(&bytes, b"Hello");
    }

    #[test]
    fn a_length_written_too_long_or_too_large_is_an_error() {
        let error = |bytes: &[u8]| FrameHeader::read(bytes).unwrap_err();
        assert_eq!(
            error(&[0x81, 126, 0, 125]),
            FrameError::LengthNotMinimal { length: 125, bits: 16 }
        );
        assert_eq!(
            error(&[0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff]),
            FrameError::LengthNotMinimal {
                length: 65_535,
                bits: 64
            }
        );
        assert_eq!(
            error(&[0x81, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]),
            FrameError::LengthTooLarge(1 << 63)
        );
    }

    #[test]
    fn a_form_that_is_too_long_can_be_written() {
        let mut bytes = Vec::new();
        FrameHeader::new(Opcode::Text, 5).write_as(LengthForm::Bits16, &mut bytes);
        FrameHeader::new(Opcode::Text, 5).write_as(LengthForm::Bits64, &mut bytes);
        assert_eq!(bytes, [0x81, 126, 0, 5, 0x81, 127, 0, 0, 0, 0, 0, 0, 0, 5]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_no_prefix_of_it_is(
            bits in any::<[bool; 4]>(),
            opcode in 0_u8..16,
            mask in proptest::option::of(any::<[u8; 4]>()),
            length in prop_oneof![0_u64..200, 65_000_u64..66_000, 0..=u64::MAX >> 1],
        ) {
            let header = FrameHeader {
                is_final: bits[0],
                rsv1: bits[1],
                rsv2: bits[2],
                rsv3: bits[3],
                opcode: Opcode::from_bits(opcode),
                mask: mask.map(MaskKey),
                length,
            };
            let mut bytes = Vec::new();
            header.write(&mut bytes);
            prop_assert!(bytes.len() <= FrameHeader::LENGTH_MAX);
            prop_assert_eq!(FrameHeader::read(&bytes), Ok(Some((header, bytes.len()))));
            for cut in 0..bytes.len() {
                prop_assert_eq!(FrameHeader::read(&bytes[..cut]), Ok(None));
            }
        }

        #[test]
        fn a_mask_is_the_same_however_the_payload_is_cut(
            key in any::<[u8; 4]>(),
            payload in proptest::collection::vec(any::<u8>(), 0..64),
            cut in 0_usize..64,
        ) {
            let cut = cut.min(payload.len());
            let mut cut_up = payload.clone();
            let (head, tail) = cut_up.split_at_mut(cut);
            MaskKey(key).apply(head, 0);
            MaskKey(key).apply(tail, cut as u64);
            let by_octet: Vec<u8> = payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
            prop_assert_eq!(cut_up, by_octet);
        }
    }
}
