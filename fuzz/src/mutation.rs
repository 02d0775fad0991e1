//! Seeded mutations of inputs, as a broken, hostile or merely different writer might have sent them.
//!
//! Unlike libFuzzer's, these mutations are not guided by coverage: they are for a quick check that is the same every time.

use lastmile_units::Rng;
use lastmile_units::random::below;
use rand_core::Rng as _;

/// The longest input that is made, so that no reader takes long over one.
pub const LENGTH_MAX: usize = 64 << 10;

/// Bytes and numbers that have a special meaning in many formats, or are at the limits of their types.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    u64::MAX,
];

/// Makes an input from `base`, of one to four changes. `other` is spliced in now and then, as are `words`.
pub fn mutate(rng: &mut Rng, base: &[u8], other: &[u8], words: &[Vec<u8>]) -> Vec<u8> {
    let mut input = base.to_vec();
    for _ in 0..=below(rng, 4) {
        change(rng, &mut input, other, words);
    }
    input.truncate(LENGTH_MAX);
    input
}

fn change(rng: &mut Rng, input: &mut Vec<u8>, other: &[u8], words: &[Vec<u8>]) {
    let at = below(rng, input.len() + 1);
    let end = at + below(rng, (input.len() - at).min(64) + 1);
    match below(rng, 9) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << below(rng, 8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = rng.next_u32() as u8;
            }
        }
        2 => input.truncate(at),
        3 => drop(input.drain(at..end)),
        4 => {
            let repeated = input[at..end].to_vec();
            let times = 1 + below(rng, 8);
            insert(input, at, &repeated.repeat(times));
        }
        5 => {
            let from = below(rng, other.len() + 1);
            let to = from + below(rng, other.len() - from + 1);
            input.truncate(at);
            input.extend(&other[from..to]);
        }
        6 if !words.is_empty() => {
            let word = &words[below(rng, words.len())];
            insert(input, at, word);
        }
        7 => number_in_text(rng, input, at),
        _ => {
            // A big-endian number of one to eight bytes, written over the input: a length, a handle, a count.
            let width = 1 << below(rng, 4);
            let number = EDGES[below(rng, EDGES.len())].to_be_bytes();
            for (byte, new) in input.iter_mut().skip(at).zip(&number[8 - width..]) {
                *byte = *new;
            }
        }
    }
}

/// Replaces the decimal number at or after `at`, if there is one.
fn number_in_text(rng: &mut Rng, input: &mut Vec<u8>, at: usize) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = input[at..].iter().position(is_digit).map(|offset| at + offset) else {
        return;
    };
    let end = input[start..]
        .iter()
        .position(|byte| !is_digit(byte))
        .map_or(input.len(), |offset| start + offset);
    let number = EDGES[below(rng, EDGES.len())].to_string();
    input.splice(start..end, number.bytes());
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    input.splice(at..at, bytes.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::Seed;

    fn some(seed: u64) -> Vec<Vec<u8>> {
        let mut rng = Seed::new(seed).rng();
        (0..500)
            .map(|_| mutate(&mut rng, b"{\"size\": 12}", b"[1, 2, 3]", &[b"null".to_vec()]))
            .collect()
    }

    #[test]
    fn a_seed_gives_the_same_inputs_every_time_and_another_seed_gives_others() {
        assert_eq!(some(1), some(1));
        assert_ne!(some(1), some(2));
    }

    #[test]
    fn every_kind_of_change_is_made() {
        let inputs = some(1);
        let any = |holds: &dyn Fn(&[u8]) -> bool| inputs.iter().any(|input| holds(input));
        assert!(
            any(&|input| input.is_empty() || b"{\"size\": 12}".starts_with(input)),
            "cut off"
        );
        assert!(any(&|input| input.ends_with(b"3]")), "spliced");
        assert!(
            any(&|input| input.windows(4).any(|four| four == b"null")),
            "a word put in"
        );
        assert!(
            any(&|input| input.windows(10).any(|ten| ten == b"4294967295")),
            "a number replaced"
        );
        assert!(any(&|input| input.len() > 24), "repeated");
    }

    #[test]
    fn an_input_never_passes_the_greatest_length() {
        let mut rng = Seed::new(1).rng();
        let long = vec![b'7'; LENGTH_MAX];
        assert!((0..50).all(|_| mutate(&mut rng, &long, &long, &[]).len() <= LENGTH_MAX));
    }
}
