//! The receiving half of a connection: arrived data, and its acknowledgements.

use super::config::Config;
use super::delayed_ack::Acknowledgement;
use super::reassembly::{Arrival, Reassembly};
use super::receive_window::ReceiveWindow;
use super::round_trip::RoundTrip;
use super::segment::{Flags, SackBlocks, Segment, Timestamps, milliseconds};
use super::sequence_space::SequenceSpace;
use lastmile_units::Instant;

/// The receiving half, from the moment the other end's SYN is known. Offsets are those of the other end's stream.
#[derive(Debug)]
pub(super) struct Receiver {
    numbering: SequenceSpace,
    data: Reassembly,
    window: ReceiveWindow,
    pub(super) acknowledgement: Acknowledgement,
    /// The largest payload seen: the other end's full segment.
    segment_size: u64,
    /// TS.Recent of RFC 7323, where timestamps are in use.
    timestamp: Option<u32>,
    /// The timestamp that was last echoed to this end.
    echoed: Option<u32>,
    /// The last acknowledgement that left (Last.ACK.sent of RFC 7323).
    acknowledged: u64,
    /// The range that arrived twice, to be reported once (RFC 2883).
    repeated: Option<(u64, u64)>,
    /// Where the other end's stream ends, once its FIN was seen.
    fin_at: Option<u64>,
}

/// A FIN or SYN uses one sequence number.
const CONTROL: u64 = 1;

impl Receiver {
    /// A receiving half for a connection whose other end sent `syn`.
    pub(super) fn new(config: &Config, syn: &Segment, now: Instant, window_shift: u8) -> Self {
        let (initial, maximum) = (config.receive_window.get(), config.receive_window_maximum.get());
        Self {
            numbering: SequenceSpace::new(syn.sequence),
            data: Reassembly::new(CONTROL),
            window: ReceiveWindow::new(initial, maximum, window_shift, CONTROL, now),
            acknowledgement: Acknowledgement::new(config.delayed_acknowledgement, config.quick_acknowledgements),
            // Linux's TCP_MIN_MSS guess, until a full segment is seen.
            segment_size: 536,
            timestamp: syn
                .timestamps
                .filter(|_| config.timestamps)
                .map(|timestamps| timestamps.value),
            echoed: None,
            acknowledged: CONTROL,
            repeated: None,
            fin_at: None,
        }
    }

    /// Accepts payload and FIN of a segment. `round_trip` is the estimate of this end's sender.
    pub(super) fn on_segment(&mut self, now: Instant, segment: &Segment, round_trip: Option<&RoundTrip>) {
        let offset = self.numbering.to_offset(segment.sequence, self.next());
        let end = offset + segment.payload.len() as u64;
        let empty = segment.sequence_length() == 0;
        let fits = end <= self.window.right_edge()
            && if empty {
                offset >= self.next()
            } else {
                end >= self.next()
            };
        if !fits {
            // RFC 9293 section 3.10.7.4: a segment that does not fit is answered with the expected number.
            if !empty && offset < self.next() {
                self.acknowledgement.on_repetition();
                self.repeated = (!segment.payload.is_empty()).then_some((offset, end));
            }
            self.acknowledgement.ack_now();
            return;
        }
        self.note_timestamps(now, segment, offset);
        if !segment.payload.is_empty() {
            self.on_payload(now, offset, segment, round_trip);
        }
        if segment.flags.has(Flags::FIN) {
            self.fin_at = Some(end);
            self.acknowledgement.ack_now();
        }
    }

    fn on_payload(&mut self, now: Instant, offset: u64, segment: &Segment, round_trip: Option<&RoundTrip>) {
        let length = segment.payload.len() as u64;
        self.segment_size = self.segment_size.max(length);
        let is_apart = self.data.is_apart(offset, offset + length);
        let arrival = self.data.insert(offset, segment.payload.clone());
        self.repeated = self.data.repeated.or(self.repeated);
        let acknowledgement = &mut self.acknowledgement;
        // Quick acknowledgements start with the data, before the window grows for it (Linux's `tcp_event_data_recv`).
        if matches!(arrival, Arrival::InOrder | Arrival::FilledHole) {
            acknowledgement.on_arrival(now, round_trip);
        }
        if arrival != Arrival::Duplicate && self.window.on_payload(length, self.segment_size) {
            acknowledgement.enter_quickack_once();
        }
        match arrival {
            Arrival::InOrder | Arrival::FilledHole => {
                let push = segment.flags.has(Flags::PSH);
                acknowledgement.on_data(now, length, push, self.segment_size, round_trip);
                if arrival == Arrival::FilledHole {
                    acknowledgement.ack_now();
                }
                self.window.on_arrival(now, self.data.next);
            }
            Arrival::OutOfOrder => {
                acknowledgement.on_gap(now, self.data.next, round_trip);
                // The next acknowledgement may have no room for the ranges of one that is held back (Linux's
                // `tcp_sack_new_ofo_skb`).
                if is_apart {
                    acknowledgement.ack_now();
                }
            }
            Arrival::Duplicate => acknowledgement.on_repetition(),
        }
    }

