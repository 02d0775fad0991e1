//! How does a connection open? SYN and SYN-ACK, their repetition, and what the two ends agree on.

use super::{Connection, State};
use crate::tcp::config::Config;
use crate::tcp::receive_window::ReceiveWindow;
use crate::tcp::receiver::Receiver;
use crate::tcp::segment::milliseconds;
use crate::tcp::segment::{Flags, Segment, Timestamps};
use crate::tcp::sender::{Peer, Sender};
use lastmile_units::Instant;
use std::time::Duration;

/// A handshake under way.
#[derive(Debug)]
pub(super) struct Handshake {
    /// The receiving half, where the other end's SYN is known.
    pub(super) receiver: Option<Box<Receiver>>,
    peer: Option<Peer>,
    /// When the SYN was sent, if it was sent but once (Karn).
    sent_once_at: Option<Instant>,
    sent: u32,
    /// How often its timer ran out.
    pub(super) repeated: u32,
    pub(super) resend_at: Instant,
    pub(super) due: bool,
}

/// RFC 6298 section 2.1; doubled for each repetition.
const SYN_TIMEOUT: Duration = Duration::from_secs(1);

impl Handshake {
    pub(super) const fn new(now: Instant, receiver: Option<Box<Receiver>>, peer: Option<Peer>) -> Self {
        Self {
            receiver,
            peer,
            sent_once_at: None,
            sent: 0,
            repeated: 0,
            resend_at: now,
            due: true,
        }
    }
}

impl Connection {
    pub(super) fn shift(config: &Config) -> u8 {
        ReceiveWindow::shift_for(config.receive_window_maximum.max(config.receive_window).get())
    }

    /// What the other end's SYN says of sending to it.
    pub(super) fn peer(config: &Config, syn: &Segment) -> Peer {
        let headers = Segment::IP_HEADER + Segment::TCP_HEADER;
        let own = config.mtu - headers as u16;
        // RFC 9293 section 3.7.1: 536 where the other end does not say.
        let offered = syn.maximum_segment_size.unwrap_or(536);
        let options = if config.timestamps && syn.timestamps.is_some() {
            12
        } else {
            0
        };
        Peer {
            // Whatever the other end says, a segment carries something.
            segment_size: u64::from(own.min(offered).saturating_sub(options).max(8)),
            window: u64::from(syn.window),
            window_shift: syn.window_scale.unwrap_or(0),
        }
    }

    pub(super) fn on_handshake(&mut self, now: Instant, segment: &Segment) {
        let State::Handshake(handshake) = &mut self.state else {
            return;
        };
        let acknowledges = segment.flags.has(Flags::ACK) && segment.acknowledgement == self.numbering.to_wire(1);
        if segment.flags.has(Flags::ACK) && !acknowledges {
            // RFC 9293 sections 3.10.7.3 and 3.10.7.4: the other end believes in a connection that never was.
            self.refusal = Self::refuse(segment);
            return;
        }
        if segment.flags.has(Flags::SYN) {
            if handshake.receiver.is_some() {
                // The same SYN again: so is the answer.
                handshake.due = true;
            } else if acknowledges {
                let mut receiver = Receiver::new(&self.config, segment, now, Self::shift(&self.config));
                receiver.acknowledgement_mut().demand();
                let peer = Self::peer(&self.config, segment);
                self.open(now, segment, receiver, peer);
            }
        } else if acknowledges && let (Some(receiver), Some(mut peer)) = (handshake.receiver.take(), handshake.peer) {
            peer.window = u64::from(segment.window) << peer.window_shift;
            self.open(now, segment, *receiver, peer);
            self.on_segment(now, segment);
        }
    }

    fn open(&mut self, now: Instant, segment: &Segment, receiver: Receiver, peer: Peer) {
        let State::Handshake(handshake) = &self.state else {
            return;
        };
        let by_timestamp = segment
            .timestamps
            .filter(|_| self.config.timestamps)
            .map(|stamps| stamps.age(now));
        let sample = handshake
            .sent_once_at
            .map(|at| now.saturating_since(at))
            .or(by_timestamp);
        let sender = Sender::new(&self.config, self.numbering, peer, now, sample);
        self.state = State::Open {
            sender: Box::new(sender),
            receiver: Box::new(receiver),
        };
    }

    pub(super) fn next_syn(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = self.bare(0);
        let State::Handshake(handshake) = &mut self.state else {
            return None;
        };
        handshake.due = false;
        handshake.sent_once_at = (handshake.sent == 0).then_some(now);
        self.counters.retransmissions += u64::from(handshake.sent > 0);
        handshake.sent += 1;
        handshake.resend_at = now + SYN_TIMEOUT * (1 << handshake.repeated.min(6));
        segment.flags = Flags::SYN;
        segment.maximum_segment_size = Some(self.config.mtu - (Segment::IP_HEADER + Segment::TCP_HEADER) as u16);
        segment.window_scale = Some(Self::shift(&self.config));
        segment.sack_permitted = true;
        match &mut handshake.receiver {
            Some(receiver) => receiver.fill(now, &mut segment),
            None if self.config.timestamps => {
                segment.timestamps = Some(Timestamps {
                    value: milliseconds(now),
                    echo: 0,
                });
            }
            None => {}
        }
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        segment.window = self.config.receive_window.get().min(0xffff) as u16;
        self.counters.segments_sent += 1;
        Some(segment)
    }
}
