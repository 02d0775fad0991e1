//! Reads messages by their schema. Every pointer is checked, and what is read in all is limited, as Cap'n Proto's own readers do.

use super::layout::{Content, FieldLocation, StructLayout, element_code};
use crate::scalar::scalar_from_bits;
use crate::schema::Presence;
use serde_json::{Map, Value};

/// The deepest nesting that is read: that of the reference implementation.
const DEPTH_MAX: usize = 64;

/// A message may not be read into more words than this for each of its own: our own choice. Pointers may lead to one place again and again.
const TRAVERSAL_FACTOR: usize = 8;

struct Segment<'a> {
    bytes: &'a [u8],
    words_left: usize,
}

pub(super) fn read_root(layout: &StructLayout, bytes: &[u8]) -> Result<Value, String> {
    let (head, bytes) = bytes.split_first_chunk::<8>().ok_or("the segment table is missing")?;
    let head = u64::from_le_bytes(*head);
    let words = (head >> 32) as usize;
    if head as u32 != 0 || words.checked_mul(8) != Some(bytes.len()) {
        return Err(format!(
            "the segment table must give one segment of {} bytes",
            bytes.len()
        ));
    }
    let mut segment = Segment {
        bytes,
        words_left: TRAVERSAL_FACTOR * words + 64,
    };
    let pointer = segment.word(0)?;
    if pointer == 0 {
        return Err("the root is missing".to_owned());
    }
    let location = segment.struct_target(0, pointer)?;
    segment.read_struct(layout, location, 0)
}

/// Where a struct is, as its pointer says: a sender with another schema may have sent fewer or more words.
#[derive(Clone, Copy)]
struct StructLocation {
    at: usize,
    data_words: usize,
    pointers: usize,
}

