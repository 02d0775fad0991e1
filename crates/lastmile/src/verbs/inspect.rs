//! `lastmile inspect`: what does a capture say?

use crate::cli::inspect::InspectArgs;
use crate::clock::Utc;
use crate::exit::Exit;
use crate::output::Format;
use crate::{output, progress, runs};
use anyhow::{Context as _, bail};
use lastmile_capture::{Segments, analyse, published};
use lastmile_report::page::{self, Provenance};
use lastmile_report::segment::Segment;
use lastmile_study::cost::this_machine;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a capture, and says what passed.
///
/// # Errors
/// When it cannot be read or is no whole capture, or the page cannot be written.
pub(crate) fn inspect(args: &InspectArgs) -> anyhow::Result<Exit> {
    let source = args.file.display().to_string();
    if args.segments {
        return segments(&args.file, &source, args.format.format);
    }
    // The place of the page is looked at first: what takes long is not done in vain.
    let html = args
        .html
        .as_deref()
        .map(|path| runs::named(path, "--html"))
        .transpose()?;
    let analysis = read(&args.file, &source, |octets, name| Ok(analyse(octets, name)?))?;
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

/// Has a capture read: the file, or standard input.
fn read<T>(
    file: &Path,
    source: &str,
    read: impl FnOnce(&mut dyn Read, &str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    if source == "-" {
        return read(&mut io::stdin().lock(), "standard input");
    }
    let opened = File::open(file).and_then(|opened| Ok((opened.metadata()?, opened)));
    let (metadata, opened) =
        opened.with_context(|| format!("{source} cannot be read; give a capture, or - for standard input"))?;
    let bar = progress::bytes();
    bar.set_length(metadata.len());
    let ended = read(&mut bar.wrap_read(opened), source);
    bar.finish_and_clear();
    ended
}

/// How much text is printed at once, in octets: our own choice.
const PRINTED: usize = 64 << 10;

/// Prints a line a segment.
fn segments(file: &Path, source: &str, format: Format) -> anyhow::Result<Exit> {
    let line: fn(&Segment) -> String = match format {
        Format::Table => Segment::to_string,
        Format::Json => |segment| serde_json::to_string(segment).expect("a record has text for keys"),
        Format::Csv | Format::Md => {
            bail!("--segments prints lines of text, or of JSON: --format table or --format json")
        }
    };
    read(file, source, |octets, name| {
        let mut segments = Segments::open(octets, name)?;
        let mut text = match format {
            Format::Table => format!("# {}\n", Segment::COLUMNS),
            _ => String::new(),
        };
        while let Some(segment) = segments.next()? {
            text.push_str(&line(&segment));
            text.push('\n');
            if text.len() > PRINTED {
                if !output::some_data(&text)? {
                    return Ok(Exit::Done);
                }
                text.clear();
            }
        }
        output::data(&text)?;
        if segments.others() > 0 {
            output::remark(&format!(
                "{} packets carry no TCP segment whose head is whole",
                segments.others()
            ));
        }
        if let Some(at) = segments.cut_off() {
            output::remark(&format!(
                "{source} is cut off at byte {at}; it was read as far as it goes"
            ));
        }
        Ok(Exit::Done)
    })
}
