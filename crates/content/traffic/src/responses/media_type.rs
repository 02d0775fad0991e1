//! Media types, from a Content-Type header or a file's extension.

/// The essence of a Content-Type: without parameters, in lower case (RFC 9110 section 8.3.1). None where it is not `type/subtype`,
/// such as the `x-unknown` that tools write where they know nothing.
pub(super) fn essence(content_type: &str) -> Option<String> {
    let essence = content_type.split([';', ',']).next()?.trim().to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/')?;
    let token = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    (token(kind) && token(subtype)).then_some(essence)
}

/// The media type that a server sends for a file with this extension (in lower case). From the registry of media types where it
/// lists the extension, else from what common servers ship; JavaScript is text/javascript (RFC 9239).
pub(super) fn from_extension(extension: &str) -> &'static str {
    match extension {
        "html" | "htm" => "text/html",
        "xhtml" => "application/xhtml+xml",
        "css" => "text/css",
        "js" | "mjs" | "cjs" => "text/javascript",
        "json" | "map" => "application/json",
        "jsonl" | "ndjson" => "application/x-ndjson",
        "webmanifest" => "application/manifest+json",
        "geojson" => "application/geo+json",
        "svg" => "image/svg+xml",
        "xml" | "xsl" => "application/xml",
        "rss" => "application/rss+xml",
        "atom" => "application/atom+xml",
        "txt" | "text" | "log" => "text/plain",
        "md" => "text/markdown",
        "csv" => "text/csv",
        "ics" => "text/calendar",
        "vtt" => "text/vtt",
        "wasm" => "application/wasm",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "jxl" => "image/jxl",
        "ico" => "image/vnd.microsoft.icon",
        "bmp" => "image/bmp",
        "mp4" | "m4v" => "video/mp4",
        "webm" => "video/webm",
        "m4s" => "video/iso.segment",
        "ts" => "video/mp2t",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "ogg" | "oga" | "opus" => "audio/ogg",
        "wav" => "audio/wav",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "gz" | "tgz" => "application/gzip",
        "zst" => "application/zstd",
        "br" => "application/x-brotli",
        "bz2" => "application/x-bzip2",
        "xz" => "application/x-xz",
        "7z" => "application/x-7z-compressed",
        "jar" => "application/java-archive",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_case_are_not_part_of_the_essence() {
        assert_eq!(essence("Text/HTML; charset=UTF-8").as_deref(), Some("text/html"));
        assert_eq!(
            essence("application/json, application/json").as_deref(),
            Some("application/json")
        );
    }

    #[test]
    fn what_is_no_media_type_is_none() {
        for text in ["", "x-unknown", "text/", "/html", "text/ht ml", "a/b/c"] {
            assert_eq!(essence(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_unknown_extension_is_an_octet_stream() {
        assert_eq!(from_extension("qqq"), "application/octet-stream");
    }
}
