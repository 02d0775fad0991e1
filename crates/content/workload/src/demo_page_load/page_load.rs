//! The shop's page with everything that it loads, in the order and with the gaps of a browser's requests.
//!
//! Documents, style sheets and scripts name exactly these responses, so that a browser that is given them makes these requests.

use super::content::{self, PageText};
use super::naming::{self, Asker, PageFiles, TimedRequest};
use super::{WOFF2, code, compressed, noise_image};
use crate::vocabulary::Words;
use lastmile_units::Rng;
use lastmile_units::random::{between, pick};
use rand_core::Rng as _;
use std::time::Duration;

/// A response of the page load.
pub(super) struct Served {
    pub(super) method: &'static str,
    pub(super) url: String,
    pub(super) status: u16,
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
    /// Generated for each request.
    pub(super) dynamic: bool,
    /// Time since the page load began.
    pub(super) started: Duration,
    /// Time until the host's name was found and a connection was open; zero where one was.
    pub(super) connecting: Duration,
    /// The server's think time.
    pub(super) wait: Duration,
    /// None for what the user asked for.
    pub(super) initiator: Option<Initiator>,
}

/// The place that led to a request; lines and columns count from 0.
#[derive(Debug, Clone)]
pub(super) struct Initiator {
    pub(super) url: String,
    pub(super) line: usize,
    pub(super) column: usize,
    /// The script's function, by its name; none where a document or a style sheet has the URL.
    pub(super) function: Option<&'static str>,
}

const PAGE: &str = "https://www.shop.example";
pub(super) const FILES: &str = "https://static.shop.example";
const INTERFACE: &str = "https://api.shop.example";

/// When the document had been parsed, and its deferred scripts had run.
pub(super) const CONTENT_LOADED: Duration = Duration::from_millis(512);

/// When the load event was fired: all that the document and its style sheets name had arrived.
pub(super) const LOADED: Duration = Duration::from_millis(LOADED_MS);
const LOADED_MS: u64 = 784;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const JSON: &str = "application/json";

/// One page.
pub(super) fn page_load(words: &Words, rng: &mut Rng) -> Vec<Served> {
    let mut load = Load { served: Vec::new() };
    let redirect = content::record(words, 1, rng).into_bytes();
    load.dynamic(
        (0, 20),
        "GET",
        "http://www.shop.example/".to_owned(),
        301,
        JSON,
        redirect,
    );
    let text = PageText::generate(words, 32, rng);
    let document = load.dynamic((21, 210), "GET", format!("{PAGE}/"), 200, HTML, Vec::new());
    load.served[document].connecting = Duration::from_millis(50);
    let files = load.files(words, rng);
    let data = load.data(words, rng);
    let fragment_text = PageText::generate(words, 6, rng);
    let fragment = format!("{PAGE}/fragments/recommended");
    let fragment = load.dynamic((1_480, 140), "GET", fragment, 200, HTML, Vec::new());
    let events = load.events();

    let names = files.markup(&text.title, 32);
    load.served[document].body = text.html(&names).into_bytes();
    load.served[fragment].body = fragment_text.fragment(&names.pictures[..6]).into_bytes();
    for (index, url) in files.sheets.iter().enumerate() {
        load.put_before(url, &files.rules(index));
    }
    let timed = |items: &[usize]| items.iter().map(|item| load.timed(*item)).collect::<Vec<_>>();
    let asking = naming::asking(&timed(&data), &load.timed(fragment));
    let reporting = naming::reporting(&timed(&events));
    for (index, url) in files.scripts.iter().enumerate() {
        load.put_before(url, naming::REGISTRY);
        let body = load.body_of(url);
        match index {
            naming::DATA_SCRIPT => body.extend_from_slice(asking.as_bytes()),
            naming::IMAGE_SCRIPT => body.extend_from_slice(naming::ADDING.as_bytes()),
            naming::EVENT_SCRIPT => body.extend_from_slice(reporting.as_bytes()),
            _ => {}
        }
    }

    load.name_initiators();
    let added = files.images.len() - naming::ADDED_IMAGES;
    let added: Vec<usize> = files.images[added..].iter().map(|url| load.index_of(url)).collect();
    for (items, script, asker) in [
        (&data, naming::DATA_SCRIPT, Asker::Data),
        (&vec![fragment], naming::DATA_SCRIPT, Asker::Fragment),
        (&added, naming::IMAGE_SCRIPT, Asker::Image),
        (&events, naming::EVENT_SCRIPT, Asker::Event),
    ] {
        load.made_by_script(items, &files.scripts[script], asker);
    }
    load.served.sort_by_key(|served| served.started);
    load.served
}

