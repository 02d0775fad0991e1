//! A WebSocket client with the offers of browsers: our own session over a socket.

use lastmile_codec::message::Kind;
use lastmile_codec::message::{Deflate, DeflateLibrary};
use lastmile_units::Seed;
use lastmile_websocket::{
    Agreement, ClientSettings, ClientWindow, Event, MESSAGE_LIMIT, Offer, ReceivedMessage, Request, SendOptions,
    Session,
};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddrV4, TcpStream};
use std::time::Duration;

/// Chrome's offer: a server may limit its window.
pub(crate) const CHROME: Option<Offer> = Some(Offer {
    client_max_window_bits: ClientWindow::Any,
    ..BARE
});
/// Firefox's offer.
pub(crate) const FIREFOX: Option<Offer> = Some(BARE);
/// The offer of a client without the extension.
pub(crate) const NOTHING: Option<Offer> = None;

const BARE: Offer = Offer {
    server_no_context_takeover: false,
    client_no_context_takeover: false,
    server_max_window_bits: None,
    client_max_window_bits: ClientWindow::NotOffered,
};

/// An open connection.
pub(crate) struct Browser {
    stream: TcpStream,
    session: Session,
    agreement: Option<Agreement>,
}

impl Browser {
    /// Connects and performs the opening handshake.
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

    /// The negotiated compression.
    pub(crate) fn agreement(&self) -> Option<Agreement> {
        self.agreement
    }

    /// Sends text, and returns the message that comes back, which must be the same.
    pub(crate) fn echo(&mut self, text: &str) -> ReceivedMessage {
        self.session
            .send(Kind::Text, text.as_bytes(), SendOptions::default())
            .unwrap();
        match self.next() {
            Event::Message(message) => {
                assert!(message.payload == text.as_bytes(), "{text} comes back unchanged");
                message
            }
            other => panic!("{other:?} instead of a message"),
        }
    }

    /// The next event; pings and pongs are skipped.
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
