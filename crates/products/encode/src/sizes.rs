//! Encodes every document in every encoding, checks that it comes back, and measures sizes and CPU time for every codec and batch size.

use crate::codecs::{Compression, compressor, dictionaries};
use crate::documents::{Document, Documents};
use crate::record::{EncodingSetting, Refusal};
use lastmile_document_formats::{Encoder, Encoding};
use lastmile_report::record::Figure;
use lastmile_testbed::cpu_clock::Stopwatch;
use lastmile_units::Seed;

/// A setting with the sizes of its batches, or of a sample of them.
#[derive(Debug, Clone)]
pub(crate) struct SettingSize {
    pub(crate) encoding: Encoding,
    pub(crate) compression: Compression,
    pub(crate) batch: usize,
    /// The sizes of the batches that were compressed, in bytes.
    pub(crate) sizes: Vec<usize>,
    /// How many batches there are.
    pub(crate) batches: usize,
    /// The size of all batches, in bytes: estimated where not all were compressed.
    pub(crate) bytes: f64,
    pub(crate) messages: usize,
    /// CPU time for each message, one sample per round, in seconds.
    pub(crate) cpu: Vec<f64>,
}

impl SettingSize {
    pub(crate) fn bytes_per_message(&self) -> f64 {
        self.bytes / self.messages as f64
    }

    /// Whether each document is sent alone, as it stands in the file.
    pub(crate) fn is_plain_json(&self) -> bool {
        self.encoding == Encoding::Json && self.compression == Compression::None && self.batch == 1
    }

    pub(crate) fn setting(&self) -> EncodingSetting {
        EncodingSetting {
            encoding: self.encoding.name().to_owned(),
            codec: self.compression.to_string(),
            batch: self.batch as u64,
            batches: self.batches as u64,
            batches_compressed: self.sizes.len() as u64,
            bytes: self.bytes.round() as u64,
            bytes_per_message: self.bytes_per_message(),
            cpu: Figure::of_runs("s", "message", std::slice::from_ref(&self.cpu), &[], Seed::new(0)),
        }
    }
}

/// Into how many rounds what is compressed is cut to measure CPU time.
const ROUNDS: usize = 3;

/// The most messages of a round that measures the CPU time of encoding: our own choice.
const TIMED_MESSAGES: usize = 100;

/// The documents in one encoding.
pub(crate) struct EncodedDocuments {
    messages: Vec<Vec<u8>>,
    /// CPU time to encode a message, one sample per round, in seconds.
    cpu: Vec<f64>,
}

/// Encodes all documents, and decodes each again.
///
/// # Errors
/// When the encoding cannot hold one, or one came back changed.
pub(crate) fn encode(encoder: &Encoder, documents: &Documents, timed: bool) -> Result<EncodedDocuments, Refusal> {
    let mut messages = Vec::with_capacity(documents.documents.len());
    let mut refusal: Option<Refusal> = None;
    for document in &documents.documents {
        match encode_and_check(encoder, document) {
            Ok(message) => messages.push(message),
            Err(problem) => match &mut refusal {
                Some(refusal) => refusal.documents += 1,
                None => {
                    refusal = Some(Refusal {
                        encoding: encoder.encoding().name().to_owned(),
                        location: document.location.to_string(),
                        problem,
                        documents: 1,
                    });
                }
            },
        }
    }
    if let Some(refusal) = refusal {
        return Err(refusal);
    }
    let rounds = if timed { ROUNDS } else { 0 };
    let sample = &documents.documents[..messages.len().min(TIMED_MESSAGES)];
    let round = |_| {
        let began = Stopwatch::now();
        let bytes: usize = sample
            .iter()
            .filter_map(|document| encoder.encode(&document.value).ok())
            .map(|message| message.len())
            .sum();
        std::hint::black_box(bytes);
        began.elapsed().cpu.as_secs_f64() / sample.len() as f64
    };
    Ok(EncodedDocuments {
        cpu: (0..rounds).map(round).collect(),
        messages,
    })
}

/// A document in an encoding. In JSON it is the user's own text, byte for byte; in others what is decoded again says the same as the text.
pub(crate) fn encode_and_check(encoder: &Encoder, document: &Document) -> Result<Vec<u8>, String> {
    let is_json = encoder.encoding() == Encoding::Json;
    if let Some(loss) = document.loss.as_ref().filter(|_| !is_json) {
        return Err(loss.clone());
    }
    let message = encoder.encode_text(&document.text).map_err(|error| error.problem)?;
    if !is_json {
        encoder
            .check(&document.value, &message)
            .map_err(|error| error.problem)?;
    }
    Ok(message)
}

