//! Measures the CPU time to compress and decompress a message with each codec and setting, on short messages of a chat and on long ones.

use super::{SAMPLES, corpus, without_interrupted};
use crate::cpu_cost_model::Operation;
use crate::cpu_cost_model::cost_table::{Samples, SamplesAtSize};
use crate::cpu_cost_model::message_cost_estimate::measured_settings;
use lastmile_codec::message::{MessageCodec, MessageDecoder, MessageEncoder};
use lastmile_units::{ByteCount, Seed};
use lastmile_workload::WorkloadSpec;
use lastmile_workload::messages::Chat;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Instant;

/// The number of short messages: that of the mock chat of 2013.
const SHORT: NonZeroU32 = NonZeroU32::new(666).expect("there are some");
/// The size of a long message: larger than a window of 11 bits, smaller than a window of 15. Our own choice.
const LONG: usize = 20_000;
const LONG_ONES: usize = 10;

/// The number of short messages that are timed together, some 100 us. A whole pass takes milliseconds, within which most machines
/// also run other programs.
const TIMED_AT_ONCE: usize = 18;

/// The samples of every operation on messages.
///
/// The settings are measured in turn, round by round: a temporary slow-down of the machine affects all of them, so they stay
/// comparable.
pub(super) fn samples() -> Vec<(Operation, Samples)> {
    let chat = WorkloadSpec::Chat(Chat {
        messages: SHORT,
        speakers: 0,
    });
    let chat = chat.messages(Seed::new(1)).expect("a chat can be made");
    let short: Vec<&[u8]> = chat.iter().map(|message| &message.payload[..]).collect();
    let text = corpus::text(Seed::new(1), ByteCount::from(LONG * LONG_ONES));
    let long: Vec<&[u8]> = text.chunks(LONG).collect();
    let mut measured: Vec<_> = measured_settings()
        .into_iter()
        .map(|codec| {
            let short = TranscriptPasses::new(codec, &short, TIMED_AT_ONCE);
            (codec, short, TranscriptPasses::new(codec, &long, 1))
        })
        .collect();
    // The first round fills caches and takes page faults.
    for round in 0..=SAMPLES {
        for (_, short, long) in &mut measured {
            short.process_all(round > 0);
            long.process_all(round > 0);
        }
    }
    let mut samples = Vec::new();
    for (codec, short, long) in measured {
        let of = |short_times, long_times| {
            Samples::of_sizes(short.samples_of_pass(short_times), long.samples_of_pass(long_times))
        };
        samples.push((Operation::EncodeMessage(codec), of(&short.encoding, &long.encoding)));
        samples.push((Operation::DecodeMessage(codec), of(&short.decoding, &long.decoding)));
    }
    samples
}

/// Passes over some messages on one connection.
struct TranscriptPasses<'a> {
    messages: &'a [&'a [u8]],
    /// How many messages are timed together.
    at_once: usize,
    encoder: MessageEncoder,
    decoder: MessageDecoder,
    compressed: Vec<Vec<u8>>,
    /// For each group that is timed together, its seconds in each pass.
    encoding: Vec<Vec<f64>>,
    decoding: Vec<Vec<f64>>,
}

impl<'a> TranscriptPasses<'a> {
    fn new(codec: MessageCodec, messages: &'a [&'a [u8]], at_once: usize) -> Self {
        let groups = messages.len().div_ceil(at_once);
        Self {
            messages,
            at_once,
            encoder: MessageEncoder::new(&codec, None).expect("a measured codec has settings within their ranges"),
            decoder: MessageDecoder::new(&codec, None).expect("a measured codec has settings within their ranges"),
            compressed: vec![Vec::new(); messages.len()],
            encoding: vec![Vec::new(); groups],
            decoding: vec![Vec::new(); groups],
        }
    }

    /// Compresses and decompresses every message, starting from reset contexts.
    fn process_all(&mut self, counts: bool) {
        self.encoder.reset();
        self.decoder.reset();
        self.compressed.iter_mut().for_each(Vec::clear);
        let groups = self
            .messages
            .chunks(self.at_once)
            .zip(self.compressed.chunks_mut(self.at_once));
        let mut plain = Vec::new();
        for (group, (messages, coded)) in groups.enumerate() {
            let encoding = seconds(|| {
                for (message, coded) in messages.iter().zip(&mut *coded) {
                    self.encoder.encode(black_box(message), coded);
                }
            });
            let decoding = seconds(|| {
                for coded in &*coded {
                    plain.clear();
                    let decoded = self.decoder.decode(black_box(coded), ByteCount::from(LONG), &mut plain);
                    decoded.expect("what was compressed can be decompressed");
                }
            });
            if counts {
                self.encoding[group].push(encoding);
                self.decoding[group].push(decoding);
            }
        }
    }

    /// The samples of a message of mean size, from the times of each group.
    fn samples_of_pass(&self, groups: &[Vec<f64>]) -> SamplesAtSize {
        let count = self.messages.len();
        let all: usize = self.messages.iter().map(|message| message.len()).sum();
        let of_message = by_percentile(groups).into_iter().map(|pass| pass / count as f64);
        SamplesAtSize {
            bytes: ByteCount::from(all / count),
            seconds: without_interrupted(of_message.collect()),
        }
    }
}

fn seconds(call: impl FnOnce()) -> f64 {
    let started = Instant::now();
    call();
    started.elapsed().as_secs_f64()
}

/// Seconds per pass: first the sum of every group's shortest time, then of every group's second shortest, and so on, without
/// interrupted times.
fn by_percentile(groups: &[Vec<f64>]) -> Vec<f64> {
    let groups: Vec<Vec<f64>> = groups.iter().cloned().map(without_interrupted).collect();
    let ranks = groups.iter().map(Vec::len).min().unwrap_or(0);
    (0..ranks)
        .map(|rank| groups.iter().map(|times| times[rank]).sum())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_that_was_interrupted_in_one_group_spoils_no_other_group() {
        let interrupted = vec![vec![1.0, 90.0, 2.0], vec![30.0, 20.0, 21.0]];
        assert_eq!(by_percentile(&interrupted), [21.0, 23.0]);
    }
}
