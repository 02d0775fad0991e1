//! The text on which codecs are measured.
//!
//! It resembles the JSON responses of an API and is made from a seed, so that every machine measures the same work.

use lastmile_units::random::below;
use lastmile_units::{ByteCount, Rng, Seed};
use std::fmt::Write as _;

/// JSON records with a number, two names, a time and a sentence each, cut to `size`.
///
/// Words are drawn from 1,000 made of syllables, low-numbered ones far more often, as in a language. gzip at level 6 compresses 200 kB
/// of it to about a fifth to a quarter, like the JSON responses that research on response compression uses.
pub(super) fn text(seed: Seed, size: ByteCount) -> Vec<u8> {
    let mut rng = seed.derive("calibration corpus").rng();
    let words: Vec<String> = (0..1000).map(|_| word(&mut rng)).collect();
    let mut text = String::from("[");
    for id in 1000.. {
        if text.len() as u64 >= size.get() {
            break;
        }
        let [name, place] = [(); 2].map(|()| common(&mut rng, &words));
        let sentence: Vec<_> = (0..4 + below(&mut rng, 9)).map(|_| common(&mut rng, &words)).collect();
        let (minute, second, value) = (below(&mut rng, 60), below(&mut rng, 60), below(&mut rng, 100_000));
        writeln!(
            text,
            "{{\"id\":{id},\"name\":\"{name}\",\"place\":\"{place}\",\"updated\":\"2005-06-15T12:{minute:02}:{second:02}Z\",\
             \"value\":{value},\"text\":\"{}\"}},",
            sentence.join(" ")
        )
        .expect("a text can always be written to");
    }
    text.truncate(size.get() as usize);
    text.into_bytes()
}

fn word(rng: &mut Rng) -> String {
    let (onsets, vowels, codas) = (b"bcdfghklmnprstvw", b"aeiou", b"nrstlm");
    let mut word = String::new();
    for _ in 0..1 + below(rng, 3) {
        word.push(char::from(onsets[below(rng, 16)]));
        word.push(char::from(vowels[below(rng, 5)]));
    }
    word.push(char::from(codas[below(rng, 6)]));
    word
}

/// A word at the lowest of three drawn positions: half of all words come from the first fifth of the list.
fn common<'a>(rng: &mut Rng, words: &'a [String]) -> &'a str {
    let rank = [(); 3].map(|()| below(rng, words.len())).into_iter().min();
    &words[rank.expect("three draws have a least")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_codec::content::encoded_size;

    #[test]
    fn it_is_as_long_as_asked_the_same_every_time_and_compresses_like_an_answer() {
        let size = ByteCount::new(200_000);
        let corpus = text(Seed::new(1), size);
        assert_eq!(ByteCount::from(corpus.len()), size);
        assert_eq!(corpus, text(Seed::new(1), size));
        let left = encoded_size("gzip:6".parse().unwrap(), [corpus.as_slice()]).as_f64() / size.as_f64();
        assert!((0.18..0.30).contains(&left), "{left}");
    }
}
