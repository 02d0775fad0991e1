//! Claims about traffic: what each kind of source gives, and the errors for sources that cannot be read.

use super::*;
use std::path::PathBuf;

fn corpus(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../fuzz/corpus")
        .join(kind)
}

fn har(name: &str) -> Traffic {
    let file = std::fs::File::open(corpus("har").join(name)).unwrap();
    har::read(file, name).unwrap()
}

fn har_error(name: &str) -> String {
    let file = std::fs::File::open(corpus("har").join(name)).unwrap();
    har::read(file, name).unwrap_err().to_string()
}

fn jsonl_error(name: &str) -> String {
    let file = std::fs::File::open(corpus("jsonl").join(name)).unwrap();
    jsonl::read(file, name).unwrap_err().to_string()
}

fn remarks(list: &[Note]) -> Vec<String> {
    list.iter()
        .map(|remark| format!("{} {}", remark.count, remark.what))
        .collect()
}

fn text(body: &Body) -> &str {
    let Body::Present(bytes) = body else {
        panic!("no body: {body:?}")
    };
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_har_of_chrome_gives_its_responses_and_says_what_it_skipped() {
    let traffic = har("valid-chrome.har");
    let [page, image, style] = traffic.responses.as_slice() else {
        panic!("{:?}", traffic.responses)
    };
    assert_eq!(
        (page.url.as_str(), page.host.as_str(), page.scheme.as_str()),
        ("https://shop.example/?q=1", "shop.example", "https")
    );
    assert_eq!(text(&page.body), "<!doctype html><title>Sh\u{f6}p \u{1f6d2}</title>\n");
    assert_eq!(
        (page.media_type.as_deref(), page.kind()),
        (Some("text/html"), ResponseKind::Html)
    );
    assert_eq!(page.http_version, Some(HttpVersion::Http2));
    assert_eq!(page.content_encoding.as_deref(), Some("br"));
    assert_eq!(
        (page.origin, page.origin_because),
        (Origin::Dynamic, "it sets a cookie")
    );
    assert_eq!((page.started, page.wait, page.total), ms_triple(0, 71_500, 81_250));
    assert_eq!(page.connection.as_deref(), Some("443"));
    // "GET /?q=1 HTTP/1.1", "accept: text/html" and an empty line, each with CR LF; pseudo-headers are not counted.
    assert_eq!(page.request_header_bytes, Some(ByteCount::new(20 + 19 + 2)));

    let Body::Present(gif) = &image.body else {
        panic!("{image:?}")
    };
    assert_eq!((gif.len(), &gif[..6]), (42, b"GIF89a".as_slice()));
    assert_eq!((image.started, image.wait, image.total), ms_triple(100, 10_000, 12_000));
    assert_eq!(image.initiator.as_deref(), Some("https://shop.example/"));
    assert_eq!(
        (image.origin, image.transferred),
        (Origin::Static, Some(ByteCount::new(43)))
    );

    assert_eq!(
        (style.index, &style.body, style.from_cache),
        (5, &Body::SizeOnly(ByteCount::new(2000)), true)
    );
    assert_eq!(style.initiator.as_deref(), Some("https://shop.example/app.js"));
    assert_eq!(style.origin, Origin::Static);
    assert_eq!(
        remarks(&traffic.skipped),
        [
            "1 are WebSockets, whose messages are not responses",
            "1 are data: or blob: URLs, whose content is in the page",
            "1 requests failed or were cancelled: they have no status",
        ]
    );
    assert_eq!(remarks(&traffic.notes), ["1 have no body in the file, only its size",]);
}

/// Milliseconds for the start, microseconds for wait and total.
fn ms_triple(started: u64, wait: u64, total: u64) -> (Duration, Option<Duration>, Option<Duration>) {
    (
        Duration::from_millis(started),
        Some(Duration::from_micros(wait)),
        Some(Duration::from_micros(total)),
    )
}

#[test]
fn a_har_of_firefox_gives_redirects_missing_bodies_and_revalidations() {
    let traffic = har("valid-firefox.har");
    let [redirect, cart, logo] = traffic.responses.as_slice() else {
        panic!("{:?}", traffic.responses)
    };
    assert_eq!((redirect.status, redirect.body.size()), (301, Some(ByteCount::ZERO)));
    assert_eq!(
        (redirect.request_header_bytes, redirect.response_header_bytes),
        (Some(ByteCount::new(350)), Some(ByteCount::new(180)))
    );
    assert_eq!(redirect.http_version, Some(HttpVersion::Http11));
    assert_eq!(
        (cart.method.as_str(), &cart.body),
        ("POST", &Body::SizeOnly(ByteCount::new(1234)))
    );
    assert_eq!(cart.initiator.as_deref(), Some("https://shop.example/"));
    assert_eq!(cart.started, Duration::from_millis(77));
    assert_eq!(
        (logo.from_cache, logo.body.size(), logo.wait, logo.total),
        (false, Some(ByteCount::ZERO), None, None)
    );
    assert_eq!(logo.origin, Origin::Static);
    assert_eq!(
        remarks(&traffic.notes),
        [
            "1 have no body in the file, only its size",
            "1 were answered by 304 (Not Modified): their bodies did not cross the link",
        ]
    );
}

#[test]
fn a_har_of_safari_gives_null_sizes_as_unknown() {
    let traffic = har("valid-safari.har");
    let [font, other] = traffic.responses.as_slice() else {
        panic!("{:?}", traffic.responses)
    };
    assert_eq!(font.body, Body::Present(Bytes::from_static(b"wOF2\0\x01\0\0")));
    assert_eq!(
        (font.kind(), font.transferred, font.response_header_bytes),
        (ResponseKind::FontWoff, None, None)
    );
    assert_eq!(
        (&other.body, other.status, other.method.as_str()),
        (&Body::Missing, 200, "GET")
    );
    assert_eq!(
        (other.started, other.total),
        (Duration::ZERO, Some(Duration::from_micros(7500)))
    );
    assert_eq!(
        remarks(&traffic.notes),
        [
            "1 have neither a body nor its size in the file",
            "1 have no readable start time; each is assumed to start with the response before it",
        ]
    );
}

#[test]
fn numbers_as_text_repeated_headers_and_half_surrogates_are_read() {
    let traffic = har("valid-proxy.har");
    let [items, bad, half, head] = traffic.responses.as_slice() else {
        panic!("{:?}", traffic.responses)
    };
    assert_eq!(
        (items.host.as_str(), text(&items.body)),
        ("api.example:8080", "{\"items\":1}")
    );
    assert_eq!(
        (items.request_header_bytes, items.response_header_bytes),
        (Some(ByteCount::new(25)), Some(ByteCount::new(120)))
    );
    assert_eq!(items.origin_because, "Cache-Control says no-store or private");
    assert_eq!(
        (items.wait, items.kind()),
        (Some(Duration::from_millis(9)), ResponseKind::Json)
    );
    assert_eq!(bad.body, Body::SizeOnly(ByteCount::new(9)));
    assert_eq!(half.body.size(), Some(ByteCount::new(3)));
    assert_eq!(
        (head.method.as_str(), head.body.size()),
        ("HEAD", Some(ByteCount::ZERO))
    );
    assert_eq!(
        remarks(&traffic.skipped),
        ["1 have a scheme other than http and https", "2 have no absolute URL"]
    );
}

#[test]
fn a_packed_har_is_read_as_it_was_before() {
    use std::io::Write as _;
    let har = r#"{"log": {"entries": [{"request": {"method": "GET", "url": "https://a.example/"},
        "response": {"status": 200, "content": {"mimeType": "text/html", "text": "<p>"}}}]}}"#;
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (folder.path().join("a.har"), folder.path().join("a.har.gz"));
    std::fs::write(&plain, har).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(har.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    std::fs::write(&packed, &bytes).unwrap();
    assert_eq!(
        Traffic::open(&packed).unwrap().responses,
        Traffic::open(&plain).unwrap().responses
    );
    std::fs::write(&packed, &bytes[..bytes.len() / 2]).unwrap();
    assert!(Traffic::open(&packed).unwrap_err().to_string().contains("a.har.gz"));
}

