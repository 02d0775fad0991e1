use super::*;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The factor by which gzip at level 6 reduces `body`.
fn ratio(body: &[u8]) -> f64 {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(body).unwrap();
    body.len() as f64 / encoder.finish().unwrap().len() as f64
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn the_committed_examples_are_the_generated_ones() {
    let files = example_files();
    for (path, generated) in &files {
        let found = std::fs::read(committed().join(path)).unwrap_or_else(|error| panic!("examples/{path}: {error}"));
        assert!(
            found == *generated,
            "examples/{path} differs; write it anew with the example program make_examples"
        );
    }
    for entry in std::fs::read_dir(committed().join("responses")).unwrap() {
        let path = format!("responses/{}", entry.unwrap().file_name().to_string_lossy());
        assert!(
            files.contains_key(&path),
            "examples/{path} is not one that is generated"
        );
    }
}

#[test]
fn bodies_shrink_about_as_their_kinds_do_on_real_sites() {
    let files = example_files();
    // Typical ranges of gzip on such files; they have no single source.
    for (path, range) in [
        ("responses/index.html", 4.0..6.0),
        ("responses/app.js", 3.0..4.0),
        ("responses/base.css", 4.0..6.0),
        ("responses/products.json", 5.0..10.0),
        ("responses/terms.txt", 2.0..3.0),
        ("responses/map.svg", 2.0..3.0),
        ("responses/photo.webp", 0.99..1.0),
    ] {
        let found = ratio(&files[path]);
        assert!(range.contains(&found), "{path}: {found:.2}, expected {range:?}");
    }
}

#[test]
fn the_archive_is_a_page_load_of_ordinary_size() {
    let files = example_files();
    let archive: serde_json::Value = serde_json::from_slice(&files["shop.har"]).unwrap();
    let entries = archive["log"]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 70);
    assert!(files["shop.har"].len() < 3_000_000);
    assert!(files.values().map(Vec::len).sum::<usize>() < files["shop.har"].len() + 1_000_000);
    let hosts: std::collections::BTreeSet<_> = entries
        .iter()
        .map(|entry| {
            entry["request"]["url"]
                .as_str()
                .unwrap()
                .split('/')
                .nth(2)
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        hosts.into_iter().collect::<Vec<_>>(),
        ["api.shop.example", "static.shop.example", "www.shop.example"]
    );
    let started: Vec<_> = entries
        .iter()
        .map(|entry| entry["startedDateTime"].as_str().unwrap())
        .collect();
    assert!(started.is_sorted());
}
