//! The superclass of all stored objects: an identity, and a revision, which counts how often the object was stored.

use lastmile_wire_formats::java::{ClassData, ClassDescriptor, Field, FieldType, Value};
use std::sync::Arc;

// The value that `ObjectStreamClass` computes for this class when its source declares no `serialVersionUID` (JDK 17).
const UID: i64 = -8_197_665_780_213_583_040;
const REVISION: i32 = 1;

/// The class.
pub(super) fn class() -> Arc<ClassDescriptor> {
    let fields = vec![
        Field::new("identifier", FieldType::Long),
        Field::new("revision", FieldType::Int),
    ];
    ClassDescriptor::serializable("observatory.test.StoredObject", UID, fields).into()
}

/// The class's field values for an object stored once.
pub(super) fn data(identifier: i64) -> ClassData {
    vec![Value::Long(identifier), Value::Int(REVISION)].into()
}