impl Segment<'_> {
    fn word(&self, at: usize) -> Result<u64, String> {
        let start = at.checked_mul(8).ok_or("a pointer leads too far")?;
        let bytes = start.checked_add(8).and_then(|end| self.bytes.get(start..end));
        let bytes = bytes.ok_or_else(|| format!("word {at} is beyond the end"))?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("8 bytes were taken")))
    }

    /// Checks that a run of words is there, and counts it.
    fn claim(&mut self, at: usize, words: usize) -> Result<(), String> {
        if at.checked_add(words).is_none_or(|end| end > self.bytes.len() / 8) {
            return Err(format!("{words} words at word {at} are beyond the end"));
        }
        self.words_left = self
            .words_left
            .checked_sub(words + 1)
            .ok_or("the message refers to the same words too often")?;
        Ok(())
    }

    fn target(pointer_at: usize, pointer: u64) -> Result<usize, String> {
        let offset = i64::from(pointer as u32 as i32 >> 2);
        usize::try_from(pointer_at as i64 + 1 + offset).map_err(|_| "a pointer leads before the start".to_owned())
    }

    fn struct_target(&mut self, pointer_at: usize, pointer: u64) -> Result<StructLocation, String> {
        if pointer & 3 != 0 {
            return Err("a pointer to a struct is expected".to_owned());
        }
        let location = StructLocation {
            at: Self::target(pointer_at, pointer)?,
            data_words: usize::from((pointer >> 32) as u16),
            pointers: usize::from((pointer >> 48) as u16),
        };
        self.claim(location.at, location.data_words + location.pointers)?;
        Ok(location)
    }

    fn read_struct(&mut self, layout: &StructLayout, location: StructLocation, depth: usize) -> Result<Value, String> {
        if depth > DEPTH_MAX {
            return Err(format!("structs are nested more than {DEPTH_MAX} deep"));
        }
        let mut members = Map::new();
        for field in &layout.fields {
            let in_field = |problem: String| format!("field {:?}: {problem}", field.name);
            let value = match (&field.location, &field.content) {
                (FieldLocation::Data { bit, presence_bit }, Content::Scalar(schema)) => {
                    let there = match presence_bit {
                        Some(bit) => self.data_bits(location, *bit, 1)? == 1,
                        None => true,
                    };
                    let (_, bits) = element_code(schema);
                    there
                        .then(|| scalar_from_bits(schema, self.data_bits(location, *bit, bits)?))
                        .transpose()
                        .map_err(in_field)?
                }
                (FieldLocation::Pointer(index), content) if *index < location.pointers => {
                    let at = location.at + location.data_words + index;
                    match self.word(at)? {
                        0 => None,
                        pointer => Some(self.read_content(content, at, pointer, depth).map_err(in_field)?),
                    }
                }
                _ => None,
            };
            match (value, field.presence) {
                (Some(value), _) => drop(members.insert(field.name.clone(), value)),
                (None, Presence::NullIfMissing) => drop(members.insert(field.name.clone(), Value::Null)),
                (None, Presence::Optional) => {}
                (None, Presence::Always) => return Err(in_field("it is missing".to_owned())),
            }
        }
        Ok(Value::Object(members))
    }

    fn data_bits(&self, location: StructLocation, bit: usize, bits: usize) -> Result<u64, String> {
        if bit / 64 >= location.data_words {
            return Ok(0);
        }
        Ok(self.word(location.at + bit / 64)? >> (bit % 64) & u64::MAX >> (64 - bits))
    }

    fn read_content(&mut self, content: &Content, at: usize, pointer: u64, depth: usize) -> Result<Value, String> {
        match content {
            Content::Struct(layout) => {
                let location = self.struct_target(at, pointer)?;
                self.read_struct(layout, location, depth + 1)
            }
            Content::Text => self.read_text(at, pointer),
            Content::List(element) => self.read_list(element, at, pointer, depth),
            Content::Scalar(_) => Err("a scalar has no pointer".to_owned()),
        }
    }

    /// The target, the code of the elements' size and their number.
    fn list_target(at: usize, pointer: u64) -> Result<(usize, u64, usize), String> {
        if pointer & 3 != 1 {
            return Err("a pointer to a list is expected".to_owned());
        }
        Ok((Self::target(at, pointer)?, pointer >> 32 & 7, (pointer >> 35) as usize))
    }

    fn read_text(&mut self, at: usize, pointer: u64) -> Result<Value, String> {
        let (target, code, length) = Self::list_target(at, pointer)?;
        if code != 2 || length == 0 {
            return Err("a text is a list of bytes that ends with zero".to_owned());
        }
        self.claim(target, length.div_ceil(8))?;
        match self.bytes[8 * target..8 * target + length].split_last() {
            Some((0, text)) => {
                let text = std::str::from_utf8(text).map_err(|error| format!("a text is not UTF-8: {error}"))?;
                Ok(Value::String(text.to_owned()))
            }
            _ => Err("a text does not end with zero".to_owned()),
        }
    }

    fn read_list(&mut self, element: &Content, at: usize, pointer: u64, depth: usize) -> Result<Value, String> {
        let (target, code, length) = Self::list_target(at, pointer)?;
        let mut values = Vec::new();
        match element {
            Content::Scalar(schema) => {
                let (expected, bits) = element_code(schema);
                if code != expected {
                    return Err(format!(
                        "the elements of a list have the size code {code}, and {expected} is expected"
                    ));
                }
                self.claim(target, (bits * length).div_ceil(64))?;
                for index in 0..length {
                    let bit = bits * index;
                    let word = self.word(target + bit / 64)?;
                    values.push(scalar_from_bits(schema, word >> (bit % 64) & u64::MAX >> (64 - bits))?);
                }
            }
            Content::Struct(layout) => {
                if code != 7 {
                    return Err("a list of structs is expected".to_owned());
                }
                self.claim(target, length + 1)?;
                let tag = self.word(target)?;
                let count = tag as u32 as usize >> 2;
                let location = |index: usize, words: usize| StructLocation {
                    at: target + 1 + index * words,
                    data_words: usize::from((tag >> 32) as u16),
                    pointers: usize::from((tag >> 48) as u16),
                };
                let words = location(0, 0).data_words + location(0, 0).pointers;
                if tag & 3 != 0 || count.checked_mul(words).is_none_or(|all| all > length) {
                    return Err(format!("a list of {count} structs does not fit into {length} words"));
                }
                for index in 0..count {
                    self.claim(target, 0)?;
                    values.push(self.read_struct(layout, location(index, words), depth + 1)?);
                }
            }
            content => {
                if code != 6 {
                    return Err("a list of pointers is expected".to_owned());
                }
                self.claim(target, length)?;
                for at in target..target + length {
                    let pointer = self.word(at)?;
                    values.push(self.read_content(content, at, pointer, depth)?);
                }
            }
        }
        Ok(Value::Array(values))
    }
}
