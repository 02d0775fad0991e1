//! Does a connection end as it must (RFC 6455 sections 5.5.1 and 7)?

use super::rules::fails;
use crate::conform::connection::Connection;
use crate::conform::trouble::{Trouble, closing};
use crate::conform::{Case, Probe};
use lastmile_payload::websocket::{Close, CloseCode, FrameHeader, Opcode};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "close-code-0",
        asks: "a close frame with 0, a number that is not used, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<0>,
    },
    Case {
        name: "close-code-999",
        asks: "a close frame with 999, a number that is not used, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<999>,
    },
    Case {
        name: "close-code-1004",
        asks: "a close frame with 1004, which has no meaning, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1004>,
    },
    Case {
        name: "close-code-1005",
        asks: "a close frame with 1005, which is never sent, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1005>,
    },
    Case {
        name: "close-code-1006",
        asks: "a close frame with 1006, which is never sent, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1006>,
    },
    Case {
        name: "close-code-1015",
        asks: "a close frame with 1015, which is never sent, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1015>,
    },
    Case {
        name: "close-code-1016",
        asks: "a close frame with 1016, which is kept for later, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<1016>,
    },
    Case {
        name: "close-code-2999",
        asks: "a close frame with 2999, which is kept for later, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<2999>,
    },
    Case {
        name: "close-code-5000",
        asks: "a close frame with 5000, beyond all that there are, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<5000>,
    },
    Case {
        name: "close-with-one-octet",
        asks: "a close frame with a payload of one octet fails the connection",
        source: "RFC 6455 section 5.5.1",
        run: |probe| closes_with(probe, &[3], &[CloseCode::PROTOCOL_ERROR]),
    },
    Case {
        name: "close-reason-not-utf-8",
        asks: "a close frame whose reason is not UTF-8 fails the connection",
        source: "RFC 6455 sections 5.5.1 and 8.1",
        run: |probe| {
            // 1000, and an octet that is none of UTF-8. Whoever says that the frame is wrong says no less.
            closes_with(
                probe,
                &[0x03, 0xe8, 0xff],
                &[CloseCode::INVALID_DATA, CloseCode::PROTOCOL_ERROR],
            )
        },
    },
    Case {
        name: "closing",
        asks: "a close frame is answered with one",
        source: "RFC 6455 section 5.5.1",
        run: |probe| Ok(format!("it {}", closing(&closed(probe)?.1))),
    },
    Case {
        name: "end-after-closing",
        asks: "after the close frames the server ends the TCP connection",
        source: "RFC 6455 sections 5.5.1 and 7.1.1",
        run: |probe| {
            closed(probe)?.0.expect_end()?;
            Ok("it ends it".to_owned())
        },
    },
    Case {
        name: "silence-after-closing",
        asks: "after its close frame the server sends nothing more",
        source: "RFC 6455 section 5.5.1",
        run: |probe| {
            let (mut connection, _) = closed(probe)?;
            // Whether it ends in time is asked elsewhere.
            connection.ends()?;
            match connection.passed_over().get() {
                0 => Ok("it sends nothing".to_owned()),
                octets => Err(Trouble::broken(format!(
                    "it sends {octets} octets after its close frame"
                ))),
            }
        },
    },
    Case {
        name: "end-after-a-failure",
        asks: "a server that fails a connection ends it",
        source: "RFC 6455 sections 7.1.1 and 7.1.7",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            connection.octets(&Connection::bare(Opcode::Text, b"Hello"))?;
            // Over a frame that is not masked a server must close. One that does not is told so elsewhere.
            let found = connection
                .expect_failure(&[CloseCode::PROTOCOL_ERROR])
                .map_err(|trouble| {
                    Trouble::not_asked(format!("it does not fail over a frame without a mask: {trouble}"))
                })?;
            connection.expect_end()?;
            Ok(found)
        },
    },
];

/// Sends a close frame with a code that nobody may send.
fn code<const CODE: u16>(probe: &Probe<'_>) -> Result<String, Trouble> {
    closes_with(probe, &CODE.to_be_bytes(), &[CloseCode::PROTOCOL_ERROR])
}

/// Sends a close frame with this payload; the server must fail the connection.
fn closes_with(probe: &Probe<'_>, payload: &[u8], codes: &[CloseCode]) -> Result<String, Trouble> {
    let header = FrameHeader::new(Opcode::Close, payload.len() as u64);
    fails(probe, &[], &[(header, payload)], codes)
}

/// A connection after the closing handshake, and what the server closed it with.
fn closed(probe: &Probe<'_>) -> Result<(Connection, Close), Trouble> {
    let mut connection = probe.open(&["permessage-deflate"])?;
    let close = connection.close(CloseCode::NORMAL)?;
    Ok((connection, close))
}
