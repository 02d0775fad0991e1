//! What does ws need to be told? (Node.js; `doc/ws.md` of ws 8, `acceptAsServer` of its `lib/permessage-deflate.js`, and the options of
//! Node's zlib that it passes on.)
//!
//! Where ws is told a number of window bits, or that there is takeover, it refuses the whole handshake of a client that offers otherwise. So it is
//! told nothing that it does anyway, and nothing that browsers do not offer.

use super::{CLIENTS_WINDOW, Wanted};
use lastmile_payload::message_codec::{Deflate, Strategy, WindowBits};
use lastmile_report::tune::{Implementation, Snippet};

pub(super) fn snippet(wanted: &Wanted<'_>) -> Snippet {
    let (text, note) = match wanted.deflate {
        None => (
            "import { WebSocketServer } from 'ws';\n\nconst wss = new WebSocketServer({ port: 8080, perMessageDeflate: false });\n".to_owned(),
            "Messages are left as they are, which ws does unless told otherwise.".to_owned(),
        ),
        Some(deflate) => (
            options(deflate),
            format!(
                "Instead of `perMessageDeflate: true`. {CLIENTS_WINDOW} Node compresses by Chromium's zlib, whose sizes are some per cent \
                 from those of stock zlib, on which figures here rest: of a chat 1 to 2 % more at level 6, and 3 % less at level 1."
            ),
        ),
    };
    Snippet {
        implementation: Implementation::Ws,
        text,
        note,
    }
}

fn options(deflate: Deflate) -> String {
    let strategy = match deflate.strategy {
        Strategy::Default => "Z_DEFAULT_STRATEGY",
        Strategy::Filtered => "Z_FILTERED",
        Strategy::HuffmanOnly => "Z_HUFFMAN_ONLY",
        Strategy::Rle => "Z_RLE",
        Strategy::Fixed => "Z_FIXED",
    };
    let (import, strategy) = if deflate.strategy == Strategy::Default {
        ("", String::new())
    } else {
        (
            "import { constants } from 'node:zlib';\n",
            format!(", strategy: constants.{strategy}"),
        )
    };
    let takeover = if deflate.takeover {
        ""
    } else {
        "    serverNoContextTakeover: true,\n    clientNoContextTakeover: true,\n"
    };
    let bits = deflate.window_bits.runs_as();
    let window = if bits < WindowBits::MAX {
        format!(
            "    // With this ws refuses clients that allow a server fewer bits. No browser does.\n    serverMaxWindowBits: {},\n    \
             // clientMaxWindowBits is left out: with it ws refuses clients that do not offer it, and Firefox does not.\n",
            bits.get()
        )
    } else {
        String::new()
    };
    format!(
        "import {{ WebSocketServer }} from 'ws';\n{import}\n\
         const wss = new WebSocketServer({{\n  port: 8080,\n  perMessageDeflate: {{\n{takeover}{window}    \
         zlibDeflateOptions: {{ level: {}, memLevel: {}{strategy} }},\n    \
         // Or else, without context takeover, messages below 1,024 B are left as they are.\n    \
         threshold: 0,\n  }},\n}});\n",
        deflate.level, deflate.mem_level,
    )
}
