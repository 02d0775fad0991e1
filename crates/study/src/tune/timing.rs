//! How long does a setting compute for a message, on a server with so many connections? Timed in turns, with contexts as cold as there.
//!
//! A server's contexts share its caches: with one connection a context stays in them, and with thousands each message finds its own in
//! memory. So as many contexts as connections are asked for are used in turns, a message each; beyond [`CONTEXTS_MOST`] of memory more of
//! them would be no colder, and make settings slow to time. Each context begins at a place of its own in the stream, primed with what
//! came before that place, and codes one message untimed, so that what is timed is neither its start nor the system's giving it pages.
//! Without context takeover there is one context, as on one core.
//!
//! Settings are timed in rounds, in another order each round, so that what slows the machine for a while falls on all of them alike; the
//! medians of rounds are compared. Nothing else of this process runs meanwhile.

use super::clock::{Passed, Reading};
use crate::advise::parallel::Interrupted;
use crate::statistics::quantile;
use lastmile_payload::message_codec::{Dictionary, MessageCodec, MessageDecoder, Policy, PolicyEncoder, Treatment};
use lastmile_payload::transcript::Messages;
use lastmile_units::{Bytes, Seed};
use rand_core::Rng as _;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// More contexts than take this together are not used: our own choice, above the caches that cores of servers have to themselves.
pub(super) const CONTEXTS_MOST: Bytes = Bytes::new(64 << 20);

/// So many rounds at least, and at most as many while there is time; our own choice.
const ROUNDS_LEAST: usize = 3;
const ROUNDS_MOST: usize = 9;

/// So many messages are timed in a round where contexts are few, and of so many octets at most in all: our own choice, some 10 ms each.
const MESSAGES_A_ROUND: usize = 512;
const OCTETS_A_ROUND: usize = 2 << 20;
/// What is so slow that they would take longer than this is timed on fewer: our own choice.
const TIME_A_ROUND: Duration = Duration::from_millis(50);
/// But not on fewer than these, where as many are within the octets.
const MESSAGES_LEAST: usize = 4;

/// The longest history that a context is primed with: deflate's longest window (RFC 1951 section 2), and as much for the others.
const HISTORY_MOST: usize = 32 << 10;

/// What is timed.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) codec: MessageCodec,
    pub(super) takeover: bool,
    pub(super) dictionary: Option<Arc<Dictionary>>,
    /// What it leaves as it is computes nothing, and counts as a message.
    pub(super) policy: Policy,
    /// What a context to compress with takes.
    pub(super) context: Bytes,
    /// Which messages it codes.
    pub(super) messages: Range<usize>,
}

/// How it is timed.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// How many connections the server has.
    pub(super) connections: u64,
    /// By the wall; rounds that have begun are finished.
    pub(super) time: Duration,
    pub(super) seed: Seed,
    pub(super) interrupt: &'a AtomicBool,
}

/// What a subject takes, in seconds a message, one sample a round.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Timed {
    pub(super) compressing: Vec<f64>,
    pub(super) decompressing: Vec<f64>,
    /// How many contexts took turns.
    pub(super) contexts: u64,
}

impl Timed {
    /// The same where compressing takes so many times as long.
    pub(super) fn compressing_in_proportion(&self, factor: f64) -> Self {
        Self {
            compressing: self.compressing.iter().map(|seconds| seconds * factor).collect(),
            ..self.clone()
        }
    }

