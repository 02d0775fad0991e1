//! Validation of text as UTF-8, compressed or not, in one frame or several (RFC 6455 section 8.1).

use super::rules::{DEFLATE, compressed_text_header, expect_failure_after};
use crate::Case;
use lastmile_codec::message::Kind;
use lastmile_units::ByteCount;
use lastmile_websocket::{CloseCode, FrameHeader, Opcode, SendOptions};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "text-that-is-not-utf-8",
        asks: "compressed text that is not UTF-8 fails the connection",
        source: "RFC 6455 section 8.1",
        // A block without compression that holds one byte, 0xff.
        run: |probe| {
            let block: &[u8] = &[0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00];
            expect_failure_after(
                probe,
                DEFLATE,
                &[(compressed_text_header(block.len()), block)],
                NOT_UTF_8,
            )
        },
    },
    Case {
        name: "plain-text-that-is-not-utf-8",
        asks: "uncompressed text that is not UTF-8 fails the connection",
        source: "RFC 6455 section 8.1",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Text, 6), b"Hello\xff")];
            expect_failure_after(probe, &[], &frames, NOT_UTF_8)
        },
    },
    Case {
        name: "text-wrong-across-frames",
        asks: "a message that becomes invalid UTF-8 only across a frame boundary fails the connection",
        source: "RFC 6455 section 8.1",
        // F4 begins a character beyond U+FFFF whose second byte is at most 8F; 90 is a second byte of other characters.
        run: |probe| {
            let begins = FrameHeader {
                is_final: false,
                ..FrameHeader::new(Opcode::Text, 6)
            };
            let goes_on = FrameHeader::new(Opcode::Continuation, 3);
            let frames: [(_, &[u8]); 2] = [(begins, b"Hello\xf4"), (goes_on, &[0x90, 0x80, 0x80])];
            expect_failure_after(probe, &[], &frames, NOT_UTF_8)
        },
    },
    Case {
        name: "text-that-ends-within-a-character",
        asks: "text whose last character is cut off fails the connection",
        source: "RFC 6455 section 8.1",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Text, 7), b"Hello\xe2\x82")];
            expect_failure_after(probe, &[], &frames, NOT_UTF_8)
        },
    },
    Case {
        name: "plain-text-cut-within-a-character",
        asks: "uncompressed text whose frames end within a character is read",
        source: "RFC 6455 section 5.6",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            let text = "żółw, 亀, 🐢; ".repeat(50);
            let form = SendOptions {
                fragment: Some(ByteCount::new(7)),
                ..SendOptions::default()
            };
            connection.send(Kind::Text, text.as_bytes(), form)?;
            connection.expect(Kind::Text, text.as_bytes())?;
            Ok("it reads it".to_owned())
        },
    },
];

const NOT_UTF_8: &[CloseCode] = &[CloseCode::INVALID_DATA];
