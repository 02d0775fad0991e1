//! Which requests a monitor without a token answers: those of programs of this machine, and not those of web pages of other origins.
//!
//! A page of any origin can send a request to a loopback address (CSRF), and by DNS rebinding it can read the answer as well. Browsers name
//! the page in `Origin`, and the name that was looked up in `Host`.

use http::header::{CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderName, Request, StatusCode};
use std::net::IpAddr;

/// What is wrong with a request, for its sender.
pub(super) type Refusal = (StatusCode, String);

/// The content types that a page may send to another origin without asking it first (Fetch standard, "CORS-safelisted request-header").
const FORM_TYPES: [&str; 3] = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

/// Checks a request to a monitor without a token.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), Refusal> {
    let header = |name: HeaderName| {
        request
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let host = request.uri().authority().map(http::uri::Authority::as_str);
    // Without a Host it is no browser's.
    let host = host.or_else(|| header(HOST));
    if let Some(host) = host.filter(|host| !is_local(host)) {
        let message = format!(
            "Host {host:?} is no name of this machine; ask for localhost, 127.0.0.1 or [::1], or start the monitor with --token-file"
        );
        return Err((StatusCode::FORBIDDEN, message));
    }
    if let Some(origin) = header(ORIGIN) {
        let origin_host = origin.split_once("://").map(|(_, host)| host);
        if origin_host.is_none() || origin_host != host {
            let message = format!("Origin {origin:?} is a page of another site; start the monitor with --token-file");
            return Err((StatusCode::FORBIDDEN, message));
        }
    }
    let media_type = header(CONTENT_TYPE).and_then(|value| value.split(';').next());
    let media_type = media_type.map(|value| value.trim().to_ascii_lowercase());
    if media_type.is_some_and(|value| FORM_TYPES.contains(&value.as_str())) {
        let message = "a form's content type: send application/octet-stream, or none";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message.to_owned()));
    }
    Ok(())
}

/// Whether `HOST[:PORT]` is this machine's name for itself: a loopback address, `localhost`, or a name that `lastmile link` gives it.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let is_loopback = name.parse().is_ok_and(|address: IpAddr| address.is_loopback());
    let is_name = |known: &str| name == known || name.strip_suffix(known).is_some_and(|rest| rest.ends_with('.'));
    is_loopback || is_name("localhost") || is_name("lastmile")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(headers: &[(&str, &str)]) -> Option<u16> {
        let mut request = Request::post("/v1/chunks");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&request.body(()).unwrap())
            .err()
            .map(|(status, _)| status.as_u16())
    }

    #[test]
    fn requests_of_this_machine_are_answered() {
        for host in [
            "127.0.0.1:7878",
            "localhost",
            "LOCALHOST:1",
            "[::1]:7878",
            "127.9.9.9",
            "host.lastmile:7878",
            "a.localhost",
        ] {
            assert_eq!(status(&[("host", host)]), None, "{host}");
        }
        assert_eq!(status(&[]), None);
        let page = [("host", "127.0.0.1:7878"), ("origin", "http://127.0.0.1:7878")];
        assert_eq!(status(&page), None);
        assert_eq!(status(&[("content-type", "application/octet-stream")]), None);
    }

    #[test]
    fn requests_of_other_sites_pages_are_refused() {
        for host in [
            "evil.example",
            "evil.example:7878",
            "x",
            "192.0.2.1",
            "localhost.evil.example",
            "evillastmile",
            "127.0.0.1.evil.example",
        ] {
            assert_eq!(status(&[("host", host)]), Some(403), "{host}");
        }
        for origin in ["http://evil.example", "null", "http://127.0.0.1:8000"] {
            assert_eq!(
                status(&[("host", "127.0.0.1:7878"), ("origin", origin)]),
                Some(403),
                "{origin}"
            );
        }
        for media_type in [
            "text/plain;charset=UTF-8",
            "Multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded",
        ] {
            assert_eq!(status(&[("content-type", media_type)]), Some(415), "{media_type}");
        }
    }
}
