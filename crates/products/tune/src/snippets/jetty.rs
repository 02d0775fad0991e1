//! The configuration of Jetty (Jetty 12: `WebSocketServerComponents`, `DeflaterPool`, `PerMessageDeflateExtension`).
//!
//! Jetty compresses with `java.util.zip.Deflater`. Its pools set the level, but neither window bits nor mem level nor strategy; it does not
//! negotiate window sizes.

use super::SnippetRequest;
use crate::record::{Implementation, Snippet};
use lastmile_codec::message::{Deflate, Strategy, WindowBits};

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> Snippet {
    let implementation = Implementation::Jetty;
    let Some(deflate) = wanted.deflate else {
        return Snippet {
            implementation,
            text: written(
                &[UTIL_LIST, UPGRADE_HANDLER],
                "",
                "        response.setExtensions(List.of());\n",
            ),
            note: "Without this Jetty compresses for every client that offers permessage-deflate.".to_owned(),
        };
    };
    let does = Deflate {
        window_bits: WindowBits::MAX,
        mem_level: 8,
        strategy: Strategy::Default,
        ..deflate
    };
    // The pool's last argument selects raw deflate, without a zlib header.
    let pool = format!(
        "// Before the handler, which reads it when it is made. Window bits are always 15 and mem level 8: Jetty can set neither.\n\
         context.setAttribute(\"jetty.websocket.deflater\", new DeflaterPool(1024, {}, true));\n",
        deflate.level
    );
    let text = if deflate.takeover {
        written(&[DEFLATER_POOL, UPGRADE_HANDLER], &pool, "")
    } else {
        let imports = [UTIL_LIST, DEFLATER_POOL, EXTENSION_CONFIG, UPGRADE_HANDLER];
        written(&imports, &pool, NO_TAKEOVER)
    };
    let mut note = "Endpoint is your own class. Jetty writes compressed messages through buffers of 8 KiB, and fragments longer ones; the internal \
                    parameter @deflate_buffer_size of the extension sets another size."
        .to_owned();
    note += &wanted.substitute_note("Jetty", does).unwrap_or_default();
    Snippet {
        implementation,
        text,
        note,
    }
}

const UTIL_LIST: &str = "java.util.List";
const DEFLATER_POOL: &str = "org.eclipse.jetty.util.compression.DeflaterPool";
const EXTENSION_CONFIG: &str = "org.eclipse.jetty.websocket.api.ExtensionConfig";
const UPGRADE_HANDLER: &str = "org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler";

/// The response may include the extension only if the client offers it.
const NO_TAKEOVER: &str = "        if (request.getExtensions().stream().anyMatch(offered -> offered.getName().equals(\"permessage-deflate\"))) {\n            \
                           response.setExtensions(List.of(ExtensionConfig.parse(\n                \
                           \"permessage-deflate;server_no_context_takeover;client_no_context_takeover\")));\n        }\n";

/// A handler that runs `each` before it makes an endpoint.
fn written(imports: &[&str], before: &str, each: &str) -> String {
    let imports: String = imports.iter().map(|class| format!("import {class};\n")).collect();
    format!(
        "{imports}\n{before}context.setHandler(WebSocketUpgradeHandler.from(server, context, container ->\n    \
         container.addMapping(\"/*\", (request, response, callback) -> {{\n{each}        return new Endpoint();\n    }})));\n"
    )
}