struct Load {
    served: Vec<Served>,
}

impl Load {
    /// The files of the static host; style sheets and scripts are without what names other files.
    fn files(&mut self, words: &Words, rng: &mut Rng) -> PageFiles {
        let style = |length| move |rng: &mut Rng| code::style(words, length, rng).into_bytes();
        let sheets = [62_000, 21_000, 6_500].into_iter().enumerate().map(|(index, length)| {
            let at = 330 + 4 * index as u64;
            self.file(at, rng, ("css", ".css", CSS), words, style(length))
        });
        let sheets = sheets.collect();
        let script = |length| move |rng: &mut Rng| code::script(words, length, rng).into_bytes();
        let lengths = [310_000, 140_000, 88_000, 52_000, 34_000, 19_000, 11_000, 4_800, 1_900];
        let scripts = lengths.into_iter().enumerate().map(|(index, length)| {
            let at = 345 + 6 * index as u64;
            self.file(at, rng, ("js", ".js", JS), words, script(length))
        });
        let scripts = scripts.collect();
        let font = |length| move |rng: &mut Rng| compressed(WOFF2, length, rng);
        let fonts = [38_000, 31_000, 26_000].into_iter().enumerate().map(|(index, length)| {
            let at = 520 + 3 * index as u64;
            self.file(at, rng, ("font", ".woff2", "font/woff2"), words, font(length))
        });
        let fonts = fonts.collect();
        let drawing = |paths| move |rng: &mut Rng| content::drawing(paths, rng).into_bytes();
        let icons = [3, 4, 5, 5, 6, 9, 14, 40, 110]
            .into_iter()
            .enumerate()
            .map(|(index, paths)| {
                let at = 540 + 7 * index as u64;
                self.file(at, rng, ("icon", ".svg", "image/svg+xml"), words, drawing(paths))
            });
        let icons = icons.collect();
        let images = (0..IMAGES).map(|index| self.image(index, words, rng)).collect();
        PageFiles {
            sheets,
            scripts,
            fonts,
            icons,
            images,
        }
    }

    /// An image of the static host. The first ones are large, above the fold; the others are thumbnails, of which a script adds the last.
    fn image(&mut self, index: usize, words: &Words, rng: &mut Rng) -> String {
        const NAMED: usize = IMAGES - naming::ADDED_IMAGES;
        let at = if index < NAMED {
            560 + 11 * index
        } else {
            790 + 2 * (index - NAMED)
        };
        let length = if index < naming::HERO_IMAGES {
            between(rng, 60_000, 110_000)
        } else {
            between(rng, 4_000, 26_000)
        };
        let is_jpeg = index % 4 == 3;
        let kind = if is_jpeg {
            ("img", ".jpg", "image/jpeg")
        } else {
            ("img", ".webp", "image/webp")
        };
        self.file(at as u64, rng, kind, words, |rng| {
            let noise = compressed(&[], length, rng);
            if is_jpeg {
                noise_image::jpeg(&noise)
            } else {
                noise_image::webp(&noise)
            }
        })
    }

    /// The answers of the interface, as places among the responses.
    fn data(&mut self, words: &Words, rng: &mut Rng) -> Vec<usize> {
        let mut data = Vec::new();
        for (index, fields) in [3, 5, 8, 12, 14, 20, 30, 60].into_iter().enumerate() {
            let (at, wait) = (900 + 45 * index as u64, between(rng, 30, 260) as u64);
            let url = format!("{INTERFACE}/v2/{}/{}", words.name(rng), words.name(rng));
            let record = content::record(words, fields, rng).into_bytes();
            data.push(self.dynamic((at, wait), "GET", url, 200, JSON, record));
        }
        for (index, count) in [6, 24, 60, 420].into_iter().enumerate() {
            let (at, wait) = (1_250 + 80 * index as u64, 60 + 2 * count as u64);
            let url = format!("{INTERFACE}/v2/products?limit={count}&sort={}", words.name(rng));
            let products = content::products(words, count, rng).into_bytes();
            data.push(self.dynamic((at, wait), "GET", url, 200, JSON, products));
        }
        data
    }

