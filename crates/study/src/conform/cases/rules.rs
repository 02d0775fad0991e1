//! Does the server fail a connection that breaks a rule, with the code that says which (RFC 6455 section 7.4.1)?

use crate::conform::connection::Connection;
use crate::conform::trouble::Trouble;
use crate::conform::{Case, Probe};
use lastmile_payload::websocket::{CloseCode, FrameHeader, LengthForm, MaskKey, Opcode};

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
        asks: "RSV1 in a ping fails the connection",
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
        name: "rsv1-in-pong",
        asks: "RSV1 in a pong fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| {
            let header = FrameHeader {
                rsv1: true,
                ..FrameHeader::new(Opcode::Pong, 0)
            };
            fails(probe, DEFLATE, &[(header, b"")], &[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "rsv1-in-close",
        asks: "RSV1 in a close frame fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| {
            let header = FrameHeader {
                rsv1: true,
                ..FrameHeader::new(Opcode::Close, 2)
            };
            let frames: [(_, &[u8]); 1] = [(header, &1000_u16.to_be_bytes())];
            fails(probe, DEFLATE, &frames, &[CloseCode::PROTOCOL_ERROR])
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
        asks: "RSV3, which nothing has a use for, fails the connection",
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
        name: "unmasked-frame",
        asks: "a client's frame that is not masked fails the connection",
        source: "RFC 6455 section 5.1",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            connection.octets(&Connection::bare(Opcode::Text, b"Hello"))?;
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
        run: reserved::<3>,
    },
    Case {
        name: "reserved-control-opcode-11",
        asks: "a frame with the reserved opcode 11, a control frame's, fails the connection",
        source: "RFC 6455 section 5.2",
        run: reserved::<11>,
    },
    Case {
        name: "reserved-control-opcode-12",
        asks: "a frame with the reserved opcode 12, a control frame's, fails the connection",
        source: "RFC 6455 section 5.2",
        run: reserved::<12>,
    },
    Case {
        name: "reserved-control-opcode-13",
        asks: "a frame with the reserved opcode 13, a control frame's, fails the connection",
        source: "RFC 6455 section 5.2",
        run: reserved::<13>,
    },
    Case {
        name: "reserved-control-opcode-14",
        asks: "a frame with the reserved opcode 14, a control frame's, fails the connection",
        source: "RFC 6455 section 5.2",
        run: reserved::<14>,
    },
    Case {
        name: "reserved-control-opcode-15",
        asks: "a frame with the reserved opcode 15, a control frame's, fails the connection",
        source: "RFC 6455 section 5.2",
        run: reserved::<15>,
    },
    Case {
        name: "length-too-large",
        asks: "a length of 64 bits with its highest bit set fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let header = FrameHeader::new(Opcode::Binary, 1 << 63);
            written(
                probe,
                header,
                LengthForm::Bits64,
                &[CloseCode::PROTOCOL_ERROR, CloseCode::TOO_LARGE],
            )
        },
    },
    Case {
        name: "length-in-16-bits",
        asks: "a length of 5 that is written in 16 bits fails the connection, or is taken for 5",
        source: "RFC 6455 sections 5.2 and 10.7",
        run: |probe| longer(probe, LengthForm::Bits16),
    },
    Case {
        name: "length-in-64-bits",
        asks: "a length of 5 that is written in 64 bits fails the connection, or is taken for 5",
        source: "RFC 6455 sections 5.2 and 10.7",
        run: |probe| longer(probe, LengthForm::Bits64),
    },
];

/// What offers compression.
pub(super) const DEFLATE: &[&str] = &["permessage-deflate"];
/// What is said of data that cannot be read: RFC 7692 names no code, and these are what implementations choose among.
const UNREADABLE: &[CloseCode] = &[
    CloseCode::PROTOCOL_ERROR,
    CloseCode::UNSUPPORTED,
    CloseCode::INVALID_DATA,
    CloseCode::INTERNAL,
];

/// A final, compressed text frame.
pub(super) const fn coded(length: usize) -> FrameHeader {
    FrameHeader {
        rsv1: true,
        ..FrameHeader::new(Opcode::Text, length as u64)
    }
}

/// Sends a frame with an opcode that means nothing.
fn reserved<const OPCODE: u8>(probe: &Probe<'_>) -> Result<String, Trouble> {
    let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Reserved(OPCODE), 0), b"")];
    fails(probe, &[], &frames, &[CloseCode::PROTOCOL_ERROR])
}

/// Sends a frame whose length is written in this form, with as much of its payload as "Hello" is; the server must fail the connection.
fn written(probe: &Probe<'_>, header: FrameHeader, form: LengthForm, codes: &[CloseCode]) -> Result<String, Trouble> {
    send_written(probe, header, form)?.expect_failure(codes)
}

/// A length that takes more octets than it need: who sends that breaks the rule, and whoever receives it may take it or not.
fn longer(probe: &Probe<'_>, form: LengthForm) -> Result<String, Trouble> {
    send_written(probe, FrameHeader::new(Opcode::Binary, 5), form)?
        .failure_or(&[CloseCode::PROTOCOL_ERROR], Some(b"Hello"))
}

fn send_written(probe: &Probe<'_>, header: FrameHeader, form: LengthForm) -> Result<Connection, Trouble> {
    let mut connection = probe.open(&[])?;
    // A mask of zeros changes nothing, and is one.
    let header = FrameHeader {
        mask: Some(MaskKey([0; 4])),
        ..header
    };
    let mut octets = Vec::new();
    header.write_as(form, &mut octets);
    octets.extend(b"Hello");
    connection.octets(&octets)?;
    Ok(connection)
}

/// Sends these frames after these offers; the server must fail the connection with one of `codes`.
pub(super) fn fails(
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
