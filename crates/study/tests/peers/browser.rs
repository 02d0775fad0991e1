//! What does a WebSocket server agree to, and send, where a browser asks? Our own session over a socket, with the offers of browsers.

use lastmile_payload::message_codec::{Deflate, DeflateLibrary};
use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::{
    Agreement, ClientSettings, ClientWindow, Event, Form, MESSAGE_LIMIT, Offer, ReceivedMessage, Request, Session,
};
use lastmile_units::Seed;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddrV4, TcpStream};
use std::time::Duration;

/// What Chrome offers: a server may limit its window.
pub(crate) const CHROME: Option<Offer> = Some(Offer {
    client_max_window_bits: ClientWindow::Any,
    ..BARE
});
/// What Firefox offers.
pub(crate) const FIREFOX: Option<Offer> = Some(BARE);
/// What a client without the extension does.
pub(crate) const NOTHING: Option<Offer> = None;

const BARE: Offer = Offer {
    server_no_context_takeover: false,
    client_no_context_takeover: false,
    server_max_window_bits: None,
    client_max_window_bits: ClientWindow::NotOffered,
};

/// A connection that is open.
pub(crate) struct Browser {
    stream: TcpStream,
    session: Session,
    agreement: Option<Agreement>,
}

impl Browser {
    /// Connects and shakes hands.
    pub(crate) fn open(server: SocketAddrV4, offer: Option<Offer>) -> Self {
        let stream = TcpStream::connect(server).expect("a server that is ready accepts");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_nodelay(true).unwrap();
        let session = Session::client(ClientSettings {
            request: Request {
                host: server.to_string(),
                offers: offer.into_iter().collect(),
                ..Request::default()
            },
            deflate: Deflate::default(),
            library: DeflateLibrary::Zlib,
            message_limit: MESSAGE_LIMIT,
            seed: Seed::new(1),
        });
        let mut browser = Self {
            stream,
            session,
            agreement: None,
        };
        match browser.next() {
            Event::Opened(opened) => browser.agreement = opened.deflate,
            other => panic!("the handshake ends with {other:?}"),
        }
        browser
    }

    /// How each side compresses.
    pub(crate) fn agreement(&self) -> Option<Agreement> {
        self.agreement
    }

    /// Sends text, and gives the message that it comes back in.
    pub(crate) fn echo(&mut self, text: &str) -> ReceivedMessage {
        self.session.send(Kind::Text, text.as_bytes(), Form::default()).unwrap();
        match self.next() {
            Event::Message(message) => {
                assert!(message.payload == text.as_bytes(), "{text} comes back as it was");
                message
            }
            other => panic!("instead of a message came {other:?}"),
        }
    }

    /// What happens next, control frames passed over.
    fn next(&mut self) -> Event {
        let mut piece = [0; 16 << 10];
        loop {
            self.stream.write_all(&self.session.take_output()).unwrap();
            match self.session.next_event() {
                Some(Event::Ping(_) | Event::Pong(_)) => {}
                Some(event) => return event,
                None => match self.stream.read(&mut piece).expect("an answer in time") {
                    0 => self.session.transport_ended(),
                    count => self.session.receive(&piece[..count]),
                },
            }
        }
    }
}
