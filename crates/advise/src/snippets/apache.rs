//! The snippet for Apache 2.4.26 or later (mod_deflate, mod_brotli, mod_rewrite, mod_headers, mod_mime).

use super::{LENGTH_MIN, SnippetRequest};
use lastmile_codec::content::Coding;

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> (String, String) {
    let mut text = String::new();
    let files: Vec<(&str, &str)> = [(Coding::Brotli, "br"), (Coding::Gzip, "gz")]
        .into_iter()
        .filter(|(coding, _)| wanted.beforehand(*coding).is_some())
        .map(|(coding, extension)| (extension, coding.token()))
        .collect();
    if !files.is_empty() {
        text += &wanted.files_comment();
        text += "RewriteEngine On\n";
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
        // mod_mime reads .br as Breton, and gives .gz a media type of its own.
        text += "RemoveLanguage .br\nRemoveType .gz\n<FilesMatch \"\\.(br|gz)$\">\n  Header append Vary Accept-Encoding\n</FilesMatch>\n";
    }
    let types = wanted.types_line("");
    let (gzip, brotli) = (wanted.on_request(Coding::Gzip), wanted.on_request(Coding::Brotli));
    let mut filters = Vec::new();
    if gzip.is_some() || brotli.is_some() {
        text += "\n# Dynamic responses, and files without a compressed one beside them, compressed on request.\n";
    }
    if let Some(brotli) = brotli {
        text += &format!("BrotliCompressionQuality {}\n", brotli.level());
        filters.push("BROTLI_COMPRESS");
    }
    if let Some(gzip) = gzip {
        text += &format!("DeflateCompressionLevel {}\n", gzip.level());
        filters.push("DEFLATE");
    }
    if !filters.is_empty() {
        text += &format!("AddOutputFilterByType {} {types}\n", filters.join(";"));
    }
    let mut note = format!(
        "In a virtual host; needs mod_rewrite, mod_headers and mod_deflate, and mod_brotli for br. Apache has no minimum length, so \
         bodies below {} B are compressed too. Apache appends -gzip or -br to the ETag of a response that it compresses on \
         request, and does not recognise that ETag later: it answers If-None-Match with 200, never 304. DeflateAlterETag NoChange and \
         BrotliAlterETag NoChange avoid that, but then all codings share one ETag.",
        LENGTH_MIN.get()
    );
    note += &wanted.beforehand_commands();
    (text, note)
}
