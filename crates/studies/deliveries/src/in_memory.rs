//! The delivery `in-memory`: compresses and decompresses messages without a link or a world.
//!
//! Each direction of each connection has a codec of its own. Times are the cost table's; sizes and memory are measured on the codec. A
//! message that does not decompress to itself is a failure.

use crate::messages::{Messages, has_cost};
use lastmile_codec::message::Kind;
use lastmile_codec::message::{MessageDecoder, PolicyEncoder};
use lastmile_study::cell::Cell;
use lastmile_study::delivery::{Delivery, Refusal};
use lastmile_study::figure::{self, Figure};
use lastmile_study::observation::{Observation, Outcome};
use lastmile_study::runner::RunContext;
use lastmile_study::settings::Settings;
use lastmile_testbed::cpu_cost_model::{CostTable, Operation};
use lastmile_testbed::failure::Failure;
use lastmile_testbed::settings::World;
use lastmile_traffic::messages::{Direction, Message};
use lastmile_units::{ByteCount, Seed};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

/// The delivery `in-memory`.
pub(crate) struct InMemory;

impl Delivery for InMemory {
    fn name(&self) -> &'static str {
        "in-memory"
    }

    fn carries(&self) -> &'static str {
        "messages"
    }

    fn about(&self) -> &'static str {
        "Compresses and decompresses messages in memory, without a link."
    }

    fn check(&self, settings: &Settings) -> Result<(), Refusal> {
        if let Some(link) = &settings.link {
            return Err(format!("delivery in-memory uses no link, but link is {link}; remove one of them").into());
        }
        Messages::of(settings)?;
        Ok(())
    }

    fn figures(&self, _settings: &Settings) -> &'static [&'static Figure] {
        FIGURES
    }

    fn check_world(&self, world: World) -> Result<(), String> {
        match world {
            World::Simulated => Ok(()),
            World::Emulated => Err(
                "delivery in-memory sends no packets, so there is nothing to emulate; run it with --world sim"
                    .to_owned(),
            ),
        }
    }

    fn expected_time(&self, settings: &Settings) -> Duration {
        Messages::of(settings).map_or(Duration::ZERO, |messages| messages.expected_time())
    }

    fn run(&self, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
        let messages = Messages::of(&cell.settings).map_err(Failure::new)?;
        run(&messages, cell, context)
    }
}

/// The figures of compressing messages.
const FIGURES: &[&Figure] = &[
    figure::MESSAGES,
    figure::MESSAGE_BYTES,
    figure::COMPRESSED_BYTES,
    figure::COMPRESSION_RATIO,
    figure::TEXT_COMPRESSION_RATIO,
    figure::MEMORY_BYTES,
    figure::DECODER_MEMORY_BYTES,
    figure::COMPRESS_TIME,
    figure::PASS_TIME,
    figure::DECOMPRESS_TIME,
];

/// Runs the repeats of a cell: messages are made and compressed once, and their CPU times are drawn again for each repeat.
fn run(messages: &Messages, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
    let seeds = context.seeds(cell, context.repeats.start);
    let transcript = messages
        .workload
        .messages(seeds.workload)
        .map_err(Failure::from_error)?;
    let coded = CompressedTranscript::compress(messages, &transcript)?;
    let repeat = |repeat| {
        let mut observation = coded.observation();
        // Where each repeat has a world of its own, it also has messages of its own, unless they were recorded.
        if context.repeats.end - context.repeats.start == 1 && !messages.is_recorded() {
            observation.vary("content");
        }
        coded.charge(
            messages,
            context.costs,
            context.seeds(cell, repeat).compute,
            &mut observation,
        );
        Ok(observation)
    };
    Ok(context.repeats.clone().map(repeat).collect())
}

/// The result of compressing a transcript.
struct CompressedTranscript {
    text: Sizes,
    binary: Sizes,
    encoder_memory: ByteCount,
    decoder_memory: ByteCount,
    /// For each message, the plain sizes of the pieces compressed at once: its fragments, or itself; empty if it was sent uncompressed.
    pieces: Vec<Vec<ByteCount>>,
}

/// The total sizes of the messages of a kind, before and after compression.
#[derive(Default)]
struct Sizes {
    plain: ByteCount,
    compressed: ByteCount,
}

impl Sizes {
    fn add(&mut self, plain: ByteCount, carried: ByteCount) {
        self.plain += plain;
        self.compressed += carried;
    }

    /// The compression ratio; none where there are no bytes.
    fn ratio(&self) -> Option<f64> {
        (self.plain > ByteCount::ZERO).then(|| self.compressed.as_f64() / self.plain.as_f64())
    }
}

/// The codecs of one direction of a connection.
struct CodecPair {
    encoder: PolicyEncoder,
    decoder: MessageDecoder,
}

impl CodecPair {
    fn new(messages: &Messages) -> Result<Self, Failure> {
        let codec = &messages.codec;
        let refused = |error: &dyn std::fmt::Display| Failure::new(format!("{codec}: {error}"));
        Ok(Self {
            encoder: PolicyEncoder::new(codec, None, messages.policy).map_err(|error| refused(&error))?,
            decoder: MessageDecoder::new(codec, None).map_err(|error| refused(&error))?,
        })
    }
}

