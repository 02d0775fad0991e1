//! Values to bytes, for every positional format.

use super::{ByteOrder, DEPTH_MAX, EnumeratorSize, Error, Format};
use serde::{Serialize, ser};
use std::marker::PhantomData;

/// Appends values to a message.
pub struct Serializer<'a, F> {
    message: &'a mut Vec<u8>,
    start: usize,
    depth: usize,
    format: PhantomData<F>,
}

impl<'a, F: Format> Serializer<'a, F> {
    /// Appends to a message whose first byte is `message[start]`: alignment counts from there.
    pub fn new(message: &'a mut Vec<u8>, start: usize) -> Self {
        Self {
            message,
            start,
            depth: 0,
            format: PhantomData,
        }
    }

    fn align(&mut self, bytes: usize) {
        if F::ALIGNED {
            let misaligned = (self.message.len() - self.start) % bytes;
            if misaligned != 0 {
                self.message.resize(self.message.len() + bytes - misaligned, 0);
            }
        }
    }

    fn number<const N: usize>(&mut self, little: [u8; N], big: [u8; N]) {
        self.align(N);
        self.message.extend_from_slice(match F::BYTE_ORDER {
            ByteOrder::Little => &little,
            ByteOrder::Big => &big,
        });
    }

    fn size(&mut self, size: usize) -> Result<(), Error> {
        let max = if F::COMPACT_SIZES {
            i32::MAX as usize
        } else {
            u32::MAX as usize
        };
        if size > max {
            return Err(Error::TooLong {
                format: F::NAME,
                size,
                max,
            });
        }
        if F::COMPACT_SIZES && size < 255 {
            self.message.push(size as u8);
        } else {
            if F::COMPACT_SIZES {
                self.message.push(255);
            }
            self.number((size as u32).to_le_bytes(), (size as u32).to_be_bytes());
        }
        Ok(())
    }

    fn enumerator(&mut self, index: u32) -> Result<(), Error> {
        match F::ENUMERATORS {
            EnumeratorSize::Byte if index < 127 => {
                self.message.push(index as u8);
                Ok(())
            }
            EnumeratorSize::Byte => self.refuse("an enum of more than 127 enumerators", "use encoding 1.1"),
            EnumeratorSize::Size => self.size(index as usize),
            EnumeratorSize::FourBytes => {
                self.number(index.to_le_bytes(), index.to_be_bytes());
                Ok(())
            }
        }
    }

    fn union(&mut self, index: u32) -> Result<(), Error> {
        if !F::UNIONS {
            return self.refuse("an enumerator with a value", "use a struct");
        }
        self.enumerator(index)?;
        self.enter()
    }

    fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            Err(Error::TooDeep)
        } else {
            Ok(())
        }
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
    ($($method:ident: $number:ty),*) => {$(
        fn $method(self, value: $number) -> Result<(), Error> {
            self.number(value.to_le_bytes(), value.to_be_bytes());
            Ok(())
        }
    )*};
}

macro_rules! unsigned_numbers {
    ($($method:ident: $number:ty),*) => {$(
        fn $method(self, value: $number) -> Result<(), Error> {
            if !F::UNSIGNED {
                return self.refuse("an unsigned number", "use a signed one");
            }
            self.number(value.to_le_bytes(), value.to_be_bytes());
            Ok(())
        }
    )*};
}

impl<F: Format> ser::Serializer for &mut Serializer<'_, F> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_u8: u8, serialize_f32: f32, serialize_f64: f64);
    unsigned_numbers!(serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.message.push(u8::from(value));
        Ok(())
    }

    fn serialize_char(self, _: char) -> Result<(), Error> {
        self.refuse("a character", "use a string")
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if F::TERMINATED_STRINGS {
            if value.contains('\0') {
                return self.refuse("a string with a zero byte", "use a sequence of bytes");
            }
            self.size(value.len() + 1)?;
            self.message.extend_from_slice(value.as_bytes());
            self.message.push(0);
        } else {
            self.size(value.len())?;
            self.message.extend_from_slice(value.as_bytes());
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.size(value.len())?;
        self.message.extend_from_slice(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.refuse("an option", "use a sequence of none or one")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), Error> {
        self.refuse("an option", "use a sequence of none or one")
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.refuse("a unit", "leave it out")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.refuse("a struct without members", "leave it out")
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), Error> {
        self.enumerator(index)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.union(index)?;
        value.serialize(&mut *self)?;
        self.depth -= 1;
        Ok(())
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Error> {
        match length {
            Some(length) => self.size(length)?,
            None => return self.refuse("a sequence of unknown length", "collect it first"),
        }
        self.enter()?;
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Error> {
        self.serialize_seq(length)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Error> {
        self.enter()?;
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        self.enter()?;
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Error> {
        self.enter()?;
        Ok(self)
    }

    fn serialize_tuple_variant(self, _: &'static str, index: u32, _: &'static str, _: usize) -> Result<Self, Error> {
        self.union(index)?;
        Ok(self)
    }

    fn serialize_struct_variant(self, _: &'static str, index: u32, _: &'static str, _: usize) -> Result<Self, Error> {
        self.union(index)?;
        Ok(self)
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident($($name:ty)?)),*) => {$(
        impl<F: Format> ser::$trait for &mut Serializer<'_, F> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $name,)? value: &T) -> Result<(), Error> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Error> {
                self.depth -= 1;
                Ok(())
            }
        }
    )*};
}

elements!(
    SerializeSeq serialize_element(),
    SerializeTuple serialize_element(),
    SerializeTupleStruct serialize_field(),
    SerializeTupleVariant serialize_field(),
    SerializeStruct serialize_field(&'static str),
    SerializeStructVariant serialize_field(&'static str)
);

impl<F: Format> ser::SerializeMap for &mut Serializer<'_, F> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Error> {
        self.depth -= 1;
        Ok(())
    }
}
