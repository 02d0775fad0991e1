//! Brotli for messages, by rust-brotli. No WebSocket extension defines it; this is how one could.
//!
//! With takeover a direction is one stream (RFC 7932 section 9) without end, flushed after each message; without, each message is a
//! stream, which needs a new encoder.
//!
//! A dictionary is compressed as if it were the first message, but not sent: the decoder compresses it too, and gets the same bytes.
//! The library's own custom dictionaries make rust-brotli 9.1 panic at times. Without takeover, the time of each message thus
//! includes that of compressing the dictionary.
//!
//! Memory is counted as the reference encoder in C requests it, which servers link: rust-brotli has no hash table for windows up to 2^16, and
//! takes one that is 64 times as large.

use super::back_end::{Compress, Decompress, Fault};
use super::counting_allocator::AllocationCount;
use super::{Brotli, Dictionary};
use brotli::enc::BrotliAlloc;
use brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use brotli::{Allocator, BrotliDecompressStream, BrotliResult, BrotliState, SliceWrapper, SliceWrapperMut};

/// The minimum size of an output buffer: our own choice, a few short messages.
const ROOM: usize = 4096;

/// An allocator that uses Rust's allocator and counts the bytes.
#[derive(Clone, Default)]
struct CountingAllocator(AllocationCount);

/// A block of memory that is counted until it is dropped.
struct CountedMemory<T> {
    content: Box<[T]>,
    held: Option<AllocationCount>,
}

impl<T> CountedMemory<T> {
    fn size(&self) -> usize {
        std::mem::size_of_val(&*self.content)
    }
}

impl<T> Default for CountedMemory<T> {
    fn default() -> Self {
        Self {
            content: Box::default(),
            held: None,
        }
    }
}

impl<T> Drop for CountedMemory<T> {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            held.subtract(self.size());
        }
    }
}

impl<T> SliceWrapper<T> for CountedMemory<T> {
    fn slice(&self) -> &[T] {
        &self.content
    }
}

impl<T> SliceWrapperMut<T> for CountedMemory<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.content
    }
}

impl<T: Clone + Default> Allocator<T> for CountingAllocator {
    type AllocatedMemory = CountedMemory<T>;

    fn alloc_cell(&mut self, length: usize) -> CountedMemory<T> {
        let counted = CountedMemory {
            content: vec![T::default(); length].into(),
            held: Some(self.0.clone()),
        };
        self.0.add(counted.size());
        counted
    }

    fn free_cell(&mut self, _: CountedMemory<T>) {}
}

impl BrotliAlloc for CountingAllocator {}

/// The end of a history that is within the window (RFC 7932 section 9.1: its size less 16).
fn within_window<'a>(settings: &Brotli, history: &'a [u8]) -> &'a [u8] {
    &history[history.len().saturating_sub((1 << settings.window_bits) - 16)..]
}

type Encoder = BrotliEncoderStateStruct<CountingAllocator>;

