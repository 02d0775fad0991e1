//! Checks a sample of a record for what every record must keep, so that each crate that owns one tests it in one line.
//!
//! [`check_schema`] holds the committed JSON schema to the type; [`check_record`] holds every format to its promises.

use crate::csv;
use crate::link_description::LinkDescription;
use crate::page::{self, PageRecord, Provenance};
use crate::record::{Axis, Chart, DoubtKind, Figure, Point, Scale, Series, Source};
use crate::saving::Saving;
use crate::terminal::{self, TerminalStyle};
use crate::{Detail, Record, markdown, screen};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

/// Text that HTML, SVG, a script, Markdown and a terminal must show and not obey.
pub const HOSTILE: &str =
    "</script></text></title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>]]>&amp;<!--|`\u{1b}[2J";

/// Checks that `schemas/NAME.json` is the schema of the type, that the sample as printed has that shape, and that without a field it has not.
///
/// With `UPDATE_SCHEMAS` set, the committed file is rewritten first.
#[expect(
    clippy::disallowed_methods,
    reason = "tests compare files of the tree with the types"
)]
pub fn check_schema<T: JsonSchema + Serialize>(name: &str, sample: &T) {
    // A field that may be null is always present.
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = generator.into_root_schema_for::<T>();
    let path = format!("{}/../../../schemas/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let expected = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    if std::env::var("UPDATE_SCHEMAS").is_ok() {
        std::fs::write(&path, &expected).expect("the schemas can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        committed == expected,
        "schemas/{name}.json is not the schema of its type; run `make schemas`, read the difference, and commit it"
    );
    let validator = jsonschema::validator_for(schema.as_value()).expect("a schema");
    let printed = serde_json::to_value(sample).expect("a record is JSON");
    if let Err(error) = validator.validate(&printed) {
        panic!("{name}: {error} at {}", error.instance_path());
    }
    let mut other = printed.clone();
    other["schema"] = json!("lastmile/other/1");
    assert!(!validator.is_valid(&other), "{name}");
    for field in printed.as_object().expect("an object").keys() {
        let mut without = printed.clone();
        without.as_object_mut().expect("an object").remove(field);
        assert!(!validator.is_valid(&without), "{name} without {field}");
    }
}

/// Checks that a sample is read back as it was, and that its terminal, Markdown and CSV are well-formed and safe.
///
/// `fixed` are the texts of the sample that an enumeration fixes.
pub fn check_record<T>(sample: &T, fixed: &[&str])
where
    T: Record + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(sample).expect("a record is JSON");
    assert_eq!(serde_json::from_str::<T>(&text).expect("and back"), *sample);
    let hostile = hostile(sample, fixed);
    check_terminal(sample);
    check_terminal_safety(&hostile);
    check_rows(sample);
    check_markdown(sample);
    check_markdown(&hostile);
}

/// Checks that a sample's page is reproducible, fetches nothing and is safe, where the traffic named `hosts`.
pub fn check_page<T: PageRecord + DeserializeOwned>(sample: &T, fixed: &[&str], hosts: &[String]) {
    let page = page::render(sample, &provenance("2 cores, Linux 6.1"));
    assert_eq!(page, page::render(sample, &provenance("2 cores, Linux 6.1")));
    check_offline(&page, hosts);
    check_page_safety(&page::render(&hostile(sample, fixed), &provenance(HOSTILE)));
    write_page(&page);
}

/// A record with [`HOSTILE`] in every text and every name, except those that an enumeration fixes.
pub fn hostile<T: Serialize + DeserializeOwned>(record: &T, fixed: &[&str]) -> T {
    fn poison(value: &mut Value, fixed: &[&str]) {
        let is_fixed = |text: &str| fixed.contains(&text) || DoubtKind::ALL.iter().any(|kind| kind.to_string() == text);
        match value {
            Value::String(text) if !is_fixed(text) => text.push_str(HOSTILE),
            Value::Array(all) => all.iter_mut().for_each(|one| poison(one, fixed)),
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    poison(field, fixed);
                    let named = ["levels", "figures", "set_aside", "libraries"].contains(&name.as_str());
                    if let (true, Some(named)) = (named, field.as_object_mut()) {
                        let entries = std::mem::take(named).into_iter();
                        *named = entries.map(|(name, value)| (name + HOSTILE, value)).collect();
                    }
                }
            }
            _ => {}
        }
    }
    // What charts and Markdown of every record may hold.
    let fixed = [&["measured", "published", "predicted", "linear", "log"], fixed].concat();
    let mut value = serde_json::to_value(record).expect("a record is JSON");
    poison(&mut value, &fixed);
    serde_json::from_value(value).expect("its shape is as it was")
}

