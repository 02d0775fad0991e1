//! Messages that are valid but compressed in ways that common compressors do not choose.
//!
//! The bytes of "Hello" in several forms are those of RFC 7692 section 7.2.3.

use super::frames::{DEFLATE, HELLO, frame, not_final, rsv1};
use super::text::echo_in_fragments;
use crate::case_error::CaseError;
use crate::connection::{Connection, incompressible};
use crate::{Case, Prober};
use lastmile_codec::message::Kind;
use lastmile_units::ByteCount;
use lastmile_websocket::{CloseCode, Opcode, SendOptions};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "empty-message",
        asks: "an empty compressed message comes back empty",
        source: "RFC 7692 section 7.2.3.6",
        run: |probe| expect_decompressed(probe, &[&[0x00]], b""),
    },
    Case {
        name: "empty-message-in-two-frames",
        asks: "an empty compressed message in two frames, the second without payload, comes back empty",
        source: "RFC 7692 section 7.2.1",
        run: |probe| expect_decompressed(probe, &[&[0x00], &[]], b""),
    },
    Case {
        name: "fixed-huffman",
        asks: "a message in a block with fixed Huffman codes is read",
        source: "RFC 7692 section 7.2.3.1",
        run: |probe| expect_decompressed(probe, &[&HELLO], b"Hello"),
    },
    Case {
        name: "stored-block",
        asks: "a message in a block without compression is read",
        source: "RFC 7692 section 7.2.3.3",
        run: |probe| {
            expect_decompressed(
                probe,
                &[&[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]],
                b"Hello",
            )
        },
    },
    Case {
        name: "final-block",
        asks: "a message in a block with BFINAL set is read, and so is the message after it",
        source: "RFC 7692 section 7.2.3.4",
        run: |probe| {
            let mut connection = compressing(probe)?;
            frames(
                &mut connection,
                &[&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]],
                b"Hello",
            )?;
            frames(&mut connection, &[&HELLO], b"Hello")
        },
    },
    Case {
        name: "two-blocks",
        asks: "a message in two blocks, with the empty block of a flush between them, is read",
        source: "RFC 7692 section 7.2.3.5",
        run: |probe| {
            let two = [
                0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00,
            ];
            expect_decompressed(probe, &[&two], b"Hello")
        },
    },
    Case {
        name: "takeover",
        asks: "a message with a back-reference into the message before is read",
        source: "RFC 7692 section 7.2.3.2",
        run: |probe| {
            let mut connection = taking_over(probe)?;
            frames(&mut connection, &[&HELLO], b"Hello")?;
            frames(&mut connection, &[&[0xf2, 0x00, 0x11, 0x00, 0x00]], b"Hello")
        },
    },
    Case {
        name: "far-reference",
        asks: "a message with a back-reference over 32,000 bytes within itself is read",
        source: "RFC 7692 section 7.1.2.2",
        // An answer that does not name the client's window accepts the full 32,768 bytes.
        run: |probe| {
            let mut connection = compressing(probe)?;
            let [beginning, repeated] = far_apart();
            connection.echo_bytes(&[beginning, repeated].concat())?;
            Ok("it reads it".to_owned())
        },
    },
    Case {
        name: "far-reference-to-the-message-before",
        asks: "a message with a back-reference over 32,000 bytes into the message before is read",
        source: "RFC 7692 section 7.1.2.2",
        run: |probe| {
            let mut connection = taking_over(probe)?;
            for bytes in far_apart() {
                connection.echo_bytes(&bytes)?;
            }
            Ok("it reads it".to_owned())
        },
    },
    Case {
        name: "fragments",
        asks: "a compressed message in frames of one byte each, some empty, is read",
        source: "RFC 7692 section 7.2.3.1",
        run: |probe| {
            let mut pieces: Vec<&[u8]> = HELLO.chunks(1).collect();
            pieces.insert(3, &[]);
            pieces.push(&[]);
            expect_decompressed(probe, &pieces, b"Hello")
        },
    },
    Case {
        name: "ping-between-fragments",
        asks: "a ping between the frames of a compressed message is answered, and the message is read",
        source: "RFC 6455 section 5.4",
        run: |probe| {
            let mut connection = compressing(probe)?;
            connection.send_frame(not_final(rsv1(frame(Opcode::Text, &HELLO[..3]))))?;
            connection.send_frame(frame(Opcode::Ping, b"here"))?;
            connection.expect_pong(b"here")?;
            connection.send_frame(frame(Opcode::Continuation, &HELLO[3..]))?;
            connection.expect(Kind::Text, b"Hello")?;
            Ok("it answers the ping, and reads the message".to_owned())
        },
    },
    Case {
        name: "uncompressed-message",
        asks: "uncompressed messages between compressed ones are read, although compression was negotiated",
        source: "RFC 7692 section 6",
        run: |probe| {
            let mut connection = compressing(probe)?;
            for text in ["plain and compressed", "compressed and plain"] {
                let plain = SendOptions {
                    is_compressed: false,
                    ..SendOptions::default()
                };
                connection.send(Kind::Text, text.as_bytes(), plain)?;
                connection.expect(Kind::Text, text.as_bytes())?;
                connection.echo_text(text)?;
            }
            Ok("it reads both".to_owned())
        },
    },
    Case {
        name: "text-cut-within-a-character",
        asks: "compressed text whose frames end within a character is read",
        source: "RFC 6455 section 5.6",
        run: |probe| echo_in_fragments(&mut compressing(probe)?),
    },
    Case {
        name: "two-megabytes",
        asks: "a compressed message of 2 MB comes back, or is refused as too large",
        source: "RFC 6455 section 7.4.1",
        run: |probe| {
            let mut connection = compressing(probe)?;
            let line = b"a line of a log that goes on, and on, and on, number after number\n";
            let bytes: Vec<u8> = line.iter().copied().cycle().take(2_000_000).collect();
            connection.send(Kind::Binary, &bytes, SendOptions::default())?;
            match connection.expect(Kind::Binary, &bytes) {
                Ok(message) => Ok(format!("it comes back in {}", message.encoded_bytes)),
                Err(CaseError::Closed(close)) if close.code == CloseCode::TOO_LARGE => {
                    Ok("it refuses 2 MB as too large, with code 1009".to_owned())
                }
                Err(trouble) => Err(trouble),
            }
        },
    },
    Case {
        name: "many-sizes",
        asks: "compressed messages of 0, 1, 125, 126, 65,535 and 65,536 bytes come back",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let mut connection = compressing(probe)?;
            for length in [0, 1, 125, 126, 65_535, 65_536] {
                let bytes: Vec<u8> = (0..length).map(|at: u32| (at / 7 % 251) as u8).collect();
                connection.echo_bytes(&bytes)?;
            }
            Ok("they come back".to_owned())
        },
    },
];

