//! The frame of a page: its head, the question, how it was measured, and the data.

use super::Provenance;
use super::block::{Blocks, Entry, write_bar_table};
use crate::document::Block;
use crate::screen::{Screen, Tile};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use lastmile_chart as chart;
use lastmile_chart::escape::Text;
use std::fmt::Write;
use std::io::Write as _;

const CSS: &str = include_str!("page.css");
/// What a reader can do beyond reading; without scripts, everything can be read.
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

/// Writes the whole file; `json` is the record, and `screen` what a terminal shows of it.
pub(super) fn page(page: &Page<'_>, screen: Option<&Screen>, provenance: &Provenance, json: &str) -> String {
    let mut out = String::new();
    write_page(&mut out, page, screen, provenance, json).expect("a String takes all that is written to it");
    out
}

fn write_page(
    out: &mut String,
    page: &Page<'_>,
    screen: Option<&Screen>,
    provenance: &Provenance,
    json: &str,
) -> std::fmt::Result {
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
    // Where no bars show the answer, the first drawing does.
    let has_bars = screen.is_some_and(|screen| !screen.bars.is_empty());
    let lead = page
        .sections
        .iter()
        .flat_map(|(_, section)| section)
        .find(|block| is_drawing(block));
    let lead = lead.filter(|_| !has_bars);
    let mut picture = String::new();
    if let Some(lead) = lead {
        blocks.write_section(&mut picture, "", std::slice::from_ref(lead))?;
    }
    let is_lead = |block: &Block| lead.is_some_and(|lead| std::ptr::eq(lead, block));
    let shown = page.sections.iter().filter(|(_, section)| !section.iter().all(is_lead));
    for (head, section) in shown {
        let id = section_id(head, &blocks.contents);
        let link = head
            .strip_prefix("On ")
            .map_or_else(String::new, |link| format!(" data-link=\"{}\"", Text(link)));
        writeln!(sections, "<section id=\"{id}\"{link}>\n<h2>{}</h2>", Text(head))?;
        blocks.contents.push(Entry {
            id,
            title: head.clone(),
            charts: Vec::new(),
        });
        for part in section.split(is_lead) {
            blocks.write_section(&mut sections, head, part)?;
        }
        writeln!(sections, "</section>")?;
    }
    write_contents(out, &blocks.contents)?;
    out.push_str("<div class=\"body\">\n");
    if let Some(screen) = screen {
        write_tiles(out, &screen.tiles)?;
        write_bars(out, screen)?;
    }
    out.push_str(&picture);
    out.push_str(&sections);
    write_how(out, page, provenance)?;
    out.push_str("</div>\n");
    writeln!(
        out,
        "</main>\n{}\n<script>\n{SCRIPT}</script>\n</body>\n</html>",
        data_element(json)
    )
}

const fn is_drawing(block: &Block) -> bool {
    matches!(block, Block::Chart(_) | Block::Heat(_) | Block::Waterfall(_))
}

/// Records above this size are compressed, so that a page stays small enough to be sent by mail: our own choice.
const PLAIN_DATA_MAX: usize = 20_000;

