//! Guesses from headers and name whether a response is static, or generated for every request.

use super::url;

/// Whether a response can be compressed once and served many times.
///
/// The rule is our own; the first row that applies decides:
///
/// | seen | origin |
/// | --- | --- |
/// | a method other than GET or HEAD | dynamic |
/// | `Cache-Control: immutable` (RFC 8246) | static |
/// | `Cache-Control: no-store` or `private`, or a Set-Cookie header | dynamic |
/// | `Cache-Control` with `max-age` or `s-maxage` of an hour or more | static |
/// | a file name with an extension, and ETag or Last-Modified | static |
/// | anything else | dynamic |
///
/// Extensions of programs (`.php`, `.jsp`, `.aspx`, `.cgi`, …) do not count. Files of a folder are static.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Origin {
    /// Compressed once, beforehand, so that compression time does not matter.
    Static,
    /// Compressed for each request, so that compression time counts.
    #[default]
    Dynamic,
}

/// The `max-age` from which a response counts as static: our own choice.
const STATIC_AGE_SECONDS: u64 = 3600;

/// What the rule looks at.
#[derive(Debug, Default)]
pub(super) struct Signs<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
    pub(super) cache_control: Option<&'a str>,
    pub(super) sets_cookie: bool,
    /// Whether there is an ETag or a Last-Modified header.
    pub(super) has_validator: bool,
}

/// Applies the rule, and says what decided.
pub(super) fn guess(signs: &Signs<'_>) -> (Origin, &'static str) {
    if signs.method != "GET" && signs.method != "HEAD" {
        return (Origin::Dynamic, "its method is neither GET nor HEAD");
    }
    let directives: Vec<String> = signs
        .cache_control
        .unwrap_or_default()
        .split(',')
        .map(|directive| directive.trim().to_ascii_lowercase())
        .collect();
    let has = |name: &str| directives.iter().any(|directive| directive == name);
    if has("immutable") {
        return (Origin::Static, "Cache-Control says immutable");
    }
    if has("no-store") || has("private") {
        return (Origin::Dynamic, "Cache-Control says no-store or private");
    }
    if signs.sets_cookie {
        return (Origin::Dynamic, "it sets a cookie");
    }
    let age = directives.iter().filter_map(|directive| {
        let (name, seconds) = directive.split_once('=')?;
        let seconds = seconds.trim_matches('"').parse::<u64>().ok()?;
        matches!(name, "max-age" | "s-maxage").then_some(seconds)
    });
    if age.max().is_some_and(|seconds| seconds >= STATIC_AGE_SECONDS) {
        return (Origin::Static, "Cache-Control allows caching for an hour or more");
    }
    let extension = url::extension(url::path(signs.url));
    if signs.has_validator && extension.is_some_and(|extension| !PROGRAMS.contains(&extension.as_str())) {
        return (Origin::Static, "it has a file name and an ETag or Last-Modified header");
    }
    (Origin::Dynamic, "nothing says that it can be cached")
}

const PROGRAMS: [&str; 10] = ["php", "asp", "aspx", "ashx", "jsp", "do", "action", "cgi", "pl", "py"];

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(cache_control: &str, url: &str, has_validator: bool) -> Origin {
        let signs = Signs {
            method: "GET",
            url,
            cache_control: Some(cache_control),
            has_validator,
            ..Signs::default()
        };
        guess(&signs).0
    }

    #[test]
    fn each_line_of_the_rule_decides_where_it_applies_first() {
        let file = "https://a/app.js?v=1";
        assert_eq!(
            guess(&Signs {
                method: "POST",
                url: file,
                ..Signs::default()
            })
            .0,
            Origin::Dynamic
        );
        assert_eq!(
            origin("public, max-age=60, Immutable", "https://a/x", false),
            Origin::Static
        );
        assert_eq!(origin("private, max-age=86400", file, true), Origin::Dynamic);
        assert_eq!(origin("max-age=3600", "https://a/x", false), Origin::Static);
        assert_eq!(origin("max-age=3599", "https://a/x", true), Origin::Dynamic);
        assert_eq!(origin("no-cache", file, true), Origin::Static);
        assert_eq!(origin("", file, false), Origin::Dynamic);
        assert_eq!(origin("", "https://a/list.php", true), Origin::Dynamic);
        let cookie = Signs {
            method: "GET",
            url: file,
            sets_cookie: true,
            has_validator: true,
            ..Signs::default()
        };
        assert_eq!(guess(&cookie), (Origin::Dynamic, "it sets a cookie"));
    }

    #[test]
    fn an_age_beyond_all_numbers_is_no_age() {
        assert_eq!(
            origin("max-age=99999999999999999999999", "https://a/x", false),
            Origin::Dynamic
        );
    }
}
