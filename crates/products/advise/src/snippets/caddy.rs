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
    let files: Vec<&str> = wanted
        .plan
        .codecs(Origin::Static)
        .iter()
        .map(|codec| codec.coding().token())
        .collect();
    if !files.is_empty() {
        text += &wanted.files_comment();
        text += &format!(
            "# This takes the place of the file_server that is there.\nfile_server {{\n    precompressed {}\n}}\n",
            files.join(" ")
        );
    }
    // In order of preference, for clients that accept several.
    let encodings = wanted.on_request_codecs();
    if !encodings.is_empty() {
        text += wanted.on_request_comment();
        text += "encode {\n";
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
    if !text.is_empty() {
        text = format!("# In the site block.\n{}", text.trim_start());
    }
    let note = "In a site block. Caddy itself cannot compress with br on request; its zstd has four levels. Its minimum length is \
                512 B by default and applies to the first piece that is written: a stream whose first piece is shorter is not \
                compressed at all.";
    (text, note.to_owned())
}
