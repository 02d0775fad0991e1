//! The acknowledgement policy of the receiver: immediate, delayed or compressed acknowledgements.

use super::deadline::earlier;
use super::round_trip::RoundTrip;
use super::timer_wheel;
use lastmile_units::Instant;
use std::time::Duration;

/// Acknowledges at once while data begins to flow, then every second full segment or after a delay (RFC 9293 section 3.8.6.3;
/// RFC 5681 section 4.2), and at once whenever something is out of order. As in Linux, an end that answers what it receives
/// lets its acknowledgements ride along with the answers; another end acknowledges pushed data as soon as it is read; and the
/// delay follows the pace at which data arrives.
#[derive(Debug)]
pub(super) struct Acknowledgement {
    /// The least delay, and how many segments are acknowledged at once when data begins to flow.
    shortest_delay: Duration,
    quick_max: u32,
    /// The delay in force (Linux's `ato`); none before the first data.
    delay: Option<Duration>,
    /// Segments that are still to be acknowledged one by one (quick acknowledgements).
    quick: u32,
    /// Bytes received since the last acknowledgement left.
    pending: u64,
    pushed: PshState,
    last_received: Option<Instant>,
    /// This end answers: data was sent soon after data was received.
    answering: bool,
    due: Due,
    gap: Gap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    Later(Instant),
    Now,
}

/// Whether the sender has marked the end of its data, by PSH or a small segment, since the last acknowledgement left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PshState {
    No,
    Once,
    /// Marked, and followed by another small segment.
    Again,
}

/// The acknowledgements of data after a gap.
#[derive(Debug, Default)]
struct Gap {
    /// Where the gap begins, and how many acknowledgements were sent for it at once.
    at: u64,
    sent: u32,
    /// When the acknowledgements that are held back leave as one, and how many they are.
    held_until: Option<Instant>,
    held: u32,
}

/// Linux's `TCP_DELACK_MAX`, and its value where the end does not answer.
const DELAY_MAX: Duration = Duration::from_millis(200);
const UNPUSHED_DELAY_MAX: Duration = Duration::from_millis(500);
/// Acknowledgements after a gap that leave at once: those that show a loss to a sender that counts duplicates.
const GAP_AT_ONCE: u32 = 3;
/// Linux's `tcp_comp_sack_delay_ns` and `tcp_comp_sack_nr`; the delay is at most a twentieth of a round trip.
const GAP_DELAY: Duration = Duration::from_millis(1);
const GAP_HELD_MAX: u32 = 44;
const GAP_DELAY_PART: u32 = 20;

impl Acknowledgement {
    pub(super) fn new(shortest_delay: Duration, quick_max: u32) -> Self {
        Self {
            shortest_delay,
            quick_max,
            delay: None,
            quick: 0,
            pending: 0,
            pushed: PshState::No,
            last_received: None,
            answering: false,
            due: Due::Nothing,
            gap: Gap::default(),
        }
    }

    /// Something must be acknowledged at once.
    pub(super) const fn ack_now(&mut self) {
        self.due = Due::Now;
    }

    /// The data had arrived before: its acknowledgement was lost, so more acknowledgements are needed.
    pub(super) const fn on_repetition(&mut self) {
        self.enter_quickack();
        self.answering = false;
        self.delay = Some(self.shortest_delay);
        self.due = Due::Now;
    }

    /// The next acknowledgement does not wait, and mostly does not count as a quick one (Linux sets the count's lowest bit).
    pub(super) const fn enter_quickack_once(&mut self) {
        self.quick |= 1;
    }

    const fn enter_quickack(&mut self) {
        if self.quick < self.quick_max {
            self.quick = self.quick_max;
        }
    }

    /// Data arrived in order. Call [`Self::enter_quickack_once`] next, if the window grew, and then [`Self::on_data`].
    pub(super) fn on_arrival(&mut self, now: Instant, round_trip: Option<&RoundTrip>) {
        self.follow_pace(now, round_trip);
        self.last_received = Some(now);
    }

