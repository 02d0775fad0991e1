//! Are messages taken that some client may send, compressed in ways that its usual one does not choose?
//!
//! The octets of "Hello" in several forms are those of RFC 7692 section 7.2.3.

use crate::conform::connection::{Connection, incompressible};
use crate::conform::trouble::Trouble;
use crate::conform::{Case, Probe};
use lastmile_payload::transcript::Kind;
use lastmile_payload::websocket::{CloseCode, Form, FrameHeader, Opcode};
use lastmile_units::Bytes;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "empty-message",
        asks: "an empty compressed message comes back empty",
        source: "RFC 7692 section 7.2.3.6",
        run: |probe| coded(probe, &[&[0x00]], b""),
    },
    Case {
        name: "empty-message-in-two-frames",
        asks: "so does one in two frames, the second without payload",
        source: "RFC 7692 section 7.2.1",
        run: |probe| coded(probe, &[&[0x00], &[]], b""),
    },
    Case {
        name: "fixed-huffman",
        asks: "a message in a block with fixed Huffman codes is read",
        source: "RFC 7692 section 7.2.3.1",
        run: |probe| coded(probe, &[&HELLO], b"Hello"),
    },
    Case {
        name: "stored-block",
        asks: "a message in a block without compression is read",
        source: "RFC 7692 section 7.2.3.3",
        run: |probe| {
            coded(
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
        asks: "a message in two blocks, with the marker of a flush between them, is read",
        source: "RFC 7692 section 7.2.3.5",
        run: |probe| {
            let two = [
                0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00,
            ];
            coded(probe, &[&two], b"Hello")
        },
    },
    Case {
        name: "takeover",
        asks: "a message that refers to the one before it is read",
        source: "RFC 7692 section 7.2.3.2",
        run: |probe| {
            let mut connection = taking_over(probe)?;
            frames(&mut connection, &[&HELLO], b"Hello")?;
            frames(&mut connection, &[&[0xf2, 0x00, 0x11, 0x00, 0x00]], b"Hello")
        },
    },
    Case {
        name: "far-reference",
        asks: "a message that refers 32,000 octets back within itself is read",
        source: "RFC 7692 section 7.1.2.2",
        // An answer that says nothing of the client's window takes all of 32,768 octets.
        run: |probe| {
            let mut connection = compressing(probe)?;
            let [beginning, repeated] = far_apart();
            connection.echoes_octets(&[beginning, repeated].concat())?;
            Ok("it reads it".to_owned())
        },
    },
    Case {
        name: "far-reference-to-the-message-before",
        asks: "a message that refers 32,000 octets back into the one before it is read",
        source: "RFC 7692 section 7.1.2.2",
        run: |probe| {
            let mut connection = taking_over(probe)?;
            for octets in far_apart() {
                connection.echoes_octets(&octets)?;
            }
            Ok("it reads it".to_owned())
        },
    },
    Case {
        name: "fragments",
        asks: "a compressed message in frames of an octet each, some empty, is read",
        source: "RFC 7692 section 7.2.3.1",
        run: |probe| {
            let mut pieces: Vec<&[u8]> = HELLO.chunks(1).collect();
            pieces.insert(3, &[]);
            pieces.push(&[]);
            coded(probe, &pieces, b"Hello")
        },
    },
    Case {
        name: "ping-between-fragments",
        asks: "a ping between the frames of a compressed message is answered, and the message is read",
        source: "RFC 6455 section 5.4",
        run: |probe| {
            let mut connection = compressing(probe)?;
            connection.frame(first(true, 3), &HELLO[..3])?;
            connection.frame(FrameHeader::new(Opcode::Ping, 4), b"here")?;
            connection.expect_pong(b"here")?;
            connection.frame(FrameHeader::new(Opcode::Continuation, 4), &HELLO[3..])?;
            connection.expect(Kind::Text, b"Hello")?;
            Ok("it answers, and reads on".to_owned())
        },
    },
    Case {
        name: "uncompressed-message",
        asks: "messages that are not compressed are read between such as are, though compression was agreed on",
        source: "RFC 7692 section 6",
        run: |probe| {
            let mut connection = compressing(probe)?;
            for text in ["plain and coded", "coded and plain"] {
                let plain = Form {
                    is_compressed: false,
                    ..Form::default()
                };
                connection.send(Kind::Text, text.as_bytes(), plain)?;
                connection.expect(Kind::Text, text.as_bytes())?;
                connection.echoes(text)?;
            }
            Ok("it reads both".to_owned())
        },
    },
    Case {
        name: "text-cut-within-a-character",
        asks: "compressed text whose frames end within a character is read",
        source: "RFC 6455 section 5.6",
        run: |probe| {
            let mut connection = compressing(probe)?;
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
    Case {
        name: "two-megabytes",
        asks: "a compressed message of 2 MB comes back, or is refused as too large",
        source: "RFC 6455 section 7.4.1",
        run: |probe| {
            let mut connection = compressing(probe)?;
            let line = b"a line of a log that goes on, and on, and on, number after number\n";
            let octets: Vec<u8> = line.iter().copied().cycle().take(2_000_000).collect();
            connection.send(Kind::Binary, &octets, Form::default())?;
            match connection.expect(Kind::Binary, &octets) {
                Ok(message) => Ok(format!("it comes back in {}", message.coded_bytes)),
                Err(Trouble::Closed(close)) if close.code == CloseCode::TOO_LARGE => Err(Trouble::not_asked(
                    "the server takes no message of 2 MB, and says so with 1009",
                )),
                Err(trouble) => Err(trouble),
            }
        },
    },
    Case {
        name: "many-sizes",
        asks: "compressed messages of 0, 1, 125, 126, 65,535 and 65,536 octets come back",
        source: "RFC 6455 section 5.2",
        run: |probe| {
            let mut connection = compressing(probe)?;
            for length in [0, 1, 125, 126, 65_535, 65_536] {
                let octets: Vec<u8> = (0..length).map(|at: u32| (at / 7 % 251) as u8).collect();
                connection.echoes_octets(&octets)?;
            }
            Ok("they come back".to_owned())
        },
    },
];

/// "Hello", compressed (RFC 7692 section 7.2.3.1).
const HELLO: [u8; 7] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];

fn compressing(probe: &Probe<'_>) -> Result<Connection, Trouble> {
    let connection = probe.open(&["permessage-deflate"])?;
    connection.agreement()?;
    Ok(connection)
}

/// One on which a message may refer to those before it.
fn taking_over(probe: &Probe<'_>) -> Result<Connection, Trouble> {
    let connection = compressing(probe)?;
    if connection.agreement()?.client.takeover {
        return Ok(connection);
    }
    Err(Trouble::not_asked(
        "the server wants no takeover of its clients, as it may",
    ))
}

/// 32,000 octets, and the first 200 of them again, which a compressor with a window of 32,768 refers back to. What lies between has but 16
/// values, so that it is worth coding, and nothing of those 200.
fn far_apart() -> [Vec<u8>; 2] {
    let repeated = incompressible("repeated", Bytes::new(200));
    let between = incompressible("between", Bytes::new(31_800));
    let beginning = repeated.iter().copied().chain(between.iter().map(|octet| octet & 0x0f));
    [beginning.collect(), repeated]
}

/// The header of a compressed text message's first frame that is not its last where `goes_on`.
fn first(goes_on: bool, length: usize) -> FrameHeader {
    FrameHeader {
        is_final: !goes_on,
        rsv1: true,
        ..FrameHeader::new(Opcode::Text, length as u64)
    }
}

/// Sends compressed text in these frames on a connection of its own; it must mean `plain`.
fn coded(probe: &Probe<'_>, pieces: &[&[u8]], plain: &[u8]) -> Result<String, Trouble> {
    frames(&mut compressing(probe)?, pieces, plain)
}

fn frames(connection: &mut Connection, pieces: &[&[u8]], plain: &[u8]) -> Result<String, Trouble> {
    for (number, piece) in pieces.iter().enumerate() {
        let goes_on = number + 1 < pieces.len();
        let header = if number == 0 {
            first(goes_on, piece.len())
        } else {
            FrameHeader {
                is_final: !goes_on,
                ..FrameHeader::new(Opcode::Continuation, piece.len() as u64)
            }
        };
        connection.frame(header, piece)?;
    }
    connection.expect(Kind::Text, plain)?;
    Ok("it reads it".to_owned())
}
