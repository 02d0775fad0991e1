//! What is delivered: the bytes of a study, and what codings make of them. Bytes in, bytes out: no clock, no socket.
//!
//! - [`codec`]: how bytes become fewer. Every content coding of HTTP at every level, streaming, with exact sizes.
//! - [`message_codec`]: the same for a stream of messages: permessage-deflate with every setting, and what else there is.
//! - [`encoding`]: how values become bytes. Java object streams, CCSDS packets.
//! - [`source`]: how files of a user's are read, and refused.
//! - [`sweep`]: how small every setting of permessage-deflate makes messages, exactly or with an interval.
//! - [`traffic`]: what a user has. Responses out of a HAR, a folder or lines of JSON.
//! - [`transcript`]: what messages a user has, read one by one. Lines, JSON Lines, length-prefixed, HAR.
//! - [`websocket`]: how messages travel. Frames, the handshake, permessage-deflate agreed on and done.
//! - [`workload`]: what is delivered, made from a seed, with decoders.

pub mod codec;
pub mod encoding;
pub mod message_codec;
pub mod source;
pub mod sweep;
pub mod traffic;
pub mod transcript;
pub mod websocket;
pub mod workload;
