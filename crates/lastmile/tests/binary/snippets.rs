//! Tests of the configurations that `lastmile advise` prints: real servers load them as their distributions configure these servers, the commands in them
//! are run, and curl measures what they change.

mod content;
mod exchange;
mod stock;

use crate::sandbox::Sandbox;
use content::{new_files, old_files, page, recording, write_files};
use exchange::Exchange;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use stock::{Running, ServedPage, are_installed, commands};

/// What curl asks for on each server.
struct Request {
    name: &'static str,
    path: &'static str,
    /// The field Accept-Encoding; none where it is empty.
    accepted: &'static str,
    more: &'static [&'static str],
    /// Of nginx, Apache and Caddy, with a block.
    status: [u16; 3],
    compressed: Compressed,
}

/// When a response is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compressed {
    Beforehand,
    OnRequest,
    Never,
}
use Compressed::{Beforehand, Never, OnRequest};

const ALL: &str = "gzip, deflate, br, zstd";

const fn get(name: &'static str, path: &'static str, accepted: &'static str, compressed: Compressed) -> Request {
    Request {
        name,
        path,
        accepted,
        more: &[],
        status: [200; 3],
        compressed,
    }
}

const REQUESTS: [Request; 25] = [
    get("a style sheet", "/style.css", ALL, Beforehand),
    get(
        "a style sheet, for old browsers",
        "/style.css",
        "gzip, deflate",
        Beforehand,
    ),
    get(
        "a style sheet, for a client that says nothing",
        "/style.css",
        "",
        Beforehand,
    ),
    get(
        "a style sheet, for a client that refuses br",
        "/style.css",
        "br;q=0, gzip",
        Beforehand,
    ),
    get(
        "a style sheet, for a client that refuses gzip",
        "/style.css",
        "br, gzip;q=0.0",
        Beforehand,
    ),
    get("a script", "/media/app.js", ALL, Beforehand),
    get("the home page", "/", ALL, Beforehand),
    get("a new style sheet", "/new.css", ALL, OnRequest),
    get("a new style sheet, for old browsers", "/new.css", "gzip", OnRequest),
    get(
        "a new style sheet, for a client that says nothing",
        "/new.css",
        "",
        OnRequest,
    ),
    get(
        "a new style sheet, for a client that refuses br",
        "/new.css",
        "br;q=0, gzip",
        OnRequest,
    ),
    get("a new image of lines", "/new.svg", ALL, OnRequest),
    get("new JSON", "/new.json", ALL, OnRequest),
    get("new XML", "/new.xml", ALL, OnRequest),
    get("new WebAssembly", "/new.wasm", "gzip", OnRequest),
    get("a generated page", "/page", ALL, OnRequest),
    get("a generated page, for old browsers", "/page", "gzip", OnRequest),
    get("a photograph", "/photo.png", ALL, Never),
    get("a font", "/font.woff2", ALL, Never),
    get("a small file", "/small.css", ALL, Never),
    get("an archive", "/archive.tar.gz", ALL, Never),
    Request {
        more: &["--head"],
        ..get("a style sheet's head", "/style.css", ALL, Beforehand)
    },
    Request {
        more: &["--range", "0-99"],
        status: [206; 3],
        ..get("a part of a photograph", "/photo.png", ALL, Never)
    },
    Request {
        // The modules of nginx send a compressed file as a whole.
        more: &["--range", "0-99"],
        status: [200, 206, 206],
        ..get("a part of a style sheet", "/style.css", ALL, Beforehand)
    },
    Request {
        status: [404; 3],
        ..get("a file that is not there", "/nowhere.css", ALL, Never)
    },
];

/// A block, and the codings that it is about, in the order of the server's preference.
struct Block {
    text: String,
    beforehand: Vec<String>,
    on_request: Vec<String>,
}

