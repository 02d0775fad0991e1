//! Proportional rate reduction: the sending rate while the window falls.

use super::AckReport;

/// Proportional rate reduction: RFC 6937 section 3.1 with the bounds that its successor and Linux's `tcp_cwnd_reduction` set.
/// Above the threshold, the sender sends in proportion to what arrives; at or below it, it rises to it no faster than in slow
/// start, and only where nothing more was lost.
#[derive(Debug)]
pub(super) struct RateReduction {
    /// RecoverFS: the window when the loss was found.
    window_before: u32,
    /// prr_delivered and prr_out, in segments.
    delivered: u32,
    sent: u32,
}

impl RateReduction {
    pub(super) const fn new(window_before: u32) -> Self {
        Self {
            window_before,
            delivered: 0,
            sent: 0,
        }
    }

    pub(super) const fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// The window after an acknowledgement, when `in_flight` segments are in flight and it showed `lost` to be lost.
    pub(super) fn window(&mut self, report: &AckReport, lost: u32, threshold: u32, in_flight: u32) -> u32 {
        self.delivered += report.delivered;
        let mut may_send = if in_flight > threshold {
            let proportional = u64::from(threshold) * u64::from(self.delivered);
            (proportional.div_ceil(u64::from(self.window_before.max(1))) as u32).saturating_sub(self.sent)
        } else {
            let mut bound = self.delivered.saturating_sub(self.sent).max(report.delivered);
            if report.advanced && lost == 0 {
                bound += 1;
            }
            bound.min(threshold - in_flight)
        };
        // The first loss found is resent at once.
        if self.sent == 0 {
            may_send = may_send.max(1);
        }
        in_flight + may_send
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(delivered: u32, advanced: bool) -> AckReport {
        AckReport {
            advanced,
            delivered,
            ..AckReport::default()
        }
    }

    /// Of 20 segments in flight the head is lost, and the threshold is 14: of the 19 that arrive, 7 in 10 cause a segment to be
    /// sent, including the resent one.
    #[test]
    fn seven_segments_leave_for_ten_that_arrive() {
        let mut reduction = RateReduction::new(20);
        let (mut in_flight, mut sent) = (17, 0);
        let mut windows = Vec::new();
        for _ in 0..16 {
            let window = reduction.window(&arrival(1, false), 0, 14, in_flight);
            while in_flight < window {
                in_flight += 1;
                sent += 1;
                reduction.on_sent();
            }
            windows.push(sent);
            in_flight -= 1;
        }
        assert_eq!(windows[..10], [1, 2, 3, 3, 4, 5, 5, 6, 7, 7]);
    }

    /// Half of 20 segments are lost: fewer are in flight than the threshold allows, and each arrival causes one to be sent, and
    /// a second where the stream advances without further loss.
    #[test]
    fn below_the_threshold_what_arrives_is_replaced_and_progress_adds_one() {
        let mut reduction = RateReduction::new(20);
        assert_eq!(reduction.window(&arrival(1, false), 10, 14, 9), 10);
        reduction.on_sent();
        assert_eq!(reduction.window(&arrival(1, true), 1, 14, 9), 10);
        reduction.on_sent();
        assert_eq!(reduction.window(&arrival(1, true), 0, 14, 9), 11);
        assert_eq!(reduction.window(&arrival(1, true), 0, 14, 13), 14);
    }
}
