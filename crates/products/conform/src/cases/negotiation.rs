//! The negotiation of permessage-deflate (RFC 7692 section 7.1), and whether the server keeps to what it agreed.

use crate::case_error::{CaseError, broken};
use crate::connection::{Connection, incompressible};
use crate::{Case, Prober};
use lastmile_codec::message::WindowBits;
use lastmile_units::ByteCount;

pub(super) const CASES: &[Case] = &[
    Case {
        name: "bare-offer",
        asks: "after the offer permessage-deflate, 64 messages in a row come back",
        source: "RFC 7692 section 7.1",
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate"])?;
            connection.agreement()?;
            let mut compressed = 0;
            for number in 0..64 {
                let text = format!("{{\"type\":\"news\",\"number\":{number},\"text\":\"so much the same\"}}");
                compressed += u32::from(connection.echo_text(&text)?.is_compressed);
            }
            Ok(format!(
                "{}; {compressed} of 64 messages come back compressed",
                connection.extensions_text()
            ))
        },
    },
    Case {
        name: "client-window-without-value",
        asks: "client_max_window_bits without a value is accepted, and messages come back",
        source: "RFC 7692 section 7.1.2.2",
        run: |probe| agreed(probe, "permessage-deflate; client_max_window_bits"),
    },
    Case {
        name: "client-window-with-value",
        asks: "client_max_window_bits=10, a hint, is accepted or ignored, and messages come back",
        source: "RFC 7692 section 7.1.2.2",
        // The server "may either ignore this value or use this value"; the client keeps to 10 even where the answer has more.
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate; client_max_window_bits=10"])?;
            let found = exchanged(&mut connection)?;
            let answered = connection.parameter_value("client_max_window_bits");
            match answered.map(str::parse::<u8>) {
                Some(Ok(bits)) if bits <= 10 => Ok(found),
                _ => Ok(format!("{found}: it ignores the hint, which it may do")),
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
                broken(format!("with quotes: {}; without: {}", answer(&quoted), answer(&bare)))
            }
        },
    },
    Case {
        name: "server-window-9",
        asks: "with server_max_window_bits=9 the server refers back no farther than 512 bytes, or declines",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| window(probe, 9),
    },
    Case {
        name: "server-window-8",
        asks: "with server_max_window_bits=8 the server refers back no farther than 256 bytes, or declines",
        source: "RFC 7692 section 7.1.2.1",
        run: |probe| window(probe, 8),
    },
    Case {
        name: "server-window-12",
        asks: "with server_max_window_bits=12 the server refers back no farther than 4,096 bytes, or declines",
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
        asks: "the server keeps to the window and the context takeover that it answers to a bare offer",
        source: "RFC 7692 sections 7.1.1.1 and 7.1.2.1",
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate"])?;
            let server = connection.agreement()?.server;
            if server.window_bits < WindowBits::MAX {
                stays_within_its_window(&mut connection)?;
            }
            if !server.takeover {
                expect_no_takeover(&mut connection)?;
            }
            Ok(connection.extensions_text())
        },
    },
    Case {
        name: "server-without-takeover",
        asks: "with server_no_context_takeover no message refers to earlier ones, or the offer is declined",
        source: "RFC 7692 section 7.1.1.1",
        run: |probe| {
            let mut connection = probe.open(&["permessage-deflate; server_no_context_takeover"])?;
            connection.agreement()?;
            expect_no_takeover(&mut connection)?;
            Ok(connection.extensions_text())
        },
    },
    Case {
        name: "client-without-takeover",
        asks: "client_no_context_takeover is accepted, and messages come back",
        source: "RFC 7692 section 7.1.1.2",
        run: |probe| agreed(probe, "permessage-deflate; client_no_context_takeover"),
    },
];

/// A case for each offer that must be declined: what it has, its section of RFC 7692, its parameters.
macro_rules! declined_offers {
    ($($name:literal $offer:literal $section:literal $parameters:literal;)+) => {
        pub(super) const DECLINED: &[Case] = &[$(Case {
            name: $name,
            asks: concat!($offer, " is declined"),
            source: concat!("RFC 7692 section ", $section),
            run: |probe| declined(probe, concat!("permessage-deflate; ", $parameters)),
        }),+];
    };
}

declined_offers! {
    "unknown-parameter" "an offer with an unknown parameter" "7.1" "client_max_window_bytes=512";
    "parameter-twice" "an offer that repeats a parameter" "7.1" "server_max_window_bits=12; server_max_window_bits=12";
    "window-7" "an offer with server_max_window_bits=7" "7.1.2.1" "server_max_window_bits=7";
    "window-16" "an offer with server_max_window_bits=16" "7.1.2.1" "server_max_window_bits=16";
    "window-with-leading-zero" "an offer with server_max_window_bits=010" "7.1.2.1" "server_max_window_bits=010";
    "server-window-without-value" "an offer with server_max_window_bits without a value" "7.1.2.1" "server_max_window_bits";
    "value-where-none-is" "an offer with server_no_context_takeover=true" "7.1.1.1" "server_no_context_takeover=true";
}

