//! How are real servers told a setting of permessage-deflate? What one of them cannot be told is said in its note.
//!
//! What each takes is read in its source: ws 8 (`lib/permessage-deflate.js`), uWebSockets 20 (`src/PerMessageDeflate.h`), websockets 16
//! (`permessage_deflate.py`), Jetty 12 (`PerMessageDeflateExtension.java`).

use super::{Deflate, Implementation, Snippet, Strategy};

/// Every implementation's snippet for a server that compresses with `server`, and asks its clients for the window and takeover of `client`,
/// if any is given. A client's level, mem level and strategy are its own affair: RFC 7692 has no words for them.
pub fn all(server: &Deflate, client: Option<&Deflate>) -> Vec<Snippet> {
    vec![
        ws(server, client),
        uwebsockets(server),
        python_websockets(server, client),
        jetty(server, client),
    ]
}

fn ws(server: &Deflate, client: Option<&Deflate>) -> Snippet {
    let mut zlib = format!("level: {}, memLevel: {}", server.level, server.mem_level);
    if server.strategy != Strategy::Default {
        zlib += &format!(", strategy: zlib.constants.{}", constant(server.strategy));
    }
    let mut text = format!(
        "const server = new WebSocketServer({{\n  port: 8080,\n  perMessageDeflate: {{\n    serverMaxWindowBits: {},\n    \
         serverNoContextTakeover: {},\n",
        server.window_bits, !server.takeover
    );
    if let Some(client) = client {
        text += &format!("    clientNoContextTakeover: {},\n", !client.takeover);
        if client.window_bits < 15 {
            text += &format!("    clientMaxWindowBits: {},\n", client.window_bits);
        }
    }
    text += &format!("    zlibDeflateOptions: {{ {zlib} }},\n    threshold: 0,\n  }},\n}});\n");
    let mut note = "Node.js, ws 8. The threshold of 1,024 octets that it has unless told otherwise leaves shorter messages uncompressed where \
                    there is no context takeover; 0 compresses all, as was measured."
        .to_owned();
    if client.is_some_and(|client| client.window_bits < 15) {
        note += " A client that does not offer client_max_window_bits is refused the extension: leave that line out where there are such.";
    }
    if server.strategy != Strategy::Default {
        note += " Needs `import zlib from 'node:zlib'`.";
    }
    Snippet {
        implementation: Implementation::Ws,
        text,
        note,
    }
}

/// The names of its window bits and mem levels, which come in pairs.
const DEDICATED: [(u8, u8, &str); 8] = [
    (9, 1, "3KB"),
    (9, 2, "4KB"),
    (10, 3, "8KB"),
    (11, 4, "16KB"),
    (12, 5, "32KB"),
    (13, 6, "64KB"),
    (14, 7, "128KB"),
    (15, 8, "256KB"),
];

fn uwebsockets(server: &Deflate) -> Snippet {
    // The pair with the window wanted, and of two the one whose mem level is nearer.
    let window_bits = server.window_bits.max(9);
    let (_, mem_level, name) = DEDICATED
        .iter()
        .filter(|(bits, ..)| *bits == window_bits)
        .min_by_key(|(_, mem_level, _)| mem_level.abs_diff(server.mem_level))
        .expect("the pairs have every window from 9 to 15");
    let (compression, mut lacks) = if server.takeover {
        let mem_level = (*mem_level != server.mem_level).then(|| format!("mem level ({mem_level})"));
        (format!("uWS.DEDICATED_COMPRESSOR_{name}"), Vec::from_iter(mem_level))
    } else {
        // One context for all connections, reset after each message: window and mem level cost next to nothing.
        let lacks = if (window_bits, server.mem_level) == (15, 8) {
            Vec::new()
        } else {
            vec!["window bits (15)".to_owned(), "mem level (8)".to_owned()]
        };
        ("uWS.SHARED_COMPRESSOR".to_owned(), lacks)
    };
    if server.level != 6 {
        lacks.push("level (6)".to_owned());
    }
    if server.strategy != Strategy::Default {
        lacks.push("strategy (default)".to_owned());
    }
    let mut note = "Node.js; in C++ the constant is uWS::CompressOptions::… of the same name.".to_owned();
    if lacks.is_empty() {
        note += " This is the setting as recommended.";
    } else {
        note += &format!(
            " It gives no choice of {}: its own is in brackets; look its ratio up in the table.",
            listed(&lacks)
        );
    }
    Snippet {
        implementation: Implementation::UWebSockets,
        text: format!(
            "uWS.App().ws('/*', {{\n  compression: {compression},\n  message: (ws, message, isBinary) => {{\n    ws.send(message, isBinary, true);\n  \
             }},\n}});\n"
        ),
        note,
    }
}

fn python_websockets(server: &Deflate, client: Option<&Deflate>) -> Snippet {
    let mut text = format!(
        "import zlib\nfrom websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory\n\n\
         deflate = ServerPerMessageDeflateFactory(\n    server_max_window_bits={},\n    server_no_context_takeover={},\n",
        server.window_bits,
        python(!server.takeover)
    );
    if let Some(client) = client {
        text += &format!(
            "    client_max_window_bits={},\n    client_no_context_takeover={},\n",
            client.window_bits,
            python(!client.takeover)
        );
    }
    text += &format!(
        "    compress_settings={{\"level\": {}, \"memLevel\": {}, \"strategy\": zlib.{}}},\n)\n\
         server = serve(handler, host, port, extensions=[deflate], compression=None)\n",
        server.level,
        server.mem_level,
        constant(server.strategy)
    );
    let mut note =
        "Python, websockets 10 and later; without settings of its own it takes window bits 12 and mem level 5."
            .to_owned();
    if server.window_bits == 8 {
        note += " zlib has no raw stream of 8 window bits: write 9 where connections fail.";
    }
    Snippet {
        implementation: Implementation::PythonWebsockets,
        text,
        note,
    }
}

