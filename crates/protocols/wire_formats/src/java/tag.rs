//! The constants of `java.io.ObjectStreamConstants`, such as the tag bytes (specification, section 6.4.2).

pub(super) const STREAM_MAGIC: u16 = 0xaced;
pub(super) const STREAM_VERSION: u16 = 5;

pub(super) const NULL: u8 = 0x70;
pub(super) const REFERENCE: u8 = 0x71;
pub(super) const CLASS_DESCRIPTOR: u8 = 0x72;
pub(super) const OBJECT: u8 = 0x73;
pub(super) const STRING: u8 = 0x74;
pub(super) const ARRAY: u8 = 0x75;
pub(super) const CLASS: u8 = 0x76;
pub(super) const BLOCK_DATA: u8 = 0x77;
pub(super) const END_BLOCK_DATA: u8 = 0x78;
pub(super) const RESET: u8 = 0x79;
pub(super) const BLOCK_DATA_LONG: u8 = 0x7a;
pub(super) const EXCEPTION: u8 = 0x7b;
pub(super) const LONG_STRING: u8 = 0x7c;
pub(super) const PROXY_CLASS_DESCRIPTOR: u8 = 0x7d;
pub(super) const ENUM: u8 = 0x7e;

/// The first handle; each further one is larger by 1.
pub(super) const BASE_HANDLE: u32 = 0x007e_0000;

/// `ObjectOutputStream` gathers block data in a buffer of this many bytes.
pub(super) const BLOCK_MAX: usize = 1024;
