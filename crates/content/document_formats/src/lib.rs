//! JSON documents in many encodings, and the documents again.
//!
//! JSON, MessagePack and CBOR describe themselves. The others need a schema, which [`infer`] finds: the narrowest that holds every
//! document. [`Encoder`] writes a document in one [`Encoding`] and reads it again; what an encoding cannot hold is refused with the reason, and
//! [`same`] tells whether a document came back. Files are read elsewhere, and sizes are compared elsewhere.
//!
//! [`UserSchema`] is a user's own protobuf schema in place of the inferred one.
//!
//! ```
//! use lastmile_document_formats::{Encoder, Encoding, infer};
//! let documents = [serde_json::json!({"id": 7, "name": "north"}), serde_json::json!({"id": 300})];
//! let schema = infer(&documents);
//! let protobuf = Encoder::new(Encoding::Protobuf, &schema);
//! let bytes = protobuf.encode(&documents[0]).unwrap();
//! assert_eq!(bytes, b"\x08\x07\x12\x05north");
//! assert_eq!(protobuf.decode(&bytes).unwrap(), documents[0]);
//! ```

mod avro;
mod capn;
mod flat;
mod infer;
mod lower;
mod protobuf;
mod scalar;
mod schema;
mod self_describing;
mod typed;
mod user_schema;
mod xml;

pub use infer::infer;
pub use schema::{Field, IntegerWidth, Presence, Schema};
pub use user_schema::{Misfit, PROTO_BYTES_MAX, UserSchema, UserSchemaError};

use lastmile_wire_formats::positional;
use lastmile_wire_formats::{cdr, ice};
use serde::de::DeserializeSeed as _;
use serde_json::Value;
use typed::{Dialect, Typed, TypedSeed};

/// An encoding of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Encoding {
    /// RFC 8259, without spaces.
    Json,
    /// MessagePack with the fields' names.
    MessagePack,
    /// MessagePack with objects as arrays of their fields, which takes a schema.
    MessagePackArrays,
    /// RFC 8949 with the fields' names.
    Cbor,
    /// Protocol Buffers, version 3.
    Protobuf,
    /// Avro's binary encoding, by the schema of both ends.
    Avro,
    /// Postcard, a positional encoding with varints.
    Postcard,
    /// The encoding of Ice, version 1.1.
    Ice,
    /// CORBA's encoding, as GIOP 1.2 sends it.
    Cdr,
    /// FlatBuffers, which are read without unpacking.
    FlatBuffers,
    /// Cap'n Proto, likewise.
    CapnProto,
    /// Cap'n Proto with its own packing of zeros.
    CapnProtoPacked,
    /// XML, with an element for each field.
    Xml,
}

impl Encoding {
    /// All of them, the self-describing ones first.
    pub const ALL: &[Self] = &[
        Self::Json,
        Self::MessagePack,
        Self::Cbor,
        Self::Xml,
        Self::MessagePackArrays,
        Self::Protobuf,
        Self::Avro,
        Self::Postcard,
        Self::Ice,
        Self::Cdr,
        Self::FlatBuffers,
        Self::CapnProto,
        Self::CapnProtoPacked,
    ];

    /// As it is called in records and on the command line.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// As its authors write it.
    pub const fn label(self) -> &'static str {
        self.names().1
    }

    /// The name and the label.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Json => ("json", "JSON"),
            Self::MessagePack => ("msgpack", "MessagePack"),
            Self::MessagePackArrays => ("msgpack-arrays", "MessagePack arrays"),
            Self::Cbor => ("cbor", "CBOR"),
            Self::Protobuf => ("protobuf", "protobuf"),
            Self::Avro => ("avro", "Avro"),
            Self::Postcard => ("postcard", "postcard"),
            Self::Ice => ("ice", "Ice"),
            Self::Cdr => ("cdr", "CDR"),
            Self::FlatBuffers => ("flatbuffers", "FlatBuffers"),
            Self::CapnProto => ("capnproto", "Cap'n Proto"),
            Self::CapnProtoPacked => ("capnproto-packed", "Cap'n Proto packed"),
            Self::Xml => ("xml", "XML"),
        }
    }

    /// Whether both sides must know the schema.
    pub const fn needs_schema(self) -> bool {
        !matches!(self, Self::Json | Self::MessagePack | Self::Cbor | Self::Xml)
    }
}

