//! The values of calls as files, for real programs to send: as JSON, and as lines for programs that have no JSON.

use crate::bibliography::Entry;
use crate::ticks::Tick;
use std::fmt::Write as _;

/// The files, each with its name and content.
///
/// # Errors
/// Never for values as they are generated: JSON has all of them.
pub fn files(
    lines: &[String],
    entries: &[Entry],
    ticks: &[Tick],
) -> Result<Vec<(&'static str, String)>, serde_json::Error> {
    let ticks_text: Vec<String> = ticks
        .iter()
        .map(|tick| format!("{} {}\n", tick.id, tick.value))
        .collect();
    Ok(vec![
        ("text.json", serde_json::to_string(lines)?),
        ("bibliography.json", serde_json::to_string(entries)?),
        ("ticks.json", serde_json::to_string(ticks)?),
        ("text.txt", lines.join("\n") + "\n"),
        ("bibliography.txt", entries_text(entries)),
        ("ticks.txt", ticks_text.concat()),
    ])
}

/// Each entry: the number of authors, two lines for each, and a line for each other field.
fn entries_text(entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut line = |field: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{field}");
    };
    for entry in entries {
        line(&entry.authors.len());
        for author in &entry.authors {
            line(&author.lastname);
            line(&author.initials);
        }
        line(&entry.title);
        line(&entry.journal);
        line(&entry.year);
        line(&entry.publisher);
        line(&entry.location);
        line(&entry.edition);
        line(&entry.hyperlink);
        line(&entry.volume);
        line(&entry.issue);
        line(&entry.pages.start);
        line(&entry.pages.end);
    }
    text
}
