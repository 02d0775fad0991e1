//! What did the other side say? Octets of one direction in, messages and control frames out, or the rule that was broken.
//!
//! What to answer is `session`'s question. A receiver serves who only listens too: a capture has one for each direction.

use super::close::{Close, CloseCode, CloseError};
use super::frame::{FrameError, FrameHeader, Opcode};
use super::negotiation::Compressor;
use super::utf8::Utf8Check;
use crate::message_codec::{CodecError, DecodeError, Deflate, DeflateLibrary, MessageDecoder};
use crate::transcript::Kind;
use lastmile_units::Bytes;

/// What a receiver came upon, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A message.
    Message(ReceivedMessage),
    /// A ping with its payload.
    Ping(Vec<u8>),
    /// A pong with its payload.
    Pong(Vec<u8>),
    /// A close frame. What comes after it is passed over.
    Close(Close),
    /// A message that came and cannot be told: of it, or of what it refers to, something was not seen ([`Receiver::miss`]).
    Lost(Kind),
}

/// A message, as it was meant and as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Text or binary.
    pub kind: Kind,
    /// What it says; UTF-8 where it is text.
    pub payload: Vec<u8>,
    /// Whether it came compressed (RSV1).
    pub is_compressed: bool,
    /// Octets of payload in its frames: fewer than it says where it came compressed.
    pub coded_bytes: Bytes,
    /// The frames it came in.
    pub frames: u64,
}

/// A rule that the other side broke, or a limit that it passed. The connection cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A header that cannot be one.
    #[error(transparent)]
    Header(#[from] FrameError),
    /// A reserved bit that nothing negotiated gives a meaning here.
    #[error("RSV{bit} is set in a {opcode} frame, which nothing that was negotiated allows (RFC 6455 section 5.2)")]
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
    #[error("a {0} frame is fragmented; control frames never are (RFC 6455 section 5.5)")]
    FragmentedControl(Opcode),
    /// A control frame with a long payload.
    #[error(
        "a {opcode} frame has {length} octets of payload; no control frame has more than 125 (RFC 6455 section 5.5)"
    )]
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
    /// A continuation of nothing.
    #[error("a continuation frame comes where no message was begun (RFC 6455 section 5.4)")]
    NothingToContinue,
    /// A message within another.
    #[error("a {0} frame begins a message within another (RFC 6455 section 5.4)")]
    Interleaved(Opcode),
    /// Text that is not UTF-8.
    #[error("a text message is not UTF-8 (RFC 6455 section 8.1)")]
    NotUtf8,
    /// A close frame that breaks the rules of close frames.
    #[error(transparent)]
    Close(#[from] CloseError),
    /// A message above the receiver's limit.
    #[error("a message is larger than {0}, the most that is taken here")]
    TooLarge(Bytes),
    /// A compressed message that cannot be turned back.
    #[error("a compressed message cannot be decompressed (RFC 7692 section 7.2.2): {0}")]
    Compressed(DecodeError),
}

impl Violation {
    /// The code to close with (RFC 6455 section 7.4.1).
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
    takes_over: bool,
    limit: Bytes,
    /// The octets of a header that is not whole.
    head: Vec<u8>,
    frame: Option<Frame>,
    /// The control frame's payload so far.
    control: Vec<u8>,
    message: Option<Partial>,
    /// Whether compressed messages refer to what was not seen.
    is_history_lost: bool,
    /// Whether a part of the control frame that is being read was not seen.
    is_control_damaged: bool,
    is_over: bool,
    passed_over: Bytes,
}

/// The frame whose payload is being read.
#[derive(Clone, Copy)]
struct Frame {
    header: FrameHeader,
    /// How much of its payload has come.
    place: u64,
}

/// The message whose frames are being read.
struct Partial {
    kind: Kind,
    is_compressed: bool,
    payload: Vec<u8>,
    /// Octets of its frames, seen or not.
    coded: u64,
    frames: u64,
    utf8: Utf8Check,
    is_damaged: bool,
}

impl Receiver {
    /// A receiver of what a client sends (`is_masked`) or a server, compressed as agreed, of messages no longer than `limit`.
    ///
    /// # Errors
    /// When there is no memory for decompressing.
    pub fn new(is_masked: bool, compressor: Option<Compressor>, limit: Bytes) -> Result<Self, CodecError> {
        Self::by(DeflateLibrary::default(), is_masked, compressor, limit)
    }

