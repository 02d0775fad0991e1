//! Reads HTTP Archive 1.2 (HAR), as browsers and tools really write it, in one pass.
//!
//! The format is the W3C draft's ("HTTP Archive (HAR) format", 2012), with what Chrome, Firefox, Safari and proxies add and leave
//! out. Memory: the bodies, and one entry's fields at a time. Each body exists twice for a moment, in the buffer that JSON is
//! unescaped into and in its own; base64 is decoded in place.

mod entry;
mod headers;

use super::detect_format::{self, EXPORT};
use super::{Body, NoteCounter, Response, Traffic, TrafficError, TrafficFormat};
use crate::reading::lenient::{Number, Text, lenient_object};
use crate::reading::sniff::OpenedFile;
use crate::reading::timestamp;
use entry::{AnsweredBy, Entry, EntryKind};
use lastmile_units::ByteCount;
use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::time::Duration;

/// Reads a HAR; `name` is used in errors and as [`Traffic::source`].
///
/// # Errors
/// When it cannot be read, is empty, binary, cut off, broken JSON or not a HAR, or contains no response.
pub fn read(from: impl Read, name: &str) -> Result<Traffic, TrafficError> {
    read_opened(detect_format::open(from, name)?, name)
}

lenient_object!(Har, "a HAR (an object with \"log\")" { "log" => log: Option<Log>, });
lenient_object!(Log, "a HAR's log (an object with \"entries\")" {
    "pages" => pages: Pages,
    "entries" => entries: Option<Entries>,
});
/// The pages of a log. What is not a list of pages is none.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
enum Pages {
    Listed(Vec<RecordedPage>),
    Unreadable(IgnoredAny),
}

