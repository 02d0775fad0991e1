//! Measures the CPU time per message of a setting, with the caches as cold as on a server with the requested number of connections.
//!
//! A server's contexts share its caches: with one connection its context stays in them; with thousands each message finds its context in main
//! memory. So as many contexts as requested connections are used in turns, one message each. Beyond [`CONTEXT_MEMORY_MAX`] of memory, more
//! contexts would be no colder, and would make timing slow. Each context begins at its own position in the stream, primed with the messages
//! before that position, and compresses one message untimed, so that neither its start nor its page faults are timed. Without context
//! takeover there is one context, as on one core.
//!
//! Settings are timed in rounds, in a different order each round, so that a temporary slow-down of the machine affects all of them alike; the
//! medians over rounds are compared. Nothing else of this process runs meanwhile.

use lastmile_codec::message::{Dictionary, MessageCodec, MessageDecoder, Policy, PolicyEncoder, Treatment};
use lastmile_statistics::quantile;
use lastmile_testbed::cpu_clock::{Elapsed, Stopwatch};
use lastmile_traffic::messages::Messages;
use lastmile_units::workers::Interrupted;
use lastmile_units::{ByteCount, Seed, random};
use rand_core::Rng as _;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most memory of all contexts together: our own choice, above the size of a server core's private caches.
pub(super) const CONTEXT_MEMORY_MAX: ByteCount = ByteCount::new(64 << 20);

/// The least number of rounds, and the most while there is time; our own choice.
const ROUNDS_MIN: usize = 3;
const ROUNDS_MAX: usize = 9;

/// How many messages are timed in a round with few contexts, and their bytes at most: our own choice, about 10 ms each.
const MESSAGES_PER_ROUND: usize = 512;
const BYTES_PER_ROUND: usize = 2 << 20;
/// If they would take longer than this, fewer are timed: our own choice.
const TIME_PER_ROUND: Duration = Duration::from_millis(50);
/// But at least this many, if they are within the limit on bytes.
const MESSAGES_MIN: usize = 4;

/// The longest history that a context is primed with: deflate's longest window (RFC 1951 section 2), and as much for other codecs.
const HISTORY_MAX: usize = 32 << 10;

/// A codec to time.
#[derive(Debug, Clone)]
pub(super) struct TimedCodec {
    pub(super) codec: MessageCodec,
    pub(super) dictionary: Option<Arc<Dictionary>>,
    /// Messages that it leaves uncompressed cost no CPU time, but count as messages.
    pub(super) policy: Policy,
    /// The memory of a compressing context.
    pub(super) context: ByteCount,
    /// The messages to compress.
    pub(super) messages: Range<usize>,
}

/// How codecs are timed.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// How many connections the server has.
    pub(super) connections: u64,
    /// Wall-clock time; a round that has begun is finished.
    pub(super) time: Duration,
    pub(super) seed: Seed,
    pub(super) interrupt: &'a AtomicBool,
}

/// A subject's CPU time in seconds per message, one sample per round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Timed {
    pub(super) compressing: Vec<f64>,
    pub(super) decompressing: Vec<f64>,
    /// How many contexts took turns.
    pub(super) contexts: u64,
}

impl Timed {
    /// The same, with the times for compressing multiplied by `factor`.
    pub(super) fn with_compressing_scaled(&self, factor: f64) -> Self {
        Self {
            compressing: self.compressing.iter().map(|seconds| seconds * factor).collect(),
            ..self.clone()
        }
    }

    /// Scales times by the ratio of `reference` to `other`, two timings of one setting, each by the median of its rounds. Makes timings from
    /// another time, or of other messages, comparable.
    pub(super) fn rescaled(&self, reference: &Self, other: &Self) -> Self {
        let scaled = |own: &[f64], reference: &[f64], other: &[f64]| -> Vec<f64> {
            let factor = match (quantile(reference, 0.5), quantile(other, 0.5)) {
                (Some(reference), Some(other)) if other > 0.0 => reference / other,
                _ => 1.0,
            };
            own.iter().map(|seconds| seconds * factor).collect()
        };
        Self {
            compressing: scaled(&self.compressing, &reference.compressing, &other.compressing),
            decompressing: scaled(&self.decompressing, &reference.decompressing, &other.decompressing),
            contexts: self.contexts,
        }
    }
}

/// Interference by other work on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Interference {
    /// The share of the wall-clock time in which this thread had no CPU while it was timed.
    pub(super) kept_waiting: f64,
}

