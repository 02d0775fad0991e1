//! Writes the messages that are committed under `examples/`: `cargo run -p lastmile-workload --example make_examples -- examples`.

use lastmile_workload::messages;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(folder), None) = (arguments.next().map(PathBuf::from), arguments.next()) else {
        eprintln!("usage: make_examples FOLDER");
        return ExitCode::from(2);
    };
    match write(&folder) {
        Ok(count) => {
            eprintln!("{count} files written under {}", folder.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}; check that the folder is writable", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &std::path::Path) -> io::Result<usize> {
    let files = messages::example_files().map_err(io::Error::other)?;
    std::fs::create_dir_all(folder)?;
    for (name, content) in &files {
        std::fs::write(folder.join(name), content)?;
    }
    Ok(files.len())
}
