//! The values of calls: prose, a bibliography or ticks, encoded and checked.

use super::schema::{java_stream, not_encoded, not_read, read_java_stream, schema};
use lastmile_document_formats::{Encoder, Encoding as DocumentEncoding};
use lastmile_study::settings::{Encoding, Payload};
use lastmile_testbed::failure::Failure;
use lastmile_units::Seed;
use lastmile_units::random::below;
use lastmile_wire_formats::{cdr, ice};
use lastmile_workload::bibliography::{self, Entry};
use lastmile_workload::prose;
use lastmile_workload::ticks::{Tick, ticks};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::num::NonZeroU32;

/// Makes the parameters of calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    pub(super) payload: Payload,
    pub(super) encoding: Encoding,
    /// The number of lines, entries or ticks of a call; where it is not set, the whole text, the whole bibliography, or one tick.
    pub(super) entries: Option<NonZeroU32>,
    /// Whether the text has its words in another order in each transfer: a compressor that remembers would send the same text for nothing.
    pub(super) shuffles: bool,
}

impl Values {
    /// The name of the operation that takes them.
    pub(super) fn operation(self) -> &'static str {
        match self.payload {
            Payload::Text => "putText",
            Payload::Bibliography => "putBib",
            Payload::Ticks => "tick",
        }
    }

    /// The parameters of the calls of a transfer. Each call of a transfer, and each transfer, has values of its own, save an unshuffled text.
    pub(super) fn calls(self, calls: usize, seed: Seed) -> Result<Vec<Vec<u8>>, Failure> {
        let entries = self.entries.map(|entries| entries.get() as usize);
        match self.payload {
            Payload::Text => {
                let lines = |call: usize| {
                    let seed = seed.derive_index(call as u64);
                    text(entries, self.shuffles || call > 0, seed)
                };
                (0..calls).map(|call| self.encode(&lines(call))).collect()
            }
            Payload::Bibliography => {
                let entries = entries.unwrap_or(bibliography::ENTRIES);
                let of_call = |call: usize| bibliography::entries(entries, seed.derive_index(call as u64));
                (0..calls).map(|call| self.encode(&of_call(call))).collect()
            }
            Payload::Ticks => {
                let per_call = entries.unwrap_or(1);
                let all = ticks(calls * per_call, seed);
                let of_call = |ticks: &[Tick]| match ticks {
                    [tick] => self.encode(tick),
                    several => self.encode(several),
                };
                all.chunks(per_call).map(of_call).collect()
            }
        }
    }

    /// Whether these are the parameters of a call: they must be read to the end.
    pub(super) fn check(self, parameters: &[u8]) -> Result<(), Failure> {
        match self.payload {
            Payload::Text => self.decode::<Vec<String>>(parameters),
            Payload::Bibliography => self.decode::<Vec<Entry>>(parameters),
            Payload::Ticks if self.is_single_tick() => self.decode::<Tick>(parameters),
            Payload::Ticks => self.decode::<Vec<Tick>>(parameters),
        }
    }

    fn encode<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, Failure> {
        match self.encoding {
            Encoding::Ice => ice::to_vec(value).map_err(not_encoded),
            Encoding::Cdr => cdr::to_vec(value).map_err(not_encoded),
            Encoding::Json => serde_json::to_vec(value).map_err(not_encoded),
            encoding => {
                let value = serde_json::to_value(value).map_err(not_encoded)?;
                let schema = schema(self.payload, self.is_single_tick());
                match document_encoding(encoding) {
                    Some(encoding) => Encoder::new(encoding, &schema).encode(&value).map_err(not_encoded),
                    None => java_stream(&schema, &value),
                }
            }
        }
    }

    fn decode<T: DeserializeOwned>(self, parameters: &[u8]) -> Result<(), Failure> {
        match self.encoding {
            Encoding::Ice => ice::from_slice::<T>(parameters).map(drop).map_err(not_read),
            Encoding::Cdr => cdr::from_slice::<T>(parameters).map(drop).map_err(not_read),
            Encoding::Json => serde_json::from_slice::<T>(parameters).map(drop).map_err(not_read),
            encoding => match document_encoding(encoding) {
                Some(encoding) => {
                    let decoder = Encoder::new(encoding, &schema(self.payload, self.is_single_tick()));
                    let value = decoder.decode(parameters).map_err(not_read)?;
                    T::deserialize(value).map(drop).map_err(not_read)
                }
                None => read_java_stream(parameters),
            },
        }
    }

    fn is_single_tick(self) -> bool {
        self.entries.is_none_or(|entries| entries.get() == 1)
    }
}