#[test]
fn a_har_that_cannot_be_read_is_named_with_its_place_and_a_remedy() {
    assert_eq!(
        har_error("invalid-empty.har"),
        format!("invalid-empty.har: the file is empty; {}", detect_format::EXPORT)
    );
    let error = |name: &str| {
        let error = har_error(name);
        let (problem, remedy) = error.split_once("; ").unwrap();
        assert!(!remedy.is_empty());
        problem.strip_prefix(&format!("{name}: ")).unwrap().to_owned()
    };
    let expected = [
        ("invalid-blank.har", "the file is empty"),
        ("invalid-gzip.har", "it looks like gzip data"),
        ("invalid-utf16.har", "it looks like text in UTF-16"),
        (
            "invalid-binary.har",
            "the file is binary: byte 6 is 0x00, which text never contains",
        ),
        (
            "invalid-no-log.har",
            "this is JSON but not a HAR: the field \"log\" is missing",
        ),
        (
            "invalid-log-null.har",
            "this is JSON but not a HAR: the field \"log\" is missing",
        ),
        (
            "invalid-no-entries.har",
            "this is JSON but not a HAR: the field \"log.entries\" is missing",
        ),
        ("invalid-empty-entries.har", "the HAR has no entries"),
        (
            "invalid-entries-object.har",
            "line 1, column 21: this is JSON but not a HAR: invalid type: map, expected a list of entries in \"log.entries\"",
        ),
        (
            "invalid-list.har",
            "line 1, column 1: this is not a HAR: it starts with \"[{\\\"log\\\": {}}]\", but a HAR starts with \"{\"",
        ),
        (
            "invalid-html.har",
            "line 1, column 1: this is not a HAR: it starts with \"<!doctype html><title>Lo\", but a HAR starts with \"{\"",
        ),
        (
            "invalid-trailing.har",
            "line 1, column 88: invalid JSON: trailing characters",
        ),
        (
            "invalid-request-text.har",
            "line 1, column 38: this is JSON but not a HAR: invalid type: string \"GET\", expected a request",
        ),
        (
            "invalid-syntax.har",
            "line 2, column 29: invalid JSON: key must be a string",
        ),
        (
            "invalid-cut-off.har",
            "line 16, column 74: the file is cut off here: EOF while parsing a string",
        ),
    ];
    for (name, problem) in expected {
        assert_eq!(error(name), problem, "{name}");
    }
    assert!(har_error("invalid-deep.har").contains("line 1, column "));
    assert!(har_error("invalid-no-response.har").contains("none of its 2 entries is a response: 1 are WebSockets"));
}

