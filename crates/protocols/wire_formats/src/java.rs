//! The Java Object Serialization Stream Protocol, version 5: how Java programs send objects.
//!
//! The protocol is chapter 6 of the Java Object Serialization Specification. A stream is a header and then objects; each object
//! names its class, whose descriptor (name, UID, fields, superclass) is sent once and referred to by a handle after that. So n
//! objects of the same class and size need N(n) = h + n g bytes, with h for the header and the descriptors.
//!
//! [`ObjectStreamWriter`] turns a [`Value`] into the bytes that it adds to a stream, byte for byte as `ObjectOutputStream` does;
//! [`ObjectStreamReader`] accepts bytes in any portions and returns each value as soon as its last byte has arrived.
//!
//! Absent on purpose: dynamic proxies, exceptions in the stream, version 1 externalisable classes and cyclic graphs are refused
//! by name; the contents of class annotations (only RMI writes any) are skipped; strings with unpaired surrogates are refused.
//!
//! ```
//! use lastmile_wire_formats::java::{ObjectStreamReader, ObjectStreamWriter, Value};
//! let bytes = ObjectStreamWriter::new().write(&Value::string("hello")).unwrap();
//! assert_eq!(&bytes[..], b"\xac\xed\x00\x05\x74\x00\x05hello");
//! let mut reader = ObjectStreamReader::new();
//! reader.feed(&bytes[..9]);
//! assert_eq!(reader.next_value(), Ok(None));
//! reader.feed(&bytes[9..]);
//! assert_eq!(reader.next_value(), Ok(Some(Value::string("hello"))));
//! ```

mod model;
mod modified_utf8;
mod reader;
mod tag;
mod typed_fields;
mod writer;

pub use model::{
    Array, ClassData, ClassDescriptor, ClassKind, Elements, EnumConstant, Field, FieldType, Object, Value,
};
pub use reader::{Limits, ObjectStreamReader, ReadError};
pub use typed_fields::CastError;
pub use writer::{ObjectStreamWriter, WriteError};

#[cfg(test)]
mod tests;
