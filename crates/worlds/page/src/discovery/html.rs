//! Reads what a document names, and the offset at which a browser has read each name.

use super::css;
use html5gum::{DefaultEmitter, EndTag, HtmlString, Spanned, StartTag, Token, Tokenizer};
use std::collections::BTreeMap;

/// What a document says about the resources that it needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// What it names, in its order.
    pub(crate) references: Vec<Reference>,
    /// Its inline scripts, in its order.
    pub(crate) inline_scripts: Vec<InlineScript>,
    /// The offset at which its body begins: where it can first be laid out.
    pub(crate) body: usize,
    /// What its relative URLs are relative to, where a `base` element says.
    pub(crate) base: Option<String>,
}

/// A resource that a document names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    /// As written.
    pub(crate) url: String,
    /// The offset behind the tag that names it.
    pub(crate) end: usize,
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// Whether it is an image of at most 10,000 square pixels by its attributes (`kBoostImagePriorityImageSize`).
    pub(crate) is_small: bool,
}

/// How a document uses a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A script that stops the parser until it has run.
    BlockingScript,
    /// A script that runs when it has arrived.
    AsyncScript,
    /// A script that runs when the document has been parsed.
    DeferredScript,
    /// The same as a module, whose imports are fetched first.
    ModuleScript,
    /// A style sheet that later scripts and the first layout wait for.
    Style,
    /// A style sheet of another medium.
    UnusedStyle,
    /// A style sheet that an inline `style` element imports.
    Import,
    /// An image, a poster or an image button.
    Image,
    /// An image that is fetched only near the viewport.
    LazyImage,
    /// A font or an image of an inline style, fetched when the layout needs it.
    OfLayout,
    /// A document in a frame.
    Frame,
    /// A resource that is needed later.
    Preload,
    /// An icon of the page, a manifest or a resource of the next page: fetched when all else has been.
    Idle,
    /// Sound, video, an object: fetched when the parser reaches it.
    Media,
}

impl Purpose {
    /// Whether the preload scanner asks for it, before the parser reaches it (Chromium, `html_preload_scanner.cc`).
    pub(crate) const fn is_preloaded(self) -> bool {
        match self {
            Self::BlockingScript
            | Self::AsyncScript
            | Self::DeferredScript
            | Self::ModuleScript
            | Self::Style
            | Self::UnusedStyle
            | Self::Import
            | Self::Image
            | Self::Preload => true,
            Self::LazyImage | Self::OfLayout | Self::Frame | Self::Idle | Self::Media => false,
        }
    }
}

/// The greatest area of a small image in square pixels.
const SMALL_IMAGE: f64 = 10_000.0;

/// A script in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InlineScript {
    /// The offset behind its end tag.
    pub(crate) end: usize,
    /// Its text; that of a module is not told apart.
    pub(crate) text: String,
    /// Whether it is a module, which runs when the document has been parsed.
    pub(crate) is_module: bool,
}

/// Reads a document; `text` may be any bytes.
pub(crate) fn read(text: &[u8]) -> Document {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut reader = Reader::default();
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => reader.start_tag(&tag),
            Token::EndTag(tag) => reader.end_tag(&tag),
            Token::String(string) => reader.text(&string),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    Document {
        body: reader.body.unwrap_or(text.len()),
        ..reader.document
    }
}

#[derive(Default)]
struct Reader {
    document: Document,
    body: Option<usize>,
    /// The element whose text is being read, where that matters: an inline script or style.
    open: Option<OpenElement>,
    /// The number of open `template` elements, whose content is not part of the page.
    templates: usize,
}

enum OpenElement {
    Script { text: Vec<u8>, is_module: bool },
    Style { text: Vec<u8> },
}

type Attributes = BTreeMap<HtmlString, Spanned<HtmlString, usize>>;

/// The value of an attribute, where it is not empty.
fn value<'a>(attributes: &'a Attributes, name: &str) -> Option<std::borrow::Cow<'a, str>> {
    let value = attributes.get(name.as_bytes())?;
    (!value.is_empty()).then(|| String::from_utf8_lossy(value))
}

fn has(attributes: &Attributes, name: &str) -> bool {
    attributes.contains_key(name.as_bytes())
}

impl Reader {
    fn add(&mut self, url: impl Into<String>, end: usize, purpose: Purpose) {
        self.document.references.push(Reference {
            url: url.into(),
            end,
            purpose,
            is_small: false,
        });
    }