fn jetty(server: &Deflate, client: Option<&Deflate>) -> Snippet {
    let mut offer = "permessage-deflate".to_owned();
    if !server.takeover {
        offer += "; server_no_context_takeover";
    }
    if client.is_some_and(|client| !client.takeover) {
        offer += "; client_no_context_takeover";
    }
    let mut text = format!(
        "server.addBean(new DeflaterPool(CompressionPool.DEFAULT_CAPACITY, {}, true));\n",
        server.level
    );
    if offer.contains(';') {
        text += &format!(
            "\n// where a connection is upgraded, if the client offers the extension:\n\
             response.setExtensions(List.of(ExtensionConfig.parse(\"{offer}\")));\n"
        );
    }
    let mut lacks = Vec::new();
    if server.window_bits != 15 || client.is_some_and(|client| client.window_bits != 15) {
        lacks.push("window bits (15)".to_owned());
    }
    if server.mem_level != 8 {
        lacks.push("mem level (8)".to_owned());
    }
    if server.strategy != Strategy::Default {
        lacks.push("strategy (default)".to_owned());
    }
    let mut note = "Java, Jetty 12; before the server starts.".to_owned();
    if lacks.is_empty() {
        note += " This is the setting as recommended.";
    } else {
        note += &format!(
            " java.util.zip gives no choice of {}: its own is in brackets, and a context takes what the table says of that setting.",
            listed(&lacks)
        );
    }
    Snippet {
        implementation: Implementation::Jetty,
        text,
        note,
    }
}

/// zlib's constant, which Node.js and Python name alike.
const fn constant(strategy: Strategy) -> &'static str {
    match strategy {
        Strategy::Default => "Z_DEFAULT_STRATEGY",
        Strategy::Filtered => "Z_FILTERED",
        Strategy::HuffmanOnly => "Z_HUFFMAN_ONLY",
        Strategy::Rle => "Z_RLE",
        Strategy::Fixed => "Z_FIXED",
    }
}

const fn python(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Deflate = Deflate {
        window_bits: 11,
        mem_level: 4,
        ..Deflate::DEFAULT
    };

    fn of(implementation: Implementation, server: &Deflate, client: Option<&Deflate>) -> Snippet {
        let found = all(server, client)
            .into_iter()
            .find(|snippet| snippet.implementation == implementation);
        found.expect("each has a snippet")
    }

    #[test]
    fn each_server_is_told_all_that_it_can_be_told() {
        let ws = of(Implementation::Ws, &SMALL, None);
        assert!(ws.text.contains("serverMaxWindowBits: 11") && ws.text.contains("level: 6, memLevel: 4"));
        assert!(ws.text.contains("serverNoContextTakeover: false") && !ws.text.contains("client"));
        let python = of(Implementation::PythonWebsockets, &SMALL, Some(&SMALL));
        assert!(python.text.contains("server_max_window_bits=11") && python.text.contains("client_max_window_bits=11"));
        let uwebsockets = of(Implementation::UWebSockets, &SMALL, None);
        assert!(uwebsockets.text.contains("DEDICATED_COMPRESSOR_16KB,") && uwebsockets.note.contains("as recommended"));
    }

    #[test]
    fn what_a_server_cannot_be_told_is_said() {
        let hard = Deflate {
            level: 9,
            mem_level: 9,
            strategy: Strategy::Filtered,
            ..SMALL
        };
        let uwebsockets = of(Implementation::UWebSockets, &hard, None);
        assert!(
            uwebsockets
                .note
                .contains("no choice of mem level (4), level (6) and strategy (default)"),
            "{}",
            uwebsockets.note
        );
        let jetty = of(Implementation::Jetty, &hard, None);
        assert!(
            jetty
                .note
                .contains("window bits (15), mem level (8) and strategy (default)")
        );
        assert!(jetty.text.contains("DEFAULT_CAPACITY, 9, true"));
        assert!(
            of(Implementation::Jetty, &Deflate::DEFAULT, None)
                .note
                .contains("as recommended")
        );
    }

    #[test]
    fn a_window_of_8_bits_is_the_pair_that_runs_it() {
        let eight = Deflate {
            window_bits: 8,
            mem_level: 9,
            ..Deflate::DEFAULT
        };
        assert!(
            of(Implementation::UWebSockets, &eight, None)
                .text
                .contains("COMPRESSOR_4KB,")
        );
    }

    #[test]
    fn without_takeover_contexts_are_shared() {
        let off = Deflate {
            takeover: false,
            ..Deflate::DEFAULT
        };
        assert!(
            of(Implementation::UWebSockets, &off, None)
                .text
                .contains("SHARED_COMPRESSOR,")
        );
        assert!(
            of(Implementation::Ws, &off, None)
                .text
                .contains("serverNoContextTakeover: true")
        );
        let jetty = of(Implementation::Jetty, &off, Some(&off));
        assert!(
            jetty
                .text
                .contains("\"permessage-deflate; server_no_context_takeover; client_no_context_takeover\"")
        );
    }
}
