//! Writes what names files on the shop's page: markup, the first rules of its style sheets, and the ends of its scripts.

use super::content::PageNames;
use std::fmt::Write as _;

/// The URLs of what the page loads, in the order of the requests.
pub(super) struct PageFiles {
    pub(super) sheets: Vec<String>,
    pub(super) scripts: Vec<String>,
    pub(super) fonts: Vec<String>,
    pub(super) icons: Vec<String>,
    pub(super) images: Vec<String>,
}

/// The number of scripts in the head that stop the parser.
const BLOCKING_SCRIPTS: usize = 4;
/// The script that asks for data: deferred.
pub(super) const DATA_SCRIPT: usize = 4;
/// The script that adds the last images: deferred.
pub(super) const IMAGE_SCRIPT: usize = 5;
/// The script that reports events: `async`, as is the one behind it. The last one is at the end of the body.
pub(super) const EVENT_SCRIPT: usize = 6;

/// The first icons are in a style sheet; the document has the others.
const STYLED_ICONS: [&str; 6] = ["search", "account", "basket", "menu", "star", "delivery"];

/// The number of images above the products.
pub(super) const HERO_IMAGES: usize = 3;
/// The number of images that a script adds.
pub(super) const ADDED_IMAGES: usize = 6;

/// The sheet that names the fonts.
const FONT_SHEET: usize = 0;
/// The sheet that names icons.
const ICON_SHEET: usize = 1;

impl PageFiles {
    /// What the document names; it has this title and number of products.
    pub(super) fn markup(&self, title: &str, products: usize) -> PageNames {
        let mut head = String::from("  <link rel=\"icon\" href=\"data:,\">\n");
        for sheet in &self.sheets {
            let _ = writeln!(head, "  <link rel=\"stylesheet\" href=\"{sheet}\">");
        }
        let (last, in_head) = self.scripts.split_last().expect("there are scripts");
        for (index, script) in in_head.iter().enumerate() {
            let when = match index {
                0..BLOCKING_SCRIPTS => "",
                DATA_SCRIPT | IMAGE_SCRIPT => "defer ",
                _ => "async ",
            };
            let _ = writeln!(head, "  <script {when}src=\"{script}\"></script>");
        }
        let (hero, thumbnails) = self.images.split_at(HERO_IMAGES);
        let mut top = format!("  <header><h1>{title}</h1>");
        for icon in STYLED_ICONS {
            let _ = write!(top, "<i class=\"icon icon-{icon}\"></i>");
        }
        top.push_str("</header>\n");
        for image in hero {
            let _ = writeln!(top, "  <img class=\"hero\" src=\"{image}\" alt=\"\">");
        }
        for icon in &self.icons[STYLED_ICONS.len()..] {
            let _ = writeln!(top, "  <img class=\"badge\" src=\"{icon}\" alt=\"\">");
        }
        // Behind those of the first products, a script adds pictures; variants of a product share a picture.
        let pictures = thumbnails.iter().enumerate().map(|(index, image)| {
            if index + ADDED_IMAGES < thumbnails.len() {
                format!("loading=\"lazy\" src=\"{image}\"")
            } else {
                format!("data-src=\"{image}\"")
            }
        });
        let pictures: Vec<String> = pictures.collect();
        PageNames {
            head,
            top,
            pictures: pictures.iter().cycle().take(products).cloned().collect(),
            end: format!(
                "  <ul class=\"results\"></ul>\n  <div class=\"recommended\"></div>\n  <script src=\"{last}\"></script>\n"
            ),
        }
    }

    /// The rules that a style sheet begins with.
    pub(super) fn rules(&self, sheet: usize) -> String {
        let relative = |url: &str| url.replacen(super::page_load::FILES, "..", 1);
        let mut rules = String::new();
        if sheet == FONT_SHEET {
            for (font, face) in self.fonts.iter().zip(FACES) {
                let _ = writeln!(
                    rules,
                    "@font-face{{{face};src:url({}) format(\"woff2\")}}",
                    relative(font)
                );
            }
            rules.push_str(LAYOUT);
        }
        if sheet == ICON_SHEET {
            for (icon, name) in self.icons.iter().zip(STYLED_ICONS) {
                let _ = writeln!(rules, ".icon-{name}{{background-image:url({})}}", relative(icon));
            }
        }
        rules
    }
}

