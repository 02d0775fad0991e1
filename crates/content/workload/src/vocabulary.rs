//! A vocabulary of pseudo-words with the frequencies of a natural language.

use lastmile_units::Rng;
use lastmile_units::random::{below, between, pick};

/// Words, the most frequent first.
pub(super) struct Words {
    words: Vec<String>,
    /// Running sums of the words' weights.
    cumulative: Vec<f64>,
}

/// About the number of different words on the pages of a shop or in a day of a chat: our own choice.
const VOCABULARY: usize = 3_000;

/// The weight of the word of rank r is 1 / (r + this): Zipf's law with Mandelbrot's shift (An Informational Theory of the
/// Statistical Structure of Language, 1953).
const SHIFT: f64 = 2.7;

const ONSETS: [&str; 22] = [
    "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "br", "pl", "ch", "sh", "gr",
];
const VOWELS: [&str; 10] = ["a", "e", "i", "o", "u", "a", "e", "o", "ea", "ou"];
const CODAS: [&str; 12] = ["", "", "", "n", "r", "s", "l", "t", "m", "nd", "st", "ck"];

impl Words {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let mut words: Vec<String> = Vec::with_capacity(VOCABULARY);
        let mut known = std::collections::BTreeSet::new();
        while words.len() < VOCABULARY {
            // Frequent words are short (Zipf's law of abbreviation).
            let syllables = match words.len() {
                0..60 => 1,
                60..400 => between(rng, 1, 2),
                _ => between(rng, 2, 3),
            };
            let word: String = (0..syllables)
                .flat_map(|_| [pick(rng, &ONSETS), pick(rng, &VOWELS), pick(rng, &CODAS)])
                .collect();
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        let mut sum = 0.0;
        let weights = (0..VOCABULARY).map(|rank| 1.0 / (rank as f64 + 1.0 + SHIFT));
        let cumulative = weights
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        Self { words, cumulative }
    }

    /// A random word, by frequency.
    pub(super) fn word(&self, rng: &mut Rng) -> &str {
        let total = self.cumulative.last().expect("there are words");
        let at = below(rng, 1 << 32) as f64 / (1_u64 << 32) as f64 * total;
        &self.words[self.cumulative.partition_point(|&sum| sum <= at).min(VOCABULARY - 1)]
    }

    /// A name, from words neither too frequent nor too rare.
    pub(super) fn name(&self, rng: &mut Rng) -> &str {
        // The minimum of two draws: names are reused, some more than others.
        let rank = below(rng, 400).min(below(rng, 400));
        &self.words[60 + rank]
    }

    /// `someName`.
    pub(super) fn camel(&self, rng: &mut Rng) -> String {
        format!("{}{}", self.name(rng), capitalised(self.name(rng)))
    }

    /// A sentence of 6 to 18 words.
    pub(super) fn sentence(&self, rng: &mut Rng) -> String {
        let count = between(rng, 6, 18);
        let comma = between(rng, 3, 12);
        let mut text = capitalised(self.word(rng));
        for index in 1..count {
            text.push_str(if index == comma { ", " } else { " " });
            text.push_str(self.word(rng));
        }
        text.push('.');
        text
    }

    pub(super) fn sentences(&self, count: usize, rng: &mut Rng) -> String {
        (0..count).map(|_| self.sentence(rng)).collect::<Vec<_>>().join(" ")
    }
}

/// `word` with its first letter in upper case.
pub(super) fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
