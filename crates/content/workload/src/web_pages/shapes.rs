//! The shapes of pages.

use super::{PageBuilder, PageShape};
use std::fmt::Write as _;

pub(super) const CSS: &str = "text/css";
pub(super) const HTML: &str = "text/html";
pub(super) const PNG: &str = "image/png";
pub(super) const JS: &str = "text/javascript";
const JSON: &str = "application/json";
pub(super) const WOFF2: &str = "font/woff2";

const fn shape(name: &'static str, about: &'static str, build: fn(&mut PageBuilder)) -> PageShape {
    PageShape { name, about, build }
}

/// All shapes, simple ones first.
pub const SHAPES: &[PageShape] = &[
    shape("one-document", "one large document without resources", one_document),
    shape(
        "head-scripts",
        "a large document with sixteen style sheets and scripts in its head",
        head_scripts,
    ),
    shape("many-small-files", "sixty small images and icons", many_small_files),
    shape(
        "gallery",
        "twenty-four images of photographs' size behind a style sheet and a script",
        gallery,
    ),
    shape("imports", "style sheets that import others, three deep", imports),
    shape(
        "fonts",
        "four fonts and a background image that the layout asks for",
        fonts,
    ),
    shape(
        "script-data",
        "an application that fetches data and then images",
        script_data,
    ),
    shape(
        "late-images",
        "images that a script adds when the page has loaded",
        late_images,
    ),
    shape("frames", "two frames, each with resources of its own", frames),
    shape(
        "async-scripts",
        "scripts that are async, deferred and at the end of the body",
        async_scripts,
    ),
    shape("modules", "modules that import others, three deep", modules),
    shape("preloads", "preloaded resources that would be found late", preloads),
    shape("several-hosts", "resources of four hosts", several_hosts),
];

fn one_document(page: &mut PageBuilder) {
    page.add_document("/", "", "", 600_000);
}

/// Links to style sheets and scripts.
fn head(sheets: &[String], scripts: &[String]) -> String {
    let mut head = String::new();
    for sheet in sheets {
        let _ = writeln!(head, "<link rel=\"stylesheet\" href=\"{sheet}\">");
    }
    for script in scripts {
        let _ = writeln!(head, "<script src=\"{script}\"></script>");
    }
    head
}

fn numbered(folder: &str, extension: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("/{folder}/{number}.{extension}"))
        .collect()
}

fn images(paths: &[String]) -> String {
    paths.iter().fold(String::new(), |mut body, path| {
        let _ = writeln!(body, "<img src=\"{path}\" alt=\"\">");
        body
    })
}

fn add_sheets(page: &mut PageBuilder, paths: &[String], length: usize) {
    for (index, path) in paths.iter().enumerate() {
        page.add_sheet(path, "", length + 3_000 * index);
    }
}

fn add_scripts(page: &mut PageBuilder, paths: &[String], length: usize) {
    for (index, path) in paths.iter().enumerate() {
        page.add_script(path, length + 5_000 * index, "");
    }
}

fn add_images(page: &mut PageBuilder, paths: &[String], length: usize) {
    for (index, path) in paths.iter().enumerate() {
        page.add_image(path, length + length / 8 * (index % 5));
    }
}

fn head_scripts(page: &mut PageBuilder) {
    let (sheets, scripts) = (numbered("css", "css", 5), numbered("js", "js", 11));
    page.add_document("/", &head(&sheets, &scripts), "", 280_000);
    add_sheets(page, &sheets, 8_000);
    add_scripts(page, &scripts, 6_000);
}

fn many_small_files(page: &mut PageBuilder) {
    let (sheets, icons) = (numbered("css", "css", 1), numbered("icon", "png", 60));
    page.add_document("/", &head(&sheets, &[]), &images(&icons), 12_000);
    add_sheets(page, &sheets, 6_000);
    add_images(page, &icons, 1_200);
}

fn gallery(page: &mut PageBuilder) {
    let (sheets, scripts, photos) = (
        numbered("css", "css", 1),
        numbered("js", "js", 1),
        numbered("photo", "png", 24),
    );
    page.add_document("/", &head(&sheets, &scripts), &images(&photos), 20_000);
    add_sheets(page, &sheets, 20_000);
    add_scripts(page, &scripts, 60_000);
    add_images(page, &photos, 24_000);
}