/// The block for a server: for the recording, or for a folder of files, where the traffic is its name; with these codings.
fn block(server: &str, traffic: &str, encodings: &str) -> Block {
    let sandbox = Sandbox::new();
    sandbox.file("recording.har", recording());
    write_files(&sandbox.path().join("folder"), &old_files());
    let words = [
        "advise",
        traffic,
        "--server",
        server,
        "--encodings",
        encodings,
        "--link",
        "wpt/3g",
        "--repeats",
        "1",
    ];
    let advice = sandbox.json(&[&words[..], &["--no-report", "--format", "json"]].concat());
    let snippet = &advice["snippets"][0];
    let codings = |origin: &str| -> Vec<String> {
        let settings = snippet["settings"].as_array().unwrap().iter();
        let of_origin = settings.filter(|setting| setting["origin"] == origin);
        let coding = |setting: &Value| {
            setting["setting"]
                .as_str()
                .unwrap()
                .split(':')
                .next()
                .unwrap()
                .to_owned()
        };
        of_origin.map(coding).collect()
    };
    let note = snippet["note"].as_str().unwrap();
    assert!(!note.contains("wpt/3g"), "there is one link: {note}");
    let block = Block {
        text: snippet["text"].as_str().unwrap().to_owned(),
        beforehand: codings("static"),
        on_request: match traffic {
            "folder" => vec!["gzip".to_owned()],
            _ => codings("dynamic"),
        },
    };
    assert!(
        !block.beforehand.is_empty() && !block.on_request.is_empty(),
        "{}",
        block.text
    );
    block
}

/// Runs the commands of a block that compress files, in a folder.
fn compress_files(block: &str, folder: &Path) {
    for command in commands(block).filter(|command| command.starts_with("find ")) {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

impl Request {
    fn ask(&self, sandbox: &Sandbox, server: &Running) -> Exchange {
        let accepted = format!(
            "Accept-Encoding:{}{}",
            if self.accepted.is_empty() { "" } else { " " },
            self.accepted
        );
        let asked_for = server.asked_for(self.path);
        let mut arguments: Vec<&str> = asked_for.iter().map(String::as_str).collect();
        arguments.extend(["--header", &accepted]);
        // A part of what was compressed cannot be decoded.
        if !self.more.contains(&"--range") {
            arguments.push("--compressed");
        }
        arguments.extend(self.more);
        Exchange::new(sandbox.path(), &arguments)
    }

    /// Whether the client accepts a coding.
    fn accepts(&self, coding: &str) -> bool {
        self.accepted.split(", ").any(|accepted| accepted == coding)
    }

    /// The coding that it is answered in with a block.
    fn coding<'a>(&self, block: &'a Block) -> &'a str {
        let codings = match self.compressed {
            Beforehand => &block.beforehand,
            OnRequest => &block.on_request,
            Never => return "identity",
        };
        codings
            .iter()
            .find(|coding| self.accepts(coding))
            .map_or("identity", String::as_str)
    }
}

