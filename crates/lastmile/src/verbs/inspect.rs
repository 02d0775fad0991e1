//! `lastmile inspect`: what does a capture say?

use crate::cli::InspectArgs;
use crate::clock::Utc;
use crate::exit::Exit;
use crate::{output, progress, runs};
use anyhow::Context as _;
use lastmile_capture::{Analysis, analyse, published};
use lastmile_report::page::{self, Provenance};
use lastmile_study::cost::this_machine;
use std::fs::File;
use std::io;
use std::path::Path;

/// Reads a capture, and says what passed.
///
/// # Errors
/// When it cannot be read or is no whole capture, or the page cannot be written.
pub(crate) fn inspect(args: &InspectArgs) -> anyhow::Result<Exit> {
    // The place of the page is looked at first: what takes long is not done in vain.
    let html = args
        .html
        .as_deref()
        .map(|path| runs::named(path, "--html"))
        .transpose()?;
    let source = args.file.display().to_string();
    let analysis = analysed(&args.file, &source)?;
    let inspection = published::record(&analysis, &source, runs::VERSION);
    if let Some((folder, name)) = html {
        let provenance = Provenance {
            command: runs::typed(),
            machine: this_machine(),
            finished: Some(Utc::now().words()),
            study: None,
        };
        folder.write_whole(&name, page::inspection_page(&inspection, &provenance).as_bytes())?;
        output::remark(&format!("report: {}", runs::within(&folder, &name).display()));
    }
    output::record(&inspection, args.format.format)?;
    Ok(Exit::Done)
}

fn analysed(file: &Path, source: &str) -> anyhow::Result<Analysis> {
    if source == "-" {
        return Ok(analyse(io::stdin().lock(), "standard input")?);
    }
    let opened = File::open(file).and_then(|opened| Ok((opened.metadata()?, opened)));
    let (metadata, opened) =
        opened.with_context(|| format!("{source} cannot be read; give a capture, or - for standard input"))?;
    let bar = progress::bytes();
    bar.set_length(metadata.len());
    let analysis = analyse(bar.wrap_read(opened), source);
    bar.finish_and_clear();
    Ok(analysis?)
}