/// The record as JSON, compressed and in base64 where it is large.
fn data_element(json: &str) -> String {
    if json.len() <= PLAIN_DATA_MAX {
        return format!(
            "<script type=\"application/json\" id=\"data\">{}</script>",
            script_data(json)
        );
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let compressed = encoder.write_all(json.as_bytes()).and_then(|()| encoder.finish());
    let text = BASE64_STANDARD.encode(compressed.expect("memory takes all that is written to it"));
    format!("<script type=\"text/plain\" data-coding=\"gzip\" id=\"data\">{text}</script>")
}

/// The id of a section: its head in lower case, with a number where another section has the same.
fn section_id(head: &str, others: &[Entry]) -> String {
    let words = head
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let base = words.collect::<Vec<_>>().join("-").to_lowercase();
    // These are ids of the page's own parts.
    let is_taken =
        |id: &str| ["", "data", "download", "how"].contains(&id) || others.iter().any(|other| other.id == id);
    std::iter::once(base.clone())
        .chain((2..).map(|number| format!("{base}-{number}")))
        .find(|id| !is_taken(id))
        .expect("the numbers do not end")
}

/// The most tiles: as many as have room beside each other.
const TILES_MAX: usize = 4;

/// The figures that answer.
fn write_tiles(out: &mut String, tiles: &[Tile]) -> std::fmt::Result {
    if tiles.is_empty() {
        return Ok(());
    }
    out.push_str("<ul class=\"tiles\">");
    for Tile { name, figure, detail } in tiles.iter().take(TILES_MAX) {
        let (name, figure, detail) = (Text(name), Text(figure), Text(detail));
        write!(out, "<li><span>{name}</span><b>{figure}</b><span>{detail}</span></li>")?;
    }
    writeln!(out, "</ul>")
}

/// The bars of the screen, group by group.
fn write_bars(out: &mut String, screen: &Screen) -> std::fmt::Result {
    if screen.bars.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<figure class=\"bars\"><figcaption>{}</figcaption>",
        Text(&screen.question)
    )?;
    for group in &screen.bars {
        let detail = if group.detail.is_empty() {
            String::new()
        } else {
            format!(", {}", group.detail)
        };
        let caption = format!("{}<small>{}</small>", Text(&group.name), Text(detail));
        let longest = group.bars.iter().map(|bar| bar.length).fold(0.0, f64::max);
        let rows = group.bars.iter().map(|bar| {
            let figures = [&bar.figure, &bar.change, &bar.interval];
            let figures = figures
                .into_iter()
                .filter(|text| !text.is_empty())
                .cloned()
                .collect::<Vec<_>>()
                .join(" ");
            (bar.label.as_str(), bar.length / longest, figures)
        });
        write_bar_table(out, &caption, rows)?;
    }
    writeln!(out, "</figure>")
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
        "<section class=\"how\" id=\"how\">\n<h2>How this was measured</h2>\n<details><summary>World, machine, command and data</summary>\n<p>{}</p>\n<p>Run on {}{}. To run it again:</p>\n<pre tabindex=\"0\">{}</pre>",
        Text(&page.how),
        Text(machine),
        Text(finished),
        Text(command)
    )?;
    if let Some(study) = study {
        writeln!(
            out,
            "<details><summary>The study, as it was run</summary><pre tabindex=\"0\">{}</pre></details>",
            Text(study)
        )?;
    }
    writeln!(
        out,
        "<p>All data is in this file, as JSON. <a id=\"download\" href=\"#data\" download=\"{}.json\" hidden>Save it</a></p>\n</details>\n</section>",
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
    fn an_id_is_of_one_section_and_does_not_depend_on_longer_names() {
        let mut entries: Vec<Entry> = Vec::new();
        for head in ["On x 2", "On x", "On x", "On x", "How", "<>"] {
            let id = section_id(head, &entries);
            let (title, charts) = (head.to_owned(), Vec::new());
            entries.push(Entry { id, title, charts });
        }
        let ids: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        assert_eq!(ids, ["on-x-2", "on-x", "on-x-3", "on-x-4", "how-2", "-2"]);
    }

    #[test]
    fn large_data_is_compressed_and_reads_the_same() {
        let json = format!("[{}1]", "1,".repeat(PLAIN_DATA_MAX));
        let element = data_element(&json);
        let text = element.split(['<', '>']).nth(2).unwrap();
        let mut read = String::new();
        let bytes = BASE64_STANDARD.decode(text).unwrap();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut read).unwrap();
        assert_eq!(read, json);
    }

    #[test]
    fn data_cannot_end_the_script_it_is_in_and_reads_the_same() {
        let json = serde_json::to_string("</script><!-- & ]]>").unwrap();
        let data = script_data(&json);
        assert!(!data.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(&data).unwrap(), "</script><!-- & ]]>");
    }
}
