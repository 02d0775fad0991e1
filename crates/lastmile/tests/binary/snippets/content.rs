//! What the servers serve, and the recording that the configurations are made for.

use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Numbers that look random, and are the same in every run.
fn numbers() -> impl Iterator<Item = u32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(1), next).map(|state| state >> 24)
}

/// Text of some 4 kB, which better levels compress better.
fn text(line: &str) -> String {
    numbers()
        .take(100)
        .map(|number| line.replace('N', &number.to_string()))
        .collect()
}

/// What a program behind the servers makes at `/page`.
pub(crate) fn page() -> String {
    text("<li>Entry N of a list that is made on request</li>\n")
}

/// A file that is compressed inside, by its first bytes.
fn already_compressed(begin: &[u8]) -> Vec<u8> {
    let noise: Vec<u8> = numbers().take(4000).map(|number| number as u8).collect();
    [begin, &noise].concat()
}

/// Writes files, as if they were old: Apache makes the ETag of a file weak that is new.
pub(crate) fn write_files(folder: &Path, files: &[(&str, Vec<u8>)]) {
    std::fs::create_dir_all(folder.join("media")).unwrap();
    for (name, content) in files {
        let mut file = std::fs::File::create(folder.join(name)).unwrap();
        file.write_all(content).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000))
            .unwrap();
    }
}

/// The files that the commands of a block are run on.
pub(crate) fn old_files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("index.html", text("<p class='item'>Line N of the list</p>\n").into()),
        ("style.css", text(".item-N { margin: Npx; color: #12345N }\n").into()),
        ("media/app.js", text("export const fN = (a, b) => a * N + b;\n").into()),
        ("photo.png", already_compressed(b"\x89PNG\r\n\x1a\n")),
        ("font.woff2", already_compressed(b"wOF2")),
        (
            "small.css",
            "body { margin: 0; color: black; background: white; font: 16px/1.5 sans-serif }\n".into(),
        ),
        ("archive.tar.gz", already_compressed(b"\x1f\x8b\x08")),
    ]
}

/// Those that come later, and have no compressed ones beside them.
pub(crate) fn new_files() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("new.css", text(".new-N { padding: Npx; color: #54321N }\n").into()),
        (
            "new.svg",
            format!(
                "<svg xmlns='http://www.w3.org/2000/svg'>{}</svg>",
                text("<path d='MN,N h10 v10'/>\n")
            )
            .into(),
        ),
        (
            "new.json",
            format!("[{}0]", text("{\"id\":N,\"name\":\"nameN\"},\n")).into(),
        ),
        (
            "new.xml",
            format!("<all>{}</all>", text("<one n='N'>Line N</one>\n")).into(),
        ),
        (
            "new.wasm",
            [b"\0asm\x01\0\0\0".as_slice(), text("(func $fN)").as_bytes()].concat(),
        ),
    ]
}

/// A recording of files and of what is made on request, for which every server has lines about both.
pub(crate) fn recording() -> String {
    let entry = |path: &str, media_type: &str, text: &str, headers: Value| {
        serde_json::json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 10,
            "request": {"method": "GET", "url": format!("https://a.example{path}"), "headers": []},
            "response": {"status": 200, "headers": headers, "content": {"size": text.len(), "mimeType": media_type, "text": text}},
            "timings": {"send": 0, "wait": 5, "receive": 5}
        })
    };
    let file = serde_json::json!([{"name": "Cache-Control", "value": "max-age=86400"}]);
    let entries = [
        entry("/", "text/html", &page().repeat(30), serde_json::json!([])),
        entry(
            "/api",
            "application/json",
            &text("{\"id\":N,\"name\":\"nameN\"}\n").repeat(30),
            serde_json::json!([]),
        ),
        entry(
            "/style.css",
            "text/css",
            &text(".item-N { margin: Npx; color: #12345N }\n").repeat(30),
            file.clone(),
        ),
        entry(
            "/app.js",
            "text/javascript",
            &text("export const fN = (a, b) => a * N + b;\n").repeat(30),
            file,
        ),
    ];
    serde_json::json!({"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": entries}})
        .to_string()
}
