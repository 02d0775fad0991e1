//! GIOP 1.2, the protocol of CORBA: its messages as bytes, and back.
//!
//! A message has a header of 12 bytes. Everything in it is aligned to its own size, counted from the start of the message, and the
//! parameters to 8 bytes; they are the encoding's (`lastmile_wire_formats`), and opaque here. The content of padding is not specified: we write zeros.
//! Source: CORBA 3.3 part 2 (formal/2012-11-14), chapter 9; recorded streams of omniORB 4.2 hold the writer byte for byte outside padding
//! (`tests/recorded.rs`).

mod fragment;
mod header;
mod message;
mod reader;

pub use fragment::{OMNIORB_MESSAGE_MAX, fragment};
pub use header::{ByteOrder, HEADER_LENGTH};
pub use message::{LocateStatus, Message, Parameters, Reply, ReplyStatus, Request, ResponseFlags, ServiceContext};
pub use reader::{Limits, Reader};

#[cfg(test)]
mod tests;
