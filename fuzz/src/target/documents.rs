//! The fuzz targets of Ice and CDR, and of documents in every encoding.

use lastmile_document_formats::{Encoder, Encoding, Schema, infer, same};
use lastmile_wire_formats::positional::{self, Format};
use lastmile_wire_formats::{cdr, ice};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One of everything that Ice and CDR both have.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    text: String,
    flag: bool,
    numbers: Vec<i64>,
    pairs: BTreeMap<String, (u8, i16)>,
    kind: Kind,
    nested: Vec<Sample>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    One,
    Two,
}

/// A value in Ice 1.0, Ice 1.1 or CDR of either byte order, as the first byte says. What is read can be written, and read again to the same.
pub fn positional(input: &[u8]) {
    match input.split_first() {
        Some((0, bytes)) => positional_as::<ice::Ice10>(bytes),
        Some((1, bytes)) => positional_as::<ice::Ice11>(bytes),
        Some((2, bytes)) => positional_as::<cdr::LittleEndian>(bytes),
        Some((_, bytes)) => positional_as::<cdr::BigEndian>(bytes),
        None => {}
    }
    let _ = positional::read_at::<cdr::LittleEndian, Vec<String>>(input, 1);
    let _ = positional::read_at::<cdr::BigEndian, Vec<String>>(input, 1);
}

fn positional_as<F: Format>(bytes: &[u8]) {
    let Ok(sample) = positional::from_slice::<F, Sample>(bytes) else {
        return;
    };
    let written = positional::to_vec::<F, _>(&sample).expect("what was read is not nested too deeply");
    // A dictionary that names a key twice, and padding, are written in one way only.
    assert_eq!(positional::from_slice::<F, Sample>(&written).as_ref(), Ok(&sample));
}

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    infer(&[
        json!({"id": 7, "name": "north", "place": {"x": -1, "y": 2}, "level": 0.5, "flags": [true], "rows": [[1], []], "tags": ["a", null], "mixed": 1}),
        json!({"id": 70_000, "name": "", "place": {"x": 300, "y": 2}, "flags": [], "rows": [], "tags": [], "mixed": "x", "inner": [{"a": null}, {"a": 5}]}),
    ])
});

/// A document in the encoding that the first byte says. What is read can be written, and read again to the same; a document takes no more
/// memory than some hundred times its bytes.
pub fn documents(input: &[u8]) {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let encoding = Encoding::ALL[usize::from(choice) % Encoding::ALL.len()];
    let encoder = Encoder::new(encoding, &SCHEMA);
    let Ok(document) = encoder.decode(bytes) else { return };
    // Two packed bytes may stand for 2 kB of zeros.
    let unpacked = if encoding == Encoding::CapnProtoPacked {
        1024 * bytes.len()
    } else {
        bytes.len()
    };
    assert!(
        values(&document) <= 4096 + 64 * unpacked,
        "{} values of {} bytes",
        values(&document),
        bytes.len()
    );
    // Numbers beyond the range of the schema are read, and refused when they are written.
    let Ok(written) = encoder.encode(&document) else { return };
    let again = encoder.decode(&written).expect("what was written can be read");
    assert!(same(&again, &document), "{document} became {again}");
}

fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}