#[test]
fn lines_of_json_give_a_response_each() {
    let traffic = Traffic::open(corpus("jsonl").join("valid-all-keys.jsonl")).unwrap();
    let [page, data, api] = traffic.responses.as_slice() else {
        panic!("{:?}", traffic.responses)
    };
    assert_eq!(
        (page.media_type.as_deref(), text(&page.body)),
        (Some("text/html"), "<!doctype html>\n")
    );
    assert_eq!(
        (page.started, page.status, page.method.as_str()),
        (Duration::ZERO, 200, "GET")
    );
    assert_eq!(data.body, Body::Present(Bytes::from_static(&[0, 1, 2, 255])));
    assert_eq!(
        (data.started, data.wait),
        (Duration::from_micros(40_500), Some(Duration::from_micros(12_250)))
    );
    assert_eq!(
        (data.origin, data.origin_because),
        (Origin::Static, "\"static\" is true")
    );
    assert_eq!(
        (api.started, api.status, api.method.as_str()),
        (data.started, 201, "POST")
    );
    assert_eq!(api.body, Body::SizeOnly(ByteCount::new(3210)));
    assert_eq!(remarks(&traffic.notes), ["1 have no body in the file, only its size"]);
}

#[test]
fn a_wrong_line_of_json_is_named_with_its_number() {
    let expected = [
        (
            "invalid-unknown-key.jsonl",
            "line 2, column 25: unknown key \"bodi\"; did you mean \"body\"? (one of url, body, body_base64, size, \
             content_type, method, status, started_ms, wait_ms, static)",
        ),
        (
            "invalid-cut-off.jsonl",
            "line 2, column 22: the line is cut off: EOF while parsing a string",
        ),
        (
            "invalid-two-bodies.jsonl",
            "line 1, column 1: only one of \"body\", \"body_base64\" and \"size\" is allowed",
        ),
        (
            "invalid-no-body.jsonl",
            "line 1, column 1: one of \"body\", \"body_base64\" or \"size\" is required",
        ),
        ("invalid-no-url.jsonl", "line 1, column 1: the key \"url\" is missing"),
        (
            "invalid-relative-url.jsonl",
            "line 1, column 1: \"/a\" is not an absolute URL of http or https",
        ),
        (
            "invalid-negative-start.jsonl",
            "line 1, column 1: \"started_ms\" is -1, which is not a time of 0 or more",
        ),
        (
            "invalid-status.jsonl",
            "line 1, column 1: \"status\" is 20, but status codes have three digits",
        ),
        (
            "invalid-content-type.jsonl",
            "line 1, column 1: \"content_type\" is \"html\", which is not a media type",
        ),
        ("invalid-empty.jsonl", "the file is empty"),
        ("invalid-zip.jsonl", "it looks like a zip archive"),
    ];
    for (name, problem) in expected {
        let error = jsonl_error(name);
        assert!(error.starts_with(&format!("{name}: {problem}; ")), "{error}");
    }
    assert!(jsonl_error("invalid-twice.jsonl").contains("the key \"url\" occurs twice"));
    assert!(jsonl_error("invalid-base64.jsonl").contains("\"body_base64\" is not base64"));
    assert!(jsonl_error("invalid-list.jsonl").contains("expected an object, one response"));
}