impl Default for Pages {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

lenient_object!(RecordedPage, "a page" {
    "startedDateTime" => started: Text,
    "pageTimings" => timings: PageTimings,
});
lenient_object!(PageTimings, "a page's timings" {
    "onContentLoad" => on_content_load: Number,
    "onLoad" => on_load: Number,
});

impl RecordedPage {
    /// When its events `DOMContentLoaded` and `load` were fired, on the file's clock.
    fn events(&self) -> [Option<i128>; 2] {
        let instant = |after: Number| {
            let after = after.milliseconds().filter(|after| !after.is_zero())?;
            Some(timestamp::read(self.started.as_str())? + i128::try_from(after.as_nanos()).ok()?)
        };
        [self.timings.on_content_load, self.timings.on_load].map(instant)
    }
}

pub(super) fn read_opened<R: Read>(opened: OpenedFile<R>, name: &str) -> Result<Traffic, TrafficError> {
    if let Some(start) = opened.no_object() {
        let problem = format!("this is not a HAR: it starts with {start:?}, but a HAR starts with \"{{\"");
        return Err(TrafficError::new(name, problem, EXPORT).at(1, 1));
    }
    let har: Har = serde_json::from_reader(opened.content()).map_err(|error| explain(&error, name))?;
    let missing = |field: &str| {
        let problem = format!("this is JSON but not a HAR: the field {field:?} is missing");
        TrafficError::new(name, problem, EXPORT)
    };
    let log = har.log.ok_or_else(|| missing("log"))?;
    let entries = log.entries.ok_or_else(|| missing("log.entries"))?;
    // Of several pages it would not be known whose event a request waited for.
    let events = match &log.pages {
        Pages::Listed(pages) if pages.len() == 1 => pages[0].events(),
        _ => [None; 2],
    };
    entries.into_traffic(name, events)
}

fn explain(error: &serde_json::Error, name: &str) -> TrafficError {
    let message = TrafficError::message(error);
    let (problem, remedy) = match error.classify() {
        serde_json::error::Category::Eof => (format!("the file is cut off here: {message}"), EXPORT),
        serde_json::error::Category::Syntax => (format!("invalid JSON: {message}"), EXPORT),
        serde_json::error::Category::Data => (format!("this is JSON but not a HAR: {message}"), EXPORT),
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

/// The responses of a log. Entries are converted one by one, so that the fields not needed are dropped at once.
#[derive(Debug, Default)]
struct Entries {
    responses: Vec<Response>,
    /// When each began, on the file's clock; none where the file does not say.
    instants: Vec<Option<i128>>,
    /// What answered each.
    answered_by: Vec<AnsweredBy>,
    /// Whether the tool counted the bytes of a body on the network.
    bodies_are_counted: bool,
    notes: NoteCounter,
    skipped: NoteCounter,
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
        let answered_by = entry.answered_by();
        let body_is_counted = entry.counts_body();
        match entry.read(index, &mut self.notes) {
            EntryKind::Response(response) => {
                if instant.is_none() {
                    self.notes.count(
                        "have no readable start time; each is assumed to start with the response before it",
                        &response.url,
                    );
                }
                self.responses.push(*response);
                self.instants.push(instant);
                self.answered_by.push(answered_by);
                self.bodies_are_counted |= answered_by == AnsweredBy::Network && body_is_counted;
            }
            EntryKind::Skipped { why, url } => self.skipped.count(why, &url),
        }
    }

    /// Marks the responses that did not cross the network.
    fn mark_from_cache(&mut self) {
        let on_network = self.responses.iter().zip(&self.answered_by);
        let on_network = on_network.filter(|(_, by)| **by == AnsweredBy::Network);
        let requested: BTreeSet<(String, String)> = on_network
            .map(|(response, _)| (response.method.clone(), response.url.clone()))
            .collect();
        self.hand_on_bodies();
        for (response, by) in self.responses.iter_mut().zip(&self.answered_by) {
            response.from_cache = match by {
                AnsweredBy::Network => false,
                AnsweredBy::Browser => true,
                AnsweredBy::BrowserIfBodiesAreCounted => self.bodies_are_counted,
                AnsweredBy::NetworkThroughWorker => {
                    requested.contains(&(response.method.clone(), response.url.clone()))
                }
            };
        }
    }

    /// Gives each request of a service worker the body that it handed on to the page: Chromium lists the worker's own entry without one.
    fn hand_on_bodies(&mut self) {
        let of = |response: &Response| (response.method.clone(), response.url.clone());
        let handed_on = |by: &AnsweredBy| *by == AnsweredBy::NetworkThroughWorker;
        let mut bodies: BTreeMap<(String, String), Body> = BTreeMap::new();
        for (response, by) in self.responses.iter().zip(&self.answered_by) {
            if handed_on(by) {
                bodies.insert(of(response), response.body.clone());
            }
        }
        for (response, by) in self.responses.iter_mut().zip(&self.answered_by) {
            let is_empty = response.body.size().is_none_or(|size| size == ByteCount::ZERO);
            if !handed_on(by)
                && is_empty
                && let Some(body) = bodies.get(&of(response))
            {
                response.body = body.clone();
            }
        }
    }

    fn into_traffic(mut self, name: &str, events: [Option<i128>; 2]) -> Result<Traffic, TrafficError> {
        self.mark_from_cache();
        let Self {
            mut responses,
            instants,
            notes,
            skipped,
            count,
            ..
        } = self;
        let skipped = skipped.into_notes();
        if responses.is_empty() {
            let why: Vec<String> = skipped.iter().map(ToString::to_string).collect();
            let problem = match count {
                0 => "the HAR has no entries".to_owned(),
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
        let [dom_content_loaded, load_event] = events.map(|event| event.map(|instant| nanoseconds(instant - first)));
        Ok(Traffic {
            source: name.to_owned(),
            format: TrafficFormat::Har,
            responses,
            load_event,
            dom_content_loaded,
            notes: notes.into_notes(),
            skipped,
        })
    }
}

/// A length of time that is not negative, capped at 584 years.
fn nanoseconds(count: i128) -> Duration {
    Duration::from_nanos(u64::try_from(count).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
