//! What does the probe say of servers that are right, and of such as are wrong in a known way?

use super::*;
use lastmile_payload::message_codec::{Deflate, WindowBits};
use lastmile_payload::websocket::{
    Agreement, Asked, Compressor, Event, Form, MESSAGE_LIMIT, Response, Role, ServerDeflate, ServerSettings, Session,
    head_length,
};
use lastmile_units::Seed;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

const PATIENCE: Duration = Duration::from_secs(20);

/// A server on the loopback interface, which has each connection for itself. It ends with the test's process.
fn server(serve: fn(TcpStream)) -> Target {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || serve(stream.unwrap()));
        }
    });
    format!("ws://127.0.0.1:{port}/echo").parse().unwrap()
}

fn probed(serve: fn(TcpStream)) -> Conformance {
    probe(&server(serve), PATIENCE, "0.1.0", &mut |_, _| {}).unwrap()
}

/// Sends every message back.
fn echo(mut stream: TcpStream, mut session: Session) {
    let mut piece = vec![0; 1 << 16];
    loop {
        while let Some(event) = session.next_event() {
            if let Event::Message(message) = event {
                session.send(message.kind, &message.payload, Form::default()).unwrap();
            }
        }
        if stream.write_all(&session.take_output()).is_err() || session.is_over() {
            return;
        }
        match stream.read(&mut piece) {
            Ok(count) if count > 0 => session.receive(&piece[..count]),
            _ => return,
        }
    }
}

fn ours(deflate: Option<ServerDeflate>) -> Session {
    Session::server(ServerSettings {
        deflate,
        protocols: Vec::new(),
        message_limit: MESSAGE_LIMIT,
    })
}

fn right(stream: TcpStream) {
    echo(stream, ours(Some(ServerDeflate::default())));
}

fn without_deflate(stream: TcpStream) {
    echo(stream, ours(None));
}

/// Answers every offer as asked for, and then compresses as it likes.
fn yes_to_everything(mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut octet = [0];
    while head_length(&head).is_none() {
        if stream.read(&mut octet).unwrap_or(0) == 0 {
            return;
        }
        head.push(octet[0]);
    }
    let asked = Asked::read(&head).unwrap();
    let wanted = |name: &str| {
        asked
            .extensions
            .iter()
            .flat_map(|extension| &extension.parameters)
            .find(|parameter| parameter.name == name)
    };
    let response = Response {
        server_no_context_takeover: wanted("server_no_context_takeover").is_some(),
        server_max_window_bits: wanted("server_max_window_bits")
            .and_then(|parameter| parameter.value.as_ref()?.parse().ok())
            .and_then(WindowBits::new),
        ..Response::default()
    };
    let offered = !asked.extensions.is_empty();
    stream
        .write_all(&asked.accept(None, offered.then_some(&response)))
        .unwrap();
    let anything = Compressor {
        takeover: true,
        window_bits: WindowBits::MAX,
    };
    let agreement = offered.then_some(Agreement {
        server: anything,
        client: anything,
    });
    let session = Session::opened(
        Role::Server,
        agreement,
        &Deflate::default(),
        MESSAGE_LIMIT,
        Seed::new(2),
    )
    .unwrap();
    echo(stream, session);
}

fn standing(conformance: &Conformance, name: &str) -> Standing {
    let of_name = conformance.verdicts.iter().find(|verdict| verdict.name == name);
    of_name
        .unwrap_or_else(|| panic!("nothing is asked under {name}"))
        .standing
}

#[test]
fn our_own_server_keeps_every_rule() {
    let conformance = probed(right);
    let not_held: Vec<_> = conformance
        .verdicts
        .iter()
        .filter(|verdict| verdict.standing != Standing::Held)
        .collect();
    assert!(not_held.is_empty(), "{not_held:#?}");
}

#[test]
fn a_server_without_compression_breaks_nothing_and_is_not_asked_about_it() {
    let conformance = probed(without_deflate);
    assert_eq!(conformance.broken, 0, "{conformance:#?}");
    assert!(conformance.not_asked > 20);
    assert_eq!(standing(&conformance, "unmasked-frame"), Standing::Held);
    assert_eq!(standing(&conformance, "unknown-parameter"), Standing::Held);
}

#[test]
fn a_server_that_agrees_to_what_it_does_not_keep_is_found_out() {
    let conformance = probed(yes_to_everything);
    for name in [
        "server-window-8",
        "server-window-9",
        "server-window-12",
        "server-without-takeover",
        "unknown-parameter",
        "parameter-twice",
        "window-7",
        "window-16",
        "value-where-none-is",
    ] {
        assert_eq!(
            standing(&conformance, name),
            Standing::Broken,
            "{name}: {conformance:#?}"
        );
    }
    assert_eq!(standing(&conformance, "takeover"), Standing::Held);
}

#[test]
fn nobody_and_something_else_are_said_to_be_no_server_that_echoes() {
    let nobody = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let target: Target = format!("ws://{nobody}/").parse().unwrap();
    let error = probe(&target, PATIENCE, "0.1.0", &mut |_, _| {})
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("refused") && error.contains("sends every message back"),
        "{error}"
    );
    let web = server(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
    let error = probe(&web, PATIENCE, "0.1.0", &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
}
