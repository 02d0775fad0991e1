//! What becomes of messages in a codec, by itself? Each is coded and decoded where it is, over no link and in no world.
//!
//! Each direction of each connection has a codec of its own. Times are the cost table's; sizes and memory are what the codec made
//! and took. What is not decoded to what it was is a failure.

use super::plan::Messages;
use crate::cell::Cell;
use crate::cost::{CostTable, Coverage, Operation};
use crate::doubt;
use crate::figure;
use crate::observation::{Failure, Observation, Outcome};
use crate::runner::RunContext;
use lastmile_payload::message_codec::{MessageDecoder, PolicyEncoder};
use lastmile_payload::transcript::{Direction, Kind, Message};
use lastmile_payload::workload::WorkloadSpec;
use lastmile_units::{Bytes, Seed};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Runs the repeats of a cell: messages are made and coded once, and what that costs is drawn anew each time.
pub(super) fn run(messages: &Messages, cell: &Cell, context: &RunContext<'_>) -> Result<Vec<Outcome>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(error.to_string());
    let seeds = context.seeds(cell, context.repeats.start);
    let transcript = messages
        .workload
        .messages(seeds.workload)
        .map_err(|error| failed(&error))?;
    let coded = Coded::of(messages, &transcript)?;
    let is_recorded = matches!(messages.workload, WorkloadSpec::Transcript(_));
    let repeat = |repeat| {
        let mut observation = coded.observation();
        // A world of its own for each repeat has messages of its own, save where they were recorded.
        if context.repeats.end - context.repeats.start == 1 && !is_recorded {
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

/// What became of a transcript.
struct Coded {
    text: Sizes,
    binary: Sizes,
    encoder_memory: Bytes,
    decoder_memory: Bytes,
    /// For each message, the plain sizes of what was coded in one go: its fragments, or itself; none of what was sent as it is.
    pieces: Vec<Vec<Bytes>>,
}

/// Of the messages of a kind: as they are, and as carried.
#[derive(Default)]
struct Sizes {
    plain: Bytes,
    carried: Bytes,
}

impl Sizes {
    fn add(&mut self, plain: Bytes, carried: Bytes) {
        self.plain += plain;
        self.carried += carried;
    }

    /// None where there is nothing.
    fn ratio(&self) -> Option<f64> {
        (self.plain > Bytes::ZERO).then(|| self.carried.as_f64() / self.plain.as_f64())
    }
}

/// The codecs of one direction of a connection.
struct Ends {
    encoder: PolicyEncoder,
    decoder: MessageDecoder,
}

impl Ends {
    fn new(messages: &Messages) -> Result<Self, Failure> {
        let codec = &messages.codec;
        let refused = |error: &dyn std::fmt::Display| Failure::new(format!("{codec}: {error}"));
        Ok(Self {
            encoder: PolicyEncoder::new(codec, None, messages.policy).map_err(|error| refused(&error))?,
            decoder: MessageDecoder::new(codec, None).map_err(|error| refused(&error))?,
        })
    }
}

impl Coded {
    fn of(messages: &Messages, transcript: &[Message]) -> Result<Self, Failure> {
        let mut connections: BTreeMap<(u32, Direction), Ends> = BTreeMap::new();
        let mut coded = Self {
            text: Sizes::default(),
            binary: Sizes::default(),
            encoder_memory: Bytes::ZERO,
            decoder_memory: Bytes::ZERO,
            pieces: Vec::with_capacity(transcript.len()),
        };
        let (mut out, mut back, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (index, message) in transcript.iter().enumerate() {
            let size = Bytes::from(message.payload.len());
            let sizes = match message.kind {
                Kind::Text => &mut coded.text,
                Kind::Binary => &mut coded.binary,
            };
            if !messages.policy.codes(message.kind, size) {
                sizes.add(size, size);
                coded.pieces.push(Vec::new());
                continue;
            }
            let at = (message.connection, message.direction);
            let codecs = match connections.entry(at) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(Ends::new(messages)?),
            };
            out.clear();
            back.clear();
            ends.clear();
            let encoder = &mut codecs.encoder;
            encoder.encode(message.kind, message.at, &message.payload, &mut out, &mut ends);
            sizes.add(size, Bytes::from(out.len()));
            coded.pieces.push(messages.policy.pieces(size));
            let lost = |why: &dyn std::fmt::Display| Failure::new(format!("message {} was lost: {why}", index + 1));
            codecs
                .decoder
                .decode(&out, size, &mut back)
                .map_err(|error| lost(&error))?;
            if back != message.payload {
                return Err(lost(&"it was decoded to something else"));
            }
        }
        // Every connection takes the same, and some codecs grow to it.
        for codecs in connections.values() {
            coded.encoder_memory = coded.encoder_memory.max(codecs.encoder.context());
            coded.decoder_memory = coded.decoder_memory.max(codecs.decoder.memory());
        }
        Ok(coded)
    }

    /// What does not depend on any processor.
    fn observation(&self) -> Observation {
        let mut observation = Observation::default();
        observation.sample(figure::MESSAGES, self.pieces.len() as f64);
        let mut all = Sizes::default();
        for Sizes { plain, carried } in [&self.text, &self.binary] {
            all.add(*plain, *carried);
        }
        observation.sample(figure::MESSAGE_BYTES, all.plain.as_f64());
        observation.sample(figure::COMPRESSED_BYTES, all.carried.as_f64());
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

    /// Adds what coding and decoding cost, drawn from the table: a slow pass over the transcript is slow at every message.
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
            match costs.coverage(operation) {
                Coverage::None => {
                    observation.doubts.push(doubt::no_cost(costs.name(), &operation));
                    continue;
                }
                Coverage::Estimated => observation.doubts.push(doubt::estimated_cost(&operation)),
                Coverage::Sampled => (),
            }
            let mut pass = 0.0;
            for pieces in &self.pieces {
                let cost = |bytes: &Bytes| costs.at_rank(operation, *bytes, rank).as_secs_f64();
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
    use crate::settings::Settings;
    use std::time::Duration;

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
            let coded = Coded::of(&messages, &transcript.collect::<Vec<_>>()).unwrap();
            (coded.text.carried.get(), coded.encoder_memory)
        };
        let (alone, _) = coded("never", &[0]);
        let (two, memory) = coded("never", &[0, 1]);
        assert!(two < 2 * alone, "the second refers to the first");
        assert_eq!(coded("1 min", &[0, 1, 61]), (two + alone, memory));
        assert_eq!(coded("1 min", &[0, 59, 118]), coded("never", &[0, 59, 118]));
    }
}
