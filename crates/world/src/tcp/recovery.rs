//! What is done about losses, and about losses that were none?
//!
//! The phases of a sender and what moves it from one to another, after Linux's `tcp_fastretrans_alert`, `tcp_process_loss` and
//! `tcp_enter_loss`. Each idea has a room of its own: which segments are lost ([`rack`]), how the window comes down
//! ([`rate_reduction`]), the probe of a silent receiver ([`tail_loss_probe`]), what shows that a cut was needless ([`undo`]).

mod rack;
mod rate_reduction;
mod tail_loss_probe;
mod undo;

pub(super) use rack::Found;
pub(super) use tail_loss_probe::TailLossProbe;

use super::congestion::Congestion;
use super::round_trip::RoundTrip;
use super::scoreboard::Scoreboard;
use lastmile_units::Instant;
use rack::{DUPLICATE_THRESHOLD, Rack};
use rate_reduction::RateReduction;
use std::time::Duration;
use tail_loss_probe::{Answer, TIMER_ALLOWANCE};
use undo::Undo;

/// The state of recovery of one sender.
#[derive(Debug)]
pub(super) struct Recovery {
    phase: Phase,
    /// The next offset to be sent when the phase was entered: it ends when that is acknowledged.
    until: u64,
    rack: Rack,
    undo: Undo,
    probe: TailLossProbe,
    resending: Resending,
}

#[derive(Debug)]
enum Phase {
    /// All is well.
    Open,
    /// Something arrived out of order, and nothing is known to be lost.
    Disorder,
    /// Losses were found by what arrived.
    Fast(RateReduction),
    /// A timeout ran out. `doubted` while it may have been spurious (F-RTO, RFC 5682 section 3).
    Timeout { doubted: bool },
}

/// What may leave after the last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resending {
    /// What is lost, and then what is new.
    Lost,
    /// What is new: its acknowledgement will tell whether the timeout was spurious. What is lost, where nothing new can be
    /// sent.
    UnlessNew,
    /// Only what is new.
    Nothing,
}

