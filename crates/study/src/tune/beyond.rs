//! What is tried beyond the grid? Other codecs, what both sides could know before the first message, and what a sender could decide.
//!
//! Levels and windows are what each library's makers recommend for streams of this kind, or zlib's nearest: our own choice. A dictionary
//! helps where a message has little before it that it could refer to: where each stands alone, and at the beginning of a connection; so it is
//! tried without takeover, and with it where connections are short. It is learnt from messages that it is then not tried on, and beside it
//! stands the same codec on the same messages without one. No browser knows other codecs or dictionaries: both ends have to be one's own.
//! Policies need the sender alone.

use super::part::Part;
use super::policy;
use lastmile_payload::message_codec::{Dictionary, MessageCodec, Policy};
use lastmile_payload::transcript::Messages;
use lastmile_units::Bytes;
use std::sync::Arc;

/// Something to try.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) codec: MessageCodec,
    /// In words, and what it is.
    pub(super) dictionary: Option<(String, Arc<Dictionary>)>,
    pub(super) policy: Policy,
    pub(super) part: Part,
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

/// What dictionaries are tried with, without takeover; and with it where connections are short.
const WITH_DICTIONARY: [&str; 2] = ["deflate:6/w15/m8", "zstd:3/w17"];

/// Connections are short that carry no more than this each, on average: our own choice, deflate's longest window, which a longer one has
/// filled by itself. Of fewer than so many, our own choice too, what is learnt from cuts so much off that the rest are shorter than they were.
const SHORT_CONNECTION: u64 = 32 << 10;
const CONNECTIONS_LEAST: usize = 10;

/// A trained dictionary's size: our own choice, half of deflate's longest window.
const TRAINED: Bytes = Bytes::new(16 << 10);

/// No more than this is tried, of the beginning of a stream: our own choice, a second of the slowest codec.
const OCTETS_MOST: u64 = 1_000_000;

/// Where codecs are tried.
pub(super) fn tried(messages: &Messages) -> Part {
    Part::first_octets(messages, OCTETS_MOST)
}

/// Every codec and dictionary that is tried on a stream, what can be compared next to each other.
pub(super) fn trials(messages: &Messages) -> Vec<Trial> {
    let tried = tried(messages);
    let mut trials: Vec<Trial> = CODECS
        .iter()
        .map(|text| codec(text))
        .flat_map(|codec| [codec, codec.with_takeover(false)])
        .map(|codec| Trial::plain(codec, &tried))
        .collect();
    if tried != Part::all(messages) {
        // What these are to be compared with is not among the points, which are of all messages.
        trials.splice(
            0..0,
            ["deflate:6/w15/m8", "deflate:6/w15/m8/no-takeover"].map(|text| Trial::plain(codec(text), &tried)),
        );
    }
    for (known, dictionary, part) in dictionaries(messages, &tried) {
        let dictionary = Arc::new(dictionary);
        for codec in WITH_DICTIONARY.map(codec) {
            let with_takeover = are_short(messages).then_some(codec);
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

/// What is tried, and the same under every policy that would do something to its messages; nothing where none would.
pub(super) fn under_policies(base: &Trial, messages: &Messages) -> Vec<Trial> {
    // Only permessage-deflate says of each message whether it is compressed; any other receiver would have to be told.
    let tells = matches!(base.codec, MessageCodec::Deflate(_) | MessageCodec::ZlibRs(_)) && base.dictionary.is_none();
    if !tells {
        return Vec::new();
    }
    let policies = policy::that_matter(messages, &base.part.messages).into_iter();
    // What forgets each message has nothing to give back.
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
    /// A codec, and nothing besides.
    pub(super) fn plain(codec: MessageCodec, part: &Part) -> Self {
        Self {
            codec,
            dictionary: None,
            policy: Policy::default(),
            part: part.clone(),
        }
    }

    /// As it is told, without its messages.
    pub(super) fn name(&self) -> String {
        let known = self.dictionary.as_ref().map(|(known, _)| format!(" with {known}"));
        let policy = (self.policy != Policy::default()).then(|| format!(", {}", self.policy));
        format!(
            "{}{}{}",
            self.codec,
            known.unwrap_or_default(),
            policy.unwrap_or_default()
        )
    }
}

/// Whether connections are many and carry little.
fn are_short(messages: &Messages) -> bool {
    let connections = messages.connections().len();
    connections >= CONNECTIONS_LEAST && messages.total().get() <= SHORT_CONNECTION * connections as u64
}

fn codec(text: &str) -> MessageCodec {
    text.parse().expect("what is tried are codecs")
}

/// What could be known beforehand, in words, and the messages that it was not learnt from.
fn dictionaries(messages: &Messages, tried: &Part) -> Vec<(String, Dictionary, Part)> {
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
            tried.behind(count)?,
        ))
    };
    let trained = || {
        let part = tried.second_half()?;
        let samples = &payloads[..payloads.len() - part.messages.len()];
        // Training refuses samples that are too few or too small; then there is no such dictionary.
        let dictionary = Dictionary::train(samples, TRAINED).ok()?;
        let words = format!(
            "a dictionary of {} KiB trained on the first half",
            Bytes::from(dictionary.content().len()).get().div_ceil(1 << 10)
        );
        Some((words, dictionary, part))
    };
    [first(1), first(10), trained()].into_iter().flatten().collect()
}
