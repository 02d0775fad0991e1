//! The fuzz targets of WebSocket, as a server, a client or a proxy between them might break it: handshakes, frames, captures of both.

use super::portions::{self, Portions};
use lastmile_capture::websocket::{Conversation, Messages};
use lastmile_codec::message::{Deflate, DeflateLibrary, WindowBits};
use lastmile_traffic::messages::Message;
use lastmile_units::{ByteCount, Seed};
use lastmile_websocket::{
    Agreement, ClientRequest, ClientSettings, CompressorParameters, Event, Offer, PERMESSAGE_DEFLATE, Received,
    Receiver, Request, ServerDeflate, ServerSettings, Session, Violation, accept_offer, accept_response,
    read_extensions,
};
use std::io::Read;

/// Enough for the content of small inputs, and little enough that a decompression bomb costs no time.
const MESSAGE_MAX: ByteCount = ByteCount::new(64 << 10);

const ANY: CompressorParameters = CompressorParameters {
    takeover: true,
    window_bits: WindowBits::MAX,
};

/// A request, or a response to one of ours. Reading in portions gives the same as reading the whole; the client that made the offer accepts
/// the server's response, and both agree; a list of extensions prints as one that reads as the same.
pub fn websocket_handshake(input: &[u8]) {
    for session in [server, client] {
        let (mut whole, mut in_portions) = (session(), session());
        whole.receive(input);
        portions::of(input).for_each(|portion| in_portions.receive(portion));
        assert_eq!(whole.take_output(), in_portions.take_output());
        assert_eq!(events(&mut whole), events(&mut in_portions));
    }
    if let Ok(asked) = ClientRequest::read(input) {
        let list = asked.extensions.iter().map(ToString::to_string).collect::<Vec<_>>();
        let again = read_extensions([list.join(", ").as_bytes()]).expect("what prints is a list");
        assert_eq!(again, asked.extensions);
        let wish = Agreement {
            server: ANY,
            client: ANY,
        };
        if let Some((response, agreement)) = accept_offer(&asked.extensions, &wish) {
            let deflate = asked
                .extensions
                .iter()
                .filter(|extension| extension.name == PERMESSAGE_DEFLATE);
            let offers: Vec<Offer> = deflate.filter_map(|extension| Offer::read(extension).ok()).collect();
            let taken = accept_response(&offers[..1], &[response.extension()]);
            assert_eq!(taken, Ok(Some(agreement)));
        }
    }
}

fn server() -> Session {
    Session::server(ServerSettings {
        deflate: Some(ServerDeflate::default()),
        protocols: vec!["chat".to_owned()],
        message_limit: MESSAGE_MAX,
    })
}

fn client() -> Session {
    let request = Request {
        host: "localhost".to_owned(),
        protocols: vec!["chat".to_owned()],
        offers: vec![Offer::default()],
        ..Request::default()
    };
    Session::client(ClientSettings {
        request,
        deflate: Deflate::default(),
        library: DeflateLibrary::default(),
        message_limit: MESSAGE_MAX,
        seed: Seed::new(1),
    })
}

fn events(session: &mut Session) -> Vec<Event> {
    std::iter::from_fn(|| session.next_event()).collect()
}

/// Frames behind a byte of flags: bit 0 from a client, bit 1 with deflate, bit 2 without takeover. Reading in portions gives the same
/// as reading the whole, and no message exceeds the limit.
pub fn websocket_frames(input: &[u8]) {
    let Some((flags, frames)) = input.split_first() else {
        return;
    };
    let compressor = (flags & 2 != 0).then_some(CompressorParameters {
        takeover: flags & 4 == 0,
        ..ANY
    });
    let receiver = || Receiver::new(flags & 1 != 0, compressor, MESSAGE_MAX).expect("zlib takes its own settings");
    let whole = received(receiver(), std::iter::once(frames));
    assert_eq!(whole, received(receiver(), portions::of(frames)));
    for received in &whole.0 {
        if let Received::Message(message) = received {
            assert!(ByteCount::from(message.payload.len()) <= MESSAGE_MAX);
        }
    }
}

fn received<'a>(
    mut receiver: Receiver,
    portions: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Received>, Option<Violation>) {
    let mut messages = Vec::new();
    for portion in portions {
        if let Err(violation) = receiver.receive(portion, &mut |one| messages.push(one)) {
            return (messages, Some(violation));
        }
    }
    (messages, None)
}

/// A capture with WebSocket connections. Reading in portions gives the same as reading the whole, and each message belongs to a reported
/// connection.
pub fn websocket_capture(input: &[u8]) {
    let whole = read(input);
    assert_eq!(whole, read(Portions::new(input)));
    if let Ok((messages, conversations, _)) = whole {
        let counts = conversations
            .iter()
            .map(|one| one.sent.messages + one.received.messages);
        assert_eq!(counts.sum::<u64>(), messages.len() as u64);
        assert!(
            messages
                .iter()
                .all(|message| (message.connection as usize) < conversations.len())
        );
    }
}

/// Messages, connections, and the reader's error where it fails among them.
type CaptureResult = (Vec<Message>, Vec<Conversation>, Option<String>);

fn read(from: impl Read) -> Result<CaptureResult, String> {
    let mut messages = Messages::open(from, "input", MESSAGE_MAX).map_err(|error| error.to_string())?;
    let (mut read, mut failed) = (Vec::new(), None);
    for message in messages.by_ref() {
        match message {
            Ok(message) => read.push(message),
            Err(error) => failed = Some(error.to_string()),
        }
    }
    Ok((read, messages.conversations().to_vec(), failed))
}