#[test]
fn the_corpus_is_read_or_refused_as_its_names_say_however_it_is_opened() {
    let mut seen = 0;
    for (kind, format) in [("har", TrafficFormat::Har), ("jsonl", TrafficFormat::JsonLines)] {
        for file in std::fs::read_dir(corpus(kind)).unwrap() {
            let path = file.unwrap().path();
            let valid = path.file_name().unwrap().to_str().unwrap().starts_with("valid-");
            let outcome = Traffic::open(&path);
            assert_eq!(outcome.is_ok(), valid, "{}: {outcome:?}", path.display());
            // Without an extension, the first key decides on the format.
            let folder = tempfile::tempdir().unwrap();
            let bare = folder.path().join("traffic");
            std::fs::copy(&path, &bare).unwrap();
            assert_eq!(
                Traffic::open(&bare).ok().map(|traffic| traffic.format),
                valid.then_some(format),
                "{} without its extension",
                path.display()
            );
            seen += 1;
        }
    }
    assert!(seen > 35, "the corpus has shrunk to {seen} files");
}

#[test]
fn a_har_cut_off_anywhere_is_an_error_and_never_a_panic() {
    let whole = std::fs::read(corpus("har").join("valid-proxy.har")).unwrap();
    let end = whole.trim_ascii_end().len();
    for length in 0..end {
        assert!(har::read(&whole[..length], "cut").is_err(), "cut at {length} of {end}");
    }
    assert!(har::read(&whole[..end], "whole").is_ok());
}

#[test]
fn a_har_read_an_byte_at_a_time_says_the_same() {
    struct Slow<'a>(&'a [u8]);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            let count = room.len().min(1);
            self.0.read(&mut room[..count])
        }
    }
    let bytes = std::fs::read(corpus("har").join("valid-firefox.har")).unwrap();
    assert_eq!(
        har::read(Slow(&bytes), "valid-firefox.har").unwrap(),
        har("valid-firefox.har")
    );
}

