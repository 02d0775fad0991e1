//! The sender's retransmission timer, and the purpose it is set for.

use super::timer_wheel;
use lastmile_units::Instant;
use std::time::Duration;

/// The one timer that a sender has for its outstanding segments, as in Linux (`icsk_retransmit_timer`): it is set for a probe
/// or a timeout, whichever comes first, or, while a segment may be late, for the end of that time.
#[derive(Debug, Default)]
pub(super) struct RetransmissionTimer {
    set: Option<(TimerPurpose, Instant)>,
    /// How often the timeout expired since something was last acknowledged.
    pub(super) expiries: u32,
}

/// What to do when the timer fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimerPurpose {
    /// The retransmission timeout (RFC 6298 section 5) has expired.
    Timeout,
    /// A probe is to be sent (RFC 8985 section 7).
    Probe,
    /// A segment that was thought to be late is lost (RFC 8985 section 6.2, step 5).
    Reordering,
}

impl RetransmissionTimer {
    pub(super) fn purpose(&self) -> Option<TimerPurpose> {
        self.set.map(|(purpose, _)| purpose)
    }

    pub(super) fn fires_at(&self) -> Option<Instant> {
        self.set.map(|(_, at)| at)
    }

    pub(super) fn set(&mut self, purpose: TimerPurpose, now: Instant, delay: Duration) {
        self.set = Some((purpose, now + timer_wheel::expected(delay)));
    }

    pub(super) const fn stop(&mut self) {
        self.set = None;
    }

    /// The purpose that has become due, if any; the timer is then no longer set, but keeps its purpose until it is set again.
    pub(super) fn is_due(&self, now: Instant) -> Option<TimerPurpose> {
        self.set.filter(|(_, at)| *at <= now).map(|(purpose, _)| purpose)
    }
}
