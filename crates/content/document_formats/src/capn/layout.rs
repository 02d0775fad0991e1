//! Where each field of a struct is: in the data section or among the pointers.

use crate::schema::{Field, IntegerWidth, Presence, Schema};

/// The sections of a struct, and its fields.
#[derive(Debug, Clone)]
pub(super) struct StructLayout {
    pub(super) data_words: usize,
    pub(super) pointers: usize,
    pub(super) fields: Vec<FieldLayout>,
}

/// A field and its location.
#[derive(Debug, Clone)]
pub(super) struct FieldLayout {
    pub(super) name: String,
    pub(super) presence: Presence,
    pub(super) location: FieldLocation,
    pub(super) content: Content,
}

/// Where a field is.
#[derive(Debug, Clone)]
pub(super) enum FieldLocation {
    /// In the data section, at a bit; another bit says whether it is there, if it may be missing.
    Data { bit: usize, presence_bit: Option<usize> },
    /// Among the pointers, by index.
    Pointer(usize),
}

/// What a field or the element of a list holds.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Scalar(Schema),
    Text,
    Struct(StructLayout),
    List(Box<Content>),
}

impl Content {
    fn new(schema: &Schema) -> Self {
        match schema {
            Schema::Struct(fields) => Self::Struct(StructLayout::new(fields)),
            Schema::List(element) => Self::List(Box::new(Self::new(element))),
            Schema::Bool | Schema::Integer { .. } | Schema::Float => Self::Scalar(schema.clone()),
            _ => Self::Text,
        }
    }
}

impl StructLayout {
    pub(super) fn new(fields: &[Field]) -> Self {
        let mut used = Vec::new();
        let mut pointers = 0;
        let mut lay_out = |field: &Field| {
            let content = Content::new(&field.schema);
            let location = if let Content::Scalar(schema) = &content {
                let bit = first_free(&mut used, element_code(schema).1);
                let presence_bit = (field.presence != Presence::Always).then(|| first_free(&mut used, 1));
                FieldLocation::Data { bit, presence_bit }
            } else {
                pointers += 1;
                FieldLocation::Pointer(pointers - 1)
            };
            FieldLayout {
                name: field.name.clone(),
                presence: field.presence,
                location,
                content,
            }
        };
        let fields = fields.iter().map(&mut lay_out).collect();
        Self {
            data_words: used.len() / 64,
            pointers,
            fields,
        }
    }

    pub(super) fn words(&self) -> usize {
        self.data_words + self.pointers
    }

    /// The upper half of a pointer to such a struct.
    pub(super) fn size_bits(&self) -> u64 {
        (self.data_words as u64) << 32 | (self.pointers as u64) << 48
    }
}

/// Takes the first aligned run of free bits.
fn first_free(used: &mut Vec<bool>, bits: usize) -> usize {
    let mut bit = 0;
    while used.iter().skip(bit).take(bits).any(|used| *used) {
        bit += bits;
    }
    if used.len() < bit + bits {
        used.resize((bit + bits).next_multiple_of(64), false);
    }
    used[bit..bit + bits].fill(true);
    bit
}

/// The code of a list of such scalars, and the bits of each.
pub(super) fn element_code(schema: &Schema) -> (u64, usize) {
    let bytes = match schema {
        Schema::Bool => return (1, 1),
        Schema::Integer { min, max } => IntegerWidth::of(*min, *max).bytes,
        _ => 8,
    };
    match bytes {
        1 => (2, 8),
        2 => (3, 16),
        4 => (4, 32),
        _ => (5, 64),
    }
}
