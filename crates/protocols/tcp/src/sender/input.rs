//! Handles the acknowledgements that arrive at a sender.

use super::Sender;
use super::rate_based::AckEffect;
use crate::congestion::RoundTripSample;
use crate::recovery::{AckReport, Recovery};
use crate::retransmission_timer::TimerPurpose;
use crate::scoreboard::Sent;
use crate::segment::{SackBlocks, Segment, milliseconds};
use lastmile_units::Instant;
use std::time::Duration;

/// When the acknowledged segments that were sent only once were sent: the first and the last.
#[derive(Debug, Default)]
struct SentTimes {
    first: Option<Instant>,
    last: Option<Instant>,
}

impl SentTimes {
    fn note(&mut self, at: Instant) {
        self.first = self.first.or(Some(at));
        self.last = Some(at);
    }

    fn since(at: Option<Instant>, now: Instant) -> Option<Duration> {
        at.map(|at| now.saturating_since(at))
    }
}

impl Sender {
    /// Handles the acknowledgement, window and blocks of a segment. Returns whether it was acceptable.
    pub(crate) fn on_segment(&mut self, now: Instant, segment: &Segment) -> bool {
        let offset = self.numbering.to_offset(segment.acknowledgement, self.acknowledged);
        if offset > self.next {
            return false;
        }
        if offset < self.acknowledged {
            // It was overtaken. Its window is old, but its blocks may still be news.
            if !segment.sack.is_empty() {
                self.on_acknowledgement(now, offset, segment, false);
            }
            return true;
        }
        let window_moved = self.peer_window.on_offer(offset, segment.window);
        if !self.board.is_empty() || !segment.sack.is_empty() {
            self.on_acknowledgement(now, offset, segment, window_moved);
        }
        if self.may_send_new() > 0 {
            self.peer_window.stop_probing();
        }
        true
    }

    fn on_acknowledgement(&mut self, now: Instant, offset: u64, segment: &Segment, window_moved: bool) {
        let acknowledged_before = self.acknowledged;
        let advanced = offset > acknowledged_before;
        let duplicate = self.take_duplicate(&segment.sack, offset);
        let offset = offset.max(acknowledged_before);
        let echo = segment.timestamps.map(|timestamps| timestamps.echo);
        let (least, until) = (self.round_trip.minimum(), self.recovery.until);
        let highest_sacked = self.board.highest_sacked();
        let mut report = AckReport {
            now,
            acknowledged: offset,
            next: self.next,
            advanced,
            is_duplicate: !advanced && !window_moved && segment.payload.is_empty(),
            delivered: duplicate.segments,
            duplicated: duplicate.segments > 0,
            probe_duplicated: duplicate.is_probe,
            echo,
            more_to_send: self.next < self.end() && self.peer_window.room(self.next) > 0,
            ..AckReport::default()
        };
        let (mut in_order, mut out_of_order, mut any_resent) = (SentTimes::default(), SentTimes::default(), false);
        let mut late_from = None;
        let (blocks, count) = self.blocks(&segment.sack, offset);
        let (in_flight_before, sacked_before) = (self.board.in_flight(), self.board.sacked());
        let (rack, paced) = (&mut self.recovery.rack, &mut self.paced);
        self.board.acknowledge(offset, |sent| {
            any_resent |= sent.retransmitted;
            if !sent.retransmitted && !sent.sacked {
                in_order.note(sent.at);
                report.original |= sent.end <= until;
                if sent.end <= highest_sacked {
                    late_from = late_from.or(Some(sent.start));
                }
            }
            if !sent.sacked {
                report.delivered += 1;
                if let Some(paced) = paced {
                    paced.delivery.on_delivered(sent);
                }
                if !was_sent_before_resending(sent, echo) {
                    rack.on_arrival(sent, now, least);
                }
            }
        });
        self.board.select(&blocks[..count], |sent| {
            report.delivered += 1;
            report.selected = true;
            if let Some(paced) = paced {
                paced.delivery.on_delivered(sent);
            }
            rack.on_arrival(sent, now, least);
            if !sent.retransmitted {
                out_of_order.note(sent.at);
                report.original |= sent.end <= until;
                if sent.end <= highest_sacked {
                    late_from = Some(late_from.map_or(sent.start, |from: u64| from.min(sent.start)));
                }
            }
        });
        if let Some(from) = late_from {
            rack.on_reordering(self.board.distance_to_highest_sacked(from));
        }
        self.acknowledged = offset;
        self.buffer.release(offset);
        if advanced {
            self.timer.expiries = 0;
        }

        let round_trip = self.take_round_trip(&report, segment, &in_order, &out_of_order, any_resent);
        if let Some(took) = round_trip {
            self.congestion.on_round_trip(&RoundTripSample {
                now,
                took,
                up_to: offset,
                next: self.next,
            });
        }
        let found = self
            .recovery
            .on_report(&report, &mut self.board, &self.round_trip, &mut self.congestion);
        self.set_timer_after(&report, found.late_until, out_of_order.first);
        if self.paced.is_some() {
            let arrived = AckEffect {
                acknowledged: offset,
                acknowledged_before,
                delivered: report.delivered - duplicate.segments,
                lost: found.lost,
                round_trip,
                in_flight_before,
                sacked_before,
            };
            self.observe(now, &arrived);
        } else if self.recovery.may_grow(&report) && self.window_limited() {
            self.congestion.on_ack(now, report.delivered);
        }
        self.grow_buffer();
    }

