//! The snippet for Caddy 2.8 or later (the directives encode and file_server).

use super::{LENGTH_MIN, SnippetRequest};
use lastmile_codec::content::{CodecSpec, Coding};
use lastmile_traffic::responses::Origin;

/// Caddy's zstd levels by name, with the libzstd levels that they roughly equal by the documentation of its implementation
/// (klauspost/compress, `zstd`).
const LEVELS: [(u8, &str); 4] = [(1, "fastest"), (3, "default"), (7, "better"), (11, "best")];

/// The name of a level of zstd; none where Caddy has no such level.
pub(super) fn level(codec: CodecSpec) -> Option<&'static str> {
    let named = LEVELS.iter().find(|(level, _)| *level == codec.level());
    named.map(|(_, name)| *name)
}

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> (String, String) {
    let mut text = String::new();
    // In order of preference, for clients that accept several.
    let encodings = wanted.plan.codecs(Origin::Dynamic);
    if !encodings.is_empty() {
        text +=
            "# Dynamic responses, and files without a compressed one beside them, compressed on request.\nencode {\n";
        for codec in &encodings {
            match (codec.coding(), level(*codec)) {
                (Coding::Zstd, Some(name)) => text += &format!("    zstd {name}\n"),
                _ => text += &format!("    {} {}\n", codec.coding(), codec.level()),
            }
        }
        text += &format!("    minimum_length {}\n    match {{\n", LENGTH_MIN.get());
        for media_type in wanted.types() {
            text += &format!("        header Content-Type {media_type}*\n");
        }
        text += "    }\n}\n";
    }
    let beforehand: Vec<&str> = wanted
        .plan
        .codecs(Origin::Static)
        .iter()
        .map(|codec| codec.coding().token())
        .collect();
    if !beforehand.is_empty() {
        text += "\n";
        text += &wanted.files_comment();
        text += &format!("file_server {{\n    precompressed {}\n}}\n", beforehand.join(" "));
    }
    let mut note = "In a site block. Caddy itself cannot compress with br on request; its zstd has four levels. Its minimum length is \
                    512 B by default and applies to the first piece that is written: a stream whose first piece is shorter is not \
                    compressed at all."
        .to_owned();
    note += &wanted.beforehand_commands();
    (text, note)
}