fn compressing(probe: &Prober<'_>) -> Result<Connection, CaseError> {
    let connection = probe.open(DEFLATE)?;
    connection.agreement()?;
    Ok(connection)
}

/// A connection on which the client's messages may refer to earlier ones.
fn taking_over(probe: &Prober<'_>) -> Result<Connection, CaseError> {
    let connection = compressing(probe)?;
    if connection.agreement()?.client.takeover {
        return Ok(connection);
    }
    Err(CaseError::not_applicable(
        "the server does not let clients keep their context (client_no_context_takeover), which it may do",
    ))
}

/// 32,000 bytes, and the first 200 of them again, to which a compressor with a window of 32,768 refers back. The bytes between have only
/// 16 values, so that they are worth compressing, and contain none of the 200.
fn far_apart() -> [Vec<u8>; 2] {
    let repeated = incompressible("repeated", ByteCount::new(200));
    let between = incompressible("between", ByteCount::new(31_800));
    let beginning = repeated.iter().copied().chain(between.iter().map(|byte| byte & 0x0f));
    [beginning.collect(), repeated]
}

/// Sends compressed text in these frames on a connection of its own; it must decompress to `plain`.
fn expect_decompressed(probe: &Prober<'_>, pieces: &[&[u8]], plain: &[u8]) -> Result<String, CaseError> {
    frames(&mut compressing(probe)?, pieces, plain)
}

fn frames(connection: &mut Connection, pieces: &[&[u8]], plain: &[u8]) -> Result<String, CaseError> {
    for (number, piece) in pieces.iter().enumerate() {
        let mut next = match number {
            0 => rsv1(frame(Opcode::Text, piece)),
            _ => frame(Opcode::Continuation, piece),
        };
        next.0.is_final = number + 1 == pieces.len();
        connection.send_frame(next)?;
    }
    connection.expect(Kind::Text, plain)?;
    Ok("it reads it".to_owned())
}
