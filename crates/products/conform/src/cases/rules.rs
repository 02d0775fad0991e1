//! Invalid frames and data, on which the server must fail the connection with the right code (RFC 6455 section 7.4.1).

use super::frames::{DEFLATE, Frame, HELLO, frame, not_final, rsv1};
use crate::case_error::CaseError;
use crate::connection::Connection;
use crate::{Case, Prober};
use lastmile_websocket::{CloseCode, FrameHeader, LengthForm, MaskKey, Opcode};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "rsv1-without-negotiation",
        asks: "RSV1 without a negotiated extension fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| expect_protocol_error(probe, &[], &[rsv1(frame(Opcode::Text, b"Hello"))]),
    },
    Case {
        name: "rsv1-in-continuation",
        asks: "RSV1 in a later frame of a message fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| {
            let (begins, rest) = HELLO.split_at(3);
            let frames = [
                rsv1(not_final(frame(Opcode::Text, begins))),
                rsv1(frame(Opcode::Continuation, rest)),
            ];
            expect_protocol_error(probe, DEFLATE, &frames)
        },
    },
    Case {
        name: "rsv1-in-ping",
        asks: "RSV1 in a ping fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| expect_protocol_error(probe, DEFLATE, &[rsv1(frame(Opcode::Ping, b""))]),
    },
    Case {
        name: "rsv1-in-pong",
        asks: "RSV1 in a pong fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| expect_protocol_error(probe, DEFLATE, &[rsv1(frame(Opcode::Pong, b""))]),
    },
    Case {
        name: "rsv1-in-close",
        asks: "RSV1 in a close frame fails the connection",
        source: "RFC 7692 section 6.1",
        run: |probe| expect_protocol_error(probe, DEFLATE, &[rsv1(frame(Opcode::Close, &1000_u16.to_be_bytes()))]),
    },
    Case {
        name: "rsv2",
        asks: "RSV2, which no negotiated extension uses, fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let (header, payload) = frame(Opcode::Text, b"Hello");
            expect_protocol_error(probe, DEFLATE, &[(FrameHeader { rsv2: true, ..header }, payload)])
        },
    },
    Case {
        name: "rsv3",
        asks: "RSV3, which no negotiated extension uses, fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let (header, payload) = frame(Opcode::Text, b"Hello");
            expect_protocol_error(probe, DEFLATE, &[(FrameHeader { rsv3: true, ..header }, payload)])
        },
    },
    Case {
        name: "corrupt-stream",
        asks: "a compressed message that is not a DEFLATE stream fails the connection",
        source: "RFC 7692 section 7.2.2",
        // The first block has type 3, which is reserved (RFC 1951 section 3.2.3).
        run: |probe| unreadable(probe, &[0x06, 0x01, 0x02, 0x03, 0x04]),
    },
    Case {
        name: "reference-before-the-start",
        asks: "a back-reference to before the first message fails the connection",
        source: "RFC 7692 section 7.2.2",
        // This message follows a "Hello", which is not sent here (RFC 7692 section 7.2.3.2).
        run: |probe| unreadable(probe, &[0xf2, 0x00, 0x11, 0x00, 0x00]),
    },
    Case {
        name: "unmasked-frame",
        asks: "a client's frame that is not masked fails the connection",
        source: "RFC 6455 section 5.1",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            connection.send_bytes(&Connection::unmasked_frame(Opcode::Text, b"Hello"))?;
            connection.expect_failure(&[CloseCode::PROTOCOL_ERROR])
        },
    },
    Case {
        name: "long-ping",
        asks: "a ping of 126 bytes fails the connection",
        source: "RFC 6455 section 5.5",
        run: |probe| expect_protocol_error(probe, &[], &[frame(Opcode::Ping, &[b'p'; 126])]),
    },
    Case {
        name: "fragmented-ping",
        asks: "a ping that is not final fails the connection",
        source: "RFC 6455 section 5.5",
        run: |probe| expect_protocol_error(probe, &[], &[not_final(frame(Opcode::Ping, b""))]),
    },
    Case {
        name: "continuation-of-nothing",
        asks: "a continuation frame without a message to continue fails the connection",
        source: "RFC 6455 section 5.4",
        run: |probe| expect_protocol_error(probe, &[], &[frame(Opcode::Continuation, b"Hello")]),
    },
    Case {
        name: "message-within-a-message",
        asks: "a message that begins within another fails the connection",
        source: "RFC 6455 section 5.4",
        run: |probe| {
            let frames = [not_final(frame(Opcode::Text, b"He")), frame(Opcode::Text, b"llo")];
            expect_protocol_error(probe, &[], &frames)
        },
    },
    Case {
        name: "reserved-opcode",
        asks: "a frame with a reserved opcode fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| reserved(probe, 3),
    },
];

