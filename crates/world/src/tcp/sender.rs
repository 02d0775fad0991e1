//! What may be sent now, and what is done with an acknowledgement? The sending half of a connection.

use super::config::{Config, Nagle};
use super::congestion::{Acknowledged, Congestion};
use super::peer_window::PeerWindow;
use super::recovery::{Progress, Recovery};
use super::round_trip::RoundTrip;
use super::scoreboard::Scoreboard;
use super::segment::{SackBlocks, Segment};
use super::send_buffer::SendBuffer;
use super::sequence::Numbering;
use bytes::Bytes;
use lastmile_units::Instant;
use std::time::Duration;

/// The sending half, from the moment the handshake is done. Offsets are the stream's: data begins at 1.
#[derive(Debug)]
pub(super) struct Sender {
    numbering: Numbering,
    buffer: SendBuffer,
    board: Scoreboard,
    round_trip: RoundTrip,
    congestion: Congestion,
    recovery: Recovery,
    /// Everything before this offset has arrived (SND.UNA).
    acknowledged: u64,
    /// The next offset to be sent for the first time (SND.NXT).
    next: u64,
    peer_window: PeerWindow,
    segment_size: u64,
    nagle: Nagle,
    /// One past the last segment sent that was not full (SND.SML of Minshall's).
    small_ends: u64,
    finishing: bool,
    retries: u32,
    timeout_at: Option<Instant>,
    last_sent: Option<Instant>,
    usage: WindowUsage,
    buffer_limit: u64,
    buffer_maximum: u64,
    counters: Counters,
}

/// What one end of a connection has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, of every kind.
    pub segments_sent: u64,
    /// Of those, segments that carried data or a SYN or FIN again.
    pub retransmissions: u64,
    /// How often the retransmission timeout ran out.
    pub timeouts: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.segments_sent += other.segments_sent;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
    }
}

/// Whether the window is in use (RFC 7661's concern, answered as Linux's `tcp_cwnd_validate` does).
#[derive(Debug, Default)]
struct WindowUsage {
    most_outstanding: u32,
    limited: bool,
    until: u64,
}

/// A piece of the stream to be sent.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) offset: u64,
    pub(super) payload: Bytes,
    pub(super) push: bool,
    pub(super) fin: bool,
}

impl Piece {
    /// A piece without data: a bare acknowledgement, or a probe.
    pub(super) const fn nothing(offset: u64) -> Self {
        Self {
            offset,
            payload: Bytes::new(),
            push: false,
            fin: false,
        }
    }
}

/// What the other end said in its SYN, as far as it governs sending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) segment_size: u64,
    pub(super) window: u64,
    pub(super) window_shift: u8,
}

impl Sender {
    pub(super) fn new(config: &Config, numbering: Numbering, peer: Peer, handshake: Option<Duration>) -> Self {
        let mut round_trip = RoundTrip::new(config.minimum_timeout_variance);
        if let Some(sample) = handshake {
            round_trip.sample(sample, 1, 1);
        }
        Self {
            numbering,
            buffer: SendBuffer::new(1),
            board: Scoreboard::default(),
            round_trip,
            congestion: Congestion::new(config),
            recovery: Recovery::new(),
            acknowledged: 1,
            next: 1,
            peer_window: PeerWindow::new(peer.window, peer.window_shift),
            segment_size: peer.segment_size,
            nagle: config.nagle,
            small_ends: 0,
            finishing: false,
            retries: config.retries,
            timeout_at: None,
            last_sent: None,
            usage: WindowUsage::default(),
            buffer_limit: config.send_buffer.get(),
            buffer_maximum: config.send_buffer_maximum.get(),
            counters: Counters::default(),
        }
    }

    /// How many bytes may be written now.
    pub(super) fn room(&self) -> u64 {
        self.buffer_limit.saturating_sub(self.buffer.len())
    }

