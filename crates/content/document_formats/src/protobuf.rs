//! Protocol Buffers, version 3: documents as messages of an inferred schema, which is also shown as `.proto` text.
//!
//! A field that may be missing is `optional`; others are left out where they hold their default, as generated code does. Whole numbers
//! without a sign are `uint64`, others `sint64`; numbers in lists are packed. Keys and varints are prost's.

use crate::lower::LoweredSchema;
use crate::scalar::{
    complete, from_float, members_of, mismatch, refuse_unknown, to_float, whole_number, written_value,
};
use crate::schema::{Field, Presence, Schema};
use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The deepest nesting of messages that is read: that of prost.
const DEPTH_MAX: usize = 100;

/// A writer and reader of messages.
#[derive(Debug, Clone)]
pub(crate) struct Protobuf(LoweredSchema);

impl Protobuf {
    pub(crate) fn new(schema: &Schema) -> Self {
        Self(LoweredSchema::new(schema, true))
    }

    pub(crate) fn encode(&self, value: &Value) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        write_message(self.0.fields(), &self.0.lower_value(value), &mut bytes)?;
        Ok(bytes)
    }

    pub(crate) fn decode(&self, mut bytes: &[u8]) -> Result<Value, String> {
        self.0.raise_value(read_message(self.0.fields(), &mut bytes, 0)?)
    }

    /// The schema as `.proto` text.
    pub(crate) fn text(&self) -> String {
        let mut text = "syntax = \"proto3\";\n".to_owned();
        write_definition("Document", self.0.fields(), &mut Vec::new(), &mut text);
        text
    }
}

fn write_definition(name: &str, fields: &[Field], names: &mut Vec<String>, text: &mut String) {
    names.push(name.to_owned());
    let mut nested = Vec::new();
    let mut body = String::new();
    for (field, number) in fields.iter().zip(1..) {
        let mut type_name = |schema: &Schema| match schema {
            Schema::Bool => "bool".to_owned(),
            Schema::Integer { min, .. } => if *min < 0 { "sint64" } else { "uint64" }.to_owned(),
            Schema::Float => "double".to_owned(),
            Schema::Struct(fields) => {
                let mut message = camel_case(&field.name);
                while names.contains(&message) {
                    message.push('_');
                }
                names.push(message.clone());
                nested.push((message.clone(), fields.clone()));
                message
            }
            _ => "string".to_owned(),
        };
        let declared = match (&field.schema, field.presence) {
            (Schema::List(element), _) => format!("repeated {}", type_name(element)),
            (schema @ Schema::Struct(_), _) | (schema, Presence::Always) => type_name(schema),
            (schema, _) => format!("optional {}", type_name(schema)),
        };
        let identifier = identifier(&field.name);
        let json_name = if identifier == field.name {
            String::new()
        } else {
            format!(" [json_name = {:?}]", field.name)
        };
        let _ = writeln!(body, "  {declared} {identifier} = {number}{json_name};");
    }
    let _ = write!(text, "\nmessage {name} {{\n{body}}}\n");
    for (name, fields) in nested {
        write_definition(&name, &fields, names, text);
    }
}

fn identifier(name: &str) -> String {
    let mut identifier: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !identifier.starts_with(|c: char| c.is_ascii_alphabetic()) {
        identifier.insert_str(0, "field_");
    }
    identifier
}

fn camel_case(name: &str) -> String {
    let identifier = identifier(name);
    let words = identifier.split('_').filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

fn write_message(fields: &[Field], value: &Value, bytes: &mut Vec<u8>) -> Result<(), String> {
    let members = members_of(value)?;
    refuse_unknown(members, |name| fields.iter().any(|field| field.name == name))?;
    for (field, number) in fields.iter().zip(1_u32..) {
        if let Some(value) = written_value(&field.name, field.presence, members)? {
            write_field(field, number, value, field.presence != Presence::Always, bytes)
                .map_err(|problem| format!("field {:?}: {problem}", field.name))?;
        }
    }
    Ok(())
}

fn write_field(field: &Field, number: u32, value: &Value, explicit: bool, bytes: &mut Vec<u8>) -> Result<(), String> {
    match (&field.schema, value) {
        (Schema::Text, Value::String(text)) => {
            if explicit || !text.is_empty() {
                write_delimited(number, text.as_bytes(), bytes);
            }
        }
        (Schema::Struct(fields), value) => write_nested(fields, number, value, bytes)?,
        (Schema::List(element), Value::Array(values)) => match &**element {
            Schema::Struct(fields) => values
                .iter()
                .try_for_each(|value| write_nested(fields, number, value, bytes))?,
            Schema::Text => {
                for value in values {
                    let text = value.as_str().ok_or_else(|| format!("{value} is no text"))?;
                    write_delimited(number, text.as_bytes(), bytes);
                }
            }
            scalar if !values.is_empty() => {
                let mut packed = Vec::new();
                values
                    .iter()
                    .try_for_each(|value| write_scalar(scalar, value, &mut packed))?;
                write_delimited(number, &packed, bytes);
            }
            _ => {}
        },
        (scalar, value) => {
            let before = bytes.len();
            encode_key(number, wire_type(scalar), bytes);
            let key_end = bytes.len();
            write_scalar(scalar, value, bytes)?;
            let is_default = bytes[key_end..].iter().all(|&byte| byte == 0);
            if is_default && !explicit {
                bytes.truncate(before);
            }
        }
    }
    Ok(())
}

fn write_nested(fields: &[Field], number: u32, value: &Value, bytes: &mut Vec<u8>) -> Result<(), String> {
    let mut nested = Vec::new();
    write_message(fields, value, &mut nested)?;
    write_delimited(number, &nested, bytes);
    Ok(())
}

fn write_delimited(number: u32, content: &[u8], bytes: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, bytes);
    encode_varint(content.len() as u64, bytes);
    bytes.extend_from_slice(content);
}

