//! Which state is a connection in, and what moves it? The state machine of RFC 9293 section 3.3.2.

use super::config::Config;
use super::receive_window::ReceiveWindow;
use super::receiver::Receiver;
use super::segment::{Flags, SackBlocks, Segment, Timestamps};
use super::sender::{Counters, Peer, Piece, Sender, milliseconds};
use super::sequence::Numbering;
use bytes::Bytes;
use lastmile_units::Instant;
use std::io;
use std::net::SocketAddrV4;
use std::time::Duration;

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    local: SocketAddrV4,
    remote: SocketAddrV4,
    numbering: Numbering,
    state: State,
    error: Option<io::ErrorKind>,
    reset_due: bool,
    /// The other end's FIN came before this end's left: the other end lingers in TIME-WAIT, and not this one.
    answers_fin: bool,
    counters: Counters,
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// That many bytes.
    Bytes(usize),
    /// Nothing yet.
    Empty,
    /// The end of the stream.
    End,
}

#[derive(Debug)]
enum State {
    /// A SYN is out (SYN-SENT), or a SYN-ACK (SYN-RECEIVED, with the receiving half known).
    Handshake(Handshake),
    /// From ESTABLISHED to LAST-ACK: which of them follows from the two halves.
    Open {
        sender: Box<Sender>,
        receiver: Box<Receiver>,
    },
    /// TIME-WAIT.
    TimeWait {
        receiver: Box<Receiver>,
        next: u64,
        ends: Instant,
    },
    /// CLOSED, with what the program has not read yet.
    Closed { unread: Option<Box<Receiver>> },
}

#[derive(Debug)]
struct Handshake {
    receiver: Option<Box<Receiver>>,
    peer: Option<Peer>,
    /// When the SYN was first sent, unless it was repeated since (Karn).
    first_sent: Option<Instant>,
    repeated: u32,
    resend_at: Instant,
    due: bool,
}

/// RFC 6298 section 2.1; doubled for each repetition.
const SYN_TIMEOUT: Duration = Duration::from_secs(1);

impl Connection {
    /// Opens actively: a SYN is due at once. `initial` is the initial sequence number.
    pub fn connect(config: Config, local: SocketAddrV4, remote: SocketAddrV4, initial: u32, now: Instant) -> Self {
        Self::new(config, local, remote, initial, Handshake::new(now, None, None))
    }

    /// Answers a SYN: a SYN-ACK is due at once.
    pub fn accept(config: Config, local: SocketAddrV4, initial: u32, syn: &Segment, now: Instant) -> Self {
        let receiver = Receiver::new(&config, syn, now, Self::shift(&config));
        let peer = Self::peer(&config, syn);
        let handshake = Handshake::new(now, Some(Box::new(receiver)), Some(peer));
        Self::new(config, local, syn.source, initial, handshake)
    }

    fn new(config: Config, local: SocketAddrV4, remote: SocketAddrV4, initial: u32, handshake: Handshake) -> Self {
        let (numbering, state) = (Numbering::new(initial), State::Handshake(handshake));
        let (error, reset_due, answers_fin, counters) = (None, false, false, Counters::default());
        Self {
            config,
            local,
            remote,
            numbering,
            state,
            error,
            reset_due,
            answers_fin,
            counters,
        }
    }

    fn shift(config: &Config) -> u8 {
        ReceiveWindow::shift_for(config.receive_window_maximum.get())
    }

