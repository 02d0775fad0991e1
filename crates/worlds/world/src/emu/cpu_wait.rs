//! Judges by how much waits for a CPU may have moved the times that programs measured.
//!
//! A transfer is a chain: at each moment it is with a link, with the forwarder, or with a program, and while that one waits on a run queue
//! the transfer stands still. So a time is too long by at most the time within it in which any of them waited: the union of their waits.
//! Their sum would count a moment twice where two wait; the longest of them would leave out those that wait in turn. It is a bound: a
//! sender that waits while the queue of its link is full delays nothing.

use crate::MeasuredTimes;
use lastmile_units::Instant;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// The waits for a CPU in a world.
#[derive(Debug, Clone, Default)]
pub struct CpuWaits {
    /// When it was observed, from the last look on.
    period: Range<Instant>,
    /// Of the threads of ours that carry packets and run programs: each is observed as it ends.
    observed: Vec<Range<Instant>>,
    /// Of the processes of commands and of real servers, and of a timer. They were sampled, and may be waits for each other.
    sampled: Vec<Range<Instant>>,
    /// The CPU time of everything else on this machine.
    foreign_cpu: Duration,
    /// How long some thread of the machine waited.
    pressure: Option<Duration>,
}

/// The share by which waits may have moved a figure that counts. Our own choice: that of late packets
/// ([`LatenessBound::SHARE`](super::LatenessBound::SHARE)).
pub const MOVED_SHARE: f64 = 0.05;

/// What waits may add to a sample whatever its share, as for late packets. Our own choice: [`LatenessBound::MIN`](super::LatenessBound::MIN).
const ADDITION_MIN: Duration = super::LatenessBound::MIN;

/// Programs waited too long for a CPU for a figure to count.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramsWaited {
    /// The figure that moved by the greatest share; none for all the time that was observed.
    pub figure: Option<String>,
    /// How long programs waited while it was measured, in all samples.
    pub waited: Duration,
    /// The sum of its samples.
    pub measured: Duration,
    /// The share of the time in which some thread of the machine waited for a CPU, as the kernel counts it.
    pub pressure: Option<f64>,
}

impl CpuWaits {
    /// What happened since `earlier`, which must be an earlier state of the same world.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let seen = earlier.period.end;
        let later = |waits: &[Range<Instant>]| {
            let ended_later = waits.iter().filter(|wait| wait.end > seen);
            ended_later.map(|wait| wait.start.max(seen)..wait.end).collect()
        };
        Self {
            period: seen..self.period.end,
            observed: later(&self.observed),
            sampled: later(&self.sampled),
            foreign_cpu: self.foreign_cpu.saturating_sub(earlier.foreign_cpu),
            pressure: match (self.pressure, earlier.pressure) {
                (Some(now), Some(then)) => Some(now.saturating_sub(then)),
                (now, _) => now,
            },
        }
    }

    /// Checks that waits moved no figure by more than [`MOVED_SHARE`].
    ///
    /// # Errors
    /// If they may have, by how much they moved the one that they moved most.
    pub fn within_share(&self, times: &MeasuredTimes) -> Result<(), ProgramsWaited> {
        let moved = times.iter().filter_map(|(figure, spans)| {
            let (waited, measured) = self.during(spans);
            is_moved(waited, measured, spans.len()).then(|| ProgramsWaited {
                figure: Some(figure.clone()),
                waited,
                measured,
                pressure: self.pressure_share(),
            })
        });
        let worst = moved.max_by(|one, other| one.share().total_cmp(&other.share()));
        worst.map_or(Ok(()), Err)
    }

    /// As [`Self::within_share`], for the whole time that was observed.
    ///
    /// # Errors
    /// If the whole may be too long by more than [`MOVED_SHARE`].
    pub fn within_share_of_whole(&self) -> Result<(), ProgramsWaited> {
        let (waited, measured) = self.whole();
        if !is_moved(waited, measured, 1) {
            return Ok(());
        }
        Err(ProgramsWaited {
            figure: None,
            waited,
            measured,
            pressure: self.pressure_share(),
        })
    }

    /// How long programs waited for a CPU, and in how long a time.
    pub fn whole(&self) -> (Duration, Duration) {
        self.during(std::slice::from_ref(&self.period))
    }

    /// How long programs waited in these spans, and the sum of the spans.
    fn during(&self, spans: &[Range<Instant>]) -> (Duration, Duration) {
        let observed = Union::of(self.observed.iter());
        let all = Union::of(self.observed.iter().chain(&self.sampled));
        let waited = |span| {
            let own = observed.within(span);
            // Programs of one tree that wait for each other would do so anywhere: at most the CPU time of others counts.
            own + all.within(span).saturating_sub(own).min(self.foreign_cpu)
        };
        let measured = |span: &Range<Instant>| span.end.saturating_since(span.start);
        (spans.iter().map(waited).sum(), spans.iter().map(measured).sum())
    }

    fn pressure_share(&self) -> Option<f64> {
        let period = self.period.end.saturating_since(self.period.start);
        self.pressure
            .map(|pressure| pressure.as_secs_f64() / period.as_secs_f64().max(f64::MIN_POSITIVE))
    }
}

