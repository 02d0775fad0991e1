//! `lastmile encode`: compares encodings, compression and batches for a user's documents.

use crate::cli::encode::{EncodeArgs, LINKS};
use crate::exit::Exit;
use crate::report_file::{ReportFile, print_with_report};
use crate::transcript::{self, Purpose, Request};
use crate::{interrupt, links, output, progress};
use anyhow::Context as _;
use lastmile_document_formats::{Encoding, PROTO_BYTES_MAX, UserSchema};
use lastmile_encode::{self as encode, DocumentReader, Documents, EncodeError, Options};
use lastmile_traffic::messages::Direction;
use lastmile_tune::record::TranscriptFormat;
use lastmile_units::Seed;
use std::io::Read as _;
use std::path::Path;

/// The resolution of the progress bar.
const STEPS: f64 = 1000.0;

/// Compares encodings of documents, and prints the result.
///
/// # Errors
/// When the documents or a link are not understood, no encoding can hold the documents, or the report cannot be written.
pub(crate) fn encode(args: &EncodeArgs) -> anyhow::Result<Exit> {
    let links = links::list_or(&args.link, LINKS)?;
    let (source, documents) = documents(args)?;
    let user_schema = args.proto.as_deref().map(|path| user_schema(path, args)).transpose()?;
    let report = args
        .report
        .as_deref()
        .map(|path| ReportFile::at(path, "--report"))
        .transpose()?;
    links::note_default(&args.link, LINKS);
    let interrupt = interrupt::install_handler(
        "stopping; press Ctrl-C again to stop at once",
        "stopped at once; nothing was kept".to_owned(),
    )?;
    let defaults = Options::default();
    let options = Options {
        links,
        encodings: if args.encodings.is_empty() {
            defaults.encodings
        } else {
            args.encodings.clone()
        },
        user_schema,
        batches: args.batches.iter().map(|batch| batch.get()).collect(),
        rate: args.rate,
        wait_max: args.wait,
        timed: !args.no_timing,
        seed: Seed::new(args.seed),
        threads: defaults.threads,
        interrupt,
    };
    let bar = progress::bar("steps");
    bar.set_length(STEPS as u64);
    let compared = encode::compare(&source, &documents, &options, &mut |done| {
        bar.set_position((done * STEPS) as u64);
    });
    bar.finish_and_clear();
    let comparison = match compared {
        Ok(comparison) => comparison,
        Err(EncodeError::Interrupted(_)) => {
            output::note("stopped; nothing was kept");
            return Ok(Exit::Interrupted);
        }
        Err(error) => return Err(anyhow::Error::from(error).context(source)),
    };
    print_with_report(&comparison, report.as_ref(), args.format.format(), args.all)?;
    Ok(Exit::Done)
}

/// Reads the documents, with the name of their file.
fn documents(args: &EncodeArgs) -> anyhow::Result<(String, Documents)> {
    let mapping = args.documents.log_mapping()?;
    let is_mapped = mapping.is_some();
    let request = Request {
        args: &args.documents,
        mapping,
        server_sends: Direction::Sent,
        purpose: Purpose::Document,
    };
    let content = transcript::read(request, |format, messages| {
        let are_lines = format == TranscriptFormat::Text && !is_mapped;
        let mut reader = DocumentReader::new(are_lines, args.documents_max.get());
        for located in messages {
            let (location, message) = located?;
            reader.push(location, &message.payload);
        }
        reader
            .finish()
            .with_context(|| transcript::name(&args.documents.transcript))
    })?;
    let mut documents = content.messages;
    documents.notes.extend(content.notes);
    Ok((content.source, documents))
}

/// Compiles the user's schema, whose imports are read from its folder.
fn user_schema(path: &Path, args: &EncodeArgs) -> anyhow::Result<UserSchema> {
    anyhow::ensure!(
        args.encodings.is_empty() || args.encodings.contains(&Encoding::Protobuf),
        "--proto gives the schema of protobuf, which --encodings leaves out: add protobuf there"
    );
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("--proto {}: give the path of a .proto file", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let read_proto = move |name: &str| {
        let mut text = String::new();
        let file = std::fs::File::open(folder.join(name))?;
        file.take(PROTO_BYTES_MAX + 1).read_to_string(&mut text)?;
        Ok(text)
    };
    UserSchema::compile(name, read_proto, args.message.as_deref())
        .with_context(|| format!("--proto {}", path.display()))
}
