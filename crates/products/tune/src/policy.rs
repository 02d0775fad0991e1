//! Selects the policies that affect these messages, and computes how much of the time a policy keeps a context allocated.
//!
//! [`Policy`], in `payload`, is what a sender may decide for itself, message by message; the receiver needs no configuration (RFC 7692
//! sections 6 and 7.2.1).

use lastmile_codec::message::Kind;
use lastmile_codec::message::Policy;
use lastmile_traffic::messages::Messages;
use lastmile_units::{ByteCount, Probability};
use std::ops::Range;
use std::time::Duration;

/// Thresholds: the default of ws, 1,024 B, and a shorter one; RFC 7692 leaves them to senders. Fragment length and idle time are our own
/// choices.
const THRESHOLDS: [ByteCount; 2] = [ByteCount::new(128), ByteCount::new(1024)];
const FRAGMENT: ByteCount = ByteCount::new(1000);
const IDLE: Duration = Duration::from_secs(60);

/// The policies that affect some of these messages.
pub(super) fn applicable_policies(messages: &Messages, among: &Range<usize>) -> Vec<Policy> {
    let all = Policy::default();
    let length = |message| ByteCount::from(messages.payload(message).len());
    let any = |does: &dyn Fn(usize) -> bool| among.clone().any(does);
    let mut policies = Vec::new();
    let is_text = |message| messages.kind(message) == Kind::Text;
    if any(&is_text) && any(&|message| !is_text(message)) {
        let skip = Some(Kind::Binary);
        policies.push(Policy { skip, ..all });
    }
    for threshold in THRESHOLDS {
        if any(&|message| length(message) < threshold) && any(&|message| length(message) >= threshold) {
            policies.push(Policy { threshold, ..all });
        }
    }
    if any(&|message| length(message) > FRAGMENT) {
        let fragment = Some(FRAGMENT);
        policies.push(Policy { fragment, ..all });
    }
    let forgets = Policy {
        reset_after_idle: Some(IDLE),
        ..all
    };
    if context_alive_share(&forgets, messages, among).is_some_and(|kept| kept < Probability::ALWAYS) {
        policies.push(forgets);
    }
    policies
}

