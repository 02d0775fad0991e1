//! What does Apache need to be told? (mod_deflate, mod_brotli, mod_rewrite, mod_headers, mod_mime; 2.4.26 or later.)

use super::{LEAST_LENGTH, Wanted};
use lastmile_payload::codec::Coding;
use lastmile_payload::traffic::Origin;
use lastmile_report::advise::{Server, Snippet};

pub(super) fn snippet(wanted: &Wanted<'_>) -> Snippet {
    let mut text = String::new();
    let files: Vec<(&str, &str)> = [(Coding::Brotli, "br"), (Coding::Gzip, "gz")]
        .into_iter()
        .filter(|(coding, _)| wanted.beforehand(*coding).is_some())
        .map(|(coding, extension)| (extension, coding.token()))
        .collect();
    if !files.is_empty() {
        text += "# Files, compressed beforehand: app.js.br and app.js.gz beside app.js.\nRewriteEngine On\n";
        for (extension, token) in &files {
            text += &format!(
                "RewriteCond \"%{{HTTP:Accept-Encoding}}\" \"\\b{token}\\b\"\n\
                 RewriteCond \"%{{DOCUMENT_ROOT}}%{{REQUEST_URI}}.{extension}\" -f\n\
                 RewriteRule \"^(.+)$\" \"$1.{extension}\" [L,E=no-gzip:1,E=no-brotli:1]\n"
            );
        }
        for (extension, token) in &files {
            text += &format!("AddEncoding {token} .{extension}\n");
        }
        // mod_mime takes .br for Breton, and .gz for a type of its own.
        text += "RemoveLanguage .br\nRemoveType .gz\n<FilesMatch \"\\.(br|gz)$\">\n  Header append Vary Accept-Encoding\n</FilesMatch>\n";
    }
    let types = wanted.types_line(Origin::Dynamic, "");
    let gzip = wanted.best(Origin::Dynamic, |codec| codec.coding() == Coding::Gzip);
    let does = wanted.best(Origin::Dynamic, |codec| {
        matches!(codec.coding(), Coding::Gzip | Coding::Brotli)
    });
    let brotli = does.filter(|codec| codec.coding() == Coding::Brotli);
    if does.is_some() {
        text += "\n# What is made on request.\n";
        let mut filters = Vec::new();
        if let Some(brotli) = brotli {
            text += &format!("BrotliCompressionQuality {}\n", brotli.level());
            filters.push("BROTLI_COMPRESS");
        }
        if let Some(gzip) = gzip {
            text += &format!("DeflateCompressionLevel {}\n", gzip.level());
            filters.push("DEFLATE");
        }
        text += &format!("AddOutputFilterByType {} {types}\n", filters.join(";"));
    }
    let mut note = format!(
        "In a virtual host; needs mod_rewrite, mod_headers and mod_deflate, and mod_brotli for br. Apache has no least length, so that \
         bodies below {LEAST_LENGTH} B are compressed as well. A response that was compressed on request has an ETag that ends in -gzip \
         or -br, which Apache does not know again: If-None-Match is answered with 200, never 304. DeflateAlterETag NoChange and \
         BrotliAlterETag NoChange avoid that, at the price of one ETag for all codings."
    );
    note += &wanted.beforehand_commands(&[Coding::Brotli, Coding::Gzip]);
    note += &wanted.instead("Apache", Origin::Dynamic, does).unwrap_or_default();
    Snippet {
        server: Server::Apache,
        text,
        note,
    }
}
