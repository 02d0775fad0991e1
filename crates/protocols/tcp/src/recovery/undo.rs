//! Detects unnecessary window cuts, and restores the window from before.

use crate::congestion::Congestion;

/// The state needed to undo an unnecessary recovery. Two things show that it was unnecessary: the receiver reports every resent
/// segment as a duplicate (RFC 2883 with RFC 3708), or an acknowledgement echoes a timestamp from before the first
/// retransmission (Eifel, RFC 3522 and RFC 4015).
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// The reason for the cut: nothing before this offset had arrived. None where there is nothing to undo.
    marker: Option<u64>,
    /// Retransmissions that were not reported as duplicates; none before the first.
    unreported: Option<u32>,
    /// The timestamp clock at the first retransmission of this recovery.
    first_resent: Option<u32>,
    before: Option<CwndBeforeCut>,
}

/// Window and threshold from before a cut.
#[derive(Debug, Clone, Copy)]
struct CwndBeforeCut {
    window: u32,
    threshold: u32,
}

impl Undo {
    /// A recovery begins, with `resent` segments from earlier still in flight. `unacknowledged` is the first offset that has
    /// not arrived.
    pub(super) const fn begin(&mut self, unacknowledged: u64, resent: u32) {
        self.marker = Some(unacknowledged);
        self.unreported = if resent > 0 { Some(resent) } else { None };
    }

    /// Records the window just before it is cut.
    pub(super) fn keep(&mut self, congestion: &Congestion) {
        self.before = Some(CwndBeforeCut {
            window: congestion.window(),
            threshold: congestion.threshold_remembered(),
        });
    }

    pub(super) const fn has_marker(&self) -> bool {
        self.marker.is_some()
    }

    /// A segment is resent when the timestamp clock shows `stamp`.
    pub(super) fn on_resent(&mut self, stamp: u32) {
        self.first_resent.get_or_insert(stamp);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// No resent segment is outstanding any more.
    pub(super) const fn forget_stamp(&mut self) {
        self.first_resent = None;
    }

    /// The receiver reports `segments` that end at or before `end` as duplicates.
    pub(super) fn on_duplicates(&mut self, segments: u32, end: u64) {
        if self.marker.is_some_and(|marker| end > marker)
            && let Some(unreported) = &mut self.unreported
        {
            *unreported = unreported.saturating_sub(segments);
        }
    }

    /// Whether all resent data had arrived before.
    pub(super) fn is_disproved_by_duplicates(&self) -> bool {
        self.has_marker() && self.unreported == Some(0)
    }

    /// Whether the data acknowledged with `echo` arrived without a retransmission.
    pub(super) fn is_disproved_by_timestamp(&self, echo: Option<u32>) -> bool {
        self.has_marker() && self.was_sent_before_resending(echo)
    }

    fn was_sent_before_resending(&self, echo: Option<u32>) -> bool {
        match self.first_resent {
            Some(stamp) => echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0),
            None => true,
        }
    }

    /// Restores the window.
    pub(super) fn carry_out(&mut self, congestion: &mut Congestion) {
        if let Some(before) = self.before {
            congestion.undo(before.window, before.threshold);
        }
        self.marker = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_disproved_when_all_that_was_resent_is_reported_as_duplicate() {
        let mut undo = Undo::default();
        undo.begin(100, 0);
        assert!(!undo.is_disproved_by_duplicates(), "nothing was resent yet");
        undo.on_resent(7);
        undo.on_resent(8);
        undo.on_duplicates(1, 90);
        assert!(
            !undo.is_disproved_by_duplicates(),
            "what lies before the loss does not count"
        );
        undo.on_duplicates(1, 110);
        assert!(!undo.is_disproved_by_duplicates());
        undo.on_duplicates(1, 120);
        assert!(undo.is_disproved_by_duplicates());
    }

    #[test]
    fn a_cut_is_disproved_by_an_echo_from_before_the_first_retransmission_across_the_wrap() {
        for (first, echo, disproved) in [
            (10, Some(9), true),
            (10, Some(10), false),
            (2, Some(u32::MAX), true),
            (10, None, false),
        ] {
            let mut undo = Undo::default();
            undo.begin(100, 0);
            undo.on_resent(first);
            assert_eq!(undo.is_disproved_by_timestamp(echo), disproved, "{first}, {echo:?}");
        }
    }
}
