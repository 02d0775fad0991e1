//! The contents of an object stream: class descriptors, and values that share instances by [`Arc`].
//!
//! The same `Arc` in two places is the same Java instance: it is sent once, and by handle after that.

use bytes::Bytes;
use std::sync::Arc;

/// The type of a field, or of an array's elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldType {
    /// `byte`, signature `B`.
    Byte,
    /// `char`, a UTF-16 code unit, signature `C`.
    Char,
    /// `double`, signature `D`.
    Double,
    /// `float`, signature `F`.
    Float,
    /// `int`, signature `I`.
    Int,
    /// `long`, signature `J`.
    Long,
    /// `short`, signature `S`.
    Short,
    /// `boolean`, signature `Z`.
    Boolean,
    /// An object, with its signature: `Ljava/lang/String;`.
    Object(String),
    /// An array, with its signature: `[B`.
    Array(String),
}

impl FieldType {
    const PRIMITIVES: [(u8, Self); 8] = [
        (b'B', Self::Byte),
        (b'C', Self::Char),
        (b'D', Self::Double),
        (b'F', Self::Float),
        (b'I', Self::Int),
        (b'J', Self::Long),
        (b'S', Self::Short),
        (b'Z', Self::Boolean),
    ];

    /// A reference to a `java.lang.String`.
    pub fn string() -> Self {
        Self::Object("Ljava/lang/String;".to_owned())
    }

    /// The first character of its signature (specification, `prim_typecode` and `obj_typecode`).
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Object(_) => b'L',
            Self::Array(_) => b'[',
            primitive => {
                let known = Self::PRIMITIVES.iter().find(|(_, known)| known == primitive);
                known.expect("every primitive is listed").0
            }
        }
    }

    /// The primitive type of that code.
    pub(super) fn primitive(code: u8) -> Option<Self> {
        let known = Self::PRIMITIVES.into_iter().find(|(known, _)| *known == code);
        known.map(|(_, primitive)| primitive)
    }

    /// The size of a primitive in a stream, in bytes; none for references.
    pub(super) fn width(&self) -> Option<usize> {
        match self {
            Self::Byte | Self::Boolean => Some(1),
            Self::Char | Self::Short => Some(2),
            Self::Float | Self::Int => Some(4),
            Self::Double | Self::Long => Some(8),
            Self::Object(_) | Self::Array(_) => None,
        }
    }

    /// The signature of a reference type.
    pub(super) fn signature(&self) -> Option<&str> {
        match self {
            Self::Object(signature) | Self::Array(signature) => Some(signature),
            _ => None,
        }
    }

    /// The type of an array's elements, from the array class's name (`[B`, `[Ljava.lang.String;`).
    pub(super) fn of_elements(class_name: &str) -> Option<Self> {
        let element = class_name.strip_prefix('[')?;
        match *element.as_bytes().first()? {
            b'L' => Some(Self::Object(element.to_owned())),
            b'[' => Some(Self::Array(element.to_owned())),
            code => Self::primitive(code),
        }
    }
}

/// A field of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name in the source.
    pub name: String,
    /// Its declared type.
    pub field_type: FieldType,
}

impl Field {
    /// A field of that name and type.
    pub fn new(name: &str, field_type: FieldType) -> Self {
        Self {
            name: name.to_owned(),
            field_type,
        }
    }
}

/// How a class takes part in serialisation (specification, `classDescFlags`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    /// Not at all; streams only name it.
    NotSerializable,
    /// Its fields are written.
    Serializable,
    /// Its `writeObject` method adds contents after its fields.
    WriteMethod,
    /// It writes everything itself, as block data and objects.
    Externalizable,
    /// An enumeration: constants go by name.
    Enum,
}

impl ClassKind {
    const FLAGS: [(u8, Self); 5] = [
        (0x00, Self::NotSerializable),
        (0x02, Self::Serializable),
        (0x03, Self::WriteMethod),
        (0x0c, Self::Externalizable),
        (0x12, Self::Enum),
    ];

    pub(super) fn flags(self) -> u8 {
        Self::FLAGS
            .iter()
            .find(|(_, kind)| *kind == self)
            .expect("every kind is listed")
            .0
    }

    pub(super) fn from_flags(flags: u8) -> Option<Self> {
        Self::FLAGS
            .iter()
            .find(|(known, _)| *known == flags)
            .map(|(_, kind)| *kind)
    }

    /// Whether an object of the class has its own contents, up to an end mark.
    pub(super) fn has_contents(self) -> bool {
        matches!(self, Self::WriteMethod | Self::Externalizable)
    }
}

