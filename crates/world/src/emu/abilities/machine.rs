//! How well does this machine keep time, and how many cores has it?

use super::Ability;
use crate::emu::clock::Clock;
use lastmile_units::duration::print;
use nix::time::{ClockId, clock_getres};
use std::fs;
use std::num::NonZeroUsize;
use std::time::Duration;

pub(super) fn all() -> [Ability; 3] {
    [clock(), timers(), cores()]
}

/// How often the clock is read to see how long that takes.
const READINGS: u32 = 10_000;
/// Beyond this, readings are system calls: every packet costs several. Our own choice.
const SLOW_READING: Duration = Duration::from_nanos(300);

/// What time is taken from, and how long a look takes.
fn clock() -> Ability {
    const NAME: &str = "clock source";
    let source = fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let source = source.as_ref().map_or("unknown", |source| source.trim());
    let clock = Clock::start();
    let mut latest = clock.now();
    for _ in 0..READINGS {
        latest = clock.now();
    }
    let reading = latest.since_start() / READINGS;
    let found = format!("{source}, {} a reading", print(reading));
    if reading <= SLOW_READING {
        Ability::ready(NAME, found)
    } else {
        Ability::limited(
            NAME,
            found,
            "boot with clocksource=tsc, where the processor's counter is invariant",
        )
    }
}

/// Whether timers are as fine as the clock.
fn timers() -> Ability {
    const NAME: &str = "timer resolution";
    match clock_getres(ClockId::CLOCK_MONOTONIC).map(Duration::from) {
        Ok(resolution) if resolution <= Duration::from_micros(1) => Ability::ready(NAME, print(resolution)),
        Ok(resolution) => Ability::limited(
            NAME,
            print(resolution),
            "boot without highres=off, or with a kernel that has high-resolution timers (CONFIG_HIGH_RES_TIMERS)",
        ),
        Err(error) => Ability::limited(NAME, error, "a clock_getres that works"),
    }
}

fn cores() -> Ability {
    const NAME: &str = "cores";
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    if cores > 1 {
        Ability::ready(NAME, cores)
    } else {
        Ability::limited(
            NAME,
            cores,
            "use a machine with two or more: here the forwarder and the programs share one",
        )
    }
}
