//! What does a HAR say? HTTP Archive 1.2 as browsers and tools really write it, read in one pass.
//!
//! The format is the W3C draft's ("HTTP Archive (HAR) format", 2012), with what Chrome, Firefox, Safari and proxies add to and leave
//! out of it. Memory: one entry's fields at a time besides the bodies, each of which exists twice for a moment (as JSON is
//! unescaped and as it is kept). base64 is decoded where it stands.

mod entry;
mod headers;

use super::opening::{self, EXPORT};
use super::{Response, Tally, Traffic, TrafficError};
use crate::source::lenient::lenient_object;
use crate::source::opening::Opened;
use entry::{Entry, Verdict};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;
use std::io::Read;
use std::time::Duration;

/// Reads a HAR; `name` stands in errors and as [`Traffic::source`].
///
/// # Errors
/// When it cannot be read, is empty, binary, cut off, broken JSON or no HAR, or holds no response.
pub fn read(from: impl Read, name: &str) -> Result<Traffic, TrafficError> {
    read_opened(opening::open(from, name)?, name)
}

lenient_object!(Har, "a HAR (an object with \"log\")" { "log" => log: Option<Log>, });
lenient_object!(Log, "a HAR's log (an object with \"entries\")" { "entries" => entries: Option<Entries>, });

pub(super) fn read_opened<R: Read>(opened: Opened<R>, name: &str) -> Result<Traffic, TrafficError> {
    if let Some(start) = opened.no_object() {
        let problem = format!("it is no HAR: it starts with {start:?}, and a HAR with \"{{\"");
        return Err(TrafficError::new(name, problem, EXPORT).at(1, 1));
    }
    let har: Har = serde_json::from_reader(opened.content()).map_err(|error| explain(&error, name))?;
    let missing = |field: &str| {
        let problem = format!("it is JSON but no HAR: the field {field:?} is missing");
        TrafficError::new(name, problem, EXPORT)
    };
    let entries = har
        .log
        .ok_or_else(|| missing("log"))?
        .entries
        .ok_or_else(|| missing("log.entries"))?;
    entries.into_traffic(name)
}

fn explain(error: &serde_json::Error, name: &str) -> TrafficError {
    let message = TrafficError::message(error);
    let (problem, remedy) = match error.classify() {
        serde_json::error::Category::Eof => (format!("the file is cut off: it ends here, with {message}"), EXPORT),
        serde_json::error::Category::Syntax => (format!("it is not JSON here: {message}"), EXPORT),
        serde_json::error::Category::Data => (format!("it is JSON but no HAR: {message}"), EXPORT),
        serde_json::error::Category::Io => (
            format!("it cannot be read: {message}"),
            "try to read it with another program",
        ),
    };
    let error_here = TrafficError::new(name, problem, remedy);
    if error.line() == 0 {
        error_here
    } else {
        error_here.at(error.line(), error.column())
    }
}

/// The responses of a log, turned from entries one by one, so that what is not needed of an entry is dropped at once.
#[derive(Debug, Default)]
struct Entries {
    responses: Vec<Response>,
    /// When each began, on the file's clock; none where it does not say.
    instants: Vec<Option<i128>>,
    notes: Tally,
    skipped: Tally,
    count: usize,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of entries in \"log.entries\"")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entries, A::Error> {
                let mut entries = Entries::default();
                while let Some(entry) = list.next_element::<Entry>()? {
                    entries.take(entry);
                }
                Ok(entries)
            }
        }
        from.deserialize_seq(List)
    }
}

impl Entries {
    fn take(&mut self, entry: Entry) {
        let index = self.count;
        self.count += 1;
        let instant = entry.instant();
        match entry.read(index, &mut self.notes) {
            Verdict::Response(response) => {
                if instant.is_none() {
                    self.notes.count(
                        "have no readable start; each is taken to start with the one before it",
                        &response.url,
                    );
                }
                self.responses.push(*response);
                self.instants.push(instant);
            }
            Verdict::Skipped { why, url } => self.skipped.count(why, &url),
        }
    }

    fn into_traffic(self, name: &str) -> Result<Traffic, TrafficError> {
        let Self {
            mut responses,
            instants,
            notes,
            skipped,
            count,
        } = self;
        let skipped = skipped.into_remarks();
        if responses.is_empty() {
            let why: Vec<String> = skipped.iter().map(ToString::to_string).collect();
            let problem = match count {
                0 => "it is a HAR without entries".to_owned(),
                _ => format!("none of its {count} entries is a response: {}", why.join("; ")),
            };
            let remedy = "load the page with the network panel open, then save it";
            return Err(TrafficError::new(name, problem, remedy));
        }
        let first = instants.iter().flatten().min().copied().unwrap_or(0);
        let mut latest = Duration::ZERO;
        for (response, instant) in responses.iter_mut().zip(instants) {
            latest = instant.map_or(latest, |instant| nanoseconds(instant - first));
            response.started = latest;
        }
        Ok(Traffic {
            source: name.to_owned(),
            responses,
            notes: notes.into_remarks(),
            skipped,
        })
    }
}

/// A length of time that is not negative; beyond 584 years, that.
fn nanoseconds(count: i128) -> Duration {
    Duration::from_nanos(u64::try_from(count).unwrap_or(u64::MAX))
}
