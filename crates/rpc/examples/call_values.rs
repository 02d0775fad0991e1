//! Writes the values of the recorded calls into a folder, as JSON and as plain lines, for real programs to send.
//!
//! `cargo run -p lastmile-rpc --example call_values -- FOLDER`; `make recordings` does this, and records the programs.

use lastmile_units::Seed;
use lastmile_workload::{bibliography, prose, ticks};
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: call_values FOLDER")?;
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    let lines = prose::lines();
    let entries = bibliography::entries(bibliography::ENTRIES, Seed::new(1));
    let ticks = ticks::ticks(100, Seed::new(1));
    fs::write(folder.join("text.json"), serde_json::to_string(&lines)?)?;
    fs::write(folder.join("bibliography.json"), serde_json::to_string(&entries)?)?;
    fs::write(folder.join("ticks.json"), serde_json::to_string(&ticks)?)?;
    fs::write(folder.join("text.txt"), lines.join("\n") + "\n")?;
    let mut plain = String::new();
    for entry in &entries {
        writeln!(plain, "{}", entry.authors.len())?;
        for author in &entry.authors {
            writeln!(plain, "{}\n{}", author.lastname, author.initials)?;
        }
        writeln!(plain, "{}\n{}\n{}", entry.title, entry.journal, entry.year)?;
        writeln!(plain, "{}\n{}\n{}", entry.publisher, entry.location, entry.edition)?;
        writeln!(plain, "{}\n{}\n{}", entry.hyperlink, entry.volume, entry.issue)?;
        writeln!(plain, "{}\n{}", entry.pages.start, entry.pages.end)?;
    }
    fs::write(folder.join("bibliography.txt"), plain)?;
    let plain: Vec<String> = ticks
        .iter()
        .map(|tick| format!("{} {}\n", tick.id, tick.value))
        .collect();
    fs::write(folder.join("ticks.txt"), plain.concat())?;
    Ok(())
}
