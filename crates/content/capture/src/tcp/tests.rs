//! Tests of connections crafted segment by segment, whose figures can be counted by hand.

use crate::test_packets::*;
use crate::{Opening, TcpFlow};
use std::time::Duration;

/// A handshake with these initial sequence numbers, at 0, 40 and 50 ms.
fn handshake<'a>(client: u32, server: u32) -> Vec<(u64, Tcp<'a>)> {
    let (after_client, after_server) = (client.wrapping_add(1), server.wrapping_add(1));
    vec![
        (0, up(SYN, client, 0, b"")),
        (40, down(SYN | ACK, server, after_client, b"")),
        (50, up(ACK, after_client, after_server, b"")),
    ]
}

fn only(segments: &[(u64, Tcp<'_>)]) -> TcpFlow {
    let mut flows = analysis(segments).tcp;
    assert_eq!(flows.len(), 1);
    flows.remove(0)
}

#[test]
fn a_quiet_connection_is_accounted_for_to_the_byte() {
    let mut segments = handshake(100, 900);
    segments.extend([
        (60, up(ACK, 101, 901, &[b'x'; 30])),
        (100, down(ACK, 901, 131, &[b'y'; 500])),
        (101, down(ACK | FIN, 1401, 131, &[b'y'; 100])),
        (150, up(ACK | FIN, 131, 1502, b"")),
        (190, down(ACK, 1502, 132, b"")),
    ]);
    let flow = only(&segments);
    assert_eq!(flow.duration(), Duration::from_millis(190));
    let opening = Opening::Handshake {
        round_trip: Duration::from_millis(50),
        server_side: Duration::from_millis(40),
        resent: 0,
    };
    assert_eq!(flow.opening, opening);
    let (up, down) = (&flow.up, &flow.down);
    assert_eq!(
        (up.packets, up.bytes.get(), up.headers.get(), up.payload.get()),
        (4, 190, 160, 30)
    );
    assert_eq!(
        (down.packets, down.payload.get(), down.payload_once.get()),
        (4, 600, 600)
    );
    assert_eq!(
        (
            up.retransmissions,
            down.retransmissions,
            up.out_of_order,
            down.out_of_order
        ),
        (0, 0, 0, 0)
    );
    assert!(up.fin && down.fin && !up.reset && !down.reset);
    // Down: the SYN-ACK (10 ms), and the last segment (49 ms). Up: the SYN (40), the request (40), the FIN (40).
    let samples = [&up.round_trips.karn, &down.round_trips.karn];
    assert_eq!(samples.map(crate::StreamingSummary::count), [3, 2]);
    assert!((samples[0].mean().unwrap() - 0.040).abs() < 1e-12);
    assert!((samples[1].mean().unwrap() - 0.0295).abs() < 1e-12);
    assert_eq!(down.in_flight.max(), Some(601.0), "the FIN takes a number too");
}

#[test]
fn the_same_loss_is_a_retransmission_at_the_sender_and_out_of_order_at_the_receiver() {
    let mut segments = handshake(100, 900);
    let [first, second, third] = [901, 1001, 1101].map(|sequence| down(ACK, sequence, 101, &[b'y'; 100]));
    segments.extend([(60, first), (61, second), (62, third)]);
    segments.extend([
        (100, up(ACK, 101, 1001, b"")),
        (101, up(ACK, 101, 1001, b"")),
        (140, second),
        (180, up(ACK, 101, 1201, b"")),
    ]);
    let at_sender = only(&segments);
    assert_eq!((at_sender.down.retransmissions, at_sender.down.out_of_order), (1, 0));
    assert_eq!(
        (at_sender.down.payload.get(), at_sender.down.payload_once.get()),
        (400, 300)
    );
    assert_eq!(
        (
            at_sender.down.retransmitted.get(),
            at_sender.up.duplicate_acknowledgements
        ),
        (100, 1)
    );
    // The SYN-ACK, the first segment, and the third: sent once, but acknowledged together with one that was sent twice.
    assert_eq!(at_sender.down.round_trips.all.count(), 3);
    assert_eq!(at_sender.down.round_trips.karn.count(), 2);
    let lost = segments.iter().position(|(at, _)| *at == 61).unwrap();
    segments.remove(lost);
    let at_receiver = only(&segments).down;
    assert_eq!(
        (
            at_receiver.retransmissions,
            at_receiver.out_of_order,
            at_receiver.after_hole
        ),
        (0, 1, 1)
    );
    assert_eq!(at_receiver.payload_once.get(), 300);
}

#[test]
fn a_retransmission_of_what_was_acknowledged_is_spurious() {
    let mut segments = handshake(100, 900);
    let data = down(ACK, 901, 101, &[b'y'; 100]);
    segments.extend([(60, data), (100, up(ACK, 101, 1001, b"")), (101, data)]);
    let down = only(&segments).down;
    assert_eq!((down.retransmissions, down.spurious_retransmissions), (1, 1));
}

#[test]
fn numbers_that_wrap_are_counted_on() {
    let mut segments = handshake(u32::MAX - 50, 900);
    let next = |offset: u32| (u32::MAX - 49).wrapping_add(offset);
    for n in 0..4 {
        segments.push((60 + u64::from(n), up(ACK, next(n * 40), 901, &[b'x'; 40])));
    }
    segments.push((80, up(ACK, next(80), 901, &[b'x'; 40])));
    segments.push((90, down(ACK, 901, next(160), b"")));
    let up = only(&segments).up;
    assert_eq!((up.payload_once.get(), up.retransmissions, up.after_hole), (160, 1, 0));
    assert_eq!(up.in_flight.max(), Some(160.0));
    let drawn = up.series.sent.points();
    assert_eq!((drawn[0].1, drawn.last().unwrap().1), (0, 160));
}

#[test]
fn a_syn_with_another_number_begins_another_connection_between_the_same_ports() {
    let mut segments = handshake(100, 900);
    segments.push((60, up(SYN, 100, 0, b"")));
    assert_eq!(
        analysis(&segments).tcp.len(),
        1,
        "the same number again is the same connection"
    );
    let again = handshake(7777, 5555)
        .into_iter()
        .map(|(at, segment)| (1000 + at, segment));
    segments.extend(again);
    segments.push((1060, up(ACK, 7778, 5556, b"abc")));
    let flows = analysis(&segments).tcp;
    assert_eq!(
        flows.iter().map(|flow| flow.up.payload.get()).collect::<Vec<_>>(),
        [0, 3]
    );
    assert_eq!(flows[1].duration(), Duration::from_millis(60));
    assert_eq!(flows[1].up.after_hole, 0);
}

#[test]
fn a_connection_that_began_before_the_capture_is_counted_from_where_it_is_met() {
    let segments = [
        (0, down(ACK, 5000, 700, &[b'y'; 100])),
        (10, up(ACK, 700, 5100, b"")),
        (20, down(ACK, 5100, 700, &[b'y'; 100])),
        (2020, up(ACK, 700, 5200, b"")),
    ];
    let flow = only(&segments);
    assert_eq!(flow.opening, Opening::BeforeCapture);
    assert_eq!(flow.client.port(), 80, "who is met first");
    assert_eq!(
        (flow.up.payload_once.get(), flow.up.after_hole, flow.up.retransmissions),
        (200, 0, 0)
    );
    assert_eq!((flow.idle.gaps, flow.idle.longest), (1, Duration::from_secs(2)));
}

#[test]
fn an_acknowledgement_of_what_was_not_captured_is_counted() {
    let mut segments = handshake(100, 900);
    segments.extend([
        (60, down(ACK, 901, 101, &[b'y'; 100])),
        (70, up(ACK, 101, 1101, b"")),
        (80, up(ACK, 101, 1101, b"")),
        (90, down(ACK, 1101, 101, &[b'y'; 100])),
    ]);
    let down = only(&segments).down;
    assert_eq!(
        (down.acked_unseen_segments, down.after_hole, down.payload_once.get()),
        (1, 1, 200)
    );
}

#[test]
fn keep_alives_and_window_probes_are_neither_data_nor_retransmissions() {
    let mut segments = handshake(100, 900);
    let closed = |segment: Tcp<'static>| Tcp { window: 0, ..segment };
    segments.extend([
        (60, down(ACK, 901, 101, &[b'y'; 100])),
        (70, up(ACK, 101, 1001, b"")),
        (80, down(ACK, 1000, 101, b"")),
        (85, down(ACK, 1000, 101, b"y")),
        (90, up(ACK, 101, 1001, b"")),
        (100, closed(up(ACK, 101, 1001, b""))),
        (300, down(ACK, 1001, 101, b"z")),
        (310, closed(up(ACK, 101, 1001, b""))),
        (500, down(ACK, 1001, 101, b"z")),
        (510, up(ACK, 101, 1001, b"")),
        (520, down(ACK, 1001, 101, b"zz")),
    ]);
    let flow = only(&segments);
    assert_eq!(
        (
            flow.down.keep_alives,
            flow.down.window_probes,
            flow.down.retransmissions
        ),
        (2, 2, 0)
    );
    assert_eq!(flow.down.payload_once.get(), 102);
    assert_eq!(
        (flow.up.zero_windows, flow.up.zero_window_time),
        (2, Duration::from_millis(410))
    );
    assert_eq!(
        flow.up.duplicate_acknowledgements, 0,
        "they answer keep-alives and probes"
    );
}

#[test]
fn a_reset_ends_and_its_numbers_move_nothing() {
    let mut segments = handshake(100, 900);
    segments.extend([
        (60, down(RST, 3_000_000_000, 0, b"")),
        (70, down(ACK, 901, 101, b"abc")),
    ]);
    let down = only(&segments).down;
    assert!(down.reset);
    assert_eq!((down.after_hole, down.out_of_order, down.payload_once.get()), (0, 0, 3));
}

#[test]
fn a_syn_that_is_sent_again_is_counted_and_the_round_trip_is_that_of_the_last() {
    let mut segments = handshake(100, 900);
    for (at, _) in &mut segments {
        *at += 1000;
    }
    segments.insert(0, (0, up(SYN, 100, 0, b"")));
    let flow = only(&segments);
    let opening = Opening::Handshake {
        round_trip: Duration::from_millis(50),
        server_side: Duration::from_millis(40),
        resent: 1,
    };
    assert_eq!(flow.opening, opening);
    assert_eq!(flow.up.retransmissions, 1);
    assert_eq!(only(&segments[..2]).opening, Opening::Unanswered);
}
