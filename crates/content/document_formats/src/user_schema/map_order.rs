//! Brings the entries of maps into an order, since the library writes them in any: the same document then gives the same bytes.

use prost::encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint};
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

/// The same message with the entries of each map in the order of their bytes. None if the bytes are no message.
pub(super) fn sorted(message: &MessageDescriptor, mut bytes: &[u8]) -> Option<Vec<u8>> {
    sorted_fields(Some(message), &mut bytes, None)
}

/// Fields up to the end of the bytes or of a group.
fn sorted_fields(message: Option<&MessageDescriptor>, bytes: &mut &[u8], group: Option<u32>) -> Option<Vec<u8>> {
    let mut sorted = Vec::new();
    let mut entries: Vec<Vec<u8>> = Vec::new();
    let mut entries_of = 0;
    loop {
        let next = if bytes.is_empty() {
            None
        } else {
            Some(decode_key(bytes).ok()?)
        };
        let field = next.and_then(|(number, _)| message?.get_field(number));
        let is_entry = field.as_ref().is_some_and(FieldDescriptor::is_map);
        if !is_entry || next.is_some_and(|(number, _)| number != entries_of) {
            entries.sort_unstable();
            sorted.extend(entries.drain(..).flatten());
        }
        let Some((number, wire)) = next else {
            return group.is_none().then_some(sorted);
        };
        let held = match field.map(|field| field.kind()) {
            Some(Kind::Message(held)) => Some(held),
            _ => None,
        };
        let mut record = Vec::new();
        if wire == WireType::EndGroup {
            return (group == Some(number)).then_some(sorted);
        }
        encode_key(number, wire, &mut record);
        match wire {
            WireType::Varint => encode_varint(decode_varint(bytes).ok()?, &mut record),
            WireType::SixtyFourBit => record.extend_from_slice(take(bytes, 8)?),
            WireType::ThirtyTwoBit => record.extend_from_slice(take(bytes, 4)?),
            WireType::LengthDelimited => {
                let length = usize::try_from(decode_varint(bytes).ok()?).ok()?;
                let content = take(bytes, length)?;
                encode_varint(length as u64, &mut record);
                match &held {
                    // The order alone changes, so the length stays.
                    Some(held) => record.extend(self::sorted(held, content)?),
                    None => record.extend_from_slice(content),
                }
            }
            WireType::StartGroup => {
                record.extend(sorted_fields(held.as_ref(), bytes, Some(number))?);
                encode_key(number, WireType::EndGroup, &mut record);
            }
            WireType::EndGroup => return None,
        }
        if is_entry {
            entries_of = number;
            entries.push(record);
        } else {
            sorted.extend(record);
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (content, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(content)
}
