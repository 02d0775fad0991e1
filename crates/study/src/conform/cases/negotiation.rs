//! Is permessage-deflate negotiated as RFC 7692 section 7.1 has it, and kept to?

use crate::conform::connection::{Connection, incompressible};
use crate::conform::trouble::Trouble;
use crate::conform::{Case, Probe};
use lastmile_payload::message_codec::WindowBits;
use lastmile_units::Bytes;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "bare-offer",
        asks: "after the offer permessage-deflate, message after message comes back",
        source: "RFC 7692 section 7.1",
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate"])?;
            connection.agreement()?;
            let mut compressed = 0;
            for number in 0..64 {
                let text = format!("{{\"type\":\"news\",\"number\":{number},\"text\":\"so much the same\"}}");
                compressed += u32::from(connection.echoes(&text)?.is_compressed);
            }
            Ok(format!(
                "{} ; {compressed} of 64 messages come back compressed",
                connection.answered()
            )
            .replace(" ;", ";"))
        },
    },
    Case {
        name: "client-window-without-value",
        asks: "client_max_window_bits without a value is taken, and messages come back",
        source: "RFC 7692 section 7.1.2.2",
        run: |probe| agreed(probe, "permessage-deflate; client_max_window_bits"),
    },
    Case {
        name: "client-window-with-value",
        asks: "client_max_window_bits=10, a hint, is taken or passed over, and messages come back",
        source: "RFC 7692 section 7.1.2.2",
        // The server "may either ignore this value or use this value"; the client keeps to 10 even where the answer's is greater.
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate; client_max_window_bits=10"])?;
            let found = exchanged(&mut connection)?;
            match connection
                .answered_value("client_max_window_bits")
                .map(str::parse::<u8>)
            {
                Some(Ok(bits)) if bits <= 10 => Ok(found),
                _ => Ok(format!("{found}: it passes the hint over, as it may")),
            }
        },
    },
    Case {
        name: "quoted-value",
        asks: "a value in quotes means the same as without them",
        source: "RFC 7692 section 5.2, RFC 6455 section 9.1",
        run: |probe| {
            let quoted = probe.open(&["permessage-deflate; server_max_window_bits=\"12\""])?;
            let bare = probe.open(&["permessage-deflate; server_max_window_bits=12"])?;
            if quoted.has_extension() == bare.has_extension() {
                Ok(answer(&quoted))
            } else {
                Err(Trouble::broken(format!(
                    "with quotes: {}; without: {}",
                    answer(&quoted),
                    answer(&bare)
                )))
            }
        },
    },
    Case {
        name: "server-window-9",
        asks: "with server_max_window_bits=9 the server refers back no farther than 512 octets, or declines",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| window(probe, 9),
    },
    Case {
        name: "server-window-8",
        asks: "with server_max_window_bits=8 the server refers back no farther than 256 octets, or declines",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| window(probe, 8),
    },
    Case {
        name: "server-window-12",
        asks: "with server_max_window_bits=12 the server refers back no farther than 4,096 octets, or declines",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| window(probe, 12),
    },
    Case {
        name: "server-window-15",
        asks: "server_max_window_bits=15 is answered with a number, or declined",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| agreed(probe, "permessage-deflate; server_max_window_bits=15"),
    },
    Case {
        name: "unasked-limits",
        asks: "what the answer to a bare offer says of the server's window and takeover, the server keeps to",
        source: "RFC 7692 sections 7.1.1.1 and 7.1.2.1",
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate"])?;
            let server = connection.agreement()?.server;
            if server.window_bits < WindowBits::MAX {
                stays_within_its_window(&mut connection)?;
            }
            if !server.takeover {
                forgets(&mut connection)?;
            }
            Ok(connection.answered())
        },
    },
    Case {
        name: "server-without-takeover",
        asks: "with server_no_context_takeover no message refers to the one before, or the offer is declined",
        source: "RFC 7692 section 7.1.1.1",
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate; server_no_context_takeover"])?;
            connection.agreement()?;
            forgets(&mut connection)?;
            Ok(connection.answered())
        },
    },
    Case {
        name: "client-without-takeover",
        asks: "client_no_context_takeover is taken, and messages come back",
        source: "RFC 7692 section 7.1.1.2",
        run: |probe| agreed(probe, "permessage-deflate; client_no_context_takeover"),
    },
    Case {
        name: "unknown-parameter",
        asks: "an offer with an unknown parameter is declined",
        source: "RFC 7692 section 7.1",
        run: |probe| declined(probe, &["permessage-deflate; client_max_window_bytes=512"]),
    },
    Case {
        name: "parameter-twice",
        asks: "an offer with a parameter twice is declined",
        source: "RFC 7692 section 7.1",
        run: |probe| {
            declined(
                probe,
                &["permessage-deflate; server_max_window_bits=12; server_max_window_bits=12"],
            )
        },
    },
    Case {
        name: "window-7",
        asks: "an offer with server_max_window_bits=7 is declined",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| declined(probe, &["permessage-deflate; server_max_window_bits=7"]),
    },
    Case {
        name: "window-16",
        asks: "an offer with server_max_window_bits=16 is declined",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| declined(probe, &["permessage-deflate; server_max_window_bits=16"]),
    },
    Case {
        name: "window-with-leading-zero",
        asks: "an offer with server_max_window_bits=010 is declined",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| declined(probe, &["permessage-deflate; server_max_window_bits=010"]),
    },
    Case {
        name: "server-window-without-value",
        asks: "an offer with server_max_window_bits without its value is declined",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| declined(probe, &["permessage-deflate; server_max_window_bits"]),
    },
    Case {
        name: "value-where-none-is",
        asks: "an offer with server_no_context_takeover=true is declined",
        source: "RFC 7692 section 7.1.1.1",
        run: |probe| declined(probe, &["permessage-deflate; server_no_context_takeover=true"]),
    },
    Case {
        name: "fallback",
        asks: "of two offers, the first of which must be declined, the second is taken",
        source: "RFC 7692 section 5.2",
        run: |probe| {
            probe.open(&["permessage-deflate"])?.agreement()?;
            let lines = ["permessage-deflate; client_max_window_bytes=512, permessage-deflate"];
            let mut connection = probe.open(&lines)?;
            if !connection.has_extension() {
                return Err(Trouble::broken(
                    "it takes permessage-deflate alone, and declines it as the second of two",
                ));
            }
            connection.echoes("the second will do")?;
            Ok(connection.answered())
        },
    },
    Case {
        name: "two-lines",
        asks: "offers on two lines of the head are one list",
        source: "RFC 6455 section 9.1",
        run: |probe| {
            probe.open(&["permessage-deflate"])?.agreement()?;
            let mut connection = probe.open(&["x-unknown; a=b", "permessage-deflate"])?;
            if !connection.has_extension() {
                return Err(Trouble::broken(
                    "it takes permessage-deflate alone, and not on a second line",
                ));
            }
            connection.echoes("on the second line")?;
            Ok(connection.answered())
        },
    },
    Case {
        name: "client-window-not-offered",
        asks: "an answer never limits the client's window where the client did not say that it may",
        source: "RFC 7692 section 7.1.2.2",
        // That an answer fits its offer is looked at wherever one is opened; nothing else of this one could fail to.
        run: |probe| agreed(probe, "permessage-deflate"),
    },
];

