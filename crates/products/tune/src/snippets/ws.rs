//! The configuration of ws, for Node.js (`doc/ws.md` of ws 8, `acceptAsServer` of its `lib/permessage-deflate.js`, and the options of Node's
//! zlib that it passes on).
//!
//! If window bits or takeover are configured, ws refuses the whole handshake of a client that offers otherwise. So the configuration leaves out
//! defaults, and parameters that browsers do not offer.

use super::{CLIENTS_WINDOW, SnippetRequest, zlib_constant};
use crate::record::{Implementation, Snippet};
use lastmile_codec::message::{Deflate, Strategy, WindowBits};

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> Snippet {
    let (text, note) = match wanted.deflate {
        None => (
            "import { WebSocketServer } from 'ws';\n\nconst wss = new WebSocketServer({ port: 8080, perMessageDeflate: false });\n".to_owned(),
            "Messages are left uncompressed, which is the default of ws.".to_owned(),
        ),
        Some(deflate) => (
            options(deflate),
            format!(
                "Replaces `perMessageDeflate: true`. {CLIENTS_WINDOW} Node compresses with Chromium's zlib, whose sizes differ by a few per cent \
                 from those of stock zlib, which the figures here rest on: for a chat, 1 to 2 % larger at level 6, and 3 % smaller at level 1."
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
    let (import, strategy) = match deflate.strategy {
        Strategy::Default => ("", String::new()),
        other => (
            "import { constants } from 'node:zlib';\n",
            format!(", strategy: constants.{}", zlib_constant(other)),
        ),
    };
    let takeover = if deflate.takeover {
        ""
    } else {
        "    serverNoContextTakeover: true,\n    clientNoContextTakeover: true,\n"
    };
    let bits = deflate.window_bits.runs_as();
    let window = if bits < WindowBits::MAX {
        format!(
            "    // With this, ws refuses clients that limit the server to fewer bits. No browser does.\n    serverMaxWindowBits: {},\n    \
             // clientMaxWindowBits is left out: with it, ws refuses clients that do not offer it, and Firefox does not.\n",
            bits.get()
        )
    } else {
        String::new()
    };
    format!(
        "import {{ WebSocketServer }} from 'ws';\n{import}\n\
         const wss = new WebSocketServer({{\n  port: 8080,\n  perMessageDeflate: {{\n{takeover}{window}    \
         zlibDeflateOptions: {{ level: {}, memLevel: {}{strategy} }},\n    \
         // Otherwise, without context takeover, messages below 1,024 B are left uncompressed.\n    \
         threshold: 0,\n  }},\n}});\n",
        deflate.level, deflate.mem_level,
    )
}
