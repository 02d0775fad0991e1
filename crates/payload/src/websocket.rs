//! How do messages travel over WebSocket (RFC 6455), compressed by permessage-deflate (RFC 7692)? Sans-IO: octets in, octets out.
//!
//! - [`Session`]: one end of a connection, client or server, from handshake to close. What most want.
//! - [`Receiver`], [`Sender`]: one direction after the handshake. A capture has a receiver for each.
//! - [`Request`], [`Asked`], [`Key`]: the handshake. [`read_extensions`], [`Offer`], [`Response`], [`accept_offer`], [`take_response`]: its
//!   negotiation.
//! - [`FrameHeader`]: frames as they are, and as they must not be.
//!
//! ```
//! use lastmile_payload::message_codec::{Deflate, DeflateLibrary};
//! use lastmile_payload::transcript::Kind;
//! use lastmile_payload::websocket::*;
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
//! client.send(Kind::Text, b"Hello", Form::default()).unwrap();
//! server.receive(&client.take_output());
//! server.next_event(); // that it opened
//! let Some(Event::Message(message)) = server.next_event() else { panic!() };
//! assert_eq!(message.payload, b"Hello");
//! assert!(message.is_compressed);
//! ```
//!
//! **Why our own.** A study varies mem level, strategy and window of a connection's compressor and counts its memory; the probe sends what no
//! endpoint may send; a capture is read from one side. Of the crates there are, those that negotiate permessage-deflate show none of this.
//!
//! Every message is compressed or not as its sender says ([`Form`]), and the receiver takes both. Text is checked for UTF-8 as it comes.
//! Broken rules, and messages above a limit (a decompression bomb among them), fail the connection with a close code and words
//! ([`Violation`]).

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
pub use handshake::{Answered, Asked, HandshakeError, Key, Opened, Request, head_length};
pub use negotiation::{
    Agreement, ClientWindow, Compressor, NegotiationError, Offer, PERMESSAGE_DEFLATE, Response, accept_offer,
    take_response,
};
pub use receiver::{Received, ReceivedMessage, Receiver, Violation};
pub use sender::{Form, Sender};
pub use session::{
    ClientSettings, Event, Failure, MESSAGE_LIMIT, Role, SendError, ServerDeflate, ServerSettings, Session,
};
