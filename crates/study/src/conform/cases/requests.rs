//! Does a connection begin as it must, and does none begin that must not (RFC 6455 section 4)?

use crate::conform::Case;
use crate::conform::trouble::Trouble;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "handshake",
        asks: "each handshake is answered with 101, Upgrade, Connection and the Sec-WebSocket-Accept of its own key, and with no \
               subprotocol that was not asked for",
        source: "RFC 6455 section 4.1",
        run: |probe| {
            // Two keys: one answer would do for a server that gives all the same.
            probe.open(&[])?;
            probe.open(&[])?;
            Ok("it switches to WebSocket, for either of two keys".to_owned())
        },
    },
    Case {
        name: "echo",
        asks: "messages come back as they were, text as text and binary as binary",
        source: "RFC 6455 section 5.6",
        run: |probe| {
            let mut connection = probe.open(&[])?;
            connection.echoes("is anybody there?")?;
            connection.echoes_octets(&[0xff, 0x00, 0xfe])?;
            Ok("they come back".to_owned())
        },
    },
    Case {
        name: "version-12",
        asks: "a request of version 12, which never was, is refused with the versions that are spoken",
        source: "RFC 6455 sections 4.2.2 and 4.4",
        // Some servers speak 8 besides 13, which is a draft's; 9 to 12 are reserved so that nobody ever does (section 4.1).
        run: |probe| {
            let head = probe.ask(&[], |head| {
                head.replace("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 12")
            })?;
            let found = refused(head.as_deref())?;
            if head.is_some_and(|head| head.to_ascii_lowercase().contains("\r\nsec-websocket-version:")) {
                Ok(found)
            } else {
                Err(Trouble::broken(format!("{found}, without Sec-WebSocket-Version")))
            }
        },
    },
    Case {
        name: "key-missing",
        asks: "a request without Sec-WebSocket-Key is refused",
        source: "RFC 6455 section 4.2.1",
        run: |probe| refused(probe.ask(&[], |head| without(head, "Sec-WebSocket-Key"))?.as_deref()),
    },
    Case {
        name: "key-too-short",
        asks: "a request whose Sec-WebSocket-Key is of 15 octets is refused",
        source: "RFC 6455 section 4.2.1",
        run: |probe| {
            let head = probe.ask(&[], |head| {
                let short = "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4P\r\n\r\n";
                without(head, "Sec-WebSocket-Key").replace("\r\n\r\n", &format!("\r\n{short}"))
            })?;
            refused(head.as_deref())
        },
    },
    Case {
        name: "host-missing",
        asks: "a request without Host is refused",
        source: "RFC 6455 section 4.2.1",
        run: |probe| refused(probe.ask(&[], |head| without(head, "Host"))?.as_deref()),
    },
    Case {
        name: "post",
        asks: "a POST is not taken for a handshake",
        source: "RFC 6455 section 4.2.1",
        run: |probe| not_taken(probe.ask(&[], |head| head.replacen("GET ", "POST ", 1))?.as_deref()),
    },
    Case {
        name: "extension-grammar",
        asks: "a Sec-WebSocket-Extensions that breaks the grammar begins no connection",
        source: "RFC 6455 section 9.1",
        run: |probe| not_taken(probe.ask(&["permessage-deflate; ="], str::to_owned)?.as_deref()),
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

/// The server must answer with an error of HTTP.
fn refused(head: Option<&str>) -> Result<String, Trouble> {
    let found = not_taken(head)?;
    match head.map(status) {
        Some(400..=599) => Ok(found),
        _ => Err(Trouble::broken(format!("{found} where an error of HTTP is due"))),
    }
}

/// The server must not switch to WebSocket.
fn not_taken(head: Option<&str>) -> Result<String, Trouble> {
    match head.map(status) {
        None => Ok("it ends the connection without an answer".to_owned()),
        Some(101) => Err(Trouble::broken("it switches to WebSocket all the same")),
        Some(status) => Ok(format!("it answers with {status}")),
    }
}

/// The number in a response's first line; 0 where there is none.
fn status(head: &str) -> u16 {
    let number = head.split(' ').nth(1).and_then(|number| number.parse().ok());
    number.unwrap_or_default()
}