pub(super) const SEVERAL_OFFERS: &[Case] = &[
    Case {
        name: "fallback",
        asks: "the second of two offers is accepted where the first must be declined",
        source: "RFC 7692 section 5.2",
        run: |probe| {
            let lines = ["permessage-deflate; client_max_window_bytes=512, permessage-deflate"];
            accepted_beside_others(probe, &lines, "as the second of two")
        },
    },
    Case {
        name: "two-lines",
        asks: "offers on two lines of the head are one list",
        source: "RFC 6455 section 9.1",
        run: |probe| accepted_beside_others(probe, &["x-unknown; a=b", "permessage-deflate"], "on a second line"),
    },
    Case {
        name: "client-window-not-offered",
        asks: "an answer does not limit the client's window unless the client offered client_max_window_bits",
        source: "RFC 7692 section 7.1.2.2",
        // Opening any connection checks that the answer matches the offer; this offer can fail in no other way.
        run: |probe| agreed(probe, "permessage-deflate"),
    },
];

fn answer(connection: &Connection) -> String {
    if connection.has_extension() {
        connection.extensions_text()
    } else {
        "it declines".to_owned()
    }
}

/// The server accepts the offer or declines it; either way messages come back.
fn agreed(probe: &Prober<'_>, offer: &str) -> Result<String, CaseError> {
    exchanged(&mut probe.open(&[offer])?)
}

/// Messages come back, compressed or not; returns the server's answer to the offer.
fn exchanged(connection: &mut Connection) -> Result<String, CaseError> {
    connection.echo_text("either way this comes back")?;
    connection.echo_text("either way this comes back, and this too")?;
    connection.agreement()?;
    Ok(connection.extensions_text())
}

/// Whether a server that accepts permessage-deflate as the only offer accepts it among others, too.
fn accepted_beside_others(probe: &Prober<'_>, lines: &[&str], standing: &str) -> Result<String, CaseError> {
    probe.open(&["permessage-deflate"])?.agreement()?;
    let mut connection = probe.open(lines)?;
    if !connection.has_extension() {
        return broken(format!(
            "it accepts permessage-deflate as the only offer, but not {standing}"
        ));
    }
    connection.echo_text("this offer will do")?;
    Ok(connection.extensions_text())
}

/// The server must not answer with the extension, and messages come back uncompressed.
fn declined(probe: &Prober<'_>, offer: &str) -> Result<String, CaseError> {
    match probe.open(&[offer]) {
        Ok(mut connection) if !connection.has_extension() => {
            connection.echo_text("without an extension")?;
            Ok("it declines".to_owned())
        }
        Ok(connection) => broken(format!("it answers {}", connection.extensions_text())),
        // Too strict: the connection could have continued without the extension.
        Err(CaseError::Broken(found) | CaseError::NotOpened(found)) => {
            broken(format!("it does not continue without the extension: {found}"))
        }
        Err(other) => Err(other),
    }
}

/// Asks for a window of 2^`bits` bytes; the server must stay within the window that it answers.
fn window(probe: &Prober<'_>, bits: u8) -> Result<String, CaseError> {
    let mut connection = probe.open(&[&format!("permessage-deflate; server_max_window_bits={bits}")])?;
    connection.agreement()?;
    stays_within_its_window(&mut connection)?;
    Ok(connection.extensions_text())
}

/// The same random bytes twice, farther apart than the negotiated window, must not come back shorter.
fn stays_within_its_window(connection: &mut Connection) -> Result<(), CaseError> {
    let window = 1 << connection.agreement()?.server.window_bits.get();
    let repeated = incompressible("repeated", ByteCount::new(200));
    let mut bytes = repeated.clone();
    bytes.extend(incompressible("between", ByteCount::new(window)));
    bytes.extend(&repeated);
    let message = connection.echo_bytes(&bytes)?;
    let plain = bytes.len() as u64;
    // Incompressible data grows by a few bytes; a back-reference saves nearly all of the 200.
    if message.is_compressed && message.encoded_bytes.get() + 100 < plain {
        return broken(format!(
            "{plain} bytes came back in {}: it refers back farther than the {window} bytes of its answer {}",
            message.encoded_bytes,
            connection.extensions_text()
        ));
    }
    Ok(())
}

/// The same random bytes must not come back shorter the second time.
fn expect_no_takeover(connection: &mut Connection) -> Result<(), CaseError> {
    let bytes = incompressible("takeover", ByteCount::new(1000));
    connection.echo_bytes(&bytes)?;
    let again = connection.echo_bytes(&bytes)?;
    if again.is_compressed && again.encoded_bytes < ByteCount::new(900) {
        return broken(format!(
            "1,000 random bytes came back a second time in {}: it refers to the message before",
            again.encoded_bytes
        ));
    }
    Ok(())
}
