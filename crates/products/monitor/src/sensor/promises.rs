//! The numbers that a sensor has answered for, source by source, in a file beside its log. They say what is missing where the log is damaged, and
//! what was dropped and is not stated yet. A sensor that starts states both.

use crate::log::records::{Record, RecordFile, number};
use lastmile_events::Source;
use lastmile_events::source::NAME_LENGTH_MAX;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

const MAGIC: [u8; 4] = *b"LMP1";
/// Three numbers, and the name.
const LENGTH: usize = 24 + NAME_LENGTH_MAX;
/// The file grows by so many sources: our own choice.
const STEP: usize = 32;

/// What a sensor has answered for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Promise {
    pub(super) source: Source,
    /// All numbers before this one are acknowledged.
    pub(super) acknowledged: u64,
    /// All numbers before this one are acknowledged, or were dropped.
    pub(super) numbered: u64,
}

#[derive(Debug)]
struct Slot {
    promise: Option<Promise>,
    /// The log's end when the last number was acknowledged: once all before it are forwarded, the slot is free.
    end: u64,
}

/// The file.
#[derive(Debug)]
pub(super) struct Promises {
    file: RecordFile,
    slots: Vec<Slot>,
    slot_of: BTreeMap<Source, usize>,
    /// Everything before this position is forwarded.
    pub(super) forwarded: u64,
    /// Whether each record could be read.
    pub(super) are_whole: bool,
}

impl Promises {
    /// Opens the file beside a log that ends here, or makes it.
    pub(super) fn open(path: &Path, end: u64) -> io::Result<Self> {
        let is_new = !path.exists();
        let (file, records) = RecordFile::open(path, MAGIC, LENGTH, STEP)?;
        let are_whole = !is_new && !records.contains(&Record::Damaged);
        let promise = |record: Record| match record {
            Record::Content(content) => decode(&content),
            Record::Absent | Record::Damaged => None,
        };
        let promises = records.into_iter().map(promise);
        let slots: Vec<Slot> = promises.map(|promise| Slot { promise, end }).collect();
        let known = slots.iter().enumerate();
        let slot_of = known.filter_map(|(at, slot)| Some((slot.promise.as_ref()?.source.clone(), at)));
        Ok(Self {
            file,
            slot_of: slot_of.collect(),
            slots,
            forwarded: 0,
            are_whole,
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Promise> {
        self.slots.iter().filter_map(|slot| slot.promise.as_ref())
    }

    /// The promises of which something may wait behind a position.
    pub(super) fn waiting(&self, position: u64) -> impl Iterator<Item = &Promise> {
        let waiting = self.slots.iter().filter(move |slot| slot.end > position);
        waiting.filter_map(|slot| slot.promise.as_ref())
    }

    /// Makes room for a source, so that writing its numbers needs none on the disk; the slot that it has.
    pub(super) fn reserve(&mut self, source: &Source) -> io::Result<usize> {
        if let Some(at) = self.slot_of.get(source) {
            return Ok(*at);
        }
        let is_free = |slot: &Slot| {
            let promise = slot.promise.as_ref();
            slot.end <= self.forwarded && promise.is_none_or(|promise| promise.numbered == promise.acknowledged)
        };
        let free = self.slots.iter().position(is_free);
        let at = match free {
            Some(at) => at,
            None => {
                self.file.grow(STEP)?;
                let at = self.slots.len();
                self.slots.resize_with(at + STEP, || Slot { promise: None, end: 0 });
                at
            }
        };
        if let Some(before) = self.slots[at].promise.take() {
            self.slot_of.remove(&before.source);
        }
        self.slots[at].end = u64::MAX;
        self.slot_of.insert(source.clone(), at);
        Ok(at)
    }

    /// Gives the slot of a source away to which nothing is promised.
    pub(super) fn release_slot(&mut self, source: &Source) {
        if let Some(at) = self.slot_of.get(source).copied()
            && self.slots[at].promise.is_none()
        {
            self.slots[at].end = 0;
            self.slot_of.remove(source);
        }
    }

    /// Writes what is promised to a source. The log ends here, or later.
    pub(super) fn write(&mut self, promise: Promise, end: u64) -> io::Result<()> {
        let at = self.reserve(&promise.source)?;
        self.file.write(at, &encode(&promise))?;
        self.slots[at] = Slot {
            promise: Some(promise),
            end,
        };
        Ok(())
    }

    /// What is promised to a source.
    pub(super) fn get(&self, source: &Source) -> Promise {
        let slot = self.slot_of.get(source).map(|at| &self.slots[*at]);
        let promise = slot.and_then(|slot| slot.promise.clone());
        promise.unwrap_or_else(|| Promise {
            source: source.clone(),
            acknowledged: 1,
            numbered: 1,
        })
    }
}

fn encode(promise: &Promise) -> Vec<u8> {
    let numbers = [promise.acknowledged, promise.numbered, promise.source.incarnation()];
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    numbers.chain(promise.source.name().bytes()).collect()
}

fn decode(content: &[u8]) -> Option<Promise> {
    let name = std::str::from_utf8(&content[24..]).ok()?.trim_end_matches('\0');
    Some(Promise {
        source: Source::new(name, number(content, 16)).ok()?,
        acknowledged: number(content, 0),
        numbered: number(content, 8),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(number: u64) -> Source {
        Source::new("app", number).unwrap()
    }

    #[test]
    fn a_promise_is_read_again_and_its_slot_is_given_away_once_all_is_forwarded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("promises");
        let mut promises = Promises::open(&path, 0).unwrap();
        let promise = |number| Promise {
            source: source(number),
            acknowledged: 8,
            numbered: 9,
        };
        for number in 0..STEP as u64 {
            promises.write(promise(number), number + 1).unwrap();
        }
        let whole = Promise {
            numbered: 8,
            ..promise(4)
        };
        promises.write(whole, 5).unwrap();
        promises.reserve(&source(98)).unwrap();
        promises.release_slot(&source(98));
        let read = Promises::open(&path, 0).unwrap();
        assert!(read.are_whole);
        assert_eq!((read.iter().count(), read.get(&source(5))), (STEP, promise(5)));
        // Five are forwarded, and four of these have numbers that are not stated yet.
        promises.forwarded = 5;
        for number in [99, 100] {
            promises.write(promise(number), 40).unwrap();
        }
        let read = Promises::open(&path, 0).unwrap();
        assert_eq!(
            read.slots.len(),
            2 * STEP,
            "one got a slot that was free, one a new one"
        );
        for number in [3, 5, 99, 100] {
            assert_eq!(read.get(&source(number)), promise(number));
        }
        assert_eq!(read.get(&source(4)).acknowledged, 1);
    }
}
