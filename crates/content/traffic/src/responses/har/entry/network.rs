//! Whether an entry crossed the network. HTTP Archive 1.2 has no field for that; browsers have signs of their own.
//!
//! | who answered | sign |
//! | --- | --- |
//! | a cache of Chromium, or Chromium's own redirect to `https` | `_fromCache`; or `_transferSize` 0, without time to connect or send |
//! | a cache or service worker of Safari | `_fetchType` |
//! | a cache of Firefox | content without a status; or `cache.afterRequest` without `cache.beforeRequest`, and no body counted |
//! | a service worker of Chromium | `_fetchedViaServiceWorker`, unless `_serviceWorkerResponseSource` is the network |
//! | some cache | `bodySize` 0 or below -1 although there is content, no connection, no time to connect or send |
//!
//! The last sign counts only where the same tool counted the bodies of other entries. A page's request that a service worker passed on
//! is one request, though some tools list both. Status 304 is an answer of the network, without a body.

use super::Entry;
use crate::reading::lenient::Number;
use serde::de::IgnoredAny;
use std::time::Duration;

/// What answered an entry's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::responses::har) enum AnsweredBy {
    /// A server, over the network.
    Network,
    /// The browser: a cache, a service worker, or a redirect of its own.
    Browser,
    /// A server, through a service worker whose own request may be another entry.
    NetworkThroughWorker,
    /// The browser, where this tool counts bodies.
    BrowserIfBodiesAreCounted,
}

/// A field that is present, even if it is null.
#[derive(Debug, Default)]
pub(super) struct Present(bool);

impl<'de> serde::Deserialize<'de> for Present {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Self(true))
    }
}

crate::reading::lenient::lenient_object!(
    /// What a tool says of the browser's cache.
    pub(super) CacheFields, "a cache" {
        "beforeRequest" => before: Present,
        "afterRequest" => after: Present,
    }
);

impl Entry {
    /// Whether the tool counted bytes of its body on the network.
    pub(in crate::responses::har) fn counts_body(&self) -> bool {
        self.response.body_size.value().is_some_and(|size| size > 0.0)
    }

    /// What answered this entry's request.
    pub(in crate::responses::har) fn answered_by(&self) -> AnsweredBy {
        let response = &self.response;
        match response.status.status() {
            Some(304) => return AnsweredBy::Network,
            None => return AnsweredBy::Browser,
            Some(_) => {}
        }
        let fetched = self.fetch_type.as_str().to_ascii_lowercase();
        if self.from_cache.0 || fetched.contains("cache") || fetched.contains("service worker") {
            return AnsweredBy::Browser;
        }
        if response.via_service_worker.0 {
            let source = response.service_worker_source.as_str();
            return if source.eq_ignore_ascii_case("network") {
                AnsweredBy::NetworkThroughWorker
            } else {
                AnsweredBy::Browser
            };
        }
        let timings = &self.timings;
        let takes_time = |part: &Number| part.milliseconds().is_some_and(|time| time > Duration::ZERO);
        if [&timings.dns, &timings.connect, &timings.ssl, &timings.send]
            .into_iter()
            .any(takes_time)
        {
            return AnsweredBy::Network;
        }
        let (transfer, body) = (response.transfer_size.value(), response.body_size.value());
        if transfer == Some(0.0) {
            return AnsweredBy::Browser;
        }
        if self.cache.after.0 && !self.cache.before.0 && !self.counts_body() {
            return AnsweredBy::Browser;
        }
        let none_came = body.is_some_and(|size| size == 0.0 || size < -1.0);
        let has_content = response.content.size.value().is_some_and(|size| size > 0.0);
        let unconnected = self.connection.as_str().is_empty();
        if transfer.is_none() && none_came && has_content && unconnected {
            return AnsweredBy::BrowserIfBodiesAreCounted;
        }
        AnsweredBy::Network
    }
}
