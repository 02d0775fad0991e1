//! What several encodings share: scalars within the range of their schema, as bits and again, and the fields that an object must have.

use crate::infer::integer;
use crate::schema::{Field, IntegerWidth, Presence, Schema};
use serde_json::{Map, Number, Value};

/// A whole number within its range.
pub(crate) fn whole_number(number: &Number, min: i128, max: i128) -> Result<i128, String> {
    integer(number)
        .filter(|whole| (min..=max).contains(whole))
        .ok_or_else(|| format!("{number} is not from {min} to {max}"))
}

pub(crate) fn to_float(number: &Number) -> Result<f64, String> {
    number.as_f64().ok_or_else(|| "the number is not finite".to_owned())
}

pub(crate) fn from_float(number: f64) -> Result<Value, String> {
    Number::from_f64(number)
        .map(Value::Number)
        .ok_or_else(|| "a number is not finite".to_owned())
}

pub(crate) fn mismatch(schema: &Schema, value: &Value) -> String {
    format!("{value} is not of the type {schema:?}")
}

/// The number of bytes of a scalar.
pub(crate) fn scalar_bytes(schema: &Schema) -> Option<usize> {
    match schema {
        Schema::Bool => Some(1),
        Schema::Integer { min, max } => Some(IntegerWidth::of(*min, *max).bytes),
        Schema::Float => Some(8),
        _ => None,
    }
}

/// A scalar as a machine number of its width; that of a negative number is its unsigned twin.
pub(crate) fn scalar_to_bits(schema: &Schema, value: &Value) -> Result<u64, String> {
    match (schema, value) {
        (Schema::Bool, Value::Bool(value)) => Ok(u64::from(*value)),
        (Schema::Float, Value::Number(number)) => Ok(to_float(number)?.to_bits()),
        (Schema::Integer { min, max }, Value::Number(number)) => {
            let number = whole_number(number, *min, *max)?;
            let width = IntegerWidth::of(*min, *max);
            if width.signed && i64::try_from(number).is_err() {
                return Err(format!("{number} does not fit into a signed number of 64 bits"));
            }
            Ok(number as u64 & (u64::MAX >> (64 - 8 * width.bytes)))
        }
        (schema, value) => Err(mismatch(schema, value)),
    }
}

/// The scalar that a machine number of its width stands for.
pub(crate) fn scalar_from_bits(schema: &Schema, bits: u64) -> Result<Value, String> {
    match schema {
        Schema::Bool => Ok(Value::Bool(bits != 0)),
        Schema::Integer { min, max } => {
            let width = IntegerWidth::of(*min, *max);
            let unused = 64 - 8 * width.bytes;
            Ok(if width.signed {
                Value::from((bits << unused).cast_signed() >> unused)
            } else {
                Value::from(bits)
            })
        }
        _ => from_float(f64::from_bits(bits)),
    }
}

/// The members of an object.
pub(crate) fn members_of(value: &Value) -> Result<&Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{value} is no object"))
}

/// Refuses members that the schema has no field for.
pub(crate) fn refuse_unknown(members: &Map<String, Value>, is_known: impl Fn(&str) -> bool) -> Result<(), String> {
    match members.keys().find(|name| !is_known(name)) {
        Some(name) => Err(format!("field {name:?} is not in the schema")),
        None => Ok(()),
    }
}

/// The value of a field that is written; none where it is left out.
pub(crate) fn written_value<'a>(
    name: &str,
    presence: Presence,
    members: &'a Map<String, Value>,
) -> Result<Option<&'a Value>, String> {
    match (members.get(name), presence) {
        (None, Presence::Always) => Err(missing(name)),
        (Some(Value::Null), Presence::NullIfMissing) => Ok(None),
        (value, _) => Ok(value),
    }
}

/// An object that was read, if it has every field that must be there.
pub(crate) fn complete(fields: &[Field], members: Map<String, Value>) -> Result<Value, String> {
    let mut required = fields.iter().filter(|field| field.presence == Presence::Always);
    match required.find(|field| !members.contains_key(&field.name)) {
        Some(field) => Err(missing(&field.name)),
        None => Ok(Value::Object(members)),
    }
}

pub(crate) fn missing(name: &str) -> String {
    format!("field {name:?} is missing")
}

/// The document, if no bytes are left after it.
pub(crate) fn whole(document: Value, left: usize) -> Result<Value, String> {
    match left {
        0 => Ok(document),
        left => Err(format!("{left} bytes are left after the document")),
    }
}