fn wire_type(scalar: &Schema) -> WireType {
    if *scalar == Schema::Float {
        WireType::SixtyFourBit
    } else {
        WireType::Varint
    }
}

fn write_scalar(scalar: &Schema, value: &Value, bytes: &mut Vec<u8>) -> Result<(), String> {
    match (scalar, value) {
        (Schema::Bool, Value::Bool(value)) => bytes.push(u8::from(*value)),
        (Schema::Float, Value::Number(number)) => {
            bytes.extend_from_slice(&to_float(number)?.to_le_bytes());
        }
        (Schema::Integer { min, max }, Value::Number(number)) => {
            let number = whole_number(number, *min, *max)?;
            if *min < 0 {
                let number = i64::try_from(number).map_err(|_| format!("{number} does not fit into sint64"))?;
                encode_varint(((number << 1) ^ (number >> 63)).cast_unsigned(), bytes);
            } else {
                encode_varint(number as u64, bytes);
            }
        }
        (scalar, value) => return Err(mismatch(scalar, value)),
    }
    Ok(())
}

fn read_message(fields: &[Field], bytes: &mut &[u8], depth: usize) -> Result<Value, String> {
    if depth > DEPTH_MAX {
        return Err(format!("messages are nested more than {DEPTH_MAX} deep"));
    }
    let mut members = Map::new();
    for field in fields {
        match (field.presence, &field.schema) {
            (Presence::Always, Schema::Struct(_)) | (Presence::Optional, _) => {}
            (Presence::Always, schema) => drop(members.insert(field.name.clone(), default(schema))),
            (Presence::NullIfMissing, _) => drop(members.insert(field.name.clone(), Value::Null)),
        }
    }
    while !bytes.is_empty() {
        let (number, wire) = decode_key(bytes).map_err(|error| error.to_string())?;
        let Some(field) = fields.get(number as usize - 1) else {
            return Err(format!("field {number} is not in the schema"));
        };
        let at = |problem: String| format!("field {:?}: {problem}", field.name);
        let value = match (&field.schema, wire) {
            (Schema::List(element), WireType::LengthDelimited) => {
                let content = read_delimited(bytes).map_err(at)?;
                let list = members.get_mut(&field.name).and_then(Value::as_array_mut);
                read_elements(
                    element,
                    content,
                    depth,
                    list.ok_or_else(|| at("it is no list".to_owned()))?,
                )
                .map_err(at)?;
                continue;
            }
            (Schema::Struct(fields), WireType::LengthDelimited) => {
                read_message(fields, &mut read_delimited(bytes).map_err(at)?, depth + 1).map_err(at)?
            }
            (Schema::Text, WireType::LengthDelimited) => read_text(read_delimited(bytes).map_err(at)?).map_err(at)?,
            (scalar, wire) if wire == wire_type(scalar) => read_scalar(scalar, bytes).map_err(at)?,
            _ => return Err(at(format!("its wire type is {wire:?}"))),
        };
        members.insert(field.name.clone(), value);
    }
    complete(fields, members)
}

fn read_elements(element: &Schema, mut content: &[u8], depth: usize, list: &mut Vec<Value>) -> Result<(), String> {
    match element {
        Schema::Struct(fields) => list.push(read_message(fields, &mut content, depth + 1)?),
        Schema::Text => list.push(read_text(content)?),
        scalar => {
            while !content.is_empty() {
                list.push(read_scalar(scalar, &mut content)?);
            }
        }
    }
    Ok(())
}

fn default(schema: &Schema) -> Value {
    match schema {
        Schema::Bool => Value::Bool(false),
        Schema::Float => Value::from(0.0),
        Schema::Integer { .. } => Value::from(0),
        Schema::List(_) => Value::Array(Vec::new()),
        _ => Value::String(String::new()),
    }
}

fn read_delimited<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], String> {
    let length = decode_varint(bytes).map_err(|error| error.to_string())?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let Some((content, rest)) = bytes.split_at_checked(length) else {
        return Err(format!("it is {length} bytes long, and {} are left", bytes.len()));
    };
    *bytes = rest;
    Ok(content)
}

fn read_text(content: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(content).map_err(|error| format!("it is not UTF-8: {error}"))?;
    Ok(Value::String(text.to_owned()))
}

fn read_scalar(scalar: &Schema, bytes: &mut &[u8]) -> Result<Value, String> {
    if *scalar == Schema::Float {
        let (number, rest) = bytes.split_first_chunk().ok_or("fewer than 8 bytes are left")?;
        *bytes = rest;
        return from_float(f64::from_le_bytes(*number));
    }
    let number = decode_varint(bytes).map_err(|error| error.to_string())?;
    Ok(match scalar {
        Schema::Bool => Value::Bool(number != 0),
        Schema::Integer { min, .. } if *min < 0 => {
            Value::from((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
        }
        _ => Value::from(number),
    })
}
