//! What is tried beyond the grid? Other codecs, what both sides could know before the first message, and what a sender could decide.
//!
//! Levels and windows are what each library's makers recommend for streams of this kind, or zlib's nearest: our own choice. A dictionary
//! helps most where each message stands alone, so that is where it is tried; it is learnt from messages that it is then not tried on,
//! and beside it stands the same codec on the same messages without one. No browser knows any of this: both ends have to be one's own.

use super::candidate::USUAL;
use super::part::Part;
use super::policy::Policy;
use lastmile_payload::message_codec::{Dictionary, MessageCodec};
use lastmile_payload::transcript::Messages;
use lastmile_units::Bytes;
use std::sync::Arc;

/// Something to try.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) codec: MessageCodec,
    /// In words, and what it is.
    pub(super) dictionary: Option<(String, Arc<Dictionary>)>,
    pub(super) policy: Option<Policy>,
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

/// What dictionaries are tried with.
const WITH_DICTIONARY: [&str; 2] = ["deflate:6/w15/m8/no-takeover", "zstd:3/w17/no-takeover"];

/// A trained dictionary's size: our own choice, half of deflate's longest window.
const TRAINED: Bytes = Bytes::new(16 << 10);

/// No more than this is tried, of the beginning of a stream: our own choice, a second of the slowest codec.
const OCTETS_MOST: u64 = 1_000_000;

/// Where codecs are tried.
pub(super) fn tried(messages: &Messages) -> Part {
    Part::first_octets(messages, OCTETS_MOST)
}

/// Everything that is tried on a stream, what can be compared next to each other.
pub(super) fn trials(messages: &Messages) -> Vec<Trial> {
    let tried = tried(messages);
    let plain = |codec: MessageCodec, part: &Part| Trial {
        codec,
        dictionary: None,
        policy: None,
        part: part.clone(),
    };
    let mut trials: Vec<Trial> = CODECS
        .iter()
        .map(|text| codec(text))
        .flat_map(|codec| [codec, codec.with_takeover(false)])
        .map(|codec| plain(codec, &tried))
        .collect();
    if tried != Part::all(messages) {
        // What these are to be compared with is not among the points, which are of all messages.
        trials.splice(
            0..0,
            ["deflate:6/w15/m8", "deflate:6/w15/m8/no-takeover"].map(|text| plain(codec(text), &tried)),
        );
    }
    trials.extend(
        Policy::that_matter(messages, &tried.messages)
            .into_iter()
            .map(|policy| Trial {
                policy: Some(policy),
                ..plain(MessageCodec::Deflate(USUAL), &tried)
            }),
    );
    for (known, dictionary, part) in dictionaries(messages, &tried) {
        let dictionary = Arc::new(dictionary);
        for text in WITH_DICTIONARY {
            trials.push(plain(codec(text), &part));
            trials.push(Trial {
                dictionary: Some((known.clone(), Arc::clone(&dictionary))),
                ..plain(codec(text), &part)
            });
        }
    }
    trials
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