    /// The same where what took as long as `other` takes as long as `reference`, each by the medians of its rounds: what was timed at
    /// another time, or on other messages, next to a setting that was timed at both.
    pub(super) fn in_proportion(&self, reference: &Self, other: &Self) -> Self {
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

/// What the machine did meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Meanwhile {
    /// The share of the time by the wall in which this thread did not compute, though it was timed.
    pub(super) kept_waiting: f64,
}

/// Times every subject on `messages`, telling `on_done` after each how many of how many are done.
pub(super) fn time(
    subjects: &[Subject],
    messages: &Messages,
    plan: &Plan<'_>,
    on_done: &mut dyn FnMut(usize, usize),
) -> Result<(Vec<Timed>, Meanwhile), Interrupted> {
    let mut timed = vec![Timed::default(); subjects.len()];
    let (mut cpu, mut wall) = (Duration::ZERO, Duration::ZERO);
    let began = Reading::now();
    let mut round = 0;
    while round < ROUNDS_LEAST || (round < ROUNDS_MOST && began.passed().wall < plan.time) {
        let mut rng = plan.seed.derive_index(round as u64).rng();
        // The same for all, so that those with the same messages are compared on the same.
        let start_at = rng.next_u64();
        for (done, place) in shuffled(subjects.len(), &mut rng).into_iter().enumerate() {
            if plan.interrupt.load(Ordering::Relaxed) {
                return Err(Interrupted);
            }
            let subject = &subjects[place];
            let start = scaled(subject.messages.len(), start_at);
            let turns = Turns::of(subject, messages, plan.connections, start);
            let (own, passed) = turns.run(subject, messages);
            timed[place].compressing.push(own[0]);
            timed[place].decompressing.push(own[1]);
            timed[place].contexts = turns.contexts as u64;
            (cpu, wall) = (cpu + passed.cpu, wall + passed.wall);
            let expected = subjects.len() * (round + 1).max(ROUNDS_LEAST);
            on_done(subjects.len() * round + done + 1, expected);
        }
        round += 1;
    }
    let kept_waiting = 1.0 - (cpu.as_secs_f64() / wall.as_secs_f64().max(f64::MIN_POSITIVE)).min(1.0);
    Ok((timed, Meanwhile { kept_waiting }))
}

/// Who codes what, and when.
struct Turns {
    contexts: usize,
    /// How many messages each context is timed with.
    each: usize,
    /// Where the first context begins among the subject's messages.
    start: usize,
}

impl Turns {
    fn of(subject: &Subject, messages: &Messages, connections: u64, start: usize) -> Self {
        let octets = messages.extent(subject.messages.clone()).len();
        let of_octets = (OCTETS_A_ROUND / (octets / subject.messages.len().max(1)).max(1)).max(1);
        let contexts = if subject.takeover {
            let of_memory = CONTEXTS_MOST.get() / subject.context.get().max(1);
            usize::try_from(connections.min(of_memory).max(1))
                .unwrap_or(usize::MAX)
                .min(of_octets)
        } else {
            1
        };
        let each = (MESSAGES_A_ROUND.min(of_octets) / contexts).max(1);
        Self { contexts, each, start }
    }

    /// The place of a context's `step`th message.
    fn place(&self, context: usize, step: usize, among: &Range<usize>) -> usize {
        among.start + (self.start + context * among.len() / self.contexts + step) % among.len()
    }

