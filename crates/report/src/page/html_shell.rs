//! The frame of a page: its head, the question, how it was measured, and the data.

use super::Provenance;
use super::block::Blocks;
use crate::chart;
use crate::document::Block;
use crate::escape::{Text, script_data};
use std::fmt::Write;

const CSS: &str = include_str!("page.css");
/// Offers the data in the page as a file to save; without scripts, the data is still in the page.
const SCRIPT: &str = include_str!("page.js");

/// What a page is made of.
#[derive(Debug)]
pub struct Page<'a> {
    /// The study's or the traffic's name.
    pub(super) title: &'a str,
    /// What kind of record this is: `study`, `advice`.
    pub(super) kind: &'a str,
    pub(super) question: &'a str,
    /// What to know before reading: the name, the world, the seed, the version.
    pub(super) facts: Vec<String>,
    /// Heads and pieces; a section without pieces is left out.
    pub(super) sections: Vec<(String, Vec<Block>)>,
    /// World, seed, cost table, version, in a sentence.
    pub(super) how: String,
}

/// Writes the whole file; `json` is the record.
pub(super) fn page(page: &Page<'_>, provenance: &Provenance, json: &str) -> String {
    let mut out = String::new();
    write_page(&mut out, page, provenance, json).expect("a String takes all that is written to it");
    out
}

fn write_page(out: &mut String, page: &Page<'_>, provenance: &Provenance, json: &str) -> std::fmt::Result {
    let (title, kind, question) = (Text(page.title), Text(page.kind), Text(page.question));
    // The policy enforces that the page fetches nothing.
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} · lastmile</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <style>\n{CSS}{}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<p class=\"kind\">lastmile {kind}</p>\n<h1>{question}</h1>\n<p class=\"subject\">{}</p>\n</header>",
        chart::CSS,
        Text(page.facts.join(" · ")),
    )?;
    let mut blocks = Blocks::default();
    for (head, section) in page.sections.iter().filter(|(_, section)| !section.is_empty()) {
        writeln!(out, "<section>\n<h2>{}</h2>", Text(head))?;
        blocks.write_section(out, head, section)?;
        writeln!(out, "</section>")?;
    }
    write_how(out, page, provenance)?;
    writeln!(
        out,
        "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>",
        script_data(json)
    )
}

fn write_how(out: &mut String, page: &Page<'_>, provenance: &Provenance) -> std::fmt::Result {
    let Provenance {
        command,
        machine,
        finished,
        study,
    } = provenance;
    let finished = finished
        .as_ref()
        .map_or_else(String::new, |finished| format!(", finished {finished}"));
    writeln!(
        out,
        "<section class=\"how\">\n<h2>How this was measured</h2>\n<p>{}</p>\n<p>Run on {}{}. To run it again:</p>\n<pre>{}</pre>",
        Text(&page.how),
        Text(machine),
        Text(finished),
        Text(command)
    )?;
    if let Some(study) = study {
        writeln!(
            out,
            "<details><summary>The study, as it was run</summary><pre>{}</pre></details>",
            Text(study)
        )?;
    }
    writeln!(
        out,
        "<p>All data is in this file, as JSON. <a id=\"download\" download=\"{}.json\" hidden>Save it</a></p>\n</section>",
        Text(file_name(page.title))
    )
}

/// A title as a file's name: letters, digits, dots and hyphens.
fn file_name(title: &str) -> String {
    let base = title.rsplit(['/', '\\']).next().unwrap_or(title);
    base.chars()
        .map(|c| if c.is_alphanumeric() || c == '.' { c } else { '-' })
        .collect()
}