/// Asks a server for everything as its distribution configures it, and with a block, and compares. `start` starts it with a block; `server` is its place
/// among the statuses.
fn compare_with_stock(server: usize, block: &Block, start: impl Fn(&ServedPage, &str) -> Result<Running, String>) {
    let served_page = ServedPage::new(page());
    served_page.start_program();
    write_files(&served_page.files(), &old_files());
    compress_files(&block.text, &served_page.files());
    write_files(&served_page.files(), &new_files());
    let ask_all = |text: &str, also: fn(&ServedPage, &Running)| -> Vec<Exchange> {
        let running = start(&served_page, text).unwrap_or_else(|said| panic!("{said}\n{text}"));
        also(&served_page, &running);
        REQUESTS
            .iter()
            .map(|request| request.ask(&served_page.sandbox, &running))
            .collect()
    };
    let stock = ask_all("", |_, _| {});
    let with_block = ask_all(&block.text, check_revalidation);
    let contents: BTreeMap<&str, Vec<u8>> = old_files().into_iter().chain(new_files()).collect();
    // By path and strong ETag, as two codings may not share one (RFC 9110 section 8.8.3).
    let mut tagged = BTreeMap::<(&str, &str), BTreeSet<&str>>::new();
    for ((request, stock), answer) in REQUESTS.iter().zip(&stock).zip(&with_block) {
        let case = format!(
            "{}\nwith the block: {answer:?}\nwithout it: {stock:?}\n{}",
            request.name, block.text
        );
        assert_eq!(answer.status, request.status[server], "{case}");
        assert_eq!(answer.coding(), request.coding(block), "{case}");
        assert_eq!(answer.field("content-type"), stock.field("content-type"), "{case}");
        if request.compressed != Never {
            assert_eq!(answer.field("vary"), "Accept-Encoding", "{case}");
        }
        if let Some(tag @ [b'"', ..]) = Some(answer.field("etag").as_bytes()) {
            let tag = std::str::from_utf8(tag).unwrap();
            tagged.entry((request.path, tag)).or_default().insert(answer.coding());
        }
        let content = match request.path {
            "/page" => served_page.page.as_bytes(),
            "/" => &contents["index.html"],
            path => contents.get(&path[1..]).map_or(&[][..], Vec::as_slice),
        };
        match (answer.status, request.more) {
            (200, []) => assert_eq!(answer.body, content, "{case}"),
            (206, _) if answer.coding() == "identity" => assert_eq!(answer.body, content[..100], "{case}"),
            _ => {}
        }
        // A head stands for its body, and a part of what is compressed for more than a part of what is not.
        let is_head = request.more == ["--head"];
        let is_part = request.more.contains(&"--range") && answer.coding() != "identity";
        if !is_head && !is_part {
            assert!(
                answer.bytes <= stock.bytes,
                "{} B, and {} B without: {case}",
                answer.bytes,
                stock.bytes
            );
        }
        if is_head {
            let got = &with_block[0];
            for name in ["content-encoding", "vary", "etag", "content-length"] {
                assert_eq!(answer.field(name), got.field(name), "{name} of {case}");
            }
        }
    }
    for ((path, tag), codings) in tagged {
        assert_eq!(codings.len(), 1, "{path} has the ETag {tag} in {codings:?}");
    }
}

/// What a client has is not sent again.
fn check_revalidation(served_page: &ServedPage, server: &Running) {
    let request = &REQUESTS[0];
    let tag = format!(
        "If-None-Match: {}",
        request.ask(&served_page.sandbox, server).field("etag")
    );
    let accepted = format!("Accept-Encoding: {ALL}");
    let asked_for = server.asked_for(request.path);
    let mut arguments: Vec<&str> = asked_for.iter().map(String::as_str).collect();
    arguments.extend(["--header", &accepted, "--header", &tag]);
    let again = Exchange::new(served_page.sandbox.path(), &arguments);
    assert_eq!((again.status, again.body.len()), (304, 0), "{again:?}");
}

/// The traffic and encodings of the blocks that a server is tried with: files and dynamic responses, files alone, and without br.
const BLOCKS: [(&str, &str); 3] = [
    ("recording.har", "gzip,br,zstd"),
    ("folder", "gzip,br,zstd"),
    ("recording.har", "gzip,zstd"),
];

#[test]
fn nginx_as_debian_configures_it_loads_each_block_and_no_response_is_worse() {
    if !are_installed(&["nginx", "curl", "brotli"]) || !has_brotli_modules() {
        return;
    }
    for (traffic, encodings) in BLOCKS {
        compare_with_stock(0, &block("nginx", traffic, encodings), |served_page, block| {
            served_page.nginx(block, true)
        });
    }
}

#[test]
fn apache_as_debian_configures_it_loads_each_block_and_no_response_is_worse() {
    if !are_installed(&["apache2", "a2enmod", "curl", "brotli"]) {
        return;
    }
    for (traffic, encodings) in BLOCKS {
        compare_with_stock(1, &block("apache", traffic, encodings), ServedPage::apache);
    }
}

#[test]
fn caddy_as_its_packages_configure_it_loads_each_block_and_no_response_is_worse() {
    if !are_installed(&["caddy", "curl", "brotli", "zstd"]) {
        return;
    }
    for (traffic, encodings) in BLOCKS {
        compare_with_stock(2, &block("caddy", traffic, encodings), ServedPage::caddy);
    }
}