/// The faces of the fonts. Each has text on the page, without which browsers do not ask for a font.
const FACES: [&str; 3] = [
    "font-family:Shop;font-weight:400",
    "font-family:Shop;font-weight:600",
    "font-family:\"Shop Display\"",
];

/// All products are near enough to a desktop's screen for browsers to ask for their lazy images at once.
const LAYOUT: &str = "body{font:400 14px/1.4 Shop,sans-serif}
h1{font-family:\"Shop Display\",serif}
h3,.button{font:600 14px/1.4 Shop,sans-serif}
.menu ul{display:flex;flex-wrap:wrap;gap:0 8px;list-style:none}
.icon{display:inline-block;width:24px;height:24px}
.hero{width:32%;height:240px}
.badge{width:64px;height:32px}
.listing{display:grid;grid-template-columns:repeat(auto-fill,minmax(140px,1fr));gap:8px}
.product-image{width:140px;height:140px}
.product-text{height:2.8em;overflow:hidden}
";

/// What a script begins with: a registry, to which the generated modules add themselves. They are read, and never run.
pub(super) const REGISTRY: &str =
    "window.modules=window.modules||{};window.d=function(number,module){modules[number]=module};\n";

/// A request that a script makes, some milliseconds after the load event.
pub(super) struct TimedRequest {
    pub(super) url: String,
    pub(super) after: u64,
}

/// The function that makes such a request, by what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    /// Data: its items are listed.
    Data,
    /// A part of a page, which is inserted.
    Fragment,
    /// Reports an event.
    Event,
    /// Adds images.
    Image,
}

impl Asker {
    /// The function's name, none where it has none, and the beginning of the call that makes the request.
    pub(super) const fn call(self) -> (&'static str, &'static str) {
        match self {
            Self::Data => ("ask", "fetch(url).then(function(answer){return answer.json()"),
            Self::Fragment => ("recommend", "fetch(url).then(function(answer){return answer.text()"),
            Self::Event => ("tell", "request.send()"),
            Self::Image => ("", "image.src=image.dataset.src"),
        }
    }
}

/// The end of the script that asks for data, one by one, so that the page does not halt, and for a part of a page.
pub(super) fn asking(data: &[TimedRequest], fragment: &TimedRequest) -> String {
    let mut code = String::from(
        "(function(){var results=document.querySelector(\".results\");\
         function show(answer){(answer.items||[]).forEach(function(item){var line=document.createElement(\"li\");\
         line.textContent=item.title;results.append(line)})}\
         function ask(url){fetch(url).then(function(answer){return answer.json()}).then(show)}\
         function recommend(url){fetch(url).then(function(answer){return answer.text()}).then(function(text){\
         document.querySelector(\".recommended\").innerHTML=text})}\
         addEventListener(\"load\",function(){",
    );
    for request in data {
        timer("ask", request, &mut code);
    }
    timer("recommend", fragment, &mut code);
    code.push_str("})})();\n");
    code
}

/// The end of the script that reports events. Chromium states that a `fetch` whose response has no content was aborted.
pub(super) fn reporting(events: &[TimedRequest]) -> String {
    let mut code = String::from(
        "(function(){function tell(url){var request=new XMLHttpRequest();request.open(\"POST\",url);request.send()}\
         addEventListener(\"load\",function(){",
    );
    for request in events {
        timer("tell", request, &mut code);
    }
    code.push_str("})})();\n");
    code
}

/// The end of the script that adds images once the page has loaded.
pub(super) const ADDING: &str = "addEventListener(\"load\",function(){\
    document.querySelectorAll(\"img[data-src]\").forEach(function(image){image.src=image.dataset.src})});\n";

fn timer(function: &str, request: &TimedRequest, code: &mut String) {
    let TimedRequest { url, after } = request;
    let _ = write!(code, "setTimeout({function},{after},\"{url}\");");
}