    /// What the other end's SYN says of sending to it.
    fn peer(config: &Config, syn: &Segment) -> Peer {
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
            segment_size: u64::from(own.min(offered) - options),
            window: u64::from(syn.window),
            window_shift: syn.window_scale.unwrap_or(0),
        }
    }

    /// This end's address.
    pub const fn local(&self) -> SocketAddrV4 {
        self.local
    }

    /// The other end's address.
    pub const fn remote(&self) -> SocketAddrV4 {
        self.remote
    }

    /// Whether the handshake is done and the connection has not ended.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    /// Whether nothing more will come of this connection.
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// Why it ended before its time.
    pub const fn error(&self) -> Option<io::ErrorKind> {
        self.error
    }

    /// What this end has done so far.
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        if let State::Open { sender, .. } = &self.state {
            counters += sender.counters();
        }
        counters
    }

    /// Whether a read would return something, the end or an error included.
    pub fn is_readable(&self) -> bool {
        match &self.state {
            State::Open { receiver, .. } | State::TimeWait { receiver, .. } => {
                receiver.readable() > 0 || receiver.is_finished()
            }
            State::Closed { .. } => true,
            State::Handshake(_) => false,
        }
    }

    /// Whether something arrived that the program has not read.
    pub fn has_unread(&self) -> bool {
        match &self.state {
            State::Open { receiver, .. } | State::TimeWait { receiver, .. } => receiver.readable() > 0,
            State::Closed { unread } => unread.as_ref().is_some_and(|receiver| receiver.readable() > 0),
            State::Handshake(_) => false,
        }
    }

    /// Whether a write would take something, or fail.
    pub fn is_writable(&self) -> bool {
        match &self.state {
            State::Open { sender, .. } => sender.room() > 0 || sender.is_finishing(),
            State::Closed { .. } | State::TimeWait { .. } => true,
            State::Handshake(_) => false,
        }
    }

    /// Moves what arrived into `to`.
    ///
    /// # Errors
    /// `ConnectionReset`, `ConnectionRefused` or `TimedOut`, once what had arrived is read.
    pub fn read(&mut self, now: Instant, to: &mut [u8]) -> io::Result<Read> {
        let receiver = match &mut self.state {
            State::Open { receiver, .. } | State::TimeWait { receiver, .. } => receiver,
            State::Closed { unread: Some(receiver) } if receiver.readable() > 0 => receiver,
            State::Closed { .. } => return self.error.map_or(Ok(Read::End), |error| Err(error.into())),
            State::Handshake(_) => return Ok(Read::Empty),
        };
        Ok(match receiver.read(now, to) {
            0 if receiver.is_finished() => Read::End,
            0 => Read::Empty,
            read => Read::Bytes(read),
        })
    }

    /// Takes as much of `bytes` as there is room for; 0 where there is none now.
    ///
    /// # Errors
    /// As [`Connection::read`], `NotConnected` before the handshake is done, `BrokenPipe` after [`Connection::shutdown`].
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.state {
            State::Open { sender, .. } if !sender.is_finishing() => {
                let taken = bytes.len().min(sender.room() as usize);
                sender.write(Bytes::copy_from_slice(&bytes[..taken]));
                Ok(taken)
            }
            State::Handshake(_) => Err(io::ErrorKind::NotConnected.into()),
            _ => Err(self.error.unwrap_or(io::ErrorKind::BrokenPipe).into()),
        }
    }

    /// Ends this end's stream: a FIN follows what was written. Before the handshake is done, gives the connection up.
    pub fn shutdown(&mut self) {
        match &mut self.state {
            State::Open { sender, .. } => sender.finish(),
            State::Handshake(_) => self.abort(),
            State::TimeWait { .. } | State::Closed { .. } => {}
        }
    }

    /// Gives the connection up: a RST is due where the other end knows of it.
    pub fn abort(&mut self) {
        self.reset_due = matches!(
            self.state,
            State::Open { .. } | State::Handshake(Handshake { receiver: Some(_), .. })
        );
        if !self.reset_due {
            self.end(Some(io::ErrorKind::ConnectionAborted));
        }
    }

    fn end(&mut self, error: Option<io::ErrorKind>) {
        self.counters = self.counters();
        self.error = self.error.or(error);
        let ended = std::mem::replace(&mut self.state, State::Closed { unread: None });
        if let State::Open { receiver, .. } | State::TimeWait { receiver, .. } = ended {
            self.state = State::Closed { unread: Some(receiver) };
        }
    }

    /// Takes a segment that is addressed to this end.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            return self.on_reset();
        }
        match &mut self.state {
            State::Handshake(_) => self.on_handshake(now, segment),
            State::Open { sender, receiver } => {
                if segment.flags.has(Flags::SYN) {
                    // A repeated SYN-ACK: the acknowledgement of the first was lost.
                    receiver.acknowledgement_mut().demand();
                    return;
                }
                if !sender.on_segment(now, segment) {
                    receiver.acknowledgement_mut().demand();
                    return;
                }
                receiver.on_segment(now, segment);
                self.close_when_both_are_done(now);
            }
            State::TimeWait { receiver, ends, .. } => {
                // The other end's FIN again: its acknowledgement was lost.
                receiver.on_segment(now, segment);
                *ends = now + self.config.time_wait;
            }
            State::Closed { .. } => {}
        }
    }

    fn on_reset(&mut self) {
        let error = match &self.state {
            State::Handshake(Handshake { receiver: None, .. }) => Some(io::ErrorKind::ConnectionRefused),
            State::Handshake(_) | State::Open { .. } => Some(io::ErrorKind::ConnectionReset),
            State::TimeWait { .. } | State::Closed { .. } => None,
        };
        self.end(error);
    }

    fn on_handshake(&mut self, now: Instant, segment: &Segment) {
        let State::Handshake(handshake) = &mut self.state else {
            return;
        };
        let acknowledges = segment.flags.has(Flags::ACK) && segment.acknowledgement == self.numbering.to_wire(1);
        if segment.flags.has(Flags::SYN) {
            if handshake.receiver.is_some() {
                // The same SYN again: so is the answer.
                handshake.due = true;
                return;
            }
            if acknowledges {
                let mut receiver = Receiver::new(&self.config, segment, now, Self::shift(&self.config));
                receiver.acknowledgement_mut().demand();
                let peer = Self::peer(&self.config, segment);
                self.open(now, receiver, peer);
            }
        } else if acknowledges {
            if let (Some(receiver), Some(mut peer)) = (handshake.receiver.take(), handshake.peer) {
                peer.window = u64::from(segment.window) << peer.window_shift;
                self.open(now, *receiver, peer);
                self.on_segment(now, segment);
            }
        }
    }

    fn open(&mut self, now: Instant, receiver: Receiver, peer: Peer) {
        let State::Handshake(handshake) = &self.state else {
            return;
        };
        let sample = handshake.first_sent.map(|at| now.saturating_since(at));
        let sender = Sender::new(&self.config, self.numbering, peer, sample);
        self.state = State::Open {
            sender: Box::new(sender),
            receiver: Box::new(receiver),
        };
    }

    /// Both streams have ended: the end that closed first lingers, so that it can acknowledge the other's FIN again.
    fn close_when_both_are_done(&mut self, now: Instant) {
        let State::Open { sender, receiver } = &self.state else {
            return;
        };
        if !sender.is_finished() || !receiver.is_finished() {
            return;
        }
        let next = sender.next_offset();
        self.end(None);
        if self.answers_fin {
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

    /// Does what has become due.
    pub fn on_timer(&mut self, now: Instant) {
        match &mut self.state {
            State::Handshake(handshake) => {
                if handshake.resend_at <= now && !handshake.due {
                    if handshake.repeated >= self.config.syn_retries {
                        return self.end(Some(io::ErrorKind::TimedOut));
                    }
                    handshake.repeated += 1;
                    handshake.due = true;
                }
            }
            State::Open { sender, .. } => {
                if !sender.on_timer(now) {
                    self.end(Some(io::ErrorKind::TimedOut));
                }
            }
            State::TimeWait { ends, .. } => {
                if *ends <= now {
                    self.end(None);
                }
            }
            State::Closed { .. } => {}
        }
    }

    /// When [`Connection::on_timer`] or [`Connection::next_transmit`] has something to do though nothing arrives.
    pub fn next_deadline(&self) -> Option<Instant> {
        match &self.state {
            State::Handshake(handshake) => Some(handshake.resend_at),
            State::Open { sender, receiver } => [sender.next_deadline(), receiver.next_deadline()]
                .into_iter()
                .flatten()
                .min(),
            State::TimeWait { receiver, ends, .. } => Some(receiver.next_deadline().map_or(*ends, |at| at.min(*ends))),
            State::Closed { .. } => None,
        }
    }

    /// The next segment that should leave now. To be called until it returns nothing.
    pub fn next_transmit(&mut self, now: Instant) -> Option<Segment> {
        if self.reset_due {
            self.reset_due = false;
            let offset = match &self.state {
                State::Open { sender, .. } => sender.next_offset(),
                _ => 1,
            };
            let mut segment = self.bare(offset);
            segment.flags = Flags::RST.and(Flags::ACK);
            self.end(Some(io::ErrorKind::ConnectionAborted));
            self.counters.segments_sent += 1;
            return Some(segment);
        }
        match &mut self.state {
            State::Handshake(handshake) => {
                if !handshake.due {
                    return None;
                }
                self.next_syn(now)
            }
            State::Open { sender, receiver } => {
                let piece = match sender.next_piece(now) {
                    Some(piece) => piece,
                    None if receiver.acknowledgement_is_due(now) => Piece::nothing(sender.next_offset()),
                    None => return None,
                };
                sender.counters_mut().segments_sent += 1;
                let mut segment = Self::segment(self.local, self.remote, self.numbering.to_wire(piece.offset));
                segment.payload = piece.payload;
                if piece.push && !segment.payload.is_empty() {
                    segment.flags = segment.flags.and(Flags::PSH);
                }
                if piece.fin {
                    segment.flags = segment.flags.and(Flags::FIN);
                    self.answers_fin = receiver.is_finished();
                }
                receiver.fill(now, &mut segment);
                Some(segment)
            }
            State::TimeWait { receiver, next, .. } => {
                if !receiver.acknowledgement_is_due(now) {
                    return None;
                }
                let mut segment = Self::segment(self.local, self.remote, self.numbering.to_wire(*next));
                receiver.fill(now, &mut segment);
                self.counters.segments_sent += 1;
                Some(segment)
            }
            State::Closed { .. } => None,
        }
    }

    fn next_syn(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = self.bare(0);
        let State::Handshake(handshake) = &mut self.state else {
            return None;
        };
        handshake.due = false;
        handshake.first_sent = (handshake.repeated == 0).then_some(now);
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
        self.counters.retransmissions += u64::from(handshake.repeated > 0);
        Some(segment)
    }

    fn bare(&self, offset: u64) -> Segment {
        Self::segment(self.local, self.remote, self.numbering.to_wire(offset))
    }

    const fn segment(source: SocketAddrV4, destination: SocketAddrV4, sequence: u32) -> Segment {
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

    /// The RST that answers a segment no connection knows (RFC 9293 section 3.10.7.1); none for a RST.
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

impl Handshake {
    const fn new(now: Instant, receiver: Option<Box<Receiver>>, peer: Option<Peer>) -> Self {
        Self {
            receiver,
            peer,
            first_sent: None,
            repeated: 0,
            resend_at: now,
            due: true,
        }
    }
}
