use super::*;
use crate::rate::RequestRate;
use crate::request::Request;
use crate::schedule::Arrivals;

/// An IPv4 packet from `source` to port 80.
fn packet(source: u16, sequence: u32, flags: u8, content: &[u8]) -> Vec<u8> {
    let length = (40 + content.len()) as u16;
    let mut packet = vec![0x45, 0];
    packet.extend(length.to_be_bytes());
    packet.extend([0, 0, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
    packet.extend(source.to_be_bytes());
    packet.extend(80_u16.to_be_bytes());
    packet.extend(sequence.to_be_bytes());
    packet.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
    packet.extend(content);
    packet
}

fn captured(packets: &[(u64, Vec<u8>)]) -> Vec<u64> {
    let mut tracker = SendTracker::default();
    for (millis, packet) in packets {
        let segment = Segment::parse(packet).unwrap();
        assert_eq!(segment.destination, 80);
        tracker.on_segment(&segment, Duration::from_millis(*millis));
    }
    tracker
        .captured
        .times
        .iter()
        .map(|time| time.as_millis() as u64)
        .collect()
}

#[test]
fn a_request_is_sent_with_the_syn_that_it_caused_or_with_its_first_byte() {
    let get = b"GET / HTTP/1.1\r\n\r\n";
    let packets = [
        (1, packet(9_000, 10, SYN_FLAG, b"")),
        // The SYN, and later a request, are sent again.
        (2, packet(9_000, 10, SYN_FLAG, b"")),
        (3, packet(9_000, 11, 16, get)),
        (4, packet(9_000, 11, 16, get)),
        (5, packet(9_000, 29, 16, get)),
        (6, packet(9_000, 47, 16, b"")),
        // The port is used again.
        (7, packet(9_000, 900, SYN_FLAG, b"")),
        (8, packet(9_000, 901, 16, get)),
    ];
    assert_eq!(captured(&packets), [1, 5, 7]);
    assert_eq!(Segment::parse(&packets[0].1[..30]), None);
    assert_eq!(Segment::parse(b""), None);
}

const SYN_FLAG: u8 = 2;

#[test]
fn the_deviation_is_from_the_schedule_of_the_plan() {
    let rate = RequestRate::new(1_000.0).unwrap();
    let plan = Plan::new(
        Demand::open(Arrivals::Constant(rate)),
        Duration::from_millis(4),
        Request::get("server", "/"),
    );
    let start = Duration::from_secs(1_000);
    let sends = CapturedSends {
        // Late by 0, 10, 900 and 50 us.
        times: [0, 1_010, 2_900, 3_050]
            .map(|micros| start + Duration::from_micros(micros))
            .into(),
        lost_packets: 0,
    };
    let deviation = sends.deviation_from_plan(&plan, Seed::new(1), start).unwrap();
    assert_eq!(
        (deviation.late_p50, deviation.late_max, deviation.sent_per_ms_max),
        (10e-6, 900e-6, 2)
    );
    assert_eq!(sends.deviation_from_grid(Duration::from_millis(1)), Some(deviation));
    let missed = CapturedSends {
        times: sends.times[1..].to_vec(),
        lost_packets: 1,
    };
    assert_eq!(missed.deviation_from_plan(&plan, Seed::new(1), start), None);
}
