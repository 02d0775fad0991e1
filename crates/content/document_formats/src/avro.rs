//! Avro's binary encoding: documents by their schema, without names, as messages between programs that both have it.
//!
//! The format is chapter "Binary Encoding" of the Avro 1.12 specification: numbers as zigzag varints, texts after their length, a list as
//! blocks of counted items and a block of none, an object as its fields in order, and a value that may be missing as a union with null. A
//! union within a union stands in a record of one field, which has no bytes of its own. It is our own, since `apache-avro` brings the codecs and
//! dates of its container files, which nothing here uses.

use crate::scalar::{from_float, mismatch, refuse_unknown, to_float, whole, whole_number, written_value};
use crate::schema::{Field, Presence, Schema};
use serde_json::{Map, Value};

/// A document as bytes.
pub(crate) fn encode(schema: &Schema, value: &Value) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    write(schema, value, &mut out)?;
    Ok(out)
}

/// A document from all of its bytes.
pub(crate) fn decode(schema: &Schema, bytes: &[u8]) -> Result<Value, String> {
    let mut reader = Reader { rest: bytes };
    let value = reader.value(schema)?;
    whole(value, reader.rest.len())
}

fn write(schema: &Schema, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
    match (schema, value) {
        (Schema::Bool, Value::Bool(value)) => out.push(u8::from(*value)),
        (Schema::Integer { min, max }, Value::Number(number)) => {
            let number = whole_number(number, *min, *max)?;
            let number =
                i64::try_from(number).map_err(|_| format!("{number} does not fit into a signed number of 64 bits"))?;
            write_long(number, out);
        }
        (Schema::Float, Value::Number(number)) => {
            out.extend_from_slice(&to_float(number)?.to_le_bytes());
        }
        (Schema::Text, Value::String(text)) => write_text(text, out),
        (Schema::Json, value) => write_text(&value.to_string(), out),
        (Schema::List(element), Value::Array(values)) => {
            write_items(values, out, |value, out| write(element, value, out))?;
        }
        (Schema::Map(element), Value::Object(members)) => {
            write_items(members, out, |(key, value), out| {
                write_text(key, out);
                write(element, value, out)
            })?;
        }
        (Schema::Struct(fields), Value::Object(members)) => write_record(fields, members, out)?,
        (Schema::Nullable(_), Value::Null) => write_long(NULL, out),
        (Schema::Nullable(inner), value) => {
            write_long(PRESENT, out);
            write(inner, value, out)?;
        }
        (schema, value) => return Err(mismatch(schema, value)),
    }
    Ok(())
}

/// The branches of a union with null.
const NULL: i64 = 0;
const PRESENT: i64 = 1;

fn write_record(fields: &[Field], members: &Map<String, Value>, out: &mut Vec<u8>) -> Result<(), String> {
    refuse_unknown(members, |name| fields.iter().any(|field| field.name == name))?;
    for field in fields {
        let value = written_value(&field.name, field.presence, members)?;
        if field.presence != Presence::Always {
            write_long(if value.is_some() { PRESENT } else { NULL }, out);
        }
        if let Some(value) = value {
            write(&field.schema, value, out)?;
        }
    }
    Ok(())
}

