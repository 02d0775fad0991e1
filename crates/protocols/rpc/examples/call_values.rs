//! Writes the values of the recorded calls into a folder, as JSON and as plain lines, for real programs to send.
//!
//! `cargo run -p lastmile-rpc --example call_values -- FOLDER`; `make recordings` does this, and records the programs.

use lastmile_units::Seed;
use lastmile_workload::{bibliography, call_values, prose, ticks};
use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: call_values FOLDER")?;
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    let entries = bibliography::entries(bibliography::ENTRIES, Seed::new(1));
    let files = call_values::files(&prose::lines(), &entries, &ticks::ticks(100, Seed::new(1)))?;
    for (name, content) in files {
        fs::write(folder.join(name), content)?;
    }
    Ok(())
}