/// An encoder that has compressed a history, and the compressed history.
fn encoder_after(settings: &Brotli, history: &[u8], held: &AllocationCount) -> (Encoder, Vec<u8>) {
    let mut encoder = BrotliEncoderStateStruct::new(CountingAllocator(held.clone()));
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

/// Appends the compressed `part`.
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

/// The hash table that rust-brotli falls back to where it has none of the reference's kind (`BrotliMakeHasher`): 2^15 buckets of 2^8
/// positions in 4 bytes, and a counter of 2 bytes for each.
const FALLBACK_TABLE: usize = (1 << (15 + 8 + 2)) + (1 << (15 + 1));

/// The reference's in its place, of 2^15 buckets and a bank of 2^16 slots (c/enc/hash_forgetful_chain_inc.h): an address in 4 bytes and a
/// head in 2 for each bucket, 2^16 bytes of tiny hashes, and 4 bytes for each slot.
const REFERENCE_TABLE: usize = (1 << (15 + 2)) + (1 << (15 + 1)) + (1 << 16) + (1 << (16 + 2));

/// What the reference requests where this library has requested `held` bytes.
fn as_reference(settings: &Brotli, held: usize) -> usize {
    // c/enc/quality.h, `ChooseHasher`.
    let falls_back = (5..=8).contains(&settings.quality) && settings.window_bits <= 16;
    if falls_back && held >= FALLBACK_TABLE {
        held - FALLBACK_TABLE + REFERENCE_TABLE
    } else {
        held
    }
}

pub(super) struct Compressor {
    encoder: Encoder,
    held: AllocationCount,
    /// The most that a message held which was compressed by itself: a core needs it, although nothing is kept between messages.
    held_by_message: usize,
    settings: Brotli,
    dictionary: Option<Dictionary>,
}

impl Compressor {
    pub(super) fn new(settings: &Brotli, dictionary: Option<&Dictionary>) -> Self {
        let held = AllocationCount::default();
        let (encoder, _) = encoder_after(settings, dictionary.map_or(&[], Dictionary::content), &held);
        Self {
            encoder,
            held,
            held_by_message: 0,
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
            self.held_by_message = self.held_by_message.max(self.held.bytes());
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
        let held = self.held.bytes().max(self.held_by_message);
        size_of::<Encoder>() + as_reference(&self.settings, held)
    }
}

type Decoder = BrotliState<CountingAllocator, CountingAllocator, CountingAllocator>;

pub(super) struct Decompressor {
    decoder: Box<Decoder>,
    held: AllocationCount,
    settings: Brotli,
    /// The dictionary as the encoder compresses it, and its length.
    dictionary: (Vec<u8>, usize),
}

impl Decompressor {
    /// Accepts windows up to 2^24 B, the largest of the format, whatever the encoder's setting.
    pub(super) fn new(settings: &Brotli, dictionary: Option<&Dictionary>) -> Self {
        let held = AllocationCount::default();
        let dictionary = compress_history(settings, dictionary.map_or(&[], Dictionary::content));
        Self {
            decoder: decoder_after(&dictionary, &held),
            held,
            settings: *settings,
            dictionary,
        }
    }
}

/// A history as an encoder with these settings compresses it, and its length.
fn compress_history(settings: &Brotli, history: &[u8]) -> (Vec<u8>, usize) {
    let (_, coded) = encoder_after(settings, history, &AllocationCount::default());
    (coded, within_window(settings, history).len())
}

fn decoder_after((coded, length): &(Vec<u8>, usize), held: &AllocationCount) -> Box<Decoder> {
    let counting = || CountingAllocator(held.clone());
    let mut decoder = Box::new(BrotliState::new_strict(counting(), counting(), counting()));
    if !coded.is_empty() {
        let decoded = decompress(&mut decoder, coded, *length, &mut Vec::with_capacity(*length));
        assert!(matches!(decoded, Ok(false)), "what was just coded can be decoded");
    }
    decoder
}

/// Decompresses `coded` to the end of `out`, up to `end` bytes of `out`. Returns whether the stream ends with it.
fn decompress(decoder: &mut Decoder, coded: &[u8], end: usize, out: &mut Vec<u8>) -> Result<bool, Fault> {
    let (mut waiting, mut consumed) = (coded.len(), 0);
    loop {
        let start = out.len();
        // One byte more than the limit, so that exceeding it is noticed.
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
            BrotliResult::ResultFailure => return Err(Fault::Corrupt("it violates the brotli format".to_owned())),
            BrotliResult::NeedsMoreOutput => {}
            // More output may be waiting for room.
            BrotliResult::NeedsMoreInput if room_left == 0 => {}
            BrotliResult::NeedsMoreInput => return Ok(false),
            BrotliResult::ResultSuccess if waiting == 0 => return Ok(true),
            BrotliResult::ResultSuccess => {
                return Err(Fault::Corrupt("its stream ends before the message does".to_owned()));
            }
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
        self.decoder = decoder_after(&compress_history(&self.settings, history), &self.held);
    }

    fn reset(&mut self) {
        self.decoder = decoder_after(&self.dictionary, &self.held);
    }

    fn memory(&self) -> usize {
        size_of::<Decoder>() + self.held.bytes()
    }
}
