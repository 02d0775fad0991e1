use super::*;
use crate::datagram::SkipReason;
use crate::test_packets::{ACK, FIN, LITTLE, SYN, down, enhanced, interface, option, section, up};
use crate::{Segments, analyse};

/// A radiotap header with timestamp, flags, rate, channel, signal and noise, as the simulated radio writes it.
fn with_radiotap(rate: u8, frame: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 24, 0, 0x6f, 0, 0, 0];
    bytes.extend([0; 8]);
    bytes.extend([
        HAS_CHECK_SEQUENCE,
        rate,
        0x85,
        0x09,
        0xa0,
        0,
        -40_i8 as u8,
        -94_i8 as u8,
    ]);
    bytes.extend(frame);
    bytes.extend([0; 4]);
    bytes
}

fn data(from: u8, sequence: u16, is_retry: bool, packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x08, if is_retry { RETRY } else { 0 }, 0, 0];
    frame.extend([2, 0, 0, 0, 0, 3 - from]);
    frame.extend([2, 0, 0, 0, 0, from]);
    frame.extend([6; 6]);
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    frame.extend(packet);
    with_radiotap(22, &frame)
}

fn acknowledgement() -> Vec<u8> {
    with_radiotap(4, &[0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1])
}

fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = [section(LITTLE), interface(LITTLE, 127, 0, &option(LITTLE, 9, &[9]))].concat();
    for (number, frame) in frames.iter().enumerate() {
        let time = number as u64 * 1_000_000;
        file.extend(enhanced(LITTLE, 0, time, frame, frame.len() as u32, &[]));
    }
    file
}

#[test]
fn what_the_mac_sends_again_is_a_retry_there_and_no_retransmission_of_tcp() {
    let frames = [
        data(1, 0, false, &up(SYN, 100, 0, &[]).ipv4()),
        data(1, 0, true, &up(SYN, 100, 0, &[]).ipv4()),
        acknowledgement(),
        data(2, 0, false, &down(SYN | ACK, 500, 101, &[]).ipv4()),
        acknowledgement(),
        data(1, 1, false, &up(ACK, 101, 501, b"hello").ipv4()),
        data(1, 1, true, &up(ACK, 101, 501, b"hello").ipv4()),
        data(1, 1, true, &up(ACK, 101, 501, b"hello").ipv4()),
        // TCP sends it again, in a frame of its own that is a retry itself.
        data(1, 2, false, &up(ACK, 101, 501, b"hello").ipv4()),
        data(1, 3, true, &up(FIN | ACK, 106, 501, &[]).ipv4()),
    ];
    let analysis = analyse(&capture(&frames)[..], "air").unwrap();
    let flow = &analysis.tcp[0];
    assert_eq!((flow.up.packets, flow.up.retransmissions), (4, 1));
    assert_eq!(analysis.set_aside[&SkipReason::MacRetry], 3);
    assert_eq!(analysis.set_aside[&SkipReason::NotIp], 2);
    let wireless = analysis.wireless;
    let sent = wireless.kinds[&(FrameKind::Data, Some(22))];
    assert_eq!((sent.frames, sent.retries), (8, 4));
    let acknowledged = wireless.kinds[&(FrameKind::Ack, Some(4))];
    assert_eq!(
        (acknowledged.frames, acknowledged.airtime),
        (2, Duration::from_micros(2 * 248))
    );
    assert_eq!(wireless.stations[&[2, 0, 0, 0, 0, 1]].all.frames, 7);
    assert_eq!(wireless.stations[&[2, 0, 0, 0, 0, 2]].signal, (-40, 1));
    assert_eq!(wireless.total().frames, 10);
}

fn beacon(from: u8, sequence: u16) -> Vec<u8> {
    let mut frame = vec![0x80, 0, 0, 0];
    frame.extend([0xff; 6]);
    frame.extend([2, 0, 0, 0, 0, from]);
    frame.extend([6; 6]);
    frame.extend((sequence << 4).to_le_bytes());
    frame.extend([0; 12]);
    with_radiotap(2, &frame)
}

