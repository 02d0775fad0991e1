//! The configuration of Python's websockets (`websockets.extensions.permessage_deflate`, and `zlib.compressobj`, which it calls).

use super::{CLIENTS_WINDOW, SnippetRequest, zlib_constant};
use crate::record::{Implementation, Snippet};
use lastmile_codec::message::{Deflate, Strategy, WindowBits};

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> Snippet {
    let (text, note) = match wanted.deflate {
        None => (
            "from websockets.asyncio.server import serve\n\n\
             async with serve(handler, host, port, compression=None) as server:\n    await server.serve_forever()\n"
                .to_owned(),
            "Without compression=None websockets compresses every message.".to_owned(),
        ),
        Some(deflate) => (
            options(deflate),
            format!(
                "unix_serve accepts the same factory. By default websockets uses 12 window bits and mem level 5. {CLIENTS_WINDOW} With \
                 require_client_max_window_bits=True such a client gets no compression at all."
            ),
        ),
    };
    Snippet {
        implementation: Implementation::PythonWebsockets,
        text,
        note,
    }
}

fn options(deflate: Deflate) -> String {
    let takeover = if deflate.takeover {
        ""
    } else {
        "            server_no_context_takeover=True,\n            client_no_context_takeover=True,\n"
    };
    let (import, strategy) = match deflate.strategy {
        Strategy::Default => ("", String::new()),
        other => (
            "import zlib\n",
            format!(", \"strategy\": zlib.{}", zlib_constant(other)),
        ),
    };
    let bits = deflate.window_bits.runs_as();
    let clients = if bits < WindowBits::MAX {
        "            # Only for clients that offer it; Firefox does not, and keeps 15.\n"
    } else {
        ""
    };
    format!(
        "{import}from websockets.asyncio.server import serve\n\
         from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory\n\n\
         async with serve(\n    handler, host, port,\n    extensions=[\n        ServerPerMessageDeflateFactory(\n{takeover}            \
         server_max_window_bits={bits},\n{clients}            client_max_window_bits={bits},\n            \
         compress_settings={{\"level\": {}, \"memLevel\": {}{strategy}}},\n        ),\n    ],\n) as server:\n    \
         await server.serve_forever()\n",
        deflate.level,
        deflate.mem_level,
        bits = bits.get(),
    )
}