fn provenance(text: &str) -> Provenance {
    Provenance {
        command: text.to_owned(),
        machine: text.to_owned(),
        finished: None,
        study: Some(text.to_owned()),
    }
}

/// No line but those to paste is wider than the terminal.
fn check_terminal(record: &impl Record) {
    for width in [60, 80, 120] {
        let style = TerminalStyle { width, colour: false };
        let text = terminal::render(record, Detail::Short, style);
        for line in text.lines().filter(|line| !line.starts_with("    ")) {
            assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
        }
    }
}

/// A name cannot command the terminal.
fn check_terminal_safety(hostile: &impl Record) {
    let style = TerminalStyle {
        width: 120,
        colour: false,
    };
    assert!(!terminal::render(hostile, Detail::Short, style).contains('\u{1b}'));
}

/// Every row of every table has as many cells as its head.
fn check_markdown(record: &impl Record) {
    let text = markdown::render(record, Detail::Long);
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    let in_table = |pair: &&[&str]| pair.iter().all(|line| line.starts_with('|'));
    for pair in lines.windows(2).filter(in_table) {
        assert_eq!(cells(pair[0]), cells(pair[1]), "{} and {}", pair[0], pair[1]);
    }
}

/// Every row of the CSV has as many fields as its head.
fn check_rows(record: &impl Record) {
    let rows = read_csv(&csv::render(record));
    assert!(rows.len() > 1);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{rows:?}");
}

/// A reader of RFC 4180, to test the writer.
pub fn read_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut inside) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if inside && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => inside = !inside,
            ',' if !inside => row.push(std::mem::take(&mut field)),
            '\n' if !inside => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    assert!(!inside && field.is_empty() && row.is_empty(), "the last row ends");
    rows
}