/// An exchange of HTTP in which the MAC sends the request and the response again, once with a beacon between, and TCP nothing.
fn repeated_exchange() -> Vec<u8> {
    let request = up(ACK, 101, 501, b"GET / HTTP/1.1\r\n\r\n").ipv4();
    let response = down(ACK, 501, 119, b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").ipv4();
    capture(&[
        data(1, 0, false, &up(SYN, 100, 0, &[]).ipv4()),
        data(2, 0, false, &down(SYN | ACK, 500, 101, &[]).ipv4()),
        data(1, 1, false, &request),
        beacon(1, 2),
        data(1, 1, true, &request),
        data(2, 1, false, &response),
        data(2, 1, true, &response),
    ])
}

#[test]
fn a_beacon_between_two_attempts_does_not_make_a_retry_a_packet() {
    let analysis = analyse(&repeated_exchange()[..], "air").unwrap();
    assert_eq!(analysis.set_aside[&SkipReason::MacRetry], 2);
    let flow = &analysis.tcp[0];
    assert_eq!((flow.up.packets, flow.down.packets), (2, 2));
    assert_eq!((flow.up.retransmissions, flow.down.retransmissions), (0, 0));
    assert_eq!((analysis.http.count, analysis.http.whole), (1, 1));
    assert_eq!(analysis.wireless.kinds[&(FrameKind::Beacon, Some(2))].frames, 1);
}

#[test]
fn what_the_mac_sends_again_is_listed_once_among_the_segments() {
    let capture = repeated_exchange();
    let mut segments = Segments::open(&capture[..], "air").unwrap();
    let mut listed = Vec::new();
    while let Some(segment) = segments.next().unwrap() {
        listed.push((segment.length_bytes, segment.resent));
    }
    assert_eq!(listed.len(), 4);
    assert!(listed.iter().all(|(_, resent)| !resent));
    assert_eq!(segments.others(), 3, "two retries and a beacon");
}

#[test]
fn a_websocket_message_that_the_mac_sends_again_is_read_once() {
    // The handshake is the example of RFC 6455, section 1.3.
    let request = b"GET /chat HTTP/1.1\r\nHost: server.example.com\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    let response = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    let (asked, answered) = (101 + request.len() as u32, 501 + response.len() as u32);
    let message = down(ACK, answered, asked, &[0x81, 2, b'h', b'i']).ipv4();
    let air = capture(&[
        data(1, 0, false, &up(SYN, 100, 0, &[]).ipv4()),
        data(2, 0, false, &down(SYN | ACK, 500, 101, &[]).ipv4()),
        data(1, 1, false, &up(ACK, 101, 501, request).ipv4()),
        data(1, 1, true, &up(ACK, 101, 501, request).ipv4()),
        data(2, 1, false, &down(ACK, 501, asked, response).ipv4()),
        data(2, 2, false, &message),
        beacon(2, 3),
        data(2, 2, true, &message),
    ]);
    let messages = crate::websocket::Messages::open(&air[..], "air", ByteCount::new(1000)).unwrap();
    let read: Vec<_> = messages.map(Result::unwrap).collect();
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].payload, b"hi"[..]);
}

#[test]
fn a_sequence_number_that_comes_round_again_is_another_frame() {
    let mut recent = RecentSequences::default();
    assert!(!recent.note(0x10) && recent.note(0x10));
    for sequence in 2..=RECENT as u16 {
        assert!(!recent.note(sequence << 4));
    }
    assert!(recent.note(0x10));
    assert!(!recent.note(0x7770) && !recent.note(0x10));
}

#[test]
fn airtimes_are_those_of_the_standard() {
    let us = Duration::from_micros;
    assert_eq!(airtime(22, 1536, 0), us(192 + 1118));
    assert_eq!(airtime(22, 1536, SHORT_PREAMBLE), us(96 + 1118));
    assert_eq!(airtime(2, 14, SHORT_PREAMBLE), us(192 + 112));
    assert_eq!(airtime(108, 1536, 0), us(20 + 57 * 4));
}

#[test]
fn headers_of_data_frames_have_their_lengths_and_what_is_encrypted_is_not_read() {
    assert_eq!(data_header(0, 0), 24);
    assert_eq!(data_header(QUALITY_OF_SERVICE, TO_AND_FROM_NETWORK), 24 + 6 + 2);
    assert_eq!(data_header(QUALITY_OF_SERVICE, ORDER), 24 + 6);
    let mut frame = data(1, 0, false, &[0x45]);
    assert!(read(&frame, frame.len() as u32).unwrap().body.is_some());
    frame[25] = PROTECTED;
    assert!(read(&frame, frame.len() as u32).unwrap().body.is_none());
}

#[test]
fn no_prefix_of_a_frame_and_no_impossible_header_is_misread() {
    let frame = data(1, 0, false, &up(SYN, 100, 0, &[]).ipv4());
    for length in 0..24 + 24 {
        assert_eq!(read(&frame[..length], frame.len() as u32), None, "{length}");
    }
    let mut endless = frame.clone();
    endless[4..8].copy_from_slice(&[0xff; 4]);
    // Every word of fields announces another.
    endless[8..].fill(0xff);
    assert_eq!(read(&endless, frame.len() as u32), None);
    let mut long = frame.clone();
    long[2..4].copy_from_slice(&u16::MAX.to_le_bytes());
    assert_eq!(read(&long, frame.len() as u32), None);
}
