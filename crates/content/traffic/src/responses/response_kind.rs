//! The kinds of response content that compress alike, and so get one setting.

use std::fmt;

/// A kind of content; all responses of a kind get the same setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResponseKind {
    /// HTML and XHTML.
    Html,
    /// Style sheets.
    Css,
    /// JavaScript.
    JavaScript,
    /// JSON, and formats based on it (`+json`, source maps, lines of JSON).
    Json,
    /// SVG images.
    Svg,
    /// Text without markup.
    PlainText,
    /// WOFF and WOFF2 fonts, which are compressed inside.
    FontWoff,
    /// Images that are compressed inside: PNG, JPEG, GIF, WebP, AVIF, JPEG XL, HEIC.
    Image,
    /// Video and sound, which are compressed inside.
    Video,
    /// WebAssembly.
    Wasm,
    /// Archives and packed files.
    Archive,
    /// Text of other kinds: XML, CSV, calendars.
    OtherText,
    /// Binary of other kinds: TrueType fonts, icons, bitmaps, unknown.
    OtherBinary,
}

impl ResponseKind {
    /// The kind of a media type (its essence, in lower case); without one, the kind that the first bytes show.
    pub fn from_media_type_or_content(media_type: Option<&str>, first_bytes: &[u8]) -> Self {
        media_type.map_or_else(|| Self::from_content(first_bytes), Self::from_media_type)
    }

    fn from_media_type(essence: &str) -> Self {
        let (class, subtype) = essence.split_once('/').unwrap_or((essence, ""));
        match (class, subtype) {
            ("text", "html") | ("application", "xhtml+xml") => Self::Html,
            ("text", "css") => Self::Css,
            (_, "javascript" | "x-javascript" | "ecmascript") => Self::JavaScript,
            ("image", "svg+xml") => Self::Svg,
            ("text", "plain") => Self::PlainText,
            (_, "json" | "x-ndjson" | "ndjson" | "jsonl" | "json-seq" | "x-json") => Self::Json,
            (_, subtype) if subtype.ends_with("+json") => Self::Json,
            (_, subtype) if subtype == "xml" || subtype.ends_with("+xml") => Self::OtherText,
            ("font", "woff" | "woff2") | ("application", "font-woff" | "font-woff2" | "x-font-woff") => Self::FontWoff,
            ("image", "png" | "jpeg" | "jpg" | "gif" | "webp" | "avif" | "jxl" | "heic" | "heif" | "apng") => {
                Self::Image
            }
            ("video" | "audio", subtype) if subtype != "wav" && subtype != "x-wav" => Self::Video,
            ("application", "wasm") => Self::Wasm,
            ("application", "zip" | "gzip" | "x-gzip" | "zstd" | "x-brotli" | "x-bzip2" | "x-xz") => Self::Archive,
            ("application", "x-7z-compressed" | "java-archive" | "vnd.rar" | "epub+zip") => Self::Archive,
            ("application", subtype) if subtype.starts_with("vnd.openxmlformats-officedocument") => Self::Archive,
            ("text", _) | ("application", "graphql" | "x-www-form-urlencoded" | "x-mpegurl" | "vnd.apple.mpegurl") => {
                Self::OtherText
            }
            _ => Self::OtherBinary,
        }
    }

