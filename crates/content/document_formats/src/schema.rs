//! The types of documents: what a field may hold, and whether it may be missing.

/// The type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schema {
    /// True or false.
    Bool,
    /// A whole number from `min` to `max`, within the range of `i64` or of `u64`.
    Integer {
        /// The least value.
        min: i128,
        /// The greatest value.
        max: i128,
    },
    /// A number of 64 bits with a fraction.
    Float,
    /// Text.
    Text,
    /// Values of several types, or of none that was ever seen: carried as the text of JSON.
    Json,
    /// Any number of values of one type.
    List(Box<Schema>),
    /// Any keys, with values of one type.
    Map(Box<Schema>),
    /// Named fields.
    Struct(Vec<Field>),
    /// A value or null.
    Nullable(Box<Schema>),
}

/// A field of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Whether it may be missing.
    pub presence: Presence,
    /// What it holds.
    pub schema: Schema,
}

/// Whether a field may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is there.
    Always,
    /// It is there, or it is missing.
    Optional,
    /// It is there, and may be null; encodings leave it out then.
    NullIfMissing,
}

/// The size and sign of the smallest machine number that holds a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerWidth {
    /// 1, 2, 4 or 8.
    pub bytes: usize,
    /// Whether it has a sign.
    pub signed: bool,
}

impl IntegerWidth {
    /// The smallest number for `min` to `max`, unsigned where nothing is below zero.
    pub fn of(min: i128, max: i128) -> Self {
        let signed = min < 0;
        let fits = |bits: u32| {
            if signed {
                min >= -(1_i128 << (bits - 1)) && max < 1_i128 << (bits - 1)
            } else {
                max < 1_i128 << bits
            }
        };
        let bytes = [1, 2, 4].into_iter().find(|bytes| fits(8 * *bytes)).unwrap_or(8);
        Self {
            bytes: bytes as usize,
            signed,
        }
    }

    /// The smallest signed number, where a format has no unsigned ones above a byte. None where 64 bits are too few.
    pub fn signed_of(min: i128, max: i128) -> Option<Self> {
        let width = Self::of(min, max);
        if width.signed || width.bytes == 1 {
            return Some(width);
        }
        let wider = Self::of(-1, max);
        (max <= i128::from(i64::MAX)).then_some(wider)
    }
}

impl Schema {
    /// Where a field's value is null whenever the field is missing, and the other way round.
    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Self::List(_) | Self::Map(_))
    }
}
