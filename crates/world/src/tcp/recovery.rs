//! What was lost, and how fast may it be resent?
//!
//! Loss is found by time: a segment is lost when one sent sufficiently later has arrived (RACK, RFC 8985 sections 6.1 and
//! 6.2). While recovering, the window is brought down in proportion to what arrives (PRR, RFC 6937). Tail loss probes, F-RTO
//! and undo are absent for now.

use super::congestion::Congestion;
use super::round_trip::RoundTrip;
use super::scoreboard::{Scoreboard, Sent, Verdict};
use lastmile_units::Instant;
use std::time::Duration;

/// The state of recovery of one sender.
#[derive(Debug)]
pub(super) struct Recovery {
    phase: Phase,
    newest: Option<Newest>,
    reordering_seen: bool,
    /// When a segment that may be late counts as lost.
    reordering_ends: Option<Instant>,
}

/// RACK.segment: of all that arrived, the segment sent last.
#[derive(Debug, Clone, Copy)]
struct Newest {
    at: Instant,
    end: u64,
    round_trip: Duration,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Nothing is being recovered.
    Open,
    /// Losses were found by what arrived; ends when `until` is acknowledged.
    Fast {
        until: u64,
        window_before: u32,
        delivered: u32,
        sent: u32,
    },
    /// A timeout ran out; ends when `until` is acknowledged.
    Timeout { until: u64 },
}

/// What an acknowledgement brought.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// Everything before this offset has arrived.
    pub(super) acknowledged: u64,
    /// The next offset to be sent for the first time.
    pub(super) next: u64,
    /// Whether `acknowledged` moved.
    pub(super) advanced: bool,
    /// Segments newly known to have arrived.
    pub(super) delivered: u32,
}

/// Segments that arrived above a hole make it a loss at once (RFC 5681's three duplicate acknowledgements).
const DUPLICATE_THRESHOLD: u32 = 3;

