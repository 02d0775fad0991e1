//! The probe's verdicts on servers that conform and on servers with known faults, which `broken` makes.

mod broken;

use super::*;
use broken::{Fault, receive_head};
use lastmile_codec::message::{Deflate, WindowBits};
use lastmile_units::ByteCount;
use lastmile_websocket::{
    Agreement, ClientRequest, CompressorParameters, Event, MESSAGE_LIMIT, Response, Role, SendOptions, ServerDeflate,
    ServerSettings, Session,
};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, OnceLock};

/// Enough for any server that answers, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);
/// For servers that never answer.
const SHORT_TIMEOUT: Duration = Duration::from_millis(150);

/// A server on the loopback interface with a thread per connection. It ends with the test's process.
fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Target {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream.unwrap()));
        }
    });
    format!("ws://127.0.0.1:{port}/echo").parse().unwrap()
}

fn probed(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Conformance {
    probe(&server(serve), TIMEOUT, "0.1.0", &mut |_, _| {}).unwrap()
}

/// Sends every message back.
fn echo(mut stream: TcpStream, mut session: Session) {
    let mut piece = vec![0; 1 << 16];
    loop {
        while let Some(event) = session.next_event() {
            if let Event::Message(message) = event {
                session
                    .send(message.kind, &message.payload, SendOptions::default())
                    .unwrap();
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

/// A server's answer to an offer of permessage-deflate.
#[derive(Debug, Clone, Copy)]
struct Says {
    response: Response,
    /// The window with which it really decompresses its clients' messages.
    client_window: WindowBits,
}

/// Answers every offer with what `says` makes of the client's wishes, and then compresses with takeover and the full window.
fn answering(says: impl Fn(&Response) -> Says + Send + Sync + 'static) -> impl Fn(TcpStream) + Send + Sync + 'static {
    move |mut stream| {
        let Some(head) = receive_head(&mut stream) else {
            return;
        };
        // A request that is not a handshake has no extensions either.
        let Ok(asked) = ClientRequest::read(head.as_bytes()) else {
            return;
        };
        let wanted = |name: &str| {
            asked
                .extensions
                .iter()
                .flat_map(|extension| &extension.parameters)
                .find(|parameter| parameter.name == name)
        };
        let as_asked = Response {
            server_no_context_takeover: wanted("server_no_context_takeover").is_some(),
            server_max_window_bits: wanted("server_max_window_bits")
                .and_then(|parameter| parameter.value.as_ref()?.parse().ok())
                .and_then(WindowBits::new),
            ..Response::default()
        };
        let says = says(&as_asked);
        let offered = !asked.extensions.is_empty();
        stream
            .write_all(&asked.accept(None, offered.then_some(&says.response)))
            .unwrap();
        let agreement = offered.then_some(Agreement {
            server: CompressorParameters {
                takeover: true,
                window_bits: WindowBits::MAX,
            },
            client: CompressorParameters {
                takeover: true,
                window_bits: says.client_window,
            },
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
}

/// Agrees to every offer, and then compresses with takeover and the full window.
fn yes_to_everything() -> impl Fn(TcpStream) + Send + Sync + 'static {
    answering(|asked| Says {
        response: *asked,
        client_window: WindowBits::MAX,
    })
}

/// The verdict on a server in one case.
fn asked(name: &str, patience: Duration, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Verdict {
    let target = server(serve);
    let case = cases::all().find(|case| case.name == name);
    let case = case.unwrap_or_else(|| panic!("no case is named {name}"));
    judged(case, (case.run)(&Prober::new(&target, patience)))
}

/// The finding of a case whose rule was broken.
fn broken(verdict: &Verdict) -> &str {
    assert_eq!(verdict.standing, RuleStatus::Broken, "{verdict:?}");
    &verdict.found
}

fn standing(conformance: &Conformance, name: &str) -> RuleStatus {
    let of_name = conformance.verdicts.iter().find(|verdict| verdict.name == name);
    of_name.unwrap_or_else(|| panic!("no case is named {name}")).standing
}

#[test]
fn our_own_server_keeps_every_rule() {
    let conformance = probed(right);
    let not_held: Vec<_> = conformance
        .verdicts
        .iter()
        .filter(|verdict| verdict.standing != RuleStatus::Held)
        .collect();
    assert!(not_held.is_empty(), "{not_held:#?}");
}

#[test]
fn a_server_without_compression_breaks_nothing_and_is_not_asked_about_it() {
    let conformance = probed(without_deflate);
    assert_eq!(conformance.broken, 0, "{conformance:#?}");
    assert!(conformance.not_applicable > 20);
    assert_eq!(standing(&conformance, "unmasked-frame"), RuleStatus::Held);
    assert_eq!(standing(&conformance, "unknown-parameter"), RuleStatus::Held);
}

#[test]
fn a_server_that_agrees_to_what_it_does_not_keep_is_found_out() {
    let conformance = probed(yes_to_everything());
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
            RuleStatus::Broken,
            "{name}: {conformance:#?}"
        );
    }
    assert_eq!(standing(&conformance, "takeover"), RuleStatus::Held);
}

#[test]
fn nobody_and_something_else_are_said_to_be_no_server_that_echoes() {
    let nobody = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let target: Target = format!("ws://{nobody}/").parse().unwrap();
    let error = probe(&target, TIMEOUT, "0.1.0", &mut |_, _| {})
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("refused") && error.contains("sends every message back"),
        "{error}"
    );
    let web = server(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
    let error = probe(&web, TIMEOUT, "0.1.0", &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("404"), "{error}");
}

#[test]
fn no_two_rules_have_one_name() {
    let mut names: Vec<_> = cases::all().map(|case| case.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

#[test]
fn a_server_that_trickles_is_waited_for_no_longer_than_one_that_is_silent() {
    let found = asked("echo", SHORT_TIMEOUT, broken::server(Fault::TricklesMessages));
    assert!(broken(&found).contains("no complete answer within 150 ms"), "{found:?}");
    let error = probe(
        &server(broken::server(Fault::TricklesItsHead)),
        SHORT_TIMEOUT,
        "0.1.0",
        &mut |_, _| {},
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("not answered within 150 ms"), "{error}");
}

#[test]
fn pings_win_no_time_for_a_server_that_ignores_what_it_must_not() {
    let found = asked("unmasked-frame", SHORT_TIMEOUT, broken::server(Fault::PingsForEver));
    assert!(broken(&found).contains("neither closes nor ends"), "{found:?}");
    let found = asked("echo", SHORT_TIMEOUT, broken::server(Fault::PingsForEver));
    assert!(broken(&found).contains("no complete answer"), "{found:?}");
}

#[test]
fn a_server_that_reads_nothing_is_not_written_to_for_ever() {
    let found = asked("two-megabytes", SHORT_TIMEOUT, |mut stream| {
        let head = receive_head(&mut stream).unwrap();
        let accept = ClientRequest::read(head.as_bytes())
            .unwrap()
            .accept(None, Some(&Response::default()));
        stream.write_all(&accept).unwrap();
        std::thread::park();
    });
    broken(&found);
}

#[test]
fn a_server_that_refuses_two_megabytes_as_too_large_keeps_the_rule() {
    let found = asked("two-megabytes", TIMEOUT, |stream| {
        let session = Session::server(ServerSettings {
            deflate: Some(ServerDeflate::default()),
            protocols: Vec::new(),
            message_limit: ByteCount::new(1_000_000),
        });
        let mut rest = stream.try_clone().unwrap();
        echo(stream, session);
        // What is not read would reset the connection, and the refusal with it.
        let _ = rest.read_to_end(&mut Vec::new());
    });
    assert_eq!(found.standing, RuleStatus::Held, "{found:?}");
    assert!(found.found.contains("1009"), "{found:?}");
}

#[test]
fn an_answer_that_a_client_must_not_take_breaks_the_handshake() {
    for (from, to) in [
        ("HTTP/1.1", "HTTP/1.0"),
        ("Upgrade: websocket\r\n", ""),
        ("Upgrade: websocket", "Upgrade: h2c"),
        ("Connection: Upgrade\r\n", ""),
        ("Connection: Upgrade", "Connection: close"),
        ("Connection", "Sec-WebSocket-Accept: AAAA\r\nConnection"),
        ("Connection", "Sec-WebSocket-Protocol: chat\r\nConnection"),
    ] {
        let serve = broken::server(Fault::Head(Box::new(move |head| head.replacen(from, to, 1))));
        broken(&asked("handshake", TIMEOUT, serve));
    }
}

#[test]
fn a_server_that_gives_every_key_the_same_accept_is_found_out() {
    let first = OnceLock::new();
    let serve = broken::server(Fault::Head(Box::new(move |head| {
        first.get_or_init(|| head.to_owned()).clone()
    })));
    let found = asked("handshake", TIMEOUT, serve);
    assert!(broken(&found).contains("Sec-WebSocket-Accept"), "{found:?}");
}

#[test]
fn a_server_that_is_broken_from_its_first_answer_is_judged_all_the_same() {
    let serve = broken::server(Fault::Head(Box::new(|head| {
        head.replacen("Connection", "Sec-WebSocket-Accept: AAAA\r\nConnection", 1)
    })));
    let conformance = probe(&server(serve), SHORT_TIMEOUT, "0.1.0", &mut |_, _| {}).unwrap();
    assert_eq!(standing(&conformance, "handshake"), RuleStatus::Broken);
    assert_eq!(standing(&conformance, "echo"), RuleStatus::Broken);
}

#[test]
fn a_server_is_held_to_the_smaller_window_that_it_answers() {
    let smaller = || {
        answering(|asked| Says {
            response: Response {
                server_max_window_bits: WindowBits::new(9),
                ..*asked
            },
            client_window: WindowBits::MAX,
        })
    };
    for name in ["server-window-12", "server-window-15", "unasked-limits"] {
        let found = asked(name, TIMEOUT, smaller());
        if name == "server-window-15" {
            // It tests the answer only.
            assert_eq!(found.standing, RuleStatus::Held);
        } else {
            assert!(broken(&found).contains("refers back farther than the 512"), "{found:?}");
        }
    }
    let found = asked(
        "unasked-limits",
        TIMEOUT,
        answering(|asked| Says {
            response: Response {
                server_no_context_takeover: true,
                ..*asked
            },
            client_window: WindowBits::MAX,
        }),
    );
    broken(&found);
}

#[test]
fn an_answer_above_the_clients_hint_is_held_and_told() {
    let found = asked(
        "client-window-with-value",
        TIMEOUT,
        answering(|asked| Says {
            response: Response {
                client_max_window_bits: WindowBits::new(13),
                ..*asked
            },
            client_window: WindowBits::MAX,
        }),
    );
    assert_eq!(found.standing, RuleStatus::Held);
    assert!(
        found.found.contains("client_max_window_bits=13: it ignores the hint"),
        "{found:?}"
    );
}

#[test]
fn a_server_that_reads_back_less_far_than_it_said_is_found_out() {
    let found = asked(
        "far-reference-to-the-message-before",
        TIMEOUT,
        answering(|asked| Says {
            response: *asked,
            client_window: WindowBits::new(14).unwrap(),
        }),
    );
    broken(&found);
}

#[test]
fn a_server_that_does_not_end_is_found_out_and_so_is_one_that_says_more() {
    let found = asked("end-after-closing", SHORT_TIMEOUT, broken::server(Fault::StaysOpen));
    assert!(broken(&found).contains("leaves the TCP connection open"), "{found:?}");
    let found = asked(
        "silence-after-closing",
        TIMEOUT,
        broken::server(Fault::SpeaksAfterClosing),
    );
    assert!(broken(&found).contains("6 bytes after its close frame"), "{found:?}");
    let found = asked("end-after-closing", TIMEOUT, broken::server(Fault::SpeaksAfterClosing));
    assert_eq!(found.standing, RuleStatus::Held, "{found:?}");
}

#[test]
fn a_close_frame_without_a_code_is_called_so_and_ends_a_connection_as_none_does() {
    let found = asked("rsv2", TIMEOUT, broken::server(Fault::ClosesWithoutACode));
    assert_eq!(found.standing, RuleStatus::Held);
    assert_eq!(found.found, "it sends a close frame without a code");
    let found = asked("echo", TIMEOUT, broken::server(Fault::ClosesWithoutACode));
    assert_eq!(broken(&found), "the server sends a close frame without a code");
}

#[test]
fn a_pong_that_is_none_is_named_by_the_rule_that_it_breaks() {
    let found = asked("ping-between-fragments", TIMEOUT, broken::server(Fault::FragmentsPongs));
    assert!(broken(&found).contains("pong frame is fragmented"), "{found:?}");
}

#[test]
fn a_server_that_takes_everything_breaks_every_rule_that_it_must_fail_a_connection_by() {
    let target = server(broken::server(Fault::TakesEverything));
    let asked_to_fail = cases::all().filter(|case| case.asks.ends_with("fails the connection"));
    let mut count = 0;
    for case in asked_to_fail {
        let verdict = judged(case, (case.run)(&Prober::new(&target, TIMEOUT)));
        broken(&verdict);
        count += 1;
    }
    assert_eq!(count, 36);
    // Only the sender of such a length breaks a rule.
    for name in ["length-in-16-bits", "length-in-64-bits"] {
        let found = asked(name, TIMEOUT, broken::server(Fault::TakesEverything));
        assert_eq!(found.standing, RuleStatus::Held, "{found:?}");
    }
}

#[test]
fn a_server_that_takes_every_request_for_a_handshake_is_found_out() {
    for name in [
        "version-12",
        "key-missing",
        "key-too-short",
        "host-missing",
        "post",
        "extension-grammar",
    ] {
        let found = asked(name, TIMEOUT, broken::server(Fault::TakesEverything));
        assert!(broken(&found).contains("nevertheless"), "{found:?}");
    }
    let found = asked("version-12", TIMEOUT, |mut stream| {
        receive_head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    assert_eq!(broken(&found), "it answers with 400, without Sec-WebSocket-Version");
    let found = asked("key-missing", TIMEOUT, |mut stream| {
        receive_head(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    });
    assert_eq!(broken(&found), "it answers with 200 where an HTTP error is due");
}
