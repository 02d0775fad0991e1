//! Reads the values of an object stream as its bytes arrive.
//!
//! A parser without recursion: [`ObjectStreamReader::feed`] accepts bytes in any portions, [`ObjectStreamReader::next_value`]
//! returns a value as soon as its last byte has arrived. Unfinished values are on a stack of [frames](frame). Depth and size are
//! limited, and errors name the offset, what was found and what was expected.

mod error;
mod input;
mod parse_stack;

use super::model::{ClassKind, FieldType, Value};
use super::tag;
use super::writer::DEPTH_MAX;
use bytes::Bytes;
pub use error::{Limits, ReadError};
use input::{Input, NeedMoreOrError};
use parse_stack::{Expected, Frame, FrameKind, PartialClass, Piece, Task};

/// Reads the values of a stream from bytes in any portions.
#[derive(Default)]
pub struct ObjectStreamReader {
    limits: Limits,
    input: Input,
    started: bool,
    /// The offset of the current top-level value, and the number of its parts so far.
    top_offset: u64,
    parts: usize,
    /// What each handle stands for; none while it is still being read.
    handles: Vec<Option<Piece>>,
    frames: Vec<Frame>,
    failed: Option<ReadError>,
}

impl ObjectStreamReader {
    /// A reader at the start of a stream, with the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader at the start of a stream.
    pub fn with_limits(limits: Limits) -> Self {
        Self {
            limits: Limits {
                depth: limits.depth.min(DEPTH_MAX),
                ..limits
            },
            ..Self::default()
        }
    }