    fn note_timestamps(&mut self, now: Instant, segment: &Segment, offset: u64) {
        let (Some(recent), Some(timestamps)) = (&mut self.timestamp, segment.timestamps) else {
            return;
        };
        // RFC 7323 section 4.3: of segments that are acknowledged together, the first is timed; and time never goes back.
        if offset <= self.acknowledged && !is_later(*recent, timestamps.value) {
            *recent = timestamps.value;
        }
        // One sample per echo, from full segments, which the sender did not delay, and while the program keeps up.
        let is_full = segment.payload.len() as u64 >= self.segment_size;
        if is_full && self.data.ready_bytes == 0 && self.echoed.replace(timestamps.echo) != Some(timestamps.echo) {
            self.window.on_round_trip(timestamps.age(now));
        }
    }

    /// Whether `sequence` is exactly the next number expected.
    pub(super) fn expects(&self, sequence: u32) -> bool {
        sequence == self.numbering.to_wire(self.next())
    }

    /// Whether `sequence` is in the window, after the accepted data.
    pub(super) fn has_room_for(&self, sequence: u32) -> bool {
        let offset = self.numbering.to_offset(sequence, self.next());
        (self.next()..self.window.right_edge()).contains(&offset)
    }

    /// Whether all of this stream is older than `syn`: by its timestamp, or else by its number.
    pub(super) fn is_older_than(&self, syn: &Segment) -> bool {
        match (self.timestamp, syn.timestamps) {
            (Some(recent), Some(timestamps)) if timestamps.value != recent => is_later(timestamps.value, recent),
            _ => self.numbering.to_offset(syn.sequence, self.next()) > self.next(),
        }
    }

    /// The next offset expected; counts the FIN once everything before it has arrived.
    fn next(&self) -> u64 {
        self.data.next + if self.is_finished() { CONTROL } else { 0 }
    }

    /// Whether the other end's stream has arrived completely.
    pub(super) fn is_finished(&self) -> bool {
        self.fin_at == Some(self.data.next)
    }

    pub(super) const fn readable(&self) -> u64 {
        self.data.ready_bytes
    }

    /// Moves arrived data into `to`; returns how much.
    pub(super) fn read(&mut self, now: Instant, to: &mut [u8]) -> usize {
        let read = self.data.read(to);
        if read > 0 {
            let all = self.data.ready_bytes == 0;
            self.acknowledgement.on_read(all, self.segment_size);
            let read_to = self.data.next - self.data.ready_bytes;
            self.window.on_read(now, read_to, self.data.reach(), self.segment_size);
            if self
                .window
                .deserves_update(self.data.next, self.data.held_bytes(), self.segment_size)
            {
                self.acknowledgement.ack_now();
            }
        }
        read
    }

    /// Writes acknowledgement, window, timestamps and blocks into a segment that is about to leave.
    pub(super) fn fill(&mut self, now: Instant, segment: &mut Segment, round_trip: Option<&RoundTrip>) {
        segment.flags = segment.flags.and(Flags::ACK);
        self.acknowledged = self.next();
        segment.acknowledgement = self.numbering.to_wire(self.acknowledged);
        segment.window = self
            .window
            .advertise(self.next(), self.data.held_bytes(), self.segment_size);
        segment.timestamps = self.timestamp.map(|echo| Timestamps {
            value: milliseconds(now),
            echo,
        });
        segment.sack = self.blocks();
        self.acknowledgement
            .on_sent(now, !segment.payload.is_empty(), round_trip);
    }

    /// The out-of-order ranges, after the range that arrived twice, which is reported only once.
    fn blocks(&mut self) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let twice = self.repeated.take();
        for &(start, end) in twice.iter().chain(&self.data.ranges).take(SackBlocks::CAPACITY) {
            let end = end + if self.fin_at == Some(end) { CONTROL } else { 0 };
            blocks.push(self.numbering.to_wire(start), self.numbering.to_wire(end));
        }
        blocks
    }
}

/// Whether timestamp `a` was set later than `b`, modulo 2^32 (RFC 7323 section 5.2).
const fn is_later(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}
