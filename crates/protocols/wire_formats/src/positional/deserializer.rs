//! Bytes to values, for every positional format; the bytes may come from anybody.

use super::{ByteOrder, DEPTH_MAX, EnumeratorSize, Error, Format};
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use std::marker::PhantomData;

/// Reads values from the bytes of a message.
pub struct Deserializer<'de, F> {
    rest: &'de [u8],
    offset: usize,
    depth: usize,
    format: PhantomData<F>,
}

impl<'de, F: Format> Deserializer<'de, F> {
    /// Reads bytes whose first is `offset` bytes from the start of their message: alignment counts from there.
    pub fn new(bytes: &'de [u8], offset: usize) -> Self {
        Self {
            rest: bytes,
            offset,
            depth: 0,
            format: PhantomData,
        }
    }

    /// Where the next byte is, from the start of the message.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// What has not been read.
    pub fn rest(&self) -> &'de [u8] {
        self.rest
    }

    /// Ends reading.
    ///
    /// # Errors
    /// When bytes are left.
    pub fn finish(&self) -> Result<(), Error> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Error::Surplus { left }),
        }
    }

    fn take(&mut self, bytes: usize) -> Result<&'de [u8], Error> {
        let Some((taken, rest)) = self.rest.split_at_checked(bytes) else {
            return Err(Error::Truncated {
                offset: self.offset,
                needed: bytes,
                left: self.rest.len(),
            });
        };
        self.rest = rest;
        self.offset += bytes;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        if F::ALIGNED {
            let misaligned = self.offset % N;
            if misaligned != 0 {
                self.take(N - misaligned)?;
            }
        }
        Ok(self.take(N)?.try_into().expect("as many bytes as were taken"))
    }

    fn four_bytes(&mut self) -> Result<u32, Error> {
        let bytes = self.number::<4>()?;
        Ok(match F::BYTE_ORDER {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    fn size_field(&mut self) -> Result<usize, Error> {
        let at = self.offset;
        if F::COMPACT_SIZES {
            let short = self.take(1)?[0];
            if short < 255 {
                return Ok(usize::from(short));
            }
        }
        let size = self.four_bytes()?;
        if F::COMPACT_SIZES && size > i32::MAX as u32 {
            return Err(self.malformed(at, format!("the size {} is negative", size.cast_signed())));
        }
        Ok(size as usize)
    }

    /// The size of a sequence. Each element takes a byte at least, so a size beyond what is left is refused before anything is allocated.
    fn size(&mut self) -> Result<usize, Error> {
        let at = self.offset;
        let size = self.size_field()?;
        if size > self.rest.len() {
            return Err(Error::Truncated {
                offset: at,
                needed: size,
                left: self.rest.len(),
            });
        }
        Ok(size)
    }

    fn string(&mut self) -> Result<&'de str, Error> {
        let at = self.offset;
        let size = self.size()?;
        let mut bytes = self.take(size)?;
        if F::TERMINATED_STRINGS {
            let Some((0, text)) = bytes.split_last() else {
                return Err(self.malformed(at, "the string does not end with a zero byte".to_owned()));
            };
            if text.contains(&0) {
                return Err(self.malformed(at, "the string has a zero byte within".to_owned()));
            }
            bytes = text;
        }
        std::str::from_utf8(bytes).map_err(|error| self.malformed(at, format!("the string is not UTF-8: {error}")))
    }

    fn enumerator(&mut self) -> Result<u32, Error> {
        match F::ENUMERATORS {
            EnumeratorSize::Byte => Ok(u32::from(self.take(1)?[0])),
            EnumeratorSize::Size => Ok(self.size_field()? as u32),
            EnumeratorSize::FourBytes => self.four_bytes(),
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH_MAX {
            return Err(Error::TooDeep);
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn elements<V: Visitor<'de>>(&mut self, left: usize, visitor: V) -> Result<V::Value, Error> {
        self.nested(|reader| visitor.visit_seq(Elements { reader, left }))
    }

    fn malformed(&self, offset: usize, problem: String) -> Error {
        Error::Malformed { offset, problem }
    }

    fn refuse<T>(&self, what: &'static str, remedy: &'static str) -> Result<T, Error> {
        Err(Error::NoMapping {
            format: F::NAME,
            what,
            remedy,
        })
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident: $number:ty),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let bytes = self.number()?;
            visitor.$visit(match F::BYTE_ORDER {
                ByteOrder::Little => <$number>::from_le_bytes(bytes),
                ByteOrder::Big => <$number>::from_be_bytes(bytes),
            })
        }
    )*};
}

