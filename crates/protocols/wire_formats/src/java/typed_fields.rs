//! Reads fields of objects by name and type, as a deserialising program casts them.

use super::model::{Array, Elements, Object, Value};
use bytes::Bytes;
use std::sync::Arc;

/// An object is not of the requested class, or does not have the requested field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{location}: expected {expected}, found {found}; is the stream of another program or version?")]
pub struct CastError {
    /// The class, or the class and field.
    pub location: String,
    /// The requested class or type.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl Value {
    /// The value as an instance of the class of that name.
    ///
    /// # Errors
    /// When it is any other value.
    pub fn instance_of(&self, class: &str) -> Result<&Object, CastError> {
        let found = match self {
            Value::Object(object) if object.class.name == class => return Ok(object),
            Value::Object(object) => object.class.name.clone(),
            other => other.kind().to_owned(),
        };
        Err(CastError {
            location: "a value".to_owned(),
            expected: class.to_owned(),
            found,
        })
    }
}

impl Object {
    /// The object in that field, of the class of that name.
    ///
    /// # Errors
    /// When there is no such field, or its value is of another type.
    pub fn instance(&self, field: &str, class: &str) -> Result<&Object, CastError> {
        let value = self.field(field, class)?;
        value.instance_of(class).map_err(|error| CastError {
            location: self.location(field),
            ..error
        })
    }

    /// The `long` in that field.
    ///
    /// # Errors
    /// When there is no such field, or its value is of another type.
    pub fn long(&self, field: &str) -> Result<i64, CastError> {
        match self.field(field, "long")? {
            Value::Long(number) => Ok(*number),
            other => Err(self.other(field, "long", other.kind())),
        }
    }

    /// The `int` in that field.
    ///
    /// # Errors
    /// When there is no such field, or its value is of another type.
    pub fn int(&self, field: &str) -> Result<i32, CastError> {
        match self.field(field, "int")? {
            Value::Int(number) => Ok(*number),
            other => Err(self.other(field, "int", other.kind())),
        }
    }

    /// The `boolean` in that field.
    ///
    /// # Errors
    /// When there is no such field, or its value is of another type.
    pub fn boolean(&self, field: &str) -> Result<bool, CastError> {
        match self.field(field, "boolean")? {
            Value::Boolean(truth) => Ok(*truth),
            other => Err(self.other(field, "boolean", other.kind())),
        }
    }

    /// The string in that field.
    ///
    /// # Errors
    /// When there is no such field, or its value is of another type.
    pub fn text(&self, field: &str) -> Result<&Arc<str>, CastError> {
        match self.field(field, "string")? {
            Value::String(text) => Ok(text),
            other => Err(self.other(field, "string", other.kind())),
        }
    }

    /// The bytes of the `byte[]` in that field.
    ///
    /// # Errors
    /// When there is no such field, or its value is of another type.
    pub fn bytes(&self, field: &str) -> Result<&Bytes, CastError> {
        match self.field(field, "byte[]")? {
            Value::Array(array) => match &**array {
                Array {
                    elements: Elements::Bytes(bytes),
                    ..
                } => Ok(bytes),
                Array { class, .. } => Err(self.other(field, "byte[]", &class.name)),
            },
            other => Err(self.other(field, "byte[]", other.kind())),
        }
    }

    fn field(&self, field: &str, expected: &str) -> Result<&Value, CastError> {
        self.get(field)
            .ok_or_else(|| self.other(field, expected, "no such field"))
    }

    fn other(&self, field: &str, expected: &str, found: &str) -> CastError {
        CastError {
            location: self.location(field),
            expected: expected.to_owned(),
            found: found.to_owned(),
        }
    }

    fn location(&self, field: &str) -> String {
        format!("{}.{field}", self.class.name)
    }
}
