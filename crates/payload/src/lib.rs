//! What is delivered: the bytes of a study, and what codings make of them. Bytes in, bytes out: no clock, no socket.
//!
//! - [`codec`]: how bytes become fewer. Every content coding of HTTP at every level, streaming, with exact sizes.

pub mod codec;
pub mod encoding;