    /// Seconds a message, compressing and decompressing.
    fn run(&self, subject: &Subject, messages: &Messages) -> ([f64; 2], Passed) {
        let among = &subject.messages;
        let place = |context, step| self.place(context, step, among);
        let at = |context, step| messages.payload(place(context, step));
        let dictionary = subject.dictionary.as_deref();
        let known = "a codec that has been measured can be made";
        let histories =
            || (0..self.contexts).map(|context| history(messages, place(context, 0), among, &subject.policy));

        let mut encoders: Vec<PolicyEncoder> = histories()
            .map(|history| {
                let mut encoder = PolicyEncoder::new(&subject.codec, dictionary, subject.policy).expect(known);
                if subject.takeover && !history.is_empty() {
                    encoder.prime(&history);
                }
                encoder
            })
            .collect();
        let mut first = Coded::with_room_for(self.contexts);
        let reading = Reading::now();
        for (context, encoder) in encoders.iter_mut().enumerate() {
            first.encode(encoder, messages, place(context, 0));
        }
        let expected = reading.passed().cpu.as_secs_f64() / self.contexts as f64;
        let fitting = (TIME_A_ROUND.as_secs_f64() / expected.max(1e-9)) as usize;
        let turns = (self.contexts * self.each).min(fitting.max(MESSAGES_LEAST));
        let in_turns = || (0..turns).map(|turn| (turn % self.contexts, 1 + turn / self.contexts));
        let mut coded = Coded::with_room_for(turns);
        let reading = Reading::now();
        for (context, step) in in_turns() {
            coded.encode(&mut encoders[context], messages, place(context, step));
        }
        let compressing = reading.passed();
        drop(encoders);

        let mut plain = Vec::with_capacity(OCTETS_A_ROUND);
        let mut decoders: Vec<MessageDecoder> = histories()
            .map(|history| {
                let mut decoder = MessageDecoder::new(&subject.codec, dictionary).expect(known);
                if subject.takeover && !history.is_empty() {
                    decoder.prime(&history);
                }
                decoder
            })
            .collect();
        for (context, decoder) in decoders.iter_mut().enumerate() {
            first.decode(context, decoder, at(context, 0).len(), &mut plain);
        }
        let reading = Reading::now();
        for (turn, (context, step)) in in_turns().enumerate() {
            plain.clear();
            coded.decode(turn, &mut decoders[context], at(context, step).len(), &mut plain);
        }
        let decompressing = reading.passed();
        let seconds = [compressing, decompressing].map(|passed| passed.cpu.as_secs_f64() / turns as f64);
        let passed = Passed {
            cpu: compressing.cpu + decompressing.cpu,
            wall: compressing.wall + decompressing.wall,
        };
        (seconds, passed)
    }
}

/// Messages as they were sent, one behind the other.
struct Coded {
    octets: Vec<u8>,
    /// Where each ends, and its last fragment.
    ends: Vec<usize>,
    fragments: Vec<usize>,
    treatments: Vec<Treatment>,
}

impl Coded {
    fn with_room_for(messages: usize) -> Self {
        Self {
            octets: Vec::with_capacity(OCTETS_A_ROUND),
            ends: Vec::with_capacity(messages),
            fragments: Vec::with_capacity(messages),
            treatments: Vec::with_capacity(messages),
        }
    }

    fn encode(&mut self, encoder: &mut PolicyEncoder, messages: &Messages, message: usize) {
        let (kind, at) = (messages.kind(message), messages.at(message));
        let plain = messages.payload(message);
        let treatment = encoder.encode(kind, at, plain, &mut self.octets, &mut self.fragments);
        self.treatments.push(treatment);
        self.ends.push(self.octets.len());
    }