fn imports(page: &mut PageBuilder) {
    page.add_document("/", &head(&["/css/base.css".to_owned()], &[]), "", 30_000);
    page.add_sheet(
        "/css/base.css",
        "@import \"layout.css\"; @import url(theme.css);",
        10_000,
    );
    page.add_sheet("/css/layout.css", "@import 'grid.css';", 14_000);
    page.add_sheet("/css/theme.css", "@import 'colours.css';", 9_000);
    page.add_sheet("/css/grid.css", "", 12_000);
    page.add_sheet("/css/colours.css", "", 12_000);
}

fn fonts(page: &mut PageBuilder) {
    let mut rules =
        String::from("body { font-family: f0 } .banner { background: url(/img/banner.png); height: 200px }\n");
    let mut body = String::from("<div class=\"banner\"></div>\n");
    for font in 0..4 {
        let _ = writeln!(
            rules,
            "@font-face {{ font-family: f{font}; src: url(/font/{font}.woff2) format(\"woff2\") }} .f{font} {{ font-family: f{font} }}"
        );
        let _ = writeln!(body, "<h2 class=\"f{font}\">Heading {font}</h2>");
    }
    page.add_document(
        "/",
        &head(&["/css/site.css".to_owned()], &["/js/site.js".to_owned()]),
        &body,
        40_000,
    );
    page.add_sheet("/css/site.css", &rules, 30_000);
    page.add_script("/js/site.js", 40_000, "");
    page.add_image("/img/banner.png", 60_000);
    for font in 0..4 {
        page.add_font(&format!("/font/{font}.woff2"), 22_000 + 3_000 * font);
    }
}

fn script_data(page: &mut PageBuilder) {
    page.add_document(
        "/",
        &head(&["/css/app.css".to_owned()], &[]),
        "<div id=\"app\"></div><script src=\"/js/vendor.js\"></script><script src=\"/js/app.js\"></script>",
        4_000,
    );
    page.add_sheet("/css/app.css", "", 25_000);
    page.add_script("/js/vendor.js", 180_000, "");
    let last = "for (const name of ['items', 'user', 'offers']) {\n\
                  fetch('/api/' + name + '.json').then((answer) => answer.json()).then((list) => {\n\
                    for (const url of list.images) {\n\
                      const image = new Image(); image.src = url; document.getElementById('app').append(image);\n\
                    }\n\
                  });\n\
                }";
    page.add_script("/js/app.js", 90_000, last);
    for (name, first) in [("items", 0), ("user", 4), ("offers", 6)] {
        let count = if name == "items" { 4 } else { 2 };
        let list: Vec<String> = (first..first + count)
            .map(|number| format!("\"/img/{number}.png\""))
            .collect();
        let text = page.text(20_000).replace(['"', '\n'], " ");
        let body = format!("{{\"images\": [{}], \"text\": \"{text}\"}}", list.join(", "));
        page.respond_to_script("/js/app.js", &format!("/api/{name}.json"), JSON, body);
    }
    for number in 0..8 {
        let image = page.image(12_000);
        page.respond(&format!("/img/{number}.png"), PNG, image).initiator = Some(format!(
            "https://{}/api/{}.json",
            super::HOST,
            ["items", "items", "items", "items", "user", "user", "offers", "offers"][number]
        ));
    }
}

fn late_images(page: &mut PageBuilder) {
    let paths = numbered("late", "png", 8);
    let first = numbered("early", "png", 3);
    page.add_document(
        "/",
        &head(&["/css/site.css".to_owned()], &["/js/late.js".to_owned()]),
        &images(&first),
        30_000,
    );
    page.add_sheet("/css/site.css", "", 15_000);
    let last = "addEventListener('load', () => {\n\
                  for (let number = 0; number < 8; number += 1) {\n\
                    const image = new Image(); image.src = `/late/${number}.png`; document.body.append(image);\n\
                  }\n\
                });";
    page.add_script("/js/late.js", 30_000, last);
    add_images(page, &first, 20_000);
    for path in &paths {
        let image = page.image(15_000);
        page.respond_after_load("/js/late.js", path, PNG, image);
    }
}

fn frames(page: &mut PageBuilder) {
    let body = "<iframe src=\"/frame/0.html\"></iframe>\n<iframe src=\"/frame/1.html\"></iframe>";
    page.add_document(
        "/",
        &head(&["/css/site.css".to_owned()], &["/js/site.js".to_owned()]),
        body,
        30_000,
    );
    page.add_sheet("/css/site.css", "", 15_000);
    page.add_script("/js/site.js", 50_000, "");
    for frame in 0..2 {
        let path = format!("/frame/{frame}.png");
        let own_head = head(&[format!("/frame/{frame}.css")], &[]);
        let document = page.document(&own_head, &images(&[path]), 15_000);
        page.respond(&format!("/frame/{frame}.html"), HTML, document);
    }
    for frame in 0..2 {
        page.add_sheet(&format!("/frame/{frame}.css"), "", 8_000);
        page.add_image(&format!("/frame/{frame}.png"), 18_000);
    }
}

