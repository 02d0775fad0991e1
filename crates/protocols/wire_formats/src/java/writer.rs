//! Writes values to an object stream.

use super::model::{Array, ClassDescriptor, Elements, FieldType, Object, Value};
use super::{modified_utf8, tag};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Values nest no deeper than this, so that neither side runs out of stack: our own choice.
pub(super) const DEPTH_MAX: usize = 500;

/// Why a value could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// A value where its class does not allow it.
    #[error(
        "{location}: a value of type {expected} belongs here, not {found}; give the object values of its class's types"
    )]
    Type {
        /// The class and field.
        location: String,
        /// The type's code or signature.
        expected: String,
        /// The kind of value found.
        found: &'static str,
    },
    /// An object does not have one value per field and one part per class.
    #[error(
        "{class}: {found} values or parts where the class has {expected}; give one value per field, and one part per class"
    )]
    Count {
        /// The class.
        class: String,
        /// The number in its descriptor.
        expected: usize,
        /// The number in the object.
        found: usize,
    },
    /// A name or an array is longer than its length field allows.
    #[error("{what} of length {length} is longer than the protocol's {limit}; make it shorter")]
    Length {
        /// The name or array.
        what: &'static str,
        /// Its length.
        length: usize,
        /// The longest allowed.
        limit: usize,
    },
    /// Values are nested too deeply.
    #[error("values are nested more than {DEPTH_MAX} deep; flatten them")]
    Depth,
}

/// Writes values to a stream. Class descriptors and instances already written are referred to by handle, as Java does.
#[derive(Default)]
pub struct ObjectStreamWriter {
    out: Vec<u8>,
    started: bool,
    /// The target of each handle, kept alive so that an address identifies one instance for as long as the writer lives; null for
    /// the signature of a type.
    handles: Vec<Value>,
    by_address: BTreeMap<usize, u32>,
    classes_themselves: BTreeMap<usize, u32>,
    // Java interns the signatures of fields, so that equal signatures are one instance.
    by_signature: BTreeMap<String, u32>,
}

impl ObjectStreamWriter {
    /// A writer at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that `value` adds to the stream; the first ones begin with the stream's header.
    ///
    /// # Errors
    /// When the value does not fit its class or the protocol. The writer must not be used after that, since handles are assigned to
    /// parts of the value.
    pub fn write(&mut self, value: &Value) -> Result<Bytes, WriteError> {
        if !self.started {
            self.out.extend(tag::STREAM_MAGIC.to_be_bytes());
            self.out.extend(tag::STREAM_VERSION.to_be_bytes());
            self.started = true;
        }
        self.content(value, "the stream", 0)?;
        Ok(std::mem::take(&mut self.out).into())
    }

    /// Drops all handles: the next [`write`](Self::write) begins with a reset mark, and sends class descriptors again.
    pub fn reset(&mut self) {
        self.handles.clear();
        self.by_address.clear();
        self.classes_themselves.clear();
        self.by_signature.clear();
        if self.started {
            self.out.push(tag::RESET);
        }
    }

    /// content: object | blockdata
    fn content(&mut self, value: &Value, location: &str, depth: usize) -> Result<(), WriteError> {
        let Value::Block(block) = value else {
            return self.reference(value, location, "an object", depth);
        };
        for chunk in block.chunks(tag::BLOCK_MAX) {
            match u8::try_from(chunk.len()) {
                Ok(length) => self.out.extend([tag::BLOCK_DATA, length]),
                Err(_) => {
                    self.out.push(tag::BLOCK_DATA_LONG);
                    self.out.extend((chunk.len() as u32).to_be_bytes());
                }
            }
            self.out.extend(chunk);
        }
        Ok(())
    }

