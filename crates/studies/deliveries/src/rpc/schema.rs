//! The types of the values of calls, for encodings that need a schema; and those values as objects of Java.

use lastmile_document_formats::{Field, IntegerWidth, Presence, Schema};
use lastmile_study::settings::Payload;
use lastmile_testbed::failure::Failure;
use lastmile_wire_formats::java::{
    Array, ClassData, ClassDescriptor, Elements, Field as JavaField, FieldType, Object, ObjectStreamReader,
    ObjectStreamWriter, Value as JavaValue,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The type of the parameters of a call of one entry, or of a sequence of them.
pub(super) fn schema(payload: Payload, is_single_tick: bool) -> Schema {
    match payload {
        Payload::Text => list(Schema::Text),
        Payload::Bibliography => list(entry()),
        Payload::Ticks if is_single_tick => tick(),
        Payload::Ticks => list(tick()),
    }
}

const SHORT: Schema = Schema::Integer {
    min: i16::MIN as i128,
    max: i16::MAX as i128,
};
const INT: Schema = Schema::Integer {
    min: i32::MIN as i128,
    max: i32::MAX as i128,
};

fn list(element: Schema) -> Schema {
    Schema::List(Box::new(element))
}

fn structure<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    let field = |(name, schema): (&str, Schema)| Field {
        name: name.to_owned(),
        presence: Presence::Always,
        schema,
    };
    Schema::Struct(fields.into_iter().map(field).collect())
}

fn tick() -> Schema {
    structure([("id", INT), ("value", SHORT)])
}

fn entry() -> Schema {
    structure([
        (
            "authors",
            list(structure([("lastname", Schema::Text), ("initials", Schema::Text)])),
        ),
        ("title", Schema::Text),
        ("journal", Schema::Text),
        ("year", SHORT),
        ("publisher", Schema::Text),
        ("location", Schema::Text),
        ("edition", Schema::Text),
        ("hyperlink", Schema::Text),
        ("volume", SHORT),
        ("issue", SHORT),
        ("pages", structure([("start", SHORT), ("end", SHORT)])),
    ])
}

pub(super) fn not_encoded(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("a value cannot be encoded: {error}"))
}

pub(super) fn not_read(error: impl std::fmt::Display) -> Failure {
    Failure::new(format!("the parameters of a call cannot be read: {error}"))
}

/// A value as an object stream of its own, as each call of Java RMI is.
pub(super) fn java_stream(schema: &Schema, value: &Value) -> Result<Vec<u8>, Failure> {
    let value = Classes::default().value(schema, value, ROOT)?;
    let written = ObjectStreamWriter::new().write(&value);
    written.map(|bytes| bytes.to_vec()).map_err(not_encoded)
}

/// Reads such a stream to its end.
pub(super) fn read_java_stream(bytes: &[u8]) -> Result<(), Failure> {
    let mut reader = ObjectStreamReader::new();
    reader.feed(bytes);
    let value = reader.next_value().map_err(not_read)?;
    reader.finish().map_err(not_read)?;
    value.map(drop).ok_or_else(|| not_read("the stream is empty"))
}

/// The name of what a call carries, for the names of classes.
const ROOT: &str = "entry";
const PACKAGE: &str = "lastmile";

/// The UID of our classes, and that of the JDK's `String[]`.
const OWN_UID: i64 = 1;
const STRING_ARRAY_UID: i64 = -5_921_575_005_990_323_385;

/// The classes so far by their names; a stream describes each once.
#[derive(Default)]
struct Classes(BTreeMap<String, Arc<ClassDescriptor>>);

impl Classes {
    fn get(&mut self, name: &str, uid: i64, fields: impl FnOnce() -> Vec<JavaField>) -> Arc<ClassDescriptor> {
        if let Some(class) = self.0.get(name) {
            return Arc::clone(class);
        }
        let class = Arc::new(ClassDescriptor::serializable(name, uid, fields()));
        self.0.insert(name.to_owned(), Arc::clone(&class));
        class
    }

    fn value(&mut self, schema: &Schema, value: &Value, name: &str) -> Result<JavaValue, Failure> {
        match (schema, value) {
            (Schema::Text, Value::String(text)) => Ok(JavaValue::string(text)),
            (Schema::Integer { min, max }, Value::Number(number)) => {
                let number = number.as_i64().unwrap_or_default();
                Ok(if IntegerWidth::of(*min, *max).bytes == 2 {
                    JavaValue::Short(number as i16)
                } else {
                    JavaValue::Int(number as i32)
                })
            }
            (Schema::List(element), Value::Array(values)) => {
                let name = name.strip_suffix('s').unwrap_or(name);
                let uid = if **element == Schema::Text {
                    STRING_ARRAY_UID
                } else {
                    OWN_UID
                };
                let class = self.get(&array_class(element, name), uid, Vec::new);
                let values = values.iter().map(|value| self.value(element, value, name));
                Ok(JavaValue::Array(Arc::new(Array {
                    class,
                    elements: Elements::Values(values.collect::<Result<_, _>>()?),
                })))
            }
            (Schema::Struct(fields), Value::Object(members)) => {
                let class = self.get(&class_name(name), OWN_UID, || {
                    let field = |field: &Field| JavaField::new(&field.name, field_type(&field.schema, &field.name));
                    fields.iter().map(field).collect()
                });
                let mut values = Vec::with_capacity(fields.len());
                for field in &class.fields {
                    let own = fields.iter().find(|own| own.name == field.name);
                    let (Some(own), Some(value)) = (own, members.get(&field.name)) else {
                        return Err(Failure::new(format!("field {} is missing", field.name)));
                    };
                    values.push(self.value(&own.schema, value, &field.name)?);
                }
                Ok(JavaValue::Object(Arc::new(Object {
                    class,
                    data: vec![ClassData::from(values)],
                })))
            }
            (schema, value) => Err(Failure::new(format!("{value} is not of the type {schema:?}"))),
        }
    }
}

fn class_name(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{PACKAGE}.{}{rest}", first.to_uppercase())
}

/// The name of an array's class, such as `[Llastmile.Entry;`.
fn array_class(element: &Schema, name: &str) -> String {
    match element {
        Schema::Text => "[Ljava.lang.String;".to_owned(),
        _ => format!("[L{};", class_name(name)),
    }
}

fn field_type(schema: &Schema, name: &str) -> FieldType {
    match schema {
        Schema::Integer { min, max } if IntegerWidth::of(*min, *max).bytes == 2 => FieldType::Short,
        Schema::Integer { .. } => FieldType::Int,
        Schema::List(element) => {
            let class = array_class(element, name.strip_suffix('s').unwrap_or(name));
            FieldType::Array(class.replace('.', "/"))
        }
        Schema::Struct(_) => FieldType::Object(format!("L{};", class_name(name).replace('.', "/"))),
        _ => FieldType::string(),
    }
}
