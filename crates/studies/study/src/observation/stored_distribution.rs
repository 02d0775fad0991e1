//! Distributions as the journal stores them: their moments as numbers, and their bins as compressed text.
//!
//! The bins are the steps from index to index and then the counts, each as zigzag LEB128, in zlib's format and base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use lastmile_statistics::Distribution;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

/// The most bytes of unpacked bins that are read: a double has 2^22 bins of both signs, of which no figure uses the hundredth part.
const BYTES_MAX: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct StoredDistribution {
    mean: f64,
    squares: f64,
    ends: [f64; 2],
    bins: String,
}

pub(super) fn serialize<S: Serializer>(all: &BTreeMap<String, Distribution>, to: S) -> Result<S::Ok, S::Error> {
    let store = |kept: &Distribution| {
        Some(StoredDistribution {
            mean: kept.mean(),
            squares: kept.squares(),
            ends: kept.ends(),
            bins: pack(kept.bins())?,
        })
    };
    let stored: Option<BTreeMap<&String, _>> = all.iter().map(|(name, kept)| Some((name, store(kept)?))).collect();
    stored
        .ok_or_else(|| ser::Error::custom("the bins cannot be compressed"))?
        .serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Distribution>, D::Error> {
    let stored = BTreeMap::<String, StoredDistribution>::deserialize(from)?;
    let read = |(name, stored): (String, StoredDistribution)| {
        let bins = unpack(&stored.bins);
        let kept = bins.and_then(|bins| Distribution::of_parts(stored.mean, stored.squares, stored.ends, bins));
        let kept = kept.ok_or_else(|| de::Error::custom(format!("the distribution of {name:?} is damaged")))?;
        Ok((name, kept))
    };
    stored.into_iter().map(read).collect()
}

fn pack(bins: impl Iterator<Item = (i64, u64)>) -> Option<String> {
    let (mut steps, mut counts, mut last) = (Vec::new(), Vec::new(), 0);
    for (bin, count) in bins {
        push_number(&mut steps, bin - last);
        push_number(&mut counts, i64::try_from(count).ok()?);
        last = bin;
    }
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(&steps).ok()?;
    deflate.write_all(&counts).ok()?;
    Some(STANDARD.encode(deflate.finish().ok()?))
}

fn unpack(text: &str) -> Option<Vec<(i64, u64)>> {
    let packed = STANDARD.decode(text).ok()?;
    let mut bytes = Vec::new();
    let mut inflate = ZlibDecoder::new(&packed[..]).take(BYTES_MAX + 1);
    inflate.read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > BYTES_MAX {
        return None;
    }
    let mut left = &bytes[..];
    let mut numbers = Vec::new();
    while !left.is_empty() {
        numbers.push(take_number(&mut left)?);
    }
    if numbers.len() % 2 == 1 {
        return None;
    }
    let (steps, counts) = numbers.split_at(numbers.len() / 2);
    let mut bin = 0_i64;
    let pairs = steps.iter().zip(counts).map(|(step, count)| {
        bin = bin.checked_add(*step)?;
        Some((bin, u64::try_from(*count).ok()?))
    });
    pairs.collect()
}

fn push_number(bytes: &mut Vec<u8>, number: i64) {
    let mut left = ((number << 1) ^ (number >> 63)) as u64;
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<i64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some((number >> 1) as i64 ^ -((number & 1) as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_are_read_back() {
        for number in [0, 1, -1, 63, 64, -64, -65, 1 << 40, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            assert_eq!(take_number(&mut &bytes[..]), Some(number), "{bytes:?}");
        }
        assert_eq!(take_number(&mut &[0x80][..]), None);
        assert_eq!(take_number(&mut &[0x80; 11][..]), None);
    }

    #[test]
    fn bins_are_read_back_and_damage_is_refused() {
        let bins = [(-5, 1), (0, 2), (7, 1_000_000), (1 << 40, 3)];
        let text = pack(bins.into_iter()).unwrap();
        assert_eq!(unpack(&text).unwrap(), bins);
        assert_eq!(unpack(&text[..text.len() - 4]), None);
        assert_eq!(unpack("!"), None);
        let mut zeros = ZlibEncoder::new(Vec::new(), Compression::best());
        zeros.write_all(&vec![0; 2 << 20]).unwrap();
        assert_eq!(
            unpack(&STANDARD.encode(zeros.finish().unwrap())),
            None,
            "more than is ever needed"
        );
    }
}
