//! Which encoding, compression and batch size suit a user's documents, on the links that they name.
//!
//! [`DocumentReader`] takes [`Documents`] from the messages of a file; [`compare`] infers their schema, encodes them in every encoding of `lastmile-document-formats`, compresses
//! them in every way and batch size, delivers samples of the batches over each link in the simulated world, and writes the record with its answer.
//! Schemas and encodings are left to `lastmile-document-formats`, what a record looks like to `lastmile-report`.

mod as_run;
mod charts;
mod choose;
mod codecs;
mod csv;
mod deliver;
mod document;
mod documents;
mod exactness;
mod findings;
mod framing;
mod link_run;
pub mod record;
mod screen;
mod sizes;
mod summary;

pub use codecs::{COMPRESSIONS, Compression};
pub use documents::{Document, DocumentReader, Documents, DocumentsError};
pub use framing::Framing;

use crate::record::{EncodingComparison, Refusal};
use lastmile_document_formats::{Encoder, Encoding, Misfit, Schema, UserSchema, infer, proto_text};
use lastmile_link::LinkSpec;
use lastmile_report::record::{Doubt, DoubtKind};
use lastmile_testbed::cpu_cost_model::this_machine;
use lastmile_testbed::failure::Failure;
use lastmile_traffic::messages::Location;
use lastmile_units::Seed;
use lastmile_units::workers::{Interrupted, Workers};
use sizes::SettingSize;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What is compared, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The links, with their names.
    pub links: Vec<(String, LinkSpec)>,
    /// The encodings.
    pub encodings: Vec<Encoding>,
    /// The user's schema for protobuf, in place of the inferred one.
    pub user_schema: Option<UserSchema>,
    /// How many messages are sent together.
    pub batches: Vec<usize>,
    /// How many messages arise in a second.
    pub rate: f64,
    /// How long a message may wait on the average until its batch is full, if the batch is to be recommended.
    pub wait_max: Duration,
    /// Whether CPU time is measured. Without it, the same documents give the same record.
    pub timed: bool,
    /// The root of every random choice.
    pub seed: Seed,
    /// How many threads compress.
    pub threads: NonZeroUsize,
    /// Once it is set, no new work is begun.
    pub interrupt: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            links: Vec::new(),
            encodings: Encoding::ALL.to_vec(),
            user_schema: None,
            batches: vec![1, 10, 100, 1000],
            rate: 10.0,
            wait_max: Duration::from_secs(1),
            timed: true,
            seed: Seed::new(1),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            interrupt: Arc::default(),
        }
    }
}

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// No encoding can hold the documents.
    #[error("none of the encodings can hold these documents: {0}")]
    Nothing(String),
    /// A document does not fit the user's schema.
    #[error(
        "{location}: {misfit}; correct the document or {file}, or name another message than {message} with --message"
    )]
    Misfit {
        /// Where the document stands.
        location: Location,
        /// What does not fit.
        misfit: Box<Misfit>,
        /// The schema's file.
        file: String,
        /// The message.
        message: String,
    },
    /// A link did not deliver.
    #[error("over link {link}: {failure}")]
    Link {
        /// The link's name.
        link: String,
        /// The reason.
        failure: Failure,
    },
    /// It was stopped.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// A recording with fewer documents than this says little: our own choice.
const DOCUMENTS_FEW: usize = 100;

