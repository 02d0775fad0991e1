//! What does nginx need to be told? (ngx_http_gzip_module, ngx_http_gzip_static_module, ngx_brotli.)

use super::{LEAST_LENGTH, Wanted};
use lastmile_payload::codec::Coding;
use lastmile_payload::traffic::Origin;
use lastmile_report::advise::{Server, Snippet};

pub(super) fn snippet(wanted: &Wanted<'_>) -> Snippet {
    let beforehand = |coding| wanted.beforehand(coding).is_some();
    let mut text = String::new();
    if beforehand(Coding::Gzip) || beforehand(Coding::Brotli) {
        text += "# Files, compressed beforehand: app.js.br and app.js.gz beside app.js.\n";
        if beforehand(Coding::Brotli) {
            text += "brotli_static on;\n";
        }
        if beforehand(Coding::Gzip) {
            text += "gzip_static on;\n";
        }
    }
    // A types list holds text/html by itself; naming it again is warned of.
    let types = wanted.types_line(Origin::Dynamic, "text/html");
    let types = |module: &str| {
        if types.is_empty() {
            String::new()
        } else {
            format!("{module}_types {types};\n")
        }
    };
    let gzip = wanted.best(Origin::Dynamic, |codec| codec.coding() == Coding::Gzip);
    let does = wanted.best(Origin::Dynamic, |codec| {
        matches!(codec.coding(), Coding::Gzip | Coding::Brotli)
    });
    text += "\n# What is made on request.\n";
    match gzip {
        None => text += "gzip off;\n",
        Some(gzip) => {
            text += &format!(
                "gzip on;\ngzip_comp_level {};\ngzip_min_length {LEAST_LENGTH};\n",
                gzip.level()
            );
            text += &types("gzip");
            text += "gzip_proxied any;\n";
        }
    }
    text += "gzip_vary on;\n";
    if let Some(brotli) = does.filter(|codec| codec.coding() == Coding::Brotli) {
        text += &format!(
            "brotli on;\nbrotli_comp_level {};\nbrotli_min_length {LEAST_LENGTH};\n",
            brotli.level()
        );
        text += &types("brotli");
    }
    let mut note = "In the http block. nginx compresses text/html alone, at level 1 and only for clients that come without a proxy, unless \
                    told otherwise; without gzip_vary it sends no Vary, and caches mix codings up. Directives that begin with brotli need \
                    the ngx_brotli modules (on Debian libnginx-mod-http-brotli-filter and -static); without them leave these lines out."
        .to_owned();
    note += &wanted.beforehand_commands(&[Coding::Brotli, Coding::Gzip]);
    note += &wanted.instead("nginx", Origin::Dynamic, does).unwrap_or_default();
    Snippet {
        server: Server::Nginx,
        text,
        note,
    }
}