/// Times every subject on `messages`. Calls `on_done` after each with the number done and the total.
pub(super) fn time(
    subjects: &[TimedCodec],
    messages: &Messages,
    plan: &Plan<'_>,
    on_done: &mut dyn FnMut(usize, usize),
) -> Result<(Vec<Timed>, Interference), Interrupted> {
    let mut timed = vec![Timed::default(); subjects.len()];
    let (mut cpu, mut wall) = (Duration::ZERO, Duration::ZERO);
    let began = Stopwatch::now();
    let mut round = 0;
    while round < ROUNDS_MIN || (round < ROUNDS_MAX && began.elapsed().wall < plan.time) {
        let mut rng = plan.seed.derive_index(round as u64).rng();
        // The same for all, so that subjects with the same messages start at the same message.
        let start_at = rng.next_u64();
        for (done, index) in shuffled(subjects.len(), &mut rng).into_iter().enumerate() {
            if plan.interrupt.load(Ordering::Relaxed) {
                return Err(Interrupted);
            }
            let subject = &subjects[index];
            let start = random::scale(start_at, subject.messages.len());
            let turns = RoundRobin::new(subject, messages, plan.connections, start);
            let (own, passed) = turns.run(subject, messages);
            timed[index].compressing.push(own[0]);
            timed[index].decompressing.push(own[1]);
            timed[index].contexts = turns.contexts as u64;
            (cpu, wall) = (cpu + passed.cpu, wall + passed.wall);
            let expected = subjects.len() * (round + 1).max(ROUNDS_MIN);
            on_done(subjects.len() * round + done + 1, expected);
        }
        round += 1;
    }
    let kept_waiting = 1.0 - (cpu.as_secs_f64() / wall.as_secs_f64().max(f64::MIN_POSITIVE)).min(1.0);
    Ok((timed, Interference { kept_waiting }))
}

/// The order in which contexts compress messages.
struct RoundRobin {
    contexts: usize,
    /// How many messages each context is timed with.
    messages_per_context: usize,
    /// The index of the first context's first message among the subject's.
    start: usize,
}

impl RoundRobin {
    fn new(subject: &TimedCodec, messages: &Messages, connections: u64, start: usize) -> Self {
        let bytes = messages.extent(subject.messages.clone()).len();
        let of_bytes = (BYTES_PER_ROUND / (bytes / subject.messages.len().max(1)).max(1)).max(1);
        let contexts = if subject.codec.takeover() {
            let of_memory = CONTEXT_MEMORY_MAX.get() / subject.context.get().max(1);
            usize::try_from(connections.min(of_memory).max(1))
                .unwrap_or(usize::MAX)
                .min(of_bytes)
        } else {
            1
        };
        let each = (MESSAGES_PER_ROUND.min(of_bytes) / contexts).max(1);
        Self {
            contexts,
            messages_per_context: each,
            start,
        }
    }

    /// The index of a context's `step`th message.
    fn message_index(&self, context: usize, step: usize, among: &Range<usize>) -> usize {
        among.start + (self.start + context * among.len() / self.contexts + step) % among.len()
    }

    /// Seconds per message for compressing and for decompressing, and the time that both took.
    fn run(&self, subject: &TimedCodec, messages: &Messages) -> ([f64; 2], Elapsed) {
        let among = &subject.messages;
        let index = |context, step| self.message_index(context, step, among);
        let at = |context, step| messages.payload(index(context, step));
        let dictionary = subject.dictionary.as_deref();
        let known = "the codec has been measured, so it is available";
        let histories =
            || (0..self.contexts).map(|context| history(messages, index(context, 0), among, &subject.policy));

        let mut encoders: Vec<PolicyEncoder> = histories()
            .map(|history| {
                let mut encoder = PolicyEncoder::new(&subject.codec, dictionary, subject.policy).expect(known);
                if subject.codec.takeover() && !history.is_empty() {
                    encoder.prime(&history);
                }
                encoder
            })
            .collect();
        let mut first = CompressedMessages::with_room_for(self.contexts);
        let reading = Stopwatch::now();
        for (context, encoder) in encoders.iter_mut().enumerate() {
            first.encode(encoder, messages, index(context, 0));
        }
        let expected = reading.elapsed().cpu.as_secs_f64() / self.contexts as f64;
        let fitting = (TIME_PER_ROUND.as_secs_f64() / expected.max(1e-9)) as usize;
        let turns = (self.contexts * self.messages_per_context).min(fitting.max(MESSAGES_MIN));
        let in_turns = || (0..turns).map(|turn| (turn % self.contexts, 1 + turn / self.contexts));
        let mut coded = CompressedMessages::with_room_for(turns);
        let reading = Stopwatch::now();
        for (context, step) in in_turns() {
            coded.encode(&mut encoders[context], messages, index(context, step));
        }
        let compressing = reading.elapsed();
        drop(encoders);

        let mut plain = Vec::with_capacity(BYTES_PER_ROUND);
        let mut decoders: Vec<MessageDecoder> = histories()
            .map(|history| {
                let mut decoder = MessageDecoder::new(&subject.codec, dictionary).expect(known);
                if subject.codec.takeover() && !history.is_empty() {
                    decoder.prime(&history);
                }
                decoder
            })
            .collect();
        for (context, decoder) in decoders.iter_mut().enumerate() {
            first.decode(context, decoder, at(context, 0).len(), &mut plain);
        }
        let reading = Stopwatch::now();
        for (turn, (context, step)) in in_turns().enumerate() {
            plain.clear();
            coded.decode(turn, &mut decoders[context], at(context, step).len(), &mut plain);
        }
        let decompressing = reading.elapsed();
        let seconds = [compressing, decompressing].map(|passed| passed.cpu.as_secs_f64() / turns as f64);
        let passed = Elapsed {
            cpu: compressing.cpu + decompressing.cpu,
            wall: compressing.wall + decompressing.wall,
        };
        (seconds, passed)
    }
}