    /// object: newObject | newClass | newArray | newString | newEnum | prevObject | nullReference
    fn reference(&mut self, value: &Value, location: &str, expected: &str, depth: usize) -> Result<(), WriteError> {
        if depth >= DEPTH_MAX {
            return Err(WriteError::Depth);
        }
        match value {
            Value::Null => self.out.push(tag::NULL),
            Value::String(text) => self.string(text),
            Value::Object(object) => {
                if !self.refer(address(object)) {
                    self.object(object, depth)?;
                }
            }
            Value::Array(array) => {
                if !self.refer(address(array)) {
                    self.array(array, depth)?;
                }
            }
            Value::Enum(constant) => {
                if !self.refer(address(constant)) {
                    self.out.push(tag::ENUM);
                    self.class(Some(&constant.class))?;
                    self.remember(address(constant), value.clone());
                    self.string(&constant.name);
                }
            }
            Value::Class(class) => {
                // A class and its descriptor have separate handles.
                if let Some(&handle) = self.classes_themselves.get(&address(class)) {
                    self.handle(handle);
                    return Ok(());
                }
                self.out.push(tag::CLASS);
                self.class(Some(class))?;
                self.classes_themselves.insert(address(class), self.next_handle());
                self.handles.push(value.clone());
            }
            _ => {
                let (location, expected) = (location.to_owned(), expected.to_owned());
                return Err(WriteError::Type {
                    location,
                    expected,
                    found: value.kind(),
                });
            }
        }
        Ok(())
    }

    /// newObject: TC_OBJECT classDesc newHandle classdata[]
    fn object(&mut self, object: &Arc<Object>, depth: usize) -> Result<(), WriteError> {
        self.out.push(tag::OBJECT);
        self.class(Some(&object.class))?;
        self.remember(address(object), Value::Object(Arc::clone(object)));
        let lineage = object.class.lineage();
        same_count(&object.class, lineage.len(), object.data.len())?;
        for (class, data) in lineage.iter().zip(&object.data) {
            same_count(class, class.fields.len(), data.values.len())?;
            for (field, value) in class.fields.iter().zip(&data.values) {
                self.value(
                    value,
                    &field.field_type,
                    || format!("{}.{}", class.name, field.name),
                    depth,
                )?;
            }
            if class.kind.has_contents() {
                for value in &data.contents {
                    self.content(value, &class.name, depth + 1)?;
                }
                self.out.push(tag::END_BLOCK_DATA);
            } else {
                same_count(class, 0, data.contents.len())?;
            }
        }
        Ok(())
    }

    /// newArray: TC_ARRAY classDesc newHandle (int)size values[size]
    fn array(&mut self, array: &Arc<Array>, depth: usize) -> Result<(), WriteError> {
        self.out.push(tag::ARRAY);
        self.class(Some(&array.class))?;
        self.remember(address(array), Value::Array(Arc::clone(array)));
        let mismatch = |found| WriteError::Type {
            location: array.class.name.clone(),
            expected: format!("the elements of {}", array.class.name),
            found,
        };
        let element = FieldType::of_elements(&array.class.name).ok_or_else(|| mismatch("a class that is no array"))?;
        let length = match &array.elements {
            Elements::Bytes(bytes) => bytes.len(),
            Elements::Values(values) => values.len(),
        };
        let size = i32::try_from(length).map_err(|_| too_long("an array", length, i32::MAX as usize))?;
        self.out.extend(size.to_be_bytes());
        match &array.elements {
            Elements::Bytes(bytes) if element == FieldType::Byte => self.out.extend(bytes),
            Elements::Bytes(_) => return Err(mismatch("bytes")),
            Elements::Values(_) if element == FieldType::Byte => return Err(mismatch("a list of values")),
            Elements::Values(values) => {
                for value in values {
                    self.value(value, &element, || format!("an element of {}", array.class.name), depth)?;
                }
            }
        }
        Ok(())
    }

    fn value(
        &mut self,
        value: &Value,
        field_type: &FieldType,
        location: impl Fn() -> String,
        depth: usize,
    ) -> Result<(), WriteError> {
        match (field_type, value) {
            (FieldType::Byte, Value::Byte(byte)) => self.out.extend(byte.to_be_bytes()),
            (FieldType::Char, Value::Char(unit)) => self.out.extend(unit.to_be_bytes()),
            (FieldType::Double, Value::Double(number)) => self.out.extend(number.to_be_bytes()),
            (FieldType::Float, Value::Float(number)) => self.out.extend(number.to_be_bytes()),
            (FieldType::Int, Value::Int(number)) => self.out.extend(number.to_be_bytes()),
            (FieldType::Long, Value::Long(number)) => self.out.extend(number.to_be_bytes()),
            (FieldType::Short, Value::Short(number)) => self.out.extend(number.to_be_bytes()),
            (FieldType::Boolean, Value::Boolean(truth)) => self.out.push(u8::from(*truth)),
            (FieldType::Object(signature) | FieldType::Array(signature), value) => {
                return self.reference(value, &location(), signature, depth + 1);
            }
            (_, value) => {
                let expected = char::from(field_type.code()).to_string();
                return Err(WriteError::Type {
                    location: location(),
                    expected,
                    found: value.kind(),
                });
            }
        }
        Ok(())
    }

