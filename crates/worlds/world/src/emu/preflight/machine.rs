//! Checks the machine's clock, its timers and the number of its cores.

use super::Check;
use crate::emu::clock::Clock;
use lastmile_units::duration::print;
use nix::time::{ClockId, clock_getres};
use std::fs;
use std::num::NonZeroUsize;
use std::time::Duration;

pub(super) fn all() -> [Check; 3] {
    [clock(), timers(), cores()]
}

/// The number of readings that are timed.
const READINGS: u32 = 10_000;
/// A longer reading is a system call, and each packet needs several. Our own choice.
const SLOW_READING: Duration = Duration::from_nanos(300);

/// The clock source, and the time of a reading.
fn clock() -> Check {
    const NAME: &str = "clock source";
    let source = fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let source = source.as_ref().map_or("unknown", |source| source.trim());
    let clock = Clock::start();
    let mut latest = clock.now();
    for _ in 0..READINGS {
        latest = clock.now();
    }
    let reading = latest.since_start() / READINGS;
    let found = format!("{source}, {} per reading", print(reading));
    if reading <= SLOW_READING {
        Check::ready(NAME, found)
    } else {
        Check::limited(
            NAME,
            found,
            "boot with clocksource=tsc, where the processor's counter is invariant",
        )
    }
}

/// Whether timers have a high resolution.
fn timers() -> Check {
    const NAME: &str = "timer resolution";
    match clock_getres(ClockId::CLOCK_MONOTONIC).map(Duration::from) {
        Ok(resolution) if resolution <= Duration::from_micros(1) => Check::ready(NAME, print(resolution)),
        Ok(resolution) => Check::limited(
            NAME,
            print(resolution),
            "boot without highres=off, or with a kernel that has high-resolution timers (CONFIG_HIGH_RES_TIMERS)",
        ),
        Err(error) => Check::limited(NAME, error, "use a kernel whose clock_getres works"),
    }
}

fn cores() -> Check {
    const NAME: &str = "cores";
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if cores > 1 {
        Check::ready(NAME, cores)
    } else {
        Check::limited(
            NAME,
            cores,
            "use a machine with at least two cores: on this one the forwarder and the programs share a core",
        )
    }
}
