//! The snippet for Apache 2.4.26 or later (mod_rewrite, mod_headers, mod_mime, mod_filter, mod_deflate, mod_brotli).

use super::{LENGTH_MIN, SnippetRequest, extension};
use lastmile_codec::content::Coding;

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> (String, String) {
    let files: Vec<Coding> = [Coding::Brotli, Coding::Gzip]
        .into_iter()
        .filter(|coding| wanted.beforehand(*coding).is_some())
        .collect();
    let mut modules = Vec::new();
    let mut text = String::new();
    if !files.is_empty() {
        modules.extend(["headers", "rewrite"]);
        text += &wanted.files_comment();
        text += &serve_files(&files);
    }
    if !wanted.on_request_codecs().is_empty() {
        modules.extend(["deflate", "filter"]);
        if wanted.on_request(Coding::Brotli).is_some() {
            modules.push("brotli");
        }
        text += wanted.on_request_comment();
        text += &compress_on_request(wanted);
    }
    modules.sort_unstable();
    if !text.is_empty() {
        text = format!(
            "# In the virtual host, with the modules of this command:\n#   a2enmod {}\n{text}",
            modules.join(" ")
        );
    }
    let note = "In a virtual host. Apache appends -gzip or -br to the ETag of a response that it compresses on request, and does not recognise \
                that ETag later: it answers If-None-Match with 200, never 304. DeflateAlterETag NoChange and BrotliAlterETag NoChange \
                avoid that, but then all codings share one ETag.";
    (text, note.to_owned())
}

/// Serves compressed files in the place of those that they are beside. A compressed file that is asked for by its own name, such as an archive, stays
/// what it is.
fn serve_files(files: &[Coding]) -> String {
    let beside = |coding: Coding| {
        format!(
            "RewriteCond \"%{{DOCUMENT_ROOT}}%{{REQUEST_URI}}.{}\" -f",
            extension(coding)
        )
    };
    let mut text = String::from("RewriteEngine On\n");
    let any: Vec<String> = files.iter().map(|coding| beside(*coding)).collect();
    text += &any.join(" [OR]\n");
    text += "\nRewriteRule \"^\" \"-\" [E=negotiated:1]\n";
    for coding in files {
        text += &format!(
            "RewriteCond \"%{{HTTP:Accept-Encoding}}\" \"\\b{}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))\"\n{}\n\
             RewriteRule \"^(.+)$\" \"$1.{}\" [PT,E=beforehand:1,E=no-gzip:1,E=no-brotli:1]\n",
            coding.token(),
            beside(*coding),
            extension(*coding)
        );
    }
    text += "<If \"-n reqenv('beforehand')\">\n";
    for coding in files {
        // mod_mime reads .br as Breton, and gives .gz a media type of its own.
        let other_meaning = match coding {
            Coding::Brotli => "RemoveLanguage",
            _ => "RemoveType",
        };
        let (token, extension) = (coding.token(), extension(*coding));
        text += &format!("    AddEncoding {token} .{extension}\n    {other_meaning} .{extension}\n");
    }
    text += "</If>\nHeader merge Vary Accept-Encoding env=negotiated\n";
    text
}

/// Compresses on request, from the shortest length that is worth it, which the modules have no directive for. The chain takes the place of the lists of
/// the server as a whole: they would come first, and Debian's compresses with gzip whatever else a client accepts. So it has gzip at all times.
fn compress_on_request(wanted: &SnippetRequest<'_>) -> String {
    let types = wanted.types().into_iter().collect::<Vec<_>>().join("|");
    let condition = format!(
        "%{{CONTENT_TYPE}} =~ m#^({})( *;|$)# && (-z resp('Content-Length') || resp('Content-Length') -ge {})",
        types.replace('.', "\\.").replace('+', "\\+"),
        LENGTH_MIN.get()
    );
    let (gzip, brotli) = (wanted.on_request(Coding::Gzip), wanted.on_request(Coding::Brotli));
    let mut chain = Vec::new();
    let mut text = String::new();
    let mut add = |name: &'static str, filter: &str, level: Option<String>| {
        text += &format!("FilterDeclare {name} CONTENT_SET\nFilterProvider {name} {filter} \"{condition}\"\n");
        text += &level.unwrap_or_default();
        chain.push(name);
    };
    if let Some(brotli) = brotli {
        let level = format!("BrotliCompressionQuality {}\n", brotli.level());
        add("brotli-on-request", "BROTLI_COMPRESS", Some(level));
    }
    let level = gzip.map(|gzip| format!("DeflateCompressionLevel {}\n", gzip.level()));
    add("gzip-on-request", "DEFLATE", level);
    text += &format!("FilterChain ={}\n", chain.join(" "));
    text
}
