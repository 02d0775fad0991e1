//! The sample record of a capture for tests: one lossy download over HTTP, one connection that began before the capture, one
//! UDP flow; the figures are made up.

use crate::record::*;
use lastmile_report::record::{Axis, Chart, Doubt, DoubtKind, Point, Scale, Series, Source};
use lastmile_report::testing::figure;

fn sent(packets: u64, payload: u64) -> Sent {
    Sent {
        packets,
        bytes: payload + packets * 52,
        header_bytes: packets * 52,
        header_share: Some((packets * 52) as f64 / (payload + packets * 52) as f64),
        payload_bytes: payload,
        payload_once_bytes: payload,
        goodput_bit_per_second: Some(payload as f64 * 8.0 / 3.81),
        retransmissions: 0,
        spurious_retransmissions: 0,
        retransmitted_bytes: 0,
        out_of_order: 0,
        after_hole: 0,
        duplicate_acknowledgements: 0,
        keep_alives: 0,
        window_probes: 0,
        zero_windows: 0,
        zero_window_time_s: 0.0,
        maximum_segment_size_bytes: Some(1460),
        fin: true,
        reset: false,
        round_trip_karn: None,
        round_trip: None,
        in_flight: None,
        in_flight_max_bytes: None,
    }
}

fn download() -> Connection {
    Connection {
        client: "10.0.0.1:40000".to_owned(),
        server: "10.0.0.2:80".to_owned(),
        began_s: 0.0,
        duration_s: 3.81,
        opening: Opening::Handshake,
        handshake: Some(Handshake {
            round_trip_s: 0.0607,
            server_side_s: 0.0607,
            resent: 0,
        }),
        up: Sent {
            duplicate_acknowledgements: 61,
            ..sent(181, 300)
        },
        down: Sent {
            retransmissions: 10,
            spurious_retransmissions: 2,
            retransmitted_bytes: 14_480,
            payload_bytes: 414_480,
            zero_windows: 3,
            zero_window_time_s: 0.25,
            round_trip_karn: Some(figure("s", "acknowledgement", 0.0811, 0.0123)),
            round_trip: Some(figure("s", "acknowledgement", 0.0967, 0.0345)),
            in_flight: Some(figure("B", "segment", 28_800.0, 9_000.0)),
            in_flight_max_bytes: Some(62_000),
            ..sent(280, 400_000)
        },
        idle: Idle {
            gaps: 1,
            time_s: 1.2,
            longest_s: 1.2,
        },
        comments: vec![Comment {
            text: "dropped: full queue".to_owned(),
            packets: 8,
        }],
        doubts: Vec::new(),
    }
}

fn begun_before() -> Connection {
    let doubt = Doubt {
        kind: DoubtKind::BeforeCapture,
        text: "it began before the capture: neither which side is the client nor what passed before is known"
            .to_owned(),
    };
    Connection {
        server: "[2001:db8::2]:443".to_owned(),
        client: "[2001:db8::1]:51000".to_owned(),
        began_s: 0.5,
        opening: Opening::BeforeCapture,
        handshake: None,
        up: sent(3, 1_000),
        down: Sent {
            fin: false,
            ..sent(4, 4_000)
        },
        doubts: vec![doubt],
        ..download()
    }
}

fn time_sequence() -> Chart {
    let axis = |label: &str, unit: &str| Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Linear,
    };
    let series = |name: &str, joined, points: &[(f64, f64)]| Series {
        name: name.to_owned(),
        source: Source::Measured,
        joined,
        points: points
            .iter()
            .map(|(x, y)| Point {
                x: *x,
                y: *y,
                spread: None,
                label: None,
            })
            .collect(),
    };
    Chart {
        title: "No. 1, down".to_owned(),
        note: "Bytes sent and acknowledged.".to_owned(),
        x: axis("Time since the connection began", "s"),
        y: axis("Byte", "B"),
        series: vec![
            series("sent", true, &[(0.1, 14_480.0), (2.0, 250_000.0), (3.8, 400_000.0)]),
            series(
                "acknowledged",
                true,
                &[(0.2, 14_480.0), (2.1, 230_000.0), (3.81, 400_000.0)],
            ),
            series("retransmitted", false, &[(2.05, 231_680.0)]),
        ],
        ..Chart::default()
    }
}

fn wireless() -> Wireless {
    let counts = |frames, retries, bytes, airtime_s| FrameCounts {
        frames,
        retries,
        bytes,
        airtime_s,
    };
    let kind = |kind: &str, rate, counts| FramesOfKind {
        kind: kind.to_owned(),
        rate_bit_per_second: Some(rate),
        counts,
    };
    Wireless {
        total: counts(954, 12, 462_000, 0.71),
        airtime_share: Some(0.182),
        kinds: vec![
            kind("data", 11_000_000, counts(484, 12, 449_000, 0.589)),
            kind("ACK", 2_000_000, counts(470, 0, 13_000, 0.121)),
        ],
        stations: vec![FramesOfStation {
            address: "02:00:0a:00:00:01".to_owned(),
            counts: counts(484, 12, 449_000, 0.589),
            signal_mean_dbm: Some(-41.5),
        }],
    }
}

/// A capture with one of everything.
pub(crate) fn inspection() -> Inspection {
    Inspection {
        schema: Inspection::SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        capture: Capture {
            source: "client.pcapng".to_owned(),
            format: "pcapng".to_owned(),
            file_bytes: 445_000,
            packets: 472,
            bytes: 430_000,
            began_s: 1_769_868_000.25,
            duration_s: 3.9,
            interfaces: vec![Interface {
                link_type: "Ethernet".to_owned(),
                snap_length_bytes: Some(262_144),
            }],
            snapped: 0,
            set_aside: [("not IP".to_owned(), 2)].into(),
            comments: vec![Comment {
                text: "dropped: full queue".to_owned(),
                packets: 8,
            }],
        },
        connections: vec![download(), begun_before()],
        udp: vec![UdpFlow {
            client: "10.0.0.1:5353".to_owned(),
            server: "10.0.0.53:53".to_owned(),
            began_s: 0.01,
            duration_s: 0.02,
            up: UdpSent {
                packets: 1,
                bytes: 60,
                header_bytes: 28,
            },
            down: UdpSent {
                packets: 1,
                bytes: 120,
                header_bytes: 28,
            },
        }],
        http: Http {
            transactions: 1,
            whole: 1,
            time_to_first_byte: Some(figure("s", "transaction", 0.0612, 0.0)),
            time_to_last_byte: Some(figure("s", "transaction", 3.7, 0.0)),
            listed: vec![Transaction {
                connection: 0,
                method: "GET".to_owned(),
                target: "/catalogue?page=1".to_owned(),
                status: Some(200),
                request_bytes: 0,
                response_bytes: 399_800,
                began_s: 0.0607,
                time_to_first_byte_s: Some(0.0612),
                time_to_last_byte_s: Some(3.7),
            }],
        },
        wireless: wireless(),
        charts: vec![time_sequence()],
        doubts: vec![Doubt {
            kind: DoubtKind::CutOff,
            text: "the file is cut off at byte 445000, in the middle of a packet; everything before that is analysed"
                .to_owned(),
        }],
    }
}
