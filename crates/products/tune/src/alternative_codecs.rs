//! The trials beyond the grid: other codecs, dictionaries, and sender policies.
//!
//! Levels and windows are what each library's makers recommend for streams of this kind, or the nearest to zlib's: our own choice. A
//! dictionary helps where a message has little history to refer to: without context takeover, and at the beginning of a connection; so it is
//! tried without takeover, and with takeover where connections are short. It is made from messages that it is then not tried on, and
//! compared with the same codec on the same messages without it. No browser supports other codecs or dictionaries, so the user has to
//! control both ends. Policies concern only the sender.

use super::message_range::MessageRange;
use super::policy;
use crate::record::setting_name;
use lastmile_codec::message::{Dictionary, MessageCodec, Policy};
use lastmile_traffic::messages::Messages;
use lastmile_units::ByteCount;
use std::sync::Arc;

/// A codec to try, with its dictionary and policy, on a part of the messages.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) codec: MessageCodec,
    /// Its name, and the dictionary.
    pub(super) dictionary: Option<(String, Arc<Dictionary>)>,
    pub(super) policy: Policy,
    pub(super) part: MessageRange,
}

/// Each with takeover and without.
const CODECS: [&str; 7] = [
    "zlib-rs:6/w15/m8",
    "zlib-rs:1/w15/m8",
    "zstd:1/w15",
    "zstd:3/w17",
    "brotli:5/w16",
    "lz4:1",
    "lz4hc:4",
];

/// The codecs that dictionaries are tried with: without takeover, and with takeover where connections are short.
const WITH_DICTIONARY: [&str; 2] = ["deflate:6/w15/m8", "zstd:3/w17"];

/// Connections count as short if they carry no more than this on average: our own choice, deflate's longest window, which a longer
/// connection fills by itself. With fewer than this many connections (our own choice, too), the messages taken for the dictionary would
/// noticeably shorten the rest.
const SHORT_CONNECTION: u64 = 32 << 10;
const CONNECTIONS_MIN: usize = 10;

/// A trained dictionary's size: our own choice, half of deflate's longest window.
const TRAINED: ByteCount = ByteCount::new(16 << 10);

/// Codecs are tried on at most this many bytes at the beginning of a stream: our own choice, a second for the slowest codec.
const TRIAL_BYTES_MAX: u64 = 1_000_000;

/// The part that codecs are tried on.
pub(super) fn trial_part(messages: &Messages) -> MessageRange {
    MessageRange::first_bytes(messages, TRIAL_BYTES_MAX)
}

/// All trials of codecs and dictionaries on a stream; those to be compared are adjacent.
pub(super) fn trials(messages: &Messages) -> Vec<Trial> {
    let tried = trial_part(messages);
    let mut trials: Vec<Trial> = CODECS
        .iter()
        .map(|text| codec(text))
        .flat_map(|codec| [codec, codec.with_takeover(false)])
        .map(|codec| Trial::plain(codec, &tried))
        .collect();
    if tried != MessageRange::all(messages) {
        // The points are measured on all messages; to compare with zlib on this part, it is tried here, too.
        trials.splice(
            0..0,
            ["deflate:6/w15/m8", "deflate:6/w15/m8/no-takeover"].map(|text| Trial::plain(codec(text), &tried)),
        );
    }
    for (known, dictionary, part) in dictionaries(messages, &tried) {
        let dictionary = Arc::new(dictionary);
        for codec in WITH_DICTIONARY.map(codec) {
            let with_takeover = has_short_connections(messages).then_some(codec);
            for codec in [codec.with_takeover(false)].into_iter().chain(with_takeover) {
                trials.push(Trial::plain(codec, &part));
                trials.push(Trial {
                    dictionary: Some((known.clone(), Arc::clone(&dictionary))),
                    ..Trial::plain(codec, &part)
                });
            }
        }
    }
    trials
}

/// The trial itself, then the same under every policy that affects its messages; empty if no policy does.
pub(super) fn under_policies(base: &Trial, messages: &Messages) -> Vec<Trial> {
    // Only permessage-deflate flags each message as compressed or not; other receivers would need to be told.
    let tells = matches!(base.codec, MessageCodec::Deflate(_) | MessageCodec::ZlibRs(_)) && base.dictionary.is_none();
    if !tells {
        return Vec::new();
    }
    let policies = policy::applicable_policies(messages, &base.part.messages).into_iter();
    // Without takeover there is no context to free.
    let can = |policy: &Policy| policy.reset_after_idle.is_none() || base.codec.takeover();
    let under: Vec<Trial> = policies
        .filter(can)
        .map(|policy| Trial { policy, ..base.clone() })
        .collect();
    if under.is_empty() {
        return Vec::new();
    }
    std::iter::once(base.clone()).chain(under).collect()
}

impl Trial {
    /// A codec without dictionary or policy.
    pub(super) fn plain(codec: MessageCodec, part: &MessageRange) -> Self {
        Self {
            codec,
            dictionary: None,
            policy: Policy::default(),
            part: part.clone(),
        }
    }

    /// The trial as text, without its messages.
    pub(super) fn name(&self) -> String {
        let known = self.dictionary.as_ref().map(|(known, _)| known);
        let policy = (self.policy != Policy::default()).then(|| self.policy.to_string());
        setting_name(&self.codec, known, policy.as_ref())
    }
}

/// Whether there are many connections that carry little each.
fn has_short_connections(messages: &Messages) -> bool {
    let connections = messages.connections().len();
    connections >= CONNECTIONS_MIN && messages.total().get() <= SHORT_CONNECTION * connections as u64
}

fn codec(text: &str) -> MessageCodec {
    text.parse().expect("the texts of trials are codecs")
}

/// The dictionaries to try: name, dictionary, and the messages that it was not made from.
fn dictionaries(messages: &Messages, tried: &MessageRange) -> Vec<(String, Dictionary, MessageRange)> {
    let payloads: Vec<&[u8]> = tried
        .messages
        .clone()
        .map(|message| messages.payload(message))
        .collect();
    let first = |count: usize| {
        let words = if count == 1 {
            "the first message".to_owned()
        } else {
            format!("the first {count} messages")
        };
        Some((
            words,
            Dictionary::raw(payloads.get(..count)?.concat()),
            tried.after_first(count)?,
        ))
    };
    let trained = || {
        let part = tried.second_half()?;
        let samples = &payloads[..payloads.len() - part.messages.len()];
        // Training refuses samples that are too few or too small; then there is no such dictionary.
        let dictionary = Dictionary::train(samples, TRAINED).ok()?;
        let words = format!(
            "a dictionary of {} KiB trained on the first half",
            ByteCount::from(dictionary.content().len()).get().div_ceil(1 << 10)
        );
        Some((words, dictionary, part))
    };
    [first(1), first(10), trained()].into_iter().flatten().collect()
}