/// A case for each reserved opcode of a control frame.
macro_rules! control_opcodes {
    ($($opcode:literal)+) => {
        pub(super) const CONTROL_OPCODES: &[Case] = &[$(Case {
            name: concat!("reserved-control-opcode-", $opcode),
            asks: concat!("a control frame with the reserved opcode ", $opcode, " fails the connection"),
            source: "RFC 6455 section 5.2",
            run: |probe| reserved(probe, $opcode),
        }),+];
    };
}

control_opcodes! { 11 12 13 14 15 }

pub(super) const LENGTHS: &[Case] = &[
    Case {
        name: "length-too-large",
        asks: "a 64-bit length with its highest bit set fails the connection",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let header = FrameHeader::new(Opcode::Binary, 1 << 63);
            let codes = [CloseCode::PROTOCOL_ERROR, CloseCode::TOO_LARGE];
            send_with_length(probe, header, LengthForm::Bits64)?.expect_failure(&codes)
        },
    },
    Case {
        name: "length-in-16-bits",
        asks: "a length of 5 written in 16 bits fails the connection, or is read as 5",
        source: "RFC 6455 sections 5.2 and 10.7",
        run: |probe| longer(probe, LengthForm::Bits16),
    },
    Case {
        name: "length-in-64-bits",
        asks: "a length of 5 written in 64 bits fails the connection, or is read as 5",
        source: "RFC 6455 sections 5.2 and 10.7",
        run: |probe| longer(probe, LengthForm::Bits64),
    },
];

/// The close codes for data that cannot be decompressed: RFC 7692 names none, and implementations choose among these.
const UNREADABLE: &[CloseCode] = &[
    CloseCode::PROTOCOL_ERROR,
    CloseCode::UNSUPPORTED,
    CloseCode::INVALID_DATA,
    CloseCode::INTERNAL,
];

/// Sends a frame with a reserved opcode.
fn unreadable(probe: &Prober<'_>, payload: &[u8]) -> Result<String, CaseError> {
    expect_failure_after(probe, DEFLATE, &[rsv1(frame(Opcode::Text, payload))], UNREADABLE)
}

fn reserved(probe: &Prober<'_>, opcode: u8) -> Result<String, CaseError> {
    expect_protocol_error(probe, &[], &[frame(Opcode::Reserved(opcode), b"")])
}

/// A length that is not in its shortest form: sending it breaks the rule, but a receiver may accept it or not.
fn longer(probe: &Prober<'_>, form: LengthForm) -> Result<String, CaseError> {
    send_with_length(probe, FrameHeader::new(Opcode::Binary, 5), form)?
        .expect_failure_or(&[CloseCode::PROTOCOL_ERROR], Some(b"Hello"))
}

/// Sends a frame whose length is written in this form, with "Hello" as its payload so far.
fn send_with_length(probe: &Prober<'_>, header: FrameHeader, form: LengthForm) -> Result<Connection, CaseError> {
    let mut connection = probe.open(&[])?;
    // A mask of zeros is a mask, and changes nothing.
    let header = FrameHeader {
        mask: Some(MaskKey([0; 4])),
        ..header
    };
    let mut bytes = Vec::new();
    header.write_as(form, &mut bytes);
    bytes.extend(b"Hello");
    connection.send_bytes(&bytes)?;
    Ok(connection)
}

/// Sends these frames after these offers; the server must fail the connection as a protocol error.
fn expect_protocol_error(probe: &Prober<'_>, offers: &[&str], frames: &[Frame<'_>]) -> Result<String, CaseError> {
    expect_failure_after(probe, offers, frames, &[CloseCode::PROTOCOL_ERROR])
}

/// Sends these frames after these offers; the server must fail the connection with one of `codes`.
pub(super) fn expect_failure_after(
    probe: &Prober<'_>,
    offers: &[&str],
    frames: &[Frame<'_>],
    codes: &[CloseCode],
) -> Result<String, CaseError> {
    let mut connection = probe.open(offers)?;
    if !offers.is_empty() {
        connection.agreement()?;
    }
    for frame in frames {
        connection.send_frame(*frame)?;
    }
    connection.expect_failure(codes)
}
