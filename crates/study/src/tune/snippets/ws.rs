//! What does ws need to be told? (Node.js; `doc/ws.md` of ws 8, and the options of Node's zlib that it passes on.)

use super::{CLIENTS_WINDOW, Wanted};
use lastmile_payload::message_codec::{Deflate, Strategy};
use lastmile_report::tune::{Implementation, Snippet};

pub(super) fn snippet(wanted: &Wanted<'_>) -> Snippet {
    let (text, note) = match wanted.deflate {
        None => (
            "const wss = new WebSocketServer({ port: 8080, perMessageDeflate: false });\n".to_owned(),
            "Messages are left as they are, which ws does unless told otherwise.".to_owned(),
        ),
        Some(deflate) => (
            options(deflate),
            format!(
                "Instead of `perMessageDeflate: true`. With a threshold of 0 short messages are compressed too: unless told, ws leaves those \
                 below 1,024 B as they are where there is no context takeover. {CLIENTS_WINDOW} ws could refuse those clients with \
                 clientMaxWindowBits; that is left out here, as the connection would then fail."
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
    let no_takeover = !deflate.takeover;
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
    format!(
        "import {{ WebSocketServer }} from 'ws';\n{import}\n\
         const wss = new WebSocketServer({{\n  port: 8080,\n  perMessageDeflate: {{\n    \
         serverNoContextTakeover: {no_takeover},\n    clientNoContextTakeover: {no_takeover},\n    \
         serverMaxWindowBits: {},\n    \
         zlibDeflateOptions: {{ level: {}, memLevel: {}{strategy} }},\n    \
         threshold: 0,\n  }},\n}});\n",
        deflate.window_bits.runs_as().get(),
        deflate.level,
        deflate.mem_level,
    )
}
