//! Splits a URL into scheme, host and path: as much of RFC 3986 as reading traffic needs.

/// The parts of an HTTP URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HttpUrl {
    /// `http` or `https`.
    pub(super) scheme: String,
    /// In lower case, with the port where the URL names one, without user information.
    pub(super) host: String,
    /// The whole URL but the fragment, which is not sent.
    pub(super) whole: String,
}

/// Why a URL is not an HTTP URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotHttp {
    /// `ws:` or `wss:`.
    WebSocket,
    /// `data:` or `blob:`: the content is in the page.
    InPage,
    /// Another scheme, such as a browser's own.
    OtherScheme,
    /// Not an absolute URL.
    NoUrl,
}

/// Parses a URL.
pub(super) fn read(mut url: String) -> Result<HttpUrl, NotHttp> {
    let (scheme, after) = url.split_once(':').ok_or(NotHttp::NoUrl)?;
    let scheme = scheme.trim_start().to_ascii_lowercase();
    match scheme.as_str() {
        "http" | "https" => {}
        "ws" | "wss" => return Err(NotHttp::WebSocket),
        "data" | "blob" => return Err(NotHttp::InPage),
        "" => return Err(NotHttp::NoUrl),
        _ => return Err(NotHttp::OtherScheme),
    }
    let authority = after.strip_prefix("//").ok_or(NotHttp::NoUrl)?;
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    if host.is_empty() {
        return Err(NotHttp::NoUrl);
    }
    if let Some(fragment) = url.find('#') {
        url.truncate(fragment);
    }
    Ok(HttpUrl {
        scheme,
        host,
        whole: url,
    })
}

/// The path of a URL, without query.
pub(super) fn path(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, after)| after);
    let path = after.find('/').map_or("", |at| &after[at..]);
    path.split(['?', '#']).next().unwrap_or_default()
}

/// The extension of a path's last segment, in lower case.
pub(super) fn extension(path: &str) -> Option<String> {
    let (stem, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let plausible = !stem.is_empty() && (1..=12).contains(&extension.len());
    plausible.then(|| extension.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_http_gives_its_scheme_host_and_path() {
        let url = read("HTTPS://me:pw@Shop.Example:8443/a/b.min.JS?v=/2#top".to_owned()).unwrap();
        assert_eq!((url.scheme.as_str(), url.host.as_str()), ("https", "shop.example:8443"));
        assert_eq!(url.whole, "HTTPS://me:pw@Shop.Example:8443/a/b.min.JS?v=/2");
        assert_eq!(path(&url.whole), "/a/b.min.JS");
        assert_eq!(extension(path(&url.whole)).as_deref(), Some("js"));
        assert_eq!(read("http://[2001:db8::1]/".to_owned()).unwrap().host, "[2001:db8::1]");
    }

    #[test]
    fn what_is_not_http_is_told_apart() {
        let not = |url: &str| read(url.to_owned()).unwrap_err();
        assert_eq!(not("wss://a/b"), NotHttp::WebSocket);
        assert_eq!(not("data:text/plain,a"), NotHttp::InPage);
        assert_eq!(not("blob:https://a/1"), NotHttp::InPage);
        assert_eq!(not("chrome-extension://abc/x.js"), NotHttp::OtherScheme);
        for url in ["", "/relative", "http:", "https://", "://x", "https:///path"] {
            assert_eq!(not(url), NotHttp::NoUrl, "{url:?}");
        }
    }

    #[test]
    fn a_path_without_a_file_name_has_no_extension() {
        for path in ["/", "/a.b/c", "/.hidden", "/name.", "/file.averylongextension"] {
            assert_eq!(extension(path), None, "{path}");
        }
    }
}
