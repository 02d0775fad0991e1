//! Brotli for messages, by rust-brotli. There is no extension of WebSocket for it; this is how one would be made.
//!
//! With takeover a direction is one stream (RFC 7932 section 9) without end, flushed after each message; without, each message is a
//! stream, for which the encoder has to be made anew.
//!
//! A dictionary is coded as if it were the first message, and not sent: its decoder makes the same octets for itself. The library's
//! own custom dictionaries make rust-brotli 9.1 panic at times. Where each message stands alone, the encoder's time thus has the
//! dictionary's in it.

use super::decoder::{Decompress, Fault};
use super::encoder::Compress;
use super::tally::Tally;
use super::{Brotli, Dictionary};
use brotli::enc::BrotliAlloc;
use brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use brotli::{Allocator, BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper, SliceWrapperMut};

/// The room that is given at a time: our own choice, a few short messages.
const ROOM: usize = 4096;

/// Gives memory of Rust's own, and counts it.
#[derive(Clone, Default)]
struct Counting(Tally);

/// A piece of memory that counts for as long as it lasts.
struct Counted<T> {
    content: Box<[T]>,
    held: Option<Tally>,
}

impl<T> Counted<T> {
    fn size(&self) -> usize {
        std::mem::size_of_val(&*self.content)
    }
}

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self {
            content: Box::default(),
            held: None,
        }
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            held.give_back(self.size());
        }
    }
}

impl<T> SliceWrapper<T> for Counted<T> {
    fn slice(&self) -> &[T] {
        &self.content
    }
}

impl<T> SliceWrapperMut<T> for Counted<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.content
    }
}

impl<T: Clone + Default> Allocator<T> for Counting {
    type AllocatedMemory = Counted<T>;

    fn alloc_cell(&mut self, length: usize) -> Counted<T> {
        let counted = Counted {
            content: vec![T::default(); length].into(),
            held: Some(self.0.clone()),
        };
        self.0.take(counted.size());
        counted
    }

    fn free_cell(&mut self, _: Counted<T>) {}
}

impl BrotliAlloc for Counting {}

/// What of a history a window can refer to (RFC 7932 section 9.1: its size less 16).
fn within_window<'a>(settings: &Brotli, history: &'a [u8]) -> &'a [u8] {
    &history[history.len().saturating_sub((1 << settings.window_bits) - 16)..]
}

type Encoder = BrotliEncoderStateStruct<Counting>;

/// An encoder after a history, and what that became.
fn encoder_after(settings: &Brotli, history: &[u8], held: &Tally) -> (Encoder, Vec<u8>) {
    let mut encoder = BrotliEncoderStateStruct::new(Counting(held.clone()));
    let quality = encoder.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_QUALITY, settings.quality.into());
    let window = encoder.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, settings.window_bits.into());
    assert!(quality && window, "parameters can be set before the first input");
    let mut coded = Vec::new();
    let history = within_window(settings, history);
    if !history.is_empty() {
        let flush = BrotliEncoderOperation::BROTLI_OPERATION_FLUSH;
        compress(&mut encoder, history, flush, &mut coded);
    }
    (encoder, coded)
}

/// Appends all that comes of `part`.
fn compress(encoder: &mut Encoder, part: &[u8], operation: BrotliEncoderOperation, out: &mut Vec<u8>) {
    let (mut waiting, mut consumed) = (part.len(), 0);
    loop {
        let start = out.len();
        out.resize(start + ROOM.max(waiting / 2), 0);
        let room = &mut out[start..];
        let (mut room_left, mut written) = (room.len(), 0);
        let accepted = encoder.compress_stream(
            operation,
            &mut waiting,
            part,
            &mut consumed,
            &mut room_left,
            room,
            &mut written,
            &mut None,
            &mut |_, _, _, _| (),
        );
        assert!(accepted, "a brotli stream refuses input only after its end");
        out.truncate(start + written);
        if waiting == 0 && !encoder.has_more_output() {
            return;
        }
    }
}

pub(super) struct Compressor {
    encoder: Encoder,
    held: Tally,
    settings: Brotli,
    dictionary: Option<Dictionary>,
}

impl Compressor {
    pub(super) fn new(settings: &Brotli, dictionary: Option<&Dictionary>) -> Self {
        let held = Tally::default();
        let (encoder, _) = encoder_after(settings, dictionary.map_or(&[], Dictionary::content), &held);
        Self {
            encoder,
            held,
            settings: *settings,
            dictionary: dictionary.cloned(),
        }
    }
}

