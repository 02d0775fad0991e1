//! Reads one direction of a connection: bytes in, messages and control frames out, or the rule that was broken.
//!
//! Answers are left to `session`. A receiver also works for a passive listener: a capture has one per direction.

use super::close::{Close, CloseCode, CloseError};
use super::frame::{FrameError, FrameHeader, Opcode};
use super::negotiation::CompressorParameters;
use super::utf8::Utf8Check;
use lastmile_codec::message::Kind;
use lastmile_codec::message::{CodecError, DecodeError, Deflate, DeflateLibrary, MessageDecoder};
use lastmile_units::ByteCount;

/// A complete item of what a receiver read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A message.
    Message(ReceivedMessage),
    /// A ping with its payload.
    Ping(Vec<u8>),
    /// A pong with its payload.
    Pong(Vec<u8>),
    /// A close frame. Everything after it is ignored.
    Close(Close),
    /// A message that arrived but cannot be decoded: part of it, or of the messages it refers to, was not seen ([`Receiver::skip_unseen`]).
    Lost(Kind),
}

/// A message with its decoded payload, and how it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Text or binary.
    pub kind: Kind,
    /// The payload, decompressed; UTF-8 if it is text.
    pub payload: Vec<u8>,
    /// Whether it arrived compressed (RSV1).
    pub is_compressed: bool,
    /// Bytes of payload in its frames, before decompression.
    pub encoded_bytes: ByteCount,
    /// The number of its frames.
    pub frames: u64,
}

