//! Example traffic for trying lastmile without a recording: a page load of a fictitious shop.
//!
//! [`example_files`] generates the files committed under `examples/`: `shop.har`, one page with everything it loads, as a browser would
//! save it, and `responses/`, a folder of varied bodies. All of it is pseudo-text from a seed: words by Zipf's law, sentences, and the
//! forms of HTML, CSS, scripts and JSON, so that codings save about as much on it as on real files. Sizes and counts are our own
//! choice of an ordinary page.

pub(crate) mod code;
mod content;
mod har;
mod naming;
mod noise_image;
mod page_load;

use super::vocabulary::Words;
use content::PageText;
use lastmile_units::{Rng, Seed};
use rand_core::Rng as _;
use std::collections::BTreeMap;

/// The seed of the committed examples.
const EXAMPLES: Seed = Seed::new(1);

/// The files of `examples/`: contents by path. The same bytes on every machine.
pub fn example_files() -> BTreeMap<String, Vec<u8>> {
    let mut rng = EXAMPLES.derive("site").rng();
    let words = Words::new(&mut rng);
    let mut files = folder(&words, &mut rng);
    files.insert(
        "shop.har".to_owned(),
        har::har(&page_load::page_load(&words, &mut rng)).into_bytes(),
    );
    files
}

/// More than a dozen kinds of bodies, small and large.
fn folder(words: &Words, rng: &mut Rng) -> BTreeMap<String, Vec<u8>> {
    let text = |count, rng: &mut Rng| words.sentences(count, rng) + "\n";
    let files = [
        (
            "index.html",
            PageText::generate(words, 24, rng).html_alone().into_bytes(),
        ),
        (
            "about.html",
            PageText::generate(words, 2, rng).html_alone().into_bytes(),
        ),
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
        ("photo.webp", noise_image::webp(&compressed(&[], 60_000, rng))),
        ("text.woff2", compressed(WOFF2, 24_000, rng)),
    ];
    files
        .into_iter()
        .map(|(name, body)| (format!("responses/{name}"), body))
        .collect()
}

const WOFF2: &[u8] = b"wOF2\0\x01\0\0";

/// Content that is compressed already: random bytes, after a few bytes that identify the format.
fn compressed(magic: &[u8], length: usize, rng: &mut Rng) -> Vec<u8> {
    let mut body = vec![0; length.max(magic.len())];
    rng.fill_bytes(&mut body);
    body[..magic.len()].copy_from_slice(magic);
    body
}

#[cfg(test)]
mod tests;