impl Compress for Compressor {
    fn encode_part(&mut self, part: &[u8], last: bool, out: &mut Vec<u8>) {
        if part.is_empty() {
            return;
        }
        if last && !self.settings.takeover {
            compress(
                &mut self.encoder,
                part,
                BrotliEncoderOperation::BROTLI_OPERATION_FINISH,
                out,
            );
            self.reset();
        } else {
            compress(
                &mut self.encoder,
                part,
                BrotliEncoderOperation::BROTLI_OPERATION_FLUSH,
                out,
            );
        }
    }

    fn prime(&mut self, history: &[u8]) {
        (self.encoder, _) = encoder_after(&self.settings, history, &self.held);
    }

    fn reset(&mut self) {
        let history = self.dictionary.as_ref().map_or(&[][..], Dictionary::content);
        (self.encoder, _) = encoder_after(&self.settings, history, &self.held);
    }

    fn memory(&self) -> usize {
        size_of::<Encoder>() + self.held.held()
    }
}

type Decoder = BrotliState<Counting, Counting, Counting>;

pub(super) struct Decompressor {
    decoder: Box<Decoder>,
    held: Tally,
    settings: Brotli,
    /// The dictionary as its encoder codes it, and its length.
    dictionary: (Vec<u8>, usize),
}

impl Decompressor {
    /// Takes windows up to 2^24 B, the largest of the format, whatever the encoder was to have.
    pub(super) fn new(settings: &Brotli, dictionary: Option<&Dictionary>) -> Self {
        let held = Tally::default();
        let dictionary = coded(settings, dictionary.map_or(&[], Dictionary::content));
        Self {
            decoder: decoder_after(&dictionary, &held),
            held,
            settings: *settings,
            dictionary,
        }
    }
}

/// A history as an encoder with these settings codes it, and its length.
fn coded(settings: &Brotli, history: &[u8]) -> (Vec<u8>, usize) {
    let (_, coded) = encoder_after(settings, history, &Tally::default());
    (coded, within_window(settings, history).len())
}

fn decoder_after((coded, length): &(Vec<u8>, usize), held: &Tally) -> Box<Decoder> {
    let counting = || Counting(held.clone());
    let mut decoder = Box::new(BrotliState::new_strict(counting(), counting(), counting()));
    if !coded.is_empty() {
        let decoded = decompress(&mut decoder, coded, *length, &mut Vec::with_capacity(*length));
        assert!(matches!(decoded, Ok(false)), "what was just coded can be decoded");
    }
    decoder
}

/// Appends what `coded` holds, until `out` has `end` octets. Returns whether the stream ends with it.
fn decompress(decoder: &mut Decoder, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<bool, Fault> {
    let (mut waiting, mut consumed) = (coded.len(), 0);
    loop {
        let start = out.len();
        // One octet more than is allowed, so that passing it is seen.
        let allowed = (end - start).saturating_add(1);
        out.resize(start + allowed.min(ROOM.max(4 * waiting)), 0);
        let room = &mut out[start..];
        let (mut room_left, mut written) = (room.len(), 0);
        let result = BrotliDecompressStream(
            &mut waiting,
            &mut consumed,
            coded,
            &mut room_left,
            &mut written,
            room,
            &mut 0,
            decoder,
        );
        out.truncate(start + written);
        if out.len() > end {
            return Err(Fault::TooLarge);
        }
        match result {
            BrotliResult::ResultFailure => return Err(Fault::Corrupt("it breaks the brotli format".to_owned())),
            BrotliResult::NeedsMoreOutput => {}
            // What has been decoded may be waiting for room.
            BrotliResult::NeedsMoreInput if room_left == 0 => {}
            BrotliResult::NeedsMoreInput => return Ok(false),
            BrotliResult::ResultSuccess if waiting == 0 => return Ok(true),
            BrotliResult::ResultSuccess => return Err(Fault::Corrupt("its stream ends before it does".to_owned())),
        }
    }
}

impl Decompress for Decompressor {
    fn decode(&mut self, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        if coded.is_empty() {
            return Ok(());
        }
        match (decompress(&mut self.decoder, coded, end, out)?, self.settings.takeover) {
            (false, true) => {}
            (true, false) => self.reset(),
            (false, false) => return Err(Fault::Truncated),
            (true, true) => return Err(Fault::Corrupt("its stream ends".to_owned())),
        }
        Ok(())
    }

    fn prime(&mut self, history: &[u8]) {
        self.decoder = decoder_after(&coded(&self.settings, history), &self.held);
    }

    fn reset(&mut self) {
        self.decoder = decoder_after(&self.dictionary, &self.held);
    }

    fn memory(&self) -> usize {
        size_of::<Decoder>() + self.held.held()
    }
}