    /// classDesc: newClassDesc | nullReference | (ClassDesc)prevObject
    fn class(&mut self, class: Option<&Arc<ClassDescriptor>>) -> Result<(), WriteError> {
        let Some(class) = class else {
            self.out.push(tag::NULL);
            return Ok(());
        };
        if self.refer(address(class)) {
            return Ok(());
        }
        self.out.push(tag::CLASS_DESCRIPTOR);
        self.name("a class's name", &class.name)?;
        self.out.extend(class.serial_version_uid.to_be_bytes());
        self.remember(address(class), Value::Class(Arc::clone(class)));
        self.out.push(class.kind.flags());
        let count = class.fields.len();
        let count = u16::try_from(count).map_err(|_| too_long("a class's list of fields", count, 0xffff))?;
        self.out.extend(count.to_be_bytes());
        for field in &class.fields {
            self.out.push(field.field_type.code());
            self.name("a field's name", &field.name)?;
            if let Some(signature) = field.field_type.signature() {
                self.signature(signature);
            }
        }
        self.out.push(tag::END_BLOCK_DATA);
        self.class(class.superclass.as_ref())
    }

    fn signature(&mut self, signature: &str) {
        if let Some(&handle) = self.by_signature.get(signature) {
            self.handle(handle);
            return;
        }
        self.by_signature.insert(signature.to_owned(), self.next_handle());
        self.handles.push(Value::Null);
        self.text(signature);
    }

    fn string(&mut self, text: &Arc<str>) {
        if !self.refer(address(text)) {
            self.remember(address(text), Value::String(Arc::clone(text)));
            self.text(text);
        }
    }

    /// newString: TC_STRING newHandle (utf) | TC_LONGSTRING newHandle (long-utf)
    fn text(&mut self, text: &str) {
        let length = modified_utf8::encoded_len(text);
        match u16::try_from(length) {
            Ok(length) => {
                self.out.push(tag::STRING);
                self.out.extend(length.to_be_bytes());
            }
            Err(_) => {
                self.out.push(tag::LONG_STRING);
                self.out.extend((length as u64).to_be_bytes());
            }
        }
        modified_utf8::encode(text, &mut self.out);
    }

    fn name(&mut self, what: &'static str, name: &str) -> Result<(), WriteError> {
        let length = modified_utf8::encoded_len(name);
        let short = u16::try_from(length).map_err(|_| too_long(what, length, 0xffff))?;
        self.out.extend(short.to_be_bytes());
        modified_utf8::encode(name, &mut self.out);
        Ok(())
    }

    /// Writes a reference to the instance at `address`, if it has been sent.
    fn refer(&mut self, address: usize) -> bool {
        let Some(&handle) = self.by_address.get(&address) else {
            return false;
        };
        self.handle(handle);
        true
    }

    fn handle(&mut self, handle: u32) {
        self.out.push(tag::REFERENCE);
        self.out.extend(handle.to_be_bytes());
    }

    fn remember(&mut self, address: usize, held: Value) {
        self.by_address.insert(address, self.next_handle());
        self.handles.push(held);
    }

    fn next_handle(&self) -> u32 {
        tag::BASE_HANDLE + self.handles.len() as u32
    }
}

fn address<T: ?Sized>(instance: &Arc<T>) -> usize {
    Arc::as_ptr(instance).cast::<()>() as usize
}

fn same_count(class: &ClassDescriptor, expected: usize, found: usize) -> Result<(), WriteError> {
    if expected == found {
        return Ok(());
    }
    Err(WriteError::Count {
        class: class.name.clone(),
        expected,
        found,
    })
}

fn too_long(what: &'static str, length: usize, limit: usize) -> WriteError {
    WriteError::Length { what, length, limit }
}