/// Whether nginx has Debian's modules for br.
fn has_brotli_modules() -> bool {
    let there = Path::new("/etc/nginx/modules-enabled/50-mod-http-brotli-static.conf").exists();
    if !there {
        eprintln!("skipped: libnginx-mod-http-brotli-static is not installed (make peers installs it)");
    }
    there
}

#[test]
fn without_its_modules_nginx_names_the_line_that_needs_them_and_loads_the_rest() {
    if !are_installed(&["nginx", "curl", "brotli"]) {
        return;
    }
    let mut block = block("nginx", "recording.har", "gzip,br");
    assert!(
        block.text.contains("libnginx-mod-http-brotli-static and -filter"),
        "{}",
        block.text
    );
    let served_page = ServedPage::new(page());
    write_files(&served_page.files(), &old_files());
    let said = served_page
        .nginx(&block.text, false)
        .err()
        .expect("it has no such directive");
    assert!(said.contains("unknown directive \"brotli_static\" in "), "{said}");
    let lines = block.text.lines().filter(|line| !line.starts_with("brotli"));
    block.text = lines.collect::<Vec<_>>().join("\n");
    for codings in [&mut block.beforehand, &mut block.on_request] {
        codings.retain(|coding| coding == "gzip");
    }
    compare_with_stock(0, &block, |served_page, block| served_page.nginx(block, false));
}

#[test]
fn the_commands_of_each_block_make_the_files_that_its_comment_names_and_no_others() {
    if !are_installed(&["brotli", "gzip", "zstd"]) {
        return;
    }
    let all = [
        ("nginx", BLOCKS[0]),
        ("apache", BLOCKS[1]),
        ("caddy", BLOCKS[0]),
        ("caddy", BLOCKS[2]),
    ];
    for (server, (traffic, encodings)) in all {
        let block = block(server, traffic, encodings);
        let sandbox = Sandbox::new();
        write_files(sandbox.path(), &old_files());
        // Twice, as files change.
        compress_files(&block.text, sandbox.path());
        compress_files(&block.text, sandbox.path());
        let comment = block
            .text
            .lines()
            .find(|line| line.contains(" beside app.js."))
            .unwrap();
        let named = comment.split(' ').filter_map(|word| word.strip_prefix("app.js."));
        let named: BTreeSet<&str> = named.filter(|extension| !extension.is_empty()).collect();
        let programs = [("br", "br", "brotli"), ("gz", "gzip", "gzip"), ("zst", "zstd", "zstd")];
        for (extension, coding, program) in programs {
            assert_eq!(
                named.contains(extension),
                block.beforehand.iter().any(|served| served == coding),
                "{}",
                block.text
            );
            for (name, content) in old_files() {
                let made = sandbox.path().join(format!("{name}.{extension}"));
                let is_text = content.len() > 255 && ["html", "css", "js"].iter().any(|end| name.ends_with(end));
                assert_eq!(
                    made.exists(),
                    is_text && named.contains(extension),
                    "{}\n{}",
                    made.display(),
                    block.text
                );
                if made.exists() {
                    let decoded = Command::new(program).arg("-dc").arg(&made).output().unwrap();
                    assert_eq!(decoded.stdout, content, "{}", made.display());
                }
            }
        }
    }
}

#[test]
fn a_server_that_has_none_of_the_codings_asked_for_is_refused() {
    let sandbox = Sandbox::new();
    let har = sandbox.file("recording.har", recording());
    for (server, encodings, said) in [
        ("nginx", "zstd", "nginx cannot do zstd"),
        ("apache", "zstd", "Apache cannot do zstd"),
        (
            "caddy",
            "br",
            "Caddy cannot do br: nothing is left to try for responses made on request; Caddy can do gzip and zstd",
        ),
    ] {
        let words = [
            "advise",
            har,
            "--server",
            server,
            "--encodings",
            encodings,
            "--link",
            "wpt/3g",
            "--no-report",
        ];
        sandbox.run(&words).refused(2, &[said]);
    }
}