impl Recovery {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Open,
            newest: None,
            reordering_seen: false,
            reordering_ends: None,
        }
    }

    /// Whether the window may grow by the ordinary rules.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Whether what is recovered was found lost by a timeout.
    pub(super) const fn after_timeout(&self) -> bool {
        matches!(self.phase, Phase::Timeout { .. })
    }

    /// When [`Recovery::find_lost`] should be asked again though nothing arrived.
    pub(super) const fn reordering_ends(&self) -> Option<Instant> {
        self.reordering_ends
    }

    /// Notes that a segment has arrived (RFC 8985 section 6.2, step 2).
    pub(super) fn on_arrival(&mut self, sent: &Sent, now: Instant, minimum: Option<Duration>) {
        let round_trip = now.saturating_since(sent.at);
        // The acknowledgement of a resent segment that comes sooner than any round trip is the original's.
        if sent.retransmitted && minimum.is_some_and(|minimum| round_trip < minimum) {
            return;
        }
        let later = self
            .newest
            .is_none_or(|newest| (sent.at, sent.end) > (newest.at, newest.end));
        if later {
            self.newest = Some(Newest {
                at: sent.at,
                end: sent.end,
                round_trip,
            });
        }
    }

    /// Notes that a segment which was never resent arrived after one that was sent later.
    pub(super) const fn on_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// How long a segment may be late (RFC 8985 section 6.2, step 4, without DSACK's widening).
    fn reordering_window(&self, board: &Scoreboard, round_trip: &RoundTrip) -> Duration {
        if !self.reordering_seen && (!self.is_open() || board.sacked() >= DUPLICATE_THRESHOLD) {
            return Duration::ZERO;
        }
        let quarter = round_trip.minimum().unwrap_or_default() / 4;
        quarter.min(round_trip.smoothed().unwrap_or_default())
    }

    /// Marks what is lost by now (RFC 8985 section 6.2, step 5); returns how many segments were found.
    pub(super) fn find_lost(&mut self, board: &mut Scoreboard, round_trip: &RoundTrip, now: Instant) -> u32 {
        self.reordering_ends = None;
        let Some(newest) = self.newest else { return 0 };
        let patience = newest.round_trip + self.reordering_window(board, round_trip);
        let mut waits_until = None;
        let found = board.find_lost(|sent| {
            if (sent.at, sent.end) >= (newest.at, newest.end) {
                return Verdict::SentLater;
            }
            let lost_at = sent.at + patience;
            if lost_at <= now {
                return Verdict::Lost;
            }
            waits_until = waits_until.max(Some(lost_at));
            Verdict::Waits
        });
        self.reordering_ends = waits_until;
        found
    }

    /// Moves the phase, and with it the window, after losses were looked for.
    pub(super) fn on_progress(
        &mut self,
        progress: &Progress,
        board: &Scoreboard,
        congestion: &mut Congestion,
        found: u32,
    ) {
        match self.phase {
            Phase::Fast { until, .. } | Phase::Timeout { until } if progress.acknowledged >= until => {
                if matches!(self.phase, Phase::Fast { .. }) {
                    congestion.set_window(congestion.threshold());
                }
                self.phase = Phase::Open;
            }
            _ => {}
        }
        let begins = self.is_open() && board.lost() > 0;
        if begins {
            self.begin(progress.next, congestion);
        }
        // Losses that only time has found leave the window as it is: it has room for them, since they are not under way. Those
        // that begin a recovery count as one arrival (Linux's `tcp_rack_reo_timeout`).
        let delivered = progress.delivered.max(u32::from(begins));
        if delivered > 0 && matches!(self.phase, Phase::Fast { .. }) {
            self.reduce(&Progress { delivered, ..*progress }, board, congestion, found);
        }
    }

    /// A loss was found: the window is to come down to the threshold by the time `until` is acknowledged.
    fn begin(&mut self, until: u64, congestion: &mut Congestion) {
        let window_before = congestion.window();
        congestion.on_loss();
        self.phase = Phase::Fast {
            until,
            window_before,
            delivered: 0,
            sent: 0,
        };
    }

    /// Proportional rate reduction (RFC 6937 section 3.1, with the slow-start reduction bound as Linux applies it).
    fn reduce(&mut self, progress: &Progress, board: &Scoreboard, congestion: &mut Congestion, found: u32) {
        let Phase::Fast {
            window_before,
            ref mut delivered,
            sent,
            ..
        } = self.phase
        else {
            return;
        };
        *delivered += progress.delivered;
        let (threshold, in_flight) = (congestion.threshold(), board.in_flight());
        let mut may_send = if in_flight > threshold {
            let proportional = u64::from(threshold) * u64::from(*delivered);
            (proportional.div_ceil(u64::from(window_before.max(1))) as u32).saturating_sub(sent)
        } else {
            let mut bound = delivered.saturating_sub(sent).max(progress.delivered);
            if progress.advanced && found == 0 {
                bound += 1;
            }
            bound.min(threshold - in_flight)
        };
        // The first loss found is resent at once.
        if sent == 0 {
            may_send = may_send.max(1);
        }
        congestion.set_window(in_flight + may_send);
    }

    /// Notes that a segment was sent, new or again.
    pub(super) const fn on_sent(&mut self) {
        if let Phase::Fast { sent, .. } = &mut self.phase {
            *sent += 1;
        }
    }

    /// A timeout ran out: the head is lost, and with it all that was sent at least a round trip ago (as Linux: what was sent
    /// since may well be under way, and is not resent).
    pub(super) fn on_timeout(
        &mut self,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        congestion: &mut Congestion,
        now: Instant,
        next: u64,
    ) {
        let unacknowledged = board.head().map_or(next, |head| head.start);
        let already_cut = match self.phase {
            Phase::Open => false,
            Phase::Fast { until, .. } | Phase::Timeout { until } => unacknowledged < until,
        };
        if !already_cut {
            congestion.on_loss();
        }
        let patience =
            self.newest.map_or(Duration::ZERO, |newest| newest.round_trip) + self.reordering_window(board, round_trip);
        board.find_lost(|sent| {
            if sent.start == unacknowledged || sent.at + patience <= now {
                Verdict::Lost
            } else {
                Verdict::Waits
            }
        });
        self.reordering_ends = None;
        self.phase = Phase::Timeout { until: next };
        congestion.on_timeout(board.in_flight());
    }
}
