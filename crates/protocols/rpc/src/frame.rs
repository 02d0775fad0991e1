//! Frames: a length before each message, and compression that any protocol can use.
//!
//! A frame is a length as LEB128, whose lowest bit says whether the content is compressed, and the content. By itself it is the smallest
//! protocol there is: calls of any encoding, one after the other. Around the messages of another protocol it compresses its connection as
//! a stream, when the codec has context takeover, or each message for itself, when not.

use crate::receive_buffer::ReceiveBuffer;
use lastmile_codec::message::{CodecError, DecodeError, Dictionary, MessageCodec, MessageDecoder, MessageEncoder};
use lastmile_units::ByteCount;

/// How the contents of a connection's frames are compressed.
#[derive(Debug, Clone)]
pub struct FrameCompression {
    /// The codec. With context takeover a message may refer to those before it, so each is compressed.
    pub codec: MessageCodec,
    /// Whether a message that would become longer is sent as it is; with context takeover each is compressed nevertheless.
    pub if_smaller: bool,
    /// What both ends know before the first message.
    pub dictionary: Option<Dictionary>,
}

impl FrameCompression {
    /// No compression.
    pub const NONE: Self = Self {
        codec: MessageCodec::Identity,
        if_smaller: false,
        dictionary: None,
    };
}

/// Writes the frames of one direction of a connection.
pub struct FrameWriter {
    encoder: Option<MessageEncoder>,
    may_fall_back: bool,
    coded: Vec<u8>,
}

impl FrameWriter {
    /// A writer before the first frame.
    ///
    /// # Errors
    /// Where the codec has a setting out of its range.
    pub fn new(compression: &FrameCompression) -> Result<Self, CodecError> {
        let codec = &compression.codec;
        let encoder = match codec {
            MessageCodec::Identity => None,
            codec => Some(MessageEncoder::new(codec, compression.dictionary.as_ref())?),
        };
        Ok(Self {
            encoder,
            may_fall_back: compression.if_smaller && !codec.takeover(),
            coded: Vec::new(),
        })
    }

    /// Appends the frame of `content` to `out`.
    pub fn write(&mut self, content: &[u8], out: &mut Vec<u8>) {
        self.coded.clear();
        if let Some(encoder) = &mut self.encoder {
            encoder.encode(content, &mut self.coded);
            if !self.may_fall_back || self.coded.len() < content.len() {
                write_length((self.coded.len() as u64) << 1 | 1, out);
                out.extend(&self.coded);
                return;
            }
        }
        write_length((content.len() as u64) << 1, out);
        out.extend(content);
    }

    /// The memory of the compressor.
    pub fn memory(&self) -> ByteCount {
        self.encoder.as_ref().map_or(ByteCount::ZERO, MessageEncoder::memory)
    }
}

/// Appends a number as LEB128.
pub fn write_length(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a number of at most 5 bytes of LEB128 from the start of `bytes`, and returns it with its own length; none where it is not complete.
///
/// # Errors
/// Where it is longer.
pub fn read_length(bytes: &[u8]) -> Result<Option<(u64, usize)>, FrameError> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(LENGTH_MAX) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok(Some((value, index + 1)));
        }
    }
    if bytes.len() < LENGTH_MAX {
        Ok(None)
    } else {
        Err(FrameError::Length)
    }
}

/// The longest length of a frame: 35 bits.
const LENGTH_MAX: usize = 5;

/// Why bytes are no frame. The connection that they came over cannot be used any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The length has too many bytes.
    #[error("the length of a frame has more than {LENGTH_MAX} bytes")]
    Length,
    /// The frame, or what it decompresses to, is above the limit.
    #[error("a frame of {length} exceeds the limit of {limit}; raise the limit if that is intended")]
    TooLarge {
        /// Its length, as declared.
        length: ByteCount,
        /// The limit.
        limit: ByteCount,
    },
    /// A frame is compressed, though no codec was agreed.
    #[error("a frame is compressed, but this connection has no codec")]
    Compressed,
    /// Its content cannot be decompressed.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// Reads the frames of one direction of a connection, whoever sent them. After an error it has none any more.
pub struct FrameReader {
    decoder: Option<MessageDecoder>,
    limit: ByteCount,
    received: ReceiveBuffer,
}

