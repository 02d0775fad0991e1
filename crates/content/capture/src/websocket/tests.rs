//! Tests on our own sessions in crafted segments: messages are read, missing ones are counted, and other traffic is left alone.

use super::*;
use crate::test_packets::*;
use lastmile_codec::message::Kind;
use lastmile_codec::message::{Deflate, DeflateLibrary};
use lastmile_units::Seed;
use lastmile_websocket::{
    ClientSettings, CloseCode, MESSAGE_LIMIT, Offer, SendOptions, ServerDeflate, ServerSettings, Session,
};
use std::time::Duration;

/// A connection's segments: whether the client sent each, and its bytes.
type Segments = Vec<(bool, Vec<u8>)>;

/// A chat of `times` messages in each direction, on a connection with these offers.
fn chat(offers: Vec<Offer>, times: usize) -> Segments {
    let request = lastmile_websocket::Request {
        host: "chat.example".to_owned(),
        target: "/room".to_owned(),
        offers,
        ..Default::default()
    };
    let mut client = Session::client(ClientSettings {
        request,
        deflate: Deflate::default(),
        library: DeflateLibrary::default(),
        message_limit: MESSAGE_LIMIT,
        seed: Seed::new(1),
    });
    let mut server = Session::server(ServerSettings {
        deflate: Some(ServerDeflate::default()),
        protocols: Vec::new(),
        message_limit: MESSAGE_LIMIT,
    });
    let mut segments = Segments::new();
    let mut carry = |client: &mut Session, server: &mut Session| {
        let up = client.take_output();
        server.receive(&up);
        segments.push((true, up));
        let down = server.take_output();
        client.receive(&down);
        segments.push((false, down));
    };
    carry(&mut client, &mut server);
    for n in 0..times {
        client
            .send(Kind::Text, said(n).as_bytes(), SendOptions::default())
            .unwrap();
        server
            .send(Kind::Binary, said(n).as_bytes(), SendOptions::default())
            .unwrap();
        carry(&mut client, &mut server);
    }
    client.close(CloseCode::NORMAL, "").unwrap();
    carry(&mut client, &mut server);
    segments
}

fn said(n: usize) -> String {
    format!("{{\"says\":\"the same thing again, and again\",\"number\":{n}}}")
}

/// A capture of it, one segment every 10 ms, without the segments at these indices; the other side acknowledges them all the same.
fn captured(segments: &[(bool, Vec<u8>)], left_out: &[usize]) -> Vec<u8> {
    let (mut sequences, mut passed) = ([1000_u32, 9000_u32], Vec::new());
    for (n, (from_client, bytes)) in segments.iter().enumerate() {
        let [client, server] = sequences;
        let segment = if *from_client {
            up(ACK, client, server, bytes)
        } else {
            down(ACK, server, client, bytes)
        };
        if !left_out.contains(&n) {
            passed.push((10 * n as u64, segment));
        }
        sequences[usize::from(!from_client)] += bytes.len() as u32;
    }
    capture(&passed)
}

fn read_all(file: &[u8]) -> (Vec<Message>, Vec<Conversation>) {
    let mut messages = Messages::open(file, "crafted", MESSAGE_LIMIT).unwrap();
    let mut read = Vec::new();
    for message in messages.by_ref() {
        match message {
            Ok(message) => read.push(message),
            Err(error) => {
                let is_nothing = matches!(error.problem, Problem::NoWebSocketMessage { .. });
                assert!(is_nothing && read.is_empty(), "{error}");
            }
        }
    }
    (read, messages.conversations().to_vec())
}

fn no_takeover() -> Offer {
    Offer {
        server_no_context_takeover: true,
        client_no_context_takeover: true,
        ..Offer::default()
    }
}

#[test]
fn what_both_sides_said_is_read_compressed_or_not() {
    for offers in [vec![], vec![Offer::default()], vec![no_takeover()]] {
        let is_compressed = !offers.is_empty();
        let (messages, conversations) = read_all(&captured(&chat(offers, 20), &[]));
        assert_eq!(messages.len(), 40);
        for (n, pair) in messages.chunks(2).enumerate() {
            for (message, (direction, kind, index)) in pair.iter().zip([
                (Direction::Sent, Kind::Text, 2 + 2 * n),
                (Direction::Received, Kind::Binary, 3 + 2 * n),
            ]) {
                assert_eq!(message.payload, said(n).as_bytes());
                assert_eq!(
                    (message.direction, message.kind, message.connection),
                    (direction, kind, 0)
                );
                assert_eq!(message.at, Some(Duration::from_millis(10 * index as u64)));
            }
        }
        let [conversation] = &conversations[..] else {
            panic!("{conversations:?}")
        };
        assert_eq!(conversation.target, "/room");
        assert_eq!(conversation.client.port(), 4000);
        assert_eq!(conversation.deflate.as_ref().unwrap().is_some(), is_compressed);
        let said_bytes: u64 = (0..20).map(|n| said(n).len() as u64).sum();
        for stats in [&conversation.sent, &conversation.received] {
            assert_eq!((stats.messages, stats.lost), (20, 0));
            assert_eq!(stats.frame_payload < ByteCount::new(said_bytes), is_compressed);
            assert_eq!(stats.ended, Some(ReadingEnd::Closed(Close::new(CloseCode::NORMAL, ""))));
        }
    }
}

