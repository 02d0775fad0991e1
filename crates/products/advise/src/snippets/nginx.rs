//! The snippet for nginx (ngx_http_gzip_module, ngx_http_gzip_static_module, ngx_brotli).

use super::{LENGTH_MIN, SnippetRequest};
use lastmile_codec::content::Coding;

pub(super) fn snippet(wanted: &SnippetRequest<'_>) -> (String, String) {
    let beforehand = |coding| wanted.beforehand(coding).is_some();
    let mut text = String::new();
    if beforehand(Coding::Gzip) || beforehand(Coding::Brotli) {
        text += &wanted.files_comment();
        if beforehand(Coding::Brotli) {
            text += "brotli_static on;\n";
        }
        if beforehand(Coding::Gzip) {
            text += "gzip_static on;\n";
        }
    }
    // A types list always includes text/html; nginx warns when it is named again.
    let types = wanted
        .types()
        .into_iter()
        .filter(|media_type| *media_type != "text/html");
    let types = types.collect::<Vec<_>>().join(" ");
    let (gzip, brotli) = (wanted.on_request(Coding::Gzip), wanted.on_request(Coding::Brotli));
    if gzip.is_some() || brotli.is_some() {
        text += wanted.on_request_comment();
    }
    if let Some(gzip) = gzip {
        text += &format!(
            "gzip on;\ngzip_comp_level {};\ngzip_min_length {};\ngzip_types {types};\ngzip_proxied any;\n",
            gzip.level(),
            LENGTH_MIN.get()
        );
    }
    if let Some(brotli) = brotli {
        text += &format!(
            "brotli on;\nbrotli_comp_level {};\nbrotli_min_length {};\nbrotli_types {types};\n",
            brotli.level(),
            LENGTH_MIN.get()
        );
    }
    if !text.is_empty() {
        let modules = if text.contains("\nbrotli") {
            "# Directives that begin with brotli need the modules libnginx-mod-http-brotli-static and -filter (Debian); without them, remove these lines.\n"
        } else {
            ""
        };
        // For br too, in spite of its name.
        text = format!(
            "# In the server block, in the place of directives of the same names that it has.\n{modules}{}\ngzip_vary on;\n",
            text.trim()
        );
    }
    let note = "In the server block: the http block of a distribution has such directives already, and nginx refuses a second one there. \
                By default nginx compresses only text/html, at level 1, and not for requests through a proxy; \
                without gzip_vary it sends no Vary header, and caches mix codings up.";
    (text, note.to_owned())
}