    /// Measures the round trip, as Linux's `tcp_ack_update_rtt` does: by data that arrived in order unless some of it was
    /// resent (RFC 6298 section 3, Karn), else by data that arrived out of order, else by the timestamp (RFC 7323 section 4).
    /// Returns the round trip of the latest arrival.
    fn take_round_trip(
        &mut self,
        report: &AckReport,
        segment: &Segment,
        in_order: &SentTimes,
        out_of_order: &SentTimes,
        any_resent: bool,
    ) -> Option<Duration> {
        let now = report.now;
        let by = |times: &SentTimes| (SentTimes::since(times.first, now), SentTimes::since(times.last, now));
        let (mut sample, mut newest) = if any_resent { (None, None) } else { by(in_order) };
        let (first_selected, last_selected) = by(out_of_order);
        sample = sample.or(first_selected);
        newest = last_selected.or(newest);
        if sample.is_none()
            && report.advanced
            && let Some(timestamps) = segment.timestamps
        {
            sample = Some(timestamps.age(now));
            newest = sample;
        }
        if let Some(sample) = sample {
            self.round_trip.sample(sample, newest, report.acknowledged, self.next);
        }
        newest
    }

    /// The timer restarts when data was acknowledged in order, or out of order if sent before the head was last sent: otherwise
    /// it might be delayed forever (Linux's `FLAG_SET_XMIT_TIMER`).
    fn set_timer_after(&mut self, report: &AckReport, late_until: Option<Instant>, first_selected: Option<Instant>) {
        let now = report.now;
        if let Some(late_until) = late_until {
            let delay = Recovery::reordering_timeout(now, late_until).min(self.round_trip.timeout());
            self.timer.set(TimerPurpose::Reordering, now, delay);
            return;
        }
        let older_than_head = first_selected.is_some_and(|first| self.board.head().is_some_and(|head| first < head.at));
        if report.advanced || older_than_head {
            self.set_timer(now);
        }
    }

    /// The blocks of a segment as offsets, without what is already acknowledged or was never sent.
    fn blocks(&self, sack: &SackBlocks, acknowledged: u64) -> ([(u64, u64); SackBlocks::CAPACITY], usize) {
        let mut blocks = [(0, 0); SackBlocks::CAPACITY];
        let mut count = 0;
        for &(start, end) in sack.as_slice() {
            let start = self.numbering.to_offset(start, acknowledged);
            let end = self.numbering.to_offset(end, acknowledged);
            if acknowledged <= start && start < end && end <= self.next {
                blocks[count] = (start, end);
                count += 1;
            }
        }
        (blocks, count)
    }
}

/// Whether the original of a resent segment arrives: the echoed timestamp is older than the copy.
fn was_sent_before_resending(sent: &Sent, echo: Option<u32>) -> bool {
    sent.retransmitted && echo.is_some_and(|echo| (echo.wrapping_sub(milliseconds(sent.at)) as i32) < 0)
}
