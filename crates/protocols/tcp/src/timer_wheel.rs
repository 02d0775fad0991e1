//! Models how late a kernel timer fires.

use std::time::Duration;

/// Linux's timer wheel (`kernel/time/timer.c`) at 250 ticks per second, Debian's setting: a timer never fires early, and the
/// further away it is, the coarser is the slot it waits in, by a factor of 8 per level. So a timeout of 1 s comes 16 ms late on
/// average, and one of 3 s 128 ms.
///
/// Returns `delay` plus the mean lateness over all phases of the clock. Our own choice: a single phase would be as true as any
/// other, but its figure would be further from the median of many runs.
pub(super) fn expected(delay: Duration) -> Duration {
    let ticks = delay.as_nanos().div_ceil(TICK.as_nanos()) as u32;
    let level = (0..LEVELS).find(|level| ticks < (SLOTS - 1) << (STEP * level));
    let slot = 1 << (STEP * level.unwrap_or(LEVELS));
    // The timer was set half a tick after a tick, on average, and waits for the end of the first slot past its time: 1 to
    // `slot` ticks later.
    TICK * ticks + TICK * (slot + 1) / 2 - TICK / 2
}

/// One of 250 per second.
const TICK: Duration = Duration::from_millis(4);
/// Slots per level.
const SLOTS: u32 = 64;
/// The binary logarithm of the factor by which a slot is coarser than one of the level below.
const STEP: u32 = 3;
/// Levels that TCP's timers reach.
const LEVELS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// 40 ms are 10 ticks, of which the first is half over, plus one more of waiting; 1 s is 250 ticks, in slots of 8; 3 s are
    /// 750, in slots of 64.
    #[test]
    fn a_timer_is_late_by_half_a_slot_of_its_level() {
        assert_eq!(expected(40 * MS), 42 * MS);
        assert_eq!(expected(39 * MS), 42 * MS);
        assert_eq!(expected(1000 * MS), 1016 * MS);
        assert_eq!(expected(3000 * MS), 3128 * MS);
        assert_eq!(expected(120_000 * MS), 121_024 * MS);
    }
}
