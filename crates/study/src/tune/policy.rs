//! Which messages are compressed, and how? What a sender may decide for itself, message by message (RFC 7692 sections 6 and 7.2.1): its
//! receiver sees by RSV1 whether a message is compressed, and needs to be told nothing else.

use lastmile_payload::message_codec::MessageEncoder;
use lastmile_payload::transcript::{Kind, Messages};
use lastmile_report::number::quantity;
use lastmile_units::{Bytes, duration};
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// What a sender decides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// Binary messages are left as they are, and out of the context.
    TextOnly,
    /// Shorter messages are.
    From(Bytes),
    /// Messages are sent in fragments of so many octets, each flushed so that it can be decoded before the next is there.
    Fragments(Bytes),
    /// The compressor forgets all messages after so long without one, so that its memory can be given back. The receiver need not know.
    ForgetAfter(Duration),
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TextOnly => f.write_str("text only"),
            Self::From(least) => write!(f, "from {}", quantity(least.as_f64(), "B")),
            Self::Fragments(length) => write!(f, "in fragments of {}", quantity(length.as_f64(), "B")),
            Self::ForgetAfter(idle) => write!(f, "forgets after {} idle", duration::print(*idle)),
        }
    }
}

/// Thresholds: what RFC 7692 leaves to senders and ws has as its default, 1,024 B, and a shorter one; fragments and idleness are our own
/// choices.
const THRESHOLDS: [Bytes; 2] = [Bytes::new(128), Bytes::new(1024)];
const FRAGMENT: Bytes = Bytes::new(1000);
const IDLE: Duration = Duration::from_secs(60);

impl Policy {
    /// Those that would do something to some of these messages.
    pub(super) fn that_matter(messages: &Messages, among: &Range<usize>) -> Vec<Self> {
        let length = |message| Bytes::from(messages.payload(message).len());
        let any = |does: &dyn Fn(usize) -> bool| among.clone().any(does);
        let mut policies = Vec::new();
        let is_text = |message| messages.kind(message) == Kind::Text;
        if any(&is_text) && any(&|message| !is_text(message)) {
            policies.push(Self::TextOnly);
        }
        for least in THRESHOLDS {
            if any(&|message| length(message) < least) && any(&|message| length(message) >= least) {
                policies.push(Self::From(least));
            }
        }
        if any(&|message| length(message) > FRAGMENT) {
            policies.push(Self::Fragments(FRAGMENT));
        }
        let forgets = messages.connections().iter().any(|own| {
            let follow = (own.messages.start + 1).max(among.start)..own.messages.end.min(among.end);
            follow.into_iter().any(|message| idle(messages, message) >= Some(IDLE))
        });
        if forgets {
            policies.push(Self::ForgetAfter(IDLE));
        }
        policies
    }

    /// Appends a message, as it is sent, to `out`; says whether it is compressed. `follows` says whether one went before it.
    pub(super) fn encode(
        self,
        encoder: &mut MessageEncoder,
        messages: &Messages,
        message: usize,
        follows: bool,
        out: &mut Vec<u8>,
    ) -> bool {
        let plain = messages.payload(message);
        let left = match self {
            Self::TextOnly => messages.kind(message) == Kind::Binary,
            Self::From(least) => Bytes::from(plain.len()) < least,
            Self::Fragments(_) | Self::ForgetAfter(_) => false,
        };
        if left {
            out.extend_from_slice(plain);
            return false;
        }
        match self {
            Self::Fragments(length) => encoder.encode_fragmented(plain, length, out, &mut Vec::new()),
            Self::ForgetAfter(most) if follows && idle(messages, message) >= Some(most) => {
                encoder.reset();
                encoder.encode(plain, out);
            }
            _ => encoder.encode(plain, out),
        }
        true
    }
}

/// How long after the message before it one came; none where that is not known.
fn idle(messages: &Messages, message: usize) -> Option<Duration> {
    let before = messages.at(message.checked_sub(1)?)?;
    messages.at(message)?.checked_sub(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::measure::{Measured, measure};
    use crate::tune::tests::{message, recording};
    use lastmile_payload::transcript::Message;

    fn measured(messages: &[Message], policy: Option<Policy>) -> Measured {
        let recording = recording(messages);
        let sent = &recording.messages.sent;
        let whole = 0..sent.len();
        measure(&"deflate".parse().unwrap(), None, policy, sent, &[whole]).unwrap()
    }

    #[test]
    fn what_is_left_as_it_is_counts_whole_and_spoils_nothing() {
        let text = || message(&"to be or not to be ".repeat(10));
        let noise = Message {
            kind: Kind::Binary,
            payload: (0..200_u8)
                .map(|octet| octet.wrapping_mul(171) ^ (octet >> 2))
                .collect::<Vec<_>>()
                .into(),
            ..message("")
        };
        let alone = measured(&[text(), text()], None);
        let mixed = measured(&[text(), noise, text()], Some(Policy::TextOnly));
        assert_eq!(mixed.coded, alone.coded + 200);
        let short = measured(&[message("a"), text()], Some(Policy::From(Bytes::new(2))));
        assert_eq!(short.coded, 1 + measured(&[text()], None).coded);
    }

    #[test]
    fn fragments_cost_a_flush_each_and_come_back_whole() {
        let long = [message(&"to be or not to be ".repeat(200))];
        assert!(measured(&long, Some(Policy::Fragments(Bytes::new(1000)))).coded > measured(&long, None).coded);
    }

    #[test]
    fn who_forgets_after_idleness_is_understood_by_a_receiver_that_is_not_told() {
        let at = |seconds, text| Message {
            at: Some(Duration::from_secs(seconds)),
            ..message(text)
        };
        let messages = [
            at(0, "to be or not to be"),
            at(1, "to be or not to be"),
            at(61, "to be or not to be"),
        ];
        let policy = Policy::ForgetAfter(Duration::from_secs(60));
        let one = measured(&messages[..1], None).coded;
        let kept = measured(&messages, None).coded;
        let forgotten = measured(&messages, Some(policy)).coded;
        assert_eq!(forgotten, kept - (kept - measured(&messages[..2], None).coded) + one);
    }

    #[test]
    fn policies_that_would_do_nothing_are_not_tried() {
        let of = |messages: &[Message]| {
            let recording = recording(messages);
            let sent = &recording.messages.sent;
            Policy::that_matter(sent, &(0..sent.len()))
        };
        assert_eq!(of(&[message("a"), message("b")]), []);
        let long = message(&"a".repeat(1500));
        let expected = [
            Policy::From(THRESHOLDS[0]),
            Policy::From(THRESHOLDS[1]),
            Policy::Fragments(FRAGMENT),
        ];
        assert_eq!(of(&[message("a"), long]), expected);
    }
}
