use super::*;
use crate::negotiation::{ClientWindow, Offer};
use proptest::prelude::*;

fn client(offers: Vec<Offer>, deflate: Deflate) -> Session {
    let request = Request {
        host: "localhost".to_owned(),
        offers,
        ..Request::default()
    };
    Session::client(ClientSettings {
        request,
        deflate,
        library: DeflateLibrary::default(),
        message_limit: MESSAGE_LIMIT,
        seed: Seed::new(1),
    })
}

fn server(deflate: Option<ServerDeflate>) -> Session {
    Session::server(ServerSettings {
        deflate,
        protocols: Vec::new(),
        message_limit: MESSAGE_LIMIT,
    })
}

/// A client and a server after their handshake.
fn pair() -> (Session, Session) {
    let (mut client, mut server) = (
        client(vec![Offer::default()], Deflate::default()),
        server(Some(ServerDeflate::default())),
    );
    exchange(&mut client, &mut server, &mut std::iter::repeat(usize::MAX));
    assert!(matches!(client.next_event(), Some(Event::Opened(_))));
    assert!(matches!(server.next_event(), Some(Event::Opened(_))));
    (client, server)
}

/// Carries bytes in both directions, in portions of these sizes, until none are left.
fn exchange(client: &mut Session, server: &mut Session, sizes: &mut impl Iterator<Item = usize>) {
    loop {
        let (up, down) = (client.take_output(), server.take_output());
        if up.is_empty() && down.is_empty() {
            return;
        }
        for (bytes, to) in [(up, &mut *server), (down, &mut *client)] {
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (portion, after) = rest.split_at(sizes.next().unwrap_or(usize::MAX).clamp(1, rest.len()));
                to.receive(portion);
                rest = after;
            }
        }
    }
}

fn events(session: &mut Session) -> Vec<Event> {
    std::iter::from_fn(|| session.next_event()).collect()
}

#[test]
fn a_ping_is_answered_and_the_closing_handshake_ends_both() {
    let (mut client, mut server) = pair();
    client.ping(b"there?").unwrap();
    server.close(CloseCode::GOING_AWAY, "update").unwrap();
    assert_eq!(
        server.send(Kind::Text, b"late", SendOptions::default()),
        Err(SendError::NotOpen)
    );
    exchange(&mut client, &mut server, &mut std::iter::repeat(usize::MAX));
    assert_eq!(
        events(&mut client),
        [Event::Closed(Close::new(CloseCode::GOING_AWAY, "update"))]
    );
    assert_eq!(
        events(&mut server),
        [
            Event::Ping(b"there?".to_vec()),
            Event::Closed(Close::new(CloseCode::GOING_AWAY, ""))
        ]
    );
    assert!(client.is_over() && server.is_over());
    let (mut client, mut server) = pair();
    client.ping(b"there?").unwrap();
    exchange(&mut client, &mut server, &mut std::iter::repeat(usize::MAX));
    assert_eq!(events(&mut client), [Event::Pong(b"there?".to_vec())]);
}

#[test]
fn what_comes_after_a_close_frame_is_passed_over_and_counted() {
    let (mut client, mut server) = pair();
    server.close(CloseCode::NORMAL, "").unwrap();
    let mut bytes = server.take_output();
    bytes.extend(b"late");
    client.receive(&bytes);
    client.receive(b"later");
    assert!(matches!(events(&mut client)[..], [Event::Closed(_)]));
    assert_eq!(client.bytes_after_close(), ByteCount::new(9));
}

#[test]
fn a_broken_rule_is_told_to_the_other_side_in_a_code_and_words() {
    let (mut client, mut server) = pair();
    client
        .send_frame(FrameHeader::new(Opcode::Reserved(3), 0), b"")
        .unwrap();
    exchange(&mut client, &mut server, &mut std::iter::repeat(usize::MAX));
    let violation = Violation::Opcode(Opcode::Reserved(3));
    assert_eq!(events(&mut server), [Event::Failed(violation.clone().into())]);
    assert_eq!(
        events(&mut client),
        [Event::Closed(Close::new(
            CloseCode::PROTOCOL_ERROR,
            &violation.to_string()
        ))]
    );
    assert!(client.is_over() && server.is_over());
}

