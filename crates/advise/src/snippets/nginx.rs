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
    let types = wanted.types_line("text/html");
    let types = |module: &str| {
        if types.is_empty() {
            String::new()
        } else {
            format!("{module}_types {types};\n")
        }
    };
    let (gzip, brotli) = (wanted.on_request(Coding::Gzip), wanted.on_request(Coding::Brotli));
    if gzip.is_some() || brotli.is_some() {
        text += "\n# Dynamic responses, and files without a compressed one beside them, compressed on request.\n";
    }
    if let Some(gzip) = gzip {
        text += &format!(
            "gzip on;\ngzip_comp_level {};\ngzip_min_length {};\n",
            gzip.level(),
            LENGTH_MIN.get()
        );
        text += &types("gzip");
        text += "gzip_proxied any;\n";
    }
    if gzip.is_some() || beforehand(Coding::Gzip) {
        text += "gzip_vary on;\n";
    }
    if let Some(brotli) = brotli {
        text += &format!(
            "brotli on;\nbrotli_comp_level {};\nbrotli_min_length {};\n",
            brotli.level(),
            LENGTH_MIN.get()
        );
        text += &types("brotli");
    }
    let mut note = "In the server block: the http block of a distribution has such directives already, and nginx refuses a second one \
                    there. Replace those that your server block has. By default nginx compresses only text/html, at level 1, and not for requests through a proxy; \
                    without gzip_vary it sends no Vary header, and caches mix codings up. Directives that begin with brotli need the \
                    ngx_brotli modules (on Debian libnginx-mod-http-brotli-filter and -static); without them, remove these lines."
        .to_owned();
    note += &wanted.beforehand_commands();
    (text, note)
}
