//! Validation of text as UTF-8, compressed or not, in one frame or several (RFC 6455 section 8.1).

use super::frames::{DEFLATE, frame, not_final, rsv1};
use super::rules::expect_failure_after;
use crate::Case;
use crate::case_error::CaseError;
use crate::connection::Connection;
use lastmile_codec::message::Kind;
use lastmile_units::ByteCount;
use lastmile_websocket::{CloseCode, Opcode, SendOptions};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "text-that-is-not-utf-8",
        asks: "compressed text that is not UTF-8 fails the connection",
        source: "RFC 6455 section 8.1",
        // A block without compression that holds one byte, 0xff.
        run: |probe| {
            let block = &[0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00];
            expect_failure_after(probe, DEFLATE, &[rsv1(frame(Opcode::Text, block))], NOT_UTF_8)
        },
    },
    Case {
        name: "plain-text-that-is-not-utf-8",
        asks: "uncompressed text that is not UTF-8 fails the connection",
        source: "RFC 6455 section 8.1",
        run: |probe| expect_failure_after(probe, &[], &[frame(Opcode::Text, b"Hello\xff")], NOT_UTF_8),
    },
    Case {
        name: "text-wrong-across-frames",
        asks: "a message that becomes invalid UTF-8 only across a frame boundary fails the connection",
        source: "RFC 6455 section 8.1",
        // F4 begins a character beyond U+FFFF whose second byte is at most 8F; 90 is a second byte of other characters.
        run: |probe| {
            let begins = not_final(frame(Opcode::Text, b"Hello\xf4"));
            let rest = frame(Opcode::Continuation, &[0x90, 0x80, 0x80]);
            expect_failure_after(probe, &[], &[begins, rest], NOT_UTF_8)
        },
    },
    Case {
        name: "text-that-ends-within-a-character",
        asks: "text whose last character is cut off fails the connection",
        source: "RFC 6455 section 8.1",
        run: |probe| expect_failure_after(probe, &[], &[frame(Opcode::Text, b"Hello\xe2\x82")], NOT_UTF_8),
    },
    Case {
        name: "plain-text-cut-within-a-character",
        asks: "uncompressed text whose frames end within a character is read",
        source: "RFC 6455 section 5.6",
        run: |probe| echo_in_fragments(&mut probe.open(&[])?),
    },
];

/// Text in frames that end within characters comes back.
pub(super) fn echo_in_fragments(connection: &mut Connection) -> Result<String, CaseError> {
    let text = "żółw, 亀, 🐢; ".repeat(50);
    let form = SendOptions {
        fragment: Some(ByteCount::new(7)),
        ..SendOptions::default()
    };
    connection.send(Kind::Text, text.as_bytes(), form)?;
    connection.expect(Kind::Text, text.as_bytes())?;
    Ok("it reads it".to_owned())
}

const NOT_UTF_8: &[CloseCode] = &[CloseCode::INVALID_DATA];
