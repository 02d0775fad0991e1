//! The hosts of a page, each with the version of HTTP that it was recorded with.

use lastmile_testbed::http::Version;
use lastmile_traffic::responses::{HttpVersion, Response};
use std::collections::BTreeMap;

/// A host of a page: its scheme and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageHost {
    /// Its scheme and name, with the port where its URLs have one: `https://www.example`.
    pub address: String,
    /// The number of its responses that state each version of HTTP.
    pub stated: BTreeMap<HttpVersion, u64>,
}

/// How a host is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedHost {
    /// The version of HTTP that it speaks.
    pub version: Version,
    /// Whether its connections are encrypted.
    pub is_encrypted: bool,
}

impl PageHost {
    /// Whether its scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.address.starts_with("https:")
    }

    /// The version that most of its responses state, and of several the newest; none where none states a version.
    pub fn recorded(&self) -> Option<HttpVersion> {
        let most = self.stated.iter().max_by_key(|(version, count)| (**count, **version));
        most.map(|(version, _)| *version)
    }

    /// The version that it is replayed with: HTTP/2 for HTTP/3, since no world here has QUIC; HTTP/1.1 for HTTP/1.0, and where the
    /// recording does not say.
    pub fn version(&self) -> Version {
        match self.recorded() {
            Some(HttpVersion::Http2 | HttpVersion::Http3) => Version::H2,
            Some(HttpVersion::Http10 | HttpVersion::Http11) | None => Version::Http11,
        }
    }
}

/// The hosts of responses in the order of their first appearance, and for each response the index of its host.
pub(crate) fn page_hosts<'a>(responses: impl Iterator<Item = &'a Response>) -> (Vec<PageHost>, Vec<usize>) {
    let mut hosts: Vec<PageHost> = Vec::new();
    let mut numbers = BTreeMap::new();
    let of_response = responses.map(|response| {
        let number = *numbers.entry((&*response.scheme, &*response.host)).or_insert_with(|| {
            hosts.push(PageHost {
                address: format!("{}://{}", response.scheme, response.host),
                stated: BTreeMap::new(),
            });
            hosts.len() - 1
        });
        if let Some(version) = response.http_version {
            *hosts[number].stated.entry(version).or_default() += 1;
        }
        number
    });
    let of_responses = of_response.collect();
    (hosts, of_responses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{response, text};
    use lastmile_traffic::responses::{Body, Origin};

    fn host(versions: &[Option<HttpVersion>]) -> PageHost {
        let stating = |version: &Option<HttpVersion>| Response {
            http_version: *version,
            ..response("/", "text/html", Origin::Static, Body::Present(text(10)))
        };
        let responses: Vec<Response> = versions.iter().map(stating).collect();
        let (hosts, of_responses) = page_hosts(responses.iter());
        assert_eq!(of_responses, vec![0; versions.len()]);
        hosts.into_iter().next().unwrap()
    }

    #[test]
    fn a_host_is_replayed_with_the_version_that_most_of_its_responses_state() {
        use HttpVersion::{Http2, Http3, Http10, Http11};
        for (stated, expected) in [
            (&[None][..], Version::Http11),
            (&[Some(Http10)], Version::Http11),
            (&[Some(Http11)], Version::Http11),
            (&[Some(Http2)], Version::H2),
            (&[Some(Http3)], Version::H2),
            (&[Some(Http2), Some(Http11), Some(Http11)], Version::Http11),
            (&[Some(Http11), Some(Http2)], Version::H2),
            (&[None, None, Some(Http2)], Version::H2),
        ] {
            assert_eq!(host(stated).version(), expected, "{stated:?}");
        }
    }
}
