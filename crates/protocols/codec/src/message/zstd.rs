//! zstd for messages, by libzstd. No WebSocket extension defines it; this is how one could.
//!
//! With takeover a direction is one frame (RFC 8878 section 3.1.1) without end, flushed after each message; without, each message
//! is a frame. Frames are sent without their magic number, which both ends know, and without content length and checksum, which
//! permessage-deflate does not have either.

use super::back_end::{Compress, Decompress, Fault};
use super::{CodecError, Dictionary, Zstd};
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective, SafeResult, compress_bound,
    get_error_name,
};

/// The first bytes of each frame (RFC 8878 section 3.1.1).
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The first bytes of a trained dictionary (RFC 8878 section 6).
const DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// How much `ZSTD_decompressStream` requests after the end of a block within a frame: the header of a block (RFC 8878 section
/// 3.1.1.2).
const BLOCK_HEADER: usize = 3;

/// The minimum reserved for output at a time: our own choice, a few short messages.
const ROOM_MIN: usize = 1024;

/// The dictionary for libzstd: raw content that looks like a trained dictionary loses its first byte.
fn content(dictionary: &Dictionary) -> &[u8] {
    if dictionary.is_trained() {
        dictionary.content()
    } else {
        raw(dictionary.content())
    }
}

fn raw(history: &[u8]) -> &[u8] {
    history
        .get(usize::from(history.starts_with(&DICTIONARY_MAGIC))..)
        .unwrap_or_default()
}

/// The message of the `expect`s on libzstd's calls.
const LIBZSTD_INVARIANT: &str = "libzstd fails only if memory runs out";

/// A context of libzstd, to compress or to decompress.
trait Context {
    fn reset_session(&mut self) -> SafeResult;
    fn load(&mut self, history: &[u8]) -> SafeResult;
}

impl Context for CCtx<'static> {
    fn reset_session(&mut self) -> SafeResult {
        self.reset(ResetDirective::SessionOnly)
    }

    fn load(&mut self, history: &[u8]) -> SafeResult {
        self.load_dictionary(history)
    }
}

impl Context for DCtx<'static> {
    fn reset_session(&mut self) -> SafeResult {
        self.reset(ResetDirective::SessionOnly)
    }

    fn load(&mut self, history: &[u8]) -> SafeResult {
        self.load_dictionary(history)
    }
}

/// A context with its dictionary and its state.
struct Session<C> {
    context: C,
    takeover: bool,
    dictionary: Option<Dictionary>,
    /// Whether the context has a history other than the dictionary.
    primed: bool,
    /// Whether a frame has begun.
    in_frame: bool,
}

impl<C: Context> Session<C> {
    fn new(mut context: C, takeover: bool, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        if let Some(dictionary) = dictionary {
            context.load(content(dictionary)).map_err(refused)?;
        }
        Ok(Self {
            context,
            takeover,
            dictionary: dictionary.cloned(),
            primed: false,
            in_frame: false,
        })
    }

    fn load(&mut self, history: &[u8]) {
        self.clear();
        self.context.load(history).expect(LIBZSTD_INVARIANT);
    }

    fn clear(&mut self) {
        self.context.reset_session().expect("a session can be reset");
        self.in_frame = false;
    }

    fn prime(&mut self, history: &[u8]) {
        self.load(raw(history));
        self.primed = true;
    }

    fn reset(&mut self) {
        if !std::mem::take(&mut self.primed) {
            return self.clear();
        }
        let dictionary = self.dictionary.take();
        self.load(dictionary.as_ref().map_or(&[], content));
        self.dictionary = dictionary;
    }
}

pub(super) struct Compressor {
    session: Session<CCtx<'static>>,
    /// The buffer for a frame's first bytes, from which the magic number is removed.
    start: Vec<u8>,
}

impl Compressor {
    pub(super) fn new(settings: &Zstd, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        let mut context = CCtx::try_create().ok_or(CodecError::Memory)?;
        let parameters = [
            CParameter::CompressionLevel(settings.level),
            CParameter::WindowLog(settings.window_log.into()),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ];
        for parameter in parameters {
            context.set_parameter(parameter).map_err(refused)?;
        }
        Ok(Self {
            session: Session::new(context, settings.takeover, dictionary)?,
            start: Vec::new(),
        })
    }

    fn start_frame(&mut self, part: &[u8], operation: ZSTD_EndDirective, out: &mut Vec<u8>) {
        let mut start = std::mem::take(&mut self.start);
        start.clear();
        stream(&mut self.session.context, part, operation, &mut start);
        out.extend_from_slice(
            start
                .strip_prefix(&MAGIC)
                .expect("a frame starts with its magic number"),
        );
        self.start = start;
    }
}