#[test]
fn messages_in_many_segments_are_read_where_the_first_tells_a_request() {
    let whole = chat(vec![Offer::default()], 5);
    let cut = |size| -> Segments {
        let portions = |(from_client, bytes): &(bool, Vec<u8>)| {
            let from_client = *from_client;
            let portions = bytes.chunks(size).map(move |portion| (from_client, portion.to_vec()));
            portions.collect::<Vec<_>>()
        };
        whole.iter().flat_map(portions).collect()
    };
    let payloads = |file: &[u8]| {
        let messages = read_all(file).0.into_iter();
        messages.map(|message| message.payload).collect::<Vec<_>>()
    };
    assert_eq!(payloads(&captured(&cut(4), &[])), payloads(&captured(&whole, &[])));
    // One byte is not enough.
    assert!(payloads(&captured(&cut(1), &[])).is_empty());
}

#[test]
fn a_segment_that_was_not_captured_costs_what_refers_to_it() {
    // A message in three segments, the second of which is missing.
    let mut segments = chat(vec![no_takeover()], 6);
    let split = |segments: &mut Segments, index: usize| {
        let (from_client, bytes) = segments.remove(index);
        let (head, tail) = bytes.split_at(bytes.len() - 1);
        let (head, midst) = head.split_at(head.len() - 2);
        for part in [tail, midst, head] {
            segments.insert(index, (from_client, part.to_vec()));
        }
    };
    split(&mut segments, 4);
    let (messages, conversations) = read_all(&captured(&segments, &[5]));
    assert_eq!(messages.len(), 11);
    assert_eq!((conversations[0].sent.messages, conversations[0].sent.lost), (5, 1));
    assert_eq!(
        (conversations[0].received.messages, conversations[0].received.lost),
        (6, 0)
    );
    // With takeover all later ones of that direction refer to it.
    let mut segments = chat(vec![Offer::default()], 6);
    split(&mut segments, 4);
    let (messages, conversations) = read_all(&captured(&segments, &[5]));
    assert_eq!(messages.len(), 7);
    assert_eq!((conversations[0].sent.messages, conversations[0].sent.lost), (1, 5));
    assert_eq!(
        conversations[0].sent.ended,
        Some(ReadingEnd::Closed(Close::new(CloseCode::NORMAL, "")))
    );
}

#[test]
fn a_segment_that_is_captured_behind_its_acknowledgement_is_read() {
    for offers in [vec![], vec![Offer::default()]] {
        let segments = chat(offers, 6);
        let mut file = Vec::new();
        let mut sequences = [1000_u32, 9000_u32];
        for (n, (from_client, bytes)) in segments.iter().enumerate() {
            let [client, server] = sequences;
            sequences[usize::from(!from_client)] += bytes.len() as u32;
            let acknowledged = sequences[usize::from(!from_client)];
            let at = 10 * n as u64;
            let (data, acknowledgement) = if *from_client {
                (up(ACK, client, server, bytes), down(ACK, server, acknowledged, b""))
            } else {
                (down(ACK, server, client, bytes), up(ACK, client, acknowledged, b""))
            };
            file.extend([(at, acknowledgement), (at + 1, data)]);
        }
        let (messages, conversations) = read_all(&capture(&file));
        assert_eq!(messages.len(), 12);
        assert_eq!((conversations[0].sent.lost, conversations[0].received.lost), (0, 0));
    }
}

