//! The shapes of pages.

use super::{PageBuilder, PageShape};
use std::fmt::Write as _;

const CSS: &str = "text/css";
const HTML: &str = "text/html";
const PNG: &str = "image/png";
const JS: &str = "text/javascript";
const JSON: &str = "application/json";
const WOFF2: &str = "font/woff2";

/// All shapes, simple ones first.
pub const SHAPES: &[PageShape] = &[
    PageShape {
        name: "one-document",
        about: "one large document without resources",
        build: one_document,
    },
    PageShape {
        name: "head-scripts",
        about: "a large document with sixteen style sheets and scripts in its head",
        build: head_scripts,
    },
    PageShape {
        name: "many-small-files",
        about: "sixty small images and icons",
        build: many_small_files,
    },
    PageShape {
        name: "gallery",
        about: "twenty-four images of photographs' size behind a style sheet and a script",
        build: gallery,
    },
    PageShape {
        name: "imports",
        about: "style sheets that import others, three deep",
        build: imports,
    },
    PageShape {
        name: "fonts",
        about: "four fonts and a background image that the layout asks for",
        build: fonts,
    },
    PageShape {
        name: "script-data",
        about: "an application that fetches data and then images",
        build: script_data,
    },
    PageShape {
        name: "late-images",
        about: "images that a script adds when the page has loaded",
        build: late_images,
    },
    PageShape {
        name: "frames",
        about: "two frames, each with resources of its own",
        build: frames,
    },
    PageShape {
        name: "async-scripts",
        about: "scripts that are async, deferred and at the end of the body",
        build: async_scripts,
    },
    PageShape {
        name: "modules",
        about: "modules that import others, three deep",
        build: modules,
    },
    PageShape {
        name: "preloads",
        about: "preloaded resources that would be found late",
        build: preloads,
    },
    PageShape {
        name: "several-hosts",
        about: "resources of four hosts",
        build: several_hosts,
    },
];

fn one_document(page: &mut PageBuilder) {
    let document = page.document("", "", 600_000);
    page.respond("/", HTML, document);
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
        let sheet = page.sheet("", length + 3_000 * index);
        page.respond(path, CSS, sheet);
    }
}

fn add_scripts(page: &mut PageBuilder, paths: &[String], length: usize) {
    for (index, path) in paths.iter().enumerate() {
        let script = page.script(length + 5_000 * index, "");
        page.respond(path, JS, script);
    }
}

fn add_images(page: &mut PageBuilder, paths: &[String], length: usize) {
    for (index, path) in paths.iter().enumerate() {
        let image = page.image(length + length / 8 * (index % 5));
        page.respond(path, PNG, image);
    }
}

fn head_scripts(page: &mut PageBuilder) {
    let (sheets, scripts) = (numbered("css", "css", 5), numbered("js", "js", 11));
    let document = page.document(&head(&sheets, &scripts), "", 280_000);
    page.respond("/", HTML, document);
    add_sheets(page, &sheets, 8_000);
    add_scripts(page, &scripts, 6_000);
}

fn many_small_files(page: &mut PageBuilder) {
    let (sheets, icons) = (numbered("css", "css", 1), numbered("icon", "png", 60));
    let document = page.document(&head(&sheets, &[]), &images(&icons), 12_000);
    page.respond("/", HTML, document);
    add_sheets(page, &sheets, 6_000);
    add_images(page, &icons, 1_200);
}

fn gallery(page: &mut PageBuilder) {
    let (sheets, scripts, photos) = (
        numbered("css", "css", 1),
        numbered("js", "js", 1),
        numbered("photo", "png", 24),
    );
    let document = page.document(&head(&sheets, &scripts), &images(&photos), 20_000);
    page.respond("/", HTML, document);
    add_sheets(page, &sheets, 20_000);
    add_scripts(page, &scripts, 60_000);
    add_images(page, &photos, 24_000);
}

fn imports(page: &mut PageBuilder) {
    let document = page.document(&head(&["/css/base.css".to_owned()], &[]), "", 30_000);
    page.respond("/", HTML, document);
    let base = page.sheet("@import \"layout.css\"; @import url(theme.css);", 10_000);
    page.respond("/css/base.css", CSS, base);
    let layout = page.sheet("@import 'grid.css';", 14_000);
    page.respond("/css/layout.css", CSS, layout);
    let theme = page.sheet("@import 'colours.css';", 9_000);
    page.respond("/css/theme.css", CSS, theme);
    let grid = page.sheet("", 12_000);
    page.respond("/css/grid.css", CSS, grid);
    let colours = page.sheet("", 12_000);
    page.respond("/css/colours.css", CSS, colours);
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
    let document = page.document(
        &head(&["/css/site.css".to_owned()], &["/js/site.js".to_owned()]),
        &body,
        40_000,
    );
    page.respond("/", HTML, document);
    let sheet = page.sheet(&rules, 30_000);
    page.respond("/css/site.css", CSS, sheet);
    let script = page.script(40_000, "");
    page.respond("/js/site.js", JS, script);
    let banner = page.image(60_000);
    page.respond("/img/banner.png", PNG, banner);
    for font in 0..4 {
        let content = page.font(22_000 + 3_000 * font);
        page.respond(&format!("/font/{font}.woff2"), WOFF2, content);
    }
}

