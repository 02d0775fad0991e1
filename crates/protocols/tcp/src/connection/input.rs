//! Handles the segments that arrive at a connection.

use super::{CloseOrder, Connection, Handshake, State};
use crate::segment::{Flags, Segment};
use lastmile_units::Instant;
use std::io;

impl Connection {
    /// Handles a segment that is addressed to this end.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return self.on_reset(segment);
        }
        match &mut self.state {
            State::Handshake(_) => self.on_handshake(now, segment),
            State::Open { sender, receiver } => {
                // A repeated SYN-ACK: the acknowledgement of the first was lost. Or a SYN of another connection, whose sender
                // is told that there already is one (RFC 5961 section 4.2).
                let acceptable =
                    !segment.flags.has(Flags::SYN) && segment.flags.has(Flags::ACK) && sender.on_segment(now, segment);
                if !acceptable {
                    receiver.acknowledgement.ack_now();
                    return;
                }
                receiver.on_segment(now, segment, Some(&sender.round_trip));
                if self.released && receiver.readable() > 0 {
                    return self.abort();
                }
                self.close_when_both_are_done(now);
            }
            State::TimeWait { receiver, ends, .. } => {
                // The other end's FIN again: its acknowledgement was lost.
                receiver.on_segment(now, segment, None);
                *ends = now + self.config.time_wait;
            }
            State::Closed { .. } => {}
        }
    }

    /// A reset is accepted where it acknowledges the SYN, or has exactly the expected number. One elsewhere in the window is
    /// challenged (RFC 5961 section 3.2).
    fn on_reset(&mut self, segment: &Segment) {
        let error = match &mut self.state {
            State::Handshake(Handshake { receiver: None, .. }) => {
                if !segment.flags.has(Flags::ACK) || segment.acknowledgement != self.numbering.to_wire(1) {
                    return;
                }
                Some(io::ErrorKind::ConnectionRefused)
            }
            State::Handshake(Handshake {
                receiver: Some(receiver),
                ..
            })
            | State::Open { receiver, .. } => {
                if !receiver.expects(segment.sequence) {
                    if receiver.has_room_for(segment.sequence) {
                        receiver.acknowledgement.ack_now();
                    }
                    return;
                }
                Some(io::ErrorKind::ConnectionReset)
            }
            State::TimeWait { receiver, .. } if receiver.expects(segment.sequence) => None,
            State::TimeWait { .. } | State::Closed { .. } => return,
        };
        self.end(error);
    }

    /// Whether this end is in TIME-WAIT, and `syn` begins a connection that may replace it: its timestamp or its number is
    /// later than any of the old connection (RFC 6191, and Linux's `tcp_timewait_state_process`).
    pub fn may_be_replaced_by(&self, syn: &Segment) -> bool {
        let opens = syn.flags.has(Flags::SYN) && !syn.flags.has(Flags::ACK) && !syn.flags.has(Flags::RST);
        matches!(&self.state, State::TimeWait { receiver, .. } if opens && receiver.is_older_than(syn))
    }

    /// Both streams have ended: the end that closed first enters TIME-WAIT, so that it can acknowledge the other's FIN again.
    fn close_when_both_are_done(&mut self, now: Instant) {
        let State::Open { sender, receiver } = &self.state else {
            return;
        };
        if !sender.is_finished() || !receiver.is_finished() {
            return;
        }
        let next = sender.next;
        self.end(None);
        if self.fin == Some(CloseOrder::Others) {
            return;
        }
        if let State::Closed { unread: Some(receiver) } =
            std::mem::replace(&mut self.state, State::Closed { unread: None })
        {
            self.state = State::TimeWait {
                receiver,
                next,
                ends: now + self.config.time_wait,
            };
        }
    }
}