    /// By the signatures of the WHATWG's MIME Sniffing standard (section 6), a few more, and whether there is a byte that the
    /// standard calls binary (section 3).
    fn from_content(bytes: &[u8]) -> Self {
        let signatures: [(&[u8], Self); 14] = [
            (b"\x89PNG\r\n\x1a\n", Self::Image),
            (b"\xff\xd8\xff", Self::Image),
            (b"GIF8", Self::Image),
            (b"wOFF", Self::FontWoff),
            (b"wOF2", Self::FontWoff),
            (b"\0asm", Self::Wasm),
            (b"\x1f\x8b", Self::Archive),
            (b"PK\x03\x04", Self::Archive),
            (b"\x28\xb5\x2f\xfd", Self::Archive),
            (b"BZh", Self::Archive),
            (b"OggS", Self::Video),
            (b"ID3", Self::Video),
            (b"\x1a\x45\xdf\xa3", Self::Video),
            (b"\0\0\x01\0", Self::OtherBinary),
        ];
        if let Some((_, kind)) = signatures.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return *kind;
        }
        match (bytes.get(..4), bytes.get(4..8), bytes.get(8..12)) {
            (Some(b"RIFF"), _, Some(b"WEBP")) | (_, Some(b"ftyp"), Some(b"avif" | b"heic")) => return Self::Image,
            (_, Some(b"ftyp"), _) => return Self::Video,
            _ => {}
        }
        let head = &bytes[..bytes.len().min(1445)];
        if head.is_empty() || head.iter().any(|byte| matches!(byte, 0..=8 | 11 | 14..=26 | 28..=31)) {
            return Self::OtherBinary;
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let begins = |with: &str| {
            text.get(..with.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
        };
        match text.first() {
            _ if begins("<!doctype html") || begins("<html") || begins("<head") || begins("<body") => Self::Html,
            _ if begins("<svg") => Self::Svg,
            _ if begins("<?xml") => Self::OtherText,
            Some(b'{' | b'[') => Self::Json,
            _ => Self::PlainText,
        }
    }

    /// Whether its content is compressed inside, so that a content coding has little to gain.
    pub const fn already_compressed(self) -> bool {
        matches!(self, Self::FontWoff | Self::Image | Self::Video | Self::Archive)
    }

    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Css => "css",
            Self::JavaScript => "javascript",
            Self::Json => "json",
            Self::Svg => "svg",
            Self::PlainText => "plain-text",
            Self::FontWoff => "font-woff",
            Self::Image => "image",
            Self::Video => "video",
            Self::Wasm => "wasm",
            Self::Archive => "archive",
            Self::OtherText => "other-text",
            Self::OtherBinary => "other-binary",
        }
    }
}

impl fmt::Display for ResponseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_decides_before_the_bytes_do() {
        let kind = |essence| ResponseKind::from_media_type_or_content(Some(essence), b"\x89PNG\r\n\x1a\n");
        assert_eq!(kind("application/xhtml+xml"), ResponseKind::Html);
        assert_eq!(kind("application/x-javascript"), ResponseKind::JavaScript);
        assert_eq!(kind("application/vnd.api+json"), ResponseKind::Json);
        assert_eq!(kind("image/svg+xml"), ResponseKind::Svg);
        assert_eq!(kind("application/rss+xml"), ResponseKind::OtherText);
        assert_eq!(kind("font/ttf"), ResponseKind::OtherBinary);
        assert_eq!(kind("audio/mpeg"), ResponseKind::Video);
        assert_eq!(kind("application/octet-stream"), ResponseKind::OtherBinary);
    }

    #[test]
    fn without_a_media_type_the_first_bytes_decide() {
        let kind = |bytes: &[u8]| ResponseKind::from_media_type_or_content(None, bytes);
        assert_eq!(kind(b"\xef\xbb\xbf  <!DOCTYPE HTML><p>"), ResponseKind::Html);
        assert_eq!(kind(b"[1, 2]"), ResponseKind::Json);
        assert_eq!(kind(b"RIFF\x10\0\0\0WEBPVP8 "), ResponseKind::Image);
        assert_eq!(kind(b"\0\0\0\x20ftypisom"), ResponseKind::Video);
        assert_eq!(kind(b"plain words"), ResponseKind::PlainText);
        assert_eq!(kind(b"\0\x01\x02"), ResponseKind::OtherBinary);
        assert_eq!(kind(b""), ResponseKind::OtherBinary);
    }

    #[test]
    fn what_is_compressed_inside_is_not_worth_a_coding() {
        assert!(ResponseKind::from_media_type_or_content(Some("font/woff2"), b"").already_compressed());
        assert!(ResponseKind::from_media_type_or_content(Some("image/png"), b"").already_compressed());
        assert!(!ResponseKind::from_media_type_or_content(Some("font/ttf"), b"").already_compressed());
        assert!(!ResponseKind::from_media_type_or_content(Some("image/svg+xml"), b"").already_compressed());
        assert!(!ResponseKind::from_media_type_or_content(Some("audio/wav"), b"").already_compressed());
    }
}
