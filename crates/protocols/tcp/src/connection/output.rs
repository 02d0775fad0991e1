//! Makes the segments that leave a connection.

use super::{CloseOrder, Connection, State};
use crate::segment::{Flags, SackBlocks, Segment};
use bytes::Bytes;
use lastmile_units::Instant;
use std::io;
use std::net::SocketAddrV4;

impl Connection {
    /// The next segment that should leave now. Call it until it returns nothing.
    pub fn next_transmit(&mut self, now: Instant) -> Option<Segment> {
        if self.reset_due {
            self.reset_due = false;
            let (offset, receiver) = match &mut self.state {
                State::Open { sender, receiver } => (sender.next, Some(receiver)),
                State::Handshake(handshake) => (1, handshake.receiver.as_mut()),
                State::TimeWait { .. } | State::Closed { .. } => return None,
            };
            let mut segment = Self::segment(self.local, self.remote, self.numbering.to_wire(offset));
            if let Some(receiver) = receiver {
                receiver.fill(now, &mut segment, None);
            }
            segment.flags = Flags::RST.and(Flags::ACK);
            self.end(Some(io::ErrorKind::ConnectionAborted));
            self.counters.segments_sent += 1;
            return Some(segment);
        }
        if let Some(refusal) = self.refusal.take() {
            self.counters.segments_sent += 1;
            return Some(refusal);
        }
        match &mut self.state {
            State::Handshake(handshake) => {
                if !handshake.due {
                    return None;
                }
                self.next_syn(now)
            }
            State::Open { sender, receiver } => {
                if self.released && sender.is_finished() && !receiver.is_finished() {
                    // Linux's `tcp_fin_timeout`, which is as long as TIME-WAIT.
                    self.fin_awaited_until.get_or_insert(now + self.config.time_wait);
                }
                let piece = match sender.next_piece(now) {
                    Some(piece) => piece,
                    None if receiver.acknowledgement.is_due(now) => sender.bare_piece(now),
                    None => return None,
                };
                sender.counters.segments_sent += 1;
                let mut segment = Self::segment(self.local, self.remote, self.numbering.to_wire(piece.offset));
                segment.payload = piece.payload;
                if piece.push && !segment.payload.is_empty() {
                    segment.flags = segment.flags.and(Flags::PSH);
                }
                if piece.fin {
                    segment.flags = segment.flags.and(Flags::FIN);
                    let first = if receiver.is_finished() {
                        CloseOrder::Others
                    } else {
                        CloseOrder::Own
                    };
                    self.fin.get_or_insert(first);
                }
                receiver.fill(now, &mut segment, Some(&sender.round_trip));
                Some(segment)
            }
            State::TimeWait { receiver, next, .. } => {
                if !receiver.acknowledgement.is_due(now) {
                    return None;
                }
                let mut segment = Self::segment(self.local, self.remote, self.numbering.to_wire(*next));
                receiver.fill(now, &mut segment, None);
                self.counters.segments_sent += 1;
                Some(segment)
            }
            State::Closed { .. } => None,
        }
    }

    /// A segment without contents.
    pub(super) const fn segment(source: SocketAddrV4, destination: SocketAddrV4, sequence: u32) -> Segment {
        Segment {
            source,
            destination,
            sequence,
            acknowledgement: 0,
            flags: Flags::NONE,
            window: 0,
            maximum_segment_size: None,
            window_scale: None,
            sack_permitted: false,
            timestamps: None,
            sack: SackBlocks::NONE,
            payload: Bytes::new(),
        }
    }

    /// The RST that answers a segment of no known connection (RFC 9293 section 3.10.7.1); none for a RST.
    pub fn refuse(segment: &Segment) -> Option<Segment> {
        if segment.flags.has(Flags::RST) {
            return None;
        }
        let mut reset = Self::segment(segment.destination, segment.source, 0);
        if segment.flags.has(Flags::ACK) {
            (reset.sequence, reset.flags) = (segment.acknowledgement, Flags::RST);
        } else {
            reset.acknowledgement = segment.sequence.wrapping_add(segment.sequence_length() as u32);
            reset.flags = Flags::RST.and(Flags::ACK);
        }
        Some(reset)
    }
}