    /// The same, by another library than stock zlib.
    ///
    /// # Errors
    /// As [`Receiver::new`].
    pub fn by(
        library: DeflateLibrary,
        is_masked: bool,
        compressor: Option<Compressor>,
        limit: Bytes,
    ) -> Result<Self, CodecError> {
        let decoder = |Compressor { takeover, window_bits }| {
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
            takes_over: compressor.is_some_and(|compressor| compressor.takeover),
            limit,
            head: Vec::new(),
            frame: None,
            control: Vec::new(),
            message: None,
            is_history_lost: false,
            is_control_damaged: false,
            is_over: false,
            passed_over: Bytes::ZERO,
        })
    }

    /// Takes what came next, and tells `sink` of all that is whole with it.
    ///
    /// # Errors
    /// When a rule was broken; what came before that has been told. Everything later is passed over, as it is after a close frame.
    pub fn receive(&mut self, mut octets: &[u8], sink: &mut dyn FnMut(Received)) -> Result<(), Violation> {
        while !self.is_over && !octets.is_empty() {
            let step = match self.frame {
                None => self.header(&mut octets, sink),
                Some(frame) => self.payload(frame, &mut octets, sink),
            };
            if let Err(violation) = step {
                self.is_over = true;
                self.passed_over += Bytes::from(octets.len());
                return Err(violation);
            }
        }
        self.passed_over += Bytes::from(octets.len());
        Ok(())
    }

    /// So many octets that came next were not seen. Whether the receiver can go on: it can where they lie within one frame's payload.
    ///
    /// The message that the frame belongs to is told as [`Received::Lost`], and so are, where it came compressed and with context
    /// takeover, all compressed messages after it.
    ///
    /// # Errors
    /// As [`Receiver::receive`], where the frame ends with what was not seen.
    pub fn miss(&mut self, count: u64, sink: &mut dyn FnMut(Received)) -> Result<bool, Violation> {
        let Some(Frame { header, place }) = self.frame.filter(|_| !self.is_over) else {
            self.is_over = true;
            return Ok(false);
        };
        if count > header.length - place {
            self.is_over = true;
            return Ok(false);
        }
        match &mut self.message {
            Some(message) if !header.opcode.is_control() => message.is_damaged = true,
            _ => self.is_control_damaged = true,
        }
        let place = place + count;
        self.frame = Some(Frame { header, place });
        if place == header.length {
            self.end(header, sink).inspect_err(|_| self.is_over = true)?;
        }
        Ok(true)
    }

    /// What this direction's decompressor holds.
    pub fn memory(&self) -> Bytes {
        self.inflate.as_ref().map_or(Bytes::ZERO, MessageDecoder::memory)
    }

    /// What came after the end.
    pub fn passed_over(&self) -> Bytes {
        self.passed_over
    }

    /// Whether nothing more will be told: a rule was broken, a close frame came, or a hole could not be passed.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    fn header(&mut self, octets: &mut &[u8], sink: &mut dyn FnMut(Received)) -> Result<(), Violation> {
        let before = self.head.len();
        let room = FrameHeader::LENGTH_MAX - before;
        self.head.extend_from_slice(&octets[..room.min(octets.len())]);
        // What two octets show to be wrong is said before the rest of the header comes.
        if let [first, second, ..] = self.head[..] {
            self.check_kind(first, second)?;
        }
        let Some((header, taken)) = FrameHeader::read(&self.head)? else {
            *octets = &[];
            return Ok(());
        };
        *octets = &octets[taken - before..];
        self.head.clear();
        self.begin(header)?;
        self.frame = Some(Frame { header, place: 0 });
        if header.length == 0 {
            self.end(header, sink)?;
        }
        Ok(())
    }

    /// The rules that a header's first two octets can break.
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

    /// The rules that a frame can break before its payload.
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
                    coded: 0,
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
        // A message that is too large is refused before it comes.
        if let Some(message) = &mut self.message {
            let most = if message.is_compressed {
                coded_max(self.limit)
            } else {
                self.limit.get()
            };
            message.coded = message.coded.saturating_add(header.length);
            if message.coded > most {
                return Err(Violation::TooLarge(self.limit));
            }
        }
        Ok(())
    }

    fn payload(&mut self, frame: Frame, octets: &mut &[u8], sink: &mut dyn FnMut(Received)) -> Result<(), Violation> {
        let Frame { header, place } = frame;
        let left = usize::try_from(header.length - place).unwrap_or(usize::MAX);
        let (here, rest) = octets.split_at(left.min(octets.len()));
        *octets = rest;
        let into = match &mut self.message {
            Some(message) if !header.opcode.is_control() => &mut message.payload,
            _ => &mut self.control,
        };
        let start = into.len();
        into.extend_from_slice(here);
        if let Some(mask) = header.mask {
            mask.apply(&mut into[start..], place);
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
        let place = place + here.len() as u64;
        self.frame = Some(Frame { header, place });
        if place == header.length {
            self.end(header, sink)?;
        }
        Ok(())
    }

    /// A frame is whole.
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
                self.is_history_lost |= message.is_compressed && self.takes_over;
                sink(Received::Lost(message.kind));
            } else {
                let message = self.whole(message)?;
                sink(Received::Message(message));
            }
        }
        Ok(())
    }

    fn whole(&mut self, message: Partial) -> Result<ReceivedMessage, Violation> {
        let mut payload = message.payload;
        let mut is_utf8 = message.utf8.is_whole();
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
            coded_bytes: Bytes::new(message.coded),
            frames: message.frames,
        })
    }
}

/// The most octets a compressed message may have in its frames: a little more than it may say, since what cannot be compressed grows (5
/// octets a stored block, RFC 1951 section 3.2.4) and each flush takes 5 more. Our own choice.
fn coded_max(limit: Bytes) -> u64 {
    let limit = limit.get();
    limit.saturating_add(limit / 16).saturating_add(1024)
}

#[cfg(test)]
mod tests;