/// The description of a class, which a stream contains once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassDescriptor {
    /// The binary name: `java.util.Date`, `[B`.
    pub name: String,
    /// `serialVersionUID`; 0 for enumerations.
    pub serial_version_uid: i64,
    /// How it takes part in serialisation.
    pub kind: ClassKind,
    /// In the order of the stream.
    pub fields: Vec<Field>,
    /// The nearest serialisable superclass.
    pub superclass: Option<Arc<ClassDescriptor>>,
}

impl ClassDescriptor {
    /// A serialisable class. Its fields are put into the order that Java gives them: primitives first, each by name
    /// (`ObjectStreamField.compareTo`).
    pub fn serializable(name: &str, serial_version_uid: i64, mut fields: Vec<Field>) -> Self {
        fields.sort_by(|a, b| {
            let key = |field: &Field| {
                (
                    field.field_type.width().is_none(),
                    field.name.encode_utf16().collect::<Vec<_>>(),
                )
            };
            key(a).cmp(&key(b))
        });
        Self {
            name: name.to_owned(),
            serial_version_uid,
            kind: ClassKind::Serializable,
            fields,
            superclass: None,
        }
    }

    /// The same class with a superclass.
    #[must_use]
    pub fn extending(self, superclass: Arc<ClassDescriptor>) -> Self {
        Self {
            superclass: Some(superclass),
            ..self
        }
    }

    /// The class of `byte[]`; its UID is the JDK's.
    pub fn byte_array() -> Self {
        Self::serializable("[B", -5_984_413_125_824_719_648, Vec::new())
    }

    /// The classes whose data an object holds, topmost superclass first.
    pub fn lineage(self: &Arc<Self>) -> Vec<Arc<ClassDescriptor>> {
        let mut lineage: Vec<_> =
            std::iter::successors(Some(Arc::clone(self)), |class| class.superclass.clone()).collect();
        lineage.reverse();
        lineage
    }
}

/// Any element of a stream. Primitives occur only in fields and arrays, [`Value::Block`] only among contents.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A reference to nothing.
    Null,
    /// A `byte`.
    Byte(i8),
    /// A `char`.
    Char(u16),
    /// A `double`.
    Double(f64),
    /// A `float`.
    Float(f32),
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `short`.
    Short(i16),
    /// A `boolean`.
    Boolean(bool),
    /// A `java.lang.String`.
    String(Arc<str>),
    /// An object.
    Object(Arc<Object>),
    /// An array.
    Array(Arc<Array>),
    /// A constant of an enumeration.
    Enum(Arc<EnumConstant>),
    /// A class itself.
    Class(Arc<ClassDescriptor>),
    /// Bytes that a `writeObject` method, or the program between objects, wrote.
    Block(Bytes),
}

impl Value {
    /// A new string instance.
    pub fn string(text: &str) -> Self {
        Self::String(Arc::from(text))
    }

    /// Its kind, in a word or two.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Byte(_) => "byte",
            Self::Char(_) => "char",
            Self::Double(_) => "double",
            Self::Float(_) => "float",
            Self::Int(_) => "int",
            Self::Long(_) => "long",
            Self::Short(_) => "short",
            Self::Boolean(_) => "boolean",
            Self::String(_) => "string",
            Self::Object(_) => "object",
            Self::Array(_) => "array",
            Self::Enum(_) => "enumeration constant",
            Self::Class(_) => "class",
            Self::Block(_) => "block data",
        }
    }
}

/// An instance of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Its class.
    pub class: Arc<ClassDescriptor>,
    /// The data of each class of [`ClassDescriptor::lineage`], in that order.
    pub data: Vec<ClassData>,
}

impl Object {
    /// The value of the field of that name, nearest class first.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.class
            .lineage()
            .iter()
            .zip(&self.data)
            .rev()
            .find_map(|(class, data)| {
                let at = class.fields.iter().position(|candidate| candidate.name == field)?;
                data.values.get(at)
            })
    }
}

/// The data of one class of an object's lineage.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassData {
    /// One value per field, in the descriptor's order.
    pub values: Vec<Value>,
    /// What the class's own code wrote; empty for [`ClassKind::Serializable`].
    pub contents: Vec<Value>,
}

impl From<Vec<Value>> for ClassData {
    fn from(values: Vec<Value>) -> Self {
        Self {
            values,
            contents: Vec::new(),
        }
    }
}

/// An array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Its class, named `[B`, `[Ljava.lang.String;` and so on.
    pub class: Arc<ClassDescriptor>,
    /// Its elements.
    pub elements: Elements,
}

/// The elements of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum Elements {
    /// Of a `byte[]`.
    Bytes(Bytes),
    /// Of any other.
    Values(Vec<Value>),
}

/// A constant of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumConstant {
    /// The enumeration.
    pub class: Arc<ClassDescriptor>,
    /// The constant's name.
    pub name: Arc<str>,
}
