//! What does Caddy need to be told? (The directives encode and file_server, 2.8 or later.)

use super::{LEAST_LENGTH, Wanted};
use lastmile_payload::codec::{CodecSpec, Coding};
use lastmile_payload::traffic::Origin;
use lastmile_report::advise::{Server, Snippet};

/// The levels that Caddy's zstd has, by name, and the levels of libzstd that its implementation (klauspost/compress, `zstd`) says they
/// are about equal to.
const LEVELS: [(u8, &str); 4] = [(1, "fastest"), (3, "default"), (7, "better"), (11, "best")];

pub(super) fn snippet(wanted: &Wanted<'_>) -> Snippet {
    let level = |codec: CodecSpec| {
        LEVELS
            .iter()
            .find(|(level, _)| *level == codec.level())
            .map(|(_, name)| *name)
    };
    let gzip = wanted.best(Origin::Dynamic, |codec| codec.coding() == Coding::Gzip);
    let zstd = wanted.best(Origin::Dynamic, |codec| {
        codec.coding() == Coding::Zstd && level(codec).is_some()
    });
    let does = wanted.best(Origin::Dynamic, |codec| match codec.coding() {
        Coding::Gzip => true,
        Coding::Zstd => level(codec).is_some(),
        Coding::Identity | Coding::Deflate | Coding::Brotli => false,
    });
    let zstd_first = does.is_some_and(|codec| codec.coding() == Coding::Zstd);
    let mut text = String::new();
    if does.is_some() {
        text += "# What is made on request.\nencode {\n";
        // The order is that of preference, where a client takes several.
        let zstd = zstd
            .and_then(level)
            .map(|name| format!("    zstd {name}\n"))
            .unwrap_or_default();
        let gzip = gzip
            .map(|codec| format!("    gzip {}\n", codec.level()))
            .unwrap_or_default();
        text += &if zstd_first {
            format!("{zstd}{gzip}")
        } else {
            format!("{gzip}{zstd}")
        };
        text += &format!("    minimum_length {LEAST_LENGTH}\n    match {{\n");
        for media_type in wanted.types(Origin::Dynamic) {
            text += &format!("        header Content-Type {media_type}*\n");
        }
        text += "    }\n}\n";
    }
    let codings = [Coding::Brotli, Coding::Zstd, Coding::Gzip];
    let beforehand: Vec<&str> = codings
        .into_iter()
        .filter(|coding| wanted.beforehand(*coding).is_some())
        .map(Coding::token)
        .collect();
    if !beforehand.is_empty() {
        text += "\n# Files, compressed beforehand: app.js.br, app.js.zst and app.js.gz beside app.js.\n";
        text += &format!("file_server {{\n    precompressed {}\n}}\n", beforehand.join(" "));
    }
    let mut note = "In a site block. Caddy has no br of its own for what is made on request; its zstd has four levels. Its least length is \
                    512 B unless told otherwise, and looks at the first piece that is written: a stream whose first piece is shorter is not \
                    compressed at all."
        .to_owned();
    note += &wanted.beforehand_commands(&codings);
    note += &wanted.instead("Caddy", Origin::Dynamic, does).unwrap_or_default();
    Snippet {
        server: Server::Caddy,
        text,
        note,
    }
}