impl FrameReader {
    /// A reader of frames of at most `limit`, before and after decompression.
    ///
    /// # Errors
    /// Where the codec has a setting out of its range.
    pub fn new(compression: &FrameCompression, limit: ByteCount) -> Result<Self, CodecError> {
        let decoder = match &compression.codec {
            MessageCodec::Identity => None,
            codec => Some(MessageDecoder::new(codec, compression.dictionary.as_ref())?),
        };
        Ok(Self {
            decoder,
            limit,
            received: ReceiveBuffer::default(),
        })
    }

    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.received.push(bytes);
    }

    /// The content of the next frame, if it is complete.
    ///
    /// # Errors
    /// Where the bytes are no frame.
    pub fn next_frame(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let rest = self.received.unread();
        let Some((length, head)) = read_length(rest)? else {
            return Ok(None);
        };
        let (is_compressed, length) = (length & 1 == 1, length >> 1);
        if ByteCount::new(length) > self.limit {
            return Err(FrameError::TooLarge {
                length: ByteCount::new(length),
                limit: self.limit,
            });
        }
        let end = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(head);
        let Some(content) = rest.get(head..end) else {
            return Ok(None);
        };
        let content = match (&mut self.decoder, is_compressed) {
            (_, false) => content.to_vec(),
            (None, true) => return Err(FrameError::Compressed),
            (Some(decoder), true) => {
                let mut out = Vec::new();
                decoder.decode(content, self.limit, &mut out)?;
                out
            }
        };
        self.received.skip(end);
        Ok(Some(content))
    }

    /// Whether part of a frame has arrived.
    pub fn has_rest(&self) -> bool {
        !self.received.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compression(codec: &str, if_smaller: bool) -> FrameCompression {
        FrameCompression {
            codec: codec.parse().unwrap(),
            if_smaller,
            dictionary: None,
        }
    }

    fn contents() -> Vec<Vec<u8>> {
        vec![
            Vec::new(),
            vec![7; 5000],
            b"a short one".to_vec(),
            b"a short one".to_vec(),
        ]
    }

    #[test]
    fn contents_return_as_they_were_with_every_kind_of_compression_however_they_arrive() {
        for (codec, if_smaller) in [
            ("identity", false),
            ("deflate:6/w15/m8", false),
            ("zstd:3/w17", false),
            ("deflate:6/w15/m8/no-takeover", true),
        ] {
            let compression = compression(codec, if_smaller);
            let mut writer = FrameWriter::new(&compression).unwrap();
            let mut bytes = Vec::new();
            contents().iter().for_each(|content| writer.write(content, &mut bytes));
            for piece in [1, bytes.len()] {
                let mut reader = FrameReader::new(&compression, ByteCount::new(10_000)).unwrap();
                let mut read = Vec::new();
                for bytes in bytes.chunks(piece) {
                    reader.push(bytes);
                    while let Some(content) = reader.next_frame().unwrap() {
                        read.push(content);
                    }
                }
                assert_eq!(read, contents(), "{codec}");
                assert!(!reader.has_rest());
            }
        }
    }

    #[test]
    fn a_message_that_would_become_longer_is_sent_as_it_is_where_that_is_asked_for() {
        let length = |if_smaller| {
            let mut out = Vec::new();
            let compression = compression("deflate:6/w15/m8/no-takeover", if_smaller);
            FrameWriter::new(&compression).unwrap().write(b"xyz", &mut out);
            out.len()
        };
        assert_eq!(length(true), 4);
        assert!(length(false) > 4);
    }

    #[test]
    fn hostile_frames_are_refused_before_memory_is_taken() {
        let plain = compression("identity", false);
        let refusal = |compression: &FrameCompression, bytes: &[u8]| {
            let mut reader = FrameReader::new(compression, ByteCount::new(1000)).unwrap();
            reader.push(bytes);
            reader.next_frame().unwrap_err()
        };
        assert_eq!(refusal(&plain, &[0xff; 6]), FrameError::Length);
        assert!(matches!(
            refusal(&plain, &[0xff, 0xff, 0xff, 0x7f]),
            FrameError::TooLarge { .. }
        ));
        assert_eq!(refusal(&plain, &[3, 0]), FrameError::Compressed);
        let deflate = compression("deflate:6/w15/m8", false);
        let mut bomb = Vec::new();
        FrameWriter::new(&deflate).unwrap().write(&[0; 100_000], &mut bomb);
        assert!(matches!(
            refusal(&deflate, &bomb),
            FrameError::Decode(DecodeError::TooLarge { .. })
        ));
    }
}