    fn events(&mut self) -> Vec<usize> {
        let mut events = Vec::new();
        for (index, what) in ["view", "visible", "timing", "scroll", "idle"].into_iter().enumerate() {
            let url = format!("{INTERFACE}/events/{what}");
            let at = 1_100 + 700 * index as u64;
            events.push(self.dynamic((at, 35), "POST", url, 204, "", Vec::new()));
        }
        events
    }

    /// A file of the static host, named after its content as build tools do; gives its URL.
    fn file(
        &mut self,
        at: u64,
        rng: &mut Rng,
        (folder, extension, media_type): (&str, &str, &'static str),
        words: &Words,
        body: impl FnOnce(&mut Rng) -> Vec<u8>,
    ) -> String {
        let url = format!(
            "{FILES}/{folder}/{}.{:08x}{extension}",
            words.camel(rng),
            rng.next_u32()
        );
        let wait = pick(rng, &[4, 5, 5, 6, 8, 12]);
        let body = body(rng);
        self.served.push(Served {
            method: "GET",
            url: url.clone(),
            status: 200,
            media_type,
            body,
            dynamic: false,
            started: Duration::from_millis(at),
            connecting: Duration::ZERO,
            wait: Duration::from_millis(wait),
            initiator: None,
        });
        url
    }

    /// A response that is generated for each request; `times` has its start and its wait in milliseconds. Gives its place.
    fn dynamic(
        &mut self,
        times: (u64, u64),
        method: &'static str,
        url: String,
        status: u16,
        media_type: &'static str,
        body: Vec<u8>,
    ) -> usize {
        self.served.push(Served {
            method,
            url,
            status,
            media_type,
            body,
            dynamic: true,
            started: Duration::from_millis(times.0),
            connecting: Duration::ZERO,
            wait: Duration::from_millis(times.1),
            initiator: None,
        });
        self.served.len() - 1
    }

    /// The request for a response, as the time after the load event.
    fn timed(&self, item: usize) -> TimedRequest {
        let served = &self.served[item];
        TimedRequest {
            url: served.url.clone(),
            after: served.started.as_millis() as u64 - LOADED_MS,
        }
    }

    fn index_of(&self, url: &str) -> usize {
        let found = self.served.iter().position(|served| served.url == url);
        found.expect("the file is served")
    }

    fn body_of(&mut self, url: &str) -> &mut Vec<u8> {
        let index_of = self.index_of(url);
        &mut self.served[index_of].body
    }

    fn put_before(&mut self, url: &str, text: &str) {
        self.body_of(url).splice(..0, text.bytes());
    }

    /// Notes which document or style sheet names each file, and where.
    fn name_initiators(&mut self) {
        let holders = self
            .served
            .iter()
            .filter(|served| [HTML, CSS].contains(&served.media_type));
        let holders: Vec<_> = holders
            .map(|served| (served.url.clone(), served.body.clone()))
            .collect();
        for served in self.served.iter_mut().filter(|served| !served.dynamic) {
            let name = served.url.rsplit('/').next().unwrap_or_default();
            served.initiator = holders.iter().find_map(|(url, text)| initiator(url, text, name, None));
        }
    }

    fn made_by_script(&mut self, items: &[usize], script: &str, asker: Asker) {
        let (function, call) = asker.call();
        let initiator = initiator(script, self.body_of(script), call, Some(function));
        for item in items {
            self.served[*item].initiator.clone_from(&initiator);
        }
    }
}

const IMAGES: usize = 26;

/// The place of `part` in the text of the file at `url`.
fn initiator(url: &str, text: &[u8], part: &str, function: Option<&'static str>) -> Option<Initiator> {
    let text = std::str::from_utf8(text).ok()?;
    let before = &text[..text.find(part)?];
    let line_begin = before.rfind('\n').map_or(0, |end| end + 1);
    Some(Initiator {
        url: url.to_owned(),
        line: before.matches('\n').count(),
        column: before.len() - line_begin,
        function,
    })
}