/// Whether waits may have moved a figure of that many samples by more than is allowed.
fn is_moved(waited: Duration, measured: Duration, samples: usize) -> bool {
    let least = ADDITION_MIN.saturating_mul(u32::try_from(samples).unwrap_or(u32::MAX));
    waited > measured.saturating_sub(waited).mul_f64(MOVED_SHARE).max(least)
}

impl ProgramsWaited {
    /// The share by which the figure may be too long: what was waited, of what is left without it.
    pub fn share(&self) -> f64 {
        self.waited.as_secs_f64() / self.measured.saturating_sub(self.waited).as_secs_f64()
    }
}

impl std::error::Error for ProgramsWaited {}

impl fmt::Display for ProgramsWaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [waited, measured] = [self.waited, self.measured].map(tenths_of_a_millisecond);
        write!(f, "programs waited {waited} of {measured} for a CPU, so ")?;
        match &self.figure {
            Some(figure) => write!(f, "{figure} may be ")?,
            None => f.write_str("times may be ")?,
        }
        let share = self.share();
        if share < 10.0 {
            write!(f, "{:.0} % too long", 100.0 * share)?;
        } else {
            f.write_str("nothing but waiting")?;
        }
        write!(f, " ({:.0} % are allowed): stop other programs", 100.0 * MOVED_SHARE)?;
        if let Some(pressure) = self.pressure {
            write!(
                f,
                "; this machine was short of CPUs for {:.0} % of the time",
                100.0 * pressure.min(1.0)
            )?;
        }
        Ok(())
    }
}

/// A duration, to a tenth of a millisecond.
fn tenths_of_a_millisecond(duration: Duration) -> String {
    let tenths = (1e4 * duration.as_secs_f64()).round();
    lastmile_units::duration::print(Duration::from_micros(100 * tenths as u64))
}

/// The log that threads write waits to.
#[derive(Debug, Default)]
pub(super) struct WaitLog {
    observed: Vec<Range<Instant>>,
    sampled: Vec<Range<Instant>>,
}

/// How a wait became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitSource {
    /// By the thread that waited.
    Observed,
    /// By looking at other threads from time to time.
    Sampled,
}

/// The CPU time of the machine so far, and its pressure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MachineLoad {
    pub(super) foreign_cpu: Duration,
    pub(super) pressure: Option<Duration>,
}

/// The most waits that are kept of each source; the older half is then taken together. Our own choice: some megabytes, and with a wait
/// every millisecond some minutes.
const WAITS_MAX: usize = 200_000;

impl WaitLog {
    /// Adds a wait that ended at `until`.
    pub(super) fn add(&mut self, source: WaitSource, until: Instant, waited: Duration) {
        let waits = match source {
            WaitSource::Observed => &mut self.observed,
            WaitSource::Sampled => &mut self.sampled,
        };
        if waits.len() >= WAITS_MAX {
            take_together(waits, WAITS_MAX / 2);
        }
        let start = until.as_nanos().saturating_sub(waited.as_nanos() as u64);
        waits.push(Instant::from_nanos(start)..until);
    }

    /// All waits so far, until `now`.
    pub(super) fn waits(&self, now: Instant, load: MachineLoad) -> CpuWaits {
        CpuWaits {
            period: Instant::START..now,
            observed: self.observed.clone(),
            sampled: self.sampled.clone(),
            foreign_cpu: load.foreign_cpu,
            pressure: load.pressure,
        }
    }
}

/// Replaces the first `count` waits by one of their length, at their end.
fn take_together(waits: &mut Vec<Range<Instant>>, count: usize) {
    let union = Union::of(waits[..count].iter());
    let Some(end) = union.spans.last().map(|last| last.end) else {
        return;
    };
    let start = end.as_nanos().saturating_sub(union.until(end).as_nanos() as u64);
    waits.splice(..count, [Instant::from_nanos(start)..end]);
}

/// Stretches of time that are in order and do not overlap.
struct Union {
    spans: Vec<Range<Instant>>,
    /// The length of all before each.
    before: Vec<Duration>,
}

impl Union {
    fn of<'a>(spans: impl Iterator<Item = &'a Range<Instant>>) -> Self {
        let mut sorted: Vec<_> = spans.cloned().collect();
        sorted.sort_unstable_by_key(|span| span.start);
        let mut merged: Vec<Range<Instant>> = Vec::new();
        for span in sorted {
            match merged.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        let mut length = Duration::ZERO;
        let before = merged.iter().map(|span| {
            let before = length;
            length += span.end - span.start;
            before
        });
        Self {
            before: before.collect(),
            spans: merged,
        }
    }

    /// The length of what is before `at`.
    fn until(&self, at: Instant) -> Duration {
        let begun = self.spans.partition_point(|span| span.start < at);
        let Some(last) = begun.checked_sub(1) else {
            return Duration::ZERO;
        };
        let Range { start, end } = self.spans[last];
        self.before[last] + at.min(end).saturating_since(start)
    }

    /// The length of what is within `span`.
    fn within(&self, span: &Range<Instant>) -> Duration {
        self.until(span.end).saturating_sub(self.until(span.start))
    }
}

#[cfg(test)]
mod tests;
