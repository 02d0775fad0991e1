//! What does Jetty need to be told? (Jetty 12: `WebSocketServerComponents`, `DeflaterPool`, `PerMessageDeflateExtension`.)
//!
//! It deflates by `java.util.zip.Deflater`, of which its pools set the level, and neither window bits nor a mem level nor a strategy; parameters of
//! windows are not negotiated.

use super::Wanted;
use lastmile_payload::message_codec::{Deflate, Strategy, WindowBits};
use lastmile_report::tune::{Implementation, Snippet};

pub(super) fn snippet(wanted: &Wanted<'_>) -> Snippet {
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
    // Raw deflate is what a connection that has no zlib header speaks: the pool's last argument.
    let pool = format!(
        "// Before the handler, which takes it as it is made. Window bits are always 15 and mem level 8: Jetty can be told neither.\n\
         context.setAttribute(\"jetty.websocket.deflater\", new DeflaterPool(1024, {}, true));\n",
        deflate.level
    );
    let text = if deflate.takeover {
        written(&[DEFLATER_POOL, UPGRADE_HANDLER], &pool, "")
    } else {
        let imports = [UTIL_LIST, DEFLATER_POOL, EXTENSION_CONFIG, UPGRADE_HANDLER];
        written(&imports, &pool, NO_TAKEOVER)
    };
    let mut note = "Endpoint is the class of yours. Jetty writes compressed messages through buffers of 8 KiB, fragmented where they are longer; the \
                    internal parameter @deflate_buffer_size of the extension sets another size."
        .to_owned();
    note += &wanted.instead("Jetty", does).unwrap_or_default();
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

/// Only a client that offers the extension may be answered with it.
const NO_TAKEOVER: &str = "        if (request.getExtensions().stream().anyMatch(offered -> offered.getName().equals(\"permessage-deflate\"))) {\n            \
                           response.setExtensions(List.of(ExtensionConfig.parse(\n                \
                           \"permessage-deflate;server_no_context_takeover;client_no_context_takeover\")));\n        }\n";

/// A handler whose endpoints are made after `each`.
fn written(imports: &[&str], before: &str, each: &str) -> String {
    let imports: String = imports.iter().map(|class| format!("import {class};\n")).collect();
    format!(
        "{imports}\n{before}context.setHandler(WebSocketUpgradeHandler.from(server, context, container ->\n    \
         container.addMapping(\"/*\", (request, response, callback) -> {{\n{each}        return new Endpoint();\n    }})));\n"
    )
}
