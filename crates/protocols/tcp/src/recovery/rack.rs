//! RACK: detects lost segments by time.

use crate::round_trip::RoundTrip;
use crate::scoreboard::{Scoreboard, Sent, Verdict};
use lastmile_units::Instant;
use std::time::Duration;

/// RACK (RFC 8985 sections 6.1 and 6.2): a segment is lost when one that was sent sufficiently later has arrived. The
/// sufficient time grows where duplicates are reported, that is where segments were late and not lost.
#[derive(Debug)]
pub(crate) struct Rack {
    /// RACK.segment: the arrived segment that was sent last, by time and end.
    newest: Option<(Instant, u64)>,
    /// RACK.rtt: of the latest arrival.
    round_trip: Duration,
    /// Something arrived since losses were last searched for.
    advanced: bool,
    reordering_seen: bool,
    /// The largest distance in segments by which one was late; at least [`DUPLICATE_THRESHOLD`].
    reordering_distance: u32,
    /// RACK.reo_wnd_mult: how many quarters of the least round trip a segment may be late.
    quarters: u32,
    /// RACK.reo_wnd_persist: recoveries without undo before `quarters` falls back to one.
    persistence: u32,
    /// RACK.dsack_round: until this offset is acknowledged, further reports of duplicates do not widen it again.
    widened_until: Option<u64>,
}

/// This many segments that arrive above a hole make it a loss at once (RFC 5681's three duplicate acknowledgements).
pub(crate) const DUPLICATE_THRESHOLD: u32 = 3;
/// RFC 8985 section 6.2, step 4.
const PERSISTENCE: u32 = 16;
/// Linux's `reo_wnd_steps` has 8 bits.
const QUARTERS_MAX: u32 = 255;
/// Linux's `tcp_max_reordering`.
const REORDERING_DISTANCE_MAX: u32 = 300;

impl Rack {
    pub(super) const fn new() -> Self {
        Self {
            newest: None,
            round_trip: Duration::ZERO,
            advanced: false,
            reordering_seen: false,
            reordering_distance: DUPLICATE_THRESHOLD,
            quarters: 1,
            persistence: 0,
            widened_until: None,
        }
    }

    /// Notes that a segment has arrived (section 6.2, step 2).
    pub(crate) fn on_arrival(&mut self, sent: &Sent, now: Instant, least: Option<Duration>) {
        let round_trip = now.saturating_since(sent.at);
        // The acknowledgement of a resent segment that comes sooner than any round trip is the original's.
        if sent.retransmitted && least.is_some_and(|least| round_trip < least) {
            return;
        }
        self.advanced = true;
        self.round_trip = round_trip;
        if self.newest.is_none_or(|newest| (sent.at, sent.end) > newest) {
            self.newest = Some((sent.at, sent.end));
        }
    }

    /// Notes that a segment which was never resent arrived `segments` after one that follows it in the stream (step 3).
    pub(crate) fn on_reordering(&mut self, segments: u32) {
        self.reordering_seen = true;
        self.reordering_distance = self.reordering_distance.max(segments.min(REORDERING_DISTANCE_MAX));
    }

    /// Whether reordering is so wide that the window grows by any arrival, in order or not (Linux's `tcp_may_raise_cwnd`).
    pub(super) const fn reorders_widely(&self) -> bool {
        self.reordering_distance > DUPLICATE_THRESHOLD
    }

    /// A timeout found many segments above a hole, so the distance was overestimated (Linux's `tcp_enter_loss`).
    pub(super) fn reset_reordering_distance(&mut self) {
        self.reordering_distance = DUPLICATE_THRESHOLD;
    }

    /// An acknowledgement came; `duplicates` where it reports that resent data had arrived before (step 4).
    pub(super) fn on_report(&mut self, acknowledged: u64, next: u64, duplicates: bool) {
        if self.widened_until.is_some_and(|until| acknowledged >= until) {
            self.widened_until = None;
        }
        // A receiver that reports duplicates without any reordering received a probe, or an acknowledgement was lost.
        if duplicates && self.reordering_seen && self.widened_until.is_none() {
            self.quarters = (self.quarters + 1).min(QUARTERS_MAX);
            self.persistence = PERSISTENCE;
            self.widened_until = Some(next);
        } else if self.persistence == 0 {
            self.quarters = 1;
        }
    }

    /// A recovery ended without being undone.
    pub(super) const fn on_recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
    }

    /// A recovery was undone, since all resent data had arrived before.
    pub(super) fn on_undone_by_duplicates(&mut self) {
        self.persistence = (self.persistence + 1).min(PERSISTENCE);
    }

    /// Makes the next search for losses run although nothing has arrived since.
    pub(super) const fn rescan_for_losses(&mut self) {
        self.advanced = true;
    }

    /// How late a segment may be (step 4).
    fn reordering_window(&self, board: &Scoreboard, round_trip: &RoundTrip, recovering: bool) -> Duration {
        if !self.reordering_seen && (recovering || board.sacked() >= self.reordering_distance) {
            return Duration::ZERO;
        }
        let quarter = round_trip.minimum().unwrap_or_default() / 4;
        (quarter * self.quarters).min(round_trip.smoothed().unwrap_or_default())
    }

    /// Searches for losses if anything has arrived since the last search.
    pub(super) fn find_lost_if_advanced(
        &mut self,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        recovering: bool,
        now: Instant,
    ) -> LossSearch {
        if !std::mem::take(&mut self.advanced) {
            return LossSearch::default();
        }
        self.find_lost(board, round_trip, recovering, now)
    }

    /// Marks the segments that are lost by now (step 5).
    pub(super) fn find_lost(
        &self,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        recovering: bool,
        now: Instant,
    ) -> LossSearch {
        let Some(newest) = self.newest else {
            return LossSearch::default();
        };
        let patience = self.round_trip + self.reordering_window(board, round_trip, recovering);
        let (mut late_until, mut resent) = (None, false);
        let lost = board.find_lost(|sent| {
            if (sent.at, sent.end) >= newest {
                return Verdict::SentLater;
            }
            let lost_at = sent.at + patience;
            if lost_at <= now {
                resent |= sent.resent;
                return Verdict::Lost;
            }
            late_until = late_until.max(Some(lost_at));
            Verdict::Waits
        });
        LossSearch {
            lost,
            resent,
            late_until,
        }
    }

    /// Marks the segments that a timeout shows to be lost: the head, and all that was sent at least a round trip ago. Later
    /// ones may well be in flight, and are not resent (Linux's `tcp_timeout_mark_lost`).
    pub(super) fn find_lost_by_timeout(&self, board: &mut Scoreboard, now: Instant) -> u32 {
        let head = board.head().map(|head| head.start);
        board.find_lost(|sent| {
            if Some(sent.start) == head || sent.at + self.round_trip <= now {
                Verdict::Lost
            } else {
                Verdict::Waits
            }
        })
    }
}

/// The result of a search for losses.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LossSearch {
    /// How many segments were found lost.
    pub(crate) lost: u32,
    /// Whether one of them had been resent.
    pub(crate) resent: bool,
    /// When the last of the segments that may be late counts as lost.
    pub(crate) late_until: Option<Instant>,
}