    /// `length` bytes arrived in order from a sender whose full segments are `segment_size`; `push` is the segment's PSH flag.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        length: u64,
        push: bool,
        segment_size: u64,
        round_trip: Option<&RoundTrip>,
    ) {
        self.pending += length;
        if length < segment_size {
            self.pushed = match self.pushed {
                PshState::No => PshState::Once,
                PshState::Once | PshState::Again => PshState::Again,
            };
        } else if push && self.pushed == PshState::No {
            self.pushed = PshState::Once;
        }
        if (self.quick > 0 && !self.answering) || self.pending > segment_size {
            self.due = Due::Now;
        } else {
            self.delay_ack(now, round_trip);
        }
    }

    /// Moves the delay towards the time between arrivals (Linux's `tcp_event_data_recv`).
    fn follow_pace(&mut self, now: Instant, round_trip: Option<&RoundTrip>) {
        let Some(delay) = self.delay else {
            self.enter_quickack();
            self.delay = Some(self.shortest_delay);
            return;
        };
        let timeout = round_trip.map_or(Duration::MAX, RoundTrip::timeout);
        let gap = self
            .last_received
            .map_or(Duration::MAX, |last| now.saturating_since(last));
        if gap <= self.shortest_delay / 2 {
            self.delay = Some(delay / 2 + self.shortest_delay / 2);
        } else if gap < delay {
            self.delay = Some((delay / 2 + gap).min(timeout));
        } else if gap > timeout {
            // Its sender starts anew, and waits for acknowledgements.
            self.enter_quickack();
        }
    }

    /// Delays the acknowledgement, but not beyond a round trip, nor beyond an earlier deadline (Linux's
    /// `tcp_send_delayed_ack`).
    fn delay_ack(&mut self, now: Instant, round_trip: Option<&RoundTrip>) {
        if self.due == Due::Now {
            return;
        }
        let mut delay = self.delay.unwrap_or(self.shortest_delay);
        if delay > self.shortest_delay {
            let is_urgent = self.answering || self.pushed != PshState::No;
            let mut longest = if is_urgent { DELAY_MAX } else { UNPUSHED_DELAY_MAX };
            if let Some(smoothed) = round_trip.and_then(RoundTrip::smoothed) {
                longest = longest.min(smoothed.max(self.shortest_delay));
            }
            delay = delay.min(longest);
        }
        let at = now + timer_wheel::expected(delay.min(DELAY_MAX));
        self.due = match self.due {
            Due::Later(earlier) if earlier <= now + delay / 4 => Due::Now,
            Due::Later(earlier) => Due::Later(at.min(earlier)),
            Due::Nothing | Due::Now => Due::Later(at),
        };
    }

    /// Data arrived after the gap that begins at `next`. The first three acknowledgements leave at once; later ones may be held
    /// back for a moment, and leave as one (Linux's `tcp_comp_sack`).
    pub(super) fn on_gap(&mut self, now: Instant, next: u64, round_trip: Option<&RoundTrip>) {
        if self.gap.at != next {
            (self.gap.at, self.gap.sent) = (next, 0);
        }
        let delay = round_trip
            .and_then(RoundTrip::smoothed)
            .map_or(Duration::ZERO, |smoothed| GAP_DELAY.min(smoothed / GAP_DELAY_PART));
        if (self.quick > 0 && !self.answering) || self.gap.held >= GAP_HELD_MAX || delay.is_zero() {
            self.due = Due::Now;
        } else if self.gap.sent < GAP_AT_ONCE {
            self.gap.sent += 1;
            self.due = Due::Now;
        } else {
            self.gap.held += 1;
            self.gap.held_until.get_or_insert(now + delay);
        }
    }

    /// The program has read, `all` there was or a part. Acknowledges what waits for it, since the sender may be waiting too
    /// (Linux's `__tcp_cleanup_rbuf`).
    pub(super) fn on_read(&mut self, all: bool, segment_size: u64) {
        let may_be_awaited = match self.pushed {
            PshState::No => false,
            PshState::Once => !self.answering,
            PshState::Again => true,
        };
        if self.due != Due::Nothing && (self.pending > segment_size || (all && may_be_awaited)) {
            self.due = Due::Now;
        }
    }

    /// The delay has passed without an answer that carries the acknowledgement (Linux's `tcp_delack_timer_handler`).
    fn on_delay_over(&mut self, round_trip: Option<&RoundTrip>) {
        if self.answering {
            self.answering = false;
            self.delay = Some(self.shortest_delay);
        } else if let Some(delay) = &mut self.delay {
            let timeout = round_trip.map_or(Duration::MAX, RoundTrip::timeout);
            *delay = (*delay * 2).min(timeout);
        }
    }

    /// A segment leaves that carries an acknowledgement, and data if `with_data`.
    pub(super) fn on_sent(&mut self, now: Instant, with_data: bool, round_trip: Option<&RoundTrip>) {
        if matches!(self.due, Due::Later(at) if at <= now) {
            self.on_delay_over(round_trip);
        }
        if self.due != Due::Nothing && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = Some(self.shortest_delay);
            }
        }
        if with_data
            && let (Some(last), Some(delay)) = (self.last_received, self.delay)
            && now.saturating_since(last) < delay
        {
            self.answering = true;
        }
        (self.pending, self.due, self.pushed) = (0, Due::Nothing, PshState::No);
        (self.gap.held, self.gap.held_until) = (0, None);
    }

    /// Whether an acknowledgement must leave now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let is_due = match self.due {
            Due::Nothing => false,
            Due::Later(at) => at <= now,
            Due::Now => true,
        };
        is_due || self.gap.held_until.is_some_and(|at| at <= now)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let delayed = match self.due {
            Due::Later(at) => Some(at),
            Due::Nothing | Due::Now => None,
        };
        earlier(delayed, self.gap.held_until)
    }
}

#[cfg(test)]
mod tests;
