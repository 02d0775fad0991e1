//! Web pages of every common shape, generated from a seed: what a simulated page load is compared with a browser's on.
//!
//! Each is complete: its documents, style sheets and scripts name one another as a browser needs it, and its scripts run. Sizes are our
//! own choice of ordinary ones.

mod code;
mod shapes;

use super::WorkloadError;
use super::vocabulary::Words;
use lastmile_traffic::responses::{Body, HttpVersion, Origin, Response, Traffic, TrafficFormat};
use lastmile_units::suggest::nearest;
use lastmile_units::{Rng, Seed};
use rand_core::Rng as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use shapes::SHAPES;
use shapes::{CSS, HTML, JS, PNG, WOFF2};

/// The seed of every page: pages are the same everywhere, so that figures can be compared.
const SEED: Seed = Seed::new(13);

/// A shape of page.
#[derive(Debug, Clone, Copy)]
pub struct PageShape {
    /// Its name in studies.
    pub name: &'static str,
    /// What is special about it.
    pub about: &'static str,
    build: fn(&mut PageBuilder),
}

/// The shape of a name.
pub fn find(name: &str) -> Option<&'static PageShape> {
    SHAPES.iter().find(|shape| shape.name == name)
}

impl PageShape {
    /// The page as a browser would have recorded it over an infinitely fast link, with the scripts that made requests.
    pub fn traffic(&self) -> Traffic {
        let mut rng = SEED.derive(self.name).rng();
        let mut builder = PageBuilder {
            words: Words::new(&mut rng),
            rng,
            responses: Vec::new(),
            load_event: None,
        };
        (self.build)(&mut builder);
        Traffic {
            source: self.name.to_owned(),
            format: TrafficFormat::Har,
            responses: builder.responses,
            load_event: builder.load_event,
            dom_content_loaded: None,
            notes: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

/// A web page of a study: `{ kind = "page", shape = "gallery" }`, or `{ kind = "page", path = "page.har" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The name of a shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// A recording, relative to the program's working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

impl Page {
    /// Checks, without reading it, that there is such a page.
    ///
    /// # Errors
    /// When the page has neither shape nor path or both, the shape is unknown, or the recording cannot be opened.
    pub fn check(&self) -> Result<(), WorkloadError> {
        self.source().map(drop)
    }

    /// The recording, or the page of that shape.
    ///
    /// # Errors
    /// As [`check`](Self::check), and when the recording cannot be read.
    pub fn traffic(&self) -> Result<Traffic, WorkloadError> {
        match self.source()? {
            PageSource::Shape(shape) => Ok(shape.traffic()),
            PageSource::Recording(path) => Traffic::open(path).map_err(|error| Self::refused(error.to_string())),
        }
    }

    fn source(&self) -> Result<PageSource<'_>, WorkloadError> {
        match (&self.shape, &self.path) {
            (Some(name), None) => find(name).map(PageSource::Shape).ok_or_else(|| {
                let names = || SHAPES.iter().map(|shape| shape.name);
                let remedy = match nearest(name, names()) {
                    Some(meant) => format!("did you mean {meant:?}?"),
                    None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
                };
                Self::refused(format!("unknown shape {name:?}; {remedy}"))
            }),
            (None, Some(path)) => match std::fs::metadata(path) {
                Ok(_) => Ok(PageSource::Recording(path)),
                Err(error) => Err(Self::refused(format!(
                    "{}: {error}; its path is relative to the folder that lastmile is run in",
                    path.display()
                ))),
            },
            _ => Err(Self::refused(
                "give it either a shape, like shape = \"gallery\", or the path of a recording, like path = \"page.har\"".to_owned(),
            )),
        }
    }

    const fn refused(problem: String) -> WorkloadError {
        WorkloadError::Spec { kind: "page", problem }
    }
}

/// Where a page comes from.
enum PageSource<'a> {
    Shape(&'static PageShape),
    Recording(&'a Path),
}

/// The host of most resources.
const HOST: &str = "www.page.example";

/// Makes the responses of a page, in the order in which a browser asks for them.
struct PageBuilder {
    words: Words,
    rng: Rng,
    responses: Vec<Response>,
    load_event: Option<Duration>,
}

impl PageBuilder {
    /// A response at a path of the usual host.
    fn respond(&mut self, path: &str, media_type: &str, body: impl Into<Vec<u8>>) -> &mut Response {
        self.respond_from(HOST, path, media_type, body)
    }

    fn respond_from(&mut self, host: &str, path: &str, media_type: &str, body: impl Into<Vec<u8>>) -> &mut Response {
        let origin = match media_type {
            "text/html" | "application/json" => Origin::Dynamic,
            _ => Origin::Static,
        };
        self.responses.push(Response {
            index: self.responses.len(),
            url: format!("https://{host}{path}"),
            scheme: "https".to_owned(),
            host: host.to_owned(),
            method: "GET".to_owned(),
            status: 200,
            media_type: Some(media_type.to_owned()),
            body: Body::Present(body.into().into()),
            http_version: Some(HttpVersion::Http2),
            wait: Some(Duration::ZERO),
            total: Some(Duration::ZERO),
            origin,
            origin_because: "its shape says so",
            ..Response::default()
        });
        self.responses.last_mut().expect("one was added")
    }

    /// A resource that the script at `initiator` asks for.
    fn respond_to_script(&mut self, initiator: &str, path: &str, media_type: &str, body: impl Into<Vec<u8>>) {
        let initiator = format!("https://{HOST}{initiator}");
        self.respond(path, media_type, body).initiator = Some(initiator);
    }

    /// A resource that the script at `initiator` asks for when the load event is fired.
    fn respond_after_load(&mut self, initiator: &str, path: &str, media_type: &str, body: impl Into<Vec<u8>>) {
        const FIRED: Duration = Duration::from_millis(1);
        self.load_event = Some(FIRED);
        self.respond_to_script(initiator, path, media_type, body);
        self.responses.last_mut().expect("one was added").started = FIRED;
    }

    /// Text in paragraphs, of about `length` bytes.
    fn text(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 300);
        while text.len() < length {
            let words = self.words.sentences(3, &mut self.rng);
            text += &format!("<p class=\"t{}\">{words}</p>\n", text.len() % 7);
        }
        text
    }

    /// A document with this head and body, and about `length` bytes of text behind them.
    fn document(&mut self, head: &str, body: &str, length: usize) -> String {
        let text = self.text(length);
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><link rel=\"icon\" href=\"data:,\">\n\
             <title>Page</title>\n{head}\n</head>\n<body>\n{body}\n{text}</body></html>\n"
        )
    }

    /// A style sheet of about `length` bytes that begins with `first`.
    fn sheet(&mut self, first: &str, length: usize) -> String {
        format!("{first}\n{}", code::style(&self.words, length, &mut self.rng))
    }

    /// A script of about `length` bytes that ends with `last`; the rest of it is read and not run.
    fn script(&mut self, length: usize, last: &str) -> String {
        format!(
            "if (window.never) {{\n{}}}\n{last}\n",
            code::script(&self.words, length, &mut self.rng)
        )
    }

    fn add_document(&mut self, path: &str, head: &str, body: &str, length: usize) {
        let document = self.document(head, body, length);
        self.respond(path, HTML, document);
    }

    fn add_sheet(&mut self, path: &str, first: &str, length: usize) {
        let sheet = self.sheet(first, length);
        self.respond(path, CSS, sheet);
    }

    fn add_script(&mut self, path: &str, length: usize, last: &str) {
        let script = self.script(length, last);
        self.respond(path, JS, script);
    }

    fn add_image(&mut self, path: &str, length: usize) {
        let image = self.image(length);
        self.respond(path, PNG, image);
    }

    fn add_font(&mut self, path: &str, length: usize) {
        let font = self.font(length);
        self.respond(path, WOFF2, font);
    }

    /// A PNG image of about `length` bytes.
    fn image(&mut self, length: usize) -> Vec<u8> {
        png(length, &mut self.rng)
    }

    /// Bytes with the signature of a WOFF2 font.
    fn font(&mut self, length: usize) -> Vec<u8> {
        let mut font = vec![0; length];
        self.rng.fill_bytes(&mut font);
        font[..8].copy_from_slice(b"wOF2\0\x01\0\0");
        font
    }
}

/// A PNG image of noise, which nothing compresses (PNG specification, third edition, section 5).
fn png(length: usize, rng: &mut Rng) -> Vec<u8> {
    const WIDTH: usize = 256;
    // A grey row takes a byte per pixel, one for its filter, and 5 bytes of its stored block.
    let height = (length.saturating_sub(70) / (WIDTH + 6)).max(1);
    let mut header = Vec::new();
    header.extend_from_slice(&(WIDTH as u32).to_be_bytes());
    header.extend_from_slice(&(height as u32).to_be_bytes());
    // 8 bits a sample, grey, deflate, adaptive filters, not interlaced.
    header.extend_from_slice(&[8, 0, 0, 0, 0]);
    // A zlib stream of stored blocks (RFC 1950 section 2.2, RFC 1951 section 3.2.4).
    let mut data = vec![0x78, 0x01];
    let (mut a, mut b) = (1_u32, 0_u32);
    for row in 0..height {
        let mut line = vec![0; WIDTH + 1];
        rng.fill_bytes(&mut line[1..]);
        let size = line.len() as u16;
        data.push(u8::from(row + 1 == height));
        data.extend_from_slice(&size.to_le_bytes());
        data.extend_from_slice(&(!size).to_le_bytes());
        for byte in &line {
            a = (a + u32::from(*byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        data.extend_from_slice(&line);
    }
    data.extend_from_slice(&(b << 16 | a).to_be_bytes());
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [(b"IHDR", &header), (b"IDAT", &data), (b"IEND", &Vec::new())] {
        png.extend_from_slice(&(content.len() as u32).to_be_bytes());
        let checked = png.len();
        png.extend_from_slice(kind);
        png.extend_from_slice(content);
        let sum = crc32(&png[checked..]);
        png.extend_from_slice(&sum.to_be_bytes());
    }
    png
}

/// The checksum of a chunk (PNG specification, third edition, annex D).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 }
        })
    })
}

#[cfg(test)]
mod tests;