    /// The buffer grows to twice the congestion window, within its bounds; it never shrinks (Linux's `tcp_sndbuf_expand`), so
    /// that a sender whose window was cut can still send beyond a hole.
    fn grow_buffer(&mut self) {
        let wanted = 2 * u64::from(self.congestion.window()) * self.segment_size;
        self.buffer_limit = self.buffer_limit.max(wanted.min(self.buffer_maximum));
    }

    /// Whether so much room is free that a program which waits for it should be woken: a third of the buffer (Linux's
    /// `sk_stream_is_writeable`).
    pub(super) fn has_room(&self) -> bool {
        let room = self.room();
        room > 0 && 2 * room >= self.buffer.len()
    }

    pub(super) fn write(&mut self, bytes: Bytes) {
        self.buffer.push(bytes);
    }

    /// No more will be written: a FIN follows the last byte.
    pub(super) const fn finish(&mut self) {
        self.finishing = true;
    }

    pub(super) const fn is_finishing(&self) -> bool {
        self.finishing
    }

    /// Whether everything written, and the FIN, has been acknowledged.
    pub(super) const fn is_finished(&self) -> bool {
        self.finishing && self.acknowledged == self.end()
    }

    /// One past the last offset to be sent, the FIN included.
    const fn end(&self) -> u64 {
        self.buffer.end() + self.finishing as u64
    }

    pub(super) const fn next_offset(&self) -> u64 {
        self.next
    }

    pub(super) const fn counters(&self) -> Counters {
        self.counters
    }

