//! Example traffic for trying lastmile without a recording: a page load of a fictitious shop.
//!
//! [`example_files`] generates the files committed under `examples/`: `shop.har`, one page with everything it loads, as a browser would
//! save it, and `responses/`, a folder of varied bodies. All of it is pseudo-text from a seed: words by Zipf's law, sentences, and the
//! forms of HTML, CSS, scripts and JSON, so that codings save about as much on it as on real files. Sizes and counts are our own
//! choice of an ordinary page.

pub(crate) mod code;
mod content;
mod har;

use super::vocabulary::Words;
use lastmile_units::random::{between, pick};
use lastmile_units::{Rng, Seed};
use rand_core::Rng as _;
use std::collections::BTreeMap;
use std::time::Duration;

/// The seed of the committed examples.
const EXAMPLES: Seed = Seed::new(1);

/// A response of the page load.
struct Served {
    method: &'static str,
    url: String,
    status: u16,
    media_type: &'static str,
    body: Vec<u8>,
    /// Generated for each request.
    dynamic: bool,
    /// Time since the page load began.
    started: Duration,
    /// The server's think time.
    wait: Duration,
}

/// The files of `examples/`: contents by path. The same bytes on every machine.
pub fn example_files() -> BTreeMap<String, Vec<u8>> {
    let mut rng = EXAMPLES.derive("site").rng();
    let words = Words::new(&mut rng);
    let mut files = folder(&words, &mut rng);
    files.insert(
        "shop.har".to_owned(),
        har::har(&page_load(&words, &mut rng)).into_bytes(),
    );
    files
}

/// More than a dozen kinds of bodies, small and large.
fn folder(words: &Words, rng: &mut Rng) -> BTreeMap<String, Vec<u8>> {
    let text = |count, rng: &mut Rng| words.sentences(count, rng) + "\n";
    let files = [
        ("index.html", content::page(words, 24, rng).into_bytes()),
        ("about.html", content::page(words, 2, rng).into_bytes()),
        ("base.css", code::style(words, 40_000, rng).into_bytes()),
        ("app.js", code::script(words, 180_000, rng).into_bytes()),
        ("consent.js", code::script(words, 9_000, rng).into_bytes()),
        ("products.json", content::products(words, 200, rng).into_bytes()),
        ("cart.json", content::record(words, 12, rng).into_bytes()),
        ("session.json", content::record(words, 3, rng).into_bytes()),
        ("orders.csv", content::orders(words, 1_200, rng).into_bytes()),
        ("news.xml", content::feed(words, 40, rng).into_bytes()),
        ("logo.svg", content::drawing(12, rng).into_bytes()),
        ("map.svg", content::drawing(160, rng).into_bytes()),
        ("terms.txt", text(220, rng).into_bytes()),
        ("photo.webp", compressed(WEBP, 60_000, rng)),
        ("text.woff2", compressed(WOFF2, 24_000, rng)),
    ];
    files
        .into_iter()
        .map(|(name, body)| (format!("responses/{name}"), body))
        .collect()
}

const WEBP: &[u8] = b"RIFF\0\0\0\0WEBPVP8 ";
const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0";
const WOFF2: &[u8] = b"wOF2\0\x01\0\0";

/// Content that is compressed already: random bytes, after a few bytes that identify the format.
fn compressed(magic: &[u8], length: usize, rng: &mut Rng) -> Vec<u8> {
    let mut body = vec![0; length.max(magic.len())];
    rng.fill_bytes(&mut body);
    body[..magic.len()].copy_from_slice(magic);
    body
}

const PAGE: &str = "https://www.shop.example";
const FILES: &str = "https://static.shop.example";
const INTERFACE: &str = "https://api.shop.example";

