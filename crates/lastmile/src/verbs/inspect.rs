//! `lastmile inspect`: analyses a capture.

use crate::cli::inspect::InspectArgs;
use crate::exit::Exit;
use crate::output::Format;
use crate::report_file::{ReportFile, print_with_report};
use crate::{output, progress, run_store, transcript};
use anyhow::{Context as _, bail};
use lastmile_capture::{Segments, analyse};
use lastmile_inspect::inspection;
use lastmile_report::segment_line::Segment;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a capture, and prints the analysis.
///
/// # Errors
/// When it cannot be read or is not a capture, or the page cannot be written.
pub(crate) fn inspect(args: &InspectArgs) -> anyhow::Result<Exit> {
    let source = transcript::name(&args.file);
    if args.segments {
        return segments(&args.file, &source, args.format.format());
    }
    // The page's folder is made first, so that a wrong path does not cost a long analysis.
    let html = args
        .html
        .as_deref()
        .map(|path| ReportFile::at(path, "--html"))
        .transpose()?;
    let analysis = read(&args.file, &source, |bytes, name| Ok(analyse(bytes, name)?))?;
    let inspection = inspection(&analysis, &source, run_store::VERSION);
    print_with_report(&inspection, html.as_ref(), args.format.format(), false)?;
    Ok(Exit::Done)
}

/// Calls `read` with the capture: the file, or standard input.
fn read<T>(
    file: &Path,
    source: &str,
    read: impl FnOnce(&mut dyn Read, &str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    if file == Path::new("-") {
        return read(&mut io::stdin().lock(), source);
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

/// How much text is printed at once, in bytes: our own choice.
const PRINT_CHUNK_BYTES: usize = 64 << 10;

/// Prints one line per segment.
fn segments(file: &Path, source: &str, format: Format) -> anyhow::Result<Exit> {
    let line: fn(&Segment) -> String = match format {
        Format::Screen | Format::Table => Segment::to_string,
        Format::Json => |segment| serde_json::to_string(segment).expect("a record has text for keys"),
        Format::Csv | Format::Md => {
            bail!("--segments prints lines of text or JSON: use --format table or --format json")
        }
    };
    read(file, source, |bytes, name| {
        let mut segments = Segments::open(bytes, name)?;
        let mut text = match format {
            Format::Screen | Format::Table => format!("# {}\n", Segment::COLUMNS),
            _ => String::new(),
        };
        while let Some(segment) = segments.next()? {
            text.push_str(&line(&segment));
            text.push('\n');
            if text.len() > PRINT_CHUNK_BYTES {
                if !output::print_chunk(&text)? {
                    return Ok(Exit::Done);
                }
                text.clear();
            }
        }
        output::print_data(&text)?;
        if segments.others() > 0 {
            output::note(&format!(
                "{} packets carry no TCP segment with a complete header",
                segments.others()
            ));
        }
        if let Some(at) = segments.cut_off() {
            output::note(&format!(
                "{source} is cut off at byte {at}; it was read as far as it goes"
            ));
        }
        Ok(Exit::Done)
    })
}
