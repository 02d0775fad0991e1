//! Loss recovery: responds to losses, and undoes the response to losses that were none.
//!
//! The phases of a sender and the transitions between them, after Linux's `tcp_fastretrans_alert`, `tcp_process_loss` and
//! `tcp_enter_loss`. [`rack`] detects losses, [`proportional_rate_reduction`] lowers the window, [`tail_loss_probe`] probes a silent
//! receiver, and [`undo`] detects cuts that were unnecessary.

mod proportional_rate_reduction;
mod rack;
mod tail_loss_probe;
mod undo;

pub(super) use rack::LossSearch;
pub(super) use tail_loss_probe::TailLossProbe;

use super::congestion::{self, Congestion};
use super::round_trip::RoundTrip;
use super::scoreboard::Scoreboard;
use lastmile_units::Instant;
use proportional_rate_reduction::RateReduction;
use rack::{DUPLICATE_THRESHOLD, Rack};
use std::time::Duration;
use tail_loss_probe::TIMER_ALLOWANCE;
use undo::Undo;

/// The recovery state of one sender.
#[derive(Debug)]
pub(super) struct Recovery {
    phase: Phase,
    /// The next offset to be sent when the phase was entered: the phase ends when that is acknowledged.
    pub(super) until: u64,
    pub(super) rack: Rack,
    undo: Undo,
    pub(super) probe: TailLossProbe,
    pub(super) resending: RetransmitAllowance,
}

#[derive(Debug)]
enum Phase {
    /// No losses, nothing out of order.
    Open,
    /// Something arrived out of order, and no loss is known.
    Disorder,
    /// Arrivals showed losses.
    Fast(RateReduction),
    /// A timeout expired. `doubted` while it may have been spurious (F-RTO, RFC 5682 section 3).
    Timeout { doubted: bool },
}

/// What may leave after the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetransmitAllowance {
    /// Lost data, and then new data.
    Lost,
    /// New data: its acknowledgement will show whether the timeout was spurious. Lost data, where no new data can be sent.
    UnlessNew,
    /// New data only.
    Nothing,
}

/// The contents of an acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AckReport {
    pub(super) now: Instant,
    /// Everything before this offset has arrived.
    pub(super) acknowledged: u64,
    /// The next offset to be sent for the first time.
    pub(super) next: u64,
    /// Whether `acknowledged` moved.
    pub(super) advanced: bool,
    /// It carries no data, opens no window and acknowledges nothing.
    pub(super) is_duplicate: bool,
    /// Segments newly known to have arrived, including those that arrived twice.
    pub(super) delivered: u32,
    /// Whether some of them arrived out of order.
    pub(super) selected: bool,
    /// Whether one of them was sent only once, before the phase began.
    pub(super) original: bool,
    /// It reports that resent data had arrived before.
    pub(super) duplicated: bool,
    /// The probe is the duplicate that it reports.
    pub(super) probe_duplicated: bool,
    /// The timestamp that it echoes.
    pub(super) echo: Option<u32>,
    /// More could be sent: the program has written more, and the offered window is not full.
    pub(super) more_to_send: bool,
}

