//! The schedule of an interferer: when it sends.

use super::spec::Interferer;
use lastmile_units::{Seed, random};

/// An interferer with its phase. Times are in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct InterfererSchedule {
    period: u64,
    on: u64,
    phase: u64,
    /// Its power at every station, in mW.
    pub(crate) power: f64,
    /// When it begins or ends next; never where stations do not wait for it, since its part in frames follows from arithmetic.
    pub(crate) next_change: u64,
    pub(crate) is_on: bool,
}

impl InterfererSchedule {
    /// Its phase is drawn from `seed`.
    pub(crate) fn new(interferer: &Interferer, is_sensed: bool, seed: Seed) -> Self {
        let period = (interferer.period.as_nanos() as u64).max(1);
        let on = (period as f64 * interferer.duty_cycle.get()) as u64;
        let phase = random::up_to(&mut seed.rng(), period - 1);
        let mut schedule = Self {
            period,
            on,
            phase,
            power: interferer.received_power.milliwatts(),
            next_change: u64::MAX,
            is_on: false,
        };
        if is_sensed && on > 0 {
            schedule.is_on = schedule.is_on_at(0);
            schedule.next_change = schedule.change_after(0);
        }
        schedule
    }

    /// The time since it last began, at `at`.
    fn since_begin(&self, at: u64) -> u64 {
        (at + self.period - self.phase) % self.period
    }

    fn is_on_at(&self, at: u64) -> bool {
        self.since_begin(at) < self.on
    }

    fn change_after(&self, at: u64) -> u64 {
        let since = self.since_begin(at);
        let until = if since < self.on { self.on } else { self.period };
        // Always on: it never changes.
        if self.on >= self.period {
            u64::MAX
        } else {
            at + until - since
        }
    }

    /// It begins or ends.
    pub(crate) fn change(&mut self) {
        self.is_on = !self.is_on;
        self.next_change = self.change_after(self.next_change);
    }

    /// How long it sends between `start` and `end`.
    pub(crate) fn time_on(&self, start: u64, end: u64) -> u64 {
        let until = |at: u64| {
            // From the beginning of the period before time 0.
            let at = at + self.period - self.phase;
            at / self.period * self.on + (at % self.period).min(self.on)
        };
        until(end) - until(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lastmile_units::{Dbm, Probability};
    use std::time::Duration;

    #[test]
    fn it_sends_for_its_share_of_each_period() {
        let oven = Interferer {
            period: Duration::from_millis(20),
            duty_cycle: Probability::new(0.25).unwrap(),
            received_power: Dbm::new(-60.0),
        };
        let mut schedule = InterfererSchedule::new(&oven, true, Seed::new(3));
        assert_eq!(schedule.time_on(0, 20_000_000), 5_000_000);
        assert_eq!(schedule.time_on(7_000_000, 1_007_000_000), 250_000_000);
        let (mut at, mut on) = (0, 0);
        while schedule.next_change < 1_000_000_000 {
            let (was_on, until) = (schedule.is_on, schedule.next_change);
            assert_eq!(schedule.time_on(at, until), if was_on { until - at } else { 0 });
            on += if was_on { until - at } else { 0 };
            schedule.change();
            at = until;
        }
        on += schedule.time_on(at, 1_000_000_000);
        assert_eq!(on, 250_000_000);
    }
}
