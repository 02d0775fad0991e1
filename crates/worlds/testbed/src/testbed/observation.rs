//! What a testbed tells an observer while it runs: its media by name, and its programs where they take part.

use super::{Testbed, TestbedWorld};
use lastmile_units::Instant;
use lastmile_world::{MediumId, MediumSample, Observer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// A figure of a part of a testbed in an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
}

/// Sees a testbed from inside.
pub trait TestbedObserver: Send {
    /// An interval of the world's time has ended, with these figures of a part: `link-down`, `radio`, `clients`.
    fn interval(&mut self, part: &str, time: &Range<Instant>, readings: &[Reading]);
}

/// A program's figures of an interval that has this length.
pub type Gauge = Box<dyn FnMut(Duration) -> Vec<Reading> + Send>;

/// How long an interval is at least, in the world's time: our own choice.
const PERIOD: Duration = Duration::from_millis(100);

/// Turns numbers of media into names, and counts into rates.
struct Naming {
    media: BTreeMap<MediumId, String>,
    programs: Option<(&'static str, Gauge)>,
    observer: Box<dyn TestbedObserver>,
}

impl<W: TestbedWorld> Testbed<W> {
    /// Tells `observer` what the media do from now on, and what `programs` do by their gauge.
    pub fn observe(&self, observer: Box<dyn TestbedObserver>, programs: Option<(&'static str, Gauge)>) {
        let links = self
            .links
            .iter()
            .flat_map(|(name, link)| [(link.down, format!("{name}-down")), (link.up, format!("{name}-up"))]);
        let radios = self
            .radios
            .iter()
            .map(|(name, radio)| (radio.medium(), name.to_string()));
        let naming = Naming {
            media: links.chain(radios).collect(),
            programs,
            observer,
        };
        self.world.observe(Box::new(naming), PERIOD);
    }
}

impl Observer for Naming {
    fn interval(&mut self, time: &Range<Instant>, samples: &[MediumSample]) {
        let length = time.end.saturating_since(time.start);
        for sample in samples {
            let Some(name) = self.media.get(&sample.medium) else {
                continue;
            };
            self.observer.interval(name, time, &of_medium(sample, length));
        }
        if let Some((name, gauge)) = &mut self.programs {
            self.observer.interval(name, time, &gauge(length));
        }
    }
}

fn of_medium(sample: &MediumSample, length: Duration) -> [Reading; 3] {
    let seconds = length.as_secs_f64();
    [
        Reading {
            name: "rate",
            unit: "bit/s",
            value: sample.delivered.get() as f64 * 8.0 / seconds,
        },
        Reading {
            name: "queue",
            unit: "packets",
            value: sample.queue_length as f64,
        },
        Reading {
            name: "drops",
            unit: "1/s",
            value: sample.dropped as f64 / seconds,
        },
    ]
}
