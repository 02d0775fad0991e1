//! The frame of a page: its head, the question, how it was measured, and the data.

use super::Provenance;
use super::block::{Blocks, Entry};
use crate::document::Block;
use lastmile_chart as chart;
use lastmile_chart::escape::Text;
use std::fmt::Write;

const CSS: &str = include_str!("page.css");
/// Offers the data in the page as a file to save; without scripts, the data is still in the page.
const SCRIPT: &str = include_str!("page.js");

/// What a page is made of.
#[derive(Debug)]
pub struct Page<'a> {
    /// The study's or the traffic's name.
    pub title: &'a str,
    /// What kind of record this is: `study`, `advice`.
    pub kind: &'a str,
    pub question: &'a str,
    /// What to know before reading: the name, the world, the seed, the version.
    pub facts: Vec<String>,
    /// Heads and pieces; a section without pieces is left out.
    pub sections: Vec<(String, Vec<Block>)>,
    /// World, seed, cost table, version, in a sentence.
    pub how: String,
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
    let mut sections = String::new();
    let shown = page.sections.iter().filter(|(_, section)| !section.is_empty());
    for (at, (head, section)) in shown.enumerate() {
        let id = format!("section{}", at + 1);
        writeln!(sections, "<section id=\"{id}\">\n<h2>{}</h2>", Text(head))?;
        blocks.contents.push(Entry {
            id,
            title: head.clone(),
            charts: Vec::new(),
        });
        blocks.write_section(&mut sections, head, section)?;
        writeln!(sections, "</section>")?;
    }
    write_contents(out, &blocks.contents)?;
    out.push_str(&sections);
    write_how(out, page, provenance)?;
    writeln!(
        out,
        "</main>\n<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>",
        script_data(json)
    )
}

/// The table of contents: the sections side by side, and the drawings folded away.
fn write_contents(out: &mut String, contents: &[Entry]) -> std::fmt::Result {
    writeln!(out, "<nav class=\"contents\" aria-label=\"Contents\">\n<ul>")?;
    for Entry { id, title, .. } in contents {
        writeln!(out, "<li><a href=\"#{id}\">{}</a></li>", Text(title))?;
    }
    writeln!(out, "<li><a href=\"#how\">How this was measured</a></li>\n</ul>")?;
    let charts: Vec<_> = contents.iter().flat_map(|section| &section.charts).collect();
    if charts.len() > 1 {
        write!(out, "<details><summary>{} pictures</summary><ol>", charts.len())?;
        for (id, title) in charts {
            write!(out, "<li><a href=\"#{id}\">{}</a></li>", Text(title))?;
        }
        out.push_str("</ol></details>");
    }
    writeln!(out, "</nav>")
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
        "<section class=\"how\" id=\"how\">\n<h2>How this was measured</h2>\n<p>{}</p>\n<p>Run on {}{}. To run it again:</p>\n<pre>{}</pre>",
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

/// JSON for a `<script type="application/json">`. A script's content ends at `</script`, and `<!--` changes how it is read, even inside
/// quotes (HTML standard, section 13.2.5.4 on); in JSON, `<` occurs only in strings, where `\u003c` is the same.
fn script_data(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_the_script_it_is_in_and_reads_the_same() {
        let json = serde_json::to_string("</script><!-- & ]]>").unwrap();
        let data = script_data(&json);
        assert!(!data.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(&data).unwrap(), "</script><!-- & ]]>");
    }
}
