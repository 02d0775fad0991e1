//! The world on view: what its media and its clients do, as events. Of worlds that run side by side one is on view at a time.

use lastmile_events::{Emitter, Subject, Value};
use lastmile_study::cell::Cell;
use lastmile_testbed::testbed::{Reading, TestbedObserver};
use lastmile_units::Instant as WorldInstant;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The least real time between two reports of a world: a simulated one passes hours in a second. Our own choice.
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// The first intervals of a world are reported however fast they pass, so that a short one is seen, too: our own choice.
const FIRST_INTERVALS: u32 = 10;
/// The most parts of a world that are reported, so that a page has room for them: our own choice.
const PARTS_MAX: usize = 6;

/// Whether a world is on view, and what viewing has cost.
#[derive(Debug, Default)]
pub(super) struct ViewedWorld {
    taken: AtomicBool,
    /// The time that reports have taken on the threads of worlds, in nanoseconds.
    time: AtomicU64,
}

/// A world that is on view until this is dropped.
pub(super) struct WorldView {
    viewed: Arc<ViewedWorld>,
    emitter: Emitter,
    cell: String,
    parts: BTreeMap<String, ViewedPart>,
    /// When it was reported last, in real time, and the end of that interval in the world's.
    reported: Option<(Instant, WorldInstant)>,
    /// How many intervals were reported.
    intervals: u32,
}

/// A part of the world.
struct ViewedPart {
    subject: Subject,
    /// The figures whose units were reported.
    known: BTreeSet<&'static str>,
}

impl ViewedWorld {
    pub(super) fn reporting_time(&self) -> Duration {
        Duration::from_nanos(self.time.load(Ordering::Relaxed))
    }
}

impl WorldView {
    /// Puts the world of a cell on view, where no other is.
    pub(super) fn of(viewed: &Arc<ViewedWorld>, emitter: Emitter, cell: &Cell) -> Option<Self> {
        let is_taken = viewed.taken.swap(true, Ordering::AcqRel);
        (!is_taken).then(|| Self {
            viewed: Arc::clone(viewed),
            emitter,
            cell: cell.describe(),
            parts: BTreeMap::new(),
            reported: None,
            intervals: 0,
        })
    }

    fn tell(&mut self, part: &str, time: &Range<WorldInstant>, readings: &[Reading]) {
        if !self.parts.contains_key(part) {
            let subject = Subject::new(&format!("run.world.{part}"));
            let (Ok(subject), true) = (subject, self.parts.len() < PARTS_MAX) else {
                return;
            };
            let known = BTreeSet::new();
            self.parts.insert(part.to_owned(), ViewedPart { subject, known });
        }
        let Some(part) = self.parts.get_mut(part) else {
            return;
        };
        let units: Vec<(String, &str)> = readings
            .iter()
            .filter(|reading| part.known.insert(reading.name))
            .map(|reading| (format!("unit.{}", reading.name), reading.unit))
            .collect();
        let mut fields = vec![
            ("cell", Value::Text(self.cell.as_str())),
            ("world_time", Value::Float(time.end.since_start().as_secs_f64())),
        ];
        fields.extend(units.iter().map(|(name, unit)| (name.as_str(), Value::Text(*unit))));
        fields.extend(
            readings
                .iter()
                .map(|reading| (reading.name, Value::Float(reading.value))),
        );
        self.emitter.emit(&part.subject, &fields);
    }
}

impl TestbedObserver for WorldView {
    fn interval(&mut self, part: &str, time: &Range<WorldInstant>, readings: &[Reading]) {
        let now = Instant::now();
        // All parts of an interval are reported, or none.
        let is_new = self.reported.is_none_or(|(_, end)| end != time.end);
        let is_due = self.reported.is_none_or(|(at, _)| now.duration_since(at) >= PAUSE_MIN);
        if is_new && !is_due && self.intervals >= FIRST_INTERVALS {
            return;
        }
        self.intervals += u32::from(is_new);
        self.reported = Some((now, time.end));
        self.tell(part, time, readings);
        self.viewed
            .time
            .fetch_add(now.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Drop for WorldView {
    fn drop(&mut self) {
        self.viewed.taken.store(false, Ordering::Release);
    }
}