    pub(super) const fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        [
            self.timeout_at,
            self.peer_window.next_deadline(),
            self.recovery.reordering_ends(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Takes the acknowledgement, window and blocks of a segment. Returns whether it was acceptable.
    pub(super) fn on_segment(&mut self, now: Instant, segment: &Segment) -> bool {
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

    fn on_acknowledgement(&mut self, now: Instant, offset: u64, segment: &Segment) {
        let advanced = offset > self.acknowledged;
        let minimum = self.round_trip.minimum();
        let highest_sacked = self.board.highest_sacked();
        let (recovery, board) = (&mut self.recovery, &mut self.board);
        let mut delivered = 0;
        let (mut first_sent, mut last_sent) = (None, None);
        board.acknowledge(offset, |sent| {
            if sent.sacked {
                return;
            }
            delivered += 1;
            recovery.on_arrival(sent, now, minimum);
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
        if self.recovery.is_open() || (timed_out && self.recovery.after_timeout() && advanced) {
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

    fn window_limited(&self) -> bool {
        // In slow start a window in half use may still double; past it, it must have been full.
        if self.congestion.in_slow_start() {
            return self.congestion.window() < 2 * self.usage.most_outstanding;
        }
        self.usage.limited
    }

    fn arm_timeout(&mut self, now: Instant) {
        self.timeout_at = (!self.board.is_empty()).then(|| now + self.round_trip.timeout());
    }

    /// Does what has become due. False where the other end must be given up.
    pub(super) fn on_timer(&mut self, now: Instant) -> bool {
        if self.recovery.reordering_ends().is_some_and(|at| at <= now) {
            let found = self.recovery.find_lost(&mut self.board, &self.round_trip, now);
            let (acknowledged, next) = (self.acknowledged, self.next);
            let progress = Progress {
                acknowledged,
                next,
                advanced: false,
                delivered: 0,
            };
            self.recovery
                .on_progress(&progress, &self.board, &mut self.congestion, found);
        }
        if !self.peer_window.on_timer(now, &self.round_trip, self.retries) {
            return false;
        }
        if self.timeout_at.is_some_and(|at| at <= now) {
            if self.round_trip.backoff() >= self.retries {
                return false;
            }
            self.counters.timeouts += 1;
            self.recovery
                .on_timeout(&mut self.board, &self.round_trip, &mut self.congestion, now, self.next);
            self.round_trip.back_off();
            self.arm_timeout(now);
        }
        true
    }

    /// How many bytes (the FIN counts for one) may be sent for the first time now.
    fn may_send_new(&self) -> u64 {
        if self.next == self.end() {
            return 0;
        }
        let room = self.peer_window.room(self.next);
        let data = (self.buffer.end() - self.next).min(self.segment_size);
        // The FIN rides on the last of the data, and pays no heed to Nagle.
        let last = self.finishing && self.next + data == self.buffer.end();
        let length = data + u64::from(last);
        if room >= length {
            return if data == self.segment_size || last || self.small_may_leave() {
                length
            } else {
                0
            };
        }
        let used = self.peer_window.is_worth_using(room, !self.board.is_empty());
        if used { room } else { 0 }
    }

    const fn small_may_leave(&self) -> bool {
        match self.nagle {
            Nagle::Off => true,
            Nagle::Minshall => self.small_ends <= self.acknowledged,
            Nagle::Classic => self.next == self.acknowledged,
        }
    }

    /// The next piece to be sent, if anything may be sent. To be called until it returns nothing.
    pub(super) fn next_piece(&mut self, now: Instant) -> Option<Piece> {
        if self.peer_window.take_probe() {
            // A segment without data, just before the window: it asks for an acknowledgement, as Linux does.
            return Some(Piece::nothing(self.acknowledged - 1));
        }
        let new = self.may_send_new();
        if new > 0 && self.board.is_empty() {
            self.restart_after_idle(now);
        }
        if self.board.in_flight() >= self.congestion.window() {
            self.note_usage(new > 0 || self.board.lost() > 0);
            return None;
        }
        if let Some(piece) = self.next_resend(now) {
            return Some(piece);
        }
        if new == 0 {
            self.note_usage(false);
            if self.next < self.end() && self.board.is_empty() && self.peer_window.room(self.next) == 0 {
                self.peer_window.begin_probing(now, &self.round_trip);
            }
            return None;
        }
        let (start, end) = (self.next, self.next + new);
        let data_end = end.min(self.buffer.end());
        let fin = end > self.buffer.end();
        if data_end - start < self.segment_size && data_end > start {
            self.small_ends = data_end;
        }
        self.next = end;
        self.board.push(start, end, now);
        if self.timeout_at.is_none() {
            self.arm_timeout(now);
        }
        self.note_sent(now);
        let push = data_end == self.buffer.end();
        Some(Piece {
            offset: start,
            payload: self.buffer.slice(start, data_end),
            push,
            fin,
        })
    }

    fn next_resend(&mut self, now: Instant) -> Option<Piece> {
        let (start, end) = self.board.next_to_resend().map(|sent| (sent.start, sent.end))?;
        let is_head = self.board.head().is_some_and(|head| head.start == start);
        self.board.resend(start, now);
        if is_head {
            self.arm_timeout(now);
        }
        self.counters.retransmissions += 1;
        self.note_sent(now);
        let data_end = end.min(self.buffer.end());
        let (fin, push) = (end > self.buffer.end(), data_end == self.buffer.end());
        Some(Piece {
            offset: start,
            payload: self.buffer.slice(start, data_end),
            push,
            fin,
        })
    }

    fn note_sent(&mut self, now: Instant) {
        self.recovery.on_sent();
        self.last_sent = Some(now);
    }

    fn note_usage(&mut self, limited: bool) {
        let outstanding = self.board.outstanding();
        if self.acknowledged >= self.usage.until || outstanding > self.usage.most_outstanding {
            self.usage = WindowUsage {
                most_outstanding: outstanding,
                limited,
                until: self.next,
            };
        } else {
            self.usage.limited |= limited;
        }
    }

    fn restart_after_idle(&mut self, now: Instant) {
        if let Some(last_sent) = self.last_sent.replace(now) {
            self.congestion
                .on_idle(now.saturating_since(last_sent), self.round_trip.timeout());
        }
    }
}
