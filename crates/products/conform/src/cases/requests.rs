//! The opening handshake: valid requests are accepted and invalid ones refused (RFC 6455 section 4).

use crate::Case;
use crate::case_error::{CaseError, broken};

pub(super) const CASES: &[Case] = &[
    Case {
        name: "handshake",
        asks: "each handshake is answered with 101, Upgrade, Connection and the Sec-WebSocket-Accept of its own key, and with no \
               subprotocol that was not asked for",
        source: "RFC 6455 section 4.1",
        run: |probe| {
            // Two keys, so that a server which always gives the same answer fails.
            probe.open(&[])?;
            probe.open(&[])?;
            Ok("it switches to WebSocket, for both keys".to_owned())
        },
    },
    Case {
        name: "echo",
        asks: "messages come back unchanged, text as text and binary as binary",
        source: "RFC 6455 section 5.6",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            connection.echo_text("is anybody there?")?;
            connection.echo_bytes(&[0xff, 0x00, 0xfe])?;
            Ok("they come back".to_owned())
        },
    },
    Case {
        name: "version-12",
        asks: "a request for version 12, which was never defined, is refused, with the supported versions in the answer",
        source: "RFC 6455 sections 4.2.2 and 4.4",
        // Some servers support 8, a draft's, besides 13; 9 to 12 are reserved and will never be used (section 4.1).
        run: |probe| {
            let head = probe.ask(&[], |head| {
                head.replace("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 12")
            })?;
            let found = expect_http_error(head.as_deref())?;
            if head.is_some_and(|head| head.to_ascii_lowercase().contains("\r\nsec-websocket-version:")) {
                Ok(found)
            } else {
                broken(format!("{found}, without Sec-WebSocket-Version"))
            }
        },
    },
    Case {
        name: "key-missing",
        asks: "a request without Sec-WebSocket-Key is refused",
        source: "RFC 6455 section 4.2.1",
        run: |probe| expect_http_error(probe.ask(&[], |head| without(head, "Sec-WebSocket-Key"))?.as_deref()),
    },
    Case {
        name: "key-too-short",
        asks: "a request whose Sec-WebSocket-Key decodes to 15 bytes is refused",
        source: "RFC 6455 section 4.2.1",
        run: |probe| {
            let head = probe.ask(&[], |head| {
                let short = "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4P\r\n\r\n";
                without(head, "Sec-WebSocket-Key").replace("\r\n\r\n", &format!("\r\n{short}"))
            })?;
            expect_http_error(head.as_deref())
        },
    },
    Case {
        name: "host-missing",
        asks: "a request without Host is refused",
        source: "RFC 6455 section 4.2.1",
        run: |probe| expect_http_error(probe.ask(&[], |head| without(head, "Host"))?.as_deref()),
    },
    Case {
        name: "post",
        asks: "a POST is not accepted as a handshake",
        source: "RFC 6455 section 4.2.1",
        run: |probe| expect_no_upgrade(probe.ask(&[], |head| head.replacen("GET ", "POST ", 1))?.as_deref()),
    },
    Case {
        name: "extension-grammar",
        asks: "a request whose Sec-WebSocket-Extensions breaks the grammar is not accepted",
        source: "RFC 6455 section 9.1",
        run: |probe| expect_no_upgrade(probe.ask(&["permessage-deflate; ="], str::to_owned)?.as_deref()),
    },
];

/// The head without the lines of a field.
fn without(head: &str, field: &str) -> String {
    let kept = head.split_inclusive("\r\n").filter(|line| {
        let name = line.split(':').next().unwrap_or_default();
        !name.eq_ignore_ascii_case(field)
    });
    kept.collect()
}

/// The server must answer with an HTTP error.
fn expect_http_error(head: Option<&str>) -> Result<String, CaseError> {
    let found = expect_no_upgrade(head)?;
    match head.map(status) {
        Some(400..=599) => Ok(found),
        _ => broken(format!("{found} where an HTTP error is due")),
    }
}

/// The server must not switch to WebSocket.
fn expect_no_upgrade(head: Option<&str>) -> Result<String, CaseError> {
    match head.map(status) {
        None => Ok("it ends the connection without an answer".to_owned()),
        Some(101) => broken("it switches to WebSocket nevertheless"),
        Some(status) => Ok(format!("it answers with {status}")),
    }
}

/// The number in a response's first line; 0 where there is none.
fn status(head: &str) -> u16 {
    let number = head.split(' ').nth(1).and_then(|number| number.parse().ok());
    number.unwrap_or_default()
}