    fn start_tag(&mut self, tag: &StartTag<usize>) {
        let (name, attributes, end) = (&tag.name[..], &tag.attributes, tag.span.end);
        if name == b"template" {
            self.templates += 1;
        }
        if self.templates > 0 {
            return;
        }
        // The first element that cannot be in the head opens the body (HTML standard, section 13.2.6.4.4).
        const OF_HEAD: [&[u8]; 11] = [
            b"html",
            b"head",
            b"meta",
            b"title",
            b"link",
            b"script",
            b"style",
            b"base",
            b"noscript",
            b"template",
            b"bgsound",
        ];
        if self.body.is_none() && !OF_HEAD.contains(&name) {
            self.body = Some(end);
        }
        if let Some(style) = value(attributes, "style") {
            self.inline_style(&style, end);
        }
        match name {
            b"base" => {
                self.document.base = self
                    .document
                    .base
                    .take()
                    .or_else(|| value(attributes, "href").map(Into::into));
            }
            b"script" => self.script(attributes, end),
            b"link" => self.link(attributes, end),
            b"style" => self.open = Some(OpenElement::Style { text: Vec::new() }),
            b"img" | b"source" | b"image" => self.image(attributes, end),
            b"input" if value(attributes, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("image")) => {
                self.image(attributes, end);
            }
            b"iframe" | b"frame" | b"embed" | b"object" | b"video" | b"audio" | b"track" => {
                self.embedded(name, attributes, end);
            }
            b"use" | b"feimage" => {
                for attribute in ["href", "xlink:href"] {
                    if let Some(url) = value(attributes, attribute) {
                        self.add(url, end, Purpose::Media);
                    }
                }
            }
            _ => {}
        }
    }

    fn script(&mut self, attributes: &Attributes, end: usize) {
        let kind = value(attributes, "type")
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let is_module = kind == "module";
        let is_script = is_module || kind.is_empty() || kind.contains("javascript") || kind.contains("ecmascript");
        if !is_script || (has(attributes, "nomodule") && !is_module) {
            return;
        }
        match value(attributes, "src") {
            Some(url) => {
                let purpose = match (has(attributes, "async"), is_module, has(attributes, "defer")) {
                    (true, _, _) => Purpose::AsyncScript,
                    (false, true, _) => Purpose::ModuleScript,
                    (false, false, true) => Purpose::DeferredScript,
                    (false, false, false) => Purpose::BlockingScript,
                };
                self.add(url, end, purpose);
            }
            None => {
                self.open = Some(OpenElement::Script {
                    text: Vec::new(),
                    is_module,
                });
            }
        }
    }

    fn link(&mut self, attributes: &Attributes, end: usize) {
        let (Some(url), Some(relation)) = (value(attributes, "href"), value(attributes, "rel")) else {
            return;
        };
        let relation = relation.to_ascii_lowercase();
        let is = |wanted: &str| relation.split_ascii_whitespace().any(|word| word == wanted);
        let media = value(attributes, "media")
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        let purpose = if is("stylesheet") && is("alternate") {
            return;
        } else if is("stylesheet") {
            // A condition on the viewport is taken as met: this viewport is not known.
            if media.starts_with("print") || has(attributes, "disabled") {
                Purpose::UnusedStyle
            } else {
                Purpose::Style
            }
        } else if is("preload") || is("modulepreload") {
            Purpose::Preload
        } else if is("icon") || is("apple-touch-icon") || is("manifest") || is("prefetch") {
            Purpose::Idle
        } else {
            return;
        };
        self.add(url, end, purpose);
        if let Some(set) = value(attributes, "imagesrcset") {
            self.image_set(&set, end, purpose);
        }
    }

    fn image(&mut self, attributes: &Attributes, end: usize) {
        let is_lazy = value(attributes, "loading").is_some_and(|loading| loading.eq_ignore_ascii_case("lazy"));
        let purpose = if is_lazy { Purpose::LazyImage } else { Purpose::Image };
        let first = self.document.references.len();
        if let Some(url) = value(attributes, "src") {
            self.add(url, end, purpose);
        }
        if let Some(set) = value(attributes, "srcset") {
            self.image_set(&set, end, purpose);
        }
        let length = |name| value(attributes, name).and_then(|length| length.trim().parse::<f64>().ok());
        let is_small = match (length("width"), length("height")) {
            (Some(width), Some(height)) => width * height <= SMALL_IMAGE,
            (width, height) => width == Some(0.0) || height == Some(0.0),
        };
        for reference in &mut self.document.references[first..] {
            reference.is_small = is_small;
        }
    }

    /// Every image of a set: the recording tells which one the browser chose.
    fn image_set(&mut self, set: &str, end: usize, purpose: Purpose) {
        // A candidate ends with a comma that a blank precedes or follows; URLs may contain commas.
        for candidate in set.split(", ").flat_map(|part| part.split(",\n")) {
            if let Some(url) = candidate.split_ascii_whitespace().next() {
                self.add(url.trim_end_matches(','), end, purpose);
            }
        }
    }

