//! What does an acknowledgement do to a sender?

use super::Sender;
use super::paced::Arrived;
use crate::tcp::congestion::Acknowledged;
use crate::tcp::recovery::Progress;
use crate::tcp::segment::{SackBlocks, Segment};
use lastmile_units::Instant;

impl Sender {
    /// Takes the acknowledgement, window and blocks of a segment. Returns whether it was acceptable.
    pub(in crate::tcp) fn on_segment(&mut self, now: Instant, segment: &Segment) -> bool {
        let offset = self.numbering.to_offset(segment.acknowledgement, self.acknowledged);
        if offset > self.next || offset < self.acknowledged {
            return offset < self.acknowledged;
        }
        self.peer_window.on_offer(offset, segment.window);
        if self.next > offset || offset > self.acknowledged {
            self.on_acknowledgement(now, offset, segment);
        }
        if self.may_send_new() > 0 {
            self.peer_window.stop_probing();
        }
        true
    }

    pub(super) fn on_acknowledgement(&mut self, now: Instant, offset: u64, segment: &Segment) {
        let advanced = offset > self.acknowledged;
        let minimum = self.round_trip.minimum();
        let highest_sacked = self.board.highest_sacked();
        let (in_flight_before, sacked_before) = (self.board.in_flight(), self.board.sacked());
        let acknowledged_before = self.acknowledged;
        let (recovery, board, paced) = (&mut self.recovery, &mut self.board, &mut self.paced);
        let mut delivered = 0;
        let (mut first_sent, mut last_sent) = (None, None);
        board.acknowledge(offset, |sent| {
            if sent.sacked {
                return;
            }
            delivered += 1;
            recovery.on_arrival(sent, now, minimum);
            if let Some(paced) = paced {
                paced.on_delivered(sent);
            }
            if !sent.retransmitted {
                first_sent = first_sent.or(Some(sent.at));
                last_sent = Some(sent.at);
                if sent.end <= highest_sacked {
                    recovery.on_reordering();
                }
            }
        });
        let (blocks, count) = self.blocks(&segment.sack, offset);
        self.board.select(&blocks[..count], |sent| {
            delivered += 1;
            self.recovery.on_arrival(sent, now, minimum);
            if let Some(paced) = &mut self.paced {
                paced.on_delivered(sent);
            }
            if !sent.retransmitted {
                last_sent = Some(sent.at);
                if sent.end <= highest_sacked {
                    self.recovery.on_reordering();
                }
            }
        });
        self.acknowledged = offset;
        self.buffer.release(offset);

        // RFC 6298 section 3 (Karn) and RFC 7323 section 4: what was resent is timed by its timestamp alone.
        let by_timestamp = || {
            let timestamps = segment.timestamps.filter(|_| advanced)?;
            Some(timestamps.age(now))
        };
        let sample = first_sent.map(|at| now.saturating_since(at)).or_else(by_timestamp);
        if let Some(sample) = sample {
            self.round_trip.sample(sample, offset, self.next);
        }
        if advanced {
            self.round_trip.reset_backoff();
        }

        let found = if delivered > 0 {
            self.recovery.find_lost(&mut self.board, &self.round_trip, now)
        } else {
            0
        };
        let progress = Progress {
            acknowledged: offset,
            next: self.next,
            advanced,
            delivered,
        };
        let timed_out = self.recovery.after_timeout();
        self.recovery
            .on_progress(&progress, &self.board, &mut self.congestion, found);
        if self.paced.is_some() {
            let round_trip = last_sent.map(|at| now.saturating_since(at)).or(sample);
            self.observe(
                now,
                &Arrived {
                    acknowledged: offset,
                    acknowledged_before,
                    delivered,
                    lost: found,
                    round_trip,
                    in_flight_before,
                    sacked_before,
                },
            );
        } else if self.recovery.is_open() || (timed_out && self.recovery.after_timeout() && advanced) {
            let round_trip = last_sent.map(|at| now.saturating_since(at));
            let (up_to, next, window_limited) = (offset, self.next, self.window_limited());
            let segments = delivered;
            self.congestion.on_ack(&Acknowledged {
                now,
                segments,
                round_trip,
                up_to,
                next,
                window_limited,
            });
        }
        self.grow_buffer();
        if advanced {
            self.arm_timeout(now);
        }
    }

    /// The blocks of a segment as offsets, without what is already acknowledged or was never sent.
    pub(super) fn blocks(&self, sack: &SackBlocks, acknowledged: u64) -> ([(u64, u64); SackBlocks::CAPACITY], usize) {
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
