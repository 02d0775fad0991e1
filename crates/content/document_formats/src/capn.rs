//! Cap'n Proto: documents as structs of an inferred schema, in one segment, with the segment table of a stream before them.
//!
//! The format is that of capnproto.org/encoding.html. Our own, since the `capnp` crate builds structs of generated types alone. Fields take
//! the first place in the data section that is free for their size; a scalar that may be missing has a bit that says whether it is there.
//! Packing is the one of the same document: a tag of eight bits for each word.

mod layout;
mod packing;
mod reader;

use crate::lower::LoweredSchema;
use crate::scalar::{members_of, refuse_unknown, scalar_to_bits, written_value};
use crate::schema::Schema;
use layout::{Content, FieldLocation, StructLayout, element_code};
use serde_json::Value;

/// A writer and reader of messages.
#[derive(Debug, Clone)]
pub(crate) struct CapnProto {
    lowered: LoweredSchema,
    root: StructLayout,
    packed: bool,
}

impl CapnProto {
    pub(crate) fn new(schema: &Schema, packed: bool) -> Self {
        let lowered = LoweredSchema::new(schema, false);
        Self {
            root: StructLayout::new(lowered.fields()),
            lowered,
            packed,
        }
    }

    pub(crate) fn encode(&self, value: &Value) -> Result<Vec<u8>, String> {
        let mut message = Message { words: vec![0, 0] };
        message.write_struct_pointer(1, &self.root, &self.lowered.lower_value(value))?;
        // One segment: its number less one, and its size in words without the table.
        let words = u32::try_from(message.words.len() - 1).map_err(|_| "the message is longer than 32 GiB")?;
        message.words[0] = u64::from(words) << 32;
        let bytes: Vec<u8> = message.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(if self.packed { packing::pack(&bytes) } else { bytes })
    }

    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Value, String> {
        let unpacked;
        let bytes = if self.packed {
            unpacked = packing::unpack(bytes)?;
            &unpacked
        } else {
            bytes
        };
        self.lowered.raise_value(reader::read_root(&self.root, bytes)?)
    }
}

/// A message under construction. The first word is the segment table.
struct Message {
    words: Vec<u64>,
}

impl Message {
    fn allocate(&mut self, words: usize) -> usize {
        let at = self.words.len();
        self.words.resize(at + words, 0);
        at
    }

    fn write_struct_pointer(&mut self, pointer: usize, layout: &StructLayout, value: &Value) -> Result<(), String> {
        let target = self.allocate(layout.words());
        self.words[pointer] = distance(pointer, target)? | layout.size_bits();
        self.write_struct(target, layout, value)
    }

    fn write_struct(&mut self, at: usize, layout: &StructLayout, value: &Value) -> Result<(), String> {
        let members = members_of(value)?;
        refuse_unknown(members, |name| layout.fields.iter().any(|field| field.name == name))?;
        for field in &layout.fields {
            let Some(value) = written_value(&field.name, field.presence, members)? else {
                continue;
            };
            let in_field = |problem: String| format!("field {:?}: {problem}", field.name);
            match (&field.location, &field.content) {
                (FieldLocation::Data { bit, presence_bit }, Content::Scalar(schema)) => {
                    self.write_bits(at, *bit, scalar_to_bits(schema, value).map_err(in_field)?);
                    if let Some(bit) = presence_bit {
                        self.write_bits(at, *bit, 1);
                    }
                }
                (FieldLocation::Pointer(index), content) => {
                    self.write_content(at + layout.data_words + index, content, value)
                        .map_err(in_field)?;
                }
                (FieldLocation::Data { .. }, _) => unreachable!("the data section holds scalars"),
            }
        }
        Ok(())
    }

    fn write_bits(&mut self, at: usize, bit: usize, bits: u64) {
        self.words[at + bit / 64] |= bits << (bit % 64);
    }

    fn write_content(&mut self, pointer: usize, content: &Content, value: &Value) -> Result<(), String> {
        match (content, value) {
            (Content::Text, Value::String(text)) => self.write_text(pointer, text),
            (Content::Struct(layout), value) => self.write_struct_pointer(pointer, layout, value),
            (Content::List(element), Value::Array(values)) => self.write_list(pointer, element, values),
            (_, value) => Err(format!("{value} is not of the type in the schema")),
        }
    }

    fn write_text(&mut self, pointer: usize, text: &str) -> Result<(), String> {
        let target = self.allocate((text.len() + 1).div_ceil(8));
        for (at, byte) in text.bytes().enumerate() {
            self.write_bits(target, 8 * at, u64::from(byte));
        }
        self.words[pointer] = distance(pointer, target)? | list_bits(2, text.len() + 1)?;
        Ok(())
    }

    fn write_list(&mut self, pointer: usize, element: &Content, values: &[Value]) -> Result<(), String> {
        match element {
            Content::Scalar(schema) => {
                let (code, bits) = element_code(schema);
                let target = self.allocate((bits * values.len()).div_ceil(64));
                for (index, value) in values.iter().enumerate() {
                    self.write_bits(target, bits * index, scalar_to_bits(schema, value)?);
                }
                self.words[pointer] = distance(pointer, target)? | list_bits(code, values.len())?;
            }
            Content::Struct(layout) => {
                let words = layout.words() * values.len();
                let tag = self.allocate(1 + words);
                self.words[pointer] = distance(pointer, tag)? | list_bits(7, words)?;
                self.words[tag] = list_length(values.len())? << 2 | layout.size_bits();
                for (index, value) in values.iter().enumerate() {
                    self.write_struct(tag + 1 + index * layout.words(), layout, value)?;
                }
            }
            content => {
                let target = self.allocate(values.len());
                for (index, value) in values.iter().enumerate() {
                    self.write_content(target + index, content, value)?;
                }
                self.words[pointer] = distance(pointer, target)? | list_bits(6, values.len())?;
            }
        }
        Ok(())
    }
}

/// The offset of a pointer: words from its end to its target, in 30 bits above the kind.
fn distance(pointer: usize, target: usize) -> Result<u64, String> {
    let words = target - pointer - 1;
    if words >= 1 << 29 {
        return Err("the message is longer than 4 GiB".to_owned());
    }
    Ok((words as u64) << 2)
}

fn list_length(length: usize) -> Result<u64, String> {
    if length >= 1 << 29 {
        return Err(format!("a list of {length} elements is too long"));
    }
    Ok(length as u64)
}

fn list_bits(code: u64, length: usize) -> Result<u64, String> {
    Ok(list_length(length)? << 35 | code << 32 | 1)
}
