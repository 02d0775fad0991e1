//! Makes a reference in a document absolute (RFC 3986 section 5.2), as browsers do where real pages differ from the syntax.

/// The absolute URL of `reference` in a resource at `base`, without a fragment; none for what is not fetched over HTTP.
pub(crate) fn resolve(base: &str, reference: &str) -> Option<String> {
    // Tabs and line breaks are removed (WHATWG URL section 4.4).
    let reference: String = reference
        .trim()
        .chars()
        .filter(|c| !matches!(c, '\t' | '\n' | '\r'))
        .collect();
    let reference = reference.split('#').next().unwrap_or_default();
    let base = base.split('#').next().unwrap_or_default();
    let (scheme, after_scheme) = base.split_once("://")?;
    let authority_end = after_scheme.find(['/', '?']).unwrap_or(after_scheme.len());
    let (authority, base_path_and_query) = after_scheme.split_at(authority_end);
    let base_path = base_path_and_query.split('?').next().unwrap_or_default();
    if let Some(own_scheme) = scheme_of(reference) {
        let is_http = own_scheme.eq_ignore_ascii_case("http") || own_scheme.eq_ignore_ascii_case("https");
        let rest = reference[own_scheme.len() + 1..].strip_prefix("//")?;
        return is_http.then(|| normalised(&own_scheme.to_ascii_lowercase(), rest));
    }
    if let Some(rest) = reference.strip_prefix("//") {
        return Some(normalised(scheme, rest));
    }
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let joined = if path.starts_with('/') {
        path.to_owned()
    } else if path.is_empty() {
        if query.is_none() {
            // A document that names itself.
            return Some(normalised(scheme, after_scheme));
        }
        base_path.to_owned()
    } else {
        let folder = base_path.rfind('/').map_or("/", |slash| &base_path[..=slash]);
        format!("{folder}{path}")
    };
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    Some(normalised(
        scheme,
        &format!("{authority}{}{query}", without_dots(&joined)),
    ))
}

/// The scheme of an absolute URL.
fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let begins = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))).then_some(scheme)
}

/// The URL as recordings write it: the host in lower case, without its default port, and a path of at least `/`.
fn normalised(scheme: &str, after_scheme: &str) -> String {
    let authority_end = after_scheme.find(['/', '?']).unwrap_or(after_scheme.len());
    let (authority, rest) = after_scheme.split_at(authority_end);
    let host = authority.to_ascii_lowercase();
    let default_port = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    let slash = if rest.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{host}{slash}{}", rest.replace(' ', "%20"))
}

/// A path without `.` and `..` (RFC 3986 section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let last = segments.len().saturating_sub(1);
    for (index, segment) in segments.into_iter().enumerate() {
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if index == last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_in_rfc_3986_section_5_4() {
        let base = "http://a/b/c/d;p?q";
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("g#s", "http://a/b/c/g"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("./../g", "http://a/b/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
        ] {
            assert_eq!(resolve(base, reference).as_deref(), Some(expected), "{reference}");
        }
    }

    #[test]
    fn what_is_not_fetched_over_http_has_no_url() {
        for reference in [
            "data:text/css,a",
            "javascript:void(0)",
            "mailto:a@b.example",
            "about:blank",
            "blob:x",
        ] {
            assert_eq!(resolve("https://a.example/", reference), None, "{reference}");
        }
    }

    #[test]
    fn hosts_and_ports_are_written_in_one_way() {
        let of = |reference| resolve("https://A.example:443/x/y", reference).unwrap();
        assert_eq!(of("z"), "https://a.example/x/z");
        assert_eq!(of("HTTPS://B.Example:443/p q"), "https://b.example/p%20q");
        assert_eq!(of("//c.example:8443"), "https://c.example:8443/");
        assert_eq!(of("//d.example?q"), "https://d.example/?q");
    }
}