/// A rule that the other side broke, or a limit that it exceeded. The connection cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// An invalid header.
    #[error(transparent)]
    Header(#[from] FrameError),
    /// A reserved bit to which no negotiated extension gives a meaning here.
    #[error("RSV{bit} is set in a {opcode} frame, but no negotiated extension allows it (RFC 6455 section 5.2)")]
    ReservedBit {
        /// 1 to 3.
        bit: u8,
        /// The frame's kind.
        opcode: Opcode,
    },
    /// An opcode without a meaning.
    #[error("a frame has the {0} opcode (RFC 6455 section 5.2)")]
    Opcode(Opcode),
    /// A control frame that is not final.
    #[error("a {0} frame is fragmented; control frames must not be (RFC 6455 section 5.5)")]
    FragmentedControl(Opcode),
    /// A control frame with a long payload.
    #[error("a {opcode} frame has {length} bytes of payload; a control frame has at most 125 (RFC 6455 section 5.5)")]
    LongControl {
        /// The frame's kind.
        opcode: Opcode,
        /// Its length.
        length: u64,
    },
    /// A client's frame that is not masked.
    #[error("a client's {0} frame is not masked (RFC 6455 section 5.1)")]
    NotMasked(Opcode),
    /// A server's frame that is masked.
    #[error("a server's {0} frame is masked (RFC 6455 section 5.1)")]
    Masked(Opcode),
    /// A continuation frame outside a message.
    #[error("a continuation frame arrives outside a message (RFC 6455 section 5.4)")]
    NothingToContinue,
    /// A message inside another one.
    #[error("a {0} frame begins a message inside another one (RFC 6455 section 5.4)")]
    Interleaved(Opcode),
    /// Text that is not UTF-8.
    #[error("a text message is not UTF-8 (RFC 6455 section 8.1)")]
    NotUtf8,
    /// An invalid close frame.
    #[error(transparent)]
    Close(#[from] CloseError),
    /// A message above the receiver's limit.
    #[error("a message is larger than {0}, the message size limit")]
    TooLarge(ByteCount),
    /// A compressed message that cannot be decompressed.
    #[error("a compressed message cannot be decompressed (RFC 7692 section 7.2.2): {0}")]
    Compressed(DecodeError),
}

impl Violation {
    /// The close code for it (RFC 6455 section 7.4.1).
    pub const fn close_code(&self) -> CloseCode {
        match self {
            Self::NotUtf8 | Self::Close(CloseError::Reason) | Self::Compressed(_) => CloseCode::INVALID_DATA,
            Self::TooLarge(_) => CloseCode::TOO_LARGE,
            _ => CloseCode::PROTOCOL_ERROR,
        }
    }
}

/// Reads one direction of a connection after its handshake.
pub struct Receiver {
    /// Whether frames must be masked: the other side is a client.
    is_masked: bool,
    inflate: Option<MessageDecoder>,
    /// Whether compressed messages may refer to those before them.
    has_takeover: bool,
    limit: ByteCount,
    /// The bytes of an incomplete header.
    head: Vec<u8>,
    frame: Option<Frame>,
    /// The control frame's payload so far.
    control: Vec<u8>,
    message: Option<Partial>,
    /// Whether compressed messages may refer to bytes that were not seen.
    is_history_lost: bool,
    /// Whether part of the control frame that is being read was not seen.
    is_control_damaged: bool,
    is_over: bool,
    bytes_after_close: ByteCount,
}

/// The frame whose payload is being read.
#[derive(Clone, Copy)]
struct Frame {
    header: FrameHeader,
    /// How much of its payload has arrived.
    position: u64,
}

/// The message whose frames are being read.
struct Partial {
    kind: Kind,
    is_compressed: bool,
    payload: Vec<u8>,
    /// Bytes of its frames, seen or not.
    encoded_bytes: u64,
    frames: u64,
    utf8: Utf8Check,
    is_damaged: bool,
}

impl Receiver {
    /// A receiver for frames from a client (`is_masked`) or from a server, with the negotiated compression and messages of at most `limit`.
    ///
    /// # Errors
    /// When there is no memory for the decompressor.
    pub fn new(
        is_masked: bool,
        compressor: Option<CompressorParameters>,
        limit: ByteCount,
    ) -> Result<Self, CodecError> {
        Self::with_library(DeflateLibrary::default(), is_masked, compressor, limit)
    }

    /// The same, with a library other than stock zlib.
    ///
    /// # Errors
    /// As [`Receiver::new`].
    pub fn with_library(
        library: DeflateLibrary,
        is_masked: bool,
        compressor: Option<CompressorParameters>,
        limit: ByteCount,
    ) -> Result<Self, CodecError> {
        let decoder = |CompressorParameters { takeover, window_bits }| {
            let settings = Deflate {
                takeover,
                window_bits,
                ..Deflate::default()
            };
            MessageDecoder::new(&library.codec(settings), None)
        };
        Ok(Self {
            is_masked,
            inflate: compressor.map(decoder).transpose()?,
            has_takeover: compressor.is_some_and(|compressor| compressor.takeover),
            limit,
            head: Vec::new(),
            frame: None,
            control: Vec::new(),
            message: None,
            is_history_lost: false,
            is_control_damaged: false,
            is_over: false,
            bytes_after_close: ByteCount::ZERO,
        })
    }

    /// Reads the next bytes, and gives `sink` every item that they complete.
    ///
    /// # Errors
    /// When a rule was broken; `sink` has received everything before that. Later bytes are ignored, as they are after a close frame.
    pub fn receive(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(Received)) -> Result<(), Violation> {
        while !self.is_over && !bytes.is_empty() {
            let step = match self.frame {
                None => self.header(&mut bytes, sink),
                Some(frame) => self.payload(frame, &mut bytes, sink),
            };
            if let Err(violation) = step {
                self.is_over = true;
                self.bytes_after_close += ByteCount::from(bytes.len());
                return Err(violation);
            }
        }
        self.bytes_after_close += ByteCount::from(bytes.len());
        Ok(())
    }

    /// Skips `count` bytes that were not seen. Returns whether the receiver can go on: it can if they lie within one frame's payload.
    ///
    /// The message that the frame belongs to is reported as [`Received::Lost`]. If it is compressed with context takeover, so are all
    /// compressed messages after it.
    ///
    /// # Errors
    /// As [`Receiver::receive`], if the frame ends with the skipped bytes.
    pub fn skip_unseen(&mut self, count: u64, sink: &mut dyn FnMut(Received)) -> Result<bool, Violation> {
        let Some(Frame {
            header,
            position: offset,
        }) = self.frame.filter(|_| !self.is_over)
        else {
            self.is_over = true;
            return Ok(false);
        };
        if count > header.length - offset {
            self.is_over = true;
            return Ok(false);
        }
        match &mut self.message {
            Some(message) if !header.opcode.is_control() => message.is_damaged = true,
            _ => self.is_control_damaged = true,
        }
        let offset = offset + count;
        self.frame = Some(Frame {
            header,
            position: offset,
        });
        if offset == header.length {
            self.end(header, sink).inspect_err(|_| self.is_over = true)?;
        }
        Ok(true)
    }

    /// Memory of this direction's decompressor.
    pub fn memory(&self) -> ByteCount {
        self.inflate.as_ref().map_or(ByteCount::ZERO, MessageDecoder::memory)
    }

    /// Bytes that arrived after the end.
    pub fn bytes_after_close(&self) -> ByteCount {
        self.bytes_after_close
    }

    /// Whether the receiver is done: a rule was broken, a close frame arrived, or a gap could not be skipped.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    fn header(&mut self, bytes: &mut &[u8], sink: &mut dyn FnMut(Received)) -> Result<(), Violation> {
        let before = self.head.len();
        let room = FrameHeader::LENGTH_MAX - before;
        self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        // Errors in the first two bytes are reported before the rest of the header arrives.
        if let [first, second, ..] = self.head[..] {
            self.check_kind(first, second)?;
        }
        let Some((header, taken)) = FrameHeader::read(&self.head)? else {
            *bytes = &[];
            return Ok(());
        };
        *bytes = &bytes[taken - before..];
        self.head.clear();
        self.begin(header)?;
        self.frame = Some(Frame { header, position: 0 });
        if header.length == 0 {
            self.end(header, sink)?;
        }
        Ok(())
    }

    /// Checks the rules that concern a header's first two bytes.
    fn check_kind(&self, first: u8, second: u8) -> Result<(), Violation> {
        let opcode = Opcode::from_bits(first);
        let begins = matches!(opcode, Opcode::Text | Opcode::Binary);
        let allowed = if begins && self.inflate.is_some() { 0x40 } else { 0 };
        for (bit, mask) in [(1, 0x40), (2, 0x20), (3, 0x10)] {
            if first & mask & !allowed != 0 {
                return Err(Violation::ReservedBit { bit, opcode });
            }
        }
        if matches!(opcode, Opcode::Reserved(_)) {
            return Err(Violation::Opcode(opcode));
        }
        if opcode.is_control() && first & 0x80 == 0 {
            return Err(Violation::FragmentedControl(opcode));
        }
        match (self.is_masked, second & 0x80 != 0) {
            (true, false) => Err(Violation::NotMasked(opcode)),
            (false, true) => Err(Violation::Masked(opcode)),
            _ => Ok(()),
        }
    }

    /// Checks the rules that concern a frame before its payload.
    fn begin(&mut self, header: FrameHeader) -> Result<(), Violation> {
        let opcode = header.opcode;
        match (opcode, &mut self.message) {
            (Opcode::Continuation, None) => return Err(Violation::NothingToContinue),
            (Opcode::Text | Opcode::Binary, Some(_)) => return Err(Violation::Interleaved(opcode)),
            (Opcode::Continuation, Some(message)) => message.frames += 1,
            (Opcode::Text | Opcode::Binary, None) => {
                self.message = Some(Partial {
                    kind: if opcode == Opcode::Text {
                        Kind::Text
                    } else {
                        Kind::Binary
                    },
                    is_compressed: header.rsv1,
                    payload: Vec::new(),
                    encoded_bytes: 0,
                    frames: 1,
                    utf8: Utf8Check::default(),
                    is_damaged: false,
                });
            }
            _ => {
                return if header.length > 125 {
                    Err(Violation::LongControl {
                        opcode,
                        length: header.length,
                    })
                } else {
                    Ok(())
                };
            }
        }
        // A message that is too large is refused before its payload arrives.
        if let Some(message) = &mut self.message {
            let most = if message.is_compressed {
                compressed_max(self.limit)
            } else {
                self.limit.get()
            };
            message.encoded_bytes = message.encoded_bytes.saturating_add(header.length);
            if message.encoded_bytes > most {
                return Err(Violation::TooLarge(self.limit));
            }
        }
        Ok(())
    }

    fn payload(&mut self, frame: Frame, bytes: &mut &[u8], sink: &mut dyn FnMut(Received)) -> Result<(), Violation> {
        let Frame {
            header,
            position: offset,
        } = frame;
        let left = usize::try_from(header.length - offset).unwrap_or(usize::MAX);
        let (here, rest) = bytes.split_at(left.min(bytes.len()));
        *bytes = rest;
        let into = match &mut self.message {
            Some(message) if !header.opcode.is_control() => &mut message.payload,
            _ => &mut self.control,
        };
        let start = into.len();
        into.extend_from_slice(here);
        if let Some(mask) = header.mask {
            mask.apply(&mut into[start..], offset);
        }
        if let Some(message) = &mut self.message
            && !header.opcode.is_control()
            && message.kind == Kind::Text
            && !message.is_compressed
            && !message.is_damaged
            && !message.utf8.push(&message.payload[start..])
        {
            return Err(Violation::NotUtf8);
        }
        let offset = offset + here.len() as u64;
        self.frame = Some(Frame {
            header,
            position: offset,
        });
        if offset == header.length {
            self.end(header, sink)?;
        }
        Ok(())
    }

    /// Ends a complete frame.
    fn end(&mut self, header: FrameHeader, sink: &mut dyn FnMut(Received)) -> Result<(), Violation> {
        self.frame = None;
        if header.opcode.is_control() {
            let payload = std::mem::take(&mut self.control);
            if std::mem::take(&mut self.is_control_damaged) {
                self.is_over |= header.opcode == Opcode::Close;
                return Ok(());
            }
            sink(match header.opcode {
                Opcode::Ping => Received::Ping(payload),
                Opcode::Pong => Received::Pong(payload),
                _ => {
                    self.is_over = true;
                    Received::Close(Close::read(&payload)?)
                }
            });
        } else if header.is_final
            && let Some(message) = self.message.take()
        {
            let is_lost = message.is_damaged || (message.is_compressed && self.is_history_lost);
            if is_lost {
                self.is_history_lost |= message.is_compressed && self.has_takeover;
                sink(Received::Lost(message.kind));
            } else {
                let message = self.decode_message(message)?;
                sink(Received::Message(message));
            }
        }
        Ok(())
    }

    fn decode_message(&mut self, message: Partial) -> Result<ReceivedMessage, Violation> {
        let mut payload = message.payload;
        let mut is_utf8 = message.utf8.is_complete();
        if message.is_compressed
            && let Some(inflate) = &mut self.inflate
        {
            let mut decoded = Vec::new();
            inflate
                .decode(&payload, self.limit, &mut decoded)
                .map_err(|error| match error {
                    DecodeError::TooLarge { limit, .. } => Violation::TooLarge(limit),
                    error => Violation::Compressed(error),
                })?;
            payload = decoded;
            is_utf8 = message.kind == Kind::Binary || std::str::from_utf8(&payload).is_ok();
        }
        if !is_utf8 {
            return Err(Violation::NotUtf8);
        }
        Ok(ReceivedMessage {
            kind: message.kind,
            payload,
            is_compressed: message.is_compressed,
            encoded_bytes: ByteCount::new(message.encoded_bytes),
            frames: message.frames,
        })
    }
}

/// The most bytes that a compressed message may have in its frames: a little more than `limit`, since incompressible data grows (5 bytes
/// per stored block, RFC 1951 section 3.2.4) and each flush adds 5 more. Our own choice.
fn compressed_max(limit: ByteCount) -> u64 {
    let limit = limit.get();
    limit.saturating_add(limit / 16).saturating_add(1024)
}

#[cfg(test)]
mod tests;
