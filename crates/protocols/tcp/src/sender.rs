//! The sending half of a connection: its state, and what the program sees of it.
//!
//! `input` handles acknowledgements, `output` what is sent, and `timer` what happens without an arrival. `rate_based` adds what
//! a control that models the path needs.

mod dsack;
mod input;
mod output;
mod rate_based;
mod timer;

use super::config::{Config, Nagle};
use super::congestion::{Congestion, ConnectionStart};
use super::cwnd_validation::WindowUsage;
use super::recovery::Recovery;
use super::retransmission_timer::RetransmissionTimer;
use super::round_trip::RoundTrip;
use super::scoreboard::Scoreboard;
use super::send_buffer::SendBuffer;
use super::send_window::PeerWindow;
use super::sequence_space::SequenceSpace;
use bytes::Bytes;
use lastmile_units::{ByteCount, Instant};
use rate_based::RateBasedState;
use std::time::Duration;

/// The sending half, from the moment the handshake is done. Offsets are the stream's: data begins at 1.
#[derive(Debug)]
pub(super) struct Sender {
    numbering: SequenceSpace,
    buffer: SendBuffer,
    board: Scoreboard,
    pub(super) round_trip: RoundTrip,
    congestion: Congestion,
    recovery: Recovery,
    /// Present where the congestion control sets a pacing rate.
    paced: Option<Box<RateBasedState>>,
    /// Everything before this offset has arrived (SND.UNA).
    acknowledged: u64,
    /// The next offset to be sent for the first time (SND.NXT).
    pub(super) next: u64,
    peer_window: PeerWindow,
    segment_size: u64,
    nagle: Nagle,
    /// One past the last segment sent that was not full (SND.SML of Minshall's).
    small_ends: u64,
    finishing: bool,
    retries: u32,
    timer: RetransmissionTimer,
    probe_due: bool,
    /// Segments that the receiver reported to have arrived twice.
    duplicates: u64,
    last_sent: Option<Instant>,
    usage: WindowUsage,
    /// Segments sent for the first time since the sender last could send no more.
    burst: u32,
    buffer_limit: u64,
    buffer_maximum: u64,
    pub(super) counters: Counters,
}

/// What one end of a connection has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments sent, of every kind.
    pub segments_sent: u64,
    /// Of those, segments that carried data or a SYN or FIN again.
    pub retransmissions: u64,
    /// How often the retransmission timeout expired.
    pub timeouts: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.segments_sent += other.segments_sent;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
    }
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
    /// A piece without data: a pure acknowledgement, or a probe.
    pub(super) const fn without_data(offset: u64) -> Self {
        Self {
            offset,
            payload: Bytes::new(),
            push: false,
            fin: false,
        }
    }
}

/// What the other end's SYN stated, as far as it governs sending.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) segment_size: u64,
    pub(super) window: u64,
    pub(super) window_shift: u8,
}

/// The memory of a segment in the buffer, in multiples of its size: 4,352 B for 1,448 B.
const SEGMENT_IN_BUFFER: u64 = 3;

impl Sender {
    /// For a connection whose handshake ended at `now` and took `handshake`.
    pub(super) fn new(
        config: &Config,
        numbering: SequenceSpace,
        peer: Peer,
        now: Instant,
        handshake: Option<Duration>,
    ) -> Self {
        let mut round_trip = RoundTrip::new(config.minimum_timeout_variance);
        if let Some(sample) = handshake {
            round_trip.sample(sample, Some(sample), 1, 1);
        }
        let beginning = ConnectionStart {
            now,
            segment_size: ByteCount::new(peer.segment_size),
            handshake,
            seed: config.seed.derive_index(u64::from(numbering.to_wire(0))),
        };
        let congestion = Congestion::new(config, &beginning);
        let paced = congestion
            .pacing_rate()
            .map(|_| Box::new(RateBasedState::new(&beginning)));
        Self {
            numbering,
            buffer: SendBuffer::new(1),
            board: Scoreboard::default(),
            round_trip,
            congestion,
            recovery: Recovery::new(),
            paced,
            acknowledged: 1,
            next: 1,
            peer_window: PeerWindow::new(peer.window, peer.window_shift),
            segment_size: peer.segment_size,
            nagle: config.nagle,
            small_ends: 0,
            finishing: false,
            retries: config.retries,
            timer: RetransmissionTimer::default(),
            probe_due: false,
            duplicates: 0,
            last_sent: None,
            usage: WindowUsage::new(now),
            burst: 0,
            buffer_limit: config.send_buffer.get(),
            buffer_maximum: config.send_buffer_maximum.get(),
            counters: Counters::default(),
        }
    }

    /// How many bytes may be written now.
    pub(super) fn room(&self) -> u64 {
        self.buffer_limit.saturating_sub(self.buffer.len())
    }

    /// The buffer grows to twice the congestion window, or to three times where its algorithm may grow it during recovery,
    /// within its bounds; it never shrinks (Linux's `tcp_sndbuf_expand`), so that a sender whose window was cut can still send
    /// data after a hole. A segment counts as three times its size, since the kernel also needs memory around it, and rounds
    /// up.
    fn grow_buffer(&mut self) {
        let windows = if self.paced.is_some() { 3 } else { 2 };
        let wanted = windows * u64::from(self.congestion.window()) * SEGMENT_IN_BUFFER * self.segment_size;
        self.buffer_limit = self.buffer_limit.max(wanted.min(self.buffer_maximum));
    }

    /// Whether enough room is free to wake a waiting program: a third of the buffer (Linux's `sk_stream_is_writeable`).
    pub(super) fn has_room(&self) -> bool {
        let room = self.room();
        room > 0 && 2 * room >= self.buffer.len()
    }

    pub(super) fn write(&mut self, bytes: Bytes) {
        self.note_write();
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

    /// One past the last offset to be sent, including the FIN.
    const fn end(&self) -> u64 {
        self.buffer.end() + self.finishing as u64
    }

    /// The handshake had to be repeated more than once: the initial window is one segment.
    pub(super) const fn begin_with_one_segment(&mut self) {
        self.congestion.set_window(1);
    }

    /// A segment without data, which carries an acknowledgement.
    pub(super) fn bare_piece(&mut self, now: Instant) -> Piece {
        if let Some(paced) = &mut self.paced {
            paced.pacing.on_bare_segment(now);
        }
        Piece::without_data(self.next)
    }
}
