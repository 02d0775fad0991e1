//! Writes Thrift's compact protocol, in which Parquet has its metadata.

/// A struct that is being written, with the structs within it.
#[derive(Debug)]
pub(super) struct Compact {
    bytes: Vec<u8>,
    /// The last field's number of each struct that is open.
    last: Vec<i16>,
}

impl Default for Compact {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            last: vec![0],
        }
    }
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// The methods write a field by its number; fields come in the order of their numbers, less than 16 apart.
impl Compact {
    fn field(&mut self, number: i16, kind: u8) {
        let last = self.last.last_mut().expect("a struct is open");
        let step = u8::try_from(number - *last).expect("fields come in order");
        assert!((1..16).contains(&step), "field {number} comes after {last}");
        *last = number;
        self.bytes.push(step << 4 | kind);
    }

    pub(super) fn boolean(&mut self, number: i16, value: bool) {
        self.field(number, if value { TRUE } else { FALSE });
    }

    pub(super) fn i32(&mut self, number: i16, value: i32) {
        self.field(number, I32);
        self.integer(value.into());
    }

    pub(super) fn i64(&mut self, number: i16, value: u64) {
        self.field(number, I64);
        self.integer(value.cast_signed());
    }

    pub(super) fn text(&mut self, number: i16, value: &str) {
        self.field(number, BINARY);
        self.binary(value);
    }

    pub(super) fn list_of_i32(&mut self, number: i16, values: &[i32]) {
        self.list(number, I32, values.len());
        for value in values {
            self.integer((*value).into());
        }
    }

    pub(super) fn list_of_texts(&mut self, number: i16, values: &[&str]) {
        self.list(number, BINARY, values.len());
        for value in values {
            self.binary(value);
        }
    }

    /// Begins a list; each element follows, from [`Self::begin_element`] to [`Self::end`].
    pub(super) fn list_of_structs(&mut self, number: i16, count: usize) {
        self.list(number, STRUCT, count);
    }

    pub(super) fn begin_element(&mut self) {
        self.last.push(0);
    }

    /// Begins a struct, up to [`Self::end`].
    pub(super) fn begin(&mut self, number: i16) {
        self.field(number, STRUCT);
        self.last.push(0);
    }

    pub(super) fn end(&mut self) {
        self.bytes.push(0);
        self.last.pop();
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.end();
        assert!(self.last.is_empty(), "every struct has an end");
        self.bytes
    }

    fn list(&mut self, number: i16, kind: u8, count: usize) {
        self.field(number, LIST);
        match u8::try_from(count) {
            Ok(count @ 0..15) => self.bytes.push(count << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                write_varint(&mut self.bytes, count as u64);
            }
        }
    }

    fn binary(&mut self, value: &str) {
        write_varint(&mut self.bytes, value.len() as u64);
        self.bytes.extend(value.as_bytes());
    }

    /// Signs alternate, so that small numbers are short.
    fn integer(&mut self, value: i64) {
        write_varint(&mut self.bytes, (value << 1 ^ value >> 63).cast_unsigned());
    }
}

/// Seven bits a byte, the least significant first.
pub(super) fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