fn answer(connection: &Connection) -> String {
    if connection.has_extension() {
        connection.answered()
    } else {
        "it declines".to_owned()
    }
}

/// The server takes the offer or declines it; either way a message comes back.
fn agreed(probe: &Probe<'_>, offer: &str) -> Result<String, Trouble> {
    exchanged(&mut probe.open(&[offer])?)
}

/// Messages come back, compressed or not; says what was agreed on.
fn exchanged(connection: &mut Connection) -> Result<String, Trouble> {
    connection.echoes("either way this comes back")?;
    connection.echoes("either way this comes back, and this too")?;
    connection.agreement()?;
    Ok(connection.answered())
}

/// The server must not answer with the extension, and messages come back uncompressed.
fn declined(probe: &Probe<'_>, lines: &[&str]) -> Result<String, Trouble> {
    match probe.open(lines) {
        Ok(mut connection) if !connection.has_extension() => {
            connection.echoes("without an extension")?;
            Ok("it declines".to_owned())
        }
        Ok(connection) => Err(Trouble::broken(format!("it answers {}", connection.answered()))),
        // Harsher than need be: the connection could have gone on without the extension.
        Err(Trouble::Broken(found) | Trouble::NotOpened(found)) => Err(Trouble::broken(format!(
            "it does not go on without the extension: {found}"
        ))),
        Err(other) => Err(other),
    }
}

/// Whether the server, asked for a window of 2^`bits`, stays within the one that it answers.
fn window(probe: &Probe<'_>, bits: u8) -> Result<String, Trouble> {
    let mut connection = probe.open(&[&format!("permessage-deflate; server_max_window_bits={bits}")])?;
    connection.agreement()?;
    stays_within_its_window(&mut connection)?;
    Ok(connection.answered())
}

/// The same random octets, farther apart than the window that was agreed on, must not come back shorter.
fn stays_within_its_window(connection: &mut Connection) -> Result<(), Trouble> {
    let window = 1 << connection.agreement()?.server.window_bits.get();
    let repeated = incompressible("repeated", Bytes::new(200));
    let mut octets = repeated.clone();
    octets.extend(incompressible("between", Bytes::new(window)));
    octets.extend(&repeated);
    let message = connection.echoes_octets(&octets)?;
    let plain = octets.len() as u64;
    // What cannot be shortened costs a few octets more; what is referred to saves nearly all of its 200.
    if message.is_compressed && message.coded_bytes.get() + 100 < plain {
        return Err(Trouble::broken(format!(
            "{plain} octets came back in {}: it refers back farther than the {window} of its answer {}",
            message.coded_bytes,
            connection.answered()
        )));
    }
    Ok(())
}

/// The same random octets must not come back shorter the second time.
fn forgets(connection: &mut Connection) -> Result<(), Trouble> {
    let octets = incompressible("takeover", Bytes::new(1000));
    connection.echoes_octets(&octets)?;
    let again = connection.echoes_octets(&octets)?;
    if again.is_compressed && again.coded_bytes < Bytes::new(900) {
        return Err(Trouble::broken(format!(
            "1,000 random octets came back a second time in {}: it refers to the message before",
            again.coded_bytes
        )));
    }
    Ok(())
}
