//! The checker: holds the answers of `query` and `audit` against what was acknowledged.

use crate::events::Events;
use crate::producers::{Receipt, SENSOR};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;

/// What a query answered.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Whether it says that it is whole: `"complete":true`, and exit code 0.
    pub(crate) is_complete: bool,
    pub(crate) numbers: BTreeSet<u64>,
    /// The numbers in the order of the answer, each with its cursor.
    pub(crate) order: Vec<(u64, String)>,
    /// The sequence numbers of each source: where each event or loss begins, and how many numbers it has.
    spans: BTreeMap<String, BTreeMap<u64, u64>>,
    /// What no answer may say.
    pub(crate) faults: Vec<String>,
}

impl Answer {
    pub(crate) fn of(output: &Output, events: Events) -> Self {
        let mut answer = Self::default();
        let mut says_complete = false;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else {
                answer.faults.push(format!("no JSON: {line}"));
                continue;
            };
            says_complete |= line["end"]["complete"] == true;
            if line.get("subject").is_some() {
                answer.take(&line, events);
            }
        }
        answer.is_complete = says_complete && output.status.success();
        let code = output.status.code();
        // Nothing but 0 and 99 is an answer, and 2 where the monitor could not be asked.
        if !matches!(code, Some(0 | 2 | 99)) {
            answer.faults.push(format!(
                "query ended with {code:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        answer
    }

    fn take(&mut self, event: &Value, events: Events) {
        let source = event["source"].as_str().unwrap_or_default().to_owned();
        let (Some(sequence), span) = (event["sequence"].as_u64(), event["span"].as_u64().unwrap_or(1)) else {
            return self.faults.push(format!("without a number: {event}"));
        };
        if self.spans.entry(source).or_default().insert(sequence, span).is_some() {
            self.faults.push(format!("a number of a source twice: {event}"));
        }
        if event["subject"]
            .as_str()
            .is_some_and(|subject| subject.starts_with('_'))
        {
            return;
        }
        match events.number_of(event) {
            Ok(number) => {
                self.order
                    .push((number, event["cursor"].as_str().unwrap_or_default().to_owned()));
                if !self.numbers.insert(number) {
                    self.faults.push(format!("stored twice: {event}"));
                }
            }
            Err(fault) => self.faults.push(fault),
        }
    }

    /// The sources whose numbers have a hole, or overlap.
    fn broken_sequences(&self) -> impl Iterator<Item = String> {
        self.spans.iter().filter_map(|(source, spans)| {
            let mut next = 1;
            for (first, span) in spans {
                if *first != next {
                    return Some(format!("{source}: number {next} is followed by {first}"));
                }
                next = first + span;
            }
            None
        })
    }
}

/// What `audit` said.
#[derive(Debug)]
pub(crate) struct Audit {
    /// Whether it exited with 99.
    pub(crate) is_broken: bool,
    /// By source, without its incarnation: lost for whatever reason, and lost since the sensor had no room.
    lost: BTreeMap<String, (u64, u64)>,
    numbered: BTreeMap<String, u64>,
    pub(crate) faults: Vec<String>,
}

/// What a sensor says of lines that it dropped since it had no room. They were not acknowledged.
const STORE_FULL: &str = "store full";

impl Audit {
    pub(crate) fn of(output: &Output) -> Self {
        let mut audit = Self {
            is_broken: output.status.code() == Some(99),
            lost: BTreeMap::new(),
            numbered: BTreeMap::new(),
            faults: Vec::new(),
        };
        let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if !audit.is_broken && (!output.status.success() || json["problems"] != Value::Array(Vec::new())) {
            let said = String::from_utf8_lossy(&output.stderr);
            audit.faults.push(format!(
                "audit ended with {:?}: {said} {}",
                output.status.code(),
                json["problems"]
            ));
        }
        for source in json["sources"].as_array().into_iter().flatten() {
            let name = source["source"].as_str().unwrap_or_default();
            audit
                .numbered
                .insert(name.to_owned(), source["numbered"].as_u64().unwrap_or(0));
            let (name, _) = name.split_once('@').unwrap_or((name, ""));
            let name = if name.starts_with(SENSOR) { SENSOR } else { name };
            let reported_lost = audit.lost.entry(name.to_owned()).or_default();
            for loss in source["lost"].as_array().into_iter().flatten() {
                let count = loss["count"].as_u64().unwrap_or(0);
                if loss["cause"] == STORE_FULL {
                    reported_lost.1 += count;
                } else {
                    reported_lost.0 += count;
                }
            }
        }
        audit
    }
}

/// What became of acknowledged events.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    pub(crate) stored: u64,
    /// Neither stored nor told by number: only an exit code may tell.
    pub(crate) untold: u64,
    /// Told as lost.
    pub(crate) reported_lost: u64,
}

/// All that the end of a case is judged by.
pub(crate) struct Evidence<'a> {
    pub(crate) receipts: &'a [Receipt],
    pub(crate) all: &'a Answer,
    pub(crate) audit: &'a Audit,
    /// Whether a program refused its folder, or `salvage` exited with 99: then a loss was told there.
    pub(crate) told_elsewhere: bool,
}