impl CompressedTranscript {
    fn compress(messages: &Messages, transcript: &[Message]) -> Result<Self, Failure> {
        let mut connections: BTreeMap<(u32, Direction), CodecPair> = BTreeMap::new();
        let mut coded = Self {
            text: Sizes::default(),
            binary: Sizes::default(),
            encoder_memory: ByteCount::ZERO,
            decoder_memory: ByteCount::ZERO,
            pieces: Vec::with_capacity(transcript.len()),
        };
        let (mut out, mut back, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (index, message) in transcript.iter().enumerate() {
            let size = ByteCount::from(message.payload.len());
            let sizes = match message.kind {
                Kind::Text => &mut coded.text,
                Kind::Binary => &mut coded.binary,
            };
            if !messages.policy.compresses(message.kind, size) {
                sizes.add(size, size);
                coded.pieces.push(Vec::new());
                continue;
            }
            let at = (message.connection, message.direction);
            let codecs = match connections.entry(at) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(CodecPair::new(messages)?),
            };
            out.clear();
            back.clear();
            ends.clear();
            let encoder = &mut codecs.encoder;
            encoder.encode(message.kind, message.at, &message.payload, &mut out, &mut ends);
            sizes.add(size, ByteCount::from(out.len()));
            coded.pieces.push(messages.policy.pieces(size));
            let lost = |why: &dyn std::fmt::Display| Failure::new(format!("message {} was lost: {why}", index + 1));
            codecs
                .decoder
                .decode(&out, size, &mut back)
                .map_err(|error| lost(&error))?;
            if back != message.payload {
                return Err(lost(&"it decompressed to something else"));
            }
        }
        // Connections have the same settings but some codecs grow with use, so take the largest.
        for codecs in connections.values() {
            coded.encoder_memory = coded.encoder_memory.max(codecs.encoder.context());
            coded.decoder_memory = coded.decoder_memory.max(codecs.decoder.memory());
        }
        Ok(coded)
    }

    /// The figures that do not depend on the processor.
    fn observation(&self) -> Observation {
        let mut observation = Observation::default();
        observation.sample(figure::MESSAGES, self.pieces.len() as f64);
        let mut all = Sizes::default();
        for Sizes {
            plain,
            compressed: carried,
        } in [&self.text, &self.binary]
        {
            all.add(*plain, *carried);
        }
        observation.sample(figure::MESSAGE_BYTES, all.plain.as_f64());
        observation.sample(figure::COMPRESSED_BYTES, all.compressed.as_f64());
        if let Some(ratio) = all.ratio() {
            observation.sample(figure::COMPRESSION_RATIO, ratio);
        }
        if let (Some(ratio), Some(_)) = (self.text.ratio(), self.binary.ratio()) {
            observation.sample(figure::TEXT_COMPRESSION_RATIO, ratio);
        }
        observation.sample(figure::MEMORY_BYTES, self.encoder_memory.as_f64());
        observation.sample(figure::DECODER_MEMORY_BYTES, self.decoder_memory.as_f64());
        observation
    }

    /// Adds the CPU times of compression and decompression, drawn from the table with one rank per pass: a slow pass over the transcript
    /// is slow at every message.
    fn charge(&self, messages: &Messages, costs: &CostTable, seed: Seed, observation: &mut Observation) {
        let directions = [
            (
                Operation::EncodeMessage(messages.codec),
                figure::COMPRESS_TIME,
                Some(figure::PASS_TIME),
            ),
            (Operation::DecodeMessage(messages.codec), figure::DECOMPRESS_TIME, None),
        ];
        let mut rng = seed.rng();
        for (operation, of_message, of_pass) in directions {
            let rank = CostTable::rank(&mut rng);
            if !has_cost(costs, operation, observation) {
                continue;
            }
            let mut pass = 0.0;
            for pieces in &self.pieces {
                let cost = |bytes: &ByteCount| costs.at_rank(operation, *bytes, rank).as_secs_f64();
                let time = pieces.iter().map(cost).sum::<f64>() * messages.slow_down;
                observation.sample(of_message, time);
                pass += time;
            }
            if let Some(figure) = of_pass {
                observation.sample(figure, pass);
            }
        }
        if !costs.is_free() {
            observation.vary("calibration");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compressor_that_forgets_after_idleness_begins_anew_and_is_understood() {
        let coded = |idle: &str, seconds: &[u64]| {
            let settings = format!(
                "delivery = 'in-memory'\nworkload = {{ kind = 'chat', messages = 1 }}\nreset_after_idle = '{idle}'"
            );
            let settings: Settings = toml::from_str(&settings).unwrap();
            let transcript = seconds.iter().map(|seconds| Message {
                direction: Direction::Sent,
                at: Some(Duration::from_secs(*seconds)),
                kind: Kind::Text,
                connection: 0,
                payload: b"to be or not to be".as_slice().into(),
            });
            let messages = Messages::of(&settings).unwrap();
            let coded = CompressedTranscript::compress(&messages, &transcript.collect::<Vec<_>>()).unwrap();
            (coded.text.compressed.get(), coded.encoder_memory)
        };
        let (alone, _) = coded("never", &[0]);
        let (two, memory) = coded("never", &[0, 1]);
        assert!(two < 2 * alone, "the second refers to the first");
        assert_eq!(coded("1 min", &[0, 1, 61]), (two + alone, memory));
        assert_eq!(coded("1 min", &[0, 59, 118]), coded("never", &[0, 59, 118]));
    }
}