#[test]
fn messages_are_no_sooner_than_those_before_them_where_the_clock_is_put_back() {
    let segments = chat(vec![], 6);
    let mut file = captured(&segments, &[]);
    let whole = read_all(&file).0;
    // The seventh packet's time, in nanoseconds, after the section and its interface: its low half, which is all that is used here.
    let packets: Vec<usize> = (0..file.len() - 4)
        .filter(|index| file[*index..].starts_with(&[6, 0, 0, 0]) && index % 4 == 0)
        .collect();
    let time = packets[6] + 16;
    file[time..time + 4].copy_from_slice(&[0; 4]);
    let (messages, _) = read_all(&file);
    assert!(messages.is_sorted_by_key(|message| message.at));
    let payloads = |messages: &[Message]| {
        messages
            .iter()
            .map(|message| message.payload.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(payloads(&messages), payloads(&whole));
    assert_ne!(messages, whole);
}

#[test]
fn what_is_left_out_is_said_with_where() {
    let left_out = |file: &[u8]| {
        let mut messages = Messages::open(file, "crafted", MESSAGE_LIMIT).unwrap();
        messages.by_ref().for_each(|message| drop(message.unwrap()));
        messages.left_out()
    };
    let segments = chat(vec![], 6);
    assert_eq!(left_out(&captured(&segments, &[])), [""; 0]);
    // The hole hides the beginning of the client's second message; and one of the server's frames has a reserved bit set.
    let mut broken = segments.clone();
    broken[9].1[0] |= 0x40;
    let said = left_out(&captured(&broken, &[4]));
    let [hole, violation] = &said[..] else {
        panic!("{said:#?}")
    };
    assert!(
        hole.starts_with("messages from the client of connection 0 (")
            && hole.contains("up to message 1 and no further: packets are missing"),
        "{hole}"
    );
    assert!(
        violation.starts_with("messages from the server of connection 0 (")
            && violation.contains("message 3 and no further: RSV1 is set"),
        "{violation}"
    );
    // Another connection without a handshake; and packets of an unsupported link type.
    let mut file = captured(&segments, &[]);
    let mut packet = up(ACK, 5, 5, b"something else").ipv4();
    // The low byte of the source port, after the IPv4 header.
    packet[21] += 1;
    file.extend(enhanced(LITTLE, 0, 1, &packet, packet.len() as u32, &[]));
    file.extend(interface(LITTLE, 105, 0, &[]));
    file.extend(enhanced(LITTLE, 1, 1, &packet, packet.len() as u32, &[]));
    let said = left_out(&file);
    assert_eq!(
        said,
        [
            "1 packet skipped: unsupported link type 105 (capture on an IP or Ethernet interface)",
            "1 of 2 TCP connections left out: no WebSocket handshake in the capture (begun before it, inside TLS, or another protocol)"
        ]
    );
    let nothing = [
        &nanosecond_pcapng()[..],
        &interface(LITTLE, 105, 0, &[]),
        &enhanced(LITTLE, 1, 1, &packet, packet.len() as u32, &[]),
    ]
    .concat();
    let error = Messages::open(&nothing[..], "air.pcapng", MESSAGE_LIMIT)
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "air.pcapng: has no readable TCP connection: 1 packet skipped: unsupported link type 105 (capture on an IP or Ethernet \
         interface)"
    );
}

#[test]
fn a_hole_that_takes_a_frames_beginning_ends_its_direction() {
    let (messages, conversations) = read_all(&captured(&chat(vec![], 6), &[4]));
    assert_eq!(conversations[0].sent.messages, 1);
    assert_eq!(conversations[0].sent.ended, Some(ReadingEnd::Hole));
    assert_eq!(conversations[0].received.messages, 6);
    assert_eq!(messages.len(), 7);
}

#[test]
fn what_waits_behind_a_hole_at_the_end_is_told_of() {
    // The last messages of the client are never acknowledged.
    let mut segments = chat(vec![], 3);
    segments.truncate(7);
    segments.push((true, segments[6].1.clone()));
    let (messages, conversations) = read_all(&captured(&segments, &[6]));
    assert_eq!(conversations[0].sent.ended, Some(ReadingEnd::Hole));
    assert_eq!(messages.len(), 4);
}

#[test]
fn a_response_that_a_client_must_refuse_is_said() {
    let mut segments = chat(vec![], 2);
    let response = String::from_utf8(segments[1].1.clone()).unwrap();
    let changed = response.replace("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n");
    segments[1].1 = changed.into_bytes();
    let (messages, conversations) = read_all(&captured(&segments, &[]));
    assert!(messages.is_empty());
    assert!(matches!(conversations[0].deflate, Err(HandshakeError::Negotiation(_))));
}

#[test]
fn requests_of_http_before_the_handshake_are_passed_over() {
    let mut segments: Segments = vec![
        (true, b"GET / HTTP/1.1\r\nHost: chat.example\r\n\r\n".to_vec()),
        (false, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".to_vec()),
    ];
    assert!(read_all(&captured(&segments, &[])).1.is_empty());
    segments.extend(chat(vec![Offer::default()], 3));
    let (messages, conversations) = read_all(&captured(&segments, &[]));
    assert_eq!((messages.len(), conversations.len()), (6, 1));
}

#[test]
fn frames_that_break_the_protocol_end_their_direction_with_why() {
    let mut segments = chat(vec![], 3);
    segments[3].1[0] |= 0x40;
    let (messages, conversations) = read_all(&captured(&segments, &[]));
    assert!(matches!(
        conversations[0].received.ended,
        Some(ReadingEnd::Broken(Violation::ReservedBit { bit: 1, .. }))
    ));
    assert_eq!(messages.len(), 3);
}

#[test]
fn a_capture_without_a_message_is_an_error_that_says_what_there_is() {
    let stats = |segments: &[(bool, Vec<u8>)]| {
        let file = captured(segments, &[]);
        let mut messages = Messages::open(&file[..], "tls.pcapng", MESSAGE_LIMIT).unwrap();
        let error = messages.next().unwrap().unwrap_err().to_string();
        assert!(messages.next().is_none());
        error
    };
    let tls = stats(&[(true, vec![0x16, 3, 1, 0, 5]), (false, vec![0x16, 3, 3, 0, 5])]);
    assert!(tls.starts_with("tls.pcapng: has 1 TCP connection, 0 of them"), "{tls}");
    let silent = stats(&chat(vec![], 0));
    assert!(
        silent.starts_with("tls.pcapng: has 1 TCP connection, 1 of them"),
        "{silent}"
    );
}