/// Messages as sent, concatenated.
struct CompressedMessages {
    bytes: Vec<u8>,
    /// The end of each message, and of each fragment.
    ends: Vec<usize>,
    fragments: Vec<usize>,
    treatments: Vec<Treatment>,
}

impl CompressedMessages {
    fn with_room_for(messages: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(BYTES_PER_ROUND),
            ends: Vec::with_capacity(messages),
            fragments: Vec::with_capacity(messages),
            treatments: Vec::with_capacity(messages),
        }
    }

    fn encode(&mut self, encoder: &mut PolicyEncoder, messages: &Messages, message: usize) {
        let (kind, at) = (messages.kind(message), messages.at(message));
        let plain = messages.payload(message);
        let treatment = encoder.encode(kind, at, plain, &mut self.bytes, &mut self.fragments);
        self.treatments.push(treatment);
        self.ends.push(self.bytes.len());
    }

    /// Decompresses the `nth` message encoded, from 0; an uncompressed one costs its receiver nothing.
    fn decode(&self, nth: usize, decoder: &mut MessageDecoder, length: usize, plain: &mut Vec<u8>) {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        if self.treatments[nth] == Treatment::Compressed {
            decoder
                .decode(&self.bytes[start..self.ends[nth]], ByteCount::from(length), plain)
                .expect("what was compressed can be decompressed");
        }
    }
}

/// The messages compressed before the one at `index`, as far back as a window reaches.
fn history(messages: &Messages, index: usize, among: &Range<usize>, policy: &Policy) -> Vec<u8> {
    let mut bytes = 0;
    let mut before: Vec<&[u8]> = (among.start..index)
        .rev()
        .map(|message| (messages.kind(message), messages.payload(message)))
        .filter(|(kind, payload)| policy.compresses(*kind, ByteCount::from(payload.len())))
        .map(|(_, payload)| payload)
        .take_while(|payload| {
            let within = bytes < HISTORY_MAX;
            bytes += payload.len();
            within
        })
        .collect();
    before.reverse();
    let mut history = before.concat();
    history.drain(..history.len().saturating_sub(HISTORY_MAX));
    history
}

