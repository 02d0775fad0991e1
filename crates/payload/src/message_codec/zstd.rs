//! zstd for messages, by libzstd. There is no extension of WebSocket for it; this is how one would be made.
//!
//! With takeover a direction is one frame (RFC 8878 section 3.1.1) without end, flushed after each message; without, each message
//! is a frame. Frames go without their magic number, which both ends know, without the content's length and without a checksum,
//! which permessage-deflate has neither.

use super::decoder::{Decompress, Fault};
use super::encoder::Compress;
use super::{CodecError, Dictionary, Zstd};
use zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective, SafeResult, compress_bound,
    get_error_name,
};

/// What each frame starts with (RFC 8878 section 3.1.1).
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What a trained dictionary starts with (RFC 8878 section 6).
const DICTIONARY_MAGIC: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];

/// What `ZSTD_decompressStream` asks for next where a block has just ended and its frame has not: the header of a block (RFC 8878
/// section 3.1.1.2).
const BLOCK_HEADER: usize = 3;

/// The least that is reserved for decoded output at a time: our own choice, a few short messages.
const ROOM_MIN: usize = 1024;

/// What a dictionary is for libzstd: raw content that looks like a trained dictionary goes without its first octet.
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

/// What libzstd can only fail at where our own calls are wrong, or for want of memory.
const SOUND: &str = "libzstd fails only for want of memory";

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

/// A context, what it starts from, and how far it is.
struct Session<C> {
    context: C,
    takeover: bool,
    dictionary: Option<Dictionary>,
    /// Whether the context has another history than the dictionary.
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
        self.context.load(history).expect(SOUND);
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
    /// Where a frame's first octets go, so as to lose the magic number.
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

/// Appends all that comes of `part`.
fn stream(context: &mut CCtx, part: &[u8], operation: ZSTD_EndDirective, out: &mut Vec<u8>) {
    let mut input = InBuffer::around(part);
    loop {
        out.reserve(compress_bound(part.len() - input.pos()));
        let before = out.len();
        let mut output = OutBuffer::around_pos(out, before);
        let left = context
            .compress_stream2(&mut output, &mut input, operation)
            .expect(SOUND);
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
            // In one go: libzstd then needs no buffers for input and output.
            self.start.clear();
            self.start.reserve(compress_bound(part.len()));
            self.session.context.compress2(&mut self.start, part).expect(SOUND);
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

    /// Appends what `part` holds, and returns how much more libzstd would like to see.
    fn stream(&mut self, part: &[u8], end: usize, out: &mut Vec<u8>) -> Result<usize, Fault> {
        let mut input = InBuffer::around(part);
        loop {
            let before = out.len();
            // One octet more than is allowed, so that passing it is seen.
            let allowed = (end - before).saturating_add(1);
            let room = allowed.min((4 * (part.len() - input.pos())).max(ROOM_MIN));
            out.reserve(room);
            let taken = input.pos();
            // The capacity may be above what is allowed, and then more may be written: `out` is cut by whoever sees the error.
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
                return Err(Fault::Corrupt("its frame ends before it does".to_owned()));
            }
            if input.pos() == taken && out.len() == before {
                return Err(Fault::Corrupt("nothing more can be made of it".to_owned()));
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