/// Why a document could not be written, or bytes could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", encoding.label())]
pub struct DocumentError {
    /// The encoding.
    pub encoding: Encoding,
    /// What is wrong.
    pub problem: String,
}

/// Writes and reads documents of one schema in one encoding.
#[derive(Debug, Clone)]
pub struct Encoder {
    encoding: Encoding,
    writer: WriterKind,
}

#[derive(Debug, Clone)]
enum WriterKind {
    SelfDescribing,
    Typed(Schema),
    Protobuf(protobuf::Protobuf),
    UserSchema(UserSchema),
    FlatBuffers(flat::FlatBuffers),
    CapnProto(capn::CapnProto),
}

impl Encoder {
    /// An encoder of documents of `schema`.
    pub fn new(encoding: Encoding, schema: &Schema) -> Self {
        let writer = match encoding {
            Encoding::Json | Encoding::MessagePack | Encoding::Cbor => WriterKind::SelfDescribing,
            Encoding::Protobuf => WriterKind::Protobuf(protobuf::Protobuf::new(schema)),
            Encoding::FlatBuffers => WriterKind::FlatBuffers(flat::FlatBuffers::new(schema)),
            Encoding::CapnProto => WriterKind::CapnProto(capn::CapnProto::new(schema, false)),
            Encoding::CapnProtoPacked => WriterKind::CapnProto(capn::CapnProto::new(schema, true)),
            _ => WriterKind::Typed(schema.clone()),
        };
        Self { encoding, writer }
    }

    /// An encoder of documents as the protobuf message of a user's schema.
    pub fn of_user_schema(schema: UserSchema) -> Self {
        Self {
            encoding: Encoding::Protobuf,
            writer: WriterKind::UserSchema(schema),
        }
    }

    /// The encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// A document as bytes.
    ///
    /// # Errors
    /// When the document is not of the schema, or the encoding cannot hold it.
    pub fn encode(&self, document: &Value) -> Result<Vec<u8>, DocumentError> {
        let written = match &self.writer {
            WriterKind::SelfDescribing => self_describing::encode(self.encoding, document),
            WriterKind::Typed(schema) => encode_typed(self.encoding, schema, document),
            WriterKind::Protobuf(writer) => writer.encode(document),
            WriterKind::UserSchema(writer) => writer.encode(document).map_err(|misfit| misfit.to_string()),
            WriterKind::FlatBuffers(writer) => writer.encode(document),
            WriterKind::CapnProto(writer) => writer.encode(document),
        };
        written.map_err(|problem| self.error(problem))
    }

    /// A document as bytes, from its text. Encodings that describe themselves, XML excepted, keep the order of the keys; JSON is the text itself.
    ///
    /// # Errors
    /// As [`Encoder::encode`], and when the text is no JSON.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u8>, DocumentError> {
        if let WriterKind::SelfDescribing = &self.writer {
            return self_describing::encode_text(self.encoding, text).map_err(|problem| self.error(problem));
        }
        let document = serde_json::from_str(text).map_err(|error| self.error(error.to_string()))?;
        self.encode(&document)
    }

    /// A document from its bytes, which may come from anybody.
    ///
    /// # Errors
    /// When the bytes are no document of the schema.
    pub fn decode(&self, bytes: &[u8]) -> Result<Value, DocumentError> {
        let read = match &self.writer {
            WriterKind::SelfDescribing => self_describing::decode(self.encoding, bytes),
            WriterKind::Typed(schema) => decode_typed(self.encoding, schema, bytes),
            WriterKind::Protobuf(reader) => reader.decode(bytes),
            WriterKind::UserSchema(reader) => reader.decode(bytes),
            WriterKind::FlatBuffers(reader) => reader.decode(bytes),
            WriterKind::CapnProto(reader) => reader.decode(bytes),
        };
        read.map_err(|problem| self.error(problem))
    }

    /// Checks that bytes are read as the document that they came from: [`same`], and with a user's schema [`UserSchema::difference`].
    ///
    /// # Errors
    /// When they cannot be read, or are read as another document.
    pub fn check(&self, document: &Value, bytes: &[u8]) -> Result<(), DocumentError> {
        let unreadable = |problem: &str| self.error(format!("it cannot be read again: {problem}"));
        if let WriterKind::UserSchema(reader) = &self.writer {
            return match reader
                .difference(document, bytes)
                .map_err(|problem| unreadable(&problem))?
            {
                Some(field) => Err(self.error(format!("field {field} was read again with another value"))),
                None => Ok(()),
            };
        }
        let decoded = self.decode(bytes).map_err(|error| unreadable(&error.problem))?;
        if same(&decoded, document) {
            Ok(())
        } else {
            Err(self.error(format!("it was read again as {decoded}")))
        }
    }

    fn error(&self, problem: String) -> DocumentError {
        DocumentError {
            encoding: self.encoding,
            problem,
        }
    }
}