/// Appends the compressed `part`.
fn stream(context: &mut CCtx, part: &[u8], operation: ZSTD_EndDirective, out: &mut Vec<u8>) {
    let mut input = InBuffer::around(part);
    loop {
        out.reserve(compress_bound(part.len() - input.pos()));
        let before = out.len();
        let mut output = OutBuffer::around_pos(out, before);
        let left = context
            .compress_stream2(&mut output, &mut input, operation)
            .expect(LIBZSTD_INVARIANT);
        if left == 0 && input.pos() == part.len() {
            return;
        }
    }
}

impl Compress for Compressor {
    fn encode_part(&mut self, part: &[u8], last: bool, out: &mut Vec<u8>) {
        if part.is_empty() {
            return;
        }
        let ends = last && !self.session.takeover;
        let operation = if ends {
            ZSTD_EndDirective::ZSTD_e_end
        } else {
            ZSTD_EndDirective::ZSTD_e_flush
        };
        if self.session.in_frame {
            stream(&mut self.session.context, part, operation, out);
        } else if ends {
            // In one call: libzstd then needs no buffers for input and output.
            self.start.clear();
            self.start.reserve(compress_bound(part.len()));
            self.session
                .context
                .compress2(&mut self.start, part)
                .expect(LIBZSTD_INVARIANT);
            out.extend_from_slice(&self.start[MAGIC.len()..]);
        } else {
            self.start_frame(part, operation, out);
        }
        self.session.in_frame = !ends;
        if ends && self.session.primed {
            self.session.reset();
        }
    }

    fn prime(&mut self, history: &[u8]) {
        self.session.prime(history);
    }

    fn reset(&mut self) {
        self.session.reset();
    }

    fn memory(&self) -> usize {
        self.session.context.sizeof()
    }
}

fn refused(code: ErrorCode) -> CodecError {
    CodecError::Refused {
        library: format!("libzstd {}", zstd::zstd_safe::version_string()),
        problem: get_error_name(code).to_owned(),
    }
}

pub(super) struct Decompressor(Session<DCtx<'static>>);

impl Decompressor {
    pub(super) fn new(settings: &Zstd, dictionary: Option<&Dictionary>) -> Result<Self, CodecError> {
        let mut context = DCtx::try_create().ok_or(CodecError::Memory)?;
        context
            .set_parameter(DParameter::WindowLogMax(settings.window_log.into()))
            .map_err(refused)?;
        Ok(Self(Session::new(context, settings.takeover, dictionary)?))
    }

    /// Decompresses `part` to the end of `out`, and returns how much more input libzstd requests.
    fn stream(&mut self, part: &[u8], end: usize, out: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut input = InBuffer::around(part);
        loop {
            let before = out.len();
            // One byte more than the limit, so that exceeding it is noticed.
            let allowed = (end - before).saturating_add(1);
            let room = allowed.min((4 * (part.len() - input.pos())).max(ROOM_MIN));
            out.reserve(room);
            let taken = input.pos();
            // The capacity may exceed the limit, and then more may be written: the caller that gets the error cuts `out`.
            let mut output = OutBuffer::around_pos(out, before);
            let capacity = output.capacity();
            let hint = self
                .0
                .context
                .decompress_stream(&mut output, &mut input)
                .map_err(|code| Fault::Corrupt(get_error_name(code).to_owned()))?;
            let full = output.pos() == capacity;
            if out.len() > end {
                return Err(Fault::TooLarge);
            }
            if input.pos() == part.len() && !full {
                return Ok(hint);
            }
            if hint == 0 {
                return Err(Fault::Corrupt("its frame ends before the message does".to_owned()));
            }
            if input.pos() == taken && out.len() == before {
                return Err(Fault::Corrupt("nothing more can be decompressed from it".to_owned()));
            }
        }
    }
}

impl Decompress for Decompressor {
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        if coded.is_empty() {
            return Ok(());
        }
        if !self.0.in_frame {
            self.stream(&MAGIC, end, out)?;
        }
        let hint = self.stream(coded, end, out)?;
        if self.0.takeover {
            self.0.in_frame = true;
            return match hint {
                BLOCK_HEADER => Ok(()),
                0 => Err(Fault::Corrupt("its frame ends".to_owned())),
                _ => Err(Fault::Truncated),
            };
        }
        if hint != 0 {
            return Err(Fault::Truncated);
        }
        if self.0.primed {
            self.0.reset();
        }
        Ok(())
    }

    fn prime(&mut self, history: &[u8]) {
        self.0.prime(history);
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn memory(&self) -> usize {
        self.0.context.sizeof()
    }
}
