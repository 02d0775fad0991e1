//! How late does a kernel's timer fire?

use std::time::Duration;

/// Linux's timer wheel (`kernel/time/timer.c`) at 250 ticks a second, Debian's setting: a timer never fires early, and the
/// further away it is, the coarser is the slot it waits in, by a factor of 8 from level to level. So a timeout of 1 s comes
/// 16 ms late on average, and one of 3 s 128 ms.
///
/// Returns `delay` with the mean of that lateness, over all phases that the clock may be in. Our own choice: one phase would
/// be as true as any other, and a figure from it further from the median of many runs.
pub(super) fn expected(delay: Duration) -> Duration {
    let ticks = delay.as_nanos().div_ceil(TICK.as_nanos()) as u32;
    let level = (0..LEVELS).find(|level| ticks < (SLOTS - 1) << (STEP * level));
    let slot = 1 << (STEP * level.unwrap_or(LEVELS));
    // The timer was set within a tick, which is half over on average, and waits for the first slot's end past its time: 1 to
    // `slot` ticks on.
    TICK * ticks + TICK * (slot + 1) / 2 - TICK / 2
}

/// One of 250 a second.
const TICK: Duration = Duration::from_millis(4);
/// Slots of a level.
const SLOTS: u32 = 64;
/// The logarithm of what a slot is coarser by than one of the level below.
const STEP: u32 = 3;
/// Levels that any of TCP's timers reaches.
const LEVELS: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// 40 ms are 10 ticks, of which the first is half over, and one more is waited for; 1 s is 250 ticks, in slots of 8; 3 s
    /// are 750, in slots of 64.
    #[test]
    fn a_timer_is_late_by_half_a_slot_of_its_level() {
        assert_eq!(expected(40 * MS), 42 * MS);
        assert_eq!(expected(39 * MS), 42 * MS);
        assert_eq!(expected(1000 * MS), 1016 * MS);
        assert_eq!(expected(3000 * MS), 3128 * MS);
        assert_eq!(expected(120_000 * MS), 121_024 * MS);
    }
}
