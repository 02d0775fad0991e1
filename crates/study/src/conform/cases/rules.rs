//! Does the server fail a connection that breaks a rule, with the code that says which (RFC 6455 section 7.4.1)?

use crate::conform::connection::{Connection, Trouble};
use crate::conform::{Case, Probe};
use lastmile_payload::websocket::{CloseCode, FrameHeader, LengthForm, Opcode};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "rsv1-without-negotiation",
        asks: "RSV1 without an extension fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let header = FrameHeader {
                rsv1: true,
                ..FrameHeader::new(Opcode::Text, 5)
            };
            fails(probe, &[], &[(header, b"Hello")], &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "rsv1-in-continuation",
        asks: "RSV1 in a later frame of a message fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| {
            let begins = FrameHeader {
                is_final: false,
                rsv1: true,
                ..FrameHeader::new(Opcode::Text, 3)
            };
            let goes_on = FrameHeader {
                rsv1: true,
                ..FrameHeader::new(Opcode::Continuation, 4)
            };
            let frames: [(_, &[u8]); 2] = [(begins, &[0xf2, 0x48, 0xcd]), (goes_on, &[0xc9, 0xc9, 0x07, 0x00])];
            fails(probe, DEFLATE, &frames, &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "rsv1-in-ping",
        asks: "RSV1 in a control frame fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| {
            let header = FrameHeader {
                rsv1: true,
                ..FrameHeader::new(Opcode::Ping, 0)
            };
            fails(probe, DEFLATE, &[(header, b"")], &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "rsv2",
        asks: "RSV2, which nothing has a use for, fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let header = FrameHeader {
                rsv2: true,
                ..FrameHeader::new(Opcode::Text, 5)
            };
            fails(probe, DEFLATE, &[(header, b"Hello")], &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "rsv3",
        asks: "RSV3 likewise",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let header = FrameHeader {
                rsv3: true,
                ..FrameHeader::new(Opcode::Text, 5)
            };
            fails(probe, DEFLATE, &[(header, b"Hello")], &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "corrupt-stream",
        asks: "a compressed message that is no deflate stream fails the connection",
        source: "RFC 7692 section 7.2.2",
        // The first block has the type 3, which there is not (RFC 1951 section 3.2.3).
        run: |probe| {
            fails(
                probe,
                DEFLATE,
                &[(coded(5), &[0x06, 0x01, 0x02, 0x03, 0x04])],
                UNREADABLE,
            )
        },
    },
    Case {
        name: "reference-before-the-start",
        asks: "a compressed message that refers to what never was fails the connection",
        source: "RFC 7692 section 7.2.2",
        // What follows a "Hello" that here was not sent (RFC 7692 section 7.2.3.2).
        run: |probe| {
            fails(
                probe,
                DEFLATE,
                &[(coded(5), &[0xf2, 0x00, 0x11, 0x00, 0x00])],
                UNREADABLE,
            )
        },
    },
    Case {
        name: "text-that-is-not-utf-8",
        asks: "compressed text that is not UTF-8 fails the connection",
        source: "RFC 6455 section 8.1",
        // A block without compression that holds one octet, 0xff.
        run: |probe| {
            let block: &[u8] = &[0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00];
            fails(
                probe,
                DEFLATE,
                &[(coded(block.len()), block)],
                &[CloseCode::INVALID_DATA],
            )
        },
    },
    Case {
        name: "unmasked-frame",
        asks: "a client's frame that is not masked fails the connection",
        source: "RFC 6455 section 5.1",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            connection.octets(&Connection::bare(Opcode::Text, b"Hello"));
            connection.expect_failure(&[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "long-ping",
        asks: "a ping of 126 octets fails the connection",
        source: "RFC 6455 section 5.5",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Ping, 126), &[b'p'; 126])];
            fails(probe, &[], &frames, &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "fragmented-ping",
        asks: "a ping that is not final fails the connection",
        source: "RFC 6455 section 5.5",
        run: |probe| {
            let header = FrameHeader {
                is_final: false,
                ..FrameHeader::new(Opcode::Ping, 0)
            };
            fails(probe, &[], &[(header, b"")], &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "continuation-of-nothing",
        asks: "a continuation without a beginning fails the connection",
        source: "RFC 6455 section 5.4",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Continuation, 5), b"Hello")];
            fails(probe, &[], &frames, &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "message-within-a-message",
        asks: "a message that begins within another fails the connection",
        source: "RFC 6455 section 5.4",
        run: |probe| {
            let begins = FrameHeader {
                is_final: false,
                ..FrameHeader::new(Opcode::Text, 2)
            };
            let frames: [(_, &[u8]); 2] = [(begins, b"He"), (FrameHeader::new(Opcode::Text, 3), b"llo")];
            fails(probe, &[], &frames, &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "reserved-opcode",
        asks: "a frame with a reserved opcode fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Reserved(3), 0), b"")];
            fails(probe, &[], &frames, &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "length-too-large",
        asks: "a length of 64 bits with its highest bit set fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            let mut octets = Vec::new();
            let mask = Some(lastmile_payload::websocket::MaskKey([0; 4]));
            let header = FrameHeader {
                mask,
                ..FrameHeader::new(Opcode::Binary, 1 << 63)
            };
            header.write_as(LengthForm::Bits64, &mut octets);
            connection.octets(&octets);
            connection.expect_failure(&[CloseCode::PROTOCOL_ERROR, CloseCode::TOO_LARGE])
        },
    },
    Case {
        name: "close-code-1005",
        asks: "a close frame with 1005, which is never sent, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Close, 2), &1005_u16.to_be_bytes())];
            fails(probe, &[], &frames, &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "close-with-one-octet",
        asks: "a close frame with a payload of one octet fails the connection",
        source: "RFC 6455 section 5.5.1",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Close, 1), &[3])];
            fails(probe, &[], &frames, &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "closing",
        asks: "a close frame is answered with one",
        source: "RFC 6455 section 5.5.1",
        run: |probe| {
            let answer = probe.open(DEFLATE)?.close(CloseCode::NORMAL)?;
            Ok(format!("it answers with {}", answer.0))
        },
    },
];

const DEFLATE: &[&str] = &["permessage-deflate"];
/// What is said of data that cannot be read: RFC 7692 names no code, and these are what implementations choose among.
const UNREADABLE: &[CloseCode] = &[
    CloseCode::PROTOCOL_ERROR,
    CloseCode::UNSUPPORTED,
    CloseCode::INVALID_DATA,
    CloseCode::INTERNAL,
];

/// A final, compressed text frame.
const fn coded(length: usize) -> FrameHeader {
    FrameHeader {
        rsv1: true,
        ..FrameHeader::new(Opcode::Text, length as u64)
    }
}

/// Sends these frames after these offers; the server must fail the connection with one of `codes`.
fn fails(
    probe: &Probe<'_>,
    offers: &[&str],
    frames: &[(FrameHeader, &[u8])],
    codes: &[CloseCode],
) -> Result<String, Trouble> {
    let mut connection = probe.open(offers)?;
    if !offers.is_empty() {
        connection.agreement()?;
    }
    for (header, payload) in frames {
        connection.frame(*header, payload)?;
    }
    connection.expect_failure(codes)
}
