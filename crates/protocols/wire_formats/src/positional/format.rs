//! What differs between positional encodings: sizes, strings, enumerators, alignment and byte order.

/// In which order the bytes of a number are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

/// How an enumerator is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnumeratorSize {
    /// One byte, for enums of at most 127 enumerators.
    Byte,
    /// Like the size of a sequence.
    Size,
    /// An unsigned number of 32 bits.
    FourBytes,
}

/// A positional encoding. Its constants are known when a program is compiled, so that a serializer has no branches for them.
pub trait Format {
    /// As messages call it.
    const NAME: &'static str;
    /// Of numbers.
    const BYTE_ORDER: ByteOrder;
    /// Whether a number of n bytes begins at a multiple of n bytes from the start of the message.
    const ALIGNED: bool;
    /// Whether sizes below 255 take one byte, and others 0xFF and a signed number of 32 bits; otherwise all take 32 bits, unsigned.
    const COMPACT_SIZES: bool;
    /// Whether a string ends with a zero byte, which its size counts.
    const TERMINATED_STRINGS: bool;
    /// Of enumerators, and of the discriminants of unions.
    const ENUMERATORS: EnumeratorSize;
    /// Whether there are unsigned numbers of 16, 32 and 64 bits.
    const UNSIGNED: bool;
    /// Whether an enumerator can carry a value.
    const UNIONS: bool;
}
