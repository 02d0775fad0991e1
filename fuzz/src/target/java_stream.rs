//! The fuzz target of Java object streams, as a foreign server might send them.

use super::portions;
use lastmile_wire_formats::java::{ObjectStreamReader, ObjectStreamWriter, ReadError, Value};

/// An object stream. Reading in portions gives the same as reading the whole, and each value can be written and read again.
pub fn java_stream(input: &[u8]) {
    let whole = read([input]);
    assert_same(&whole, &read(portions::of(input)));
    // Except blocks: the writer divides bytes into blocks as Java does, and leaves out empty ones.
    for value in whole.0.into_iter().filter(|value| !matches!(value, Value::Block(_))) {
        // The writer refuses streams that the reader accepts although no Java program sends them.
        if let Ok(bytes) = ObjectStreamWriter::new().write(&value) {
            assert_same(&read([&bytes[..]]), &(vec![value], Ok(())));
        }
    }
}

/// Values that were read, and how the stream ended.
type Contents = (Vec<Value>, Result<(), ReadError>);

/// Demands equal contents. A number that is not one (NaN) differs from itself: contents that differ must look the same, and give the
/// same bytes, so that such numbers are compared by their bits.
fn assert_same(found: &Contents, expected: &Contents) {
    if found == expected {
        return;
    }
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    let written = |contents: &Contents| -> Vec<_> {
        let values = contents.0.iter();
        values
            .map(|value| ObjectStreamWriter::new().write(value).ok())
            .collect()
    };
    assert_eq!(written(found), written(expected));
}

fn read<'a>(portions: impl IntoIterator<Item = &'a [u8]>) -> Contents {
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