/// One page, with the order and the gaps of a browser's requests.
fn page_load(words: &Words, rng: &mut Rng) -> Vec<Served> {
    let mut load = Load { served: Vec::new() };
    let redirect = content::record(words, 1, rng).into_bytes();
    load.dynamic(
        0,
        20,
        "GET",
        "http://www.shop.example/".to_owned(),
        301,
        "application/json",
        redirect,
    );
    load.dynamic(
        70,
        210,
        "GET",
        format!("{PAGE}/"),
        200,
        HTML,
        content::page(words, 32, rng).into_bytes(),
    );

    for (index, length) in [62_000, 21_000, 6_500].into_iter().enumerate() {
        let at = 330 + 4 * index as u64;
        load.file(at, rng, "css", ".css", "text/css; charset=utf-8", words, |rng| {
            code::style(words, length, rng).into_bytes()
        });
    }
    for (index, length) in [310_000, 140_000, 88_000, 52_000, 34_000, 19_000, 11_000, 4_800, 1_900]
        .into_iter()
        .enumerate()
    {
        let at = 345 + 6 * index as u64;
        load.file(at, rng, "js", ".js", "text/javascript; charset=utf-8", words, |rng| {
            code::script(words, length, rng).into_bytes()
        });
    }
    for (index, length) in [38_000, 31_000, 26_000].into_iter().enumerate() {
        let at = 520 + 3 * index as u64;
        load.file(at, rng, "font", ".woff2", "font/woff2", words, |rng| {
            compressed(WOFF2, length, rng)
        });
    }
    for (index, paths) in [3, 4, 5, 5, 6, 9, 14, 40, 110].into_iter().enumerate() {
        let at = 540 + 7 * index as u64;
        load.file(at, rng, "icon", ".svg", "image/svg+xml", words, |rng| {
            content::drawing(paths, rng).into_bytes()
        });
    }
    for index in 0..26 {
        let at = 560 + 11 * index;
        // The first images are large, above the fold; the others are thumbnails.
        let length = if index < 3 {
            between(rng, 60_000, 110_000)
        } else {
            between(rng, 4_000, 26_000)
        };
        let (extension, media_type, magic) = if index % 4 == 3 {
            (".jpg", "image/jpeg", JPEG)
        } else {
            (".webp", "image/webp", WEBP)
        };
        load.file(at, rng, "img", extension, media_type, words, |rng| {
            compressed(magic, length, rng)
        });
    }
    for (index, fields) in [3, 5, 8, 12, 14, 20, 30, 60].into_iter().enumerate() {
        let (at, wait) = (900 + 45 * index as u64, between(rng, 30, 260) as u64);
        let url = format!("{INTERFACE}/v2/{}/{}", words.name(rng), words.name(rng));
        load.dynamic(
            at,
            wait,
            "GET",
            url,
            200,
            JSON,
            content::record(words, fields, rng).into_bytes(),
        );
    }
    for (index, count) in [6, 24, 60, 420].into_iter().enumerate() {
        let (at, wait) = (1_250 + 80 * index as u64, 60 + 2 * count as u64);
        let url = format!("{INTERFACE}/v2/products?limit={count}&sort={}", words.name(rng));
        load.dynamic(
            at,
            wait,
            "GET",
            url,
            200,
            JSON,
            content::products(words, count, rng).into_bytes(),
        );
    }
    let fragment = content::page(words, 6, rng).into_bytes();
    load.dynamic(
        1_480,
        140,
        "GET",
        format!("{PAGE}/fragments/recommended"),
        200,
        HTML,
        fragment,
    );
    for (index, what) in ["view", "visible", "timing", "scroll", "leave"].into_iter().enumerate() {
        let at = 1_100 + 700 * index as u64;
        load.dynamic(
            at,
            35,
            "POST",
            format!("{INTERFACE}/events/{what}"),
            204,
            "",
            Vec::new(),
        );
    }
    load.served.sort_by_key(|served| served.started);
    load.served
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

struct Load {
    served: Vec<Served>,
}

impl Load {
    /// A file of the static host, named after its content as build tools do.
    #[expect(clippy::too_many_arguments, reason = "one line a file in the list above reads best")]
    fn file(
        &mut self,
        at: u64,
        rng: &mut Rng,
        folder: &str,
        extension: &str,
        media_type: &'static str,
        words: &Words,
        body: impl FnOnce(&mut Rng) -> Vec<u8>,
    ) {
        let url = format!(
            "{FILES}/{folder}/{}.{:08x}{extension}",
            words.camel(rng),
            rng.next_u32()
        );
        let wait = pick(rng, &[4, 5, 5, 6, 8, 12]);
        let (started, wait) = (Duration::from_millis(at), Duration::from_millis(wait));
        let body = body(rng);
        self.served.push(Served {
            method: "GET",
            url,
            status: 200,
            media_type,
            body,
            dynamic: false,
            started,
            wait,
        });
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one line a response in the list above reads best"
    )]
    fn dynamic(
        &mut self,
        at: u64,
        wait: u64,
        method: &'static str,
        url: String,
        status: u16,
        media_type: &'static str,
        body: Vec<u8>,
    ) {
        let (started, wait) = (Duration::from_millis(at), Duration::from_millis(wait));
        self.served.push(Served {
            method,
            url,
            status,
            media_type,
            body,
            dynamic: true,
            started,
            wait,
        });
    }
}

#[cfg(test)]
mod tests;
