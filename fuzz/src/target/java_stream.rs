//! Java object streams, as a server elsewhere might send them.

use super::portions;
use lastmile_payload::encoding::java::{ObjectStreamReader, ObjectStreamWriter, ReadError, Value};

pub(super) const WORDS: &[&str] = &[
    "\u{0}",
    "\u{70}",
    "\u{71}\u{0}\u{7e}\u{0}\u{0}",
    "\u{72}",
    "\u{73}",
    "\u{74}\u{0}\u{1}a",
    "\u{75}",
    "\u{76}",
    "\u{77}\u{1}\u{0}",
    "\u{78}",
    "\u{78}\u{70}",
    "\u{79}",
    "\u{7a}",
    "\u{7b}",
    "\u{7c}",
    "\u{7d}",
    "\u{7e}",
    "I\u{0}\u{1}a",
    "L\u{0}\u{1}a",
    "[\u{0}\u{1}a",
];

/// An object stream. It reads alike in portions and whole, and each value can be written and read again.
pub fn java_stream(input: &[u8]) {
    let whole = read([input]);
    assert_eq!(whole, read(portions::of(input)));
    // Blocks apart: the writer divides octets into blocks as Java does, and leaves out empty ones.
    for value in whole.0.into_iter().filter(|value| !matches!(value, Value::Block(_))) {
        // The writer refuses what the reader takes and no Java program sends.
        if let Ok(bytes) = ObjectStreamWriter::new().write(&value) {
            let (again, ended) = read([&bytes[..]]);
            assert_eq!((again, ended), (vec![value], Ok(())));
        }
    }
}

fn read<'a>(portions: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Value>, Result<(), ReadError>) {
    let mut reader = ObjectStreamReader::new();
    let mut values = Vec::new();
    for portion in portions {
        reader.feed(portion);
        loop {
            match reader.next_value() {
                Ok(Some(value)) => values.push(value),
                Ok(None) => break,
                Err(error) => return (values, Err(error)),
            }
        }
    }
    let ended = reader.finish();
    (values, ended)
}