fn async_scripts(page: &mut PageBuilder) {
    let head = "<link rel=\"stylesheet\" href=\"/css/site.css\">\n<script async src=\"/js/async.js\"></script>\n\
                <script defer src=\"/js/first.js\"></script>\n<script defer src=\"/js/second.js\"></script>";
    let body =
        "<img src=\"/img/0.png\" alt=\"\">\n<script src=\"/js/body.js\"></script>\n<img src=\"/img/1.png\" alt=\"\">";
    page.add_document("/", head, body, 60_000);
    page.add_sheet("/css/site.css", "", 20_000);
    for (name, length) in [
        ("async", 40_000),
        ("first", 50_000),
        ("second", 30_000),
        ("body", 25_000),
    ] {
        let last = if name == "second" {
            "fetch('/api/done.json');"
        } else {
            ""
        };
        page.add_script(&format!("/js/{name}.js"), length, last);
    }
    add_images(page, &numbered("img", "png", 2), 30_000);
    page.respond_to_script("/js/second.js", "/api/done.json", JSON, "{\"done\": true}");
}

fn modules(page: &mut PageBuilder) {
    page.add_document(
        "/",
        "<link rel=\"stylesheet\" href=\"/css/site.css\">\n<script type=\"module\" src=\"/js/main.js\"></script>",
        "<div id=\"app\"></div>",
        20_000,
    );
    page.add_sheet("/css/site.css", "", 15_000);
    let module = |page: &mut PageBuilder, path: &str, first: &str, last: &str, length: usize| {
        let script = format!("{first}{}", page.script(length, last));
        page.respond(path, JS, script);
    };
    module(
        page,
        "/js/main.js",
        "import './view.js'; import './store.js';\n",
        "fetch('/api/start.json');",
        20_000,
    );
    module(page, "/js/view.js", "import './parts.js';\n", "", 30_000);
    module(page, "/js/store.js", "", "", 25_000);
    module(page, "/js/parts.js", "", "", 40_000);
    page.respond_to_script("/js/main.js", "/api/start.json", JSON, "{\"start\": true}");
}

fn preloads(page: &mut PageBuilder) {
    let head = "<link rel=\"preload\" href=\"/font/0.woff2\" as=\"font\" type=\"font/woff2\" crossorigin>\n\
                <link rel=\"preload\" href=\"/img/hero.png\" as=\"image\">\n<link rel=\"preload\" href=\"/js/late.js\" as=\"script\">\n\
                <link rel=\"stylesheet\" href=\"/css/site.css\">";
    let document = page
        .document(
            head,
            "<div class=\"hero\"></div>\n<h1 class=\"f0\">Heading</h1>",
            50_000,
        )
        .replace("</body>", "<script src=\"/js/late.js\"></script></body>");
    page.respond("/", HTML, document);
    page.add_font("/font/0.woff2", 28_000);
    page.add_image("/img/hero.png", 70_000);
    page.add_script("/js/late.js", 60_000, "");
    let rules = ".hero { background: url(/img/hero.png); height: 300px }\n\
                 @font-face { font-family: f0; src: url(/font/0.woff2) format(\"woff2\") } .f0 { font-family: f0 }";
    page.add_sheet("/css/site.css", rules, 20_000);
}

fn several_hosts(page: &mut PageBuilder) {
    let hosts = [
        "www.page.example",
        "static.page.example",
        "cdn.page.example",
        "img.page.example",
    ];
    let head = format!(
        "<link rel=\"stylesheet\" href=\"https://{}/site.css\">\n<script src=\"https://{}/library.js\"></script>\n<script src=\"/js/site.js\"></script>",
        hosts[1], hosts[2]
    );
    let photos: Vec<String> = (0..8)
        .map(|number| format!("https://{}/{number}.png", hosts[3]))
        .collect();
    page.add_document("/", &head, &images(&photos), 40_000);
    let sheet = page.sheet("", 30_000);
    page.respond_from(hosts[1], "/site.css", CSS, sheet);
    let library = page.script(90_000, "");
    page.respond_from(hosts[2], "/library.js", JS, library);
    page.add_script("/js/site.js", 30_000, "");
    for number in 0..8 {
        let image = page.image(16_000);
        page.respond_from(hosts[3], &format!("/{number}.png"), PNG, image);
    }
}