#[test]
fn starts_are_measured_from_the_earliest_though_entries_are_out_of_order() {
    let entry = |start: &str| {
        format!(r#"{{"startedDateTime": "{start}", "request": {{"url": "http://a/"}}, "response": {{"status": 200}}}}"#)
    };
    let (late, early) = (entry("2024-01-01T01:00:01+01:00"), entry("2024-01-01T00:00:00.25Z"));
    let text = format!(r#"{{"log": {{"entries": [{late}, {early}]}}}}"#);
    let traffic = har::read(text.as_bytes(), "two").unwrap();
    let started: Vec<Duration> = traffic.responses.iter().map(|response| response.started).collect();
    assert_eq!(started, [Duration::from_millis(750), Duration::ZERO]);
}

#[test]
fn a_folder_gives_its_files_as_static_responses_in_the_order_of_paths() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("index.html", b"<!doctype html>");
    write("assets/app 1%.js", b"run()");
    write("assets/data.unknown", b"\0\x01");
    write("README", b"");
    let traffic = Traffic::open(folder.path()).unwrap();
    let seen: Vec<_> = traffic
        .responses
        .iter()
        .map(|response| (response.url.as_str(), response.media_type.as_deref().unwrap()))
        .collect();
    assert_eq!(
        seen,
        [
            ("https://localhost/README", "application/octet-stream"),
            ("https://localhost/assets/app%201%25.js", "text/javascript"),
            ("https://localhost/assets/data.unknown", "application/octet-stream"),
            ("https://localhost/index.html", "text/html"),
        ]
    );
    assert!(
        traffic
            .responses
            .iter()
            .all(|response| response.origin == Origin::Static)
    );
    assert_eq!(text(&traffic.responses[3].body), "<!doctype html>");
}

#[test]
fn a_folder_without_files_and_a_missing_path_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let error = Traffic::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("the folder contains no files; name a folder"), "{error}");
    let error = Traffic::open(folder.path().join("shop.har")).unwrap_err().to_string();
    assert!(
        error.ends_with("shop.har: there is no such file or folder; give the path of a HAR, a .jsonl file or a folder")
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_only_to_files_within_the_folder() {
    use std::os::unix::fs::symlink;
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("a.txt"), "a").unwrap();
    std::fs::write(elsewhere.path().join("secret.txt"), "secret").unwrap();
    symlink("a.txt", folder.path().join("b.txt")).unwrap();
    symlink(elsewhere.path().join("secret.txt"), folder.path().join("out.txt")).unwrap();
    symlink(folder.path(), folder.path().join("loop")).unwrap();
    symlink("nowhere", folder.path().join("broken")).unwrap();
    let traffic = Traffic::open(folder.path()).unwrap();
    let urls: Vec<&str> = traffic.responses.iter().map(|response| response.url.as_str()).collect();
    assert_eq!(urls, ["https://localhost/a.txt", "https://localhost/b.txt"]);
    assert_eq!(
        remarks(&traffic.skipped),
        ["3 are symbolic links that do not lead to a file in the folder"]
    );
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 512,
        failure_persistence: None,
        ..proptest::test_runner::Config::default()
    })]

    #[test]
    fn damage_to_a_source_is_an_error_or_read_but_never_a_panic(
        file in 0..6_usize, damage in proptest::collection::vec((0..4000_usize, proptest::num::u8::ANY), 1..6),
    ) {
        let name = ["valid-chrome", "valid-firefox", "valid-safari", "valid-proxy", "valid-all-keys", "valid-crlf"][file];
        let lines = file >= 4;
        let path = corpus(if lines { "jsonl" } else { "har" }).join(format!("{name}.{}", if lines { "jsonl" } else { "har" }));
        let mut bytes = std::fs::read(path).unwrap();
        for (at, value) in damage {
            let length = bytes.len();
            bytes[at % length] = value;
        }
        let outcome = if lines { jsonl::read(bytes.as_slice(), name) } else { har::read(bytes.as_slice(), name) };
        match outcome {
            Ok(traffic) => proptest::prop_assert!(!traffic.responses.is_empty()),
            Err(error) => proptest::prop_assert_eq!(error.file(), name),
        }
    }
}

#[test]
fn traffic_without_a_path_is_unpacked_by_its_first_bytes() {
    let har = include_bytes!("../../../../../examples/shop.har");
    let plain = Traffic::read(&har[..], "standard input").unwrap();
    assert_eq!(plain.source, "standard input");
    assert!(plain.responses.len() > 10);
    let mut gzip = flate2::read::GzEncoder::new(&har[..], flate2::Compression::new(1));
    let mut gzipped = Vec::new();
    gzip.read_to_end(&mut gzipped).unwrap();
    let zstd = zstd::encode_all(&har[..], 1).unwrap();
    for packed in [&gzipped, &zstd] {
        assert_eq!(Traffic::read(&packed[..], "standard input").unwrap(), plain);
        let cut = Traffic::read(&packed[..packed.len() / 2], "standard input").unwrap_err();
        assert!(cut.to_string().starts_with("standard input: "), "{cut}");
    }
    let twice = zstd::encode_all(&zstd[..], 1).unwrap();
    let error = Traffic::read(&twice[..], "standard input").unwrap_err().to_string();
    assert!(error.contains("zstd data; unpack it first"), "{error}");
}
