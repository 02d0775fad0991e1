//! How batches are compressed: each alone, in one stream for the connection, with a dictionary, or in Ice's way.

use bzip2::write::BzEncoder;
use lastmile_codec::content::WholeEncoder;
use lastmile_codec::message::{Dictionary, MessageCodec, MessageEncoder};
use lastmile_units::ByteCount;
use std::fmt;
use std::io::Write as _;
use std::str::FromStr as _;

/// A way of compressing batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// Each batch alone, by a content coding.
    Alone(&'static str),
    /// One compressor for the whole connection; each batch ends where the receiver can read it.
    Stream(&'static str),
    /// Each batch alone, with a dictionary trained on other documents.
    Dictionary(&'static str),
    /// As Ice does: bzip2 for messages of 100 bytes or more, even where that makes them larger.
    IceBzip2,
}

/// Those that are compared by default: what servers and RPC systems offer.
pub const COMPRESSIONS: [Compression; 9] = [
    Compression::None,
    Compression::Alone("gzip:6"),
    Compression::Alone("zstd:3"),
    Compression::Alone("zstd:12"),
    Compression::Alone("br:5"),
    Compression::IceBzip2,
    Compression::Stream("deflate:6"),
    Compression::Stream("zstd:3"),
    Compression::Dictionary("zstd:3"),
];

impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Alone(codec) => formatter.write_str(codec),
            Self::Stream(codec) => write!(formatter, "stream {codec}"),
            Self::Dictionary(codec) => write!(formatter, "dictionary {codec}"),
            Self::IceBzip2 => formatter.write_str("ice bzip2"),
        }
    }
}

/// The length from which Ice compresses a message, with its header of 14 bytes.
const ICE_THRESHOLD: usize = 100;
const ICE_HEADER: usize = 14;

/// The size of a dictionary: our own choice, the tool's default of 110 kB being for larger data.
const DICTIONARY_BYTES: ByteCount = ByteCount::new(4 << 10);

/// The fewest messages that a dictionary is trained on: our own choice.
const SAMPLES_MIN: usize = 20;

/// The most messages that a dictionary is trained on, at equal distances: our own choice; a hundred times its size is libzstd's advice.
const SAMPLES_MAX: usize = 1_000;

/// The size of batch after batch when compressed. The second argument is whether a batch is of the first half of the messages.
pub(crate) type Compressor = Box<dyn FnMut(&[u8], bool) -> usize>;

/// A dictionary from each half of the messages; none where there are too few.
pub(crate) fn dictionaries(messages: &[Vec<u8>]) -> Option<[Dictionary; 2]> {
    let (first, second) = messages.split_at(messages.len() / 2);
    if first.len() < SAMPLES_MIN {
        return None;
    }
    let train = |half: &[Vec<u8>]| {
        let samples: Vec<&[u8]> = half
            .iter()
            .step_by(half.len().div_ceil(SAMPLES_MAX))
            .map(Vec::as_slice)
            .collect();
        Dictionary::train(&samples, DICTIONARY_BYTES).ok()
    };
    Some([train(first)?, train(second)?])
}

/// A compressor at its start; none where it needs dictionaries and there are none.
pub(crate) fn compressor(compression: Compression, dictionaries: Option<&[Dictionary; 2]>) -> Option<Compressor> {
    const KNOWN: &str = "the codecs of this list are known";
    let codec = |text: &str| MessageCodec::from_str(text).expect(KNOWN);
    Some(match compression {
        Compression::None => Box::new(|batch, _| batch.len()),
        Compression::Alone(text) => {
            let mut encoder = WholeEncoder::new(text.parse().expect(KNOWN));
            Box::new(move |batch, _| encoder.encode(batch).len())
        }
        Compression::Stream(text) => {
            let mut encoder = MessageEncoder::new(&codec(text).with_takeover(true), None).expect(KNOWN);
            Box::new(move |batch, _| encoder.compressed_size(batch))
        }
        Compression::Dictionary(text) => {
            let [first, second] = dictionaries?;
            let encoder = |dictionary| MessageEncoder::new(&codec(text).with_takeover(false), Some(dictionary)).ok();
            // Batches of the first half use the dictionary of the second, and the other way round.
            let mut encoders = [encoder(first)?, encoder(second)?];
            Box::new(move |batch, in_first_half| encoders[usize::from(in_first_half)].compressed_size(batch))
        }
        Compression::IceBzip2 => Box::new(|batch, _| ice_size(batch)),
    })
}

fn ice_size(batch: &[u8]) -> usize {
    if batch.len() + ICE_HEADER < ICE_THRESHOLD {
        return batch.len();
    }
    let mut encoder = BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    let written = encoder.write_all(batch).and_then(|()| encoder.finish());
    // The size before compression precedes the compressed bytes.
    4 + written.expect("memory can be written").len()
}
