//! Is text held to UTF-8, compressed or not, whole or in frames (RFC 6455 section 8.1)?

use super::rules::{DEFLATE, coded, fails};
use crate::conform::Case;
use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::{CloseCode, Form, FrameHeader, Opcode};
use lastmile_units::Bytes;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "text-that-is-not-utf-8",
        asks: "compressed text that is not UTF-8 fails the connection",
        source: "RFC 6455 section 8.1",
        // A block without compression that holds one octet, 0xff.
        run: |probe| {
            let block: &[u8] = &[0x00, 0x01, 0x00, 0xfe, 0xff, 0xff, 0x00];
            fails(probe, DEFLATE, &[(coded(block.len()), block)], NOT_UTF_8)
        },
    },
    Case {
        name: "plain-text-that-is-not-utf-8",
        asks: "text that is not compressed and not UTF-8 fails the connection",
        source: "RFC 6455 section 8.1",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Text, 6), b"Hello\xff")];
            fails(probe, &[], &frames, NOT_UTF_8)
        },
    },
    Case {
        name: "text-wrong-across-frames",
        asks: "text whose octets are UTF-8 in each of two frames and not in both together fails the connection",
        source: "RFC 6455 section 8.1",
        // F4 begins a character beyond U+FFFF, whose second octet is at most 8F; 90 could be a second octet of others.
        run: |probe| {
            let begins = FrameHeader {
                is_final: false,
                ..FrameHeader::new(Opcode::Text, 6)
            };
            let goes_on = FrameHeader::new(Opcode::Continuation, 3);
            let frames: [(_, &[u8]); 2] = [(begins, b"Hello\xf4"), (goes_on, &[0x90, 0x80, 0x80])];
            fails(probe, &[], &frames, NOT_UTF_8)
        },
    },
    Case {
        name: "text-that-ends-within-a-character",
        asks: "text whose last character is cut off fails the connection",
        source: "RFC 6455 section 8.1",
        run: |probe| {
            let frames: [(_, &[u8]); 1] = [(FrameHeader::new(Opcode::Text, 7), b"Hello\xe2\x82")];
            fails(probe, &[], &frames, NOT_UTF_8)
        },
    },
    Case {
        name: "plain-text-cut-within-a-character",
        asks: "text that is not compressed, whose frames end within a character, is read",
        source: "RFC 6455 section 5.6",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            let text = "żółw, 亀, 🐢; ".repeat(50);
            let form = Form {
                fragment: Some(Bytes::new(7)),
                ..Form::default()
            };
            connection.send(Kind::Text, text.as_bytes(), form)?;
            connection.expect(Kind::Text, text.as_bytes())?;
            Ok("it reads it".to_owned())
        },
    },
];

const NOT_UTF_8: &[CloseCode] = &[CloseCode::INVALID_DATA];