/// Nothing is fetched.
fn check_offline(page: &str, hosts: &[String]) {
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for word in ["src=", "url(", "@import", "<link", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
    // The record, which the page contains, names the hosts of the traffic.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    let elsewhere = hosts.iter().fold(elsewhere, |page, host| page.replace(host, ""));
    assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"));
}

/// No text of a record becomes markup.
fn check_page_safety(page: &str) {
    assert_eq!(
        (page.matches("<script").count(), page.matches("</script").count()),
        (2, 2)
    );
    for markup in ["<img", "<!--", "\"'>", "]]>", "&amp;lt;", "\u{1b}"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert_eq!(page.matches("<title").count(), page.matches("</title").count());
    assert_eq!(page.matches("<text").count(), page.matches("</text").count());
}

/// Writes the page to look at it, where `LASTMILE_PAGES` names a folder that exists.
#[expect(clippy::disallowed_methods, reason = "tests write what a person asked to see")]
fn write_page(page: &str) {
    let Ok(folder) = std::env::var("LASTMILE_PAGES") else {
        return;
    };
    let title = page.split("<title>").nth(1).and_then(|rest| rest.split('<').next());
    let name = title.unwrap_or("page").replace(['/', ' '], "-");
    std::fs::write(format!("{folder}/{name}.html"), page).expect("the folder can be written to");
}

/// A made-up figure of five samples.
pub fn figure(unit: &str, per: &str, mean: f64, population_sd: f64) -> Figure {
    Figure {
        unit: unit.to_owned(),
        per: per.to_owned(),
        n: 5,
        mean,
        population_sd,
        sd: Some(population_sd * (5.0f64 / 4.0).sqrt()),
        population_sd_ratio: Some(population_sd / mean),
        quantiles: [
            ("0.5", mean),
            ("0.95", mean + 1.5 * population_sd),
            ("0.99", mean + 1.6 * population_sd),
        ]
        .map(|(p, value)| (p.to_owned(), value))
        .into(),
        ci95: (population_sd > 0.0).then_some([mean - population_sd, mean + population_sd]),
        varied: if population_sd > 0.0 {
            vec!["calibration".to_owned()]
        } else {
            Vec::new()
        },
        run_means: Vec::new(),
        first_against_rest: Some([mean * 1.04, mean * 0.99]),
        published: None,
    }
}

pub(crate) fn point(x: f64, y: f64, spread: f64) -> Point {
    Point {
        x,
        y,
        spread: (spread > 0.0).then_some([y - spread, y + spread]),
        label: None,
    }
}

pub(crate) fn series(name: &str, source: Source, joined: bool, points: &[Point]) -> Series {
    Series {
        name: name.to_owned(),
        source,
        joined,
        points: points.to_vec(),
    }
}

/// A made-up chart, with series of every source.
pub fn time_by_bandwidth() -> Chart {
    let rates = [56e3, 512e3, 10e6, 100e6];
    let at = |values: [f64; 4], spread: f64| -> Vec<Point> {
        rates
            .iter()
            .zip(values)
            .map(|(x, y)| point(*x, y, y * spread))
            .collect()
    };
    let mut plain = at([9.9, 6.4, 5.0, 0.47], 0.04);
    for (point, name) in plain.iter_mut().zip(["dial-up", "ADSL", "broadband", "intranet"]) {
        point.label = Some(name.to_owned());
    }
    Chart {
        title: "Extracting time over the bandwidth".to_owned(),
        note: "100 telemetry packets. The dotted line is 8 S / B and the round trips of slow start.".to_owned(),
        x: Axis::new("Bandwidth", "bit/s", Scale::Log),
        y: Axis::new("Extracting time", "s", Scale::Log),
        series: vec![
            series("without", Source::Measured, true, &plain),
            series("with", Source::Measured, true, &at([5.2, 3.9, 3.4, 0.48], 0.04)),
            series("without", Source::Published, true, &at([9.53, 6.66, 5.135, 0.473], 0.0)),
            series("with", Source::Published, true, &at([5.475, 4.136, 3.589, 0.479], 0.0)),
            series(
                "rate alone",
                Source::Predicted,
                true,
                &at([5.68, 0.87, 0.29, 0.26], 0.0),
            ),
        ],
        ..Chart::default()
    }
}

/// A made-up saving.
pub fn saving(mean: f64, share: f64) -> Saving {
    Saving {
        pairs: 20,
        mean_s: mean,
        mean_ci95_s: Some([mean * 0.93, mean * 1.07]),
        median_s: mean * 0.97,
        median_ci95_s: Some([mean * 0.9, mean * 1.03]),
        p95_s: mean * 1.6,
        p95_ci95_s: Some([mean * 1.2, mean * 1.9]),
        share,
        varied: vec!["calibration".to_owned(), "start phase".to_owned()],
    }
}

/// A made-up link.
pub fn link_description() -> LinkDescription {
    LinkDescription {
        rate_down_bit_per_second: Some(1.6e6),
        rate_up_bit_per_second: Some(0.8e6),
        round_trip_s: 0.3,
        loss: 0.0,
        queue: "drop-tail, 100 packets".to_owned(),
        source: "WebPageTest, connectivity.ini, 3G".to_owned(),
    }
}

/// Checks what every screen must keep: no more lines and columns than a terminal has, no control character, and the answer or the next step last.
pub fn check_screen(record: &impl Record) -> String {
    let screen = record.screen().expect("this record has a screen");
    let at = |width| screen::render(&screen, TerminalStyle { width, colour: false });
    for width in [60, 80, 120] {
        let text = at(width);
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines.len() <= screen::LINES_MAX,
            "{} lines at {width}: {text}",
            lines.len()
        );
        let is_wide = |line: &&str| line.chars().count() > usize::from(width) && !line.starts_with("next: ");
        assert_eq!(lines.iter().find(|line| is_wide(line)), None, "{width}: {text}");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        let last = lines.last().copied().unwrap_or_default();
        let last_word = screen.answer.split_whitespace().next_back().unwrap_or_default();
        assert!(
            last.starts_with("next: ") || last.ends_with(last_word) || last.ends_with('…'),
            "{text}"
        );
    }
    at(80)
}