/// The encodings that the crate `document` has; none for Java's.
fn document_encoding(encoding: Encoding) -> Option<DocumentEncoding> {
    Some(match encoding {
        Encoding::Ice => DocumentEncoding::Ice,
        Encoding::Cdr => DocumentEncoding::Cdr,
        Encoding::Json => DocumentEncoding::Json,
        Encoding::MessagePack => DocumentEncoding::MessagePack,
        Encoding::Cbor => DocumentEncoding::Cbor,
        Encoding::Protobuf => DocumentEncoding::Protobuf,
        Encoding::Avro => DocumentEncoding::Avro,
        Encoding::Postcard => DocumentEncoding::Postcard,
        Encoding::Xml => DocumentEncoding::Xml,
        Encoding::FlatBuffers => DocumentEncoding::FlatBuffers,
        Encoding::CapnProto => DocumentEncoding::CapnProto,
        Encoding::Java => return None,
    })
}

/// So many lines of the text, which begins again where it ends; in `shuffles`, of its words in another order.
fn text(lines: Option<usize>, shuffles: bool, seed: Seed) -> Vec<String> {
    let all = if shuffles {
        shuffled(&prose::lines(), seed)
    } else {
        prose::lines()
    };
    let count = lines.unwrap_or(all.len());
    all.iter().cycle().take(count).cloned().collect()
}

/// The same lines with the words of all of them in another order: as many words in each line, so nearly as many bytes.
fn shuffled(lines: &[String], seed: Seed) -> Vec<String> {
    let mut words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    let mut rng = seed.derive("words").rng();
    for last in (1..words.len()).rev() {
        let other = below(&mut rng, last + 1);
        words.swap(last, other);
    }
    let mut words = words.into_iter();
    let line = |line: &String| {
        let count = line.split_whitespace().count();
        words.by_ref().take(count).collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCODINGS: [Encoding; 12] = [
        Encoding::Ice,
        Encoding::Cdr,
        Encoding::Json,
        Encoding::MessagePack,
        Encoding::Cbor,
        Encoding::Protobuf,
        Encoding::Avro,
        Encoding::Postcard,
        Encoding::Xml,
        Encoding::FlatBuffers,
        Encoding::CapnProto,
        Encoding::Java,
    ];

    fn values(payload: Payload, entries: Option<u32>, shuffles: bool) -> Values {
        Values {
            payload,
            encoding: Encoding::Ice,
            entries: entries.and_then(NonZeroU32::new),
            shuffles,
        }
    }

    #[test]
    fn every_call_can_be_read_and_differs_from_the_one_before() {
        for (payload, entries) in [
            (Payload::Text, None),
            (Payload::Bibliography, Some(1)),
            (Payload::Ticks, None),
            (Payload::Ticks, Some(3)),
        ] {
            for encoding in ENCODINGS {
                let values = Values {
                    encoding,
                    ..values(payload, entries, true)
                };
                let calls = values.calls(3, Seed::new(1)).unwrap();
                assert_eq!(calls.len(), 3);
                calls.iter().for_each(|call| values.check(call).unwrap());
                assert!(calls[0] != calls[1] && calls[1] != calls[2]);
                assert_ne!(calls, values.calls(3, Seed::new(2)).unwrap());
            }
        }
    }

    #[test]
    fn a_shuffled_text_has_the_same_bytes_in_another_order() {
        let length = |shuffles| values(Payload::Text, None, shuffles).calls(1, Seed::new(1)).unwrap()[0].len();
        assert_eq!(length(true), length(false));
    }
}