fn script_data(page: &mut PageBuilder) {
    let document = page.document(
        &head(&["/css/app.css".to_owned()], &[]),
        "<div id=\"app\"></div><script src=\"/js/vendor.js\"></script><script src=\"/js/app.js\"></script>",
        4_000,
    );
    page.respond("/", HTML, document);
    let sheet = page.sheet("", 25_000);
    page.respond("/css/app.css", CSS, sheet);
    let vendor = page.script(180_000, "");
    page.respond("/js/vendor.js", JS, vendor);
    let last = "for (const name of ['items', 'user', 'offers']) {\n\
                  fetch('/api/' + name + '.json').then((answer) => answer.json()).then((list) => {\n\
                    for (const url of list.images) {\n\
                      const image = new Image(); image.src = url; document.getElementById('app').append(image);\n\
                    }\n\
                  });\n\
                }";
    let app = page.script(90_000, last);
    page.respond("/js/app.js", JS, app);
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
    let document = page.document(
        &head(&["/css/site.css".to_owned()], &["/js/late.js".to_owned()]),
        &images(&first),
        30_000,
    );
    page.respond("/", HTML, document);
    let sheet = page.sheet("", 15_000);
    page.respond("/css/site.css", CSS, sheet);
    let last = "addEventListener('load', () => {\n\
                  for (let number = 0; number < 8; number += 1) {\n\
                    const image = new Image(); image.src = `/late/${number}.png`; document.body.append(image);\n\
                  }\n\
                });";
    let script = page.script(30_000, last);
    page.respond("/js/late.js", JS, script);
    add_images(page, &first, 20_000);
    for path in &paths {
        let image = page.image(15_000);
        page.respond_after_load("/js/late.js", path, PNG, image);
    }
}

fn frames(page: &mut PageBuilder) {
    let body = "<iframe src=\"/frame/0.html\"></iframe>\n<iframe src=\"/frame/1.html\"></iframe>";
    let document = page.document(
        &head(&["/css/site.css".to_owned()], &["/js/site.js".to_owned()]),
        body,
        30_000,
    );
    page.respond("/", HTML, document);
    let sheet = page.sheet("", 15_000);
    page.respond("/css/site.css", CSS, sheet);
    let script = page.script(50_000, "");
    page.respond("/js/site.js", JS, script);
    for frame in 0..2 {
        let path = format!("/frame/{frame}.png");
        let own_head = head(&[format!("/frame/{frame}.css")], &[]);
        let document = page.document(&own_head, &images(&[path]), 15_000);
        page.respond(&format!("/frame/{frame}.html"), HTML, document);
    }
    for frame in 0..2 {
        let sheet = page.sheet("", 8_000);
        page.respond(&format!("/frame/{frame}.css"), CSS, sheet);
        let image = page.image(18_000);
        page.respond(&format!("/frame/{frame}.png"), PNG, image);
    }
}

fn async_scripts(page: &mut PageBuilder) {
    let head = "<link rel=\"stylesheet\" href=\"/css/site.css\">\n<script async src=\"/js/async.js\"></script>\n\
                <script defer src=\"/js/first.js\"></script>\n<script defer src=\"/js/second.js\"></script>";
    let body =
        "<img src=\"/img/0.png\" alt=\"\">\n<script src=\"/js/body.js\"></script>\n<img src=\"/img/1.png\" alt=\"\">";
    let document = page.document(head, body, 60_000);
    page.respond("/", HTML, document);
    let sheet = page.sheet("", 20_000);
    page.respond("/css/site.css", CSS, sheet);
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
        let script = page.script(length, last);
        page.respond(&format!("/js/{name}.js"), JS, script);
    }
    add_images(page, &numbered("img", "png", 2), 30_000);
    page.respond_to_script("/js/second.js", "/api/done.json", JSON, "{\"done\": true}");
}

fn modules(page: &mut PageBuilder) {
    let document = page.document(
        "<link rel=\"stylesheet\" href=\"/css/site.css\">\n<script type=\"module\" src=\"/js/main.js\"></script>",
        "<div id=\"app\"></div>",
        20_000,
    );
    page.respond("/", HTML, document);
    let sheet = page.sheet("", 15_000);
    page.respond("/css/site.css", CSS, sheet);
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
    let font = page.font(28_000);
    page.respond("/font/0.woff2", WOFF2, font);
    let hero = page.image(70_000);
    page.respond("/img/hero.png", PNG, hero);
    let script = page.script(60_000, "");
    page.respond("/js/late.js", JS, script);
    let rules = ".hero { background: url(/img/hero.png); height: 300px }\n\
                 @font-face { font-family: f0; src: url(/font/0.woff2) format(\"woff2\") } .f0 { font-family: f0 }";
    let sheet = page.sheet(rules, 20_000);
    page.respond("/css/site.css", CSS, sheet);
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
    let document = page.document(&head, &images(&photos), 40_000);
    page.respond("/", HTML, document);
    let sheet = page.sheet("", 30_000);
    page.respond_from(hosts[1], "/site.css", CSS, sheet);
    let library = page.script(90_000, "");
    page.respond_from(hosts[2], "/library.js", JS, library);
    let script = page.script(30_000, "");
    page.respond("/js/site.js", JS, script);
    for number in 0..8 {
        let image = page.image(16_000);
        page.respond_from(hosts[3], &format!("/{number}.png"), PNG, image);
    }
}
