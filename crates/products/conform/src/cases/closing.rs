//! Closing a connection (RFC 6455 sections 5.5.1 and 7).

use super::frames::frame;
use super::rules::expect_failure_after;
use crate::case_error::{CaseError, broken, closing};
use crate::connection::Connection;
use crate::{Case, Prober};
use lastmile_websocket::{Close, CloseCode, Opcode};

/// A case for each code that no close frame may have, with the reason and its section of RFC 6455.
macro_rules! close_codes {
    ($($code:literal $why:literal $section:literal;)+) => {
        pub(super) const CLOSE_CODES: &[Case] = &[$(Case {
            name: concat!("close-code-", $code),
            asks: concat!("a close frame with code ", $code, ", ", $why, ", fails the connection"),
            source: concat!("RFC 6455 section ", $section),
            run: |probe| closes_with(probe, &u16::to_be_bytes($code), &[CloseCode::PROTOCOL_ERROR]),
        }),+];
    };
}

close_codes! {
    0 "which is not used" "7.4.2";
    999 "which is not used" "7.4.2";
    1004 "which is reserved" "7.4.1";
    1005 "which must not be sent" "7.4.1";
    1006 "which must not be sent" "7.4.1";
    1015 "which must not be sent" "7.4.1";
    1016 "which is reserved for later versions" "7.4.2";
    2999 "which is reserved for later versions" "7.4.2";
    5000 "above the defined range" "7.4.2";
}

pub(super) const CASES: &[Case] = &[
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
