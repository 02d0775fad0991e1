//! Feeds what finds the resources that documents, style sheets and modules name.

use bytes::Bytes;
use lastmile_page::Page;
use lastmile_page::dependencies::Extent;
use lastmile_page::testing::{response, traffic};
use lastmile_traffic::responses::{Body, Origin};
use std::time::Duration;

/// A document, a style sheet and two scripts, with `%%` between them. What a request waits for are parts, which exist, of earlier ones.
pub fn page(input: &[u8]) {
    let mut parts = input.split(|byte| *byte == b'%').filter(|part| !part.is_empty());
    let mut next = || Bytes::copy_from_slice(parts.next().unwrap_or_default());
    let resources = [
        ("/", "text/html"),
        ("/a.css", "text/css"),
        ("/b.js", "text/javascript"),
        ("/c.js", "text/javascript"),
        ("/d.png", "image/png"),
    ];
    let responses = resources.iter().enumerate().map(|(index, (path, media_type))| {
        let mut response = response(path, media_type, Origin::Static, Body::Present(next()));
        let time = Duration::from_millis(10 * index as u64);
        (response.started, response.total, response.wait) = (time, Some(time), Some(Duration::ZERO));
        response
    });
    let page = Page::from_traffic(&traffic(responses.collect()));
    for (index, item) in page.items.iter().enumerate() {
        for prerequisite in &item.prerequisites {
            assert!(prerequisite.item < index, "{index} waits for {}", prerequisite.item);
            if let Extent::Beginning(bytes) = prerequisite.extent {
                assert!(bytes < page.items[prerequisite.item].plain, "{index} waits for {bytes}");
            }
        }
    }
    assert!(
        page.body_begins
            .iter()
            .all(|prerequisite| prerequisite.item < page.items.len())
    );
}