/// A schema as the text of a `.proto` file.
pub fn proto_text(schema: &Schema) -> String {
    protobuf::Protobuf::new(schema).text()
}

/// Whether two documents are equal. Numbers are compared by value: `5` and `5.0` are equal.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (infer::integer(left), infer::integer(right)) {
            (Some(left), Some(right)) => left == right,
            _ => left.as_f64() == right.as_f64(),
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
        }
        (left, right) => left == right,
    }
}

/// Ice has neither options nor unsigned numbers; CDR has no options; the others have both.
fn dialect(encoding: Encoding) -> Dialect {
    Dialect {
        options: !matches!(encoding, Encoding::Ice | Encoding::Cdr),
        none_is_null: encoding == Encoding::MessagePackArrays,
        unsigned: encoding != Encoding::Ice,
    }
}

fn encode_typed(encoding: Encoding, schema: &Schema, document: &Value) -> Result<Vec<u8>, String> {
    let typed = Typed {
        schema,
        value: document,
        dialect: dialect(encoding),
    };
    match encoding {
        Encoding::Ice => ice::to_vec(&typed).map_err(|error| error.to_string()),
        Encoding::Cdr => cdr::to_vec(&typed).map_err(|error| error.to_string()),
        Encoding::Postcard => postcard::to_allocvec(&typed).map_err(|error| reason(&typed, &error)),
        Encoding::Avro => avro::encode(schema, document),
        Encoding::Xml => xml::encode(schema, document),
        _ => rmp_serde::to_vec(&typed).map_err(|error| error.to_string()),
    }
}

/// Why a value could not be written. Postcard drops our own message, so a writer that keeps it repeats the attempt.
fn reason(typed: &Typed<'_>, error: &postcard::Error) -> String {
    rmp_serde::to_vec(typed).map_or_else(|kept| kept.to_string(), |_| error.to_string())
}

fn decode_typed(encoding: Encoding, schema: &Schema, bytes: &[u8]) -> Result<Value, String> {
    let seed = TypedSeed {
        schema,
        dialect: dialect(encoding),
    };
    match encoding {
        Encoding::Ice => decode_positional::<ice::Ice11>(seed, bytes),
        Encoding::Cdr => decode_positional::<cdr::LittleEndian>(seed, bytes),
        Encoding::Postcard => {
            let mut reader = postcard::Deserializer::from_bytes(bytes);
            let value = seed.deserialize(&mut reader).map_err(|error| error.to_string())?;
            let rest = reader.finalize().map_err(|error| error.to_string())?;
            scalar::whole(value, rest.len())
        }
        Encoding::Avro => avro::decode(schema, bytes),
        Encoding::Xml => xml::decode(schema, bytes),
        _ => self_describing::decode_message_pack(seed, bytes),
    }
}

fn decode_positional<F: positional::Format>(seed: TypedSeed<'_>, bytes: &[u8]) -> Result<Value, String> {
    let mut reader = positional::Deserializer::<F>::new(bytes, 0);
    let value = seed.deserialize(&mut reader).map_err(|error| error.to_string())?;
    reader.finish().map_err(|error| error.to_string())?;
    Ok(value)
}

#[cfg(test)]
mod tests;
