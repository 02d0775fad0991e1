//! Codecs: how bytes become fewer. Bytes in, bytes out: no clock, no socket.
//!
//! - [`content`]: every content coding of HTTP at every level, streaming, with exact sizes.
//! - [`message`]: the same for a stream of messages: permessage-deflate with every setting, and what else there is.

pub mod content;
pub mod message;