/// The most batches that are compressed of a setting that compresses each alone, and how many bytes of them are enough: our own choices. A
/// mean over 200 messages is about 1 % from that of all where their sizes vary by a seventh.
const BATCHES_MAX: usize = 200;
const BYTES_ENOUGH: usize = 1_000_000;

/// So many bytes of a stream are compressed, from its beginning: our own choice, 15 windows of deflate.
const STREAM_BYTES_ENOUGH: usize = 500_000;

/// Fewer batches than these are always compressed.
const BATCHES_FEW: usize = 10;

/// Compresses the messages in every way and batch size; of many batches, a sample.
pub(crate) fn compress(
    encoding: Encoding,
    encoded: &EncodedDocuments,
    compressions: &[Compression],
    batches: &[usize],
    timed: bool,
) -> Vec<SettingSize> {
    let messages = &encoded.messages;
    let trained = dictionaries(messages);
    let mut by_batch: Vec<Vec<SettingSize>> = Vec::new();
    for &batch in batches {
        let joined: Vec<Vec<u8>> = messages
            .chunks(batch)
            .map(|messages| join(encoding, messages))
            .collect();
        let all_bytes: usize = joined.iter().map(Vec::len).sum();
        let first_half = (messages.len() / 2).div_ceil(batch);
        let size = |compression| {
            let mut compressor = compressor(compression, trained.as_ref())?;
            let sample = sample(compression, &joined, all_bytes);
            let sampled_bytes: usize = sample.iter().map(|at| joined[*at].len()).sum();
            let mut sizes = Vec::with_capacity(sample.len());
            let mut cpu = Vec::new();
            for round in sample.chunks(sample.len().div_ceil(ROUNDS)) {
                let began = Stopwatch::now();
                sizes.extend(round.iter().map(|at| compressor(&joined[*at], *at < first_half)));
                let in_round: usize = round.iter().map(|at| batch.min(messages.len() - at * batch)).sum();
                cpu.push(began.elapsed().cpu.as_secs_f64() / in_round as f64);
            }
            let compressed: usize = sizes.iter().sum();
            Some(SettingSize {
                encoding,
                compression,
                batch,
                bytes: compressed as f64 * (all_bytes as f64 / sampled_bytes.max(1) as f64),
                sizes,
                batches: joined.len(),
                messages: messages.len(),
                cpu: if timed {
                    encoded
                        .cpu
                        .iter()
                        .zip(cpu)
                        .map(|(encode, compress)| encode + compress)
                        .collect()
                } else {
                    Vec::new()
                },
            })
        };
        by_batch.push(compressions.iter().copied().filter_map(size).collect());
    }
    // In the order of codecs, then batches.
    let mut all: Vec<SettingSize> = by_batch.into_iter().flatten().collect();
    all.sort_by_key(|sized| {
        compressions
            .iter()
            .position(|compression| *compression == sized.compression)
    });
    all
}

/// Which batches are compressed: of a stream those at its beginning, otherwise some at equal distances.
fn sample(compression: Compression, joined: &[Vec<u8>], all_bytes: usize) -> Vec<usize> {
    match compression {
        Compression::None => (0..joined.len()).collect(),
        Compression::Stream(_) => {
            let mut bytes = 0;
            let is_enough = |(at, batch): &(usize, &Vec<u8>)| {
                let goes_on = bytes < STREAM_BYTES_ENOUGH || *at < BATCHES_FEW;
                bytes += batch.len();
                goes_on
            };
            joined
                .iter()
                .enumerate()
                .take_while(is_enough)
                .map(|(at, _)| at)
                .collect()
        }
        _ => {
            let mean = (all_bytes / joined.len()).max(1);
            let count = (BYTES_ENOUGH / mean).clamp(BATCHES_FEW, BATCHES_MAX).min(joined.len());
            (0..count).map(|at| at * joined.len() / count).collect()
        }
    }
}

/// Messages of a batch: lines in JSON, otherwise each after its length as a varint. A single message stands alone.
fn join(encoding: Encoding, messages: &[Vec<u8>]) -> Vec<u8> {
    if let [message] = messages {
        return message.clone();
    }
    let mut batch = Vec::new();
    for message in messages {
        if encoding == Encoding::Json {
            batch.extend_from_slice(message);
            batch.push(b'\n');
        } else {
            let mut length = message.len();
            while length >= 0x80 {
                batch.push(length as u8 | 0x80);
                length >>= 7;
            }
            batch.push(length as u8);
            batch.extend_from_slice(message);
        }
    }
    batch
}
