//! The unfinished elements of a stream, and what each needs next.
//!
//! A [`Frame`] is one production of the grammar that has begun and not ended. It names what it needs as a [`Task`], is given
//! [`Piece`]s, and becomes a part itself when it needs no more. Reading the bytes is left to the reader.

use super::super::model::{
    Array, ClassData, ClassDescriptor, ClassKind, Elements, EnumConstant, Field, FieldType, Object, Value,
};
use std::sync::Arc;

/// What is valid at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// At the top: an object, block data or a reset mark.
    Top,
    /// Among contents: an object, block data or the end mark.
    Content,
    /// In a field or an array.
    Reference,
    /// A string.
    Text,
    /// A class descriptor, or null.
    Class,
}

/// What a frame needs next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task {
    /// Something that begins with a tag.
    Element(Expected),
    /// The code and name of a field.
    FieldName,
    /// A primitive.
    Primitive(FieldType),
    /// The length of an array.
    Length,
    /// That many bytes of a `byte[]`.
    Bytes(usize),
    /// Nothing more.
    Finish,
}

/// What a frame is given.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Value {
        value: Value,
        depth: usize,
    },
    Class {
        class: Option<Arc<ClassDescriptor>>,
        depth: usize,
    },
    FieldName {
        code: u8,
        name: String,
    },
    Length(usize),
    Bytes(Vec<u8>),
    End,
}

/// A production that has begun.
#[derive(Debug)]
pub(super) struct Frame {
    /// Its index in the table of handles, from the point where the grammar assigns one.
    pub(super) handle: Option<usize>,
    /// How deep the deepest of its parts nests.
    pub(super) depth: usize,
    pub(super) kind: FrameKind,
}

#[derive(Debug)]
pub(super) enum FrameKind {
    Class(PartialClass),
    Object {
        class: Option<Arc<ClassDescriptor>>,
        lineage: Vec<Arc<ClassDescriptor>>,
        done: Vec<ClassData>,
        now: ClassData,
    },
    Array {
        class: Option<Arc<ClassDescriptor>>,
        element: FieldType,
        length: Option<usize>,
        elements: Vec<Value>,
        bytes: Vec<u8>,
    },
    Enum {
        class: Option<Arc<ClassDescriptor>>,
        name: Option<Arc<str>>,
    },
    ClassItself {
        class: Option<Arc<ClassDescriptor>>,
    },
}

#[derive(Debug)]
pub(super) struct PartialClass {
    pub(super) name: String,
    pub(super) serial_version_uid: i64,
    pub(super) class_kind: ClassKind,
    pub(super) field_count: usize,
    pub(super) fields: Vec<Field>,
    /// A field whose type's signature is still to come.
    pub(super) untyped: Option<(u8, String)>,
    pub(super) annotated: bool,
    pub(super) superclass: Option<Option<Arc<ClassDescriptor>>>,
}

impl Frame {
    pub(super) fn new(kind: FrameKind) -> Self {
        Self {
            handle: None,
            depth: 0,
            kind,
        }
    }

    pub(super) fn object() -> Self {
        Self::new(FrameKind::Object {
            class: None,
            lineage: Vec::new(),
            done: Vec::new(),
            now: ClassData::default(),
        })
    }

