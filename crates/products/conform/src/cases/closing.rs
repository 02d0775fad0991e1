//! Closing a connection (RFC 6455 sections 5.5.1 and 7).

use super::frames::frame;
use super::rules::expect_failure_after;
use crate::case_error::{CaseError, broken, closing};
use crate::connection::Connection;
use crate::{Case, Prober};
use lastmile_websocket::{Close, CloseCode, Opcode};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "close-code-0",
        asks: "a close frame with code 0, which is not used, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<0>,
    },
    Case {
        name: "close-code-999",
        asks: "a close frame with code 999, which is not used, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<999>,
    },
    Case {
        name: "close-code-1004",
        asks: "a close frame with code 1004, which is reserved, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1004>,
    },
    Case {
        name: "close-code-1005",
        asks: "a close frame with code 1005, which must not be sent, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1005>,
    },
    Case {
        name: "close-code-1006",
        asks: "a close frame with code 1006, which must not be sent, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1006>,
    },
    Case {
        name: "close-code-1015",
        asks: "a close frame with code 1015, which must not be sent, fails the connection",
        source: "RFC 6455 section 7.4.1",
        run: code::<1015>,
    },
    Case {
        name: "close-code-1016",
        asks: "a close frame with code 1016, which is reserved for later versions, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<1016>,
    },
    Case {
        name: "close-code-2999",
        asks: "a close frame with code 2999, which is reserved for later versions, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<2999>,
    },
    Case {
        name: "close-code-5000",
        asks: "a close frame with code 5000, above the defined range, fails the connection",
        source: "RFC 6455 section 7.4.2",
        run: code::<5000>,
    },
    Case {
        name: "close-with-one-octet",
        asks: "a close frame with a payload of one byte fails the connection",
        source: "RFC 6455 section 5.5.1",
        run: |probe| closes_with(probe, &[3], &[CloseCode::PROTOCOL_ERROR]),
    },
    Case {
        name: "close-reason-not-utf-8",
        asks: "a close frame whose reason is not UTF-8 fails the connection",
        source: "RFC 6455 sections 5.5.1 and 8.1",
        run: |probe| {
            // 1000, and a byte that UTF-8 does not use. To call the frame a protocol error is as right.
            closes_with(
                probe,
                &[0x03, 0xe8, 0xff],
                &[CloseCode::INVALID_DATA, CloseCode::PROTOCOL_ERROR],
            )
        },
    },
    Case {
        name: "closing",
        asks: "a close frame is answered with a close frame",
        source: "RFC 6455 section 5.5.1",
        run: |probe| Ok(format!("it {}", closing(&closed(probe)?.1))),
    },
    Case {
        name: "end-after-closing",
        asks: "after the close frames the server ends the TCP connection",
        source: "RFC 6455 sections 5.5.1 and 7.1.1",
        run: |probe| {
            closed(probe)?.0.expect_end()?;
            Ok("it ends the TCP connection".to_owned())
        },
    },
    Case {
        name: "silence-after-closing",
        asks: "after its close frame the server sends nothing more",
        source: "RFC 6455 section 5.5.1",
        run: |probe| {
            let (mut connection, _) = closed(probe)?;
            // Another case tests whether it ends in time.
            connection.wait_for_end()?;
            match connection.bytes_after_close().get() {
                0 => Ok("it sends nothing".to_owned()),
                bytes => broken(format!("it sends {bytes} bytes after its close frame")),
            }
        },
    },
    Case {
        name: "end-after-a-failure",
        asks: "a server that fails a connection ends the TCP connection",
        source: "RFC 6455 sections 7.1.1 and 7.1.7",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            connection.send_bytes(&Connection::unmasked_frame(Opcode::Text, b"Hello"))?;
            // A server must close on a frame without a mask. The case `unmasked-frame` reports a server that does not.
            let failed = connection.expect_failure(&[CloseCode::PROTOCOL_ERROR]);
            let found = failed.map_err(|trouble| {
                CaseError::NotApplicable(format!(
                    "it does not fail the connection on a frame without a mask: {trouble}"
                ))
            })?;
            connection.expect_end()?;
            Ok(found)
        },
    },
];

/// Sends a close frame with a code that must not be sent.
fn code<const CODE: u16>(probe: &Prober<'_>) -> Result<String, CaseError> {
    closes_with(probe, &CODE.to_be_bytes(), &[CloseCode::PROTOCOL_ERROR])
}

/// Sends a close frame with this payload; the server must fail the connection.
fn closes_with(probe: &Prober<'_>, payload: &[u8], codes: &[CloseCode]) -> Result<String, CaseError> {
    expect_failure_after(probe, &[], &[frame(Opcode::Close, payload)], codes)
}

/// A connection after the closing handshake, and the server's close frame.
fn closed(probe: &Prober<'_>) -> Result<(Connection, Close), CaseError> {
    let mut connection = probe.open(&["permessage-deflate"])?;
    let close = connection.close(CloseCode::NORMAL)?;
    Ok((connection, close))
}