impl Evidence<'_> {
    /// What became of the acknowledged events with such numbers, by an answer and the audit.
    pub(crate) fn balance(&self, answer: &Answer, wanted: impl Fn(u64) -> bool) -> Balance {
        let mut balance = Balance::default();
        let mut missing: BTreeMap<String, u64> = BTreeMap::new();
        for receipt in self.receipts {
            let batch = receipt.numbers.end - receipt.numbers.start;
            let expected = receipt.numbers.clone().filter(|number| wanted(*number)).count() as u64;
            // Of a batch that was acknowledged in part, nobody knows which events were.
            let expected = expected.saturating_sub(batch - receipt.acknowledged);
            let found = answer.numbers.range(receipt.numbers.clone());
            let found = found.filter(|number| wanted(**number)).count() as u64;
            balance.stored += expected.min(found);
            *missing.entry(receipt.source()).or_default() += expected.saturating_sub(found);
        }
        for (source, missing) in missing {
            let lost = self.audit.lost.get(&source).map_or(0, |(lost, _)| *lost);
            balance.reported_lost += missing.min(lost);
            balance.untold += missing.saturating_sub(lost);
        }
        balance
    }

    /// What is wrong with an answer that holds the events with such numbers.
    pub(crate) fn judge(&self, question: &str, answer: &Answer, wanted: impl Fn(u64) -> bool) -> Vec<String> {
        let mut faults = answer.faults.clone();
        faults.extend(
            answer
                .numbers
                .iter()
                .filter(|number| !wanted(**number))
                .map(|number| format!("event {number} was not asked for")),
        );
        if answer.is_complete {
            let short = self
                .all
                .numbers
                .iter()
                .filter(|number| wanted(**number) && !answer.numbers.contains(*number))
                .count();
            if short > 0 {
                faults.push(format!(
                    "it says complete, and lacks {short} events that the answer to all has"
                ));
            }
            let untold = self.balance(answer, wanted).untold;
            if untold > 0 && !self.told_elsewhere {
                faults.push(format!(
                    "it says complete, and lacks {untold} acknowledged events that nobody told as lost"
                ));
            }
        }
        faults
            .into_iter()
            .map(|fault| format!("query {question}: {fault}"))
            .collect()
    }

    /// What is wrong with the audit.
    pub(crate) fn judge_audit(&self) -> Vec<String> {
        let mut faults = self.audit.faults.clone();
        if self.audit.is_broken {
            return faults;
        }
        if !self.all.is_complete {
            faults.push("audit finds nothing, and a query of all is not complete".to_owned());
        }
        faults.extend(self.all.broken_sequences());
        for (source, numbered) in &self.audit.numbered {
            let spans = self.all.spans.get(source).into_iter().flatten();
            let found: u64 = spans.map(|(_, span)| span).sum();
            if found != *numbered {
                faults.push(format!(
                    "{source}: audit says {numbered} numbers, and a query of all has {found}"
                ));
            }
        }
        let untold = self.balance(self.all, |_| true).untold;
        let dropped: u64 = self.receipts.iter().map(|receipt| receipt.dropped).sum();
        let reported_lost: u64 = self.audit.lost.values().map(|(_, full)| full).sum();
        if !self.told_elsewhere {
            if untold > 0 {
                faults.push(format!(
                    "{untold} acknowledged events are neither stored nor told as lost, and audit exits with 0"
                ));
            }
            if reported_lost < dropped {
                faults.push(format!(
                    "the sensor dropped {dropped} events, and {reported_lost} are told"
                ));
            }
        }
        faults
    }
}