/// One block of all items, and the empty one that ends them.
fn write_items<I: IntoIterator<IntoIter: ExactSizeIterator>>(
    items: I,
    out: &mut Vec<u8>,
    mut write_item: impl FnMut(I::Item, &mut Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    let items = items.into_iter();
    let count = items.len();
    if count > 0 {
        write_long(count as i64, out);
        let begin = out.len();
        for item in items {
            write_item(item, out)?;
        }
        if out.len() - begin < count {
            return Err("a list of values of zero bytes says nothing about its length to a careful reader".to_owned());
        }
    }
    write_long(0, out);
    Ok(())
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_long(text.len() as i64, out);
    out.extend_from_slice(text.as_bytes());
}

/// A zigzag varint.
fn write_long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| format!("{count} bytes are needed where {} are left", self.rest.len()))?;
        self.rest = rest;
        Ok(taken)
    }

    fn long(&mut self) -> Result<i64, String> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err("a number has more than 64 bits".to_owned())
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.long()?;
        let length = usize::try_from(length).map_err(|_| format!("{length} is no length"))?;
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
    }

    /// Whether a union has its value.
    fn is_present(&mut self) -> Result<bool, String> {
        match self.long()? {
            NULL => Ok(false),
            PRESENT => Ok(true),
            other => Err(format!("a union of two has no branch {other}")),
        }
    }

    /// Calls `item` for each item of all blocks.
    fn items(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        loop {
            let count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                // Its size in bytes follows, for readers that skip it.
                self.long()?;
            }
            // An item has a byte at least: this bounds what is made of few bytes.
            if count.unsigned_abs() > self.rest.len() as u64 {
                return Err(format!("{} items in {} bytes", count.unsigned_abs(), self.rest.len()));
            }
            for _ in 0..count.unsigned_abs() {
                item(self)?;
            }
        }
    }

    fn value(&mut self, schema: &Schema) -> Result<Value, String> {
        Ok(match schema {
            Schema::Bool => match self.take(1)?[0] {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                other => return Err(format!("{other} is neither true nor false")),
            },
            Schema::Integer { min, max } => {
                let number = self.long()?;
                if !(*min..=*max).contains(&i128::from(number)) {
                    return Err(format!("{number} is not from {min} to {max}"));
                }
                Value::from(number)
            }
            Schema::Float => {
                let bytes = self.take(8)?.try_into().map_err(|_| "a number is cut off")?;
                from_float(f64::from_le_bytes(bytes))?
            }
            Schema::Text => Value::String(self.text()?),
            Schema::Json => serde_json::from_str(&self.text()?).map_err(|error| error.to_string())?,
            Schema::List(element) => {
                let mut values = Vec::new();
                self.items(|reader| {
                    values.push(reader.value(element)?);
                    Ok(())
                })?;
                Value::Array(values)
            }
            Schema::Map(element) => {
                let mut members = Map::new();
                self.items(|reader| {
                    members.insert(reader.text()?, reader.value(element)?);
                    Ok(())
                })?;
                Value::Object(members)
            }
            Schema::Struct(fields) => {
                let mut members = Map::new();
                for field in fields {
                    let value = match field.presence {
                        Presence::Always => Some(self.value(&field.schema)?),
                        _ if self.is_present()? => Some(self.value(&field.schema)?),
                        Presence::NullIfMissing => Some(Value::Null),
                        Presence::Optional => None,
                    };
                    members.extend(value.map(|value| (field.name.clone(), value)));
                }
                Value::Object(members)
            }
            Schema::Nullable(inner) => {
                if self.is_present()? {
                    self.value(inner)?
                } else {
                    Value::Null
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn integers() -> Schema {
        Schema::Integer {
            min: i128::from(i64::MIN),
            max: i128::from(i64::MAX),
        }
    }

    /// The examples of the specification: 0, -1, 1, -2, 2, -64, 64; the text "foo"; the array of 3 and 27; a record of 27 and "foo"; a union.
    #[test]
    fn the_examples_of_the_specification_have_its_bytes() {
        let hex = |schema: &Schema, value: Value| {
            let bytes = encode(schema, &value).unwrap();
            assert_eq!(decode(schema, &bytes).unwrap(), value);
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        for (number, wanted) in [
            (0, "00"),
            (-1, "01"),
            (1, "02"),
            (-2, "03"),
            (2, "04"),
            (-64, "7f"),
            (64, "8001"),
        ] {
            assert_eq!(hex(&integers(), json!(number)), wanted);
        }
        assert_eq!(hex(&integers(), json!(i64::MIN)), "ffffffffffffffffff01");
        assert_eq!(hex(&Schema::Text, json!("foo")), "06666f6f");
        assert_eq!(hex(&Schema::List(Box::new(integers())), json!([3, 27])), "04063600");
        let field = |name: &str, schema| Field {
            name: name.to_owned(),
            presence: Presence::Always,
            schema,
        };
        let record = Schema::Struct(vec![field("a", integers()), field("b", Schema::Text)]);
        assert_eq!(hex(&record, json!({"a": 27, "b": "foo"})), "3606666f6f");
        let union = Schema::Nullable(Box::new(Schema::Text));
        assert_eq!(hex(&union, json!("a")), "020261");
        assert_eq!(hex(&union, json!(null)), "00");
    }

    #[test]
    fn hostile_counts_are_refused_before_anything_is_made_and_sized_blocks_are_read() {
        let list = Schema::List(Box::new(Schema::Bool));
        assert!(
            decode(&list, b"\xfe\xff\xff\xff\x0f\x00")
                .unwrap_err()
                .contains("items in")
        );
        assert!(decode(&integers(), &[0xff; 11]).unwrap_err().contains("64 bits"));
        assert!(decode(&Schema::Text, b"\x01").unwrap_err().contains("no length"));
        // A block of two with its size, and one of one.
        assert_eq!(
            decode(&list, b"\x03\x04\x01\x00\x02\x01\x00").unwrap(),
            json!([true, false, true])
        );
    }
}