/// The share of the time between a connection's first message and its last, over all connections together, in which its compressing
/// context is allocated; none where no time is known.
pub(super) fn context_alive_share(policy: &Policy, messages: &Messages, among: &Range<usize>) -> Option<Probability> {
    let (mut kept, mut all) = (Duration::ZERO, Duration::ZERO);
    for connection in messages.connections() {
        let own = connection.messages.start.max(among.start)..connection.messages.end.min(among.end);
        let mut coded_at = None;
        let mut before = None;
        for message in own {
            let Some(at) = messages.at(message) else { continue };
            let passed = at.saturating_sub(before.unwrap_or(at));
            all += passed;
            before = Some(at);
            // The part of the time since the previous message that lies within the idle time of the last compressed one.
            kept += match (coded_at, policy.reset_after_idle) {
                (_, None) => passed,
                (None, Some(_)) => Duration::ZERO,
                (Some(coded_at), Some(idle)) => {
                    let since: Duration = at.saturating_sub(coded_at);
                    passed.saturating_sub(since.saturating_sub(idle))
                }
            };
            let size = ByteCount::from(messages.payload(message).len());
            if policy.compresses(messages.kind(message), size) {
                coded_at = Some(at);
            }
        }
    }
    if all.is_zero() {
        return None;
    }
    Probability::new((kept.as_secs_f64() / all.as_secs_f64()).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Measured, measure};
    use crate::tests::{message, recording};
    use lastmile_traffic::messages::Message;

    fn measured(messages: &[Message], policy: Policy) -> Measured {
        let recording = recording(messages);
        let sent = &recording.messages.sent;
        let whole = 0..sent.len();
        measure(&"deflate".parse().unwrap(), None, policy, sent, &[whole]).unwrap()
    }

    fn at(seconds: u64, text: &str) -> Message {
        Message {
            at: Some(Duration::from_secs(seconds)),
            ..message(text)
        }
    }

    const ALL: Policy = Policy {
        skip: None,
        threshold: ByteCount::ZERO,
        fragment: None,
        reset_after_idle: None,
    };
    const FORGETS: Policy = Policy {
        reset_after_idle: Some(IDLE),
        ..ALL
    };

    #[test]
    fn what_is_left_as_it_is_counts_whole_and_spoils_nothing() {
        let text = || message(&"to be or not to be ".repeat(10));
        let noise = Message {
            kind: Kind::Binary,
            payload: (0..200_u8)
                .map(|byte| byte.wrapping_mul(171) ^ (byte >> 2))
                .collect::<Vec<_>>()
                .into(),
            ..message("")
        };
        let alone = measured(&[text(), text()], ALL);
        let text_only = Policy {
            skip: Some(Kind::Binary),
            ..ALL
        };
        let mixed = measured(&[text(), noise, text()], text_only);
        assert_eq!(mixed.coded, alone.coded + 200);
        let from_two = Policy {
            threshold: ByteCount::new(2),
            ..ALL
        };
        let short = measured(&[message("a"), text()], from_two);
        assert_eq!(short.coded, 1 + measured(&[text()], ALL).coded);
    }

    #[test]
    fn fragments_cost_a_flush_each_and_come_back_whole() {
        let long = [message(&"to be or not to be ".repeat(200))];
        let fragments = Policy {
            fragment: Some(FRAGMENT),
            ..ALL
        };
        assert!(measured(&long, fragments).coded > measured(&long, ALL).coded);
    }

    #[test]
    fn who_forgets_after_idleness_is_understood_by_a_receiver_that_is_not_told() {
        let messages = [0, 1, 61].map(|seconds| at(seconds, "to be or not to be"));
        let one = measured(&messages[..1], ALL).coded;
        let two = measured(&messages[..2], ALL).coded;
        let kept = measured(&messages, ALL);
        let forgotten = measured(&messages, FORGETS);
        assert_eq!(forgotten.coded, two + one);
        assert!(kept.coded < forgotten.coded);
        assert_eq!(
            kept.contexts, forgotten.contexts,
            "while it is allocated, it uses the same memory"
        );
    }

    #[test]
    fn a_context_is_kept_for_the_idle_time_after_each_message_and_no_longer() {
        let kept = |messages: &[Message], policy: &Policy| {
            let recording = recording(messages);
            let sent = &recording.messages.sent;
            context_alive_share(policy, sent, &(0..sent.len())).map(Probability::get)
        };
        // 30 s and 60 s of 30 s and 270 s.
        let messages = [0, 30, 300].map(|seconds| at(seconds, "a"));
        assert_eq!(kept(&messages, &FORGETS), Some(0.3));
        assert_eq!(kept(&messages, &ALL), Some(1.0));
        // An uncompressed message makes no context: none is allocated before 300 s.
        let long = Policy {
            threshold: ByteCount::new(2),
            ..FORGETS
        };
        assert_eq!(kept(&messages, &long), Some(0.0));
        let coded_first = [at(0, "long"), at(30, "a"), at(300, "a")];
        assert_eq!(
            kept(&coded_first, &long),
            Some(0.2),
            "60 s of 300 s, whatever is sent uncompressed"
        );
        assert_eq!(kept(&["a", "b"].map(message), &FORGETS), None, "no time is known");
    }

    #[test]
    fn policies_that_would_do_nothing_are_not_tried() {
        let of = |messages: &[Message]| {
            let recording = recording(messages);
            let sent = &recording.messages.sent;
            let policies = applicable_policies(sent, &(0..sent.len())).into_iter();
            policies.map(|policy| policy.to_string()).collect::<Vec<_>>()
        };
        assert!(of(&[message("a"), message("b")]).is_empty());
        let long = message(&"a".repeat(1500));
        assert_eq!(
            of(&[message("a"), long]),
            ["from 128 B", "from 1.024 kB", "fragments of 1 kB"]
        );
        assert_eq!(of(&[at(0, "a"), at(60, "b")]), [""; 0], "kept for all of the time");
        assert_eq!(of(&[at(0, "a"), at(61, "b")]), ["resets after 60 s idle"]);
    }
}