/// What an acknowledgement brought.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Report {
    pub(super) now: Instant,
    /// Everything before this offset has arrived.
    pub(super) acknowledged: u64,
    /// The next offset to be sent for the first time.
    pub(super) next: u64,
    /// Whether `acknowledged` moved.
    pub(super) advanced: bool,
    /// It carries no data, opens no window and acknowledges nothing.
    pub(super) is_duplicate: bool,
    /// Segments newly known to have arrived, those that arrived twice included.
    pub(super) delivered: u32,
    /// Whether some of them arrived out of order.
    pub(super) selected: bool,
    /// Whether one of them was sent once, before the phase began.
    pub(super) original: bool,
    /// It reports that something which was resent had arrived before.
    pub(super) duplicated: bool,
    /// What it reports so is the probe.
    pub(super) probe_duplicated: bool,
    /// The stamp it echoes.
    pub(super) echo: Option<u32>,
    /// More could be sent: the program has written more, and the window offered is not full.
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
            resending: Resending::Lost,
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

    /// Whether what is repaired was found lost by a timeout.
    pub(super) const fn after_timeout(&self) -> bool {
        matches!(self.phase, Phase::Timeout { .. })
    }

    pub(super) const fn until(&self) -> u64 {
        self.until
    }

    pub(super) const fn rack_mut(&mut self) -> &mut Rack {
        &mut self.rack
    }

    pub(super) const fn probe(&self) -> &TailLossProbe {
        &self.probe
    }

    pub(super) const fn probe_mut(&mut self) -> &mut TailLossProbe {
        &mut self.probe
    }

    pub(super) const fn resending(&self) -> Resending {
        self.resending
    }

    /// Nothing new could be sent that would tell whether the timeout was spurious: it is taken for true.
    pub(super) fn stop_doubting(&mut self) {
        if let Phase::Timeout { doubted } = &mut self.phase {
            *doubted = false;
        }
        self.resending = Resending::Lost;
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

    /// Takes an acknowledgement, after the scoreboard has: finds losses, moves the phase, and brings the window down where
    /// that is due.
    pub(super) fn on_report(
        &mut self,
        report: &Report,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        congestion: &mut Congestion,
    ) -> Found {
        self.resending = Resending::Lost;
        self.rack.on_report(
            report.acknowledged,
            report.next,
            report.duplicated && !report.probe_duplicated,
        );
        if self.probe.on_report(report) == Answer::RepairedLoss {
            congestion.on_loss();
            congestion.set_window(congestion.threshold());
            self.keep_open(report.next, board);
        }
        let mut found = Found::default();
        let is_dubious = report.is_duplicate || report.selected || report.duplicated || !self.is_open();
        if is_dubious {
            found = self.on_dubious_report(report, board, round_trip, congestion);
        }
        if let Phase::Fast(reduction) = &mut self.phase
            && report.delivered > 0
        {
            let (threshold, in_flight) = (congestion.threshold(), board.in_flight());
            congestion.set_window(reduction.window(report, found.lost, threshold, in_flight));
        }
        found
    }

    /// Whether the window may grow by what an acknowledgement brought.
    pub(super) const fn may_grow(&self, report: &Report) -> bool {
        let progress = report.advanced || (report.selected && self.rack.reorders_widely());
        progress && !matches!(self.phase, Phase::Fast(_))
    }

    fn on_dubious_report(
        &mut self,
        report: &Report,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        congestion: &mut Congestion,
    ) -> Found {
        if self.is_open() {
            self.undo.forget_stamp();
        } else if report.acknowledged >= self.until && matches!(self.phase, Phase::Fast(_)) {
            self.end(report, congestion);
            if self.undo.has_marker() {
                congestion.set_window(congestion.threshold());
            }
        }
        let recovering = self.is_recovering();
        let find = |rack: &mut Rack, board: &mut Scoreboard| {
            rack.find_lost_if_advanced(board, round_trip, recovering, report.now)
        };
        let mut found = Found::default();
        match self.phase {
            Phase::Fast(_) => {
                if report.advanced && self.undoes_in_part(report, board, congestion) {
                    self.resending = Resending::Nothing;
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

    /// What was lost has been repaired, or was not lost.
    fn end(&mut self, report: &Report, congestion: &mut Congestion) {
        if self.undo.is_disproved_by_duplicates() || self.undo.is_disproved_by_timestamp(report.echo) {
            self.carry_out_undo(congestion);
        } else {
            self.rack.on_recovered();
        }
        self.phase = Phase::Open;
    }

    fn carry_out_undo(&mut self, congestion: &mut Congestion) {
        self.undo.carry_out(congestion);
        self.rack.look_again();
    }

    fn undo_by_duplicates(&mut self, congestion: &mut Congestion) -> bool {
        let undone = self.undo.is_disproved_by_duplicates();
        if undone {
            self.rack.on_undone_by_duplicates();
            self.carry_out_undo(congestion);
        }
        undone
    }

    /// The hole was filled by a segment that was late. Nothing more is resent until it is known whether the others are late
    /// as well; true while that is open.
    fn undoes_in_part(&mut self, report: &Report, board: &mut Scoreboard, congestion: &mut Congestion) -> bool {
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
        board.absolve();
        self.carry_out_undo(congestion);
        self.keep_open(report.next, board);
        false
    }

    fn on_report_after_timeout(&mut self, report: &Report, board: &mut Scoreboard, congestion: &mut Congestion) {
        let is_disproved = self.undo.is_disproved_by_duplicates() || self.undo.is_disproved_by_timestamp(report.echo);
        if report.advanced && is_disproved {
            return self.undo_timeout(board, congestion);
        }
        let recovered = report.acknowledged >= self.until;
        if let Phase::Timeout { doubted } = &mut self.phase
            && *doubted
        {
            // RFC 5682 section 3.1, with selective acknowledgements. Step 3.b: what was sent once arrives, so not all was lost.
            if report.original {
                return self.undo_timeout(board, congestion);
            }
            if report.next > self.until {
                // Step 3.a: what was sent since arrives, and what is lost does not.
                *doubted = !(report.selected || report.is_duplicate);
            } else if report.advanced && !recovered {
                // Step 2.b: new segments are sent, if there are any.
                self.until = report.next;
                if report.more_to_send {
                    self.resending = Resending::UnlessNew;
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
        board.absolve();
        self.carry_out_undo(congestion);
        self.phase = Phase::Open;
    }

    /// Back to normal, or to disorder where something is out of order or was resent.
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

    /// A loss was found: the window is to come down to the threshold by the time `next` is acknowledged.
    fn begin(&mut self, unacknowledged: u64, next: u64, board: &Scoreboard, congestion: &mut Congestion) {
        if board.resent() == 0 && !board.has_resent_head() {
            self.undo.forget_stamp();
        }
        self.undo.begin(unacknowledged, board.resent() + self.probe.repeats());
        self.undo.keep(congestion);
        self.probe.forget();
        self.phase = Phase::Fast(RateReduction::new(congestion.window()));
        self.until = next;
        congestion.on_loss();
    }

    /// A segment that may be late is so no more. Returns what was found; the segments lost may leave at once.
    pub(super) fn on_reordering_timer(
        &mut self,
        now: Instant,
        next: u64,
        board: &mut Scoreboard,
        round_trip: &RoundTrip,
        congestion: &mut Congestion,
    ) -> Found {
        self.resending = Resending::Lost;
        let found = self.rack.find_lost(board, round_trip, self.is_recovering(), now);
        if found.lost > 0 && !matches!(self.phase, Phase::Fast(_)) {
            let unacknowledged = board.head().map_or(next, |head| head.start);
            self.begin(unacknowledged, next, board, congestion);
            if let Phase::Fast(reduction) = &mut self.phase {
                // What begins a recovery counts as one arrival. Losses found later leave the window as it is: it has room
                // for them, since they are not under way (Linux's `tcp_rack_reo_timeout`).
                let report = Report {
                    delivered: 1,
                    ..Report::default()
                };
                let (threshold, in_flight) = (congestion.threshold(), board.in_flight());
                congestion.set_window(reduction.window(&report, found.lost, threshold, in_flight));
            }
        }
        found
    }

    /// How long the timer waits for a segment that is late until then.
    pub(super) fn patience(now: Instant, late_until: Instant) -> Duration {
        late_until.saturating_since(now) + TIMER_ALLOWANCE
    }

    /// The timeout ran out, for the `expiries`th time again since something was acknowledged.
    pub(super) fn on_timeout(
        &mut self,
        now: Instant,
        next: u64,
        expiries: u32,
        board: &mut Scoreboard,
        congestion: &mut Congestion,
    ) {
        self.resending = Resending::Lost;
        let unacknowledged = board.head().map_or(next, |head| head.start);
        let was_recovering = self.is_recovering();
        if !was_recovering && board.sacked() >= DUPLICATE_THRESHOLD {
            self.rack.distrust_distance();
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
        self.probe.forget();
        self.until = next;
        self.phase = Phase::Timeout {
            doubted: !was_recovering || expiries > 0,
        };
    }
}