/// The numbers below `count` in random order.
fn shuffled(count: usize, rng: &mut lastmile_units::Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    random::shuffle(rng, &mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{message, recording};

    fn subject(takeover: bool, context: u64, messages: usize) -> TimedCodec {
        let text = if takeover {
            "deflate:1/w9/m1"
        } else {
            "deflate:1/w9/m1/no-takeover"
        };
        TimedCodec {
            codec: text.parse().unwrap(),
            dictionary: None,
            policy: Policy::default(),
            context: ByteCount::new(context),
            messages: 0..messages,
        }
    }

    fn messages(count: usize, length: usize) -> Messages {
        let of_length = |index| format!("{index:08}").repeat(length / 8);
        let messages: Vec<_> = (0..count).map(|index| message(&of_length(index))).collect();
        recording(&messages).messages.sent
    }

    #[test]
    fn as_many_contexts_take_turns_as_there_are_connections_up_to_what_caches_can_tell() {
        let messages = messages(100, 80);
        let turns = |subject: &TimedCodec, connections| RoundRobin::new(subject, &messages, connections, 0);
        assert_eq!(turns(&subject(true, 8_000, 100), 10).contexts, 10);
        assert_eq!(turns(&subject(true, 8_000, 100), 10).messages_per_context, 51);
        assert_eq!(turns(&subject(true, 268_112, 100), 50_000).contexts, 250);
        assert_eq!(turns(&subject(false, 268_112, 100), 50_000).contexts, 1);
    }

    #[test]
    fn long_messages_are_timed_in_few_contexts() {
        let turns = RoundRobin::new(&subject(true, 8_000, 3), &messages(3, 1 << 20), 50_000, 0);
        assert_eq!((turns.contexts, turns.messages_per_context), (2, 1));
    }

    #[test]
    fn a_history_is_what_was_coded_last_and_no_longer_than_a_window() {
        let messages = messages(40, 1000);
        let all = Policy::default();
        assert_eq!(history(&messages, 0, &(0..40), &all), b"");
        assert_eq!(
            history(&messages, 3, &(1..40), &all),
            [messages.payload(1), messages.payload(2)].concat()
        );
        let long = history(&messages, 40, &(0..40), &all);
        assert_eq!(long.len(), HISTORY_MAX);
        assert!(long.ends_with(messages.payload(39)));
        let long_ones = Policy {
            threshold: ByteCount::new(2000),
            ..all
        };
        assert_eq!(history(&messages, 40, &(0..40), &long_ones), b"");
    }

    #[test]
    fn a_policy_that_leaves_all_that_parts_and_that_forgets_is_timed_and_undone() {
        let messages = messages(50, 2000);
        let interrupt = AtomicBool::new(false);
        let plan = Plan {
            connections: 2,
            time: Duration::ZERO,
            seed: Seed::new(1),
            interrupt: &interrupt,
        };
        let policies = ["5 kB", "1 B"].map(|least| Policy {
            threshold: ByteCount::parse(least).unwrap(),
            fragment: Some(ByteCount::new(300)),
            reset_after_idle: Some(Duration::from_secs(1)),
            ..Policy::default()
        });
        let subjects = policies.map(|policy| TimedCodec {
            policy,
            ..subject(true, 8_000, 50)
        });
        let (timed, _) = time(&subjects, &messages, &plan, &mut |_, _| {}).unwrap();
        for timed in timed {
            assert_eq!((timed.compressing.len(), timed.decompressing.len()), (3, 3));
        }
    }

    #[test]
    fn what_was_timed_at_another_time_is_told_in_proportion_to_what_was_timed_at_both() {
        let timed = |compressing: &[f64], decompressing: &[f64]| Timed {
            compressing: compressing.to_vec(),
            decompressing: decompressing.to_vec(),
            contexts: 1,
        };
        let (then, now) = (timed(&[2.0, 3.0, 4.0], &[1.0]), timed(&[5.0, 6.0, 7.0], &[4.0]));
        let own = timed(&[8.0, 10.0], &[8.0]);
        assert_eq!(own.rescaled(&then, &now), timed(&[4.0, 5.0], &[2.0]));
        let nothing = Timed::default();
        assert_eq!(
            own.rescaled(&nothing, &now),
            own,
            "unscaled where there is no reference"
        );
    }

    #[test]
    fn every_subject_has_a_sample_a_round_of_both_directions() {
        let messages = messages(50, 200);
        let interrupt = AtomicBool::new(false);
        let plan = Plan {
            connections: 20,
            time: Duration::ZERO,
            seed: Seed::new(1),
            interrupt: &interrupt,
        };
        let mut progress = Vec::new();
        let subjects = [subject(true, 8_000, 50), subject(false, 8_000, 50)];
        let on_done = &mut |done, total| progress.push((done, total));
        let (timed, meanwhile) = time(&subjects, &messages, &plan, on_done).unwrap();
        for timed in &timed {
            assert_eq!((timed.compressing.len(), timed.decompressing.len()), (3, 3));
            let samples = timed.compressing.iter().chain(&timed.decompressing);
            assert!(samples.copied().all(|seconds| seconds > 0.0));
        }
        assert_eq!((timed[0].contexts, timed[1].contexts), (20, 1));
        assert_eq!(progress.last(), Some(&(6, 6)));
        assert!((0.0..=1.0).contains(&meanwhile.kept_waiting));
        interrupt.store(true, Ordering::Relaxed);
        assert_eq!(time(&subjects, &messages, &plan, &mut |_, _| {}), Err(Interrupted));
    }
}