    /// Appends the next bytes of the stream, any number of them.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.feed(bytes);
    }

    /// The next value, or none until more bytes arrive.
    ///
    /// # Errors
    /// When the bytes are not an object stream, or exceed the limits. Later calls return the same error.
    pub fn next_value(&mut self) -> Result<Option<Value>, ReadError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        match self.advance() {
            Ok(value) => Ok(Some(value)),
            Err(NeedMoreOrError::Starved) => Ok(None),
            Err(NeedMoreOrError::Failed(error)) => {
                self.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// When it ends within the header or a value.
    pub fn finish(&self) -> Result<(), ReadError> {
        let buffered = self.input.len();
        if self.started && self.frames.is_empty() && buffered == 0 {
            return Ok(());
        }
        Err(ReadError::CutOff {
            offset: self.offset() + buffered as u64,
            buffered,
        })
    }

    /// How many bytes of the stream have been read into values, the unfinished one included.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    fn advance(&mut self) -> Result<Value, NeedMoreOrError> {
        if !self.started {
            self.header()?;
        }
        loop {
            self.check_limits()?;
            let task = self.frames.last().map_or(Task::Element(Expected::Top), Frame::task);
            let part = match task {
                Task::Element(want) => match self.element(want)? {
                    Some(part) => part,
                    None => continue,
                },
                Task::FieldName => self.field_name()?,
                Task::Primitive(field_type) => Piece::Value {
                    value: self.primitive(&field_type)?,
                    depth: 0,
                },
                Task::Length => self.length()?,
                Task::Bytes(wanted) => self.some_bytes(wanted)?,
                Task::Finish => self.finish_frame(),
            };
            // Portions of a byte[] do not count: their number depends on the network.
            self.parts += usize::from(!matches!(part, Piece::Bytes(_)));
            match self.frames.last_mut() {
                Some(frame) => {
                    let handle_due = frame.handle.is_none() && matches!(part, Piece::Class { .. });
                    let offset = self.input.offset();
                    frame
                        .take(part)
                        .map_err(|expected| ReadError::Part { offset, expected })?;
                    if let FrameKind::Object { lineage, .. } = &frame.kind
                        && handle_due
                    {
                        self.parts += lineage.len();
                    }
                    if handle_due {
                        frame.handle = Some(self.handles.len());
                        self.handles.push(None);
                    }
                }
                None => {
                    self.parts = 0;
                    self.top_offset = self.offset();
                    match part {
                        Piece::Value { value, .. } => return Ok(value),
                        part => unreachable!("nothing but a value is accepted at the top, not {part:?}"),
                    }
                }
            }
        }
    }

    fn check_limits(&self) -> Result<(), ReadError> {
        let offset = self.offset();
        let limit = |what, limit| Err(ReadError::Limit { offset, what, limit });
        if self.frames.len() > self.limits.depth
            || self.frames.last().is_some_and(|frame| frame.depth >= self.limits.depth)
        {
            return limit("the nesting of values", self.limits.depth as u64);
        }
        if offset - self.top_offset > self.limits.size.get() {
            return limit("the size of one value, in bytes,", self.limits.size.get());
        }
        if self.parts > self.limits.parts {
            return limit("the number of a value's parts", self.limits.parts as u64);
        }
        Ok(())
    }

    fn header(&mut self) -> Result<(), NeedMoreOrError> {
        const MAGIC: [u8; 2] = tag::STREAM_MAGIC.to_be_bytes();
        const VERSION: [u8; 2] = tag::STREAM_VERSION.to_be_bytes();
        const HEADER: [u8; 4] = [MAGIC[0], MAGIC[1], VERSION[0], VERSION[1]];
        let there = self.input.len().min(HEADER.len());
        for (at, (&found, expected)) in self.input.slice(0, there)?.iter().zip(HEADER).enumerate() {
            if found != expected {
                return Err(self.unexpected_byte(at, "the header ac ed 00 05 of an object stream", found));
            }
        }
        self.input.peek::<{ HEADER.len() }>(0)?;
        self.input.skip(HEADER.len());
        self.started = true;
        self.top_offset = self.offset();
        Ok(())
    }

    /// Reads the element that a tag begins: returns a whole part, or pushes a new frame on the stack and returns none.
    fn element(&mut self, want: Expected) -> Result<Option<Piece>, NeedMoreOrError> {
        let [found] = self.input.peek(0)?;
        let offset = self.offset();
        let unsupported = |what| Err(ReadError::Unsupported { offset, what, found }.into());
        let is_object = matches!(want, Expected::Top | Expected::Content | Expected::Reference);
        let frame = match found {
            tag::NULL if want == Expected::Class => {
                self.input.skip(1);
                return Ok(Some(Piece::Class { class: None, depth: 0 }));
            }
            tag::NULL if is_object => {
                self.input.skip(1);
                return Ok(Some(Piece::Value {
                    value: Value::Null,
                    depth: 0,
                }));
            }
            tag::REFERENCE => return self.reference(want).map(Some),
            tag::STRING | tag::LONG_STRING if want != Expected::Class => return self.string().map(Some),
            tag::BLOCK_DATA | tag::BLOCK_DATA_LONG if matches!(want, Expected::Top | Expected::Content) => {
                return self.block().map(Some);
            }
            tag::END_BLOCK_DATA if want == Expected::Content => {
                self.input.skip(1);
                return Ok(Some(Piece::End));
            }
            tag::RESET if want == Expected::Top => {
                self.input.skip(1);
                self.handles.clear();
                return Ok(None);
            }
            tag::CLASS_DESCRIPTOR if want == Expected::Class => return self.begin_class().map(|()| None),
            tag::OBJECT if is_object => Frame::object(),
            tag::ARRAY if is_object => Frame::array(),
            tag::ENUM if is_object => Frame::new(FrameKind::Enum {
                class: None,
                name: None,
            }),
            tag::CLASS if is_object => Frame::new(FrameKind::ClassItself { class: None }),
            tag::EXCEPTION if is_object => return unsupported("an exception in the stream"),
            tag::PROXY_CLASS_DESCRIPTOR if want == Expected::Class => return unsupported("a dynamic proxy class"),
            _ => {
                let expected = match want {
                    Expected::Top => "an object (0x70 to 0x7e)",
                    Expected::Content => "an object, block data or its end (0x78)",
                    Expected::Reference => "an object, array, string, null or reference",
                    Expected::Text => "a string (0x74) or a reference to one (0x71)",
                    Expected::Class => "a class descriptor (0x72), a reference to one (0x71) or null (0x70)",
                };
                return Err(self.unexpected_byte(0, expected, found));
            }
        };
        self.input.skip(1);
        self.frames.push(frame);
        Ok(None)
    }

    /// prevObject: TC_REFERENCE (int)handle
    fn reference(&mut self, want: Expected) -> Result<Piece, NeedMoreOrError> {
        let offset = self.offset();
        let bytes = self.input.peek::<5>(0)?;
        let handle = u32::from_be_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
        let known = handle
            .checked_sub(tag::BASE_HANDLE)
            .and_then(|index| self.handles.get(index as usize));
        let (fits, found) = match known {
            None => (false, "nothing yet"),
            Some(None) => (false, "something still being read (a cycle, which is not supported)"),
            Some(Some(Piece::Value { value, .. })) => {
                let fits = match want {
                    Expected::Class => false,
                    Expected::Text => matches!(value, Value::String(_)),
                    Expected::Top | Expected::Content | Expected::Reference => true,
                };
                (fits, value.kind())
            }
            Some(Some(_)) => (want == Expected::Class, "a class descriptor"),
        };
        let expected = match want {
            Expected::Class => "the handle of a class descriptor",
            Expected::Text => "the handle of a string",
            Expected::Top | Expected::Content | Expected::Reference => "the handle of an object",
        };
        let part = known.cloned().flatten().filter(|_| fits).ok_or(ReadError::Handle {
            offset,
            expected,
            handle,
            found,
        })?;
        self.input.skip(5);
        Ok(part)
    }

    /// newString: TC_STRING newHandle (utf) | TC_LONGSTRING newHandle (long-utf)
    fn string(&mut self) -> Result<Piece, NeedMoreOrError> {
        let (ahead, length) = if self.input.peek(0)? == [tag::STRING] {
            (3, u64::from(u16::from_be_bytes(self.input.peek(1)?)))
        } else {
            (9, u64::from_be_bytes(self.input.peek(1)?))
        };
        let length = self.within_size(length)?;
        let value = Value::String(self.input.text(ahead, length)?.into());
        self.input.skip(ahead + length);
        let part = Piece::Value { value, depth: 1 };
        self.handles.push(Some(part.clone()));
        Ok(part)
    }

    /// blockdata: TC_BLOCKDATA (unsigned byte)size bytes | TC_BLOCKDATALONG (int)size bytes
    fn block(&mut self) -> Result<Piece, NeedMoreOrError> {
        let (ahead, length) = if self.input.peek(0)? == [tag::BLOCK_DATA] {
            (2, u64::from(self.input.peek::<1>(1)?[0]))
        } else {
            (5, u64::from(u32::from_be_bytes(self.input.peek(1)?)))
        };
        let length = self.within_size(length)?;
        let value = Value::Block(Bytes::copy_from_slice(self.input.slice(ahead, length)?));
        self.input.skip(ahead + length);
        Ok(Piece::Value { value, depth: 1 })
    }

    /// newClassDesc: TC_CLASSDESC className serialVersionUID newHandle classDescInfo, up to the count of its fields.
    fn begin_class(&mut self) -> Result<(), NeedMoreOrError> {
        let length = usize::from(u16::from_be_bytes(self.input.peek(1)?));
        let rest: [u8; 11] = self.input.peek(3 + length)?;
        let name = self.input.text(3, length)?;
        let flags = rest[8];
        let class_kind = ClassKind::from_flags(flags).ok_or_else(|| {
            self.unexpected_byte(3 + length + 8, "the flags of a class (00, 02, 03, 0c or 12)", flags)
        })?;
        self.input.skip(3 + length + rest.len());
        let mut frame = Frame::new(FrameKind::Class(PartialClass {
            name,
            serial_version_uid: i64::from_be_bytes(rest[..8].try_into().expect("eight bytes")),
            class_kind,
            field_count: usize::from(u16::from_be_bytes([rest[9], rest[10]])),
            fields: Vec::new(),
            untyped: None,
            annotated: false,
            superclass: None,
        }));
        frame.handle = Some(self.handles.len());
        self.handles.push(None);
        self.frames.push(frame);
        Ok(())
    }

    /// fieldDesc, but for the signature: prim_typecode fieldName | obj_typecode fieldName
    fn field_name(&mut self) -> Result<Piece, NeedMoreOrError> {
        let [code] = self.input.peek(0)?;
        if FieldType::primitive(code).is_none() && code != b'L' && code != b'[' {
            return Err(self.unexpected_byte(0, "the type code of a field (one of BCDFIJSZL[)", code));
        }
        let length = usize::from(u16::from_be_bytes(self.input.peek(1)?));
        let name = self.input.text(3, length)?;
        self.input.skip(3 + length);
        Ok(Piece::FieldName { code, name })
    }

    fn primitive(&mut self, field_type: &FieldType) -> Result<Value, NeedMoreOrError> {
        let value = match field_type {
            FieldType::Byte => Value::Byte(i8::from_be_bytes(self.input.peek(0)?)),
            FieldType::Boolean => Value::Boolean(self.input.peek(0)? != [0]),
            FieldType::Char => Value::Char(u16::from_be_bytes(self.input.peek(0)?)),
            FieldType::Short => Value::Short(i16::from_be_bytes(self.input.peek(0)?)),
            FieldType::Int => Value::Int(i32::from_be_bytes(self.input.peek(0)?)),
            FieldType::Float => Value::Float(f32::from_be_bytes(self.input.peek(0)?)),
            FieldType::Long => Value::Long(i64::from_be_bytes(self.input.peek(0)?)),
            FieldType::Double => Value::Double(f64::from_be_bytes(self.input.peek(0)?)),
            FieldType::Object(_) | FieldType::Array(_) => unreachable!("references are elements"),
        };
        self.input.skip(field_type.width().expect("a primitive has a width"));
        Ok(value)
    }

    fn length(&mut self) -> Result<Piece, NeedMoreOrError> {
        let bytes = self.input.peek(0)?;
        let Ok(length) = u32::try_from(i32::from_be_bytes(bytes)) else {
            return Err(self.unexpected_byte(0, "the length of an array, which is not negative", bytes[0]));
        };
        // Every element has at least one byte.
        let length = self.within_size(u64::from(length))?;
        self.input.skip(4);
        Ok(Piece::Length(length))
    }

    fn some_bytes(&mut self, wanted: usize) -> Result<Piece, NeedMoreOrError> {
        self.input.peek::<1>(0)?;
        Ok(Piece::Bytes(self.input.take_up_to(wanted)))
    }

    fn finish_frame(&mut self) -> Piece {
        let frame = self.frames.pop().expect("a task to finish comes from a frame");
        let handle = frame.handle.expect("every frame is given its handle before it ends");
        let part = frame.finish();
        self.handles[handle] = Some(part.clone());
        part
    }

    /// The error of a byte that lies `ahead` of the next one.
    fn unexpected_byte(&self, ahead: usize, expected: &'static str, found: u8) -> NeedMoreOrError {
        let offset = self.offset() + ahead as u64;
        NeedMoreOrError::Failed(ReadError::Byte {
            offset,
            expected,
            found,
        })
    }

    fn within_size(&self, length: u64) -> Result<usize, ReadError> {
        let limit = self.limits.size.get();
        if length > limit {
            let what = "the length of a string, block or array";
            return Err(ReadError::Limit {
                offset: self.offset(),
                what,
                limit,
            });
        }
        Ok(length as usize)
    }
}