    /// The message that was encoded as the `nth`, from 0; what is not coded costs its receiver nothing.
    fn decode(&self, nth: usize, decoder: &mut MessageDecoder, length: usize, plain: &mut Vec<u8>) {
        let start = nth.checked_sub(1).map_or(0, |before| self.ends[before]);
        if self.treatments[nth] == Treatment::Coded {
            decoder
                .decode(&self.octets[start..self.ends[nth]], Bytes::from(length), plain)
                .expect("what was coded can be decoded");
        }
    }
}

/// What was coded before the message at `place`, as far back as a window reaches.
fn history(messages: &Messages, place: usize, among: &Range<usize>, policy: &Policy) -> Vec<u8> {
    let mut octets = 0;
    let mut before: Vec<&[u8]> = (among.start..place)
        .rev()
        .map(|message| (messages.kind(message), messages.payload(message)))
        .filter(|(kind, payload)| policy.codes(*kind, Bytes::from(payload.len())))
        .map(|(_, payload)| payload)
        .take_while(|payload| {
            let within = octets < HISTORY_MOST;
            octets += payload.len();
            within
        })
        .collect();
    before.reverse();
    let mut history = before.concat();
    history.drain(..history.len().saturating_sub(HISTORY_MOST));
    history
}

/// 0 to one less than `count`, each once (Fisher and Yates).
fn shuffled(count: usize, rng: &mut lastmile_units::Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for place in (1..count).rev() {
        order.swap(place, below(place + 1, rng));
    }
    order
}

/// Evenly from 0 to below `count`, to within 2^-64 of it.
fn below(count: usize, rng: &mut lastmile_units::Rng) -> usize {
    scaled(count, rng.next_u64())
}

/// From 0 to below `count`, in proportion to a number below 2^64: the high half of a 64 x 64 bit product.
fn scaled(count: usize, number: u64) -> usize {
    ((u128::from(number) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::tests::{message, recording};

    fn subject(takeover: bool, context: u64, messages: usize) -> Subject {
        let text = if takeover {
            "deflate:1/w9/m1"
        } else {
            "deflate:1/w9/m1/no-takeover"
        };
        Subject {
            codec: text.parse().unwrap(),
            takeover,
            dictionary: None,
            policy: Policy::default(),
            context: Bytes::new(context),
            messages: 0..messages,
        }
    }

    fn messages(count: usize, length: usize) -> Messages {
        let of_length = |place| format!("{place:08}").repeat(length / 8);
        let messages: Vec<_> = (0..count).map(|place| message(&of_length(place))).collect();
        recording(&messages).messages.sent
    }

    #[test]
    fn as_many_contexts_take_turns_as_there_are_connections_up_to_what_caches_can_tell() {
        let messages = messages(100, 80);
        let turns = |subject: &Subject, connections| Turns::of(subject, &messages, connections, 0);
        assert_eq!(turns(&subject(true, 8_000, 100), 10).contexts, 10);
        assert_eq!(turns(&subject(true, 8_000, 100), 10).each, 51);
        assert_eq!(turns(&subject(true, 268_112, 100), 50_000).contexts, 250);
        assert_eq!(turns(&subject(false, 268_112, 100), 50_000).contexts, 1);
    }

    #[test]
    fn long_messages_are_timed_in_few_contexts() {
        let turns = Turns::of(&subject(true, 8_000, 3), &messages(3, 1 << 20), 50_000, 0);
        assert_eq!((turns.contexts, turns.each), (2, 1));
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
        assert_eq!(long.len(), HISTORY_MOST);
        assert!(long.ends_with(messages.payload(39)));
        let long_ones = Policy {
            threshold: Bytes::new(2000),
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
            threshold: Bytes::parse(least).unwrap(),
            fragment: Some(Bytes::new(300)),
            reset_after_idle: Some(Duration::from_secs(1)),
            ..Policy::default()
        });
        let subjects = policies.map(|policy| Subject {
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
        assert_eq!(own.in_proportion(&then, &now), timed(&[4.0, 5.0], &[2.0]));
        let nothing = Timed::default();
        assert_eq!(own.in_proportion(&nothing, &now), own, "where it was not, as it is");
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
        let mut told = Vec::new();
        let subjects = [subject(true, 8_000, 50), subject(false, 8_000, 50)];
        let on_done = &mut |done, total| told.push((done, total));
        let (timed, meanwhile) = time(&subjects, &messages, &plan, on_done).unwrap();
        for timed in &timed {
            assert_eq!((timed.compressing.len(), timed.decompressing.len()), (3, 3));
            let samples = timed.compressing.iter().chain(&timed.decompressing);
            assert!(samples.copied().all(|seconds| seconds > 0.0));
        }
        assert_eq!((timed[0].contexts, timed[1].contexts), (20, 1));
        assert_eq!(told.last(), Some(&(6, 6)));
        assert!((0.0..=1.0).contains(&meanwhile.kept_waiting));
        interrupt.store(true, Ordering::Relaxed);
        assert_eq!(time(&subjects, &messages, &plan, &mut |_, _| {}), Err(Interrupted));
    }
}
