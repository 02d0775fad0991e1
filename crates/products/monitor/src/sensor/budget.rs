//! A budget of bytes: how much may be sent, so that no 10 seconds hold more than the rate allows. Without a clock: times are given.
//!
//! What is counted is what a post puts on the wire: its compressed body, its HTTP head, and the headers of its TCP segments with those of the
//! acknowledgements that answer.

use lastmile_units::BitRate;
use std::collections::VecDeque;
use std::time::Duration;

/// No window of this length holds more than the budget.
pub const WINDOW: Duration = Duration::from_secs(10);
/// An HTTP head, at most.
const HEAD: u64 = 400;
/// The payload of a TCP segment over Ethernet with timestamps, and the headers of IPv4 and TCP with them (RFC 9293, RFC 7323).
const SEGMENT: u64 = 1448;
const SEGMENT_HEADERS: u64 = 52;
/// Opening and closing a connection, and acknowledging an answer: segments without payload, at most.
const EMPTY_SEGMENTS: u64 = 8;

/// What a post of a body puts on the wire, at most.
pub(super) const fn wire_bytes(body: u64) -> u64 {
    let payload = HEAD + body;
    payload + (payload.div_ceil(SEGMENT) + EMPTY_SEGMENTS) * SEGMENT_HEADERS
}

/// What was sent lately, and what may be.
#[derive(Debug)]
pub(super) struct Budget {
    window_bytes: u64,
    /// When each post was answered, and its bytes. It may have been on the wire until then.
    sent: VecDeque<(Duration, u64)>,
}

impl Budget {
    pub(super) const fn new(rate: BitRate) -> Self {
        Self {
            window_bytes: rate.bits_per_second() * WINDOW.as_secs() / 8,
            sent: VecDeque::new(),
        }
    }

    /// The most bytes of a window.
    pub(super) const fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// What was sent within the window before `now`.
    pub(super) fn held(&self, now: Duration) -> u64 {
        let lately = self.sent.iter().filter(|(answered, _)| *answered + WINDOW >= now);
        lately.map(|(_, bytes)| bytes).sum()
    }

    /// The most bytes of a body that are sent at once: a tenth of a window, so that events do not wait long.
    pub(super) const fn largest_body(&self) -> u64 {
        let share = self.window_bytes / 10;
        let fixed = wire_bytes(0);
        if share > fixed * 2 {
            share - fixed - share / SEGMENT * SEGMENT_HEADERS
        } else {
            fixed
        }
    }

    /// How many bytes of bodies it lets through in this time, about.
    pub(super) fn bodies_in(&self, time: Duration) -> f64 {
        let share = self.largest_body() as f64 / wire_bytes(self.largest_body()) as f64;
        self.window_bytes as f64 * time.as_secs_f64() / WINDOW.as_secs_f64() * share
    }

    /// Whether a body of so many bytes can ever be sent.
    pub(super) const fn can_hold(&self, body: u64) -> bool {
        wire_bytes(body) <= self.window_bytes
    }

    /// How long a body must wait.
    pub(super) fn wait(&mut self, now: Duration, body: u64) -> Duration {
        while self.sent.front().is_some_and(|(answered, _)| *answered + WINDOW < now) {
            self.sent.pop_front();
        }
        let mut held: u64 = self.sent.iter().map(|(_, bytes)| bytes).sum();
        for (answered, bytes) in &self.sent {
            if held + wire_bytes(body) <= self.window_bytes {
                break;
            }
            held -= bytes;
            let until = *answered + WINDOW + Duration::from_millis(1);
            if held + wire_bytes(body) <= self.window_bytes {
                return until.saturating_sub(now);
            }
        }
        Duration::ZERO
    }

    /// A body was sent, and answered or given up at this time.
    pub(super) fn send(&mut self, answered: Duration, body: u64) {
        self.spend(answered, wire_bytes(body));
    }

    /// So many bytes were on the wire until this time.
    pub(super) fn spend(&mut self, until: Duration, bytes: u64) {
        self.sent.push_back((until, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_window_holds_more_than_the_budget(
            rate in 8_000u64..1_000_000,
            posts in prop::collection::vec((0.0..1.0f64, 0u64..400, 0u64..3000), 1..200),
        ) {
            let mut budget = Budget::new(BitRate::new(rate).unwrap());
            let limit = rate * 10 / 8;
            let mut now = Duration::ZERO;
            let mut sent: Vec<(Duration, Duration, u64)> = Vec::new();
            for (share, idle, took) in posts {
                let body = (budget.largest_body() as f64 * share) as u64;
                prop_assume!(budget.can_hold(body));
                now += Duration::from_millis(idle);
                now += budget.wait(now, body);
                let answered = now + Duration::from_millis(took);
                budget.send(answered, body);
                sent.push((now, answered, wire_bytes(body)));
                now = answered;
            }
            // Each post may be on the wire at any moment between its times; a window that begins when one is answered is as bad as any.
            for (_, begin, _) in &sent {
                let held: u64 = sent.iter().filter(|(start, end, _)| end >= begin && *start <= *begin + WINDOW).map(|(_, _, bytes)| bytes).sum();
                prop_assert!(held <= limit, "{held} of {limit}");
            }
        }
    }
}
