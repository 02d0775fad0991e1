//! The WebSocket protocol (RFC 6455) with permessage-deflate (RFC 7692), sans-IO: bytes in, bytes out.
//!
//! - [`Session`]: one end of a connection, client or server, from handshake to close. Most callers need only this.
//! - [`Receiver`], [`Sender`]: one direction after the handshake. A capture has one receiver per direction.
//! - [`Request`], [`ClientRequest`], [`Key`]: the handshake. [`read_extensions`], [`Offer`], [`Response`], [`accept_offer`], [`accept_response`]: its
//!   negotiation.
//! - [`FrameHeader`]: frames, legal and illegal.
//!
//! ```
//! use lastmile_codec::message::{Deflate, DeflateLibrary};
//! use lastmile_codec::message::Kind;
//! use lastmile_websocket::*;
//! use lastmile_units::Seed;
//!
//! let request = Request { host: "chat.example".into(), offers: vec![Offer::default()], ..Request::default() };
//! let (deflate, message_limit, seed) = (Deflate::default(), MESSAGE_LIMIT, Seed::new(1));
//! let library = DeflateLibrary::default();
//! let mut client = Session::client(ClientSettings { request, deflate, library, message_limit, seed });
//! let deflate = Some(ServerDeflate::default());
//! let mut server = Session::server(ServerSettings { deflate, protocols: vec![], message_limit });
//!
//! server.receive(&client.take_output());
//! client.receive(&server.take_output());
//! let Some(Event::Opened(opened)) = client.next_event() else { panic!() };
//! assert!(opened.deflate.unwrap().server.takeover);
//!
//! client.send(Kind::Text, b"Hello", SendOptions::default()).unwrap();
//! server.receive(&client.take_output());
//! server.next_event(); // that it opened
//! let Some(Event::Message(message)) = server.next_event() else { panic!() };
//! assert_eq!(message.payload, b"Hello");
//! assert!(message.is_compressed);
//! ```
//!
//! **Why our own.** A study varies mem level, strategy and window of a connection's compressor and counts its memory; the conformance probe
//! sends illegal frames; a capture is read one direction at a time. The crates that negotiate permessage-deflate expose none of this.
//!
//! The sender decides for every message whether it is compressed ([`SendOptions`]), and the receiver accepts both. Text is checked for UTF-8 as it
//! arrives. Protocol violations and messages above a limit (decompression bombs included) fail the connection with a close code and a
//! reason ([`Violation`]).

mod close;
mod extension;
mod frame;
mod handshake;
mod negotiation;
mod receiver;
mod sender;
mod session;
mod utf8;

pub use close::{Close, CloseCode, CloseError};
pub use extension::{Extension, ExtensionError, Parameter, read_extensions};
pub use frame::{FrameError, FrameHeader, LengthForm, MaskKey, Opcode};
pub use handshake::{ClientRequest, Established, HandshakeError, Key, Request, ServerResponse, head_length};
pub use negotiation::{
    Agreement, ClientWindow, CompressorParameters, NegotiationError, Offer, PERMESSAGE_DEFLATE, Response, accept_offer,
    accept_response,
};
pub use receiver::{Received, ReceivedMessage, Receiver, Violation};
pub use sender::{SendOptions, Sender};
pub use session::{
    ClientSettings, Event, Failure, MESSAGE_LIMIT, Role, SendError, ServerDeflate, ServerSettings, Session,
};