/// Compares everything. `on_done` is told how much of the work is done, from 0 to 1.
///
/// # Errors
/// When no encoding can hold the documents, one does not fit the user's schema, a link does not deliver, or it was interrupted.
pub fn compare(
    source: &str,
    documents: &Documents,
    options: &Options,
    on_done: &mut dyn FnMut(f64),
) -> Result<EncodingComparison, EncodeError> {
    if let Some(schema) = &options.user_schema {
        fits(schema, documents)?;
    }
    let values = documents.documents.iter().map(|document| &document.value);
    let schema = infer(values);
    let json_bytes: usize = documents.documents.iter().map(|document| document.text.len()).sum();
    let count = documents.documents.len();
    let mut batches: Vec<usize> = options.batches.iter().map(|batch| (*batch).clamp(1, count)).collect();
    batches.sort_unstable();
    batches.dedup();
    let workers = Workers {
        threads: options.threads,
        interrupt: &options.interrupt,
    };
    let links = options.links.len();
    let steps = (options.encodings.len() * (1 + links)) as f64;
    let measure = |encoding: Encoding, compressions: &[Compression], batches: &[usize]| {
        let encoded = sizes::encode(&encoder(encoding, &schema, options), documents, options.timed)?;
        Ok(sizes::compress(
            encoding,
            &encoded,
            compressions,
            batches,
            options.timed,
        ))
    };
    let measured = workers.run(
        &options.encodings,
        |encoding| measure(*encoding, &COMPRESSIONS, &batches),
        &mut |done| on_done(done as f64 / steps),
    )?;
    let (mut settings, mut refusals) = (Vec::new(), Vec::new());
    for encoding in measured {
        match encoding {
            Ok(sized) => settings.extend(sized),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if settings.is_empty() {
        let problem = refusals
            .first()
            .map_or_else(String::new, |refusal: &Refusal| refusal.problem.clone());
        return Err(EncodeError::Nothing(problem));
    }
    if !settings.iter().any(SettingSize::is_plain_json) {
        // What every answer is compared with.
        let plain = measure(Encoding::Json, &[Compression::None], &[1]);
        settings.splice(0..0, plain.unwrap_or_default());
    }
    let mut deliveries = Vec::new();
    for (at, (name, link)) in options.links.iter().enumerate() {
        let began = options.encodings.len() * (1 + at);
        let mut progress = |share: f64| on_done((began as f64 + share * options.encodings.len() as f64) / steps);
        deliveries.push(choose::on_link(name, link, &settings, options, &mut progress)?);
    }
    let mut doubts = Vec::new();
    if count < DOCUMENTS_FEW {
        let there_are = match count {
            1 => "there is 1 document".to_owned(),
            count => format!("there are {count} documents"),
        };
        doubts.push(Doubt::new(
            DoubtKind::FewMessages,
            format!(
                "{there_are}: with more, dictionaries and streams would compress better, and the schema would be surer"
            ),
        ));
    }
    Ok(EncodingComparison {
        schema: EncodingComparison::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        source: source.to_owned(),
        documents: count as u64,
        json_bytes: json_bytes as u64,
        rate: options.rate,
        seed: options.seed.get(),
        cpu_machine: options.timed.then(this_machine),
        inferred_schema: proto_text(&schema),
        answer: summary::answer(&settings, &deliveries) + &schema_used(&settings, options),
        findings: findings::findings(&settings),
        charts: charts::charts(&settings, &deliveries),
        settings: settings.iter().map(SettingSize::setting).collect(),
        refusals,
        links: deliveries,
        doubts,
        notes: documents.notes.clone(),
    })
}

fn fits(schema: &UserSchema, documents: &Documents) -> Result<(), EncodeError> {
    for document in &documents.documents {
        schema.encode(&document.value).map_err(|misfit| EncodeError::Misfit {
            location: document.location,
            misfit: Box::new(misfit),
            file: schema.file().to_owned(),
            message: schema.message().to_owned(),
        })?;
    }
    Ok(())
}

fn encoder(encoding: Encoding, inferred: &Schema, options: &Options) -> Encoder {
    match &options.user_schema {
        Some(schema) if encoding == Encoding::Protobuf => Encoder::of_user_schema(schema.clone()),
        _ => Encoder::new(encoding, inferred),
    }
}

/// Which schema the protobuf rows are of, where the user gave one.
fn schema_used(settings: &[SettingSize], options: &Options) -> String {
    match &options.user_schema {
        Some(schema) if settings.iter().any(|setting| setting.encoding == Encoding::Protobuf) => format!(
            "\nThe rows of protobuf use your schema: the message {} of {}. Other encodings that need a schema use the inferred one.",
            schema.message(),
            schema.file()
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