#[test]
fn an_end_without_a_close_frame_is_a_failure() {
    let (mut client, mut server) = pair();
    client.transport_ended();
    assert_eq!(events(&mut client), [Event::Failed(Failure::CutOff)]);
    server.close(CloseCode::NORMAL, "").unwrap();
    server.transport_ended();
    assert_eq!(events(&mut server), [Event::Failed(Failure::CutOff)]);
    let mut unopened = self::server(None);
    unopened.receive(b"GET / HTTP/1.1\r\n");
    unopened.transport_ended();
    assert!(matches!(
        events(&mut unopened)[..],
        [Event::Failed(Failure::Handshake(_))]
    ));
}

#[test]
fn a_request_that_is_none_is_refused_with_words() {
    let mut server = server(None);
    server.receive(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(matches!(
        events(&mut server)[..],
        [Event::Failed(Failure::Handshake(_))]
    ));
    assert!(server.take_output().starts_with(b"HTTP/1.1 400 "));
    assert!(server.is_over());
    let mut server = self::server(None);
    server.receive(&[b'a'; HEAD_MAX]);
    assert!(server.take_output().starts_with(b"HTTP/1.1 431 "));
}

#[test]
fn what_cannot_be_sent_is_an_error() {
    let mut unopened = client(Vec::new(), Deflate::default());
    assert_eq!(unopened.ping(b""), Err(SendError::NotOpen));
    let (mut client, _) = pair();
    assert_eq!(
        client.send(Kind::Text, &[0xff], SendOptions::default()),
        Err(SendError::NotUtf8)
    );
    assert_eq!(client.ping(&[0; 126]), Err(SendError::LongControl(126)));
}

#[test]
fn messages_in_the_segment_of_the_handshake_are_read() {
    let (mut client, mut server) = (client(Vec::new(), Deflate::default()), server(None));
    server.receive(&client.take_output());
    server.send(Kind::Text, b"welcome", SendOptions::default()).unwrap();
    client.receive(&server.take_output());
    assert!(
        matches!(&events(&mut client)[..], [Event::Opened(_), Event::Message(message)] if message.payload == b"welcome")
    );
}

#[test]
fn memory_is_that_of_what_was_agreed_on() {
    let (client, server) = pair();
    // A compressor uses zlib's 268,112 bytes; a decompressor far fewer.
    for session in [&client, &server] {
        assert!(session.memory() > Deflate::default().zlib_memory());
    }
    let plain = Session::opened(Role::Server, None, &Deflate::default(), MESSAGE_LIMIT, Seed::new(1)).unwrap();
    assert_eq!(plain.memory(), ByteCount::ZERO);
}

#[test]
fn every_combination_of_agreed_parameters_carries_messages() {
    let compressors = || {
        let windows =
            |takeover| WindowBits::all().map(move |window_bits| CompressorParameters { takeover, window_bits });
        [false, true].into_iter().flat_map(windows)
    };
    // Longer than the smallest windows and with repeated parts, so that references reach as far as allowed.
    let payloads: Vec<Vec<u8>> = (0..4_u32)
        .map(|n| (0..400 * n).flat_map(|k| (k % 97 * n).to_be_bytes()).collect())
        .collect();
    for server in compressors() {
        for client in compressors() {
            let agreement = Some(Agreement { server, client });
            let session =
                |role| Session::opened(role, agreement, &Deflate::default(), MESSAGE_LIMIT, Seed::new(1)).unwrap();
            let (mut from, mut to) = (session(Role::Client), session(Role::Server));
            for _ in 0..2 {
                for payload in &payloads {
                    from.send(Kind::Binary, payload, SendOptions::default()).unwrap();
                    to.receive(&from.take_output());
                    let Some(Event::Message(message)) = to.next_event() else {
                        panic!("{agreement:?}")
                    };
                    assert!(message.payload == *payload, "{agreement:?}");
                }
                std::mem::swap(&mut from, &mut to);
            }
        }
    }
}

fn window() -> impl Strategy<Value = WindowBits> {
    (8_u8..=15).prop_map(|bits| WindowBits::new(bits).unwrap())
}

fn offer() -> impl Strategy<Value = Offer> {
    let client_window = prop_oneof![
        Just(ClientWindow::NotOffered),
        Just(ClientWindow::Any),
        window().prop_map(ClientWindow::AtMost)
    ];
    (any::<[bool; 2]>(), proptest::option::of(window()), client_window).prop_map(
        |(takeover, server_max_window_bits, client_max_window_bits)| Offer {
            server_no_context_takeover: takeover[0],
            client_no_context_takeover: takeover[1],
            server_max_window_bits,
            client_max_window_bits,
        },
    )
}

fn deflate() -> impl Strategy<Value = Deflate> {
    (any::<bool>(), window(), 0_u8..=9, 1_u8..=9).prop_map(|(takeover, window_bits, level, mem_level)| Deflate {
        takeover,
        window_bits,
        level,
        mem_level,
        ..Deflate::default()
    })
}

/// A message to send: the sender, the message, and its options.
type Sent = (bool, Kind, Vec<u8>, SendOptions);

fn sent() -> impl Strategy<Value = Sent> {
    let text = proptest::collection::vec(
        proptest::sample::select(vec!["price", "ü", "\"x\":", " ", "0", "😀"]),
        0..200,
    );
    let what = prop_oneof![
        3 => text.prop_map(|words| (Kind::Text, words.concat().into_bytes())),
        1 => proptest::collection::vec(any::<u8>(), 0..700).prop_map(|bytes| (Kind::Binary, bytes)),
        1 => (any::<u8>(), 0_usize..70_000).prop_map(|(byte, length)| (Kind::Binary, vec![byte; length])),
    ];
    let form = (any::<bool>(), proptest::option::of(0_u64..2000)).prop_map(|(is_compressed, fragment)| SendOptions {
        is_compressed,
        fragment: fragment.map(ByteCount::new),
    });
    (any::<bool>(), what, form).prop_map(|(is_clients, (kind, payload), form)| (is_clients, kind, payload, form))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn messages_arrive_as_they_were_sent_whatever_is_negotiated_and_however_bytes_are_cut(
        offers in proptest::collection::vec(offer(), 0..3),
        clients in deflate(),
        own in deflate(),
        library in prop_oneof![Just(DeflateLibrary::Zlib), Just(DeflateLibrary::ZlibRs)],
        asked in deflate(),
        messages in proptest::collection::vec(sent(), 0..12),
        sizes in proptest::collection::vec(prop_oneof![1_usize..8, 1_usize..3000], 1..40),
    ) {
        let wanted = CompressorParameters { takeover: asked.takeover, window_bits: asked.window_bits };
        let mut client = client(offers.clone(), clients);
        let mut server = server(Some(ServerDeflate { own, library, client: wanted }));
        let mut sizes = sizes.into_iter().cycle();
        exchange(&mut client, &mut server, &mut sizes);
        let (at_client, at_server) = (client.next_event(), server.next_event());
        let (Some(Event::Opened(opened)), Some(Event::Opened(accepted))) = (at_client, at_server) else {
            panic!("both open");
        };
        prop_assert_eq!(opened.deflate.map(|agreed| agreed.server), accepted.deflate.map(|agreed| agreed.server));
        // If the response matches several offers, the client does not know which was meant, and may do less than the server expects.
        if let (Some(opened), Some(accepted)) = (opened.deflate, accepted.deflate) {
            prop_assert!(opened.client.window_bits <= accepted.client.window_bits);
            prop_assert!(opened.client.takeover <= accepted.client.takeover);
        }
        prop_assert_eq!(opened.deflate.is_some(), !offers.is_empty());
        for (is_clients, kind, payload, form) in &messages {
            let sender = if *is_clients { &mut client } else { &mut server };
            sender.send(*kind, payload, *form).unwrap();
        }
        client.close(CloseCode::NORMAL, "").unwrap();
        exchange(&mut client, &mut server, &mut sizes);
        for (session, from_client) in [(&mut client, false), (&mut server, true)] {
            let mut expected: Vec<_> = messages.iter().filter(|sent| sent.0 == from_client).collect();
            expected.reverse();
            for event in events(session) {
                match event {
                    Event::Message(message) => {
                        let (_, kind, payload, form) = expected.pop().expect("no more than were sent");
                        prop_assert_eq!(message.kind, *kind);
                        prop_assert!(message.payload == *payload);
                        prop_assert_eq!(message.is_compressed, form.is_compressed && opened.deflate.is_some());
                    }
                    Event::Closed(close) => prop_assert_eq!(close.code, CloseCode::NORMAL),
                    other => panic!("{other:?}"),
                }
            }
            prop_assert!(expected.is_empty());
            prop_assert!(session.is_over());
        }
    }
}
