//! When is what arrived acknowledged?

use lastmile_units::Instant;
use std::time::Duration;

/// The acknowledgement policy: at once while data begins to flow, then for every second full segment or after a delay
/// (RFC 9293 section 3.8.6.3; RFC 5681 section 4.2), and at once whenever something is out of order. As in Linux, an end
/// that answers what it receives gives its acknowledgements the chance to ride along.
#[derive(Debug)]
pub(super) struct Acknowledgement {
    delay: Duration,
    /// Segments that are still to be acknowledged one by one.
    quick: u32,
    /// Data received since the last acknowledgement left.
    pending: u64,
    last_received: Option<Instant>,
    /// This end answers: data was sent soon after data was received.
    answering: bool,
    due: Due,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    Later(Instant),
    Now,
}

impl Acknowledgement {
    pub(super) const fn new(delay: Duration, quick: u32) -> Self {
        Self {
            delay,
            quick,
            pending: 0,
            last_received: None,
            answering: false,
            due: Due::Nothing,
        }
    }

    /// Something must be acknowledged at once.
    pub(super) const fn demand(&mut self) {
        self.due = Due::Now;
    }

    /// `length` bytes arrived in order.
    pub(super) fn on_data(&mut self, now: Instant, length: u64, segment_size: u64) {
        self.pending += length;
        self.last_received = Some(now);
        let quick = self.quick > 0 && !self.answering;
        if quick || self.pending > segment_size {
            self.due = Due::Now;
        } else if self.due == Due::Nothing {
            self.due = Due::Later(now + self.delay);
        }
    }

    /// A segment leaves that carries an acknowledgement, and data where `with_data`.
    pub(super) fn on_sent(&mut self, now: Instant, with_data: bool) {
        if self.due != Due::Nothing {
            self.quick = self.quick.saturating_sub(1);
        }
        if with_data
            && self
                .last_received
                .is_some_and(|at| now.saturating_since(at) < self.delay)
        {
            self.answering = true;
        }
        (self.pending, self.due) = (0, Due::Nothing);
    }

    /// Whether an acknowledgement must leave now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        match self.due {
            Due::Nothing => false,
            Due::Later(at) => at <= now,
            Due::Now => true,
        }
    }

    pub(super) const fn next_deadline(&self) -> Option<Instant> {
        match self.due {
            Due::Later(at) => Some(at),
            Due::Nothing | Due::Now => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(40);

    #[test]
    fn after_the_quick_ones_every_second_full_segment_is_acknowledged() {
        let mut policy = Acknowledgement::new(DELAY, 2);
        let now = Instant::START;
        let acknowledged = (0..6)
            .map(|_| {
                policy.on_data(now, 1000, 1000);
                let due = policy.is_due(now);
                if due {
                    policy.on_sent(now, false);
                }
                due
            })
            .collect::<Vec<_>>();
        assert_eq!(acknowledged, [true, true, false, true, false, true]);
    }

    #[test]
    fn a_lone_segment_waits_for_the_delay_and_no_longer() {
        let mut policy = Acknowledgement::new(DELAY, 0);
        policy.on_data(Instant::START, 10, 1000);
        assert!(!policy.is_due(Instant::START));
        assert_eq!(policy.next_deadline(), Some(Instant::START + DELAY));
        assert!(policy.is_due(Instant::START + DELAY));
    }

    #[test]
    fn an_end_that_answers_lets_acknowledgements_ride_along() {
        let mut policy = Acknowledgement::new(DELAY, 16);
        policy.on_data(Instant::START, 10, 1000);
        policy.on_sent(Instant::START, true);
        policy.on_data(Instant::START, 10, 1000);
        assert!(!policy.is_due(Instant::START));
    }
}