    fn embedded(&mut self, name: &[u8], attributes: &Attributes, end: usize) {
        if let Some(poster) = value(attributes, "poster") {
            self.add(poster, end, Purpose::Image);
        }
        let url = value(attributes, if name == b"object" { "data" } else { "src" });
        let is_frame = name.ends_with(b"frame");
        if let Some(url) = url {
            self.add(url, end, if is_frame { Purpose::Frame } else { Purpose::Media });
        }
    }

    fn inline_style(&mut self, text: &str, end: usize) {
        let found = css::read(text);
        for url in found.imports {
            self.add(url, end, Purpose::Import);
        }
        for url in found.resources {
            self.add(url, end, Purpose::OfLayout);
        }
    }

    fn text(&mut self, string: &Spanned<HtmlString, usize>) {
        if let Some(OpenElement::Script { text, .. } | OpenElement::Style { text }) = &mut self.open {
            text.extend_from_slice(string);
        }
    }

    fn end_tag(&mut self, tag: &EndTag<usize>) {
        let end = tag.span.end;
        if &tag.name[..] == b"template" {
            self.templates = self.templates.saturating_sub(1);
        }
        match self.open.take() {
            Some(OpenElement::Script { text, is_module }) => self.document.inline_scripts.push(InlineScript {
                end,
                text: String::from_utf8_lossy(&text).into_owned(),
                is_module,
            }),
            Some(OpenElement::Style { text }) => self.inline_style(&String::from_utf8_lossy(&text), end),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, Purpose)> {
        let document = read(text.as_bytes());
        document
            .references
            .into_iter()
            .map(|one| (one.url, one.purpose))
            .collect()
    }

    fn purposes(text: &str) -> Vec<Purpose> {
        found(text).into_iter().map(|(_, purpose)| purpose).collect()
    }

    #[test]
    fn scripts_are_told_apart_by_when_they_run() {
        let text = "<script src=a></script><script async src=b></script><script defer src=c></script><script type=module src=d></script>\
                    <script type=module async src=e></script><script nomodule src=f></script><script type='text/template' src=g></script>";
        use Purpose::{AsyncScript, BlockingScript, DeferredScript, ModuleScript};
        assert_eq!(
            purposes(text),
            [BlockingScript, AsyncScript, DeferredScript, ModuleScript, AsyncScript]
        );
    }

    #[test]
    fn links_are_told_apart_by_what_waits_for_them() {
        let text = "<link rel=stylesheet href=a><link rel='stylesheet' media=print href=b><link rel=preload as=font href=c>\
                    <link rel='shortcut icon' href=d><link rel=canonical href=e><link rel='alternate stylesheet' href=f>";
        use Purpose::{Idle, Preload, Style, UnusedStyle};
        assert_eq!(purposes(text), [Style, UnusedStyle, Preload, Idle]);
    }

    #[test]
    fn a_name_is_known_behind_its_tag_and_the_body_begins_with_its_first_element() {
        let text = "<!doctype html><title>a &lt;img src=no></title><script src=x.js></script><p><img src=y.png></p>";
        let document = read(text.as_bytes());
        let ends: Vec<_> = document.references.iter().map(|one| &text[..one.end]).collect();
        assert!(
            ends[0].ends_with("<script src=x.js>") && ends[1].ends_with("<img src=y.png>"),
            "{ends:?}"
        );
        assert!(text[..document.body].ends_with("<p>"));
        assert_eq!(read(b"<title>x</title>").body, 16);
    }

    #[test]
    fn comments_scripts_templates_and_noscript_name_nothing() {
        let text = "<!-- <img src=a> --><script>'<img src=b>'</script><template><img src=c></template><noscript><img src=d></noscript>\
                    <textarea><img src=e></textarea><img src=f>";
        assert_eq!(found(text), [("f".to_owned(), Purpose::Image)]);
    }

    #[test]
    fn image_sets_name_every_candidate() {
        let text = "<img src=a.png srcset='b.png 1x, c,d.png 2x'><picture><source srcset='e.avif'></picture><img loading=lazy src=g>";
        let urls: Vec<_> = found(text).into_iter().map(|(url, _)| url).collect();
        assert_eq!(urls, ["a.png", "b.png", "c,d.png", "e.avif", "g"]);
        assert_eq!(purposes(text).last(), Some(&Purpose::LazyImage));
    }

    #[test]
    fn inline_styles_and_scripts_are_read() {
        let text = "<base href='/x/'><style>@import 'a.css'; b { background: url(c.png) }</style>\
                    <script>fetch('/data')</script><p style=\"background:url('d.png')\">";
        use Purpose::{Import, OfLayout};
        assert_eq!(purposes(text), [Import, OfLayout, OfLayout]);
        let document = read(text.as_bytes());
        assert_eq!(document.base.as_deref(), Some("/x/"));
        assert_eq!(document.inline_scripts[0].text, "fetch('/data')");
        assert!(text[..document.inline_scripts[0].end].ends_with("</script>"));
    }
}
