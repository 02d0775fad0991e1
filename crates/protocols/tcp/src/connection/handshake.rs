//! The opening of a connection: SYN and SYN-ACK, their repetition, and the options that both ends agree on.

use super::{Connection, State};
use crate::config::Config;
use crate::receive_window::ReceiveWindow;
use crate::receiver::Receiver;
use crate::segment::milliseconds;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::{Peer, Sender};
use crate::timer_wheel;
use lastmile_units::Instant;
use std::time::Duration;

/// A handshake in progress.
#[derive(Debug)]
pub(super) struct Handshake {
    /// The receiving half, once the other end's SYN is known.
    pub(super) receiver: Option<Box<Receiver>>,
    peer: Option<Peer>,
    /// When the SYN was first sent, and how often it was sent.
    first_sent: Option<Instant>,
    sent: u32,
    /// How often its timer expired.
    pub(super) repeated: u32,
    pub(super) resend_at: Instant,
    pub(super) due: bool,
}

/// The largest doubled timeout (Linux's `TCP_RTO_MAX`).
const SYN_TIMEOUT_MAX: Duration = Duration::from_secs(120);

impl Handshake {
    pub(super) const fn new(now: Instant, receiver: Option<Box<Receiver>>, peer: Option<Peer>) -> Self {
        Self {
            receiver,
            peer,
            first_sent: None,
            sent: 0,
            repeated: 0,
            resend_at: now,
            due: true,
        }
    }

    /// Whether the timer expired too often: repetitions before the timeout doubles come on top of the configured ones.
    pub(super) const fn has_exhausted_retries(&self, config: &Config) -> bool {
        self.repeated >= config.syn_retries + self.linear_repetitions(config)
    }

    /// How long to wait for an answer.
    fn timeout(&self, config: &Config) -> Duration {
        let doublings = self.repeated.saturating_sub(self.linear_repetitions(config));
        (config.syn_timeout * (1 << doublings.min(7))).min(SYN_TIMEOUT_MAX)
    }

    /// How often it is repeated before the timeout doubles.
    const fn linear_repetitions(&self, config: &Config) -> u32 {
        if self.receiver.is_none() {
            config.syn_linear_repetitions
        } else {
            0
        }
    }

    /// The round trip, where the SYN was sent only once (RFC 6298 section 3, Karn).
    fn round_trip(&self, now: Instant) -> Option<Duration> {
        let first_sent = self.first_sent.filter(|_| self.sent == 1);
        first_sent.map(|at| now.saturating_since(at))
    }

    /// Whether the SYN or SYN-ACK was lost more than once, so that the window begins with one segment (RFC 5681 section 3.1).
    /// One loss is forgiven, and so is a spurious timeout, where the answer is to the first SYN (Linux's `tcp_init_transfer`
    /// and `tcp_try_undo_spurious_syn`).
    fn begins_with_one_segment(&self, answer: &Segment) -> bool {
        let first = self.first_sent.map(milliseconds);
        let answers_the_first = answer.timestamps.is_some_and(|stamps| Some(stamps.echo) == first);
        self.sent > 2 && self.repeated > 0 && !answers_the_first
    }
}

impl Connection {
    pub(super) fn shift(config: &Config) -> u8 {
        ReceiveWindow::shift_for(config.receive_window_maximum.max(config.receive_window).get())
    }

    /// The parameters for sending that the other end's SYN states.
    pub(super) fn peer(config: &Config, syn: &Segment) -> Peer {
        let headers = Segment::IP_HEADER + Segment::TCP_HEADER;
        let own = config.mtu - headers as u16;
        // RFC 9293 section 3.7.1: 536 where the other end states none.
        let offered = syn.maximum_segment_size.unwrap_or(536);
        let options = if config.timestamps && syn.timestamps.is_some() {
            12
        } else {
            0
        };
        Peer {
            // Whatever the other end states, a segment carries some data.
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
            // RFC 9293 sections 3.10.7.3 and 3.10.7.4: the other end assumes a connection that never existed.
            self.refusal = Self::refuse(segment);
            return;
        }
        if segment.flags.has(Flags::SYN) {
            if handshake.receiver.is_some() {
                // The same SYN again gets the same answer.
                handshake.due = true;
            } else if acknowledges {
                let mut receiver = Receiver::new(&self.config, segment, now, Self::shift(&self.config));
                receiver.acknowledgement.ack_now();
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
        let sample = handshake.round_trip(now).or(by_timestamp);
        let caution = handshake.begins_with_one_segment(segment);
        let mut sender = Sender::new(&self.config, self.numbering, peer, now, sample);
        if caution {
            sender.begin_with_one_segment();
        }
        self.state = State::Open {
            sender: Box::new(sender),
            receiver: Box::new(receiver),
        };
    }

    pub(super) fn next_syn(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Self::segment(self.local, self.remote, self.numbering.to_wire(0));
        let State::Handshake(handshake) = &mut self.state else {
            return None;
        };
        handshake.due = false;
        handshake.first_sent.get_or_insert(now);
        self.counters.retransmissions += u64::from(handshake.sent > 0);
        handshake.sent += 1;
        handshake.resend_at = now + timer_wheel::expected(handshake.timeout(&self.config));
        segment.flags = Flags::SYN;
        segment.maximum_segment_size = Some(self.config.mtu - (Segment::IP_HEADER + Segment::TCP_HEADER) as u16);
        segment.window_scale = Some(Self::shift(&self.config));
        segment.sack_permitted = true;
        match &mut handshake.receiver {
            Some(receiver) => receiver.fill(now, &mut segment, None),
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
