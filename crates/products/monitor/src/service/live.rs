//! The live page: a document, a style and a script that follow the events in a browser.
//!
//! They hold no event, so they need no token; the script asks for one where the monitor does. It fetches from this monitor alone.

use super::AnswerBody;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Full};

/// What the page may load, and from where.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// A part of the page by its path; none where the path is another.
pub(super) fn find(path: &str) -> Option<Response<AnswerBody>> {
    let (media_type, text) = match path {
        "/" => ("text/html; charset=utf-8", include_str!("live/index.html")),
        "/live.css" => ("text/css; charset=utf-8", include_str!("live/live.css")),
        "/live.js" => ("text/javascript; charset=utf-8", include_str!("live/live.js")),
        _ => return None,
    };
    let response = Response::builder()
        .status(StatusCode::OK)
        .header(CONTENT_TYPE, media_type)
        .header(CACHE_CONTROL, "no-store")
        .header(CONTENT_SECURITY_POLICY, POLICY)
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff");
    let body = Full::new(Bytes::from_static(text.as_bytes())).boxed_unsync();
    Some(response.body(body).expect("these headers are valid"))
}