    pub(super) fn array() -> Self {
        Self::new(FrameKind::Array {
            class: None,
            element: FieldType::Byte,
            length: None,
            elements: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// What it needs next.
    pub(super) fn task(&self) -> Task {
        match &self.kind {
            FrameKind::Class(class) if class.untyped.is_some() => Task::Element(Expected::Text),
            FrameKind::Class(class) if class.fields.len() < class.field_count => Task::FieldName,
            FrameKind::Class(class) if !class.annotated => Task::Element(Expected::Content),
            FrameKind::Class(class) if class.superclass.is_none() => Task::Element(Expected::Class),
            FrameKind::Object { class: None, .. }
            | FrameKind::Array { class: None, .. }
            | FrameKind::Enum { class: None, .. }
            | FrameKind::ClassItself { class: None } => Task::Element(Expected::Class),
            FrameKind::Object { lineage, done, now, .. } => match lineage.get(done.len()) {
                None => Task::Finish,
                Some(class) => match class.fields.get(now.values.len()) {
                    Some(field) => value_of(&field.field_type),
                    None => Task::Element(Expected::Content),
                },
            },
            FrameKind::Array { length: None, .. } => Task::Length,
            FrameKind::Array {
                element: FieldType::Byte,
                length: Some(length),
                bytes,
                ..
            } => {
                if bytes.len() < *length {
                    Task::Bytes(length - bytes.len())
                } else {
                    Task::Finish
                }
            }
            FrameKind::Array {
                element,
                length: Some(length),
                elements,
                ..
            } => {
                if elements.len() < *length {
                    value_of(element)
                } else {
                    Task::Finish
                }
            }
            FrameKind::Enum { name: None, .. } => Task::Element(Expected::Text),
            FrameKind::Class(_) | FrameKind::Enum { .. } | FrameKind::ClassItself { .. } => Task::Finish,
        }
    }

    /// Adds a part that [`task`](Self::task) requested. The error is what was expected instead.
    pub(super) fn take(&mut self, part: Piece) -> Result<(), &'static str> {
        if let Piece::Value { depth, .. } | Piece::Class { depth, .. } = &part {
            self.depth = self.depth.max(*depth);
        }
        match (&mut self.kind, part) {
            (FrameKind::Class(class), part) => return class.take(part),
            (
                FrameKind::Object {
                    class,
                    lineage,
                    now,
                    done,
                },
                Piece::Class { class: found, .. },
            ) => {
                let found = found.ok_or("the descriptor of the object's class, not null")?;
                if matches!(found.kind, ClassKind::Enum | ClassKind::NotSerializable) {
                    return Err("the descriptor of a serialisable class that is no enumeration");
                }
                *lineage = found.lineage();
                *class = Some(found);
                skip_empty(lineage, done, now);
            }
            (FrameKind::Object { lineage, done, now, .. }, Piece::Value { value, .. }) => {
                let fields = lineage[done.len()].fields.len();
                let list = if now.values.len() < fields {
                    &mut now.values
                } else {
                    &mut now.contents
                };
                list.push(value);
                skip_empty(lineage, done, now);
            }
            (FrameKind::Object { lineage, done, now, .. }, Piece::End) => {
                done.push(std::mem::take(now));
                skip_empty(lineage, done, now);
            }
            (FrameKind::Array { class, element, .. }, Piece::Class { class: found, .. }) => {
                let found = found.ok_or("the descriptor of the array's class, not null")?;
                *element =
                    FieldType::of_elements(&found.name).ok_or("the descriptor of an array's class (\"[...\")")?;
                *class = Some(found);
            }
            (FrameKind::Array { length, .. }, Piece::Length(found)) => *length = Some(found),
            (FrameKind::Array { bytes, .. }, Piece::Bytes(more)) => bytes.extend(more),
            (FrameKind::Array { elements, .. }, Piece::Value { value, .. }) => elements.push(value),
            (FrameKind::Enum { class, .. }, Piece::Class { class: found, .. }) => {
                let found = found.filter(|found| found.kind == ClassKind::Enum);
                *class = Some(found.ok_or("the descriptor of an enumeration")?);
            }
            (
                FrameKind::Enum { name, .. },
                Piece::Value {
                    value: Value::String(text),
                    ..
                },
            ) => *name = Some(text),
            (FrameKind::ClassItself { class }, Piece::Class { class: found, .. }) => {
                *class = Some(found.ok_or("the descriptor of a class, not null")?);
            }
            (kind, part) => unreachable!("{kind:?} did not ask for {part:?}"),
        }
        Ok(())
    }

    /// The finished part, when nothing more is needed.
    pub(super) fn finish(self) -> Piece {
        let depth = self.depth + 1;
        let value = match self.kind {
            FrameKind::Class(class) => {
                let class = Some(Arc::new(ClassDescriptor {
                    name: class.name,
                    serial_version_uid: class.serial_version_uid,
                    kind: class.class_kind,
                    fields: class.fields,
                    superclass: class.superclass.flatten(),
                }));
                return Piece::Class { class, depth };
            }
            FrameKind::Object { class, done, .. } => Value::Object(Arc::new(Object {
                class: class.expect(FINISHED),
                data: done,
            })),
            FrameKind::Array {
                class,
                element,
                elements,
                bytes,
                ..
            } => {
                let elements = if element == FieldType::Byte {
                    Elements::Bytes(bytes.into())
                } else {
                    Elements::Values(elements)
                };
                Value::Array(Arc::new(Array {
                    class: class.expect(FINISHED),
                    elements,
                }))
            }
            FrameKind::Enum { class, name } => Value::Enum(Arc::new(EnumConstant {
                class: class.expect(FINISHED),
                name: name.expect(FINISHED),
            })),
            FrameKind::ClassItself { class } => Value::Class(class.expect(FINISHED)),
        };
        Piece::Value { value, depth }
    }
}

const FINISHED: &str = "a frame finishes after it was given all it asked for";

impl PartialClass {
    fn take(&mut self, part: Piece) -> Result<(), &'static str> {
        match part {
            Piece::FieldName { code, name } => match FieldType::primitive(code) {
                Some(field_type) => self.fields.push(Field { name, field_type }),
                None => self.untyped = Some((code, name)),
            },
            Piece::Value {
                value: Value::String(signature),
                ..
            } if self.untyped.is_some() => {
                let (code, name) = self.untyped.take().expect("checked in the pattern");
                if signature.as_bytes().first() != Some(&code) {
                    return Err("a signature that begins with its field's type code");
                }
                let signature = signature.to_string();
                let field_type = if code == b'[' {
                    FieldType::Array(signature)
                } else {
                    FieldType::Object(signature)
                };
                self.fields.push(Field { name, field_type });
            }
            // Class annotations are ignored.
            Piece::Value { .. } => {}
            Piece::End => self.annotated = true,
            Piece::Class { class, .. } => self.superclass = Some(class),
            part => unreachable!("a class did not ask for {part:?}"),
        }
        Ok(())
    }
}

fn value_of(field_type: &FieldType) -> Task {
    if field_type.width().is_some() {
        Task::Primitive(field_type.clone())
    } else {
        Task::Element(Expected::Reference)
    }
}

/// Moves on past every class that has nothing left to read: all its fields, and no contents of its own.
fn skip_empty(lineage: &[Arc<ClassDescriptor>], done: &mut Vec<ClassData>, now: &mut ClassData) {
    while let Some(class) = lineage.get(done.len()) {
        if now.values.len() < class.fields.len() || class.kind.has_contents() {
            break;
        }
        done.push(std::mem::take(now));
    }
}
