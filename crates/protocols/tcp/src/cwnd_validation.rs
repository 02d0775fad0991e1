//! Tracks whether the sender uses its congestion window (congestion window validation).

use lastmile_units::Instant;
use std::time::Duration;

/// How much of its window a sender uses (RFC 7661's subject, handled as in Linux's `tcp_cwnd_validate`): a window that is not
/// used must not grow, and one that was unused for a timeout is reduced half way to its use (RFC 2861 section 3.1).
#[derive(Debug)]
pub(super) struct WindowUsage {
    /// The most segments outstanding, and whether the window held any back, since `until` was the next offset to be sent.
    outstanding_max: u32,
    held_back: bool,
    until: u64,
    /// When the window was last in full use, and the most segments outstanding since.
    full_at: Instant,
    most_since_full: u32,
}

/// The state of a sender when it can send no more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Burst {
    /// The time.
    pub(super) now: Instant,
    /// Everything before this offset has arrived, and the next offset to be sent.
    pub(super) acknowledged: u64,
    pub(super) next: u64,
    pub(super) outstanding: u32,
    /// Whether the window held it back.
    pub(super) held_back: bool,
}

impl WindowUsage {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            outstanding_max: 0,
            held_back: false,
            until: 0,
            full_at: now,
            most_since_full: 0,
        }
    }

    /// Records a burst, when the window is `window`.
    pub(super) fn note(&mut self, burst: &Burst, window: u32, in_slow_start: bool) {
        let grew = !self.held_back && burst.outstanding > self.outstanding_max;
        if burst.acknowledged >= self.until || burst.held_back || grew {
            self.held_back = burst.held_back;
            self.outstanding_max = burst.outstanding;
            self.until = burst.next;
        }
        if self.is_in_use(window, in_slow_start) {
            self.restart(burst.now);
        } else {
            self.most_since_full = self.most_since_full.max(burst.outstanding);
        }
    }

    /// Whether the window may grow. In slow start a window in half use may still double; afterwards, it must have been full.
    pub(super) const fn is_in_use(&self, window: u32, in_slow_start: bool) -> bool {
        self.held_back || (in_slow_start && window < 2 * self.outstanding_max)
    }

    /// The most segments outstanding, where the window was not in use for `timeout`; the count then restarts.
    pub(super) fn unused_for(&mut self, now: Instant, timeout: Duration) -> Option<u32> {
        if now.saturating_since(self.full_at) < timeout {
            return None;
        }
        let most = self.most_since_full;
        self.restart(now);
        Some(most)
    }

    /// The window was in full use, or was set anew.
    pub(super) const fn restart(&mut self, now: Instant) {
        self.full_at = now;
        self.most_since_full = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn burst(seconds: u32, acknowledged: u64, outstanding: u32, held_back: bool) -> Burst {
        Burst {
            now: Instant::START + S * seconds,
            acknowledged,
            next: acknowledged + u64::from(outstanding),
            outstanding,
            held_back,
        }
    }

    #[test]
    fn a_window_that_held_something_back_is_in_use_until_a_round_trip_passes_without() {
        let mut usage = WindowUsage::new(Instant::START);
        usage.note(&burst(0, 1, 10, true), 10, false);
        assert!(usage.is_in_use(10, false));
        usage.note(&burst(0, 5, 4, false), 10, false);
        assert!(usage.is_in_use(10, false), "what was then sent is not acknowledged yet");
        usage.note(&burst(0, 11, 4, false), 10, false);
        assert!(!usage.is_in_use(10, false));
    }

    #[test]
    fn in_slow_start_more_than_half_of_the_window_is_enough() {
        let mut usage = WindowUsage::new(Instant::START);
        usage.note(&burst(0, 1, 6, false), 10, true);
        assert!(usage.is_in_use(10, true) && !usage.is_in_use(10, false) && !usage.is_in_use(12, true));
    }

    #[test]
    fn after_a_timeout_without_full_use_it_is_known_how_much_was_used() {
        let mut usage = WindowUsage::new(Instant::START);
        for (seconds, outstanding) in [(0, 3), (1, 5), (2, 4)] {
            usage.note(&burst(seconds, 100 * u64::from(seconds), outstanding, false), 40, false);
        }
        assert_eq!(usage.unused_for(Instant::START + S * 2, S * 3), None);
        assert_eq!(usage.unused_for(Instant::START + S * 3, S * 3), Some(5));
        assert_eq!(usage.unused_for(Instant::START + S * 4, S * 3), None);
    }
}
