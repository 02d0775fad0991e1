//! Reads buffers by their schema; every offset is checked, and no byte is read by more than a bounded number of references.

use super::inline_struct;
use crate::scalar::{missing, scalar_bytes, scalar_from_bits};
use crate::schema::{Field, Presence, Schema};
use serde_json::{Map, Value};

/// The deepest nesting of tables that is read: that of the crate's verifier.
const DEPTH_MAX: usize = 64;

/// A buffer that refers to the same table again and again may not grow into more values than this for each of its bytes: our own choice.
const VALUES_PER_BYTE_MAX: usize = 4;

struct Buffer<'a> {
    bytes: &'a [u8],
    /// How many more values may be read.
    values: usize,
}

pub(super) fn read_root(fields: &[Field], bytes: &[u8]) -> Result<Value, String> {
    let mut buffer = Buffer {
        bytes,
        values: VALUES_PER_BYTE_MAX * bytes.len() + 64,
    };
    let root = buffer.follow(0)?;
    buffer.table(fields, root, 0)
}

impl Buffer<'_> {
    fn number<const N: usize>(&self, at: usize) -> Result<[u8; N], String> {
        let bytes = at.checked_add(N).and_then(|end| self.bytes.get(at..end));
        bytes
            .map(|bytes| bytes.try_into().expect("N bytes were taken"))
            .ok_or_else(|| format!("byte {at} is beyond the end"))
    }

    fn four_bytes(&self, at: usize) -> Result<usize, String> {
        self.number(at).map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// Where the offset at `at` leads.
    fn follow(&self, at: usize) -> Result<usize, String> {
        Ok(at.saturating_add(self.four_bytes(at)?))
    }

    fn count(&mut self, values: usize) -> Result<(), String> {
        self.values = self
            .values
            .checked_sub(values)
            .ok_or("the buffer refers to the same values too often")?;
        Ok(())
    }

    fn table(&mut self, fields: &[Field], at: usize, depth: usize) -> Result<Value, String> {
        if depth > DEPTH_MAX {
            return Err(format!("tables are nested more than {DEPTH_MAX} deep"));
        }
        self.count(1 + fields.len())?;
        let back = i64::from(i32::from_le_bytes(self.number(at)?));
        let vtable =
            usize::try_from(at as i64 - back).map_err(|_| "a table's vtable is before the start".to_owned())?;
        let vtable_bytes = usize::from(u16::from_le_bytes(self.number(vtable)?));
        let mut members = Map::new();
        for (index, field) in fields.iter().enumerate() {
            let slot = 4 + 2 * index;
            let offset = if slot + 2 <= vtable_bytes {
                u16::from_le_bytes(self.number(vtable + slot)?)
            } else {
                0
            };
            let value = match (offset, field.presence) {
                (0, Presence::Optional) => continue,
                (0, Presence::NullIfMissing) => Value::Null,
                (0, Presence::Always) => default(&field.schema).ok_or_else(|| missing(&field.name))?,
                (offset, _) => self
                    .content(&field.schema, at + usize::from(offset), depth)
                    .map_err(|problem| format!("field {:?}: {problem}", field.name))?,
            };
            members.insert(field.name.clone(), value);
        }
        Ok(Value::Object(members))
    }

    fn content(&mut self, schema: &Schema, at: usize, depth: usize) -> Result<Value, String> {
        if let Some((fields, bytes)) = inline_struct(schema) {
            let mut members = Map::new();
            for (index, field) in fields.iter().enumerate() {
                members.insert(field.name.clone(), self.scalar(&field.schema, at + index * bytes)?);
            }
            return Ok(Value::Object(members));
        }
        match schema {
            Schema::Text => self.text(self.follow(at)?),
            Schema::Struct(fields) => self.table(fields, self.follow(at)?, depth + 1),
            Schema::List(element) => self.vector(element, self.follow(at)?, depth),
            scalar => self.scalar(scalar, at),
        }
    }

    fn vector(&mut self, element: &Schema, at: usize, depth: usize) -> Result<Value, String> {
        let length = self.four_bytes(at)?;
        let width = scalar_bytes(element).unwrap_or(4);
        let first = at + 4;
        if length > self.bytes.len().saturating_sub(first) / width {
            return Err(format!("a vector of {length} elements does not fit into the buffer"));
        }
        self.count(length)?;
        let mut values = Vec::with_capacity(length);
        for index in 0..length {
            let at = first + index * width;
            values.push(match element {
                Schema::Text => self.text(self.follow(at)?)?,
                Schema::Struct(fields) => self.table(fields, self.follow(at)?, depth + 1)?,
                scalar => self.scalar(scalar, at)?,
            });
        }
        Ok(Value::Array(values))
    }

    fn text(&mut self, at: usize) -> Result<Value, String> {
        let length = self.four_bytes(at)?;
        let first = at + 4;
        let bytes = first.checked_add(length).and_then(|end| self.bytes.get(first..end));
        let bytes = bytes.ok_or_else(|| format!("a text of {length} bytes does not fit into the buffer"))?;
        self.count(length / 16)?;
        let text = std::str::from_utf8(bytes).map_err(|error| format!("a text is not UTF-8: {error}"))?;
        Ok(Value::String(text.to_owned()))
    }

    fn scalar(&self, schema: &Schema, at: usize) -> Result<Value, String> {
        let bits = match scalar_bytes(schema) {
            Some(1) => u64::from(self.number::<1>(at)?[0]),
            Some(2) => u64::from(u16::from_le_bytes(self.number(at)?)),
            Some(4) => u64::from(u32::from_le_bytes(self.number(at)?)),
            Some(_) => u64::from_le_bytes(self.number(at)?),
            None => return Err("a scalar is expected".to_owned()),
        };
        scalar_from_bits(schema, bits)
    }
}

fn default(schema: &Schema) -> Option<Value> {
    match schema {
        Schema::Bool => Some(Value::Bool(false)),
        Schema::Float => Some(Value::from(0.0)),
        Schema::Integer { .. } => Some(Value::from(0)),
        _ => None,
    }
}