macro_rules! unsigned_numbers {
    ($($method:ident $visit:ident: $number:ty),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            if !F::UNSIGNED {
                return self.refuse("an unsigned number", "use a signed one");
            }
            let bytes = self.number()?;
            visitor.$visit(match F::BYTE_ORDER {
                ByteOrder::Little => <$number>::from_le_bytes(bytes),
                ByteOrder::Big => <$number>::from_be_bytes(bytes),
            })
        }
    )*};
}

impl<'de, F: Format> de::Deserializer<'de> for &mut Deserializer<'de, F> {
    type Error = Error;

    numbers!(deserialize_i8 visit_i8: i8, deserialize_i16 visit_i16: i16, deserialize_i32 visit_i32: i32, deserialize_i64 visit_i64: i64,
        deserialize_u8 visit_u8: u8, deserialize_f32 visit_f32: f32, deserialize_f64 visit_f64: f64);
    unsigned_numbers!(deserialize_u16 visit_u16: u16, deserialize_u32 visit_u32: u32, deserialize_u64 visit_u64: u64);

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        self.refuse("a value of unknown type", "read it as a type")
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let at = self.offset;
        match self.take(1)?[0] {
            0 => visitor.visit_bool(false),
            1 => visitor.visit_bool(true),
            other => Err(self.malformed(at, format!("a boolean is {other}, and must be 0 or 1"))),
        }
    }

    fn deserialize_char<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        self.refuse("a character", "use a string")
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_borrowed_str(self.string()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let size = self.size()?;
        visitor.visit_borrowed_bytes(self.take(size)?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        self.refuse("an option", "use a sequence of none or one")
    }

    fn deserialize_unit<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        self.refuse("a unit", "leave it out")
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, _: V) -> Result<V::Value, Error> {
        self.refuse("a struct without members", "leave it out")
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.nested(|reader| visitor.visit_newtype_struct(reader))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.size()?;
        self.elements(left, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        self.elements(length, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.elements(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.size()?;
        self.nested(|reader| visitor.visit_map(Elements { reader, left }))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.elements(members.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.nested(|reader| visitor.visit_enum(Union { reader }))
    }
}

struct Elements<'a, 'de, F> {
    reader: &'a mut Deserializer<'de, F>,
    left: usize,
}

impl<'de, F: Format> de::SeqAccess<'de> for Elements<'_, 'de, F> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de, F: Format> de::MapAccess<'de> for Elements<'_, 'de, F> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        de::SeqAccess::next_element_seed(self, seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

struct Union<'a, 'de, F> {
    reader: &'a mut Deserializer<'de, F>,
}

impl<'de, F: Format> de::EnumAccess<'de> for Union<'_, 'de, F> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let index = self.reader.enumerator()?;
        let variant = seed.deserialize(IntoDeserializer::<Error>::into_deserializer(index))?;
        Ok((variant, self))
    }
}

impl<'de, F: Format> Union<'_, 'de, F> {
    fn check(&self) -> Result<(), Error> {
        if F::UNIONS {
            Ok(())
        } else {
            self.reader.refuse("an enumerator with a value", "use a struct")
        }
    }
}

impl<'de, F: Format> de::VariantAccess<'de> for Union<'_, 'de, F> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.check()?;
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        self.check()?;
        self.reader.elements(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, members: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.check()?;
        self.reader.elements(members.len(), visitor)
    }
}
