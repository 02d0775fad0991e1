//! FlatBuffers: documents as tables of an inferred schema, by the builder of the `flatbuffers` crate, and a reader that trusts nothing.
//!
//! A field of a nested object whose members are numbers of one size, all of them always there, is an inline struct; other objects are
//! tables. Scalars that may be missing are optional scalars. The crate reads tables of generated types alone, so reading is ours.

mod reader;

use crate::lower::LoweredSchema;
use crate::scalar::{members_of, mismatch, missing, refuse_unknown, scalar_bytes, scalar_to_bits, written_value};
use crate::schema::{Field, Presence, Schema};
use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, VOffsetT, WIPOffset};
use serde_json::Value;

/// A writer and reader of buffers.
#[derive(Debug, Clone)]
pub(crate) struct FlatBuffers(LoweredSchema);

/// What a slot of a table holds.
enum Slot {
    Offset(WIPOffset<UnionWIPOffset>),
    Scalar,
    Struct,
    Missing,
}

impl FlatBuffers {
    pub(crate) fn new(schema: &Schema) -> Self {
        Self(LoweredSchema::new(schema, false))
    }

    pub(crate) fn encode(&self, value: &Value) -> Result<Vec<u8>, String> {
        let mut builder = FlatBufferBuilder::new();
        let root = write_table(self.0.fields(), &self.0.lower_value(value), &mut builder)?;
        builder.finish_minimal(root);
        Ok(builder.finished_data().to_vec())
    }

    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Value, String> {
        self.0.raise_value(reader::read_root(self.0.fields(), bytes)?)
    }
}

/// The members of an object that is an inline struct, and the size of each of them.
fn inline_struct(schema: &Schema) -> Option<(&[Field], usize)> {
    let Schema::Struct(fields) = schema else { return None };
    let bytes = scalar_bytes(&fields.first()?.schema)?;
    let is_alike = |field: &Field| field.presence == Presence::Always && scalar_bytes(&field.schema) == Some(bytes);
    fields.iter().all(is_alike).then_some((fields, bytes))
}

fn write_table(
    fields: &[Field],
    value: &Value,
    builder: &mut FlatBufferBuilder<'_>,
) -> Result<WIPOffset<UnionWIPOffset>, String> {
    let members = members_of(value)?;
    refuse_unknown(members, |name| fields.iter().any(|field| field.name == name))?;
    let mut slots = Vec::with_capacity(fields.len());
    for field in fields {
        slots.push(match written_value(&field.name, field.presence, members)? {
            None => Slot::Missing,
            Some(value) => write_content(&field.schema, value, builder)
                .map_err(|problem| format!("field {:?}: {problem}", field.name))?,
        });
    }
    let table = builder.start_table();
    // Wide scalars first, as generated code does, so that there is less padding.
    let mut order: Vec<usize> = (0..fields.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(scalar_bytes(&fields[*at].schema).unwrap_or(4)));
    for at in order {
        let (field, slot) = (&fields[at], 4 + 2 * at as VOffsetT);
        let value = members.get(&field.name).unwrap_or(&Value::Null);
        let explicit = field.presence != Presence::Always;
        match slots[at] {
            Slot::Offset(offset) => builder.push_slot_always(slot, offset),
            Slot::Scalar => write_scalar(&field.schema, value, ScalarTarget::Slot(slot, explicit), builder)?,
            Slot::Struct => {
                let (inner, _) = inline_struct(&field.schema).ok_or("an object is no struct")?;
                for (at, member) in inner.iter().enumerate().rev() {
                    let value = value.get(&member.name).ok_or_else(|| missing(&member.name))?;
                    let target = if at == 0 {
                        ScalarTarget::Slot(slot, true)
                    } else {
                        ScalarTarget::Here
                    };
                    write_scalar(&member.schema, value, target, builder)?;
                }
            }
            Slot::Missing => {}
        }
    }
    Ok(WIPOffset::new(builder.end_table(table).value()))
}

fn write_content(schema: &Schema, value: &Value, builder: &mut FlatBufferBuilder<'_>) -> Result<Slot, String> {
    Ok(match (schema, value) {
        (Schema::Text, Value::String(text)) => Slot::Offset(builder.create_string(text).as_union_value()),
        (schema, Value::Object(_)) if inline_struct(schema).is_some() => Slot::Struct,
        (Schema::Struct(fields), value) => Slot::Offset(write_table(fields, value, builder)?),
        (Schema::List(element), Value::Array(values)) => Slot::Offset(write_vector(element, values, builder)?),
        (scalar, _) if scalar_bytes(scalar).is_some() => Slot::Scalar,
        (schema, value) => return Err(mismatch(schema, value)),
    })
}

fn write_vector(
    element: &Schema,
    values: &[Value],
    builder: &mut FlatBufferBuilder<'_>,
) -> Result<WIPOffset<UnionWIPOffset>, String> {
    let offsets = |builder: &mut FlatBufferBuilder<'_>, offsets: &[WIPOffset<UnionWIPOffset>]| {
        let vector = builder.create_vector(offsets);
        WIPOffset::new(vector.value())
    };
    match element {
        Schema::Text => {
            let mut texts = Vec::with_capacity(values.len());
            for value in values {
                let text = value.as_str().ok_or_else(|| format!("{value} is no text"))?;
                texts.push(builder.create_string(text).as_union_value());
            }
            Ok(offsets(builder, &texts))
        }
        Schema::Struct(fields) => {
            let tables: Result<Vec<_>, String> =
                values.iter().map(|value| write_table(fields, value, builder)).collect();
            Ok(offsets(builder, &tables?))
        }
        scalar => {
            match scalar_bytes(scalar) {
                Some(1) => builder.start_vector::<u8>(values.len()),
                Some(2) => builder.start_vector::<u16>(values.len()),
                Some(4) => builder.start_vector::<u32>(values.len()),
                _ => builder.start_vector::<u64>(values.len()),
            }
            values
                .iter()
                .rev()
                .try_for_each(|value| write_scalar(scalar, value, ScalarTarget::Here, builder))?;
            Ok(WIPOffset::new(builder.end_vector::<u8>(values.len()).value()))
        }
    }
}

/// Where a scalar goes: into a slot of the table, there even if it is the default or not; or next to what was written last.
#[derive(Clone, Copy)]
enum ScalarTarget {
    Slot(VOffsetT, bool),
    Here,
}

fn write_scalar(
    schema: &Schema,
    value: &Value,
    target: ScalarTarget,
    builder: &mut FlatBufferBuilder<'_>,
) -> Result<(), String> {
    macro_rules! push {
        ($number:expr, $default:expr) => {
            match target {
                ScalarTarget::Slot(slot, true) => builder.push_slot_always(slot, $number),
                ScalarTarget::Slot(slot, false) => builder.push_slot(slot, $number, $default),
                ScalarTarget::Here => {
                    builder.push($number);
                }
            }
        };
    }
    let bits = scalar_to_bits(schema, value)?;
    match scalar_bytes(schema) {
        // Minus zero is the default, too.
        _ if *schema == Schema::Float => push!(f64::from_bits(bits), 0.0),
        Some(1) => push!(bits as u8, 0),
        Some(2) => push!(bits as u16, 0),
        Some(4) => push!(bits as u32, 0),
        _ => push!(bits, 0),
    }
    Ok(())
}
