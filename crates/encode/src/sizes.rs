//! Encodes every document in every encoding, checks that it comes back, and measures sizes and CPU time for every codec and batch size.

use crate::codecs::{COMPRESSIONS, Compression, Compressor, dictionaries};
use crate::cpu_clock::Stopwatch;
use crate::documents::Documents;
use lastmile_document::{Encoder, Encoding, Schema, same};
use lastmile_report::encode::{EncodingSetting, Refusal};
use lastmile_report::record::Figure;
use lastmile_units::Seed;
use serde_json::Value;
use std::time::Duration;

/// A setting with the size of each of its batches.
#[derive(Debug, Clone)]
pub(crate) struct Sized {
    pub(crate) encoding: Encoding,
    pub(crate) compression: Compression,
    pub(crate) batch: usize,
    /// The size of each batch, in bytes.
    pub(crate) sizes: Vec<usize>,
    pub(crate) messages: usize,
    /// CPU time for each message, one sample per round, in seconds.
    pub(crate) cpu: Vec<f64>,
}

impl Sized {
    pub(crate) fn bytes(&self) -> usize {
        self.sizes.iter().sum()
    }

    pub(crate) fn bytes_per_message(&self) -> f64 {
        self.bytes() as f64 / self.messages as f64
    }

    pub(crate) fn setting(&self) -> EncodingSetting {
        EncodingSetting {
            encoding: self.encoding.name().to_owned(),
            codec: self.compression.to_string(),
            batch: self.batch as u64,
            bytes: self.bytes() as u64,
            bytes_per_message: self.bytes_per_message(),
            cpu: Figure::of_runs("s", "message", std::slice::from_ref(&self.cpu), &[], Seed::new(0)),
        }
    }
}

/// How often the messages are compressed to measure CPU time.
const ROUNDS: usize = 3;

/// The most messages, and the most bytes, of a round that measures CPU time: our own choice.
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
pub(crate) fn encode(
    encoding: Encoding,
    schema: &Schema,
    documents: &Documents,
    timed: bool,
) -> Result<EncodedDocuments, Refusal> {
    let encoder = Encoder::new(encoding, schema);
    let mut messages = Vec::with_capacity(documents.documents.len());
    let mut refusal: Option<Refusal> = None;
    for (line, document) in &documents.documents {
        match encode_and_check(&encoder, document) {
            Ok(message) => messages.push(message),
            Err(problem) => match &mut refusal {
                Some(refusal) => refusal.documents += 1,
                None => {
                    refusal = Some(Refusal {
                        encoding: encoding.name().to_owned(),
                        line: *line as u64,
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
            .filter_map(|(_, document)| encoder.encode(document).ok())
            .map(|message| message.len())
            .sum();
        std::hint::black_box(bytes);
        began.elapsed().as_secs_f64() / sample.len() as f64
    };
    Ok(EncodedDocuments {
        cpu: (0..rounds).map(round).collect(),
        messages,
    })
}

fn encode_and_check(encoder: &Encoder, document: &Value) -> Result<Vec<u8>, String> {
    let message = encoder.encode(document).map_err(|error| error.problem)?;
    let decoded = encoder
        .decode(&message)
        .map_err(|error| format!("it cannot be read again: {}", error.problem))?;
    if !same(&decoded, document) {
        return Err(format!("it was read again as {decoded}"));
    }
    Ok(message)
}

/// Compresses the messages in every way and batch size.
pub(crate) fn compress(encoding: Encoding, encoded: &EncodedDocuments, batches: &[usize], timed: bool) -> Vec<Sized> {
    let messages = &encoded.messages;
    let trained = dictionaries(messages);
    let mut all = Vec::new();
    for compression in COMPRESSIONS {
        for &batch in batches {
            let Some(mut compressor) = Compressor::new(compression, trained.as_ref()) else {
                continue;
            };
            let joined: Vec<Vec<u8>> = messages
                .chunks(batch)
                .map(|messages| join(encoding, messages))
                .collect();
            let first_half = (messages.len() / 2).div_ceil(batch);
            let sizes = (0..)
                .zip(&joined)
                .map(|(at, joined)| compressor.compressed_size(joined, at < first_half))
                .collect();
            all.push(Sized {
                encoding,
                compression,
                batch,
                sizes,
                messages: messages.len(),
                cpu: if timed {
                    time(compression, trained.as_ref(), &joined, batch, encoded)
                } else {
                    Vec::new()
                },
            });
        }
    }
    all
}

fn time(
    compression: Compression,
    trained: Option<&[lastmile_codec::message::Dictionary; 2]>,
    joined: &[Vec<u8>],
    batch: usize,
    encoded: &EncodedDocuments,
) -> Vec<f64> {
    let sample = &joined[..joined.len().min(TIMED_MESSAGES.div_ceil(batch))];
    let messages = (sample.len() * batch).min(encoded.messages.len());
    let mut spent = Duration::ZERO;
    let mut samples = Vec::new();
    for encoding in &encoded.cpu {
        let Some(mut compressor) = Compressor::new(compression, trained) else {
            break;
        };
        let began = Stopwatch::now();
        let bytes: usize = sample
            .iter()
            .map(|joined| compressor.compressed_size(joined, true))
            .sum();
        std::hint::black_box(bytes);
        let elapsed = began.elapsed();
        samples.push(encoding + elapsed.as_secs_f64() / messages as f64);
        spent += elapsed;
        if spent > TIME_MAX {
            break;
        }
    }
    samples
}

/// Slow codecs are timed in fewer rounds once they have taken this long: our own choice.
const TIME_MAX: Duration = Duration::from_millis(50);

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
