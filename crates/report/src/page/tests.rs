//! A page is safe, whole and the same every time.

use super::*;
use crate::sample;

fn provenance() -> Provenance {
    Provenance {
        command: "lastmile run gzip-filter --seed 1".to_owned(),
        machine: "2 cores, Linux 6.1".to_owned(),
        finished: None,
        study: Some("name = \"gzip-filter\"\nrepeats = 5\n".to_owned()),
    }
}

#[test]
fn one_record_gives_the_same_page_twice() {
    assert_eq!(
        run_page(&sample::run(), &provenance()),
        run_page(&sample::run(), &provenance())
    );
    assert_eq!(
        advice_page(&sample::advice(), &provenance()),
        advice_page(&sample::advice(), &provenance())
    );
}

#[test]
fn nothing_is_fetched_and_the_script_is_short() {
    for page in [
        run_page(&sample::run(), &provenance()),
        advice_page(&sample::advice(), &provenance()),
    ] {
        for word in ["src=", "url(", "@import", "<link", "fetch("] {
            assert!(!page.contains(word), "{word}");
        }
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"));
    }
    assert!(include_str!("page.js").len() <= 512);
}

/// Pages to look at: set `LASTMILE_PAGES` to a folder that exists.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test writes what a person asked to see")]
fn pages_can_be_looked_at() {
    let pages = [
        ("run", run_page(&sample::run(), &provenance())),
        ("advice", advice_page(&sample::advice(), &provenance())),
    ];
    for (name, page) in pages {
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        if let Ok(folder) = std::env::var("LASTMILE_PAGES") {
            std::fs::write(format!("{folder}/{name}.html"), page).expect("the folder can be written to");
        }
    }
}
