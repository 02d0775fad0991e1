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
            text: "container.addMapping(\"/*\", (request, response, callback) -> {\n    response.setExtensions(List.of());\n    return new \
                   Endpoint();\n});\n"
                .to_owned(),
            note: "Without this Jetty compresses for every client that offers permessage-deflate.".to_owned(),
        };
    };
    let does = Deflate {
        window_bits: WindowBits::MAX,
        mem_level: 8,
        strategy: Strategy::Default,
        ..deflate
    };
    let mut text = format!(
        "// Before the server starts. Raw deflate: the last argument.\n\
         context.setAttribute(\"jetty.websocket.deflater\", new DeflaterPool(1024, {}, true));\n",
        deflate.level
    );
    if !deflate.takeover {
        text += "\ncontainer.addMapping(\"/*\", (request, response, callback) -> {\n    response.setExtensions(List.of(ExtensionConfig.parse(\n        \
                 \"permessage-deflate;server_no_context_takeover;client_no_context_takeover\")));\n    return new Endpoint();\n});\n";
    }
    let mut note = "Jetty writes compressed messages through buffers of 8 KiB, fragmented where they are longer; the internal parameter \
                    @deflate_buffer_size of the extension sets another size."
        .to_owned();
    if !deflate.takeover {
        note += " Only clients that offer permessage-deflate may be answered with it: look at request.getExtensions() first.";
    }
    note += &wanted.instead("Jetty", does).unwrap_or_default();
    Snippet {
        implementation,
        text,
        note,
    }
}