impl Recovery {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Open,
            until: 0,
            rack: Rack::new(),
            undo: Undo::default(),
            probe: TailLossProbe::default(),
            resending: RetransmitAllowance::Lost,
        }
    }

    /// Whether nothing is out of order, let alone lost.
    pub(super) const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open)
    }

    /// Whether losses are being repaired.
    pub(super) const fn is_recovering(&self) -> bool {
        matches!(self.phase, Phase::Fast(_) | Phase::Timeout { .. })
    }

    /// Why losses are being repaired.
    pub(super) const fn reason(&self) -> congestion::Phase {
        match self.phase {
            Phase::Open | Phase::Disorder => congestion::Phase::Open,
            Phase::Fast(_) => congestion::Phase::Fast,
            Phase::Timeout { .. } => congestion::Phase::Timeout,
        }
    }

    /// No new data could be sent to show whether the timeout was spurious: it is accepted as genuine.
    pub(super) fn accept_timeout_as_genuine(&mut self) {
        if let Phase::Timeout { doubted } = &mut self.phase {
            *doubted = false;
        }
        self.resending = RetransmitAllowance::Lost;
    }

    /// Notes that a segment leaves, new or again.
    pub(super) const fn on_sent(&mut self) {
        if let Phase::Fast(reduction) = &mut self.phase {
            reduction.on_sent();
        }
    }

    /// Notes that a lost segment is resent when the timestamp clock shows `stamp`.
    pub(super) fn on_resent(&mut self, stamp: u32) {
        self.undo.on_resent(stamp);
    }

    /// Notes that the receiver reports `segments` that end at or before `end` as duplicates.
    pub(super) fn on_duplicates(&mut self, segments: u32, end: u64) {
        self.undo.on_duplicates(segments, end);
    }

    /// Handles an acknowledgement, after the scoreboard has: finds losses, changes the phase, and lowers the window where that
    /// is due.
    pub(super) fn on_report(
        &mut self,
        report: &AckReport,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        congestion: &mut Congestion,
    ) -> LossSearch {
        self.resending = RetransmitAllowance::Lost;
        self.rack.on_report(
            report.acknowledged,
            report.next,
            report.duplicated && !report.probe_duplicated,
        );
        if self.probe.on_report(report) {
            congestion.on_loss();
            congestion.set_window(congestion.slow_start_threshold());
            self.keep_open(report.next, board);
        }
        let mut found = LossSearch::default();
        let is_dubious = report.is_duplicate || report.selected || report.duplicated || !self.is_open();
        if is_dubious {
            found = self.on_loss_signal(report, board, round_trip, congestion);
        }
        if let Phase::Fast(reduction) = &mut self.phase
            && report.delivered > 0
        {
            let (threshold, in_flight) = (congestion.slow_start_threshold(), board.in_flight());
            congestion.set_window(reduction.window(report, found.lost, threshold, in_flight));
        }
        found
    }

    /// Whether the window may grow by what an acknowledgement delivered.
    pub(super) const fn may_grow(&self, report: &AckReport) -> bool {
        let progress = report.advanced || (report.selected && self.rack.reorders_widely());
        progress && !matches!(self.phase, Phase::Fast(_))
    }

    fn on_loss_signal(
        &mut self,
        report: &AckReport,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        congestion: &mut Congestion,
    ) -> LossSearch {
        if self.is_open() {
            self.undo.forget_stamp();
        } else if report.acknowledged >= self.until && matches!(self.phase, Phase::Fast(_)) {
            self.end(report, congestion);
            if self.undo.has_marker() {
                congestion.set_window(congestion.slow_start_threshold());
            }
        }
        let recovering = self.is_recovering();
        let find = |rack: &mut Rack, board: &mut Scoreboard| {
            rack.find_lost_if_advanced(board, round_trip, recovering, report.now)
        };
        let mut found = LossSearch::default();
        match self.phase {
            Phase::Fast(_) => {
                if report.advanced && self.undoes_in_part(report, board, congestion) {
                    self.resending = RetransmitAllowance::Nothing;
                    return found;
                }
                if self.undo_by_duplicates(congestion) {
                    self.keep_open(report.next, board);
                }
                found = find(&mut self.rack, board);
                if matches!(self.phase, Phase::Fast(_)) {
                    return found;
                }
            }
            Phase::Timeout { .. } => {
                self.on_report_after_timeout(report, board, congestion);
                found = find(&mut self.rack, board);
                if !self.is_open() && !found.resent {
                    return found;
                }
            }
            Phase::Open | Phase::Disorder => {
                self.undo_by_duplicates(congestion);
                found = find(&mut self.rack, board);
            }
        }
        if board.lost() == 0 {
            self.try_to_open(report.next, board);
        } else {
            self.begin(report.acknowledged, report.next, board, congestion);
        }
        found
    }

    /// The losses have been repaired, or were none.
    fn end(&mut self, report: &AckReport, congestion: &mut Congestion) {
        if self.undo.is_disproved_by_duplicates() || self.undo.is_disproved_by_timestamp(report.echo) {
            self.carry_out_undo(congestion);
        } else {
            self.rack.on_recovered();
        }
        self.phase = Phase::Open;
    }

    fn carry_out_undo(&mut self, congestion: &mut Congestion) {
        self.undo.carry_out(congestion);
        self.rack.rescan_for_losses();
    }

    fn undo_by_duplicates(&mut self, congestion: &mut Congestion) -> bool {
        let undone = self.undo.is_disproved_by_duplicates();
        if undone {
            self.rack.on_undone_by_duplicates();
            self.carry_out_undo(congestion);
        }
        undone
    }

    /// A late segment filled the hole. Nothing more is resent until it is known whether the others are late too; returns true
    /// while that is unknown.
    fn undoes_in_part(&mut self, report: &AckReport, board: &mut Scoreboard, congestion: &mut Congestion) -> bool {
        if !self.undo.is_disproved_by_timestamp(report.echo) {
            return false;
        }
        self.rack.on_reordering(DUPLICATE_THRESHOLD);
        if board.resent() > 0 {
            return true;
        }
        if !board.has_resent_head() {
            self.undo.forget_stamp();
        }
        board.clear_lost_marks();
        self.carry_out_undo(congestion);
        self.keep_open(report.next, board);
        false
    }

    fn on_report_after_timeout(&mut self, report: &AckReport, board: &mut Scoreboard, congestion: &mut Congestion) {
        let is_disproved = self.undo.is_disproved_by_duplicates() || self.undo.is_disproved_by_timestamp(report.echo);
        if report.advanced && is_disproved {
            return self.undo_timeout(board, congestion);
        }
        let recovered = report.acknowledged >= self.until;
        if let Phase::Timeout { doubted } = &mut self.phase
            && *doubted
        {
            // RFC 5682 section 3.1, with selective acknowledgements. Step 3.b: data that was sent once arrives, so not all was
            // lost.
            if report.original {
                return self.undo_timeout(board, congestion);
            }
            if report.next > self.until {
                // Step 3.a: data sent since arrives, and the lost data does not.
                *doubted = !(report.selected || report.is_duplicate);
            } else if report.advanced && !recovered {
                // Step 2.b: new segments are sent, if there are any.
                self.until = report.next;
                if report.more_to_send {
                    self.resending = RetransmitAllowance::UnlessNew;
                    return;
                }
                *doubted = false;
            }
        }
        if recovered {
            self.end(report, congestion);
        }
    }

    fn undo_timeout(&mut self, board: &mut Scoreboard, congestion: &mut Congestion) {
        board.clear_lost_marks();
        self.carry_out_undo(congestion);
        self.phase = Phase::Open;
    }

    /// Returns to the open phase, or to disorder where something is out of order or was resent.
    fn keep_open(&mut self, next: u64, board: &Scoreboard) {
        let in_order = board.sacked() == 0 && board.lost() == 0 && board.resent() == 0 && !board.has_resent_head();
        if in_order != self.is_open() || self.is_recovering() {
            self.until = next;
        }
        self.phase = if in_order { Phase::Open } else { Phase::Disorder };
    }

    fn try_to_open(&mut self, next: u64, board: &Scoreboard) {
        if board.resent() == 0 && !board.has_resent_head() {
            self.undo.forget_stamp();
        }
        self.keep_open(next, board);
    }

    /// A loss was found: the window is to fall to the threshold by the time `next` is acknowledged.
    fn begin(&mut self, unacknowledged: u64, next: u64, board: &Scoreboard, congestion: &mut Congestion) {
        if board.resent() == 0 && !board.has_resent_head() {
            self.undo.forget_stamp();
        }
        self.undo.begin(unacknowledged, board.resent() + self.probe.repeats());
        self.undo.keep(congestion);
        self.probe.cancel();
        self.phase = Phase::Fast(RateReduction::new(congestion.window()));
        self.until = next;
        congestion.on_loss();
    }

    /// A segment that may have been late now counts as lost. Returns the losses found, which may be resent at once.
    pub(super) fn on_reordering_timer(
        &mut self,
        now: Instant,
        next: u64,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        congestion: &mut Congestion,
    ) -> LossSearch {
        self.resending = RetransmitAllowance::Lost;
        let found = self.rack.find_lost(board, round_trip, self.is_recovering(), now);
        if found.lost > 0 && !matches!(self.phase, Phase::Fast(_)) {
            let unacknowledged = board.head().map_or(next, |head| head.start);
            self.begin(unacknowledged, next, board, congestion);
            if let Phase::Fast(reduction) = &mut self.phase {
                // The start of a recovery counts as one arrival. Losses found later leave the window unchanged: it has room for
                // them, since they are not in flight (Linux's `tcp_rack_reo_timeout`).
                let report = AckReport {
                    delivered: 1,
                    ..AckReport::default()
                };
                let (threshold, in_flight) = (congestion.slow_start_threshold(), board.in_flight());
                congestion.set_window(reduction.window(&report, found.lost, threshold, in_flight));
            }
        }
        found
    }

    /// How long the timer waits for a segment that may be late until `late_until`.
    pub(super) fn reordering_timeout(now: Instant, late_until: Instant) -> Duration {
        late_until.saturating_since(now) + TIMER_ALLOWANCE
    }

    /// The timeout expired; it had expired `expiries` times before since something was last acknowledged.
    pub(super) fn on_timeout(
        &mut self,
        now: Instant,
        next: u64,
        expiries: u32,
        board: &mut Scoreboard,
        congestion: &mut Congestion,
    ) {
        self.resending = RetransmitAllowance::Lost;
        let unacknowledged = board.head().map_or(next, |head| head.start);
        let was_recovering = self.is_recovering();
        if !was_recovering && board.sacked() >= DUPLICATE_THRESHOLD {
            self.rack.reset_reordering_distance();
        }
        self.rack.find_lost_by_timeout(board, now);
        let is_first_cut = !was_recovering
            || unacknowledged >= self.until
            || (matches!(self.phase, Phase::Timeout { .. }) && expiries == 0);
        if is_first_cut {
            self.undo.keep(congestion);
            congestion.on_loss();
            self.undo.begin(unacknowledged, board.resent() + self.probe.repeats());
        }
        congestion.on_timeout(board.in_flight());
        self.probe.cancel();
        self.until = next;
        self.phase = Phase::Timeout {
            doubted: !was_recovering || expiries > 0,
        };
    }
}
